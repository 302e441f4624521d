"""What is added to a drawn scene."""

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="needs the simulator: pip install 'robogaze[forge]'")

from dataclasses import replace

from robogaze.forge.simulate.body_edits import copy_hand
from robogaze.forge.simulate.clip_spec import Story
from robogaze.forge.simulate.draw import Player, body_of
from robogaze.forge.simulate.geoms import draw_new
from robogaze.forge.simulate.stage import StagedSetting


def test_an_added_geom_belongs_to_no_body_whatever_stood_in_its_place(story: Story, player: Player) -> None:
    player.place(story.film, 0, story.eye)
    geom = player.drawn.geoms[player.drawn.ngeom]
    geom.objtype, geom.objid, geom.segid, geom.transparent = 5, 10_000, 3, 1  # the memory of another scene
    added = draw_new(player.drawn, 2, np.full(3, 0.1), np.zeros(3), np.eye(3), np.ones(4))
    assert body_of(story.film.take.scene.model, added) == ""
    assert (added.segid, added.transparent) == (player.drawn.ngeom - 1, 0)


def test_a_copied_hand_can_be_seen_as_what_was_added(story: Story, stage: StagedSetting, player: Player) -> None:
    edit = copy_hand(stage, np.random.default_rng(1))
    film = replace(story.film, edits=(edit,))
    looks = [player.look(film, number, story.eye) for number in range(film.length)]
    first = next(number for number, look in enumerate(looks) if "" in look.bodies)
    assert player.share_seen(film, first, story.eye, {""}) > 0
    assert player.share_seen(story.film, first, story.eye, {""}) == 0
