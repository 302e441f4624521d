"""GBQA: lists of bugs without times. References are bug files, predictions are the reports of an agent.

    {"bugs": [{"id", "bug_type", "difficulty", "minimal_reproduction", "observed_fault"}]}
    {"bugs": [{"title", "description", "confidence", "evidence", "tags"}]}

A list belongs to one title, which is the clip's id: the text under a key that ends with `_name` or `_id`, or the `name`
in the one object that has one. A bug's description is its observed fault (also `actual_behavior`), else its
description, else its title.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.datasets.documents import Document, FormatError, Place
from robogaze.datasets.formats.base import AnnotationPart, AnnotationReader, Format, ReadingContext
from robogaze.datasets.formats.records import Confidence, ForeignRecord, Identifier, parse

_TEXTS = ("observed_fault", "actual_behavior", "description", "title")


class _Bug(ForeignRecord):
    id: Identifier | None = None
    bug_type: str | None = None
    confidence: Confidence | None = None
    observed_fault: str | None = None
    actual_behavior: str | None = None
    description: str | None = None
    title: str | None = None


class _Record(ForeignRecord):
    bugs: list[_Bug]


def recognises(value: Any) -> bool:
    """An object with a list of bugs that are objects."""
    bugs = value.get("bugs") if isinstance(value, dict) and "no_bugs" not in value else None
    return isinstance(bugs, list) and all(isinstance(bug, dict) for bug in bugs)


def split(document: Document) -> Iterator[AnnotationPart]:
    """The one list of a document."""
    yield AnnotationPart(document, (), document.value)


def read(part: AnnotationPart, context: ReadingContext) -> ClipAnnotation:
    """The annotation of a list of bugs; its events have no spans."""
    record = parse(_Record, part.value)
    events = [_event(bug, number, context) for number, bug in enumerate(record.bugs)]
    return context.annotation(part, _title(part.value), events)


def _title(record: Mapping[str, Any]) -> str:
    keyed = [value for key, value in record.items() if key.endswith(("_name", "_id"))]
    nested = [value.get("name") for value in record.values() if isinstance(value, dict)]
    names = sorted({name for name in (*keyed, *nested) if isinstance(name, str)})
    if len(names) != 1:
        raise FormatError(f"expected one name of the tested title, not {', '.join(names) or 'none'}")
    return names[0]


def _event(bug: _Bug, number: int, context: ReadingContext) -> AnnotatedEvent:
    place: Place = ("bugs", number)
    text = next((text for key in _TEXTS if (text := getattr(bug, key))), None)
    if text is None:
        raise FormatError(f"a bug needs a text under one of {', '.join(_TEXTS)}", place)
    type_, dimension = context.map_labels(bug.bug_type, None, (*place, "bug_type"), place)
    event_id = str(number + 1) if bug.id is None else str(bug.id)
    return AnnotatedEvent(event_id, (), text, dimension, type_, confidence=bug.confidence)


FORMAT = Format("gbqa", AnnotationReader("GBQA: {bugs: [{observed_fault, ...}]}", recognises, split, read))
