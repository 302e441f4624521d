"""The report on one clip, by a pipeline or by a person.

`diagnose` writes the report and all other code reads it. Three fields say what was judged:

coverage   for every dimension of the domain: examined, ruled_out, partial or not_examined, with the reason
status     complete; partial (something failed or stayed undecided); unscored (no dimension was examined)
verdict    faulty (an event); clean (complete, no event, every dimension examined or ruled out); else undecided

Status and verdict follow from the other fields. They are written to the file for people who read it, and are checked
when RoboGaze reads a report.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, Self, TypeVar

from pydantic import Field, SerializerFunctionWrapHandler, field_validator, model_serializer, model_validator

from robogaze.core.clip import Clip
from robogaze.core.coverage import COVERED, Coverage, covers_all, states
from robogaze.core.data import Data
from robogaze.core.events import Claim, Event, Hypothesis, Name
from robogaze.core.pictures import Picture
from robogaze.core.time import RESOLUTION
from robogaze.errors import FailureKind
from robogaze.registry import Registry

SCHEMA_VERSION: Literal[2] = 2

VIEWS: Registry[Callable[["Report"], str]] = Registry(
    "report_views", {"notebook": "robogaze.reporting.pages.notebook:report_html"}
)
"""The HTML view of a report in a notebook: the only link from `core` to a part above it, imported at first use."""

Status = Literal["complete", "partial", "unscored"]
Verdict = Literal["faulty", "clean", "undecided"]

_ORDER = ("schema_version", "clip", "domain", "pipeline", "author", "status", "verdict", "coverage")
"""The first keys of a written report."""

_DERIVED = ("status", "verdict")
"""The fields that follow from the others."""

AnyClaim = TypeVar("AnyClaim", bound=Claim)


class DomainRef(Data):
    """The domain of a report.

    `taxonomy` is a hash of the labels and their definitions; reports with the same hash can be compared. `fingerprint`
    is a hash of all files of the domain, prompts and pipelines included.
    """

    id: str
    version: str
    taxonomy: str
    fingerprint: str


class Failure(Data):
    """A part of the clip that could not be judged. `dimension` is None for a failure that concerns all dimensions."""

    stage: str
    dimension: Name | None = None
    kind: FailureKind
    message: str


class Unreadable(Data):
    """A clip whose file cannot be read. The clip has no report and is counted in every denominator.

    `clip_id` is None if the clip's id is not known, because an id can depend on the content of the file.
    """

    uri: str
    reason: str
    clip_id: str | None = None


class Usage(Data):
    """Calls, tokens, cost and time of the answers in a report.

    Tokens are None if a server did not count them; the cost is None if tokens or a price are not known. The calls of
    one round are sent in parallel, and `rounds` counts these rounds. `wall_s` is in seconds: the sum, over all rounds,
    of the time of the slowest call. A cached answer counts with its original cost, so a resumed run reports the same
    numbers.
    """

    calls: int = Field(default=0, ge=0)
    rounds: int = Field(default=0, ge=0)
    prompt_tokens: int | None = 0
    cached_tokens: int | None = 0
    completion_tokens: int | None = 0
    cost_usd: float | None = 0.0
    wall_s: float = Field(default=0.0, ge=0)


class Call(Data):
    """One request to a model: an entry of the ledger.

    `pictures` are ids of the report's pictures, in the order shown. `key` is the cache key: a hash of everything that
    affects the answer (model, server, settings, prompt, pixels). `outcome` is "answered", "invalid" (the answer broke
    its contract; see `error`) or "failed" (there was no answer). `answered_by` is the name that the server gives to the
    model. Counts are None if the server did not count, and the cost is None if the price is not known. `latency_s` is
    in seconds.
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
    """Versions, models and decoding parameters, decoder, pictures, and the ledger of calls."""

    versions: dict[str, str] = {}
    models: dict[str, dict[str, Any]] = {}
    media: dict[str, Any] = {}
    pictures: tuple[Picture, ...] = ()
    calls: tuple[Call, ...] = ()


def checked_schema(given: Any) -> Any:
    """Return the schema version. Raises ValueError for any version other than SCHEMA_VERSION."""
    if given != SCHEMA_VERSION:
        raise ValueError(f"this report has schema {given}, but schema {SCHEMA_VERSION} is needed; score the clip again")
    return given


class Report(Data):
    """The report on one clip.

    `coverage` has an entry for every dimension of the domain. `events` is empty where no fault was found. `hypotheses`
    includes the rejected and undecided hypotheses. `unseen` lists the frames that no specialist saw, as half-open
    ranges of frame numbers. `notes` are sentences for the reader. A person's annotation is also a report: its `author`
    is the person, every dimension is examined, and it has no hypotheses.
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
        """A validated copy with some fields changed; status and verdict are derived again."""
        fields = {name: getattr(self, name) for name in type(self).model_fields if name not in _DERIVED}
        return type(self)(**{**fields, **changes})

    def _repr_html_(self) -> str:
        """What a notebook shows: verdict, coverage, timeline and frames of the events."""
        return VIEWS.load("notebook")(self)

    @property
    def clean(self) -> bool:
        """Complete, no event, and every dimension examined or ruled out."""
        return self.verdict == "clean"

    @property
    def nothing_found(self) -> bool:
        """Complete and without events, no matter which dimensions were covered; a clean clip must also have every
        dimension covered.
        """
        return self.status == "complete" and not self.events

    @property
    def undecided_dimensions(self) -> tuple[str, ...]:
        """The dimensions with a failure or an undecided hypothesis.

        A failure without a dimension counts for every dimension that is not examined or ruled out.
        """
        named = {failure.dimension for failure in self.failures}
        named |= {hypothesis.dimension for hypothesis in _unverified(self.hypotheses)}
        if None in named:
            named |= {name for name, dimension in self.coverage.items() if dimension.state not in COVERED}
        return tuple(name for name in self.coverage if name in named)

    @property
    def faulty_dimensions(self) -> frozenset[str]:
        """The dimensions of the events, secondary ones included."""
        return frozenset(name for event in self.events for name in (event.dimension, *event.secondary))

    @property
    def layout_given(self) -> bool:
        """Whether the layout of views was given, rather than detected."""
        return bool(self.provenance.media.get("layout") == "given")

    def clean_in(self, dimensions: Collection[str]) -> bool:
        """Whether these dimensions are examined or ruled out, have no event, and have nothing undecided.

        The result is False for any dimensions if a failure concerns all dimensions. Otherwise, it is True if
        `dimensions` is empty. Raises KeyError for an unknown dimension.
        """
        if any(failure.dimension is None for failure in self.failures):
            return False
        not_clean = {*self.undecided_dimensions, *self.faulty_dimensions}
        return all(self.coverage[name].state in COVERED and name not in not_clean for name in dimensions)

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
            raise ValueError(f"ids must be unique; found: {', '.join(ids)}")
        return claims

    @model_validator(mode="after")
    def _merged_into_another_hypothesis(self) -> Self:
        ids = {hypothesis.id for hypothesis in self.hypotheses}
        for hypothesis in self.hypotheses:
            target = hypothesis.merged_into
            if target is not None and target not in ids - {hypothesis.id}:
                raise ValueError(f"{hypothesis.id} is merged into {target}, but no other hypothesis has this id")
        return self

    @model_validator(mode="after")
    def _status_and_verdict_follow(self) -> Self:
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        for name, derived in (("status", _status(fields)), ("verdict", _verdict(fields))):
            if fields[name] != derived:
                raise ValueError(f"{name} is {fields[name]!r}, but coverage, events and failures make it {derived!r}")
        if self.events and self.status == "unscored":
            raise ValueError("there are events, but no dimension was examined")
        return self

    @model_validator(mode="after")
    def _claims_fit_clip_and_coverage(self) -> Self:
        for claim in (*self.events, *self.hypotheses):
            if claim.dimension not in self.coverage:
                raise ValueError(f"{claim.id} has the dimension {claim.dimension}, which is not in coverage")
            if claim.onset_s < 0 or claim.offset_s > self.clip.duration_s + RESOLUTION:
                raise ValueError(f"{claim.id} lies outside the clip, which is {self.clip.duration_s:.3f} s long")
            cited = (frame for evidence in claim.evidence for frame in evidence.frames)
            if not all(0 <= frame < self.clip.frame_count for frame in cited):
                raise ValueError(f"{claim.id} cites a frame that the clip does not have")
        return self


def _unverified(hypotheses: Sequence[Hypothesis]) -> tuple[Hypothesis, ...]:
    return tuple(claim for claim in hypotheses if claim.verdict == "unverified")


def _status(fields: Mapping[str, Any]) -> Status:
    """The status that follows from the other fields of a valid report."""
    if all(dimension.state == "not_examined" for dimension in fields["coverage"].values()):
        return "unscored"
    return "partial" if fields["failures"] or _unverified(fields["hypotheses"]) else "complete"


def _verdict(fields: Mapping[str, Any]) -> Verdict:
    """The verdict that follows from the other fields of a valid report."""
    if fields["events"]:
        return "faulty"
    covered = covers_all(states(fields["coverage"]).values())
    return "clean" if _status(fields) == "complete" and covered else "undecided"
