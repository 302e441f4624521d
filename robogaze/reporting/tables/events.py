"""What a run of many clips found, in short: the kinds of events, and its counts as JSON."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from rich.table import Table
from rich.text import Text

from robogaze.core.report import Status, Unreadable, Verdict
from robogaze.core.report_summary import ReportSummary
from robogaze.domains import Domain
from robogaze.reporting.summary import Tally
from robogaze.reporting.wording import Total

_COLUMNS = ("events", "clips", "type", "dimension", "worst")


def event_table(digests: Sequence[ReportSummary], domain: Domain) -> Table:
    """The types of events found, the most frequent first: how many, in how many clips, and the highest severity."""
    table = Table(*_COLUMNS, box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for row in _by_type(digests):
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
    digests: Sequence[ReportSummary], unreadable: Sequence[Unreadable], domain: Domain
) -> Mapping[str, Any]:
    """The counts of a run: clips by verdict and status, dimensions by coverage, events by type, usage.

    Usage is None where a part of it is not known.
    """
    tally = Tally(tuple(digests), tuple(unreadable), domain)
    return {
        "clips": {
            **{name: tally.verdicts[name] for name in get_args(Verdict)},
            **{name: tally.statuses[name] for name in get_args(Status)},
            "unreadable": len(unreadable),
        },
        "coverage": tally.coverage,
        "events": _by_type(digests),
        "usage": {
            "calls": tally.calls,
            "prompt_tokens": _whole(tally.prompt_tokens),
            "completion_tokens": _whole(tally.completion_tokens),
            "cost_usd": _whole(tally.cost_usd),
        },
        "unreadable": [one.model_dump() for one in unreadable],
    }


def _whole(total: Total) -> float | None:
    return total.known if total.unknown == 0 else None


def _by_type(digests: Sequence[ReportSummary]) -> list[dict[str, Any]]:
    marks = [(number, mark) for number, one in enumerate(digests) for mark in one.events]
    kinds = Counter((mark.type, mark.dimension) for _, mark in marks)
    rows = []
    for (kind, dimension), events in kinds.most_common():
        mine = [(number, mark) for number, mark in marks if (mark.type, mark.dimension) == (kind, dimension)]
        severities = [mark.severity for _, mark in mine if mark.severity is not None]
        rows.append(
            {
                "type": kind,
                "dimension": dimension,
                "events": events,
                "clips": len({number for number, _ in mine}),
                "worst_severity": max(severities, default=None),
            }
        )
    return rows
