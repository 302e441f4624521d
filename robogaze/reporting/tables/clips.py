"""The clips of a run for the terminal: a row for each clip, a row for each type of event, and a summary. The counts are
also available as JSON.

Text from clips and models is printed as plain text: it cannot style the table or control the terminal.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from robogaze.core.events import Event
from robogaze.core.report import Report, Unreadable
from robogaze.core.report_summary import ReportSummary
from robogaze.domains import Domain
from robogaze.reporting.summary import (
    RunSummary,
    cost_line,
    covered,
    headline,
    not_examined,
    only_evidence,
    unmeasured,
    without_event,
    without_events,
    worst_severity,
)
from robogaze.reporting.wording import Total, count, money, printable, seconds

_STYLES = {"faulty": "", "clean": "green", "undecided": "yellow", "unscored": "red", "unreadable": "magenta"}
_COLUMNS = ("clip", "verdict", "events", "found", "examined", "calls", "cost")
_SHOWN_EVENTS = 4
_NOTHING = Text("-", style="dim")


def clip_table(reports: Sequence[Report], unreadable: Sequence[Unreadable], domain: Domain) -> Table:
    """One row per clip, unreadable clips last; the column `examined` counts the dimensions that were examined or ruled
    out.
    """
    table = Table(*_COLUMNS, box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for report in reports:
        table.add_row(*_row(report, domain))
    for clip in unreadable:
        status = Text("unreadable", style=_STYLES["unreadable"])
        table.add_row(_plain(clip.uri), status, _NOTHING, _plain(clip.reason), _NOTHING, _NOTHING, _NOTHING)
    return table


def _row(report: Report, domain: Domain) -> tuple[Text, ...]:
    examined = f"{len(covered(report))} of {len(report.coverage)}"
    cost = money(Total.of([report.usage.cost_usd]))
    return (
        _plain(report.clip.id),
        _verdict(report),
        _events(report, domain),
        _found(report, domain),
        Text(examined),
        Text(str(report.usage.calls)),
        Text(cost),
    )


def _verdict(report: Report) -> Text:
    """The verdict, and the status if it is not complete."""
    if report.status == "unscored":
        return Text("unscored", style=_STYLES["unscored"])
    more = "" if report.status == "complete" else f", {report.status}"
    return Text(f"{report.verdict}{more}", style=_STYLES[report.verdict])


def _events(report: Report, domain: Domain) -> Text:
    """The number of events and the highest severity."""
    if not report.events:
        return _plain({"complete": "none", "partial": "none so far", "unscored": "not known"}[report.status])
    worst = worst_severity(report)
    if worst is None:
        return Text(f"{len(report.events)}, severity not given")
    return Text(f"{len(report.events)}, worst {worst} {domain.taxonomy.severity[worst - 1].name}")


def _found(report: Report, domain: Domain) -> Text:
    """The events, the most severe first."""
    worst_first = sorted(report.events, key=lambda event: (-(event.severity or 0), event.onset_s))
    lines = [_short(event, domain) for event in worst_first[:_SHOWN_EVENTS]]
    if len(worst_first) > _SHOWN_EVENTS:
        lines.append(f"and {len(worst_first) - _SHOWN_EVENTS} more")
    return Text("\n".join(lines)) if lines else _without_events(report, domain)


def _short(event: Event, domain: Domain) -> str:
    name = domain.types[event.type].name if event.type in domain.types else event.type
    return f"{name} {', '.join(seconds(span.start, span.end) for span in event.spans)}"


def _without_events(report: Report, domain: Domain) -> Text:
    """For a clip without events: the first failure, or the dimensions without a fault."""
    if report.failures:
        more = f" (and {count(len(report.failures) - 1, 'more failure')})" if len(report.failures) > 1 else ""
        return _plain(f"{report.failures[0].message}{more}")
    return _NOTHING if report.clean else _plain(without_event(report, domain))


def _plain(text: str) -> Text:
    return Text(printable(text))


def summary_lines(
    reports: Sequence[Report] | Sequence[ReportSummary],
    unreadable: Sequence[Unreadable],
    domain: Domain,
    pending: int = 0,
) -> list[str]:
    """The counts, the clips without events, what was not examined or measured, and the cost."""
    short = tuple(report if isinstance(report, ReportSummary) else ReportSummary.of(report) for report in reports)
    summary = RunSummary(short, tuple(unreadable), domain, pending)
    lines = [
        headline(summary),
        *without_events(summary),
        not_examined(summary),
        unmeasured(summary),
        only_evidence(summary),
    ]
    lines.append(cost_line(summary) if reports else "")
    return [line for line in lines if line]


_EVENT_COLUMNS = ("events", "clips", "type", "dimension", "worst")


def event_table(reports: Sequence[ReportSummary], domain: Domain) -> Table:
    """The types of events, the most frequent first: number of events, number of clips, highest severity."""
    table = Table(*_EVENT_COLUMNS, box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for row in _by_type(reports):
        kind, dimension = domain.types.get(row["type"]), domain.dimensions.get(row["dimension"])
        worst = row["worst_severity"]
        cells = (
            f"{row['events']:,}",
            f"{row['clips']:,}",
            row["type"] if kind is None else kind.name,
            row["dimension"] if dimension is None else dimension.name,
            "-" if worst is None else f"{worst} {domain.taxonomy.severity[worst - 1].name}",
        )
        table.add_row(*map(Text, cells))
    return table


def counts_as_json(
    reports: Sequence[ReportSummary], unreadable: Sequence[Unreadable], domain: Domain, pending: int = 0
) -> Mapping[str, Any]:
    """The numbers of clips by verdict and status, of dimensions by coverage, and of events by type, and the usage of
    the run. A value of the usage is None if a part of it is not known.
    """
    summary = RunSummary(tuple(reports), tuple(unreadable), domain, pending)
    return {
        "clips": summary.counts,
        "coverage": summary.coverage,
        "events": _by_type(reports),
        "usage": summary.usage,
        "unreadable": [clip.model_dump() for clip in unreadable],
    }


def _by_type(reports: Sequence[ReportSummary]) -> list[dict[str, Any]]:
    """A row for each type of event, the most frequent first."""
    groups: dict[tuple[str, str], list[tuple[int, int | None]]] = {}
    for number, report in enumerate(reports):
        for event in report.events:
            groups.setdefault((event.type, event.dimension), []).append((number, event.severity))
    return [
        {
            "type": event_type,
            "dimension": dimension,
            "events": len(events),
            "clips": len({number for number, _ in events}),
            "worst_severity": max((severity for _, severity in events if severity is not None), default=None),
        }
        for (event_type, dimension), events in sorted(groups.items(), key=lambda item: -len(item[1]))
    ]
