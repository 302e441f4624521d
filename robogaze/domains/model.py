"""A domain: what to look for and how to ask, as data.

Dimensions with event types, each with a definition; the severity levels; pipelines; agents; prompts; a judge. All parts
of a domain are read from files. The code does not mention any particular dimension or event type.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from robogaze.core.data import Data, Fraction
from robogaze.core.events import Name, Severity
from robogaze.core.report import DomainRef
from robogaze.domains.prompts import Prompts
from robogaze.domains.yaml_files import Key, YamlText

Need = Literal["instruction"]

AgentMemory = Literal["none", "in_session", "cross_session", "both"]


class Confusion(Data):
    """Another type that is often confused with this type, and how to tell them apart."""

    type: Name
    tell: str = Field(min_length=1)


class SpanConvention(Data):
    """What the span of an event of one type covers, and where it starts and ends.

    `covers` says what the span covers: the moments in which something appears, vanishes or jumps (`appearance`), the
    moments in which something becomes different (`change`), an action while it is done (`act`), a condition while it
    lasts (`state`), or the time in which a result should be visible (`outcome`). `starts` and `ends` describe the first
    and the last moment of the span; the descriptions have no full stop at the end.
    """

    covers: Literal["appearance", "change", "act", "state", "outcome"]
    starts: str = Field(min_length=1)
    ends: str = Field(min_length=1)


class EventType(Data):
    """One kind of fault.

    `severity` is the usual severity. An `evidence_limiting` type says that the frames are not enough to decide; it does
    not assert a defect.
    """

    id: Name
    name: str
    definition: str = Field(min_length=1)
    cues: tuple[str, ...] = Field(min_length=1)
    confused_with: tuple[Confusion, ...] = ()
    span: SpanConvention
    severity: Severity
    evidence_limiting: bool = False


class Dimension(Data):
    """A group of event types that one specialist examines.

    `needs` lists the fields that a clip must have for the dimension to be examined. With `object_strips`, the
    specialist is shown crops of the task's objects over time. A dimension that is `always` examined is never ruled out,
    and its specialist is shown the end of the clip at a higher frame rate.
    """

    id: Name
    code: str
    name: str
    definition: str = Field(min_length=1)
    needs: tuple[Need, ...] = ()
    object_strips: bool = False
    always: bool = False
    types: tuple[EventType, ...] = Field(min_length=1)


class SeverityLevel(Data):
    """One severity level."""

    level: Severity
    name: str
    definition: str = Field(min_length=1)


class Taxonomy(Data):
    """The content of taxonomy.yaml.

    `cascade` is the rule for how many events to report if one cause has several visible effects. `not_annotated` are
    sentences about visible things that are not events.
    """

    schema_version: Literal[1]
    dimensions: tuple[Dimension, ...] = Field(min_length=1)
    severity: tuple[SeverityLevel, ...]
    cascade: str = Field(min_length=1)
    not_annotated: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if faults := list(self._faults()):
            raise ValidationError.from_exception_data("Taxonomy", faults)
        return self

    def _faults(self) -> Iterator[InitErrorDetails]:
        if [level.level for level in self.severity] != [1, 2, 3, 4, 5]:
            yield _fault("the rubric needs the levels 1, 2, 3, 4 and 5, in order", "severity")
        dimensions: dict[Key, Dimension] = {
            ("dimensions", number): dimension for number, dimension in enumerate(self.dimensions)
        }
        types: dict[Key, EventType] = {
            (*at, "types", number): kind
            for at, dimension in dimensions.items()
            for number, kind in enumerate(dimension.types)
        }
        yield from _repeated(dimensions)
        yield from _repeated(types)
        known = {kind.id for kind in types.values()}
        for at, kind in types.items():
            for number, confusion in enumerate(kind.confused_with):
                if confusion.type not in known:
                    yield _fault(f"{confusion.type!r} is not a type", *at, "confused_with", number, "type")


def _repeated(listed: Mapping[Key, Dimension | EventType]) -> Iterator[InitErrorDetails]:
    seen: set[str] = set()
    for at, item in listed.items():
        if item.id in seen:
            yield _fault(f"{item.id!r} is listed twice", *at, "id")
        seen.add(item.id)


def _fault(message: str, *at: str | int) -> InitErrorDetails:
    """An error with its place in the taxonomy; this place gives the line in the file."""
    return InitErrorDetails(type=PydanticCustomError("taxonomy", "{message}", {"message": message}), loc=at, input=None)


class StageSpec(Data):
    """A stage of a pipeline. `parameters` are the stage's parameters as the file gives them, and `lines` are the
    numbers of the lines in which they are written.
    """

    name: str
    parameters: dict[str, Any]
    line: int | None
    lines: dict[tuple[str | int, ...], int] = {}


class PipelineSpec(Data):
    """The content of pipelines/NAME.yaml."""

    name: str
    path: Path
    description: str
    stages: tuple[StageSpec, ...]


class Verification(Data):
    """How an agent checks a suspected fault; `min_confidence`, in [0, 1], is the lowest confidence at which the fault
    is reported.
    """

    min_confidence: Fraction


class AgentSpec(Data):
    """The content of agents/NAME.yaml: how an agent plays an interactive environment.

    The last `recent_steps` steps are shown in full detail. With in-session memory, older steps are summarised,
    `recent_steps` at a time; without it, only the last `steps_without_memory` are shown. `verification` is None if
    claims are reported without verification. A play ends after `loop_steps` equal steps, or after `failures_in_a_row`
    failures in a row. Between two steps at most `readings_in_a_row` documents are read. Only `shown_characters`
    characters of a document, a message or a value of the state are shown. To find a shorter list of commands that still
    shows a reported fault, at most `shorten_replays` replays are made.
    """

    schema_version: Literal[1]
    description: str
    reflection: bool
    memory: AgentMemory
    recent_steps: int = Field(ge=1)
    steps_without_memory: int = Field(ge=1)
    verification: Verification | None
    loop_steps: int = Field(ge=2)
    failures_in_a_row: int = Field(ge=1)
    readings_in_a_row: int = Field(ge=0)
    shown_characters: int = Field(ge=100)
    shorten_replays: int = Field(ge=0)

    @property
    def within_sessions(self) -> bool:
        """Whether the agent summarises the older steps of a session."""
        return self.memory in ("in_session", "both")

    @property
    def across_sessions(self) -> bool:
        """Whether the agent passes its findings on to the next session."""
        return self.memory in ("cross_session", "both")


class DomainFile(Data):
    """The content of domain.yaml.

    `default` marks the built-in domain that is used if none is given. For prompts, `summary` says in a few words what a
    clip of this domain shows, and `clip_text` names the text that comes with a clip (its `instruction`). A domain
    without a `default_pipeline` is for reports that are not made by a pipeline, such as reports of plays.
    """

    schema_version: Literal[1]
    id: Name
    version: str
    title: str
    summary: str
    clip_text: str = "task instruction"
    default: bool = False
    default_pipeline: str | None = None
    pipeline_without_model: str | None = None
    judge: str


class Domain(Data):
    """A loaded domain."""

    file: DomainFile
    taxonomy: Taxonomy
    pipelines: dict[str, PipelineSpec]
    agents: dict[str, AgentSpec]
    classifiers: dict[str, YamlText]
    prompts: Prompts
    fingerprint: str

    @property
    def id(self) -> str:
        return self.file.id

    @cached_property
    def ref(self) -> DomainRef:
        """The reference to this domain in reports."""
        taxonomy = sha256(self.taxonomy.model_dump_json().encode()).hexdigest()
        return DomainRef(id=self.id, version=self.file.version, taxonomy=taxonomy, fingerprint=self.fingerprint)

    @cached_property
    def dimensions(self) -> dict[str, Dimension]:
        """Dimensions by id, in the taxonomy's order."""
        return {dimension.id: dimension for dimension in self.taxonomy.dimensions}

    @cached_property
    def dimension_of(self) -> dict[str, str]:
        """The dimension of each event type."""
        return {kind.id: dimension.id for dimension in self.taxonomy.dimensions for kind in dimension.types}

    @cached_property
    def types(self) -> dict[str, EventType]:
        """Event types by id."""
        return {kind.id: kind for dimension in self.taxonomy.dimensions for kind in dimension.types}
