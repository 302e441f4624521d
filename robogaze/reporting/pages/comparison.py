"""The page of a comparison: verdict, leaderboard, pairs, rates, trend, and the prompts whose clips changed."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from robogaze.comparison import Comparison, GateCheck, RunPair
from robogaze.comparison.flips import Flip
from robogaze.comparison.trend import step_of
from robogaze.domains import Domain
from robogaze.reporting.figures import line_chart
from robogaze.reporting.pages.bundles import WrittenPage
from robogaze.reporting.pages.comparison_checks import comparison_checks
from robogaze.reporting.pages.comparison_runs import PageRun, page_runs
from robogaze.reporting.pages.results import (
    Entry,
    Fact,
    Filter,
    Link,
    PageSection,
    ResultPage,
    clip_address,
    domain_of,
    event_filters,
    levels_up_to,
    names_of,
    page_table,
    write_result_page,
)
from robogaze.reporting.tables import ResultTable
from robogaze.reporting.tables.comparison import comparison_tables, pair_tables, pair_title
from robogaze.reporting.wording import count, listed

_MEASURES = {
    "clean_rate": "clean rate",
    "nothing_found_rate": "nothing-found rate",
    "events_per_clip": "events per clip",
    "load_per_clip": "load per clip",
    "load_per_minute": "load per minute",
}

_KINDS = {
    "new": ("bad", "Events only in the clip after"),
    "worse": ("care", "More or worse events in the clip after"),
    "changed": ("", "Different events with the same total severity"),
    "better": ("good", "Fewer or milder events in the clip after"),
    "fixed": ("good", "Events only in the clip before"),
}


def write_comparison_page(
    result: Comparison, folder: Path, checks: tuple[GateCheck, ...] | None = None, domain: str | None = None
) -> WrittenPage:
    """Write the page. `checks` are the checks of a gate. `domain` is the name of a domain; the page shows its names of
    types and dimensions.
    """
    runs = page_runs(result, folder)
    spoken = domain_of({taxonomy for run in runs for taxonomy in run.taxonomies}, domain)
    return write_result_page(comparison_page(result, runs, checks, spoken), folder, spoken)


def comparison_page(
    result: Comparison, runs: Sequence[PageRun], checks: tuple[GateCheck, ...] | None, domain: Domain | None
) -> ResultPage:
    """The content of the page. Without a domain, types and dimensions are shown by their ids."""
    entries = tuple(_entries(result, runs))
    found = comparison_checks(result, runs, checks)
    shown = [result.verdict, *(check.sentence for check in found)]
    return ResultPage(
        kind="Comparison",
        noun="change",
        headline=result.verdict,
        facts=tuple(
            Fact("baseline" if position == result.baseline else "run", run.name, run.page)
            for position, run in enumerate(runs)
        ),
        checks=found,
        sections=tuple(_sections(result, runs, {**names_of(domain), **_MEASURES}, shown)),
        filters=tuple(_filters(result, entries, domain)),
        entries=entries,
        clips={
            clip_key(position, clip_id): clip
            for position, run in enumerate(runs)
            for clip_id, clip in run.clips.items()
        },
        one_video=False,
    )


def clip_key(position: int, clip_id: str) -> str:
    """The key of a clip on the page. `position` is the position of the clip's run in the comparison."""
    return f"{position}/{clip_id}"


def _sections(
    result: Comparison, runs: Sequence[PageRun], names: Mapping[str, str], shown: Sequence[str]
) -> Iterator[PageSection]:
    tables = {table.name: table for table in comparison_tables(result)}
    board = page_table(tables["leaderboard"], link=_link_to_run(tables["leaderboard"], runs), without_notes=shown)
    alike = [listed([result.names[run] for run in band]) for band in result.bands if len(band) > 1]
    bands = "; ".join(f"no significant difference between {band}" for band in alike)
    yield PageSection("Leaderboard", (board,), bands, open=True)
    clips = page_table(tables["clips"], link=_link_to_run(tables["clips"], runs))
    yield PageSection(tables["clips"].title, (clips,))
    for number, (pair, verdict) in enumerate(zip(result.pairs, result.verdicts, strict=True)):
        measures, kinds, _ = pair_tables(pair, verdict, result)
        yield PageSection(
            pair_title(pair, result),
            (
                page_table(measures, names=names, axis_per_row=True, without_notes=[verdict, *shown]),
                page_table(kinds, names=_prefixed(names), link=_link_to_changes(kinds, number)),
            ),
            verdict,
        )
    if "calibrated" in tables:
        yield PageSection(tables["calibrated"].title, (page_table(tables["calibrated"], axis_per_row=True),))
    if result.trend is not None:
        yield PageSection(
            tables["trend"].title,
            (page_table(tables["trend"], names=names, axis_per_row=True),),
            f"a straight line through the values of {count(result.trend.prompts, 'prompt')}",
            figures=tuple(_trend_figures(result, names)),
        )
    for name in ("by-dimension", "by-type"):
        if tables[name].rows:
            link = _link_to_changes(tables[name])
            yield PageSection(tables[name].title, (page_table(tables[name], names=names, link=link),))


def _prefixed(names: Mapping[str, str]) -> dict[str, str]:
    """The names of `dimension ID` and `type ID`."""
    return {f"{kind} {name}": f"{shown} ({kind})" for kind in ("dimension", "type") for name, shown in names.items()}


def _link_to_run(table: ResultTable, runs: Sequence[PageRun]) -> Link:
    """The page of the run of a row."""
    pages = {run.name: run.page for run in runs}
    return lambda row, column: pages.get(str(table.rows[row][0])) or ""


def _link_to_changes(table: ResultTable, pair: int | None = None) -> Link:
    """The prompts whose clips changed in the dimension or type of a row."""
    of = "" if pair is None else f"&pair={pair}"

    def link(row: int, column: int) -> str:
        words = str(table.rows[row][0]).split(" ", 1)
        kind, name = words if len(words) == 2 else (table.columns[0], words[0])
        return f"#{kind}={name}{of}"

    return link


def _trend_figures(result: Comparison, names: Mapping[str, str]) -> Iterator[str]:
    assert result.trend is not None
    for measure in result.trend.slopes:
        points = [(step_of(row.name) or 0, row.measures[measure]) for row in result.leaderboard]
        renamed = result.scope.renamed(measure)
        yield line_chart(points, names.get(renamed, renamed))


def _filters(result: Comparison, entries: Sequence[Entry], domain: Domain | None) -> Iterator[Filter]:
    kinds = {entry.tags["kind"][0] for entry in entries}
    yield Filter("kind", "Change", {kind: kind for kind in _KINDS if kind in kinds})
    if len(result.pairs) > 1:
        pairs = {
            str(number): f"{result.names[pair.second]} → {result.names[pair.first]}"
            for number, pair in enumerate(result.pairs)
        }
        yield Filter("pair", "Pair", pairs)
    yield from event_filters(entries, domain)


def _entries(result: Comparison, runs: Sequence[PageRun]) -> Iterator[Entry]:
    """The changes of all pairs, the worst first."""
    flips = [(number, pair, flip) for number, pair in enumerate(result.pairs) for flip in pair.flips.found]
    flips.sort(key=lambda item: (-item[2].worst, item[2].load[0] - item[2].load[1]))
    for number, pair, flip in flips:
        yield _entry(number, pair, flip, runs, several=len(result.pairs) > 1)


def _entry(number: int, pair: RunPair, flip: Flip, runs: Sequence[PageRun], *, several: bool) -> Entry:
    sides = (
        ("before", runs[pair.second], clip_key(pair.second, flip.before), flip.before),
        ("after", runs[pair.first], clip_key(pair.first, flip.after), flip.after),
    )
    tone, sentence = _KINDS[flip.kind]
    load = f"sum of severities {flip.load[0]} → {flip.load[1]}"
    changes = [("+", "gained", name, severity) for name, severity in flip.gained]
    changes += [("−", "lost", name, severity) for name, severity in flip.lost]
    dimensions = {event.type: event.dimension for _, run, _, clip in sides for event in run.clips[clip].events}
    return Entry(
        id=f"{number}/{flip.prompt}",
        title=flip.prompt,
        subtitle=f"{sides[0][1].name} → {sides[1][1].name}" if several else "",
        mark=(flip.kind, tone),
        sentence=f"{sentence}: {load}",
        tags={"kind": (flip.kind,), "pair": (str(number),)},
        events=tuple(
            {
                "dimension": tuple(filter(None, (dimensions.get(name),))),
                "type": (name,),
                "severity": levels_up_to(severity),
            }
            for _, _, name, severity in changes
        ),
        changes=tuple(changes),
        sides=tuple((label, run.name, key) for label, run, key, _ in sides),
        links=tuple((f"{run.name}: {clip}", clip_address(run.page, clip)) for _, run, _, clip in sides if run.page),
    )
