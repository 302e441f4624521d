"""What a tracker is sent: numbers by name, counted over many clips, and nothing that tells of a single one.

clips/VERDICT        clips that are faulty, clean and undecided
clips/STATUS         clips that are complete, partial and unscored; clips/unreadable have no report
clean_rate           clean clips, of all clips; not sent where no clip covers every dimension
nothing_found_rate   complete clips without events, whatever was covered, of all clips
dimension_rate/ID    the share of clips with such an event, of the scored clips in which the dimension was looked for
type_rate/ID         likewise; its dimension is what was looked for
usage/WHAT           what all answers together took

What is undefined or not known is NaN; it is not sent, and never 0.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from robogaze.comparison import LeaderboardRow
from robogaze.comparison.scope import Scope
from robogaze.core.coverage import covers_all
from robogaze.core.report import Status, Unreadable, Verdict
from robogaze.core.report_summary import ReportSummary
from robogaze.core.scores import Estimate
from robogaze.domains import Domain
from robogaze.reporting.tally import Tally
from robogaze.reporting.wording import Total
from robogaze.stats.proportions import wilson

Numbers = Mapping[str, float]


def run_numbers(digests: Sequence[ReportSummary], unreadable: Sequence[Unreadable], domain: Domain) -> Numbers:
    """What a run of many clips found, and what it took; an event counts under its own dimension alone."""
    tally = Tally(tuple(digests), tuple(unreadable), domain)
    could_be_clean = any(covers_all(digest.states.values()) for digest in digests)
    nothing = sum(digest.status == "complete" and not digest.events for digest in digests)
    return {
        **{f"clips/{name}": tally.verdicts[name] for name in get_args(Verdict)},
        **{f"clips/{name}": tally.statuses[name] for name in get_args(Status)},
        "clips/unreadable": len(unreadable),
        **(_interval("clean_rate", wilson(tally.verdicts["clean"], tally.clips)) if could_be_clean else {}),
        **_interval("nothing_found_rate", wilson(nothing, tally.clips)),
        **dict(_rates(digests, domain)),
        "usage/calls": tally.calls,
        "usage/prompt_tokens": _whole(tally.prompt_tokens),
        "usage/completion_tokens": _whole(tally.completion_tokens),
        "usage/cost_usd": _whole(tally.cost_usd),
    }


def standing_numbers(one: LeaderboardRow, scope: Scope) -> Numbers:
    """Where a run stands in a comparison: every measure with its interval, and the share of which nothing is known."""
    measures = {
        name: number
        for measure, said in one.measures.items()
        for name, number in _interval(scope.renamed(measure), said).items()
    }
    return {**measures, "unscored_share": one.unscored_share}


def _interval(name: str, said: Estimate) -> Numbers:
    return {name: said.value, f"{name}_low": said.low, f"{name}_high": said.high}


def _rates(digests: Sequence[ReportSummary], domain: Domain) -> Iterator[tuple[str, float]]:
    scored = [digest for digest in digests if digest.status != "unscored"]
    for dimension in domain.taxonomy.dimensions:
        clips = [
            digest.events for digest in scored if digest.states.get(dimension.id, "not_examined") != "not_examined"
        ]
        held = sum(any(event.dimension == dimension.id for event in events) for events in clips)
        yield f"dimension_rate/{dimension.id}", _share(held, len(clips))
        for kind in dimension.types:
            held = sum(any(event.type == kind.id for event in events) for events in clips)
            yield f"type_rate/{kind.id}", _share(held, len(clips))


def _share(held: int, clips: int) -> float:
    return held / clips if clips else math.nan


def _whole(total: Total) -> float:
    return total.known if total.unknown == 0 else math.nan
