"""Pictures of a recording."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="needs the simulator: pip install 'robogaze[forge]'")

from robogaze.forge.simulate.clip_spec import Story
from robogaze.forge.simulate.draw import CAMERA, ON_HAND, Film, PlaybackEdit, Player, edited


def test_a_frame_is_drawn_the_same_every_time(story: Story, player: Player) -> None:
    first = player.frame(story.film, 10)
    assert first.std() > 10, "there is something to be seen"
    player.frame(story.film, 40)
    assert np.array_equal(player.frame(story.film, 10), first)


def test_a_grid_shows_two_cameras_and_the_hands_and_stays_black_where_there_is_no_view(
    story: Story, player: Player
) -> None:
    views = {"a": story.eye, "b": replace(story.eye, azimuth=story.eye.azimuth + 40), "c": ON_HAND}
    grid = Film(story.film.take, (PlaybackEdit(picture=lambda number, frames: 255 - frames[number]),), views, 1)
    plain = player.frame(grid, 0)
    shown = edited(grid, 0, [plain])
    quarters = [shown[y : y + 32, x : x + 48] for y in (0, 32) for x in (0, 48)]
    assert [quarter.any() for quarter in quarters] == [True, True, True, False]
    assert not np.array_equal(quarters[0], quarters[1])
    assert not np.array_equal(shown, plain)


def test_what_is_not_changed_in_the_picture_is_the_very_frame(story: Story, player: Player) -> None:
    plain = [player.frame(story.film, number) for number in range(2)]
    assert edited(story.film, 1, plain) is plain[1]


def test_how_much_of_the_picture_shows_a_body(story: Story, player: Player) -> None:
    other, spare = story.cast.setting.others[0].name, story.cast.setting.spares[0].name
    assert 0 < player.share_seen(story.film, 0, story.eye, {other}) < 0.1
    assert player.share_seen(story.film, 0, story.eye, {spare}) == 0, "it is far below the table"
    assert player.share_seen(story.film, 0, story.eye, {"table"}) > 0.2


def test_looks_differ_in_the_camera_and_nothing_else_when_only_that_moves(story: Story, player: Player) -> None:
    moved = replace(story.eye, azimuth=story.eye.azimuth + 1)
    differences = player.look(story.film, 0, story.eye).differences(player.look(story.film, 0, moved))
    assert CAMERA in differences
    assert not {name for name in differences if not name.startswith("*")}
