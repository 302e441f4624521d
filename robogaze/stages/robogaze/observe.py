"""observe: what happens in each window of the clip, without judging it (RoboGaze, eq. 2).

Windows do not overlap unless `stride_s` is shorter than `window_s`. Neighbouring windows share a request of up to
`request_s`; requests are sent in parallel. Suspicions (what looks wrong) are kept separate from plain observations.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Annotated, Any, ClassVar, Self, TypedDict

from pydantic import Field, create_model, model_validator

from robogaze.core.context import Window, WindowObservation
from robogaze.core.pictures import FrameImage
from robogaze.core.sampling import windows
from robogaze.core.time import Span, union
from robogaze.domains import Domain
from robogaze.domains.contract import Answer, Phrase, list_of, record
from robogaze.stages.answers import keyed_answer, narrowed
from robogaze.stages.base import Stage
from robogaze.stages.client import ModelClient, NoAnswer, Query
from robogaze.stages.context import Context, Slot

_SHORTEST_S = 1.0
"""A shorter window at the end is part of the window before."""

_CHANGE_S, _SUSPICION_S = 0.5, 0.25
"""How much before and after the start or end of an action, and before and after a suspicion, is busy."""


class ObserveVariables(TypedDict):
    """The variables of the prompt `observe`: the windows of one request, and whether neighbouring windows overlap."""

    windows: tuple[Window, ...]
    overlap: bool


class ActionAnswer(Answer):
    """Something that is done or happens, with its start and end in seconds."""

    start_s: float
    end_s: float
    what: Phrase

    @model_validator(mode="after")
    def _ends_after_it_starts(self) -> Self:
        if self.end_s < self.start_s:
            raise ValueError(f"end_s {self.end_s} is before start_s {self.start_s}")
        return self


class WindowAnswer(Answer):
    """What every domain's observation of a window contains; the prompt of a domain adds more fields."""

    actions: list[ActionAnswer]
    suspicions: list[ActionAnswer]


class Observe(Stage):
    """Writes one observation per window. Raises NoAnswer if any window has no answer."""

    prompts: ClassVar[Mapping[str, type]] = {"observe": ObserveVariables}

    window_s: float = Field(default=4.0, gt=0)
    stride_s: float | None = Field(default=None, gt=0)
    """None for windows that do not overlap."""
    request_s: float = Field(default=20.0, gt=0)
    """How much of the clip one request shows at most, unless one window is longer."""
    sheets: bool = True
    """Whether frames are shown on contact sheets, beside the first frame of the clip."""

    def writes(self) -> frozenset[Slot]:
        return frozenset({"observations"})

    def role(self) -> str:
        return "vlm"

    def check(self, domain: Domain) -> None:
        """Raise ValueError if the stride leaves gaps, or if the prompt declares a field that every observation already
        has.

        Raises DomainError if the prompt declares no answer.
        """
        if self.stride_s is not None and self.stride_s > self.window_s:
            raise ValueError("stride_s is longer than window_s, so parts of the clip would be in no window")
        if repeated := WindowAnswer.model_fields.keys() & domain.prompts.contract("observe").keys():
            raise ValueError(
                f"the prompt observe.md.j2 declares {', '.join(sorted(repeated))}, which every observation already has"
            )

    async def run(self, context: Context, client: ModelClient) -> Context:
        clip, config = context.clip, client.model(self.role()).config
        stride_s = self.stride_s or self.window_s
        all_windows = windows(clip.frame_times_s, clip.duration_s, self.window_s, stride_s, config.frames, _SHORTEST_S)
        room = (config.max_pictures - 1) * client.frames_per_sheet if self.sheets else config.max_pictures
        groups = group_windows(all_windows, self.request_s, max(room, 1))
        answers = await client.ask_all((self._query(group, client) for group in groups), context)
        if missed := [answer for answer in answers if isinstance(answer, NoAnswer)]:
            raise missed[0]
        found = dict(chain.from_iterable(answer.windows for answer in answers))
        observations = tuple(_observation(window, found[f"W{window.id}"], context) for window in all_windows)
        return replace(context, observations=observations)

    def _query(self, group: Sequence[Window], client: ModelClient) -> Query:
        names = [f"W{window.id}" for window in group]
        overlap = self.stride_s is not None and self.stride_s < self.window_s
        return Query(
            stage="observe",
            subject=f"windows {names[0]} to {names[-1]}",
            role=self.role(),
            prompt="observe",
            variables=ObserveVariables(windows=tuple(group), overlap=overlap),
            images=self._images(sorted({frame for window in group for frame in window.frames}), client),
            contract=keyed_answer("windows", _contract(client), names),
        )

    def _images(self, frames: Sequence[int], client: ModelClient) -> tuple[FrameImage, ...]:
        if not self.sheets:
            return client.show(self.role(), frames)
        return (client.decoded_clip.frame_image(0), *client.sheets(frames))


def group_windows(windows: Sequence[Window], longest_s: float, most_frames: int) -> tuple[tuple[Window, ...], ...]:
    """Neighbouring windows in groups. A group lasts at most `longest_s` and has at most `most_frames` distinct frames,
    but it always has at least one window.
    """
    groups: list[list[Window]] = []
    for window in windows:
        if groups:
            together = {frame for member in (*groups[-1], window) for frame in member.frames}
            if len(together) <= most_frames and window.span.end - groups[-1][0].span.start <= longest_s:
                groups[-1].append(window)
                continue
        groups.append([window])
    return tuple(tuple(group) for group in groups)


def _contract(client: ModelClient) -> type[Answer]:
    """The contract of the observation of a window: what every domain asks for, then what this domain's prompt adds."""
    end_s = max(client.clip.duration_s, round(client.clip.duration_s, 2))  # the prompt gives two decimals
    time = Annotated[float, Field(ge=0, le=end_s)]
    happenings = list_of(narrowed(ActionAnswer, start_s=time, end_s=time))
    base = narrowed(WindowAnswer, actions=happenings, suspicions=happenings)
    declared = record("Notes", client.domain.prompts.contract("observe"))
    made: type[Answer] = create_model("Notes", __base__=(declared, base))
    return made


def _observation(window: Window, answer: Any, context: Context) -> WindowObservation:
    notes = answer.model_dump()
    suspicions = notes.pop("suspicions")
    return WindowObservation(
        window=window,
        notes=notes,
        suspicions=tuple(f"{found['start_s']:.2f} to {found['end_s']:.2f} s: {found['what']}" for found in suspicions),
        busy=_busy(window, answer, context),
    )


def _busy(window: Window, answer: WindowAnswer, context: Context) -> tuple[Span, ...]:
    """The moments in which an action starts or ends inside a window, and the suspicions, each with a margin."""
    edges = {time for action in answer.actions for time in (action.start_s, action.end_s)}
    inside = (time for time in edges if window.span.start < time < window.span.end)
    spans = [Span(time - _CHANGE_S, time + _CHANGE_S) for time in inside]
    spans += (Span(found.start_s - _SUSPICION_S, found.end_s + _SUSPICION_S) for found in answer.suspicions)
    return union(context.clip.clamp(span) for span in spans)
