"""Objects and goals are on the table, with the sizes of the configuration."""

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="needs the simulator: pip install 'robogaze[forge]'")

import mujoco

from robogaze.forge.simulate.arm import OPEN_M, STEP_S, Vector
from robogaze.forge.simulate.objects import SimulatedObject
from robogaze.forge.simulate.scene import CompiledScene, build_scene
from robogaze.forge.simulate.simulation_config import SimulationConfig, WorldConfig

AT = (0.4, 0.1)


def scene_of(config: SimulationConfig, *kinds: str) -> CompiledScene:
    """A scene in which one or two of the configuration's objects and goals have the same place."""
    shapes = {**config.objects, **config.goals}
    objects = [
        SimulatedObject(kind, kind, shapes[kind], (0.2, 0.4, 0.6), AT, movable=kind in config.objects) for kind in kinds
    ]
    return build_scene(objects, {"": (1.0, 0.0, 0.0)}, WorldConfig(), np.random.default_rng(0))


def rest(scene: CompiledScene, kind: str, from_m: float = 0.0, beside_m: float = 0.0, seconds: float = 0.5) -> Vector:
    """Place (m) and turn (quaternion) of an object released at a height, so far beside its place."""
    data = mujoco.MjData(scene.model)
    start = scene.qpos_start(kind)
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


def test_an_object_stays_where_it_is_put_and_has_its_height(config: SimulationConfig) -> None:
    for kind, shape in config.objects.items():
        scene = scene_of(config, kind)
        now = rest(scene, kind)
        assert now[:3] == pytest.approx((*AT, 0.0), abs=1e-3), kind
        assert abs(now[3]) == pytest.approx(1.0, abs=1e-4), kind  # upright
        assert top_m(scene, kind) == pytest.approx(2 * shape.size[-1], abs=1.5e-3), kind


def test_an_object_fits_between_the_fingers(config: SimulationConfig) -> None:
    for kind, shape in config.objects.items():
        across = shape.size[1] if shape.form in ("box", "carton") else shape.size[0]
        assert 2 * across < OPEN_M, kind


def test_an_object_released_over_a_goal_rests_on_its_floor(config: SimulationConfig) -> None:
    for kind in config.goals:
        scene = scene_of(config, "cube", kind)
        rest_height_m = scene.objects[kind].rest_height_m
        now = rest(scene, "cube", from_m=rest_height_m + 0.01)
        assert np.hypot(*(now[:2] - AT)) <= scene.objects[kind].tolerance_m
        assert now[2] == pytest.approx(rest_height_m, abs=3e-3), kind


def test_an_object_released_over_the_rim_does_not_sink_into_it(config: SimulationConfig) -> None:
    shape = config.goals["plate"]
    scene = scene_of(config, "cube", "plate")
    now = rest(scene, "cube", from_m=0.03, beside_m=0.9 * shape.size[0])
    assert now[2] > 0.004 or np.hypot(*(now[:2] - AT)) > shape.size[0]
    assert np.hypot(*(now[:2] - AT)) > scene.objects["plate"].tolerance_m, "and is not in it"
