"""A comparison as tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf, isnan

from robogaze.comparison import Comparison, GateCheck, PairedDifference, RunPair
from robogaze.comparison.clip_measures import MEASURES
from robogaze.comparison.flips import Flip
from robogaze.comparison.verdict import points
from robogaze.core.scores import Estimate
from robogaze.evaluation.config import MIN_UNITS
from robogaze.reporting.result_tables import Cell, ResultTable, file_name
from robogaze.reporting.wording import count, listed

Row = tuple[Cell, ...]

_GAP = ("difference", "p", "p (Holm)", "p (FDR)", "smallest to be shown")


def sheets(result: Comparison, checks: tuple[GateCheck, ...] | None = None) -> Iterator[ResultTable]:
    """Every table, the leaderboard first; each carries the sentences it must not be read without."""
    yield _leaderboard(result)
    yield _clips(result)
    for name, title in (("dimensions", "dimension"), ("types", "type")):
        yield _rates(result, name, title)
    if result.corrected:
        yield _corrected(result)
    for one, said in zip(result.pairs, result.verdicts, strict=True):
        yield _pair(one, said, result)
        yield _in_what(one, result)
        yield _flips(one, result)
    if result.trend is not None:
        yield _trend(result)
    if checks is not None:
        yield _gate(checks)


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
    columns = ("run", "band", "rank", result.scope.name, "events a clip", "load a clip", "load a minute", "USD a clip")
    notes = (result.verdict, *_notes(result))
    return ResultTable("leaderboard", f"Leaderboard of {count(len(rows), 'run')}", columns, rows, notes)


def _notes(result: Comparison) -> Iterator[str]:
    terms = result.config
    yield (
        f"{scope_sentence(result.scope.dimensions)} Load: sum of severities. Events and load are over the scored clips."
    )
    yield (
        f"{terms.level:.0%} intervals: Wilson's for shares, Newcombe's for their paired differences, else Student's t "
        f"over the prompts; ranks and trends from {terms.resamples:,} resamples of the prompts, seed {terms.seed}."
    )
    if result.units < MIN_UNITS:
        yield (
            f"Warning: the runs share {count(result.units, 'prompt')}; with fewer than {MIN_UNITS} intervals are "
            "approximate (docs/metrics/coverage.md)."
        )
    yield (
        "A run joins the band above it when it differs significantly from no run of that band, p adjusted for all "
        "pairs (Holm); runs of different bands need not all differ."
    )
    yield _paired_by(result)
    if ungraded := sum(one.ungraded for one in result.leaderboard):
        yield f"{count(ungraded, 'event')} without a severity: nothing in the load."
    for run, one in zip(result.runs, result.leaderboard, strict=True):
        if 0 < one.cost_per_clip.n < len(run.annotations):
            unknown = len(run.annotations) - one.cost_per_clip.n
            yield f"{one.name}: the cost of {count(unknown, 'clip')} is not known."


def scope_sentence(dimensions: Sequence[str] | None) -> str:
    """What counts as clean, or as nothing found."""
    if dimensions is None:
        return (
            "Clean: complete, nothing found, every dimension examined or ruled out; other clips are never clean and "
            "stay in n."
        )
    examined = (
        f"Examined in every complete clip: {listed(list(dimensions))}"
        if dimensions
        else "No dimension was examined in every complete clip"
    )
    return (
        f"Nothing found: complete and without events. {examined}; this says nothing of other dimensions, and no clip "
        "counts as clean. Incomplete clips stay in n."
    )


def _paired_by(result: Comparison) -> str:
    alone = [
        f"{result.names[one.first]} {one.unpaired[0]} and {result.names[one.second]} {one.unpaired[1]}"
        for one in result.pairs
        if any(one.unpaired)
    ]
    said = f"Clips are paired by {result.prompts.key}"
    passed = f" ({'; '.join(result.prompts.passed_over)})" if result.prompts.passed_over else ""
    return f"{said}{passed}; without a partner: {'; '.join(alone) or 'none'}."


def _clips(result: Comparison) -> ResultTable:
    names = tuple(result.leaderboard[0].clips)
    rows: tuple[Row, ...] = tuple(
        (one.name, *(one.clips[name] for name in names), one.undecided, one.worst, one.clean_rate.value, one.best)
        for one in (result.leaderboard[run] for run in result.order)
    )
    columns = ("run", *names, "undecided", f"{result.scope.name} at worst", "as it is", "at best")
    notes = ("At worst every undecided or missing clip is faulty, at best clean where nothing was found.",)
    return ResultTable(
        "clips", f"Clips, and what the unknown clips could make of the {result.scope.name}", columns, rows, notes
    )


def _rates(result: Comparison, kind: str, title: str) -> ResultTable:
    rates: list[Mapping[str, Estimate]] = [getattr(result.leaderboard[run], kind) for run in result.order]
    rows: tuple[Row, ...] = tuple((name, *(one[name] for one in rates)) for name in rates[0])
    columns = (title, *(result.names[run] for run in result.order))
    return ResultTable(f"by-{title}", f"Share of scored clips with an event, by {title}", columns, rows)


def _corrected(result: Comparison) -> ResultTable:
    rows: tuple[Row, ...] = tuple(
        (name, result.scope.renamed(what), both.naive, both.corrected)
        for name, values in zip(result.names, result.corrected, strict=True)
        for what, both in values.items()
    )
    labels = ", ".join(f"{name} {number:,}" for name, number in zip(result.names, result.labels, strict=True))
    note = (
        f"From clips that people labelled ({labels}): the mean of what the judge said of the run less "
        "the mean of its errors on those (prediction-powered inference)."
    )
    columns = ("run", "what", "as the judge says", "corrected")
    return ResultTable("calibrated", "Corrected for the judge's own errors", columns, rows, (note,))


def _title(one: RunPair, result: Comparison) -> str:
    return f"{result.names[one.first]} against {result.names[one.second]}"


def _file(one: RunPair, result: Comparison, what: str) -> str:
    return file_name(f"{result.names[one.first]}-{result.names[one.second]}", what)


def _cells(one: PairedDifference) -> Row:
    return one.difference, one.p, one.holm, one.fdr, one.min_detectable


def _pair(one: RunPair, said: str, result: Comparison) -> ResultTable:
    rows: tuple[Row, ...] = tuple((result.scope.renamed(name), *_cells(gap)) for name, gap in one.differences.items())
    bounds = f"{points(one.worst)} to {points(one.best)} points, whatever the undecided clips are."
    notes = (said, f"{_title(one, result)}: the {result.scope.name}s differ by {bounds}")
    title = f"{_title(one, result)}: paired differences over {count(one.prompts, 'shared prompt')}"
    return ResultTable(_file(one, result, "pair"), title, ("measure", *_GAP), rows, notes)


def _in_what(one: RunPair, result: Comparison) -> ResultTable:
    """The dimensions and types, those of the smallest p first."""
    gaps = [(f"dimension {name}", gap) for name, gap in one.dimensions.items()]
    gaps += [(f"type {name}", gap) for name, gap in one.types.items()]
    gaps.sort(key=lambda item: (inf if isnan(item[1].p) else item[1].p, item[0]))
    rows: tuple[Row, ...] = tuple((name, *_cells(gap)) for name, gap in gaps)
    title = f"{_title(one, result)}: share of clips with an event, by dimension and type"
    return ResultTable(_file(one, result, "in-what"), title, ("of", *_GAP), rows)


def _flips(one: RunPair, result: Comparison) -> ResultTable:
    rows: tuple[Row, ...] = tuple(_flip(flip) for flip in one.flips.found)
    told = listed([f"{number} {kind}" for kind, number in one.flips.counts.items()])
    columns = ("prompt", "change", "gained", "lost", "load", "clip before", "clip after")
    title = f"{_title(one, result)}: what changed, what deserves a look first"
    return ResultTable(_file(one, result, "flips"), title, columns, rows, (f"Prompts: {told}.",))


def _flip(one: Flip) -> Row:
    gained, lost = (
        ", ".join(name if severity is None else f"{name} ({severity})" for name, severity in types)
        for types in (one.gained, one.lost)
    )
    return one.prompt, one.kind, gained, lost, f"{one.load[0]} -> {one.load[1]}", one.before, one.after


def _trend(result: Comparison) -> ResultTable:
    assert result.trend is not None
    steps = sorted(result.trend.steps)
    whole = (steps[-1] - steps[0]) / 1000
    rows: tuple[Row, ...] = tuple(
        (result.scope.renamed(name), slope, _times(slope, whole)) for name, slope in result.trend.slopes.items()
    )
    columns = ("measure", "per 1,000 steps", "from the first to the last")
    title = f"Trend over the steps {', '.join(f'{step:,}' for step in steps)}"
    note = f"Least squares over the runs, on {count(result.trend.prompts, 'prompt')} that all share, resampled."
    return ResultTable("trend", title, columns, rows, (note,))


def _times(slope: Estimate, factor: float) -> Estimate:
    return replace(slope, value=slope.value * factor, low=slope.low * factor, high=slope.high * factor)


def _gate(checks: tuple[GateCheck, ...]) -> ResultTable:
    rows: tuple[Row, ...] = tuple(
        (one.rule, one.run, "passed" if one.passed else "FAILED", one.message) for one in checks
    )
    return ResultTable("gate", "Gate", ("rule", "run", "", "why"), rows)
