"""RoboGaze's own reports: one a file, one a line, or the `reports` that `robogaze score --json` prints."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError
from pydantic_core import to_json

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation, annotation_of
from robogaze.core.coverage import CoverageState, states
from robogaze.core.data import first_fault
from robogaze.core.report import Report
from robogaze.datasets.documents import Document, FormatError
from robogaze.datasets.formats.base import AnnotationPart, Format, ReadingContext


def recognises(value: Any) -> bool:
    """A report, or an object with a list of them."""
    return _is_report(value) or (_holds_reports(value) and all(map(_is_report, value["reports"])))


def _is_report(value: Any) -> bool:
    return isinstance(value, dict) and {"clip", "events"} <= value.keys()


def _holds_reports(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("reports"), list)


def split(document: Document) -> Iterator[AnnotationPart]:
    """Each report, as text: it is checked while it is parsed, which is faster than to do one after the other."""
    if b'"reports"' in document.raw and _holds_reports(document.value):
        for number, report in enumerate(document.value["reports"]):
            yield AnnotationPart(document, ("reports", number), to_json(report))
    else:
        yield AnnotationPart(document, (), document.raw)


def read(part: AnnotationPart, reading: ReadingContext) -> ClipAnnotation:
    """A report as an account; what else the report holds is dropped at once."""
    try:
        report = Report.model_validate_json(part.value, strict=True)
    except ValidationError as error:
        place, message = first_fault(error)
        raise FormatError(message, place) from error
    account = annotation_of(report, part.source)
    if reading.labels is not None:
        account = replace(
            account,
            findings=_labelled(account.findings, reading, "events"),
            candidates=_labelled(account.candidates, reading, "hypotheses"),
        )
    return replace(
        account,
        frame_times_s=reading.times(report.clip.frame_times_s),
        coverage=_shared(tuple(reading.covered(states(report.coverage), ("coverage",)).items())),
        taxonomy=reading.once(account.taxonomy),
        fingerprint=reading.once(account.fingerprint),
        author=reading.once(account.author),
    )


@lru_cache(maxsize=256)
def _shared(coverage: tuple[tuple[str, CoverageState], ...]) -> Mapping[str, CoverageState]:
    """The states by dimension, the same object for all reports that have the same."""
    return MappingProxyType(dict(coverage))


def _labelled(findings: Sequence[AnnotatedEvent], reading: ReadingContext, key: str) -> tuple[AnnotatedEvent, ...]:
    found = []
    for number, one in enumerate(findings):
        kind, dimension = reading.labelled(one.type, one.dimension, (key, number, "type"), (key, number, "dimension"))
        found.append(replace(one, type=kind, dimension=dimension))
    return tuple(found)


FORMAT = Format("report", "reports of RoboGaze: {clip, events, ...}", recognises, split, read)
