"""A comparison as tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf, isnan
from typing import get_args

from robogaze.comparison import Comparison, GateCheck, RunPair
from robogaze.comparison.clip_measures import MEASURES
from robogaze.comparison.flips import Flip
from robogaze.comparison.scope import Scope
from robogaze.comparison.verdict import points
from robogaze.core.estimate import Estimate
from robogaze.core.report import Status
from robogaze.evaluation.config import MIN_UNITS
from robogaze.reporting.tables.forms import file_name
from robogaze.reporting.tables.result_table import ResultTable, Row
from robogaze.reporting.wording import count, listed
from robogaze.stats.paired import Difference

_DIFFERENCE = ("difference", "p", "p (Holm)", "p (FDR)", "smallest detectable")


def comparison_tables(result: Comparison, checks: tuple[GateCheck, ...] | None = None) -> Iterator[ResultTable]:
    """Every table, the leaderboard first."""
    yield _leaderboard(result)
    yield _clips(result)
    for kind, title in (("dimensions", "dimension"), ("types", "type")):
        yield _rates(result, kind, title)
    if result.corrected:
        yield _corrected(result)
    for pair, verdict in zip(result.pairs, result.verdicts, strict=True):
        yield from pair_tables(pair, verdict, result)
    if result.trend is not None:
        yield _trend(result)
    if checks is not None:
        yield _gate(checks)


def pair_tables(pair: RunPair, verdict: str, result: Comparison) -> tuple[ResultTable, ResultTable, ResultTable]:
    """Three tables for a pair: the differences in each measure, the differences by dimension and type, and the prompts
    that changed.
    """
    return _measures(pair, verdict, result), _dimensions_and_types(pair, result), _flips(pair, result)


def _leaderboard(result: Comparison) -> ResultTable:
    band_of = {run: number for number, band in enumerate(result.bands, start=1) for run in band}
    rows: tuple[Row, ...] = tuple(
        (
            result.names[run],
            band_of[run],
            result.ranks[run].rank,
            *(result.leaderboard[run].measures[name] for name in MEASURES),
            result.leaderboard[run].cost_per_clip,
        )
        for run in result.order
    )
    columns = (
        "run", "band", "rank", result.scope.name, "events per clip", "load per clip", "load per minute", "USD per clip"
    )  # fmt: skip
    notes = (
        result.verdict,
        scope_sentence(result.scope.dimensions),
        *comparison_warnings(result),
        *comparison_method(result),
    )
    return ResultTable("leaderboard", f"Leaderboard of {count(len(rows), 'run')}", columns, rows, notes)


def comparison_method(result: Comparison) -> Iterator[str]:
    """The definition of load (the sum of severities), the intervals, the bands and the pairing."""
    terms = result.config
    yield "Load is the sum of severities; events and load are over the scored clips."
    yield (
        f"{terms.level:.0%} intervals: Wilson's for shares, Newcombe's for paired differences of shares, otherwise "
        f"Student's t over the prompts; for ranks and trends, {terms.resamples:,} resamples of the prompts, seed "
        f"{terms.seed}."
    )
    yield (
        "A run joins the band above if it has no significant difference from any run of that band, with p "
        "adjusted for all "
        "pairs (Holm). Two runs of different bands do not always differ significantly."
    )
    rejected = f" ({'; '.join(result.prompts.passed_over)})" if result.prompts.passed_over else ""
    yield f"Clips are paired by {result.prompts.key}{rejected}."


def comparison_warnings(result: Comparison) -> Iterator[str]:
    """Few prompts, clips without a partner, events without a severity, unknown costs."""
    if result.units < MIN_UNITS:
        yield (
            f"Warning: the runs share {count(result.units, 'prompt')}; below {MIN_UNITS} prompts, intervals are "
            "approximate (docs/metrics/coverage.md)."
        )
    unpaired = [
        f"{result.names[pair.first]} {pair.unpaired[0]} and {result.names[pair.second]} {pair.unpaired[1]}"
        for pair in result.pairs
        if any(pair.unpaired)
    ]
    if unpaired:
        yield f"Clips without a partner, left out of all differences: {'; '.join(unpaired)}."
    if ungraded := sum(row.ungraded for row in result.leaderboard):
        yield f"{count(ungraded, 'event')} without a severity: left out of the load."
    for row in result.leaderboard:
        judged = sum(row.clips[status] for status in get_args(Status))
        if 0 < row.cost_per_clip.n < judged:
            unknown = judged - row.cost_per_clip.n
            yield f"{row.name}: the cost of {count(unknown, 'clip')} is not known."


def scope_sentence(dimensions: Sequence[str] | None) -> str:
    """A sentence that defines when a clip counts as clean, or when nothing was found in it."""
    if dimensions is None:
        return (
            "A clip is clean if it is complete, nothing was found, and every dimension was examined or ruled "
            "out. Other clips are never clean, but "
            "are counted in n."
        )
    examined = (
        f"Examined in every complete clip: {listed(list(dimensions))}"
        if dimensions
        else "No dimension was examined in every complete clip"
    )
    return (
        f"Nothing was found in a clip if it is complete and has no event. {examined}. Other dimensions are not "
        f"covered, and no clip counts "
        "as clean. Incomplete clips are also counted in n."
    )


def _clips(result: Comparison) -> ResultTable:
    statuses = tuple(result.leaderboard[0].clips)
    rows: tuple[Row, ...] = tuple(
        (
            row.name,
            *(row.clips[status] for status in statuses),
            row.undecided,
            row.worst,
            row.clean_rate.value,
            row.best,
        )
        for row in (result.leaderboard[run] for run in result.order)
    )
    columns = ("run", *statuses, "undecided", f"{result.scope.name} at worst", "as it is", "at best")
    title = f"Clips, and the range of the {result.scope.name}"
    return ResultTable("clips", title, columns, rows, tuple(_clip_notes(result.scope)))


def _clip_notes(scope: Scope) -> Iterator[str]:
    """What undecided clips are, and what is assumed at worst and at best."""
    undecided = "Undecided: complete clips that are neither faulty nor clean."
    yield undecided if scope.dimensions is None else f"{undecided} {undecided_counted(scope)}"
    yield (
        f"At worst, all {scope.open_clips} are faulty, and so are unreadable or missing clips. At best, all of these "
        f"clips count for the {scope.name}, except clips with a found event."
    )


def undecided_counted(scope: Scope) -> str:
    """A sentence for a nothing-found rate: what it makes of undecided clips."""
    return f"The {scope.name} counts undecided clips, because nothing was found in them."


def _rates(result: Comparison, kind: str, title: str) -> ResultTable:
    rates: list[Mapping[str, Estimate]] = [getattr(result.leaderboard[run], kind) for run in result.order]
    rows: tuple[Row, ...] = tuple((name, *(rate[name] for rate in rates)) for name in rates[0])
    columns = (title, *(result.names[run] for run in result.order))
    return ResultTable(f"by-{title}", f"Share of scored clips with an event, by {title}", columns, rows)


def _corrected(result: Comparison) -> ResultTable:
    rows: tuple[Row, ...] = tuple(
        (name, result.scope.renamed(measure), both.naive, both.corrected)
        for name, values in zip(result.names, result.corrected, strict=True)
        for measure, both in values.items()
    )
    labels = ", ".join(f"{name} {number:,}" for name, number in zip(result.names, result.labels, strict=True))
    note = (
        f"Corrected with clips labelled by people ({labels}): the mean of the judge's values over the run, minus "
        f"the judge's mean "
        "error on the labelled clips (prediction-powered inference)."
    )
    columns = ("run", "measure", "as judged", "corrected")
    return ResultTable("calibrated", "Corrected for the judge's own errors", columns, rows, (note,))


def pair_title(pair: RunPair, result: Comparison) -> str:
    """`new against old`."""
    return f"{result.names[pair.first]} against {result.names[pair.second]}"


def _file(pair: RunPair, result: Comparison, what: str) -> str:
    return file_name(f"{result.names[pair.first]}-{result.names[pair.second]}", what)


def _cells(difference: Difference) -> Row:
    return difference.difference, difference.p, difference.holm, difference.fdr, difference.min_detectable


def _measures(pair: RunPair, verdict: str, result: Comparison) -> ResultTable:
    rows: tuple[Row, ...] = tuple(
        (result.scope.renamed(name), *_cells(difference)) for name, difference in pair.differences.items()
    )
    title = f"{pair_title(pair, result)}: paired differences over {count(pair.prompts, 'shared prompt')}"
    notes = (verdict, f"{pair_title(pair, result)}: {_bounds_sentence(pair, result.scope)}")
    return ResultTable(_file(pair, result, "pair"), title, ("measure", *_DIFFERENCE), rows, notes)


def _bounds_sentence(pair: RunPair, scope: Scope) -> str:
    """The range of the difference of a pair, which depends on its open clips; empty without a shared prompt."""
    if isnan(pair.worst):
        return ""
    between = f"{points(pair.worst)} to {points(pair.best)}"
    return f"the {scope.name}s differ by {between} points, depending on the verdicts of the {scope.open_clips}."


def _by_p(pair: RunPair) -> list[tuple[str, str, Difference]]:
    """The dimensions and types of a pair, each with its kind and name, the smallest p first."""
    found = [("dimension", name, difference) for name, difference in pair.dimensions.items()]
    found += [("type", name, difference) for name, difference in pair.types.items()]
    return sorted(found, key=lambda item: (inf if isnan(item[2].p) else item[2].p, item[:2]))


def _dimensions_and_types(pair: RunPair, result: Comparison) -> ResultTable:
    rows: tuple[Row, ...] = tuple((f"{kind} {name}", *_cells(difference)) for kind, name, difference in _by_p(pair))
    title = f"{pair_title(pair, result)}: share of clips with an event, by dimension and type"
    return ResultTable(_file(pair, result, "in-what"), title, ("of", *_DIFFERENCE), rows)


def _flips(pair: RunPair, result: Comparison) -> ResultTable:
    rows: tuple[Row, ...] = tuple(_flip(flip) for flip in pair.flips.found)
    counts = listed([f"{number} {kind}" for kind, number in pair.flips.counts.items()])
    columns = ("prompt", "change", "gained", "lost", "load", "clip before", "clip after")
    title = f"{pair_title(pair, result)}: prompts that changed, worst first"
    return ResultTable(_file(pair, result, "flips"), title, columns, rows, (f"Prompts: {counts}.",))


def _flip(flip: Flip) -> Row:
    gained, lost = (
        ", ".join(name if severity is None else f"{name} ({severity})" for name, severity in types)
        for types in (flip.gained, flip.lost)
    )
    return flip.prompt, flip.kind, gained, lost, f"{flip.load[0]} -> {flip.load[1]}", flip.before, flip.after


def _trend(result: Comparison) -> ResultTable:
    assert result.trend is not None
    steps = sorted(result.trend.steps)
    thousands = (steps[-1] - steps[0]) / 1000
    rows: tuple[Row, ...] = tuple(
        (result.scope.renamed(name), slope, _scaled(slope, thousands)) for name, slope in result.trend.slopes.items()
    )
    columns = ("measure", "per 1,000 steps", "first to last")
    title = f"Trend over the steps {', '.join(f'{step:,}' for step in steps)}"
    note = (
        f"Least squares over the runs, on the {count(result.trend.prompts, 'prompt')} that all runs share; "
        "the intervals come from resampling the prompts."
    )
    return ResultTable("trend", title, columns, rows, (note,))


def _scaled(slope: Estimate, factor: float) -> Estimate:
    return replace(slope, value=slope.value * factor, low=slope.low * factor, high=slope.high * factor)


def _gate(checks: tuple[GateCheck, ...]) -> ResultTable:
    rows: tuple[Row, ...] = tuple(
        (check.rule, check.run, "passed" if check.passed else "FAILED", check.message) for check in checks
    )
    return ResultTable("gate", "Gate", ("rule", "run", "result", "why"), rows)
