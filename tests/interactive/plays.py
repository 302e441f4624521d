"""Plays for tests: scripted answers, and the run of a play in a folder."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import yaml

from interactive.cellar import Cellar
from robogaze.backends import ModelsConfig
from robogaze.interactive.play import PlayResult, PlayRun, open_plays
from robogaze.interactive.play_options import PlayOptions

STALE = {
    "title": "the cellar still lists the lamp",
    "type": "stale_content",
    "action": "look after taking the lamp",
    "observed": "The lamp is listed.",
    "expected": "A room lists what lies in it; the lamp is in the sack.",
    "reproduction": ["down", "take lamp", "look"],
    "severity": 2,
    "confidence": 0.9,
}


def step(command: str | None = None, tool: str = "act", **fields: Any) -> dict[str, Any]:
    """An answer to `play_step`."""
    return {
        "last_step": None,
        "candidate": None,
        "rationale": "to see what it does",
        "tool": tool,
        "command": command,
        "expected": "it is done" if tool == "act" else None,
        **fields,
    }


def after(as_expected: bool = True, difference: str | None = None) -> dict[str, Any]:
    """The reflection on the last step."""
    return {"last_step": {"as_expected": as_expected, "difference": difference}}


def stale(taken: int, looked: int, **fields: Any) -> dict[str, Any]:
    """The suspicion of the cellar's fault, with the steps that show it."""
    evidence = [{"step": taken, "text": "You take the lamp."}, {"step": looked, "text": "Here lie: lamp"}]
    return {**STALE, "evidence": evidence, **fields}


def ruling(verdict: str = "bug", confidence: float = 0.9) -> dict[str, Any]:
    """An answer to `play_ruling`."""
    return {"reason": "the replay shows it", "verdict": verdict, "severity": 2, "confidence": confidence}


FINDING = [
    step("down"),
    step("take lamp", **after()),
    step("look", **after()),
    step(tool="finish", **after(False, "the lamp is still listed"), candidate=stale(2, 3)),
]
"""The answers of an agent that finds the cellar's fault and ends."""

NOTES = {name: [] for name in ("explored", "confirmed", "unresolved", "unexplored", "priorities")}
SUMMARY = {name: [] for name in ("rules", "places", "things", "causes", "anomalies", "ideas")}

ALWAYS = [
    {"when": {"stage": "play_memory"}, "reply": NOTES, "repeat": True},
    {"when": {"stage": "play_summary"}, "reply": SUMMARY, "repeat": True},
]


def script(path: Path, steps: Sequence[Any], *more: Mapping[str, Any]) -> Path:
    """A file of replies: the steps in order, then `more` and the notes."""
    lines = [
        reply if set(reply) & {"reply", "text", "error"} else {"when": {"stage": "play_step"}, "reply": reply}
        for reply in steps
    ]
    path.write_text(yaml.safe_dump([*lines, *more, *ALWAYS]), encoding="utf-8")
    return path


def numbered(steps: Sequence[Any]) -> list[Any]:
    """Answers that belong to their steps, for a script that is read again."""
    return [
        {"when": {"stage": "play_step", "subject": f"step {number}"}, "reply": reply}
        for number, reply in enumerate(steps)
    ]


RULES = {"when": {"stage": "play_ruling"}, "reply": ruling(), "repeat": True}


async def played(
    out: Path, model: str, environments: Sequence[str] = ("cellar",), cellar: Any = Cellar, **options: Any
) -> PlayResult:
    """The result of a run; `cellar` opens an environment by its name and mode."""
    async with open_run(out, model, environments, cellar, **options) as run:
        await run.execute()
        return run.result()


def open_run(
    out: Path, model: str, environments: Sequence[str] = ("cellar",), cellar: Any = Cellar, **options: Any
) -> AbstractAsyncContextManager[PlayRun]:
    """The run of plays in a folder, before it is executed."""
    chosen = PlayOptions(**{"budget": 20, **options})
    config = ModelsConfig.read(model)
    return open_plays(environments, out, config, chosen, open_environment=lambda name, mode, **_: cellar(mode=mode))
