"""GBQA's `trace.jsonl`: the steps of an agent and the bugs it reported, in order.

{"type": "trace", "step": 3, "text": "Step 3: go north -> You are in the corridor."}
{"type": "bug", "step": 3, "title", "description", "confidence", "evidence", "tags"}
{"type": "summary", "step": 40, "data": {...}}
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from robogaze.datasets.documents import FormatError, documents, text_of
from robogaze.datasets.formats.records import ForeignRecord, Whole, parse


class PlayedStep(ForeignRecord):
    """A step of a play, read from one line of the `trace.jsonl` that `robogaze play` writes.

    `fault` says why the step has no reply; it is None if there is a reply. `difference` says how the reply differs from
    the expected reply.
    """

    step: int
    tool: str = "act"
    command: str | None = None
    rationale: str | None = None
    expected: str | None = None
    message: str = ""
    finished: bool = False
    fault: str | None = None
    difference: str | None = None


class _Line(ForeignRecord):
    type: Literal["trace", "bug", "summary"]
    step: Whole
    title: str = ""


def played_steps(path: Path) -> tuple[PlayedStep, ...]:
    """The steps in the trace of a play, in order. Raises InputError if the file cannot be read, and FormatError for a
    bad line.

    The initial state is step 0 and is left out.
    """
    lines = (json.loads(line) for line in text_of(path).splitlines() if line.strip())
    return tuple(step for line in lines if (step := parse(PlayedStep, line)).step > 0)


def trace_lines(steps: Sequence[PlayedStep], bugs: Sequence[tuple[Mapping[str, Any], int]]) -> str:
    """The text of a `trace.jsonl`. Each step is followed by the bugs that were found at this step; `bugs` contains each
    bug together with its step.
    """
    lines: list[Mapping[str, Any]] = []
    for step in steps:
        said = f"Step {step.step}: {step.command or step.tool} -> {step.message or step.fault or ''}"
        lines.append({"type": "trace", "step": step.step, "text": said})
    lines += [{"type": "bug", "step": step, **bug} for bug, step in bugs]
    lines.sort(key=lambda line: line["step"])
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def bug_steps(path: Path) -> Mapping[str, int]:
    """The step at which each bug was first reported, keyed by the bug's title. Empty if the file does not exist or is
    not a trace of GBQA.
    """
    if not path.is_file():
        return {}
    found: dict[str, int] = {}
    for document in documents(path):
        try:
            line = parse(_Line, document.value)
        except FormatError:  # the trace of `robogaze play` has the same name
            return {}
        if line.type == "bug" and line.step >= 0:
            found.setdefault(line.title, line.step)
    return found
