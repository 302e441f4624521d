"""GBQA: lists of bugs, with no time. References are bug files, predictions the reports of an agent.

    {"bugs": [{"id", "bug_type", "difficulty", "minimal_reproduction", "observed_fault"}]}
    {"bugs": [{"title", "description", "confidence", "evidence", "tags"}]}

A list is about one title, which serves as the clip's id: the text under a key that ends with `_name` or `_id`, or the
`name` within the one object that has one. What is compared is the observed fault (also `actual_behavior`), else the
description, else the title of a bug.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.datasets.documents import Document, FormatError
from robogaze.datasets.formats.base import AnnotationPart, Format, ReadingContext
from robogaze.datasets.formats.records import Foreign, Identifier, Share, parse
from robogaze.datasets.places import Place

_TEXTS = ("observed_fault", "actual_behavior", "description", "title")


class _Bug(Foreign):
    id: Identifier | None = None
    bug_type: str | None = None
    confidence: Share | None = None
    observed_fault: str | None = None
    actual_behavior: str | None = None
    description: str | None = None
    title: str | None = None


class _Record(Foreign):
    bugs: list[_Bug]


def recognises(value: Any) -> bool:
    """An object with a list of bugs that are objects themselves."""
    bugs = value.get("bugs") if isinstance(value, dict) and "no_bugs" not in value else None
    return isinstance(bugs, list) and all(isinstance(bug, dict) for bug in bugs)


def split(document: Document) -> Iterator[AnnotationPart]:
    """The one list of a document."""
    yield AnnotationPart(document, (), document.value)


def read(part: AnnotationPart, reading: ReadingContext) -> ClipAnnotation:
    """A list of bugs as an account whose findings have no spans."""
    record = parse(_Record, part.value)
    findings = [_finding(bug, number, reading) for number, bug in enumerate(record.bugs)]
    return reading.account(part, _name(part.value), findings)


def _name(record: Mapping[str, Any]) -> str:
    keyed = [value for key, value in record.items() if key.endswith(("_name", "_id"))]
    inner = [value.get("name") for value in record.values() if isinstance(value, dict)]
    names = sorted({name for name in (*keyed, *inner) if isinstance(name, str)})
    if len(names) != 1:
        raise FormatError(f"one name is wanted of what the bugs were found in, not {', '.join(names) or 'none'}")
    return names[0]


def _finding(bug: _Bug, number: int, reading: ReadingContext) -> AnnotatedEvent:
    at: Place = ("bugs", number)
    text = next((text for key in _TEXTS if (text := getattr(bug, key))), None)
    if text is None:
        raise FormatError(f"a text is missing; it stands under one of {', '.join(_TEXTS)}", at)
    kind, dimension = reading.labelled(bug.bug_type, None, (*at, "bug_type"), at)
    name = str(number + 1) if bug.id is None else str(bug.id)
    return AnnotatedEvent(name, (), text, dimension, kind, confidence=bug.confidence)


FORMAT = Format("gbqa", "GBQA: {bugs: [{observed_fault, ...}]}", recognises, split, read)
