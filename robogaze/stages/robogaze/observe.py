"""observe: what happens in each window of the clip, without judging it (RoboGaze, eq. 2).

Windows overlap, so their frames are sent once and the windows are named as runs of frames; neighbouring windows
share a call until it holds `frames_a_call` pictures.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, TypedDict

from pydantic import Field

from robogaze.core.context import Observation, Window
from robogaze.core.sampling import windows
from robogaze.domains import Domain
from robogaze.domains.contract import record
from robogaze.stages.answers import keyed
from robogaze.stages.base import Stage
from robogaze.stages.client import ModelClient, NoAnswer, Query
from robogaze.stages.context import Context, Slot


class ObserveVariables(TypedDict):
    """The windows of one call."""

    windows: tuple[Window, ...]


class Observe(Stage):
    """Writes one observation a window; fails as a whole when any window stays unobserved."""

    prompts: ClassVar[Mapping[str, type]] = {"observe": ObserveVariables}

    window_s: float = Field(default=2.0, gt=0)
    stride_s: float = Field(default=1.0, gt=0)
    frames_a_call: int = Field(default=32, ge=1)

    def writes(self) -> frozenset[Slot]:
        """The observations."""
        return frozenset({"observations"})

    def role(self) -> str:
        """The model that looks."""
        return "vlm"

    def check(self, domain: Domain) -> None:
        """Raise ValueError when the stride leaves gaps, DomainError when the prompt declares no answer."""
        if self.stride_s > self.window_s:
            raise ValueError("stride_s is longer than window_s, so that parts of the clip would be in no window")
        domain.prompts.contract("observe")

    async def run(self, context: Context, desk: ModelClient) -> Context:
        """Ask about all windows, group by group, side by side."""
        clip, config = context.clip, desk.model(self.role()).config
        all_windows = windows(clip.frame_times_s, clip.duration_s, self.window_s, self.stride_s, config.frames)
        groups = group_windows(all_windows, min(self.frames_a_call, config.max_pictures))
        answers = await desk.ask_each([self._question(group, desk) for group in groups], context)
        if missed := [answer for answer in answers if isinstance(answer, NoAnswer)]:
            raise missed[0]
        said = {key: notes.model_dump() for answer in answers for key, notes in answer.windows}
        seen = tuple(Observation(window=window, notes=said[f"W{window.id}"]) for window in all_windows)
        return replace(context, observations=seen)

    def _question(self, group: Sequence[Window], desk: ModelClient) -> Query:
        notes = record("Notes", desk.domain.prompts.contract("observe"))
        names = [f"W{window.id}" for window in group]
        return Query(
            stage="observe",
            subject=f"windows {names[0]} to {names[-1]}",
            role=self.role(),
            prompt="observe",
            variables=ObserveVariables(windows=tuple(group)),
            shots=desk.show(self.role(), sorted({frame for window in group for frame in window.frames})),
            contract=keyed("windows", notes, names),
        )


def group_windows(windows: Sequence[Window], frames_a_call: int) -> tuple[tuple[Window, ...], ...]:
    """Neighbouring windows in groups whose distinct frames do not exceed `frames_a_call`; at least one a group."""
    groups: list[list[Window]] = []
    for window in windows:
        if groups:
            together = {frame for one in (*groups[-1], window) for frame in one.frames}
            if len(together) <= frames_a_call:
                groups[-1].append(window)
                continue
        groups.append([window])
    return tuple(tuple(group) for group in groups)
