"""GBQA's `report.md`: the bugs of an agent as headings. GBQA's released evaluator reads only this file.

    # QA Agent Report - <name of the tested title>
    ## Bugs
    ### <title>
    - Confidence: 0.90
    - Description: <one line>

The name in the first heading is the clip's id. Text after the bugs is not read.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.datasets.documents import FormatError
from robogaze.datasets.formats.base import AnnotationPart, AnnotationReader, Format, ReadingContext, split_whole

_HEAD = "# QA Agent Report - "
_BUG = re.compile(r"^### (?P<title>.+)$(?P<body>(?:\n(?!#).*)*)", re.MULTILINE)
_FIELD = re.compile(r"^- (Confidence|Description): (.*(?:\n(?!- |#).*)*)", re.MULTILINE)


def markdown_report(name: str, steps: int, bugs: Sequence[Mapping[str, Any]], summary: str) -> str:
    """The text of a `report.md`; each bug has `title`, `confidence` and `description`."""
    lines = [f"{_HEAD}{_line(name)}", "", f"Total steps: {steps}", f"Total bugs: {len(bugs)}", "", "## Bugs"]
    lines += [] if bugs else ["No bugs reported."]
    for bug in bugs:
        lines += [
            f"### {_line(bug['title'])}",
            f"- Confidence: {bug['confidence']:.2f}",
            f"- Description: {_line(bug['description'])}",
            "",
        ]
    return "\n".join([*lines, "## Summary", _line(summary), ""])


def _line(text: str) -> str:
    return " ".join(text.split())


def recognises(value: Any) -> bool:
    """A text that starts with the heading of a `report.md`."""
    return isinstance(value, str) and value.startswith(_HEAD)


def read(part: AnnotationPart, context: ReadingContext) -> ClipAnnotation:
    """The annotation of a report; its events have no spans."""
    if not recognises(part.value):
        raise FormatError(f"does not start with {_HEAD!r}")
    head, _, rest = str(part.value).partition("\n")
    before, _, listed = rest.partition("## Bugs")
    events = [_event(number, bug) for number, bug in enumerate(_BUG.finditer(listed.partition("\n## ")[0]), 1)]
    total = re.search(r"Total bugs: (\d+)", before)
    if total is not None and int(total[1]) != len(events):
        raise FormatError(f"the report gives a total of {total[1]} bugs but lists {len(events)}")
    return context.annotation(part, head.removeprefix(_HEAD).strip(), events)


def _event(number: int, bug: re.Match[str]) -> AnnotatedEvent:
    fields = {name: " ".join(text.split()) for name, text in _FIELD.findall(bug["body"])}
    try:
        confidence = float(fields["Confidence"]) if "Confidence" in fields else None
    except ValueError as error:
        raise FormatError(f"the confidence of {bug['title']!r} is not a number") from error
    if confidence is not None and not 0 <= confidence <= 1:
        raise FormatError(f"the confidence of {bug['title']!r} is not in [0, 1]")
    return AnnotatedEvent(str(number), (), fields.get("Description") or bug["title"].strip(), confidence=confidence)


FORMAT = Format(AnnotationReader(recognises, split_whole, read))
