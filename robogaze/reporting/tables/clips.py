"""The terminal's view of a set of reports: one row a clip, and the lines that sum it up.

Text from clips and models goes in as plain text: it can neither style the table nor steer the terminal.
"""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from robogaze.core.events import Event
from robogaze.core.report import Report, Unreadable
from robogaze.core.report_summary import ReportSummary
from robogaze.domains import Domain
from robogaze.reporting.summary import (
    Tally,
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
    """One row a clip, the unreadable last; the column `examined` counts the dimensions examined or ruled out."""
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
    """The verdict, and the status where that is not complete."""
    if report.status == "unscored":
        return Text("unscored", style=_STYLES["unscored"])
    more = "" if report.status == "complete" else f", {report.status}"
    return Text(f"{report.verdict}{more}", style=_STYLES[report.verdict])


def _events(report: Report, domain: Domain) -> Text:
    """How many, and the worst of them by number and word."""
    if not report.events:
        return _plain({"complete": "none", "partial": "none so far", "unscored": "not known"}[report.status])
    worst = worst_severity(report)
    if worst is None:
        return Text(f"{len(report.events)}, severity not given")
    return Text(f"{len(report.events)}, worst {worst} {domain.taxonomy.severity[worst - 1].name}")


def _found(report: Report, domain: Domain) -> Text:
    """The events in short, the most severe first."""
    worst_first = sorted(report.events, key=lambda event: (-(event.severity or 0), event.onset_s))
    lines = [_short(event, domain) for event in worst_first[:_SHOWN_EVENTS]]
    if len(worst_first) > _SHOWN_EVENTS:
        lines.append(f"and {len(worst_first) - _SHOWN_EVENTS} more")
    return Text("\n".join(lines)) if lines else _without_events(report, domain)


def _short(event: Event, domain: Domain) -> str:
    name = domain.types[event.type].name if event.type in domain.types else event.type
    return f"{name} {', '.join(seconds(span.start, span.end) for span in event.spans)}"


def _without_events(report: Report, domain: Domain) -> Text:
    """What can be said of a clip without events: the first failure, or in which dimensions nothing was found."""
    if report.failures:
        more = f" (and {count(len(report.failures) - 1, 'more failure')})" if len(report.failures) > 1 else ""
        return _plain(f"{report.failures[0].message}{more}")
    return _NOTHING if report.clean else _plain(without_event(report, domain))


def _plain(text: str) -> Text:
    return Text(printable(text))


def summary_lines(
    reports: Sequence[Report] | Sequence[ReportSummary], unreadable: Sequence[Unreadable], domain: Domain
) -> list[str]:
    """The counts; what the clips without events are free of; what was not examined, or not measured; what it cost."""
    digests = tuple(one if isinstance(one, ReportSummary) else ReportSummary.of(one) for one in reports)
    tally = Tally(digests, tuple(unreadable), domain)
    lines = [headline(tally), *without_events(tally), not_examined(tally), unmeasured(tally), only_evidence(tally)]
    lines.append(cost_line(tally) if reports else "")
    return [line for line in lines if line]
