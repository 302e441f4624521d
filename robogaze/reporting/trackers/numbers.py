"""The named numbers that a tracker gets. They are counts and rates over many clips, never values of a single clip.

clips/VERDICT        clips that are faulty, clean and undecided
clips/STATUS         clips that are complete, partial and unscored
clips/unreadable     clips whose file cannot be read; clips/pending have no report yet
clean_rate           clean clips, of all clips; not sent if no clip covers every dimension
nothing_found_rate   complete clips without events, of all clips; their coverage does not matter
dimension_rate/ID    the share of clips with an event in the dimension, of the scored clips in which it was examined
type_rate/ID         the same for an event type, of the clips in which its dimension was examined
usage/WHAT           calls, tokens and cost of all answers

Undefined and unknown values are NaN and are not sent.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

from robogaze.comparison import LeaderboardRow
from robogaze.comparison.scope import Scope
from robogaze.core.coverage import covers_all
from robogaze.core.estimate import Estimate
from robogaze.core.report import Unreadable
from robogaze.core.report_summary import ReportSummary
from robogaze.domains import Domain
from robogaze.reporting.summary import RunSummary
from robogaze.stats.proportions import wilson

Numbers = Mapping[str, float]


def run_numbers(
    reports: Sequence[ReportSummary], unreadable: Sequence[Unreadable], domain: Domain, pending: int = 0
) -> Numbers:
    """The counts, rates and usage of a run; an event counts in its own dimension only."""
    summary = RunSummary(tuple(reports), tuple(unreadable), domain, pending)
    covered = any(covers_all(report.states.values()) for report in reports)
    without_events = sum(report.status == "complete" and not report.events for report in reports)
    return {
        **{f"clips/{name}": number for name, number in summary.counts.items()},
        **(_interval("clean_rate", wilson(summary.verdicts["clean"], summary.clips)) if covered else {}),
        **_interval("nothing_found_rate", wilson(without_events, summary.clips)),
        **dict(_rates(reports, domain)),
        **{f"usage/{name}": math.nan if number is None else number for name, number in summary.usage.items()},
    }


def leaderboard_numbers(row: LeaderboardRow, scope: Scope) -> Numbers:
    """The measures of one run of a comparison, with their intervals, and the share of its clips without a score."""
    measures = {
        name: number
        for measure, estimate in row.measures.items()
        for name, number in _interval(scope.renamed(measure), estimate).items()
    }
    return {**measures, "unscored_share": row.unscored_share}


def _interval(name: str, estimate: Estimate) -> Numbers:
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}


def _rates(reports: Sequence[ReportSummary], domain: Domain) -> Iterator[tuple[str, float]]:
    scored = [report for report in reports if report.status != "unscored"]
    for dimension in domain.taxonomy.dimensions:
        clips = [
            report.events for report in scored if report.states.get(dimension.id, "not_examined") != "not_examined"
        ]
        number = sum(any(event.dimension == dimension.id for event in events) for events in clips)
        yield f"dimension_rate/{dimension.id}", _share(number, len(clips))
        for kind in dimension.types:
            number = sum(any(event.type == kind.id for event in events) for events in clips)
            yield f"type_rate/{kind.id}", _share(number, len(clips))


def _share(number: int, clips: int) -> float:
    return number / clips if clips else math.nan
