"""direct: one query about the whole clip, without memories or specialists. The stage implements the baselines of the
paper: vanilla, chain of thought, and taxonomy in the prompt (RoboGaze A.3.2, A.3.3, A.4.13). With `samples`, it
produces the hypotheses for a vote (A.4.12). It can also make the proposals of a generic propose-and-verify method. If a
pipeline has several stages of this kind, the numbers of samples and hypotheses continue from one stage to the next.

The query shows the frames that the model's regime selects. If a clip is longer than the regime covers, the frames are
far apart. The reason in `coverage` then states the longest time without a shown frame.

Reasoning inside <think> tags is removed before the answer is read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, TypedDict

from pydantic import Field

from robogaze.core.coverage import Coverage
from robogaze.core.events import Evidence, Hypothesis
from robogaze.core.pictures import FrameImage
from robogaze.core.sampling import unseen_spans
from robogaze.core.time import Span, union
from robogaze.domains import Dimension, Domain
from robogaze.domains.model import SeverityLevel
from robogaze.stages.answers import RecurringFaultAnswer, SeverityAnswer, SingleFaultAnswer, fault_contract, list_answer
from robogaze.stages.base import Examiner
from robogaze.stages.client import ModelClient, NoAnswer, Query
from robogaze.stages.context import Context
from robogaze.stages.fault_place import PlaceAnswer, place_error, place_evidence, placed_contract
from robogaze.threads import on_core

_MAX_EVENTS = 12


class DirectVariables(TypedDict):
    """The variables of every prompt that the parameter `prompt` can select: the taxonomy and its conventions.

    If `boxes` is set, the answer gives the place of each fault that has one, as a box in one of the `views`.
    """

    dimensions: tuple[Dimension, ...]
    severity: tuple[SeverityLevel, ...]
    cascade: str
    not_annotated: tuple[str, ...]
    boxes: bool
    views: tuple[str, ...]


class EventAnswer(SingleFaultAnswer):
    """A fault as one sample reports it."""

    severity: SeverityAnswer

    @property
    def spans(self) -> tuple[Span, ...]:
        """When the fault is visible."""
        return (Span(*self.span_s),)


class PlacedEventAnswer(PlaceAnswer, EventAnswer):
    """A fault as one sample reports it, with its place in one of the frames."""


class RecurringEventAnswer(RecurringFaultAnswer):
    """A fault, possibly with several spans, as one sample reports it."""

    severity: SeverityAnswer

    @property
    def spans(self) -> tuple[Span, ...]:
        """When the fault is visible."""
        return tuple(Span(*pair) for pair in self.spans_s)


AnyEvent = EventAnswer | RecurringEventAnswer


class Direct(Examiner):
    """Writes the hypotheses of one sample, or of `samples` independent samples at a temperature above 0."""

    prompts: ClassVar[Mapping[str, type]] = {}

    prompt: str
    """The name of the prompt, which may use the variables of DirectVariables."""
    reasoning: bool = False
    """Let the model reason before it answers; no schema is sent then."""
    recurring: bool = False
    """Ask for all spans of an event (`spans_s`) instead of one (`span_s`)."""
    first_frame: bool = False
    """Show the first frame as a picture of its own, before the others."""
    boxes: bool = False
    """Ask for the place of a fault in one of the frames; the prompt must describe it."""
    counts_as_examined: bool = True
    """Whether the dimensions are examined by this; false for a first look that specialists follow."""
    samples: int = Field(default=1, ge=1)
    temperature: float | None = Field(default=None, ge=0)

    def shows_any_frame(self) -> bool:
        return False

    def templates(self) -> Mapping[str, type]:
        return {self.prompt: DirectVariables}

    def check(self, domain: Domain) -> None:
        """Raise ValueError if several samples would be identical, or if an event could have several spans but only one
        place.
        """
        if self.boxes and self.recurring:
            raise ValueError(
                "boxes: an event with several spans may be in several places; leave out either boxes or recurring"
            )
        if self.samples > 1 and not self.temperature:
            raise ValueError("several samples need a temperature above 0; otherwise they are identical")

    async def run(self, context: Context, client: ModelClient) -> Context:
        """Send one query per sample, in parallel."""
        taken = len(samples_of(client))
        images = await on_core(self._images, client)
        queries = [self._query(sample, images, context, client) for sample in range(taken, taken + self.samples)]
        answers = await client.ask_all(queries, context)
        failures = tuple(answer.failure for answer in answers if isinstance(answer, NoAnswer))
        reported = [
            (query.subject, event)
            for query, answer in zip(queries, answers, strict=True)
            if not isinstance(answer, NoAnswer)
            for event in answer.events
        ]
        first = len(context.hypotheses or ()) + 1
        found = tuple(
            _hypothesis(f"H{number}", sample, event, context)
            for number, (sample, event) in enumerate(reported, start=first)
        )
        if len(failures) < self.samples:
            shown = frozenset(client.frames(self.role())) | (context.whole_clip_frames or frozenset())
            context = replace(context, whole_clip_frames=shown)
            if self.counts_as_examined:
                context = context.covering_all(self._coverage(client))
        return replace(
            context,
            hypotheses=(*(context.hypotheses or ()), *found),
            failures=(*context.failures, *failures),
        )

    def _coverage(self, client: ModelClient) -> Coverage:
        """How much of the clip a call showed: "partial" if a stretch of more than 1 s was not shown."""
        clip, frames = client.clip, client.frames(self.role())
        calls = "one call about all dimensions" if self.samples == 1 else f"{self.samples} calls about all dimensions"
        unseen = unseen_spans((clip.span,), frames, clip.frame_times_s, clip.duration_s)
        longest = f"; up to {max(span.length for span in unseen):.1f} s without a shown frame" if unseen else ""
        reason = f"{calls}, {len(frames)} of {clip.frame_count} frames{longest}"
        return Coverage(state="partial" if unseen else "examined", reason=reason)

    def _images(self, client: ModelClient) -> tuple[FrameImage, ...]:
        shown = client.show(self.role(), client.frames(self.role()))
        first = client.decoded_clip.frame_image(0)
        adds_first = self.first_frame and all(image.picture.id != first.picture.id for image in shown)
        return (first, *shown) if adds_first else shown

    def _query(self, sample: int, images: tuple[FrameImage, ...], context: Context, client: ModelClient) -> Query:
        frames = client.frames(self.role())
        dimensions = tuple(client.domain.dimensions[name] for name in context.dimensions)
        return Query(
            stage="direct",
            subject=f"sample {sample + 1}",
            role=self.role(),
            prompt=self.prompt,
            variables=DirectVariables(
                dimensions=dimensions,
                severity=client.domain.taxonomy.severity,
                cascade=client.domain.taxonomy.cascade,
                not_annotated=client.domain.taxonomy.not_annotated,
                boxes=self.boxes,
                views=context.clip.layout.active,
            ),
            images=images,
            contract=list_answer("events", self._contract(dimensions, frames, context), _MAX_EVENTS),
            sample=sample,
            temperature=self.temperature,
            constrained=not self.reasoning,
            check=lambda answer: (
                _mislabelled(answer.events, client.domain)
                or place_error("events", answer.events, context.clip.layout.active)
            ),
        )

    def _contract(self, dimensions: tuple[Dimension, ...], frames: tuple[int, ...], context: Context) -> type[AnyEvent]:
        duration_s = context.clip.duration_s
        if self.recurring:
            return fault_contract(RecurringEventAnswer, duration_s, dimensions, frames)
        if not self.boxes:
            return fault_contract(EventAnswer, duration_s, dimensions, frames)
        contract = fault_contract(PlacedEventAnswer, duration_s, dimensions, frames)
        return placed_contract(contract, frames, context.clip.layout.active)


def samples_of(client: ModelClient) -> Mapping[str, bool]:
    """The samples of a clip so far: a mapping from the name of each sample to whether it has an answer.

    The hypotheses of a sample have the sample's name in `proposed_by`.
    """
    taken: dict[str, bool] = {}
    for call in client.calls:
        if call.stage == "direct":
            taken[call.subject] = taken.get(call.subject, False) or call.outcome == "answered"
    return taken


def _mislabelled(events: Sequence[AnyEvent], domain: Domain) -> str | None:
    for event in events:
        if domain.dimension_of[event.type] != event.dimension:
            return f"events: {event.type} is a type of {domain.dimension_of[event.type]}, not of {event.dimension}"
    return None


def _hypothesis(name: str, sample: str, event: AnyEvent, context: Context) -> Hypothesis:
    return Hypothesis(
        id=name,
        dimension=event.dimension,
        type=event.type,
        spans=union(context.clip.clamp(span) for span in event.spans),
        severity=event.severity,
        confidence=None,
        description=event.description,
        evidence=(
            Evidence(text=event.evidence, frames=tuple(sorted(set(event.frames))), source="direct"),
            *place_evidence(event, context.clip.layout.active, "direct"),
        ),
        proposed_by=sample,
    )
