"""Pairs and judges for tests of judges."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from robogaze.backends import ModelsConfig
from robogaze.judges.base import DescriptionPair, Judge, Judgement
from robogaze.judges.llm import ModelJudge
from robogaze.judges.rubric import read_rubric


def pair(reference: str = "The cup falls.", prediction: str = "The mug drops.", **fields: Any) -> DescriptionPair:
    """A pair of a clip."""
    known: dict[str, Any] = {"clip_id": "clip", "reference_id": "r", "prediction_id": "p"}
    return DescriptionPair(**{**known, **fields}, reference=reference, prediction=prediction)


def rate(judge: Judge, pairs: Sequence[DescriptionPair]) -> list[Judgement]:
    """What a judge says."""
    return list(asyncio.run(judge.rate(pairs)))


def ratings(event: int = 5, specific: int = 4, cause: int = 3) -> dict[str, Any]:
    """A model's answer by the rubric robogaze."""
    return {
        "rationale": "both fall",
        "event_faithfulness": event,
        "specificity": specific,
        "causal_correctness": cause,
    }


def model_judge(folder: Path, *entries: dict[str, Any], rubric: str = "robogaze", **fields: Any) -> ModelJudge:
    """A judge whose model answers from a script."""
    script = folder / "script.yaml"
    script.write_text(yaml.safe_dump(list(entries)))
    config = ModelsConfig.read(f"scripted:{script}")
    return ModelJudge(read_rubric(rubric), config, folder / "answers.sqlite", {}, **fields)


def write_table(path: Path, pairs: Sequence[DescriptionPair], similarity: float = 0.5) -> Path:
    """A table that holds pairs."""
    names = ("clip_id", "reference_id", "prediction_id")
    lines = [{**{name: getattr(pair, name) for name in names}, "similarity": similarity} for pair in pairs]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path
