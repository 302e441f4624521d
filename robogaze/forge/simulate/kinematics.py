"""An arm's joints: solved for a place of its tool, and sent there."""

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from robogaze.errors import InputError
from robogaze.forge.simulate.body import ELBOW_UP, FINGERS, JOINTS, OPEN_M
from robogaze.forge.simulate.scene import STEP_S

_REST_FROM_BASE_M = np.array([0.36, 0.0, 0.36])
_DOWN = np.diag([-1.0, 1.0, -1.0])
"""The hand's axes in the world when it looks down and is not turned."""

Vector = NDArray[np.float64]


class OutOfReach(InputError):
    """An arm cannot reach a place; the clip is drawn anew."""


@dataclass(frozen=True)
class Pose:
    """Where a tool is at a moment."""

    place: Vector
    yaw: float
    gap: float


class Arm:
    """An arm's joints in a model, with a scratch copy to solve for them."""

    def __init__(self, model: mujoco.MjModel, side: str, base: tuple[float, float, float]) -> None:
        self.side = side
        self.rest = np.array(base) + _REST_FROM_BASE_M
        self._model = model
        self._scratch = mujoco.MjData(model)
        joints = [model.joint(f"{side}{name}") for name in JOINTS]
        self._places = np.array([joint.qposadr[0] for joint in joints])
        self._speeds = np.array([joint.dofadr[0] for joint in joints])
        self._limits = np.array([joint.range for joint in joints]).T
        self._fingers = np.array([model.joint(f"{side}{name}").qposadr[0] for name in FINGERS])
        self._motor = model.actuator(f"{side}grip").id
        self._tool = model.site(f"{side}tool").id
        self.angles = np.array(ELBOW_UP)

    def put(self, data: mujoco.MjData) -> None:
        """Set the joints for the place where the arm rests, with the fingers open."""
        self.angles = self.reach(Pose(self.rest, 0.0, OPEN_M))
        data.qpos[self._places] = self.angles
        data.qpos[self._fingers] = OPEN_M / 2
        mujoco.mj_forward(self._model, data)

    def send(self, data: mujoco.MjData, angles: Vector, gap: float) -> None:
        """Let the joints move to `angles` in the next step, and the fingers towards `gap`."""
        data.qpos[self._places] = self.angles
        data.qvel[self._speeds] = (angles - self.angles) / STEP_S
        data.ctrl[self._motor] = gap / 2

    def arrive(self, data: mujoco.MjData, angles: Vector) -> None:
        """Have the joints where they were sent."""
        data.qpos[self._places] = self.angles = angles

    def reach(self, pose: Pose) -> Vector:
        """Joint angles that bring the tool to a pose, by damped least squares from the present ones."""
        model, data = self._model, self._scratch
        cos, sin = np.cos(pose.yaw), np.sin(pose.yaw)
        wanted = np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]]) @ _DOWN
        data.qpos[self._places] = self.angles
        jacobian = np.zeros((6, model.nv))
        for _ in range(30):
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            error = self._error(pose.place, wanted)
            if np.abs(error).max() < 1e-5:
                break
            mujoco.mj_jacSite(model, data, jacobian[:3], jacobian[3:], self._tool)
            j = jacobian[:, self._speeds]
            turn = j.T @ np.linalg.solve(j @ j.T + 1e-6 * np.eye(6), error)
            data.qpos[self._places] = np.clip(data.qpos[self._places] + turn, *self._limits)
        else:
            raise OutOfReach(f"an arm cannot reach {np.round(pose.place, 3)} with a turn of {pose.yaw:.2f}")
        return np.array(data.qpos[self._places])

    def _error(self, place: Vector, wanted: NDArray[np.float64]) -> Vector:
        now = self._scratch.site_xmat[self._tool].reshape(3, 3)
        turn = 0.5 * np.cross(now, wanted, axis=0).sum(axis=1)
        return np.concatenate([place - self._scratch.site_xpos[self._tool], turn])
