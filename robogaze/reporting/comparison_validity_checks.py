"""What a reader must know before trusting a comparison: each check answered either way, from what was kept of it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from robogaze.comparison.verdict import points
from robogaze.reporting.compared import ComparisonPageData, ShownRun
from robogaze.reporting.comparison import scope_sentence
from robogaze.reporting.validity_checks import ValidityCheck
from robogaze.reporting.wording import count, listed

Json = Mapping[str, Any]

_PRINT_SIGNS = 12
"""How much of a fingerprint is shown; as much tells two apart that were not made to deceive."""


def comparison_checks(told: Json, shown: ComparisonPageData) -> tuple[ValidityCheck, ...]:
    """All checks, in order of weight."""
    return (
        *_examined(told["rate"]),
        *_undecided(told["runs"], told["rate"]["name"]),
        *_own_errors(told["runs"]),
        *_controls(shown.runs),
        *_judges(shown.runs),
        *_fingerprints(shown.runs),
        *_partners(told),
        *_remarks(told),
        *_gate(told.get("gate")),
    )


def _examined(rate: Json) -> Iterator[ValidityCheck]:
    yield ValidityCheck(rate["dimensions"] is None, scope_sentence(rate["dimensions"]))


def _undecided(runs: Sequence[Json], rate: str) -> Iterator[ValidityCheck]:
    whole = True
    for run in runs:
        lacks = [f"{number} {name}" for name, number in run["clips"].items() if name != "complete" and number]
        lacks += [f"{run['undecided']} undecided"] if run["undecided"] else []
        if lacks:
            whole = False
            bounds = run["rate_bounds"]
            yield ValidityCheck(
                False,
                f"{run['name']}: of {count(sum(run['clips'].values()), 'clip')} {listed(lacks)}; whatever these are, "
                f"the {rate} is between {_share(bounds['worst'])} and {_share(bounds['best'])}.",
            )
    # What could not be placed is the same of all runs that were split off one.
    if unplaced := max((run.get("unplaced", 0) for run in runs), default=0):
        yield ValidityCheck(
            False, f"{count(unplaced, 'unreadable clip')} of which it is not known in which run; in no numbers."
        )
    elif whole:
        yield ValidityCheck(True, "Every clip of every run is complete and decided, and none is missing.")


def _own_errors(runs: Sequence[Json]) -> Iterator[ValidityCheck]:
    labels = [run["calibrated"]["labels"] for run in runs if "calibrated" in run]
    if labels:
        clips = count(min(labels), "clip") if len(set(labels)) == 1 else f"{min(labels):,} to {max(labels):,} clips"
        yield ValidityCheck(
            True, f"The judge's own errors are known from {clips} that people labelled; see the correction."
        )
        return
    yield ValidityCheck(
        False,
        "How far this judge agrees with people is not known here; --calibration takes clips that people labelled, "
        "and the numbers are corrected for its errors.",
    )


def _controls(runs: Sequence[ShownRun]) -> Iterator[ValidityCheck]:
    for run in runs:
        if run.controls:
            of = f"Of {count(run.controls, 'real clip')} among those of {run.name}, {run.alarms} had events"
            yield ValidityCheck(not run.alarms, f"{of}: false alarms. Real clips are in the run's numbers, too.")
    if not any(run.controls for run in runs):
        yield ValidityCheck(True, "No run holds real clips, which would tell how often there are false alarms.")


def _judges(runs: Sequence[ShownRun]) -> Iterator[ValidityCheck]:
    said = {run.name: _judge(run) for run in runs}
    if len(set(said.values())) == 1:
        yield ValidityCheck(any(run.pipelines for run in runs), f"Every run was judged {next(iter(said.values()))}.")
        return
    yield from (ValidityCheck(False, f"{name} was judged {judge}.") for name, judge in said.items())


def _judge(run: ShownRun) -> str:
    if not run.pipelines:
        return f"by {listed(run.authors) or 'nobody named'}; its format does not say how"
    models = [f"{role} {listed(names)}" for role, names in run.models.items()]
    asked = f"with {listed(models)}" if models else "without a model"
    return f"by {listed(run.authors)}, pipeline {listed(run.pipelines)}, {asked}"


def _fingerprints(runs: Sequence[ShownRun]) -> Iterator[ValidityCheck]:
    for what, name in (("taxonomies", "taxonomy"), ("fingerprints", "version of the domain's files")):
        values = sorted({value for run in runs for value in getattr(run, what)})
        prints = listed([value[:_PRINT_SIGNS] for value in values])
        if not values:
            yield ValidityCheck(False, f"No run names its {name}.")
        elif len(values) == 1:
            yield ValidityCheck(True, f"One {name} ({prints}).")
        else:
            yield ValidityCheck(False, f"The runs do not share one {name}: {prints}.")


def _partners(told: Json) -> Iterator[ValidityCheck]:
    passed = "; ".join(told["paired_by"]["passed_over"])
    yield ValidityCheck(True, f"Clips are paired by {told['paired_by']['key']}{f' ({passed})' if passed else ''}.")
    alone = [
        f"{pair['first']} {pair['without_partner']['first']} and {pair['second']} {pair['without_partner']['second']}"
        for pair in told["pairs"]
        if any(pair["without_partner"].values())
    ]
    if alone:
        yield ValidityCheck(False, f"Clips without a partner, which are in no difference: {'; '.join(alone)}.")


def _remarks(told: Json) -> Iterator[ValidityCheck]:
    if ungraded := sum(run["ungraded_events"] for run in told["runs"]):
        yield ValidityCheck(False, f"{count(ungraded, 'event')} without a severity: nothing in the load.")
    pairs = len(told["pairs"])
    adjusted = f"; p (Holm) is adjusted for {count(pairs, 'comparison')}" if pairs > 1 else ""
    yield ValidityCheck(
        True,
        f"{told['level']:.0%} intervals: Wilson's for shares, Newcombe's for their paired differences, else "
        f"Student's t over the prompts{adjusted}.",
    )


def _gate(told: Json | None) -> Iterator[ValidityCheck]:
    for check in () if told is None else told["checks"]:
        word = "passed" if check["passed"] else "FAILED"
        yield ValidityCheck(check["passed"], f"Gate, {check['run']}, {check['rule']}: {word}: {check['said']}.")


def _share(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


def bounds_of(pair: Json) -> str:
    """What the undecided clips could make of a difference."""
    bounds = pair["bounds"]
    if bounds["worst"] is None:
        return ""
    between = f"{points(bounds['worst'])} to {points(bounds['best'])}"
    return f"Whatever the undecided clips are, the rates differ by {between} points."
