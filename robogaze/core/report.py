"""The report: all that is said about one clip, by a pipeline or by a person.

Diagnosis writes it; everything after it reads it. Three fields say what it is worth, and nothing else does:

coverage   for every dimension of the domain: examined, ruled_out, partial or not_examined, with the reason
status     complete; partial (something failed or stayed undecided); unscored (nothing could be judged)
verdict    faulty (an event); clean (complete, no event, every dimension examined or ruled out); else undecided

Status and verdict follow from the rest of the report. They are written for the reader and checked when read.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, Self, TypeVar

from pydantic import Field, SerializerFunctionWrapHandler, field_validator, model_serializer, model_validator

from robogaze.core.clip import Clip
from robogaze.core.coverage import COVERED, Coverage, covers_all, states
from robogaze.core.data import Data
from robogaze.core.events import Claim, Event, Hypothesis, Name
from robogaze.core.pictures import Picture
from robogaze.core.time import RESOLUTION
from robogaze.errors import FailureKind

SCHEMA_VERSION: Literal[2] = 2

Status = Literal["complete", "partial", "unscored"]
Verdict = Literal["faulty", "clean", "undecided"]

_ORDER = ("schema_version", "clip", "domain", "pipeline", "author", "status", "verdict", "coverage")
"""The keys that a written report begins with."""

_FOLLOW = ("status", "verdict")
"""What follows from the rest of a report."""

AnyClaim = TypeVar("AnyClaim", bound=Claim)


class DomainRef(Data):
    """Which domain the report speaks in.

    `taxonomy` is a fingerprint of what its labels mean, and what reports are compared by; `fingerprint` covers every
    file of the bundle, prompts and pipelines, too.
    """

    id: str
    version: str
    taxonomy: str
    fingerprint: str


class Failure(Data):
    """Something that should have been done and was not."""

    stage: str
    dimension: Name | None = None
    kind: FailureKind
    message: str


class Unreadable(Data):
    """A clip whose file could not be read; it has no report and stays in every count."""

    uri: str
    reason: str


class Usage(Data):
    """What the answers behind a report cost when they were given; None where a server or a price did not say.

    `rounds` counts model calls in sequence; `wall_s` is the time along that sequence. An answer taken from the
    cache counts with what it cost when it was first given, so a resumed run reports the same numbers.
    """

    calls: int = Field(default=0, ge=0)
    rounds: int = Field(default=0, ge=0)
    prompt_tokens: int | None = 0
    cached_tokens: int | None = 0
    completion_tokens: int | None = 0
    cost_usd: float | None = 0.0
    wall_s: float = Field(default=0.0, ge=0)


class Call(Data):
    """One request to a model: a line of the ledger.

    `pictures` are ids of the report's pictures, in the order shown; `key` is a fingerprint of all the answer depends
    on (model, server, settings, prompt, pixels). `outcome` is "answered", "invalid" (the answer broke the contract;
    `error` says how) or "failed" (no answer came). `answered_by` is the model's own name for itself.
    """

    id: str
    stage: str
    subject: str
    role: str
    model: str
    round: int = Field(ge=1)
    attempt: int = Field(ge=1)
    pictures: tuple[str, ...]
    key: str
    outcome: Literal["answered", "invalid", "failed"]
    error: str | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    latency_s: float = 0.0
    answered_by: str | None = None
    facts: dict[str, str] = {}


class Provenance(Data):
    """Where a report comes from: versions, models and decoding parameters, and the ledger of calls."""

    versions: dict[str, str] = {}
    models: dict[str, dict[str, Any]] = {}
    media: dict[str, Any] = {}
    pictures: tuple[Picture, ...] = ()
    calls: tuple[Call, ...] = ()


def checked_schema(given: Any) -> Any:
    """A report's schema version as it is. Raises ValueError for another than this version reads."""
    if given != SCHEMA_VERSION:
        raise ValueError(f"this report has schema {given}, but schema {SCHEMA_VERSION} is needed; score the clip again")
    return given


class Report(Data):
    """All that is said about one clip.

    `coverage` has an entry for every dimension of the domain. `unseen` are the frames that no specialist was shown, as
    half-open runs of frame numbers. `notes` are sentences for the reader. A person's annotation is a report too: its
    `author` is the person, all is examined and it has no hypotheses.
    """

    schema_version: Literal[2] = SCHEMA_VERSION
    clip: Clip
    domain: DomainRef
    pipeline: str
    author: str
    coverage: dict[Name, Coverage] = Field(min_length=1)
    events: tuple[Event, ...]
    hypotheses: tuple[Hypothesis, ...] = ()
    failures: tuple[Failure, ...] = ()
    unseen: tuple[tuple[int, int], ...] = ()
    notes: tuple[str, ...] = ()
    usage: Usage = Usage()
    provenance: Provenance = Provenance()
    status: Status = Field(default_factory=lambda data: _status(data))
    verdict: Verdict = Field(default_factory=lambda data: _verdict(data))

    def with_(self, **changes: Any) -> Self:
        """A validated copy with some fields changed; status and verdict follow."""
        held = {name: getattr(self, name) for name in type(self).model_fields if name not in _FOLLOW}
        return type(self)(**{**held, **changes})

    @property
    def clean(self) -> bool:
        """Complete, no event, and every dimension examined or ruled out."""
        return self.verdict == "clean"

    @property
    def nothing_found(self) -> bool:
        """Complete and no event, whatever was covered. Nothing found is clean only where all was covered."""
        return self.status == "complete" and not self.events

    @property
    def undecided_dimensions(self) -> tuple[str, ...]:
        """The dimensions in which a failure or an undecided hypothesis leaves the answer open.

        A failure of no dimension in particular concerns those that were not examined as a whole.
        """
        named = {failure.dimension for failure in self.failures} | {claim.dimension for claim in self._unverified}
        if None in named:
            named |= {name for name, each in self.coverage.items() if each.state not in COVERED}
        return tuple(name for name in self.coverage if name in named)

    @property
    def faulty_dimensions(self) -> frozenset[str]:
        """The dimensions that an event belongs to, its secondary ones included."""
        return frozenset(name for event in self.events for name in (event.dimension, *event.secondary))

    def clean_in(self, dimensions: Collection[str]) -> bool:
        """Whether all these dimensions were examined or ruled out, and nothing was found or left undecided in them.

        Raises KeyError for a dimension that the domain does not have.
        """
        if any(failure.dimension is None for failure in self.failures):
            return False
        open_ = {*self.undecided_dimensions, *self.faulty_dimensions}
        return all(self.coverage[name].state in COVERED and name not in open_ for name in dimensions)

    @property
    def _unverified(self) -> tuple[Hypothesis, ...]:
        return _unverified(self.hypotheses)

    @model_serializer(mode="wrap")
    def _in_order(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = handler(self)
        return {name: written[name] for name in (*_ORDER, *written) if name in written}

    @field_validator("schema_version", mode="before")
    @classmethod
    def _is_of_this_version(cls, given: Any) -> Any:
        return checked_schema(given)

    @field_validator("events", "hypotheses")
    @classmethod
    def _ids_are_unique(cls, claims: tuple[AnyClaim, ...]) -> tuple[AnyClaim, ...]:
        ids = [claim.id for claim in claims]
        if len(set(ids)) != len(ids):
            raise ValueError(f"ids must be unique, not {', '.join(ids)}")
        return claims

    @model_validator(mode="after")
    def _merged_into_what_is_there(self) -> Self:
        ids = {one.id for one in self.hypotheses}
        for one in self.hypotheses:
            if one.merged_into is not None and one.merged_into not in ids - {one.id}:
                raise ValueError(f"{one.id} is merged into {one.merged_into}, which is no other hypothesis")
        return self

    @model_validator(mode="after")
    def _status_and_verdict_follow(self) -> Self:
        held = {name: getattr(self, name) for name in type(self).model_fields}
        for name, follows in (("status", _status(held)), ("verdict", _verdict(held))):
            if held[name] != follows:
                raise ValueError(
                    f"{name} is {held[name]!r}, but from coverage, events and failures follows {follows!r}"
                )
        if self.events and self.status == "unscored":
            raise ValueError("there are events, but no dimension was examined")
        return self

    @model_validator(mode="after")
    def _claims_are_of_the_clip_and_its_dimensions(self) -> Self:
        for claim in (*self.events, *self.hypotheses):
            if claim.dimension not in self.coverage:
                raise ValueError(f"{claim.id} is of the dimension {claim.dimension}, which coverage does not name")
            if claim.onset_s < 0 or claim.offset_s > self.clip.duration_s + RESOLUTION:
                raise ValueError(f"{claim.id} lies outside the clip's {self.clip.duration_s:.3f} s")
            cited = (frame for evidence in claim.evidence for frame in evidence.frames)
            if not all(0 <= frame < self.clip.frame_count for frame in cited):
                raise ValueError(f"{claim.id} cites a frame the clip does not have")
        return self


def _unverified(hypotheses: Sequence[Hypothesis]) -> tuple[Hypothesis, ...]:
    return tuple(claim for claim in hypotheses if claim.verdict == "unverified")


def _status(held: Mapping[str, Any]) -> Status:
    """The status that follows from the fields of a report; of fields that do not fit, none is asked for."""
    if all(each.state == "not_examined" for each in held["coverage"].values()):
        return "unscored"
    return "partial" if held["failures"] or _unverified(held["hypotheses"]) else "complete"


def _verdict(held: Mapping[str, Any]) -> Verdict:
    """The verdict that follows from the fields of a report."""
    if held["events"]:
        return "faulty"
    covered = covers_all(states(held["coverage"]).values())
    return "clean" if _status(held) == "complete" and covered else "undecided"
