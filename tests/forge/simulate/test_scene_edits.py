"""Edits of the rendered scene."""

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="needs the simulator: pip install 'robogaze[forge]'")

from dataclasses import replace

from robogaze.forge.simulate.clip_spec import ClipSpec
from robogaze.forge.simulate.playback import Renderer, body_of
from robogaze.forge.simulate.recorded_setup import RecordedSetup
from robogaze.forge.simulate.scene_edits import copy_hand, draw_new


def test_an_added_geom_belongs_to_no_body_whatever_was_in_memory(spec: ClipSpec, renderer: Renderer) -> None:
    renderer.update_scene(spec.playback, 0, "main")
    geom = renderer.drawn.geoms[renderer.drawn.ngeom]
    geom.objtype, geom.objid, geom.segid, geom.transparent = 5, 10_000, 3, 1  # the memory of another scene
    added = draw_new(renderer.drawn, 2, np.full(3, 0.1), np.zeros(3), np.eye(3), np.ones(4))
    assert body_of(spec.playback.recording.scene.model, added) == ""
    assert (added.segid, added.transparent) == (renderer.drawn.ngeom - 1, 0)


def test_a_copied_hand_is_visible_as_an_addition(spec: ClipSpec, recorded: RecordedSetup, renderer: Renderer) -> None:
    edit = copy_hand(recorded, np.random.default_rng(1))
    playback = replace(spec.playback, edits=(edit,))
    states = [renderer.frame_state(playback, number, "main") for number in range(playback.frame_count)]
    first = next(number for number, state in enumerate(states) if "" in state.bodies)
    assert renderer.visible_share(playback, first, "main", {""}) > 0
    assert renderer.visible_share(spec.playback, first, "main", {""}) == 0
