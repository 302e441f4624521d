"""evaluation.json holds what docs/metrics/evaluation-json.md says, all of it and nothing else."""

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from metrics.cases import annotation as account
from metrics.cases import finding

from robogaze.core.annotation import ClipAnnotation
from robogaze.datasets.pairing import System, pair
from robogaze.evaluation.config import EvaluationConfig
from robogaze.evaluation.systems import evaluate_pairing as evaluate
from robogaze.judges.base import Judgement
from robogaze.metrics.controls import CONTROLS
from robogaze.metrics.errors import ERROR_KINDS
from robogaze.metrics.scores import METRICS
from robogaze.reporting.serialize import evaluation_json

PAGE = Path(__file__).parents[2] / "docs" / "metrics" / "evaluation-json.md"

NAMES = {
    "CONTROL": {*CONTROLS, "type_prior"}, "METRIC": set(METRICS), "KIND": set(ERROR_KINDS), "SYSTEM": {"one", "two"},
    "FIELD": {"split"}, "VALUE": {"x", "y"}, "DIMENSION": {"a", "b"}, "TYPE": {"drop", "slip"},
    "BONUS": {"0", "0.1", "0.25", "0.5"}, "CONFIDENCE": {"0.30", "0.40", "0.50", "0.60", "0.70"},
    "CLIP": {"clip 0", "clip 1", "clip 2", "clip 3"},
}  # fmt: skip
"""What stands in the keys for names that the data give."""

KINDS_OF = {
    "integer": int, "number": int | float, "text": str, "boolean": bool, "list": list, "list of text": list,
    "list of lists of integers": list, "object": dict, "estimate": dict, "null": type(None),
}  # fmt: skip


class HalfJudge:
    name, note = "half", "Says a half."
    identity: dict[str, Any] = {}

    async def rate(self, pairs: Any) -> list[Judgement]:
        return [Judgement(None if "?" in pair.prediction else 0.5) for pair in pairs]


@pytest.fixture(scope="module")
def written() -> Any:
    """A result in which every part has something to say."""
    event = finding((1, 2), kind="drop", confidence=0.6)
    timeless = replace(finding(dimension="b", kind="slip", text="?"), id="f")
    names = sorted(NAMES["CLIP"])
    references = [clip(name, event, split="xy"[at % 2]) for at, name in enumerate(names)]
    first = [clip(name, event, candidates=(event,)) for name in names[:3]]
    first += [clip(names[3], replace(event, description="?"), timeless)]
    systems = [System.of("one", first), System.of("two", references)]
    config = EvaluationConfig(resamples=5, baseline="two")
    result = asyncio.run(evaluate(pair(references, systems), HalfJudge(), config, ("split",)))
    found = dict(evaluation_json(result))
    return json.loads(json.dumps({**found, "second_judge": {}}, allow_nan=False))


def clip(name: str, *findings: Any, split: str = "x", **known: Any) -> ClipAnnotation:
    return replace(account(*findings, clip_id=name, **known), fields={"split": split})


def documented() -> Iterator[tuple[str, set[str], bool]]:
    """Keys with their types, and whether they are of a system."""
    text = PAGE.read_text()
    parts = text.split("The whole result:")[1].split("A system:")
    for of_system, part in enumerate(parts):
        for keys, types in re.findall(r"^\| (`[^|]+`) \| ([^|]+) \|", part, re.MULTILINE):
            for key in re.findall(r"`([^`]+)`", keys):
                yield ("systems[]." if of_system else "") + key, set(types.split(", ")), bool(of_system)


def found_in(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Every key of a result with its values; names that the data give are replaced by what stands for them."""
    if key:
        yield key, value
    if isinstance(value, dict) and not value.keys() >= {"value", "low", "high", "n"}:
        for name, inner in value.items():
            standing = next((sign for sign, names in NAMES.items() if _is_map(key, sign) and name in names), name)
            yield from found_in(inner, f"{key}.{standing}" if key else standing)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for inner in value:
            yield from found_in(inner, f"{key}[]")


def _is_map(key: str, sign: str) -> bool:
    """Whether a key's own keys are such names, by the page."""
    return any(path.startswith(f"{key}.{sign}") for path, *_ in documented())


def test_every_key_is_documented_with_its_type_and_every_documented_key_is_there(written: Any) -> None:
    types = {key: kinds for key, kinds, _ in documented()}
    # What holds nothing but documented keys needs no line of its own.
    inner = {key.rsplit(".", number)[0] for key in types for number in range(1, key.count(".") + 1)}
    seen = set()
    for key, value in found_in(written):
        plain = re.sub(r"\[\]$", "", key)
        gain = plain.startswith("gains_by.FIELD.VALUE.METRIC") and plain != "gains_by.FIELD.VALUE.METRIC"
        if gain or plain.startswith("systems[].floor.above.") or plain == "systems[]":
            continue
        assert plain in types or plain in inner or key in inner, key
        if plain in types and not key.endswith("[]"):
            seen.add(plain)
            assert any(isinstance(value, KINDS_OF[kind]) for kind in types[plain]), (key, value, types[plain])
            assert not isinstance(value, bool) or "boolean" in types[plain], key
    assert set(types) - seen == set()


def test_an_estimate_has_the_documented_keys(written: Any) -> None:
    estimates = [value for _, value in found_in(written) if isinstance(value, dict) and "n" in value and "low" in value]
    assert {key for estimate in estimates for key in estimate} == {"value", "low", "high", "n", "why"}
    for estimate in estimates:
        assert isinstance(estimate["n"], int)
        assert (estimate["value"] is not None and estimate["low"] is not None) or estimate["why"]


def test_the_difference_from_the_floor_has_the_documented_keys(written: Any) -> None:
    for system in written["systems"]:
        assert set(system["floor"]["above"]) == {
            "difference",
            "p",
            "min_detectable",
            "equivalence_bound",
            "significant",
        }


def test_a_single_system_s_keys_are_at_the_top_too(written: Any) -> None:
    references = [clip("a", finding((1, 2)))]
    result = asyncio.run(
        evaluate(pair(references, [System.of("one", references)]), HalfJudge(), EvaluationConfig(resamples=5))
    )
    alone = evaluation_json(result)
    assert alone["systems"][0].keys() <= alone.keys()
    assert alone["counts"].keys() >= {*written["counts"], *alone["systems"][0]["counts"]}
