"""GBQA: lists of bugs. References are bug files, predictions are the reports of an agent.

    {"game_name", "bugs": [{"id", "bug_type", "difficulty", "minimal_reproduction", "observed_fault"}]}
    {"game": {"name"}, "bugs": [{"title", "description", "confidence", "evidence", "tags"}]}

A list belongs to one title, and the title's name is the clip's id. This name is the text under a key that ends with
`_name` or `_id`, or under the key `name` of an inner object; there must be only one such name. A bug's description is
its observed fault (also `actual_behavior`), else its description, else its title. The steps that reproduce a bug are
`minimal_reproduction` or `test_steps`, a list or a single text; in an agent's report, `minimal_reproduction` is inside
`evidence`.

A bug has a time only if there is a `trace.jsonl` next to an agent's report. The trace gives the step at which each bug
was reported.

A play is written as the three files of GBQA's agent: `report.json`, `report.md` and `trace.jsonl`. RoboGaze adds two
keys: `reproduced` in the evidence of a bug, and `status` in `metadata`. The summary also gives the status, so that a
play that failed is not mistaken for a play without bugs.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.events import Event
from robogaze.core.report import Report
from robogaze.core.time import Span
from robogaze.datasets.documents import FormatError, Place
from robogaze.datasets.formats.base import (
    AnnotationPart,
    AnnotationReader,
    ExportedReport,
    Format,
    ReadingContext,
    ReportWriter,
    split_whole,
)
from robogaze.datasets.formats.gbqa_markdown import markdown_report
from robogaze.datasets.formats.gbqa_trace import PlayedStep, bug_steps, played_steps, trace_lines
from robogaze.datasets.formats.records import Confidence, ForeignRecord, Identifier, parse
from robogaze.store import file_name

_TEXTS = ("observed_fault", "actual_behavior", "description", "title")
_TRACE = "trace.jsonl"
_ENVIRONMENT = "environment"
"""The fact in the report of a play that the report of a video does not have."""
_TITLE = 80
"""The length, in characters, of a title that is cut from a description."""


def _steps(value: Any) -> Any:
    return [value] if isinstance(value, str) else [] if value is None else value


_Steps = Annotated[list[str], BeforeValidator(_steps)]


class _Evidence(ForeignRecord):
    minimal_reproduction: _Steps = []
    reproduced: bool | None = None


class _Bug(ForeignRecord):
    id: Identifier | None = None
    bug_type: str | None = None
    difficulty: str | None = None
    confidence: Confidence | None = None
    observed_fault: str | None = None
    actual_behavior: str | None = None
    description: str | None = None
    title: str | None = None
    minimal_reproduction: _Steps = []
    test_steps: _Steps = []
    evidence: _Evidence = _Evidence()

    @property
    def reproduction(self) -> tuple[str, ...]:
        """The steps that show the bug, without blank steps."""
        steps = self.minimal_reproduction or self.test_steps or self.evidence.minimal_reproduction
        return tuple(step.strip() for step in steps if step.strip())


class _Record(ForeignRecord):
    bugs: list[_Bug]


def recognises(value: Any) -> bool:
    """An object whose key `bugs` contains a list of objects."""
    bugs = value.get("bugs") if isinstance(value, dict) and "no_bugs" not in value else None
    return isinstance(bugs, list) and all(isinstance(bug, dict) for bug in bugs)


def read(part: AnnotationPart, context: ReadingContext) -> ClipAnnotation:
    """The annotation of a list of bugs. An event has a span only if a trace says at which step the bug was reported."""
    record = parse(_Record, part.value)
    reported_at = bug_steps(part.document.path.with_name(_TRACE)) if "game" in part.value else {}
    events = [_event(bug, number, reported_at, context) for number, bug in enumerate(record.bugs)]
    return context.annotation(part, _title(part.value), events)


def _title(record: Mapping[str, Any]) -> str:
    keyed = [value for key, value in record.items() if key.endswith(("_name", "_id"))]
    nested = [value.get("name") for value in record.values() if isinstance(value, dict)]
    names = sorted({name for name in (*keyed, *nested) if isinstance(name, str)})
    if len(names) != 1:
        raise FormatError(
            f"expected one name of the tested title, in a key such as game_name; found: {', '.join(names) or 'none'}"
        )
    return names[0]


def _event(bug: _Bug, number: int, reported_at: Mapping[str, int], context: ReadingContext) -> AnnotatedEvent:
    place: Place = ("bugs", number)
    text = next((text for key in _TEXTS if (text := getattr(bug, key))), None)
    if text is None:
        raise FormatError(f"a bug needs a description under one of these keys: {', '.join(_TEXTS)}", place)
    type_, dimension = context.map_labels(bug.bug_type, None, (*place, "bug_type"), place)
    step = reported_at.get(bug.title or "")
    return AnnotatedEvent(
        id=str(number + 1) if bug.id is None else str(bug.id),
        spans=() if step is None else (Span(step, step + 1),),
        description=text,
        dimension=dimension,
        type=type_,
        confidence=bug.confidence,
        difficulty=bug.difficulty,
        reproduction=bug.reproduction,
        reproduced=bug.evidence.reproduced,
    )


def bug_file(name: str, title: str, version: str, bugs: Sequence[Mapping[str, Any]]) -> str:
    """The text of a `bugs/<version>.json`. `bugs` are objects with the keys that GBQA uses."""
    head = {"game_name": name, "game_title": title, "bug_version": version, "total_bugs": len(bugs)}
    return json.dumps({**head, "bugs": list(bugs)}, ensure_ascii=False, indent=2) + "\n"


def files(plays: Sequence[ExportedReport]) -> Mapping[str, str | bytes]:
    """`<play>/report.json`, `report.md` and `trace.jsonl` of each play, from its report and its trace."""
    written: dict[str, str | bytes] = {}
    for play in plays:
        steps = played_steps(play.path) if play.path.name == _TRACE else ()
        for name, text in play_files(play.report, steps).items():
            written[f"{file_name(play.clip.id)}/{name}"] = text
    return written


def why_left_out(report: Report) -> str | None:
    """The reason to leave out a clip that is not a play; None for a play."""
    is_play = _ENVIRONMENT in report.provenance.media
    return None if is_play else "from videos; the format is for interactive plays"


def play_files(report: Report, steps: Sequence[PlayedStep]) -> Mapping[str, str]:
    """The three files about one play, keyed by file name."""
    bugs = [(_bug(event), int(event.offset_s) - 1) for event in report.events]
    facts = report.provenance.media
    name = str(facts.get(_ENVIRONMENT, report.clip.prompt_id or report.clip.id))
    summary = " ".join([f"Status: {report.status}.", *report.notes])
    record = {
        "metadata": {"session_id": report.clip.id, "status": report.status, "author": report.author},
        "llm": {role: model.get("model") for role, model in report.provenance.models.items()},
        "agent": {"max_steps": facts.get("budget"), **{key: facts.get(key) for key in ("mode", "memory", "seed")}},
        "game": {"name": name},
        "summary": summary,
        "bugs": [bug for bug, _ in bugs],
        "summaries": [],
        "steps": [_step(step) for step in steps],
    }
    return {
        "report.json": json.dumps(record, ensure_ascii=False, indent=2) + "\n",
        "report.md": markdown_report(name, len(steps), [bug for bug, _ in bugs], summary),
        _TRACE: trace_lines(steps, bugs),
    }


def _step(step: PlayedStep) -> dict[str, Any]:
    return {
        "step": step.step,
        "environment": {
            "tool": step.tool,
            "action": step.command or step.tool,
            "rationale": step.rationale or "",
            "expected_outcome": step.expected or "",
            "feedback": step.message or step.fault or "",
            "success": step.fault is None,
            "game_over": step.finished,
        },
        "reflection": {"notes": [step.difference] if step.difference else []},
        "summaries": [],
    }


def _bug(event: Event) -> dict[str, Any]:
    evidence: dict[str, Any] = {"observed_fault": event.description}
    if event.reproduction is not None:
        evidence["minimal_reproduction"] = list(event.reproduction.commands)
        evidence["reproduced"] = event.reproduction.reproduced
    title = event.description.split(". ")[0]
    return {
        "title": f"{event.id}: {title[:_TITLE]}",
        "description": event.description,
        "confidence": 1.0 if event.confidence is None else event.confidence,
        "evidence": evidence,
        "tags": [event.type],
    }


FORMAT = Format(
    AnnotationReader(recognises, split_whole, read),
    ReportWriter(files, why_left_out),
)
