"""Frames rendered from a recording."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="needs the simulator: pip install 'robogaze[forge]'")

import mujoco

from robogaze.forge.simulate.clip_spec import ClipSpec
from robogaze.forge.simulate.playback import CAMERA, HAND_CAMERA, Playback, PlaybackEdit, Renderer, apply_picture_edits
from robogaze.forge.simulate.scene import Camera


def test_a_frame_is_rendered_the_same_every_time(spec: ClipSpec, renderer: Renderer) -> None:
    first = renderer.frame(spec.playback, 10)
    assert first.std() > 10, "something is visible"
    renderer.frame(spec.playback, 40)
    assert np.array_equal(renderer.frame(spec.playback, 10), first)


def test_a_grid_shows_its_views_and_stays_black_where_there_is_none(spec: ClipSpec, renderer: Renderer) -> None:
    views: dict[str, Camera | str] = {
        "a": spec.first_camera,
        "b": replace(spec.first_camera, azimuth=spec.first_camera.azimuth + 40),
        "c": HAND_CAMERA,
    }
    grid = Playback(
        spec.playback.recording, (PlaybackEdit((0, 1), picture=lambda number, frame: 255 - frame),), views, 1
    )
    plain = renderer.frame(grid, 0)
    shown = apply_picture_edits(grid, 0, plain)
    quarters = [shown[y : y + 32, x : x + 48] for y in (0, 32) for x in (0, 48)]
    assert [quarter.any() for quarter in quarters] == [True, True, True, False]
    assert not np.array_equal(quarters[0], quarters[1])
    assert not np.array_equal(shown, plain)


def test_contact_shadows_are_flat(spec: ClipSpec, renderer: Renderer) -> None:
    renderer.frame(spec.playback, 0)
    added = [geom for geom in renderer.drawn.geoms[: renderer.drawn.ngeom] if geom.objid == -1]
    assert {geom.type for geom in added} >= {mujoco.mjtGeom.mjGEOM_CYLINDER.value}, "something round stands there"
    assert all(geom.size[2] < 0.001 for geom in added), "the third half size is the height of boxes and cylinders"


def test_an_unchanged_picture_is_the_same_array(spec: ClipSpec, renderer: Renderer) -> None:
    plain = renderer.frame(spec.playback, 1)
    assert apply_picture_edits(spec.playback, 1, plain) is plain
    later = replace(spec.playback, edits=(PlaybackEdit((2, 3), picture=lambda number, frame: 255 - frame),))
    assert apply_picture_edits(later, 1, plain) is plain


def test_the_visible_share_of_a_body(spec: ClipSpec, renderer: Renderer) -> None:
    other, hidden = spec.sampled.setup.bystanders[0].name, spec.sampled.setup.hidden_objects[0].name
    assert 0 < renderer.visible_share(spec.playback, 0, "main", {other}) < 0.1
    assert renderer.visible_share(spec.playback, 0, "main", {hidden}) == 0, "it is far below the table"
    assert renderer.visible_share(spec.playback, 0, "main", {"table"}) > 0.2


def test_frame_states_differ_only_in_the_camera_when_only_that_moves(spec: ClipSpec, renderer: Renderer) -> None:
    moved = replace(spec.first_camera, azimuth=spec.first_camera.azimuth + 1)
    turned = replace(spec.playback, views={"main": moved})
    differences = renderer.frame_state(spec.playback, 0, "main").differences(renderer.frame_state(turned, 0, "main"))
    assert CAMERA in differences
    assert not {name for name in differences if not name.startswith("*")}


def test_an_edit_shows_in_its_view_only(spec: ClipSpec, renderer: Renderer) -> None:
    views: dict[str, Camera | str] = {"a": spec.first_camera, "b": spec.first_camera, "c": HAND_CAMERA}
    start = spec.playback.recording.scene.qpos_start(spec.sampled.setup.bystanders[0].name)

    def state(number: int, whole: np.ndarray) -> None:
        whole[start + 2] = -5.0

    gone = PlaybackEdit((0, 1), state=state, view="b")
    inverted = PlaybackEdit((0, 1), picture=lambda number, frame: 255 - frame, view="a", part=(0.0, 0.0, 0.5, 0.5))
    playback = Playback(spec.playback.recording, (gone, inverted), views, 1)
    plain = renderer.frame(playback, 0)
    left, right = plain[:32, :48], plain[:32, 48:]
    assert not np.array_equal(left, right), "the object is missing in the second view"
    changed = np.argwhere((apply_picture_edits(playback, 0, plain) != plain).any(axis=2))
    assert changed.max(axis=0).tolist() == [15, 23], "a quarter of the first view"


def test_an_edit_of_time_shows_another_frame(spec: ClipSpec, renderer: Renderer) -> None:
    frozen = replace(spec.playback, edits=(PlaybackEdit((20, 30), time=lambda number: 19),))
    assert np.array_equal(renderer.frame(frozen, 25), renderer.frame(spec.playback, 19))
    assert np.array_equal(renderer.frame(frozen, 30), renderer.frame(spec.playback, 30))
