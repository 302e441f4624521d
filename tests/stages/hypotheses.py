"""Hypotheses for tests of stages."""

from typing import Any

from robogaze.core.events import Evidence, Hypothesis
from robogaze.core.time import Span


def make_hypothesis(name: str, start: float = 1.0, end: float = 2.0, **fields: Any) -> Hypothesis:
    """A specialist's hypothesis about a cup, from `start` to `end` in seconds."""
    known = {
        "id": name,
        "dimension": "physical_plausibility",
        "type": "object_floating",
        "spans": (Span(start, end),),
        "severity": 4,
        "confidence": 0.8,
        "description": f"{name}: the cup hangs in the air",
        "evidence": (Evidence(text="nothing is under it", frames=(16, 20), source="propose"),),
        "proposed_by": "specialist",
    }
    return Hypothesis(**{**known, **fields})
