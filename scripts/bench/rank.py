"""How usable the better half of the candidates of a prompt is: the table of docs/rank.md.

    python scripts/bench/candidates.py candidates/ --jobs 2
    python scripts/bench/rank.py candidates/ --out /tmp/ranked

Candidates are ranked by the reports of the `pixels` pipeline, which are written to --out and scored once, and by
scripted reports: the true events with known errors (`RATES`). Further runs that are given with --run are ranked, too.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import robogaze
from robogaze.annotations import Source
from robogaze.core.coverage import Coverage
from robogaze.core.events import Event
from robogaze.core.report import Report
from robogaze.core.time import Span
from robogaze.domains import Domain, load_domain
from robogaze.ranking import MeasureResult, Screening, rank
from robogaze.ranking.screening import ORACLE, RANDOM
from robogaze.reporting.tables import ResultTable, Row, to_markdown


@dataclass(frozen=True)
class ErrorRates:
    """What scripted reports get wrong: missed events (a share), false events a clip, severities off by 1 (a share)."""

    missed: float
    false_per_clip: float
    severity_off: float


RATES = {
    "scripted: 10 % missed, 0.1 false a clip, 20 % of severities off by 1": ErrorRates(0.1, 0.1, 0.2),
    "scripted: 30 % missed, 0.3 false a clip, 30 % of severities off by 1": ErrorRates(0.3, 0.3, 0.3),
    "scripted: 50 % missed, 0.5 false a clip, 40 % of severities off by 1": ErrorRates(0.5, 0.5, 0.4),
}
_TRUE_CONFIDENCE, _FALSE_CONFIDENCE = (0.6, 1.0), (0.4, 0.9)
_SHORTEST_S = 0.5


def scripted(truth: Sequence[Report], rates: ErrorRates, domain: Domain, seed: int = 0) -> list[Report]:
    """The true reports with errors; every dimension counts as examined, confidences overlap."""
    rng = np.random.default_rng(seed)
    return [_with_errors(report, rates, domain, rng) for report in truth]


def _with_errors(report: Report, rates: ErrorRates, domain: Domain, rng: np.random.Generator) -> Report:
    found = [_graded(event, rates, rng) for event in report.events if rng.random() >= rates.missed]
    found += [_false(report, domain, rng) for _ in range(rng.poisson(rates.false_per_clip))]
    events = tuple(event.with_(id=f"E{number}") for number, event in enumerate(found, start=1))
    examined = {name: Coverage(state="examined", reason="scripted") for name in domain.dimensions}
    return report.with_(pipeline="scripted", author="scripted", coverage=examined, events=events)


def _graded(event: Event, rates: ErrorRates, rng: np.random.Generator) -> Event:
    off = int(rng.choice([-1, 1])) if rng.random() < rates.severity_off else 0
    severity = min(5, max(1, (event.severity or 3) + off))
    return event.with_(severity=severity, confidence=float(rng.uniform(*_TRUE_CONFIDENCE)))


def _false(report: Report, domain: Domain, rng: np.random.Generator) -> Event:
    """An event of a random type with the usual severity of the type."""
    names = sorted(domain.types)
    kind = domain.types[names[rng.integers(len(names))]]
    start = float(rng.uniform(0, report.clip.duration_s - _SHORTEST_S))
    end = float(rng.uniform(start + _SHORTEST_S, report.clip.duration_s))
    return Event(
        id="false",
        dimension=domain.dimension_of[kind.id],
        type=kind.id,
        spans=(Span(start, end),),
        severity=kind.severity,
        confidence=float(rng.uniform(*_FALSE_CONFIDENCE)),
        description="scripted",
        evidence=(),
    )


def pixels(folder: Path, out: Path) -> Source:
    """The reports of the pipeline without a model, scored once."""
    robogaze.score(folder / "clips.jsonl", pipeline="pixels", out=out)
    return out


def rows(name: str, screening: Screening) -> Iterator[Row]:
    """The measures of a set of reports; `random` and `oracle` do not depend on reports."""
    for measure in screening.measures:
        if measure.name not in (RANDOM, ORACLE):
            yield row(name, measure)


def row(name: str, measure: MeasureResult) -> Row:
    """A measure with its difference from random."""
    pair = measure.difference
    return name, measure.name, measure.precision, measure.severe, None if pair is None else pair.difference


def table(sources: dict[str, Source], labels: Path, prompts: dict[str, str], keep: float) -> ResultTable:
    """Every measure of every set of reports."""
    found = {
        name: rank({name: source}, keep=keep, prompts=prompts, labels=labels).screening
        for name, source in sources.items()
    }
    screenings = {name: screening for name, screening in found.items() if screening is not None}
    first = next(iter(screenings.values()))
    lines = [line for name, screening in screenings.items() for line in rows(name, screening)]
    lines += [row("", measure) for measure in first.measures if measure.name in (RANDOM, ORACLE)]
    title = f"{first.candidates} candidates of {first.prompts} prompts, {first.usable:.0%} usable"
    columns = ("reports", "ranked by", first.precision, "severe failures kept", "minus random")
    return ResultTable("rank", title, columns, tuple(lines))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="the folder of scripts/bench/candidates.py")
    parser.add_argument("--out", type=Path, required=True, help="a folder for the reports of the pixels pipeline")
    parser.add_argument("--run", action="append", default=[], metavar="NAME=PATH", help="reports of a model")
    parser.add_argument("--keep", type=float, default=0.5)
    options = parser.parse_args()
    domain = load_domain("robot")
    truth = list(robogaze.load_reports(options.folder / "annotations.jsonl"))
    sources: dict[str, Source] = {"pixels": pixels(options.folder, options.out / "pixels")}
    sources |= {name: scripted(truth, rates, domain) for name, rates in RATES.items()}
    sources |= dict(text.split("=", 1) for text in options.run)
    prompts = {report.clip.id: str(report.clip.prompt_id) for report in truth}
    print(to_markdown(table(sources, options.folder / "labels.csv", prompts, options.keep)))


if __name__ == "__main__":
    main()
