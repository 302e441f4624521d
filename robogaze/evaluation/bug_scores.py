"""The scores of plays: counts and shares, by difficulty, by step and by how the plays were made."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robogaze.core.estimate import Estimate, undefined
from robogaze.evaluation.bug_matching import BugConvention
from robogaze.evaluation.bug_results import BugScores, FoundBug, JudgedReport, PlayGroup, SystemBugs
from robogaze.evaluation.plays import Play
from robogaze.metrics.scores import safe_divide
from robogaze.metrics.tally import scored
from robogaze.stats.jackknife import student_intervals
from robogaze.stats.proportions import wilson
from robogaze.stats.resample import Sums

Matrix = NDArray[np.float64]

STEPS = (50, 100, 200, 500)
"""The budgets of GBQA's Table 1. Recall is also computed from what a play reported within these numbers of steps."""


@dataclass(frozen=True)
class JudgedPlay:
    """A play, and the similarity of each of its bugs to each of its reports.

    `similarity` has the shape (bugs, reports), and is NaN where a judgement failed. `rules` say which report is matched
    to which bug.
    """

    of: Play
    similarity: Matrix
    rules: BugConvention

    @cached_property
    def judged(self) -> bool:
        """Whether every judgement was made."""
        return not np.isnan(self.similarity).any()

    @cached_property
    def reports(self) -> tuple[JudgedReport, ...]:
        """The reports, each with the bug that it is matched to. This property is only for plays in which every
        judgement was made.
        """
        bugs, reports = self.of.bugs, self.of.reports
        matches = {match.prediction: match.reference for match in self.rules.match(bugs, reports, self.similarity)}
        found = []
        for number, report in enumerate(reports):
            values = self.similarity[:, number]
            nearest = int(values.argmax()) if len(values) else None
            alike = nearest is not None and values[nearest] >= self.rules.threshold
            bug = matches.get(number)
            found.append(
                JudgedReport(
                    system=self.of.system,
                    play="" if self.of.annotation is None else self.of.annotation.clip_id,
                    id=report.id,
                    description=report.description,
                    bug=None if bug is None else bugs[bug].id,
                    duplicate=bugs[nearest].id if bug is None and nearest is not None and alike else None,
                    similarity=0.0 if nearest is None else float(values[nearest]),
                    reproduced=report.reproduced,
                )
            )
        return tuple(found)

    @cached_property
    def found(self) -> set[str]:
        """The ids of the bugs that were found."""
        return {report.bug for report in self.reports if report.bug is not None}

    def until(self, step: int) -> "JudgedPlay":
        """The play with only the reports whose evidence was complete by this step. Reports without a step are left
        out.
        """
        assert self.of.annotation is not None
        spans = [report.spans for report in self.of.reports]
        early = [number for number, shown in enumerate(spans) if shown and shown[-1].end <= step + 1]
        reports = tuple(self.of.reports[number] for number in early)
        play = replace(self.of, annotation=replace(self.of.annotation, findings=reports))
        return replace(self, of=play, similarity=self.similarity[:, early])


def score_system(name: str, plays: Sequence[JudgedPlay], setting: tuple[str, ...], level: float) -> SystemBugs:
    """The scores of a system from all its plays."""
    judged = [play for play in plays if play.judged]
    made = [play for play in judged if play.of.annotation is not None]
    annotations = [play.of.annotation for play in plays if play.of.annotation is not None]
    groups: dict[tuple[Any, ...], list[JudgedPlay]] = {}
    for play in made if setting else []:
        groups.setdefault(tuple(play.of.setting.get(field) for field in setting), []).append(play)
    by_step = []
    for step in STEPS:
        long = [play for play in made if play.of.setting.get("budget", 0) >= step and scored(play.of.annotation)]
        if long:
            by_step.append(_group({"steps": step}, [play.until(step) for play in long], level))
    return SystemBugs(
        name=name,
        counts={
            "missing": len(plays) - len(annotations),
            "unscored": sum(annotation.status == "unscored" for annotation in annotations),
            "partial": sum(annotation.status == "partial" for annotation in annotations),
            "unjudged": len(plays) - len(judged),
            "left_out": sum(play.of.left_out for play in plays),
        },
        scores=_scores(judged, level),
        by_difficulty=_by_difficulty(judged, level),
        by_step=tuple(by_step),
        by_setting=tuple(
            _group(dict(zip(setting, values, strict=True)), groups[values], level)
            for values in sorted(groups, key=lambda values: tuple(map(_order, values)))
        ),
        reports=tuple(report for play in judged for report in play.reports),
    )


def _group(setting: Mapping[str, Any], plays: Sequence[JudgedPlay], level: float) -> PlayGroup:
    return PlayGroup(setting, _scores(plays, level), _by_difficulty(plays, level))


def _order(value: Any) -> tuple[bool, float, str]:
    """A sort key: numbers by size, before texts."""
    number = value if isinstance(value, int | float) else 0
    return isinstance(value, str), number, str(value)


_BUGS, _FOUND, _REPORTS = range(3)
"""The columns of the matrix with a row for each environment."""


def _share(top: int, *bottom: int) -> Callable[[Matrix], Matrix]:
    """A sum divided by the mean of one or two other sums."""
    return lambda sums: safe_divide(sums[..., top], sums[..., bottom].sum(axis=-1) / len(bottom))


def _scores(plays: Sequence[JudgedPlay], level: float) -> BugScores:
    environments = _rows(((play.of.environment.clip_id, _counts(play)) for play in plays), 3)
    total = environments.sum(axis=0)
    reports = [report for play in plays for report in play.reports]
    return BugScores(
        plays=len(plays),
        bugs=int(total[_BUGS]),
        found=int(total[_FOUND]),
        reports=len(reports),
        duplicates=sum(report.duplicate is not None for report in reports),
        not_reproduced=sum(report.reproduced is False for report in reports),
        found_in_any=_found_in_any(plays, level),
        recall=_recall(plays, level),
        precision=wilson(int(total[_FOUND]), int(total[_REPORTS]), level=level),
        recall_over_environments=_over_environments(environments, _share(_FOUND, _BUGS), level),
        precision_over_environments=_over_environments(environments, _share(_FOUND, _REPORTS), level),
        f1=_over_environments(environments, _share(_FOUND, _REPORTS, _BUGS), level),
    )


def _counts(play: JudgedPlay) -> tuple[int, int, int]:
    found = sum(report.bug is not None for report in play.reports)
    return len(play.of.bugs), found, len(play.of.reports)


def _rows(items: Iterable[tuple[Any, tuple[int, ...]]], columns: int) -> Matrix:
    """The sum of the rows of each key, shape (keys, columns)."""
    rows: dict[Any, Matrix] = {}
    for key, row in items:
        rows[key] = rows.get(key, np.zeros(columns)) + row
    return np.array(list(rows.values())).reshape(len(rows), columns)


def _recall(plays: Sequence[JudgedPlay], level: float, difficulty: str | None = None) -> Estimate:
    """The share of (bug, play) pairs that were found, with an interval over bugs."""
    bugs = _bugs(plays, difficulty)
    if (bugs[:, 1] == 1).all():
        return wilson(int(bugs[:, 0].sum()), len(bugs), level=level)
    return _student(bugs, _share(0, 1), level)


def _found_in_any(plays: Sequence[JudgedPlay], level: float) -> Estimate:
    """The share of bugs that at least one play found."""
    bugs = _bugs(plays)
    return wilson(int((bugs[:, 0] > 0).sum()), len(bugs), level=level)


def _bugs(plays: Sequence[JudgedPlay], difficulty: str | None = None) -> Matrix:
    """For each bug, the number of plays that found it, and the number of plays that could find it; shape (bugs, 2)."""
    pairs = []
    for play in plays:
        for bug in play.of.bugs:
            if difficulty in (None, bug.difficulty or ""):
                pairs.append(((play.of.environment.clip_id, bug.id), (int(bug.id in play.found), 1)))
    return _rows(pairs, 2)


def _by_difficulty(plays: Sequence[JudgedPlay], level: float) -> Mapping[str, Estimate]:
    names = {bug.difficulty or "" for play in plays for bug in play.of.bugs}
    return {name: _recall(plays, level, name) for name in sorted(names, key=_by_rank)}


def _by_rank(difficulty: str) -> tuple[int, str]:
    ranks = ("easy", "medium", "hard")
    return (ranks.index(difficulty) if difficulty in ranks else len(ranks), difficulty)


def _over_environments(rows: Matrix, statistic: Callable[[Matrix], Matrix], level: float) -> Estimate:
    if len(rows) < 2:
        value = float(statistic(rows.sum(axis=0)))
        why = "an interval over environments needs at least two environments"
        return (
            undefined("there are no cases to compute a share from")
            if np.isnan(value)
            else Estimate(value, n=1, why=why)
        )
    return _student(rows, statistic, level)


def _student(rows: Matrix, statistic: Callable[[Matrix], Matrix], level: float) -> Estimate:
    """A share of sums of rows with Student's interval over the rows; n counts the rows."""
    if not len(rows):
        return undefined("there are no cases to compute a share from")
    total = rows.sum(axis=0)
    sums = Sums(rows[None], (np.arange(len(rows)),), total[None], np.empty((1, 0, rows.shape[1])))
    return student_intervals(sums, statistic, level=level, share=True).estimate(0, n=len(rows))


def found_bugs(plays: Sequence[JudgedPlay]) -> tuple[FoundBug, ...]:
    """Every documented bug that was played, with the number of plays in which each system found it."""
    rows: dict[tuple[str, str], FoundBug] = {}
    for play in plays:
        name, system = play.of.environment.clip_id, play.of.system
        for bug in play.of.bugs if play.judged else ():
            row = rows.setdefault((name, bug.id), FoundBug(name, bug.id, bug.difficulty or "", {}, {}))
            row.found[system] = row.found.get(system, 0) + (bug.id in play.found)
            row.plays[system] = row.plays.get(system, 0) + 1
    return tuple(rows.values())
