"""Made-up runs of checkpoints: what a judge said of clips made from the prompts p0, p1, ..."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from making import coverage, make_clip

from robogaze.comparison import ReportMetadata, Run
from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.coverage import CoverageState, states
from robogaze.core.events import Event
from robogaze.core.report import DomainRef, Report
from robogaze.core.time import Span

DIMENSIONS = ("colour", "shape")
"""The dimensions of the made-up taxonomy; the types of one begin with its name."""


_OF_THE_CLIP = ("checkpoint", "instruction", "prompt_id", "initial_frame")


def event(kind: str, severity: int | None = 3) -> AnnotatedEvent:
    """An event in the first second."""
    dimension = kind.split("_")[0]
    return AnnotatedEvent("e", (Span(0.0, 1.0),), f"a {kind}", dimension, kind, (), severity)


def covered(*examined: str, **named: Sequence[str]) -> dict[str, CoverageState]:
    """The states of some dimensions: those `examined`, and others by the name of their state."""
    return dict(states(coverage(*examined, **named)))


ALL = covered(*DIMENSIONS)
NONE = covered(not_examined=DIMENSIONS)
PIXELS = covered("colour", partial=["shape"])
"""What a run without a model covers: no clip of it is clean."""


def annotation(clip_id: str, *findings: AnnotatedEvent, **said: Any) -> ClipAnnotation:
    """What a judge says of a clip of one minute; events are numbered. Its instruction is the part after the dash."""
    known: dict[str, Any] = {
        "author": "judge",
        "status": "complete",
        "findings": tuple(replace(event, id=f"e{number}") for number, event in enumerate(findings)),
        "coverage": NONE if said.get("status") == "unscored" else ALL,
        "duration_s": 60.0,
        "instruction": clip_id.partition("-")[2] or None,
        "source": f"{clip_id}.json",
    }
    return ClipAnnotation(clip_id=clip_id, **{**known, **said})


def run(name: str, *annotations: ClipAnnotation, **said: Any) -> Run:
    """A run of some clips."""
    return replace(Run.of(name, annotations), **said)


def clean_and_faulty(name: str, clean: str, kind: str = "colour_shift", severity: int | None = 3) -> Run:
    """A run of a clip for each sign.

    + clean, - with an event, ? unscored, ~ partial and nothing found so far, o undecided: complete and nothing found,
    but one of the dimensions is covered partially.
    """
    status = {"?": "unscored", "~": "partial"}
    events = {"-": (event(kind, severity),)}
    said: dict[str, dict[str, Any]] = {"o": {"coverage": PIXELS}}
    return run(
        name,
        *(
            annotation(
                f"{name}-p{at}", *events.get(sign, ()), status=status.get(sign, "complete"), **said.get(sign, {})
            )
            for at, sign in enumerate(clean)
        ),
    )


def without_a_model(
    name: str, clean: str, kind: str = "colour_shift", covers: Mapping[str, CoverageState] = PIXELS
) -> Run:
    """The same of a run without a model, which covers PIXELS."""
    found = clean_and_faulty(name, clean, kind)
    scored = {
        key: replace(annotation, coverage=covers)
        for key, annotation in found.annotations.items()
        if annotation.status != "unscored"
    }
    return replace(found, annotations={**found.annotations, **scored})


def metadata(cost_usd: float | None = 0.1, **said: Any) -> ReportMetadata:
    """What a report says beside its findings."""
    return ReportMetadata(**{"cost_usd": cost_usd, "pipeline": "full", "models": "{}", "initial_frame": None, **said})


def report(clip_id: str, kinds: Mapping[str, int] | None = None, **said: Any) -> Report:
    """A report of a clip of four seconds, with an event of each kind at its severity."""
    events = tuple(
        Event(id=f"e{at}", dimension=kind.split("_")[0], type=kind, spans=(Span(0.0, 1.0),), severity=severity,
              confidence=0.9, description=f"a {kind}", evidence=())
        for at, (kind, severity) in enumerate((kinds or {}).items())
    )  # fmt: skip
    of_the_clip = {name: said.pop(name) for name in _OF_THE_CLIP if name in said}
    known: dict[str, Any] = {
        "clip": make_clip(id=clip_id, **{"instruction": clip_id.partition("-")[2], **of_the_clip}),
        "domain": DomainRef(id="little", version="1", taxonomy="t" * 64, fingerprint="f" * 64),
        "pipeline": "plain",
        "author": "robogaze",
        "coverage": coverage(*DIMENSIONS),
        "events": events,
    }
    return Report(**{**known, **said})


def unscored(clip_id: str, **said: Any) -> Report:
    """A report of a clip that no model examined."""
    return report(clip_id, coverage=coverage(not_examined=DIMENSIONS), **said)


def write_reports(path: Path, reports: Sequence[Report]) -> Path:
    """Reports as JSONL, or as the files of a run folder where the path has no suffix."""
    if path.suffix:
        path.write_text("".join(f"{report.model_dump_json()}\n" for report in reports))
        return path
    (path / "reports").mkdir(parents=True)
    for report in reports:
        (path / "reports" / f"{report.clip.id}.json").write_text(report.model_dump_json())
    return path
