"""The checks of a comparison: what limits its result, and what does not."""

from collections.abc import Iterator, Sequence
from math import isnan

from robogaze.comparison import Comparison, GateCheck
from robogaze.reporting.pages.comparison_runs import PageRun
from robogaze.reporting.pages.results import ValidityCheck
from robogaze.reporting.tables.comparison import (
    comparison_method,
    comparison_warnings,
    scope_sentence,
    undecided_counted,
)
from robogaze.reporting.wording import count, listed

_FINGERPRINT_CHARACTERS = 12


def comparison_checks(
    result: Comparison, runs: Sequence[PageRun], checks: Sequence[GateCheck] | None
) -> tuple[ValidityCheck, ...]:
    """All checks, the most important first; `checks` are the checks of a gate."""
    return (
        ValidityCheck(result.scope.dimensions is None, scope_sentence(result.scope.dimensions)),
        *_undecided(result),
        *(ValidityCheck(False, warning) for warning in comparison_warnings(result)),
        *_judge_errors(result),
        *_real_clips(runs),
        *_judges(runs),
        *_fingerprints(runs),
        *(ValidityCheck(True, sentence) for sentence in comparison_method(result)),
        *_gate(checks or ()),
    )


def _undecided(result: Comparison) -> Iterator[ValidityCheck]:
    whole = True
    for row in result.leaderboard:
        clips, covers_all = count(sum(row.clips.values()), "clip"), result.scope.dimensions is None
        lacking = [f"{number} {status}" for status, number in row.clips.items() if status != "complete" and number]
        if row.undecided and covers_all:
            lacking.append(f"{row.undecided} undecided")
        elif row.undecided:
            whole = False
            yield ValidityCheck(
                False, f"{row.name}: {row.undecided} undecided of {clips}. {undecided_counted(result.scope)}"
            )
        if lacking:
            whole = False
            yield ValidityCheck(
                False,
                f"{row.name}: {listed(lacking)} of {clips}; depending on these clips, the {result.scope.name} is "
                f"between {_share(row.worst)} and {_share(row.best)}.",
            )
    # The unreadable clips of a run that was split are the same for all of its parts.
    if unplaced := max((run.unplaced for run in result.runs), default=0):
        yield ValidityCheck(
            False, f"Left out of all numbers, because the run is not known: {count(unplaced, 'unreadable clip')}."
        )
    elif whole:
        yield ValidityCheck(True, "Every clip of every run is complete and decided, and none is missing.")


def _judge_errors(result: Comparison) -> Iterator[ValidityCheck]:
    if result.corrected:
        low, high = min(result.labels), max(result.labels)
        clips = count(low, "clip") if low == high else f"{low:,} to {high:,} clips"
        yield ValidityCheck(
            True,
            f"The judge's own errors are known from {clips} labelled by people; see the table of corrected numbers.",
        )
    else:
        yield ValidityCheck(
            False,
            "The agreement of this judge with people is not known. The option --calibration uses clips labelled "
            "by people to correct the numbers for "
            "the judge's errors.",
        )


def _real_clips(runs: Sequence[PageRun]) -> Iterator[ValidityCheck]:
    for run in runs:
        if run.controls:
            yield ValidityCheck(
                not run.alarms,
                f"{run.name} has {count(run.controls, 'real clip')}, {run.alarms} of them with events (false alarms). "
                "The numbers of the run include the real clips.",
            )
    if not any(run.controls for run in runs):
        yield ValidityCheck(True, "No run has real clips, so the rate of false alarms is not known.")


def _judges(runs: Sequence[PageRun]) -> Iterator[ValidityCheck]:
    judges = {run.name: _judge(run) for run in runs}
    if len(set(judges.values())) == 1:
        yield ValidityCheck(any(run.pipelines for run in runs), f"Every run was judged {next(iter(judges.values()))}.")
        return
    yield from (ValidityCheck(False, f"{name} was judged {judge}.") for name, judge in judges.items())


def _judge(run: PageRun) -> str:
    if not run.pipelines:
        return f"by {listed(run.authors) or 'an unnamed author'}; the format does not name a pipeline"
    models = [f"{role} {listed(names)}" for role, names in run.models.items()]
    asked = f"with {listed(models)}" if models else "without a model"
    return f"by {listed(run.authors)}, pipeline {listed(run.pipelines)}, {asked}"


def _fingerprints(runs: Sequence[PageRun]) -> Iterator[ValidityCheck]:
    for name, values in (
        ("taxonomy", sorted({value for run in runs for value in run.taxonomies})),
        ("version of the domain's files", sorted({value for run in runs for value in run.fingerprints})),
    ):
        shown = listed([value[:_FINGERPRINT_CHARACTERS] for value in values])
        if not values:
            yield ValidityCheck(False, f"No run names its {name}.")
        elif len(values) == 1:
            yield ValidityCheck(True, f"All runs have the same {name} ({shown}).")
        else:
            yield ValidityCheck(False, f"The runs differ in their {name}: {shown}.")


def _gate(checks: Sequence[GateCheck]) -> Iterator[ValidityCheck]:
    for check in checks:
        word = "passed" if check.passed else "FAILED"
        yield ValidityCheck(check.passed, f"Gate, {check.run}, {check.rule}: {word}: {check.message}.")


def _share(value: float) -> str:
    return "undefined" if isnan(value) else f"{value:.3f}"
