"""The report: all that is said about one clip, by a pipeline or by a person.

Diagnosis writes it, everything after reads it. Three states, never to be confused:

ok         every assessed dimension was judged; without events the clip is clean in those dimensions
partial    something stays open; `failures` and unverified hypotheses say what
unscored   nothing was judged; it says nothing about the clip and stays in every denominator

Dimensions that are looked at in part (`in_part`) are not assessed: what is found there is an event, and that nothing is
found there says nothing. A clip of which only these could be looked at is partial.
"""

from typing import Any, Literal, Self, TypeVar

from pydantic import Field, field_validator, model_validator

from robogaze.core.clip import Clip
from robogaze.core.data import Data
from robogaze.core.events import Claim, Event, Hypothesis, Name
from robogaze.core.pictures import Picture
from robogaze.core.time import RESOLUTION

SCHEMA_VERSION: Literal[1] = 1

Status = Literal["ok", "partial", "unscored"]

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
    kind: str
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


class Report(Data):
    """All that is said about one clip.

    `assessed` are the dimensions the pipeline can judge for this clip, `judged` those it did judge. `unseen` are
    the frames that no specialist was shown, as half-open runs of frame numbers. `notes` are sentences for the
    reader. A person's annotation is a report too: its `author` is the person and it has no hypotheses.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    clip: Clip
    domain: DomainRef
    pipeline: str
    author: str
    status: Status
    assessed: tuple[Name, ...]
    in_part: tuple[Name, ...] = ()
    judged: tuple[Name, ...]
    events: tuple[Event, ...]
    hypotheses: tuple[Hypothesis, ...] = ()
    failures: tuple[Failure, ...] = ()
    unseen: tuple[tuple[int, int], ...] = ()
    notes: tuple[str, ...] = ()
    usage: Usage = Usage()
    provenance: Provenance = Provenance()

    @property
    def clean(self) -> bool:
        """Every assessed dimension was judged and nothing was found."""
        return self.status == "ok" and not self.events

    @property
    def left_open(self) -> tuple[str, ...]:
        """The assessed dimensions that were not judged to the end, and others that a failure or a claim leaves open."""
        missing = [name for name in self.assessed if name not in self.judged]
        failed = [one.dimension for one in self.failures if one.dimension is not None]
        undecided = [one.dimension for one in self.hypotheses if one.verdict == "unverified"]
        return (*missing, *dict.fromkeys(name for name in (*failed, *undecided) if name not in self.assessed))

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
    def _status_is_earned(self) -> Self:
        if not set(self.judged) <= set(self.assessed):
            raise ValueError("judged must be a part of assessed")
        if both := set(self.in_part) & set(self.assessed):
            raise ValueError(f"{min(both)} is assessed; it cannot be looked at in part only")
        complete = set(self.judged) == set(self.assessed) and bool(self.assessed)
        if self.status == "ok" and not complete:
            raise ValueError("status is ok but not every assessed dimension was judged")
        if self.status == "partial" and not self.judged and not self.in_part:
            raise ValueError("status is partial but nothing was judged; that is unscored")
        if self.status == "unscored" and (self.events or self.judged):
            raise ValueError("status is unscored but something was judged")
        return self

    @model_validator(mode="after")
    def _claims_lie_in_the_clip(self) -> Self:
        for claim in (*self.events, *self.hypotheses):
            if claim.onset_s < 0 or claim.offset_s > self.clip.duration_s + RESOLUTION:
                raise ValueError(f"{claim.id} lies outside the clip's {self.clip.duration_s:.3f} s")
            cited = (frame for evidence in claim.evidence for frame in evidence.frames)
            if not all(0 <= frame < self.clip.frame_count for frame in cited):
                raise ValueError(f"{claim.id} cites a frame the clip does not have")
        return self
