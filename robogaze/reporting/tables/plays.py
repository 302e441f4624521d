"""The plays of a run as tables: how each play ended and what it cost, and the reported faults."""

from collections.abc import Iterator, Sequence

from robogaze.core.events import Event
from robogaze.core.report import Report, Unreadable
from robogaze.reporting.tables.result_table import ResultTable, Row
from robogaze.reporting.wording import Total, amount, count, money

_NOTE = (
    "Even many steps do not prove that an environment is free of faults. A play that broke off is partial or "
    "unscored; it never "
    "counts as a play without faults."
)


def play_tables(reports: Sequence[Report], unplayed: Sequence[Unreadable]) -> Iterator[ResultTable]:
    """A table of the plays, and a table of the reported faults if there are any."""
    yield _plays(reports, unplayed)
    if rows := tuple(_fault(report, event) for report in reports for event in report.events):
        columns = ("play", "fault", "severity", "confidence", "steps", "reproduced", "commands")
        yield ResultTable("faults", f"{count(len(rows), 'fault')} reported", columns, rows)


def _plays(reports: Sequence[Report], unplayed: Sequence[Unreadable]) -> ResultTable:
    columns = ("play", "steps", "status", "reports", "reproduced", "rejected", "undecided", "calls", "tokens", "cost",
               "ended")  # fmt: skip
    rows: list[Row] = [_play(report) for report in reports]
    rows += [(play.uri, 0, "not played", *(None,) * 7, play.reason) for play in unplayed]
    return ResultTable("plays", count(len(rows), "play"), columns, tuple(rows), (_NOTE,))


def _play(report: Report) -> Row:
    facts, usage = report.provenance.media, report.usage
    verdicts = [claim.verdict for claim in report.hypotheses]
    tokens = Total.of((usage.prompt_tokens, usage.completion_tokens))
    ended = "; ".join((str(facts["stopped"]), *(failure.message for failure in report.failures)))
    return (
        report.clip.id,
        f"{facts['steps']} of {facts['budget']}",
        report.status,
        len(report.events),
        sum(event.reproduction is not None and event.reproduction.reproduced is True for event in report.events),
        verdicts.count("rejected"),
        verdicts.count("unverified"),
        usage.calls,
        amount(tokens),
        money(Total.of((usage.cost_usd,))),
        ended,
    )


def _fault(report: Report, event: Event) -> Row:
    found = event.reproduction
    reproduced = {True: "yes", False: "no", None: "not replayed"}[None if found is None else found.reproduced]
    return (
        report.clip.id,
        event.description,
        event.severity,
        event.confidence,
        f"{event.onset_s:.0f} to {event.offset_s - 1:.0f}",
        reproduced,
        "" if found is None else "; ".join(found.commands),
    )
