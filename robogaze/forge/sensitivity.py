"""The sensitivity of an evaluator: the planted glitches that are reported, and the events reported in untouched clips.

A glitch is found if a report has an event of the glitch's type that overlaps the glitch in frames (one to one, the
largest IoU first). A glitch is noticed if any event overlaps the glitch. The same test is applied to the report on the
untouched clip. If the glitch is "found" there too, the event is not due to the glitch.

A glitch is undecided if its clip has no report, if the report is unscored, or if the glitch's dimension is undecided in
the report. Undecided glitches are left out of the proportions. The bounds give the proportion for two cases: none of
the undecided glitches was found, or all of them were found. A glitch in a dimension that the evaluator does not examine
counts as missed.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robogaze.core.annotation import AnnotatedEvent, annotation_of
from robogaze.core.estimate import Estimate, undefined
from robogaze.core.report import Report
from robogaze.datasets.pairing import System, pair
from robogaze.errors import InputError, OptionError
from robogaze.matching import Match, Weighting, iou_matrix, match_events
from robogaze.stats.interval import estimate
from robogaze.stats.proportions import wilson
from robogaze.stats.resample import Clusters, Resamples, draw_resamples, mean, mean_rows, ratio

RULE = (
    "found: an event of the same type overlaps the glitch in time (frames); noticed: any event overlaps the "
    "glitch in time"
)


@dataclass(frozen=True)
class BoundedProportion:
    """A proportion among the decided cases; `open` is the number of undecided cases.

    `worst` and `best` are proportions among all cases: `worst` counts every undecided case as a no, and `best` counts
    it as a yes. Both are NaN if there are no cases.
    """

    value: Estimate
    open: int
    worst: float
    best: float

    @classmethod
    def of(cls, answers: Sequence[bool | None], level: float) -> "BoundedProportion":
        """The proportion of answers that are True; None means undecided."""
        yes, unknown, count = answers.count(True), answers.count(None), len(answers)
        worst, best = (yes / count, (yes + unknown) / count) if count else (np.nan, np.nan)
        return cls(wilson(yes, count - unknown, level=level), unknown, worst, best)

    def as_json(self) -> dict[str, Any]:
        bounds = {"worst": self.worst, "best": self.best}
        known = {name: None if np.isnan(bound) else bound for name, bound in bounds.items()}
        return {**self.value.as_json(), "open": self.open, **known}


@dataclass(frozen=True)
class Trial:
    """A planted glitch, and whether the evaluator detected the glitch; None means undecided.

    `onset_error_s` (absolute) and `tiou` compare the glitch with the event by which it was found. Both are None if the
    glitch was not found or lasts the whole clip. `examined` says whether the evaluator examines the glitch's dimension.
    """

    source: str
    glitch: str
    type: str
    severity: int
    found: bool | None
    noticed: bool | None
    examined: bool
    found_untouched: bool | None
    onset_error_s: float | None = None
    tiou: float | None = None


@dataclass(frozen=True)
class Group:
    """A group of trials. Localisation is measured over the found glitches that do not last the whole clip."""

    planted: int
    not_examined: int
    found: BoundedProportion
    noticed: BoundedProportion
    found_untouched: BoundedProportion
    onset_error_s: Estimate
    tiou: Estimate


@dataclass(frozen=True)
class Alarms:
    """Events reported in the untouched clips: their number by type, the proportion of clips with any event, and the
    events per clip and per minute.
    """

    untouched: int
    partial: int
    types: Mapping[str, int]
    clips: BoundedProportion
    per_clip: Estimate
    per_minute: Estimate

    def as_json(self) -> dict[str, Any]:
        shares = {name: getattr(self, name).as_json() for name in ("clips", "per_clip", "per_minute")}
        return {"untouched": self.untouched, "partial": self.partial, "types": dict(self.types), **shares}


@dataclass(frozen=True)
class Sensitivity:
    """The sensitivity of an evaluator. `total` covers all trials; `by` divides them into groups: by type, by severity
    and by glitch.
    """

    total: Group
    by: Mapping[str, Mapping[str, Group]]
    alarms: Alarms
    trials: tuple[Trial, ...]
    unreported: tuple[str, ...]


def read_planted(folder: Path) -> tuple[Report, ...]:
    """The annotations in a folder that `forge plant` wrote. Raises InputError for any other folder."""
    path = folder / "annotations.jsonl"
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}; name a folder that forge plant wrote") from error
    try:
        reports = tuple(Report.model_validate_json(line) for line in lines)
    except ValueError as error:
        raise InputError(f"{path} is damaged ({error}); plant the clips again") from error
    if not reports or any("planted" not in report.provenance.media for report in reports):
        raise InputError(f"{path} does not list the planted glitches; name a folder that forge plant wrote")
    return reports


def measure(
    references: Sequence[Report], reports: Sequence[Report], name: str, *, level: float, resamples: int, seed: int
) -> Sensitivity:
    """The sensitivity of an evaluator, measured from its reports on planted and untouched clips. `name` is the name of
    its run.

    Raises OptionError for a `level` or a number of `resamples` that is out of its range. Raises InputError if no report
    belongs to a clip of the data set, or if a report was made from a different video file or with a different taxonomy.
    """
    if not 0 < level < 1:
        raise OptionError(f"level must be above 0 and below 1, not {level}")
    if resamples < 1:
        raise OptionError(f"resamples must be at least 1, not {resamples}")
    annotations = [annotation_of(reference, reference.clip.id) for reference in references]
    pair(annotations, [System.of(name, [annotation_of(report, f"{name}: {report.clip.id}") for report in reports])])
    by_clip = {report.clip.id: report for report in reports}
    trials = tuple(_trial(reference, by_clip) for reference in references if reference.events)
    untouched = [reference for reference in references if not _planted(reference)["plant"]]
    sources = sorted({str(_planted(reference)["source"]) for reference in references})
    drawn = draw_resamples([""] * len(sources), resamples, np.random.default_rng(seed))
    context = _Context(drawn, {source: place for place, source in enumerate(sources)}, level)
    return Sensitivity(
        total=context.group(trials),
        by={field: _grouped(trials, field, context) for field in ("type", "severity", "glitch")},
        alarms=context.alarms(untouched, by_clip),
        trials=trials,
        unreported=tuple(reference.clip.id for reference in references if reference.clip.id not in by_clip),
    )


def _planted(reference: Report) -> Mapping[str, Any]:
    planted: Mapping[str, Any] = reference.provenance.media["planted"]
    return planted


def _trial(reference: Report, by_clip: Mapping[str, Report]) -> Trial:
    event, planted = reference.events[0], _planted(reference)
    report = by_clip.get(reference.clip.id)
    whole = event.spans == (reference.clip.span,)
    glitch = annotation_of(reference).findings[0]
    match, noticed = _matched(glitch, report)
    onset_error_s = tiou = None
    if match is not None and report is not None and not whole:
        onset_error_s, tiou = abs(report.events[match.prediction].onset_s - event.onset_s), match.iou
    untouched = by_clip.get(str(planted["untouched"]))
    untouched_match, _ = _matched(glitch, untouched)
    return Trial(
        source=str(planted["source"]),
        glitch=str(planted["plant"]),
        type=event.type,
        severity=event.severity or 0,
        found=_answer(match is not None, report, event.dimension),
        noticed=_answer(noticed, report, event.dimension),
        examined=report is None or report.coverage[event.dimension].state != "not_examined",
        found_untouched=_answer(untouched_match is not None, untouched, event.dimension),
        onset_error_s=onset_error_s,
        tiou=tiou,
    )


def _answer(yes: bool, report: Report | None, dimension: str) -> bool | None:
    """Whether a report has an event; None if there is no event and the report leaves the dimension undecided.

    A dimension that the report does not examine counts as decided.
    """
    if yes:
        return True
    undecided = report is None or report.status == "unscored" or dimension in report.undecided_dimensions
    return None if undecided else False


def _matched(glitch: AnnotatedEvent, report: Report | None) -> tuple[Match | None, bool]:
    """The event that matches the glitch, and whether any event overlaps the glitch."""
    if report is None or report.status == "unscored" or not report.events:
        return None, False
    findings = annotation_of(report).findings
    overlap = iou_matrix([glitch], findings, report.clip.frame_times_s)
    alike = np.array([[float(event.type == glitch.type) for event in findings]])
    found = match_events([glitch], findings, alike, overlap, Weighting(use="similarity*iou"))
    return (found[0] if found else None), bool((overlap > 0).any())


def _grouped(trials: Sequence[Trial], field: str, context: "_Context") -> dict[str, Group]:
    """The groups of trials with the same value of a field, by the value as text."""
    groups: dict[str, list[Trial]] = {}
    for trial in trials:
        groups.setdefault(str(getattr(trial, field)), []).append(trial)
    return {name: context.group(groups[name]) for name in sorted(groups)}


@dataclass(frozen=True)
class _Context:
    """What all groups share. Resampling is over sources, so that the glitches of one clip stay together."""

    resamples: Resamples
    place: Mapping[str, int]
    level: float

    def group(self, trials: Sequence[Trial]) -> Group:
        return Group(
            planted=len(trials),
            not_examined=sum(not trial.examined for trial in trials),
            found=BoundedProportion.of([trial.found for trial in trials], self.level),
            noticed=BoundedProportion.of([trial.noticed for trial in trials], self.level),
            found_untouched=BoundedProportion.of([trial.found_untouched for trial in trials], self.level),
            onset_error_s=self.mean((trial.source, trial.onset_error_s) for trial in trials),
            tiou=self.mean((trial.source, trial.tiou) for trial in trials),
        )

    def mean(self, values_by_source: Iterable[tuple[str, float | None]]) -> Estimate:
        """The mean of the values that are not None."""
        known = [(self.place[source], value) for source, value in values_by_source if value is not None]
        if not known:
            return undefined("none was found")
        of, values = zip(*known, strict=True)
        rows = mean_rows(np.array(values))
        by = Clusters(self.resamples, of)
        return estimate(float(np.mean(values)), rows, mean, n=len(values), by=by, level=self.level)

    def alarms(self, untouched: Sequence[Report], by_clip: Mapping[str, Report]) -> Alarms:
        reports = [by_clip.get(reference.clip.id) for reference in untouched]
        scored = [
            (self.place[str(_planted(reference)["source"])], report)
            for reference, report in zip(untouched, reports, strict=True)
            if report is not None and report.status != "unscored"
        ]
        types = [event.type for _, report in scored for event in report.events]
        return Alarms(
            untouched=len(untouched),
            partial=sum(report.status == "partial" for _, report in scored),
            clips=BoundedProportion.of([_alarmed(report) for report in reports], self.level),
            per_clip=self.rate(scored, lambda report: 1.0),
            per_minute=self.rate(scored, lambda report: report.clip.duration_s / 60),
            types={name: types.count(name) for name in sorted(set(types))},
        )

    def rate(self, scored: Sequence[tuple[int, Report]], size: Callable[[Report], float]) -> Estimate:
        """Events per unit of size."""
        if not scored:
            return undefined("no untouched clip was scored")
        rows = np.array([[float(len(report.events)), size(report)] for _, report in scored])
        value = float(rows[:, 0].sum() / rows[:, 1].sum())
        by = Clusters(self.resamples, [place for place, _ in scored])
        return estimate(
            value, rows, lambda sums: ratio(sums[..., 0], sums[..., 1]), n=len(scored), by=by, level=self.level
        )


def _alarmed(report: Report | None) -> bool | None:
    """Whether a report has an alarm; None if there is no alarm and the report is not complete."""
    if report is None or report.status == "unscored":
        return None
    return True if report.events else False if report.status == "complete" else None
