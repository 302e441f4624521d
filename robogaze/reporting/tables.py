"""The terminal's view of a set of reports: one row a clip, and the lines that sum it up.

Text from clips and models goes in as plain text: it can neither style the table nor steer the terminal.
"""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from robogaze.core.digest import Digest
from robogaze.core.events import Event
from robogaze.core.report import Report, Unreadable
from robogaze.domains import Domain
from robogaze.reporting.tally import (
    Tally,
    clean_claims,
    cost_line,
    coverage,
    headline,
    only_evidence,
    standing,
    unmeasured,
    worst_severity,
)
from robogaze.reporting.wording import Total, count, money, printable, seconds

_STYLES = {"events": "", "clean": "green", "partial": "yellow", "unscored": "red", "unreadable": "magenta"}
_COLUMNS = ("clip", "status", "events", "found", "dimensions", "calls", "cost")
_SHOWN_EVENTS = 4
_NOTHING = Text("-", style="dim")


def clip_table(reports: Sequence[Report], unreadable: Sequence[Unreadable], domain: Domain) -> Table:
    """One row a clip, the unreadable last; the column `dimensions` counts those judged, assessed and defined."""
    table = Table(*_COLUMNS, box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for report in reports:
        table.add_row(*_row(report, domain))
    for clip in unreadable:
        status = Text("unreadable", style=_STYLES["unreadable"])
        table.add_row(_plain(clip.uri), status, _NOTHING, _plain(clip.reason), _NOTHING, _NOTHING, _NOTHING)
    return table


def _row(report: Report, domain: Domain) -> tuple[Text, ...]:
    judged = f"{len(report.judged)}/{len(report.assessed)} of {len(domain.dimensions)}"
    cost = money(Total.of([report.usage.cost_usd]))
    return (
        _plain(report.clip.id),
        Text(report.status, style=_STYLES[standing(report)]),
        _events(report, domain),
        _found(report, domain),
        Text(judged),
        Text(str(report.usage.calls)),
        Text(cost),
    )


def _events(report: Report, domain: Domain) -> Text:
    """How many, and the worst of them by number and word."""
    if not report.events:
        return _plain({"ok": "none", "partial": "none so far", "unscored": "not known"}[report.status])
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
    return Text("\n".join(lines)) if lines else _failure(report)


def _short(event: Event, domain: Domain) -> str:
    name = domain.types[event.type].name if event.type in domain.types else event.type
    return f"{name} {', '.join(seconds(span.start, span.end) for span in event.spans)}"


def _failure(report: Report) -> Text:
    """Why nothing can be said, when that is so."""
    if report.status == "partial" and not report.judged and not report.failures:
        return Text("no dimension was judged as a whole")
    if report.status == "ok" or not report.failures:
        return _NOTHING
    more = f" (and {count(len(report.failures) - 1, 'more failure')})" if len(report.failures) > 1 else ""
    return _plain(f"{report.failures[0].message}{more}")


def _plain(text: str) -> Text:
    return Text(printable(text))


def summary_lines(
    reports: Sequence[Report] | Sequence[Digest], unreadable: Sequence[Unreadable], domain: Domain
) -> list[str]:
    """The counts; what the clean clips are free of; what was not assessed, or not measured; what it cost."""
    digests = tuple(one if isinstance(one, Digest) else Digest.of(one) for one in reports)
    tally = Tally(digests, tuple(unreadable), domain)
    lines = [headline(tally), *clean_claims(tally), coverage(tally), unmeasured(tally), only_evidence(tally)]
    lines.append(cost_line(tally) if reports else "")
    return [line for line in lines if line]
