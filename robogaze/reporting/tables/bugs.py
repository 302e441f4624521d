"""An evaluation of bug reports as tables."""

from collections.abc import Iterator, Sequence

from robogaze.evaluation.bug_results import BugEvaluation, BugScores, PlayGroup, SystemBugs
from robogaze.reporting.tables.result_table import Cell, ResultTable, Row
from robogaze.reporting.wording import count

_NO_DIFFICULTY = "no difficulty given"
_LONGEST = 100
"""The maximum number of characters of a description in a table."""


def bug_tables(result: BugEvaluation) -> Iterator[ResultTable]:
    """Tables of the scores, of the recall (by difficulty, by step and by setting), of the bugs, and of the reports."""
    notes = (*_notes(result), f"Judge {result.judge}: {result.judge_note}")
    yield _scores(result, notes)
    yield _difficulties(result, notes)
    for table in (_steps(result, notes), _settings(result, notes)):
        if table.rows:
            yield table
    yield _bugs(result, notes)
    yield _reports(result, notes)


def _notes(result: BugEvaluation) -> tuple[str, ...]:
    how = "in order, each to the most similar bug" if "released" in result.convention else "one to one"
    notes = [
        f"Convention {result.convention}: reports are matched {how}, if the similarity is at least "
        f"{result.threshold:.2f}.",
        "Intervals are over bugs (recall) and reports (precision). Intervals over environments need at least two "
        "environments.",
    ]
    for system in result.systems:
        counts = system.counts
        said = {
            "missing": ("environment", "not played; all bugs count as missed"),
            "unscored": ("play", "unscored, because nothing was decided; all bugs count as missed"),
            "partial": ("play", "partial: something failed or stayed undecided"),
            "unjudged": ("play", "with a failed judgement, left out"),
            "left_out": ("report", "not known to reproduce, left out"),
        }
        notes += [
            f"{system.name}: {count(counts[key], noun)} {text}." for key, (noun, text) in said.items() if counts[key]
        ]
    if result.unreferenced:
        notes.append(
            f"{count(len(result.unreferenced), 'play')} not scored, because the environment has no list of bugs."
        )
    return tuple(notes)


_SCORES = (
    "plays", "found", "of", "reports", "duplicates", "not reproduced", "in any play", "recall", "precision", "F1",
)  # fmt: skip


def _cells(scores: BugScores) -> tuple[Cell, ...]:
    return (
        scores.plays, scores.found, scores.bugs, scores.reports, scores.duplicates, scores.not_reproduced,
        scores.found_in_any, scores.recall, scores.precision, scores.f1,
    )  # fmt: skip


def _scores(result: BugEvaluation, notes: tuple[str, ...]) -> ResultTable:
    columns: tuple[str, ...] = ("system", *_SCORES)
    several = len(result.environments) > 1
    if several:
        columns += ("recall over environments", "precision over environments")
    rows: list[Row] = []
    for system in result.systems:
        scores = system.scores
        wider = (scores.recall_over_environments, scores.precision_over_environments) if several else ()
        rows.append((system.name, *_cells(scores), *wider))
    return ResultTable("bugs-scores", "Bugs found", columns, tuple(rows), notes)


def _difficulties(result: BugEvaluation, notes: tuple[str, ...]) -> ResultTable:
    rows: tuple[Row, ...] = tuple(
        (system.name, name or _NO_DIFFICULTY, recall)
        for system in result.systems
        for name, recall in system.by_difficulty.items()
    )
    return ResultTable("bugs-difficulty", "Recall by difficulty", ("system", "difficulty", "recall"), rows, notes)


def _steps(result: BugEvaluation, notes: tuple[str, ...]) -> ResultTable:
    groups = [(system.name, group) for system in result.systems for group in system.by_step]
    note = (
        "Recall within a number of steps, in plays with a budget of at least this number. A report counts from "
        "the step at which its "
        "evidence is complete."
    )
    return _grouped(result, "bugs-steps", "Recall by step", ("steps",), groups, (note, *notes))


def _settings(result: BugEvaluation, notes: tuple[str, ...]) -> ResultTable:
    groups = [(system.name, group) for system in result.systems for group in system.by_setting]
    return _grouped(result, "bugs-settings", "By setting of the plays", result.setting, groups, notes)


def _grouped(
    result: BugEvaluation,
    name: str,
    title: str,
    keys: tuple[str, ...],
    groups: Sequence[tuple[str, PlayGroup]],
    notes: tuple[str, ...],
) -> ResultTable:
    difficulties = tuple(dict.fromkeys(name for system in result.systems for name in system.by_difficulty))
    recalls = () if len(difficulties) < 2 else difficulties
    rows: tuple[Row, ...] = tuple(
        (
            system,
            *(group.setting[key] for key in keys),
            *_cells(group.scores),
            *(group.by_difficulty.get(difficulty) for difficulty in recalls),
        )
        for system, group in groups
    )
    columns = ("system", *keys, *_SCORES, *(f"recall, {difficulty or _NO_DIFFICULTY}" for difficulty in recalls))
    return ResultTable(name, title, columns, rows, notes)


def _bugs(result: BugEvaluation, notes: tuple[str, ...]) -> ResultTable:
    rows: tuple[Row, ...] = tuple(
        (
            bug.environment,
            bug.id,
            bug.difficulty or _NO_DIFFICULTY,
            *(f"{bug.found.get(system.name, 0)} of {bug.plays.get(system.name, 0)}" for system in result.systems),
        )
        for bug in result.bugs
    )
    columns = ("environment", "bug", "difficulty", *(f"plays of {system.name}" for system in result.systems))
    return ResultTable("bugs-each", "Each bug", columns, rows, notes)


def _reports(result: BugEvaluation, notes: tuple[str, ...]) -> ResultTable:
    rows: tuple[Row, ...] = tuple(row for system in result.systems for row in _report_rows(system))
    columns = ("system", "play", "report", "matched", "similarity", "reproduced", "description")
    return ResultTable("bugs-reports", "Each report", columns, rows, notes)


def _report_rows(system: SystemBugs) -> Iterator[Row]:
    for report in system.reports:
        matched = report.bug or (f"{report.duplicate} again" if report.duplicate else "no")
        reproduced = {True: "yes", False: "no", None: "not known"}[report.reproduced]
        shown = report.description[:_LONGEST]
        yield system.name, report.play, report.id, matched, report.similarity, reproduced, shown
