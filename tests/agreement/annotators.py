"""Made-up annotators and a judge that counts words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation, annotation_of
from robogaze.core.coverage import CoverageState
from robogaze.core.report import Report
from robogaze.core.time import Span
from robogaze.judges.base import DescriptionPair, Judgement

DEMO = Path(__file__).parents[2] / "datasets" / "demo" / "annotations.jsonl"

FRAMES = tuple(float(number) for number in range(10))
"""Ten frames, one a second: spans with whole ends hold as many frames as seconds."""


def event(start: float, end: float, text: str = "the cup falls", **said: Any) -> AnnotatedEvent:
    """An event with one span."""
    return AnnotatedEvent(**{"id": "e", "spans": (Span(start, end),), "description": text, "severity": 3, **said})


def annotation(author: str, clip_id: str, *findings: AnnotatedEvent, **said: Any) -> ClipAnnotation:
    """What an annotator says of a clip of ten seconds; events are numbered."""
    numbered = tuple(replace(event, id=f"e{number}") for number, event in enumerate(findings, start=1))
    known: dict[str, Any] = {
        "frame_times_s": FRAMES,
        "duration_s": 10.0,
        "status": "complete",
        "source": f"{author}.json",
    }
    return ClipAnnotation(**{"clip_id": clip_id, "author": author, "findings": numbered, **known, **said})


def looked_for(*dimensions: str, among: Sequence[str] = ("x", "y", "z")) -> dict[str, CoverageState]:
    """The coverage of an annotator who looked for some dimensions and left out the others."""
    return {name: "examined" if name in dimensions else "not_examined" for name in among}


@dataclass
class WordJudge:
    """The share of the words of both descriptions that they have in common; no judgement where one says "unreadable".

    It is lopsided on purpose when `tilt` is not 0: then a longer prediction is worth less.
    """

    tilt: float = 0.0
    asked: list[DescriptionPair] = field(default_factory=list)
    name: str = "words"
    note: str = "Counts words."
    identity: Mapping[str, Any] = field(default_factory=dict)

    async def rate(self, pairs: Sequence[DescriptionPair]) -> Sequence[Judgement]:
        self.asked += pairs
        return [self._judged(pair.reference, pair.prediction) for pair in pairs]

    def _judged(self, reference: str, prediction: str) -> Judgement:
        if "unreadable" in reference + prediction:
            return Judgement(None, rationale="it cannot be read")
        return Judgement(max(0.0, similarity(reference, prediction) - self.tilt * (len(prediction) > len(reference))))


def similarity(reference: str, prediction: str) -> float:
    """Words in common, of all words of both."""
    one, other = set(reference.split()), set(prediction.split())
    return len(one & other) / len(one | other)


def demo_annotators(names: Sequence[str], seed: int = 0) -> list[ClipAnnotation]:
    """Annotators of the demonstration clips: the first sees what is there, the others nearly so."""
    reports = [Report.model_validate_json(line) for line in DEMO.read_text().splitlines()]
    truth = [replace(annotation_of(report, "demo"), author=names[0]) for report in reports]
    rng = Random(seed)
    return truth + [replace(_seen_by(rng, annotation), author=name) for name in names[1:] for annotation in truth]


def _seen_by(rng: Random, annotation: ClipAnnotation) -> ClipAnnotation:
    """The account of somebody less exact: ends move, severities change by one, an event is missed now and then."""
    seen = tuple(
        _reported(rng, finding, annotation.duration_s or 0) for finding in annotation.findings if rng.random() > 0.15
    )
    return replace(annotation, findings=seen)


def _reported(rng: Random, event: AnnotatedEvent, end_s: float) -> AnnotatedEvent:
    spans = [
        (max(0.0, span.start - rng.random() / 2), min(end_s, span.end + rng.random() / 2)) for span in event.spans[:1]
    ]
    severity = min(5, max(1, (event.severity or 3) + rng.choice((-1, 0, 0, 1))))
    words = event.description.split()
    text = " ".join(word for word in words if rng.random() > 0.2) or event.description
    return replace(event, spans=tuple(Span(*span) for span in spans), severity=severity, description=text)
