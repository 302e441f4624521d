"""An evaluation as one JSON object; what is undefined is null."""

import math
from collections.abc import Mapping
from typing import Any

from robogaze.evaluation.estimates import Scores
from robogaze.evaluation.results import Bounds, Evaluation, Floor, NamedMatch, SystemComparisons, SystemResult
from robogaze.metrics.controls import CONTROLS, SHUFFLED_RULE, TYPE_PRIOR, TYPE_PRIOR_RULE
from robogaze.stats.paired import Difference

Json = Mapping[str, Any]


def evaluation_json(result: Evaluation) -> Json:
    """The result; with a single system its keys stand at the top, too."""
    systems = [_system(one, result) for one in result.systems]
    whole: dict[str, Any] = {
        "schema_version": 1,
        **result.config.model_dump(),
        "judge": {"name": result.judge, "note": result.judge_note},
        "counts": dict(result.counts),
        "unreferenced": result.unreferenced,
        "unfinished": result.unfinished,
        "left_out": result.left_out,
        "controls": {name: {**_both(*scores), **_rule(name)} for name, scores in result.controls.items()},
        "systems": systems,
        "pairs": {name: _pairs(one, result) for name, one in result.comparisons.items()},
    }
    if len(systems) == 1:
        whole = {**whole, **systems[0], "counts": {**whole["counts"], **systems[0]["counts"]}}
    return whole


def _system(system: SystemResult, result: Evaluation) -> Json:
    losses = {
        kind: {"errors": errors, "f1_gained": gain.as_json()} for kind, (errors, gain) in system.error_costs.items()
    }
    clips = zip(result.clips, system.matches, strict=True)
    return {
        "name": system.name,
        "counts": system.counts,
        "absent": system.incomplete,
        "macro": _scores(system.macro),
        "micro": _scores(system.micro),
        "strata_mean": _scores(system.strata_mean),
        "bounds": None if system.bounds is None else _bounds(system.bounds),
        "by": {field: {value: _scores(one) for value, one in values.items()} for field, values in system.by.items()},
        "per_dimension": {name: _scores(one) for name, one in system.dimensions.items()},
        "per_type": {name: _scores(one) for name, one in system.types.items()},
        "confusion": {"labels": result.dimensions, "counts": system.confusion.astype(int).tolist()},
        "losses": losses,
        "floor": None if system.floor is None else _floor(system.floor),
        "lambda": {f"{bonus:g}": _scores(one) for bonus, one in system.by_bonus.items()},
        "operating_points": {f"{least:.2f}": _both(*scores) for least, scores in system.operating_points.items()},
        "matches": {clip.clip_id: [_match(one) for one in found] for clip, found in clips if found},
    }


def _rule(name: str) -> Json:
    if name == TYPE_PRIOR:
        return {"bound": "floor", "rule": TYPE_PRIOR_RULE}
    return {"bound": "upper" if CONTROLS[name].oracle else "floor", "rule": CONTROLS[name].rule}


def _floor(floor: Floor) -> Json:
    return {**_both(floor.macro, floor.micro), "rule": SHUFFLED_RULE, "above": _difference(floor.above)}


def _scores(scores: Scores) -> Json:
    return {name: one.as_json() for name, one in scores.items()}


def _both(means: Scores, sums: Scores) -> dict[str, Any]:
    return {"macro": _scores(means), "micro": _scores(sums)}


def _bounds(bounds: Bounds) -> Json:
    return {"clips": bounds.clips, "worst": _scores(bounds.worst), "best": _scores(bounds.best)}


def _match(one: NamedMatch) -> Json:
    return {
        "reference": one.reference,
        "prediction": one.prediction,
        "similarity": one.similarity,
        "iou": _number(one.iou),
    }


def _pairs(found: SystemComparisons, result: Evaluation) -> Json:
    names = [system.name for system in result.systems]
    differences = [
        {
            "first": names[one.first],
            "second": names[one.second],
            **_difference(one),
            "p_holm": _number(one.holm),
            "p_fdr": _number(one.fdr),
            "verdict": one.verdict(result.config.margin),
        }
        for one in found.pairs
    ]
    places = zip(names, found.ranks, strict=True)
    ranks = {name: {"rank": one.rank.as_json(), "first": _number(one.first)} for name, one in places}
    return {"differences": differences, "ranks": ranks}


def _difference(one: Difference) -> Json:
    return {
        "difference": one.difference.as_json(),
        "p": _number(one.p),
        "smallest_shown": _number(one.min_detectable),
        "largest_left": _number(one.equivalence_bound),
        "separated": one.significant,
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
