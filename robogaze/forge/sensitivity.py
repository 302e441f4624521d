"""How sensitive an evaluator is: what it reported of what `forge plant` planted, and of the untouched clips.

Found is a planted glitch of which a report has an event of its type that shares time with it (frames; one to one, the
largest IoU first). Noticed is one with which any event shares time, whatever it is called. The same questions are
put to the report of the untouched clip: what an evaluator says there, too, it did not say because of the glitch.

A glitch is undecided when its clip has no report, an unscored report, or one in which the glitch's dimension is
undecided; it is in no share, and the shares' bounds say what it could have made of them. A glitch of a dimension that
the evaluator does not look for at all is missed.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robogaze.core.annotation import AnnotatedEvent, annotation_of
from robogaze.core.report import Report
from robogaze.core.scores import Estimate, undefined
from robogaze.datasets.pairing import System, pair
from robogaze.errors import InputError
from robogaze.matching import Match, Weighting, iou_matrix, match_events
from robogaze.stats import Clusters, Resamples, draw_resamples, mean, mean_rows, ratio, wilson
from robogaze.stats.interval import estimate

RULE = "found: an event of the same type that shares time with the glitch (frames); noticed: any event that does"


@dataclass(frozen=True)
class Share:
    """How many of some things have something; `open` are those of which it is not known, and not in `value`.

    `worst` and `best` are the shares if none and if all of these had it; NaN for no things.
    """

    value: Estimate
    open: int
    worst: float
    best: float

    @classmethod
    def of(cls, answers: Sequence[bool | None], level: float) -> "Share":
        """From one answer a thing, None for not known."""
        yes, unknown, count = answers.count(True), answers.count(None), len(answers)
        worst, best = (yes / count, (yes + unknown) / count) if count else (np.nan, np.nan)
        return cls(wilson(yes, count - unknown, level=level), unknown, worst, best)

    def as_json(self) -> dict[str, Any]:
        """The share as JSON."""
        bounds = {name: None if np.isnan(one) else one for name, one in (("worst", self.worst), ("best", self.best))}
        return {**self.value.as_json(), "open": self.open, **bounds}


@dataclass(frozen=True)
class Trial:
    """One planted glitch and what became of it; None for what is not known.

    `onset_error_s` (absolute) and `tiou` are of the event that found it, and None where it was not found or the
    glitch is in the whole clip. `looked_for` says whether the evaluator looks for its dimension.
    """

    source: str
    plant: str
    type: str
    severity: int
    found: bool | None
    noticed: bool | None
    looked_for: bool
    found_untouched: bool | None
    onset_error_s: float | None = None
    tiou: float | None = None


@dataclass(frozen=True)
class Group:
    """Some trials together. Localisation is over the found glitches that do not last the whole clip."""

    planted: int
    not_looked_for: int
    found: Share
    noticed: Share
    found_untouched: Share
    onset_error_s: Estimate
    tiou: Estimate

    def as_json(self) -> dict[str, Any]:
        """The group as JSON."""
        shares = {name: getattr(self, name).as_json() for name in ("found", "noticed", "found_untouched")}
        where = {name: getattr(self, name).as_json() for name in ("onset_error_s", "tiou")}
        return {"planted": self.planted, "not_looked_for": self.not_looked_for, **shares, **where}


@dataclass(frozen=True)
class Alarms:
    """What was reported of the untouched clips: `clips` with an alarm, alarms a clip and a minute, and by type."""

    untouched: int
    partial: int
    clips: Share
    per_clip: Estimate
    per_minute: Estimate
    types: Mapping[str, int]

    def as_json(self) -> dict[str, Any]:
        """The alarms as JSON."""
        rates = {"per_clip": self.per_clip.as_json(), "per_minute": self.per_minute.as_json()}
        counts = {"untouched": self.untouched, "partial": self.partial, "types": dict(self.types)}
        return {**counts, "clips": self.clips.as_json(), **rates}


@dataclass(frozen=True)
class Sensitivity:
    """The whole result; `by` has the groups by type, severity and plant."""

    total: Group
    by: Mapping[str, Mapping[str, Group]]
    alarms: Alarms
    trials: tuple[Trial, ...]
    unreported: tuple[str, ...]


def read_planted(folder: Path) -> tuple[Report, ...]:
    """The annotations of a data set of `forge plant`. Raises InputError when they are none."""
    path = folder / "annotations.jsonl"
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}; name a folder that forge plant wrote") from error
    try:
        reports = tuple(Report.model_validate_json(line) for line in lines)
    except ValueError as error:
        raise InputError(f"{path} is damaged ({error}); plant the clips again") from error
    if not reports or any("planted" not in one.provenance.media for one in reports):
        raise InputError(f"{path} does not say what was planted; name a folder that forge plant wrote")
    return reports


def measure(
    references: Sequence[Report], reports: Sequence[Report], name: str, *, level: float, resamples: int, seed: int
) -> Sensitivity:
    """What an evaluator's reports (of the run `name`) say of planted and untouched clips.

    Raises InputError when no report is of a clip of the data set, or one is of another file or taxonomy.
    """
    accounts = [annotation_of(one, one.clip.id) for one in references]
    pair(accounts, [System.of(name, [annotation_of(one, f"{name}: {one.clip.id}") for one in reports])])
    said = {one.clip.id: one for one in reports}
    trials = tuple(_trial(one, said) for one in references if one.events)
    untouched = [one for one in references if not _told(one)["plant"]]
    sources = sorted({str(_told(one)["source"]) for one in references})
    drawn = draw_resamples([""] * len(sources), resamples, np.random.default_rng(seed))
    context = _Context(drawn, {one: place for place, one in enumerate(sources)}, level)
    keys: dict[str, Callable[[Trial], str]] = {
        "type": lambda one: one.type,
        "severity": lambda one: str(one.severity),
        "plant": lambda one: one.plant,
    }
    return Sensitivity(
        total=context.group(trials),
        by={field: _grouped(trials, key, context) for field, key in keys.items()},
        alarms=context.alarms(untouched, said),
        trials=trials,
        unreported=tuple(one.clip.id for one in references if one.clip.id not in said),
    )


def _told(reference: Report) -> Mapping[str, Any]:
    told: Mapping[str, Any] = reference.provenance.media["planted"]
    return told


def _trial(reference: Report, said: Mapping[str, Report]) -> Trial:
    event, told = reference.events[0], _told(reference)
    report = said.get(reference.clip.id)
    whole = event.spans == (reference.clip.span,)
    glitch = annotation_of(reference).findings[0]
    match, noticed = _looked_up(glitch, report, event.dimension)
    found = match is not None
    localised = None if match is None or whole or report is None else match
    onset = None if localised is None or report is None else report.events[localised.prediction].onset_s
    twin = said.get(str(told["untouched"]))
    twin_match, _ = _looked_up(glitch, twin, event.dimension)
    return Trial(
        source=str(told["source"]),
        plant=str(told["plant"]),
        type=event.type,
        severity=event.severity or 0,
        found=found if found or _decided(report, event.dimension) else None,
        noticed=noticed if noticed or _decided(report, event.dimension) else None,
        looked_for=report is None or report.coverage[event.dimension].state != "not_examined",
        found_untouched=twin_match is not None if twin_match or _decided(twin, event.dimension) else None,
        onset_error_s=None if onset is None else abs(onset - event.onset_s),
        tiou=None if localised is None else localised.iou,
    )


def _decided(report: Report | None, dimension: str) -> bool:
    """Whether a report says anything, if only that it does not look for the dimension."""
    return report is not None and report.status != "unscored" and dimension not in report.undecided_dimensions


def _looked_up(glitch: AnnotatedEvent, report: Report | None, dimension: str) -> tuple[Match | None, bool]:
    """The event that is the glitch, and whether any shares time with it."""
    if report is None or report.status == "unscored" or not report.events:
        return None, False
    findings = annotation_of(report).findings
    overlap = iou_matrix([glitch], findings, report.clip.frame_times_s)
    alike = np.array([[float(one.type == glitch.type) for one in findings]])
    found = match_events([glitch], findings, alike, overlap, Weighting(use="similarity*iou"))
    return (found[0] if found else None), bool((overlap > 0).any())


def _grouped(trials: Sequence[Trial], key: Callable[[Trial], str], context: "_Context") -> dict[str, Group]:
    names = sorted({key(one) for one in trials})
    return {name: context.group([one for one in trials if key(one) == name]) for name in names}


@dataclass(frozen=True)
class _Context:
    """What all groups share. Resamples are of sources: what was planted in one clip stays together."""

    resamples: Resamples
    place: Mapping[str, int]
    level: float

    def group(self, trials: Sequence[Trial]) -> Group:
        return Group(
            planted=len(trials),
            not_looked_for=sum(not one.looked_for for one in trials),
            found=Share.of([one.found for one in trials], self.level),
            noticed=Share.of([one.noticed for one in trials], self.level),
            found_untouched=Share.of([one.found_untouched for one in trials], self.level),
            onset_error_s=self.mean((one.source, one.onset_error_s) for one in trials),
            tiou=self.mean((one.source, one.tiou) for one in trials),
        )

    def mean(self, told: Iterable[tuple[str, float | None]]) -> Estimate:
        """The mean of the values that there are."""
        known = [(self.place[source], value) for source, value in told if value is not None]
        if not known:
            return undefined("none was found")
        of, values = zip(*known, strict=True)
        rows = mean_rows(np.array(values))
        return estimate(
            float(np.mean(values)), rows, mean, n=len(values), by=Clusters(self.resamples, of), level=self.level
        )

    def alarms(self, untouched: Sequence[Report], said: Mapping[str, Report]) -> Alarms:
        reports = [said.get(one.clip.id) for one in untouched]
        scored = [
            (self.place[str(_told(reference)["source"])], report)
            for reference, report in zip(untouched, reports, strict=True)
            if report is not None and report.status != "unscored"
        ]
        types = [event.type for _, report in scored for event in report.events]
        return Alarms(
            untouched=len(untouched),
            partial=sum(report.status == "partial" for _, report in scored),
            clips=Share.of([_alarmed(one) for one in reports], self.level),
            per_clip=self.rate(scored, lambda report: 1.0),
            per_minute=self.rate(scored, lambda report: report.clip.duration_s / 60),
            types={name: types.count(name) for name in sorted(set(types))},
        )

    def rate(self, scored: Sequence[tuple[int, Report]], size: Callable[[Report], float]) -> Estimate:
        """Events for each unit of size."""
        if not scored:
            return undefined("no untouched clip was scored")
        rows = np.array([[float(len(report.events)), size(report)] for _, report in scored])
        value = float(rows[:, 0].sum() / rows[:, 1].sum())
        by = Clusters(self.resamples, [place for place, _ in scored])
        return estimate(
            value, rows, lambda sums: ratio(sums[..., 0], sums[..., 1]), n=len(scored), by=by, level=self.level
        )


def _alarmed(report: Report | None) -> bool | None:
    """Whether a clip has an alarm; None where there is none and the report is not complete."""
    if report is None or report.status == "unscored":
        return None
    return True if report.events else False if report.status == "complete" else None
