"""observe: what happens in each window of the clip, without judging it (RoboGaze, eq. 2).

Windows overlap, so each frame is sent once and a window is a list of frame numbers. Neighbouring windows share a
request of up to `frames_per_request` frames.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, TypedDict

from pydantic import Field

from robogaze.core.context import Observation, Window
from robogaze.core.sampling import windows
from robogaze.domains import Domain
from robogaze.domains.contract import record
from robogaze.stages.answers import keyed_answer
from robogaze.stages.base import Stage
from robogaze.stages.client import ModelClient, NoAnswer, Query
from robogaze.stages.context import Context, Slot


class ObserveVariables(TypedDict):
    """The variables of the prompt `observe`: the windows of one request."""

    windows: tuple[Window, ...]


class Observe(Stage):
    """Writes one observation per window. Raises NoAnswer if any window has no answer."""

    prompts: ClassVar[Mapping[str, type]] = {"observe": ObserveVariables}

    window_s: float = Field(default=2.0, gt=0)
    stride_s: float = Field(default=1.0, gt=0)
    frames_per_request: int = Field(default=32, ge=1)

    def writes(self) -> frozenset[Slot]:
        return frozenset({"observations"})

    def role(self) -> str:
        return "vlm"

    def check(self, domain: Domain) -> None:
        """Raise ValueError if the stride leaves gaps, DomainError if the prompt declares no answer."""
        if self.stride_s > self.window_s:
            raise ValueError("stride_s is longer than window_s, so that parts of the clip would be in no window")
        domain.prompts.contract("observe")

    async def run(self, context: Context, client: ModelClient) -> Context:
        clip, config = context.clip, client.model(self.role()).config
        all_windows = windows(clip.frame_times_s, clip.duration_s, self.window_s, self.stride_s, config.frames)
        groups = group_windows(all_windows, min(self.frames_per_request, config.max_pictures))
        answers = await client.ask_all([self._query(group, client) for group in groups], context)
        if missed := [answer for answer in answers if isinstance(answer, NoAnswer)]:
            raise missed[0]
        notes_of = {key: notes.model_dump() for answer in answers for key, notes in answer.windows}
        observations = tuple(Observation(window=window, notes=notes_of[f"W{window.id}"]) for window in all_windows)
        return replace(context, observations=observations)

    def _query(self, group: Sequence[Window], client: ModelClient) -> Query:
        notes = record("Notes", client.domain.prompts.contract("observe"))
        names = [f"W{window.id}" for window in group]
        return Query(
            stage="observe",
            subject=f"windows {names[0]} to {names[-1]}",
            role=self.role(),
            prompt="observe",
            variables=ObserveVariables(windows=tuple(group)),
            images=client.show(self.role(), sorted({frame for window in group for frame in window.frames})),
            contract=keyed_answer("windows", notes, names),
        )


def group_windows(windows: Sequence[Window], frames_per_request: int) -> tuple[tuple[Window, ...], ...]:
    """Neighbouring windows in groups of at most `frames_per_request` distinct frames, at least one window per group."""
    groups: list[list[Window]] = []
    for window in windows:
        if groups:
            together = {frame for member in (*groups[-1], window) for frame in member.frames}
            if len(together) <= frames_per_request:
                groups[-1].append(window)
                continue
        groups.append([window])
    return tuple(tuple(group) for group in groups)
