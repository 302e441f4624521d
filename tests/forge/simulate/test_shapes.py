"""Things and goals stand on the table, as large as the recipe says."""

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="needs the simulator: pip install 'robogaze[forge]'")

import mujoco

from robogaze.forge.simulate.body import OPEN_M
from robogaze.forge.simulate.kinematics import Vector
from robogaze.forge.simulate.recipe import SimulationConfig, World
from robogaze.forge.simulate.scene import STEP_S, CompiledScene, build
from robogaze.forge.simulate.things import SimulatedThing

AT = (0.4, 0.1)


def scene_of(recipe: SimulationConfig, *kinds: str) -> CompiledScene:
    """A scene in which one or two of the recipe's things and goals have the same place."""
    shapes = {**recipe.things, **recipe.goals}
    things = [
        SimulatedThing(kind, kind, shapes[kind], (0.2, 0.4, 0.6), AT, loose=kind in recipe.things) for kind in kinds
    ]
    return build(things, {"": (1.0, 0.0, 0.0)}, World(), np.random.default_rng(0))


def rest(scene: CompiledScene, kind: str, from_m: float = 0.0, beside_m: float = 0.0, seconds: float = 0.5) -> Vector:
    """Place (m) and turn (quaternion) of a thing after it was let go at a height, and so far beside its place."""
    data = mujoco.MjData(scene.model)
    start = scene.place_of(kind)
    data.qpos[start] += beside_m
    data.qpos[start + 2] = from_m
    for _ in range(round(seconds / STEP_S)):
        mujoco.mj_step(scene.model, data)
    return np.array(data.qpos[start : start + 7])


def top_m(scene: CompiledScene, kind: str) -> float:
    """How high the highest drawn geom of a body reaches over the table, by its bounding box."""
    model = scene.model
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    tops = []
    for geom in np.flatnonzero(model.geom_bodyid == model.body(kind).id):
        middle, half = model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:]
        turn = data.geom_xmat[geom].reshape(3, 3)
        tops.append(data.geom_xpos[geom, 2] + (turn @ middle)[2] + (np.abs(turn) @ half)[2])
    return float(max(tops))


def test_a_thing_stands_where_it_is_put_and_is_as_high_as_said(recipe: SimulationConfig) -> None:
    for kind, shape in recipe.things.items():
        scene = scene_of(recipe, kind)
        now = rest(scene, kind)
        assert now[:3] == pytest.approx((*AT, 0.0), abs=1e-3), kind
        assert abs(now[3]) == pytest.approx(1.0, abs=1e-4), kind  # upright
        assert top_m(scene, kind) == pytest.approx(2 * shape.size[-1], abs=1.5e-3), kind


def test_a_thing_fits_between_the_fingers(recipe: SimulationConfig) -> None:
    for kind, shape in recipe.things.items():
        across = shape.size[1] if shape.form in ("box", "carton") else shape.size[0]
        assert 2 * across < OPEN_M, kind


def test_what_is_let_go_over_a_goal_comes_to_rest_on_its_floor(recipe: SimulationConfig) -> None:
    for kind in recipe.goals:
        scene = scene_of(recipe, "cube", kind)
        floor_m = scene.things[kind].floor_m
        now = rest(scene, "cube", from_m=floor_m + 0.01)
        assert np.hypot(*(now[:2] - AT)) <= scene.things[kind].takes_m
        assert now[2] == pytest.approx(floor_m, abs=3e-3), kind


def test_what_is_let_go_over_the_rim_of_a_goal_does_not_sink_into_it(recipe: SimulationConfig) -> None:
    shape = recipe.goals["plate"]
    scene = scene_of(recipe, "cube", "plate")
    now = rest(scene, "cube", from_m=0.03, beside_m=0.9 * shape.size[0])
    assert now[2] > 0.004 or np.hypot(*(now[:2] - AT)) > shape.size[0]
    assert np.hypot(*(now[:2] - AT)) > scene.things["plate"].takes_m, "and is not in it"
