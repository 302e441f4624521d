"""RoboGaze's reports.

Read: one report per file, one report per line (JSONL), or the `reports` that `robogaze score --json` prints.
Written: `reports.jsonl`, with one complete report per line.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import ValidationError
from pydantic_core import to_json

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation, annotation_of
from robogaze.core.coverage import states
from robogaze.core.data import first_fault
from robogaze.core.report import Report
from robogaze.datasets.documents import Document, FormatError
from robogaze.datasets.formats.base import (
    AnnotationPart,
    AnnotationReader,
    ExportedReport,
    Format,
    ReadingContext,
    ReportWriter,
    keep_all,
)


def recognises(value: Any) -> bool:
    """A report, or an object with a list of reports."""
    return _is_report(value) or (_has_reports(value) and all(map(_is_report, value["reports"])))


def _is_report(value: Any) -> bool:
    return isinstance(value, dict) and {"clip", "events"} <= value.keys()


def _has_reports(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("reports"), list)


def split(document: Document) -> Iterator[AnnotationPart]:
    """Each report, as JSON text. Validating this text directly is faster than parsing it first."""
    if b'"reports"' in document.raw and _has_reports(document.value):
        for number, report in enumerate(document.value["reports"]):
            yield AnnotationPart(document, ("reports", number), to_json(report))
    else:
        yield AnnotationPart(document, (), document.raw)


def read(part: AnnotationPart, context: ReadingContext) -> ClipAnnotation:
    """The annotation of a report, without the rest of the report."""
    try:
        report = Report.model_validate_json(part.value, strict=True)
    except ValidationError as error:
        place, message = first_fault(error)
        raise FormatError(message, place) from error
    annotation = annotation_of(report, part.source)
    return replace(
        annotation,
        findings=_with_mapped_labels(annotation.findings, context, "events"),
        candidates=_with_mapped_labels(annotation.candidates, context, "hypotheses"),
        frame_times_s=context.shared_times(report.clip.frame_times_s),
        coverage=context.map_coverage(states(report.coverage), ("coverage",)),
    )


def _with_mapped_labels(
    events: Sequence[AnnotatedEvent], context: ReadingContext, key: str
) -> tuple[AnnotatedEvent, ...]:
    mapped = []
    for number, event in enumerate(events):
        type_, dimension = context.map_labels(
            event.type, event.dimension, (key, number, "type"), (key, number, "dimension")
        )
        mapped.append(replace(event, type=type_, dimension=dimension))
    return tuple(mapped)


def files(clips: Sequence[ExportedReport]) -> Mapping[str, str | bytes]:
    """`reports.jsonl`."""
    return {"reports.jsonl": "".join(f"{clip.report.model_dump_json()}\n" for clip in clips)}


FORMAT = Format(
    AnnotationReader(recognises, split, read),
    ReportWriter(files, keep_all),
)
