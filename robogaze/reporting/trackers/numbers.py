"""What a tracker is sent: numbers by name, counted over many clips, and nothing that tells of a single one.

clips/STANDING       clips by where they stand (see `robogaze.reporting.tally`); `ok` is those with and without events
clean_rate           as in a comparison: clips judged to the end without events, of all but those with no report
dimension_rate/ID    the share of clips with such an event, of the judged ones in which the dimension was looked for
type_rate/ID         likewise; its dimension is what was looked for
usage/WHAT           what all answers together took

What is undefined or not known is NaN; it is not sent, and never 0.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

from robogaze.compare import Standing
from robogaze.core.digest import Digest
from robogaze.core.report import Unreadable
from robogaze.core.scores import Estimate
from robogaze.domains import Domain
from robogaze.reporting.tally import Tally
from robogaze.reporting.wording import Total
from robogaze.stats.proportion import wilson

Numbers = Mapping[str, float]


def run_numbers(digests: Sequence[Digest], unreadable: Sequence[Unreadable], domain: Domain) -> Numbers:
    """What a run of many clips found, and what it took; an event counts under its own dimension alone."""
    tally = Tally(tuple(digests), tuple(unreadable), domain)
    found = tally.standings
    return {
        "clips/ok": found["events"] + found["clean"],
        **{f"clips/{name}": found[name] for name in ("clean", "partial", "unscored", "unreadable")},
        **_interval("clean_rate", wilson(found["clean"], tally.clips)),
        **dict(_rates(digests, domain)),
        "usage/calls": tally.calls,
        "usage/prompt_tokens": _whole(tally.prompt_tokens),
        "usage/completion_tokens": _whole(tally.completion_tokens),
        "usage/cost_usd": _whole(tally.cost_usd),
    }


def standing_numbers(one: Standing) -> Numbers:
    """Where a run stands in a comparison: every measure with its interval, and the share of which nothing is known."""
    measures = {name: number for key, said in one.measures.items() for name, number in _interval(key, said).items()}
    return {**measures, "unscored_share": one.unscored_share}


def _interval(name: str, said: Estimate) -> Numbers:
    return {name: said.value, f"{name}_low": said.low, f"{name}_high": said.high}


def _rates(digests: Sequence[Digest], domain: Domain) -> Iterator[tuple[str, float]]:
    judged = [one for one in digests if one.status != "unscored"]
    for dimension in domain.taxonomy.dimensions:
        clips = [one.events for one in judged if dimension.id in (*one.assessed, *one.in_part)]
        held = sum(any(event.dimension == dimension.id for event in events) for events in clips)
        yield f"dimension_rate/{dimension.id}", _share(held, len(clips))
        for kind in dimension.types:
            held = sum(any(event.type == kind.id for event in events) for events in clips)
            yield f"type_rate/{kind.id}", _share(held, len(clips))


def _share(held: int, clips: int) -> float:
    return held / clips if clips else math.nan


def _whole(total: Total) -> float:
    return total.known if total.unknown == 0 else math.nan
