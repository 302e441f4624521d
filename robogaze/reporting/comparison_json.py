"""A comparison as one JSON object; what is undefined is null."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from robogaze.comparison import Comparison, GateCheck, LeaderboardRow, PairedDifference, RunPair
from robogaze.comparison.flips import Flip
from robogaze.stats.paired import Rank

Json = Mapping[str, Any]


def comparison_json(result: Comparison, checks: Sequence[GateCheck] | None = None) -> Json:
    """The result, and what a gate said of it where there was one. Runs stand in the order they were named."""
    told = {
        "schema_version": 2,
        "level": result.config.level,
        "resamples": result.config.resamples,
        "seed": result.config.seed,
        "baseline": None if result.baseline is None else result.names[result.baseline],
        "paired_by": {"key": result.prompts.key, "passed_over": result.prompts.passed_over},
        "rate": {"key": result.scope.key, "name": result.scope.name, "dimensions": result.scope.dimensions},
        "runs": [_run(place, result) for place in range(len(result.runs))],
        "order": [result.names[place] for place in result.order],
        "bands": [[result.names[place] for place in band] for band in result.bands],
        "pairs": [_pair(one, said, result) for one, said in zip(result.pairs, result.verdicts, strict=True)],
        "trend": _trend(result),
        "verdict": result.verdict,
    }
    return told if checks is None else told | {"gate": _gate(checks)}


def _run(place: int, result: Comparison) -> Json:
    one = result.leaderboard[place]
    told: dict[str, Any] = {
        "name": one.name,
        "clips": one.clips,
        "undecided": one.undecided,
        **_standing(one, result),
        "rank": _rank(result.ranks[place]),
    }
    told["unplaced"] = result.runs[place].unplaced
    told["band"] = 1 + next(number for number, band in enumerate(result.bands) if place in band)
    if result.corrected:
        told["calibrated"] = {
            "labels": result.labels[place],
            **{
                result.scope.renamed(name): {"naive": both.naive.as_json(), "corrected": both.corrected.as_json()}
                for name, both in result.corrected[place].items()
            },
        }
    return told


def _standing(one: LeaderboardRow, result: Comparison) -> dict[str, Any]:
    return {
        **{result.scope.renamed(name): value.as_json() for name, value in one.measures.items()},
        "rate_bounds": {"worst": _number(one.worst), "best": _number(one.best)},
        "ungraded_events": one.ungraded,
        "per_dimension": {name: value.as_json() for name, value in one.dimensions.items()},
        "per_type": {name: value.as_json() for name, value in one.types.items()},
        "cost_per_clip_usd": one.cost_per_clip.as_json(),
    }


def _rank(one: Rank) -> Json:
    return {**one.rank.as_json(), "first": _number(one.first)}


def _pair(one: RunPair, said: str, result: Comparison) -> Json:
    first, second = result.names[one.first], result.names[one.second]
    return {
        "first": first,
        "second": second,
        "prompts": one.prompts,
        "without_partner": {"first": one.unpaired[0], "second": one.unpaired[1]},
        **_gap(one.clean),
        "bounds": {"worst": _number(one.worst), "best": _number(one.best)},
        "corrected": None if one.corrected is None else _gap(one.corrected),
        "separated": one.significant(result.config.level),
        "measures": {result.scope.renamed(name): _gap(gap) for name, gap in one.differences.items()},
        "per_dimension": {name: _gap(gap) for name, gap in one.dimensions.items()},
        "per_type": {name: _gap(gap) for name, gap in one.types.items()},
        "flips": {**one.flips.counts, "clips": [_flip(flip) for flip in one.flips.found]},
        "verdict": said,
    }


def _gap(one: PairedDifference) -> dict[str, Any]:
    return {
        "difference": one.difference.as_json(),
        "p": _number(one.p),
        "p_holm": _number(one.holm),
        "p_fdr": _number(one.fdr),
        "smallest_shown": _number(one.min_detectable),
        "largest_left": _number(one.equivalence_bound),
    }


def _flip(one: Flip) -> Json:
    return {
        "prompt": one.prompt,
        "kind": one.kind,
        "before": one.before,
        "after": one.after,
        "gained": [{"type": name, "severity": severity} for name, severity in one.gained],
        "lost": [{"type": name, "severity": severity} for name, severity in one.lost],
        "load_before": one.load[0],
        "load_after": one.load[1],
    }


def _trend(result: Comparison) -> Json | None:
    if result.trend is None:
        return None
    slopes = {result.scope.renamed(name): slope.as_json() for name, slope in result.trend.slopes.items()}
    return {"steps": result.trend.steps, "prompts": result.trend.prompts, "per_1000_steps": slopes}


def _gate(checks: Sequence[GateCheck]) -> Json:
    told = [{"rule": one.rule, "run": one.run, "passed": one.passed, "said": one.message} for one in checks]
    return {"passed": all(one.passed for one in checks), "checks": told}


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
