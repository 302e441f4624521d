"""The scores of a released evaluator, as tables and as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from robogaze.evaluation.released import ReleasedScores
from robogaze.judges.base import Judge
from robogaze.reporting.result_tables import ResultTable
from robogaze.reporting.wording import count

_WARNING = "The numbers of a released evaluator, quirks included (docs/metrics/conventions.md)."


def released_sheets(results: Sequence[ReleasedScores], judge: Judge, convention: str) -> Iterator[ResultTable]:
    """The metrics, and those by dimension where the evaluator gives them."""
    notes = [f"Convention {convention}.", _WARNING, f"Judge {judge.name}: {judge.note}"]
    notes += [
        f"{one.name}: {count(len(one.dropped), 'clip')} without a scored prediction, which it leaves out of all means."
        for one in results
        if one.dropped
    ]
    for name, part in (("scores", "metrics"), ("by-dimension", "per_dimension")):
        columns = tuple(dict.fromkeys(metric for one in results for metric in getattr(one, part)))
        if columns:
            rows = tuple((one.name, *(getattr(one, part).get(metric) for metric in columns)) for one in results)
            title = "Scores" if part == "metrics" else "Description F1 by dimension"
            yield ResultTable(f"released-{name}", title, ("system", *columns), rows, tuple(notes))


def released_json(results: Sequence[ReleasedScores], judge: Judge, convention: str) -> Mapping[str, Any]:
    """All systems as one JSON object."""
    return {
        "schema_version": 1,
        "convention": convention,
        "judge": {"name": judge.name, "note": judge.note},
        "systems": [
            {
                "name": one.name,
                "metrics": {name: value.as_json() for name, value in one.metrics.items()},
                "per_dimension": {name: value.as_json() for name, value in one.per_dimension.items()},
                "dropped": one.dropped,
            }
            for one in results
        ],
    }
