"""A scripted agent that plays the castle: it suspects its three faults, and something that is none."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from interactive.plays import ALWAYS, after, ruling, step

WAY = [
    "open drawer", "take small key", "go west", "go south", "go east", "take ladder", "go west", "go north", "go west",
    "place ladder", "go up", "say mistral", "open chest", "take key fragment a", "go down", "go east", "go south",
    "unlock storage", "go west", "take key fragment b", "combine",
]  # fmt: skip
"""From the bedroom to the third fault of the castle."""

SHORTEST = [
    "go north", "go east", "open drawer", "take small key", "go west", "go south", "go east", "take ladder", "go west",
    "go north", "go west", "place ladder", "go up", "say mistral", "open chest", "take key fragment a", "go down",
    "go east", "go south", "unlock storage", "go west", "take key fragment b", "combine",
]  # fmt: skip


def claim(kind: str, evidence: Iterable[tuple[int, str]], reproduction: list[str]) -> dict[str, Any]:
    cited = [{"step": number, "text": text} for number, text in evidence]
    return {
        "candidate": {
            "title": kind, "type": kind, "action": reproduction[-1], "observed": "It shows this.",
            "expected": "The design says otherwise.", "evidence": cited, "reproduction": reproduction, "severity": 3,
            "confidence": 0.8,
        }
    }  # fmt: skip


DROPPED = claim(
    "stale_content",
    [(2, "You put down the matches."), (3, "On the floor: candlestick.")],
    ["take matches", "drop matches", "look"],
)
DRAWER = claim("early_disclosure", [(8, "A small key is in the drawer.")], ["go north", "go east"])
GREAT_KEY = claim("unmet_condition", [(31, "You hold the great key.")], SHORTEST)
UNSEEN = claim("lost_thing", [(11, "The drawer is empty.")], ["go north"])


def agent(path: Path, *, finds: bool) -> Path:
    """The script of an agent: in a build with faults it suspects three, and two things that are none."""

    def led(to: dict[str, Any]) -> dict[str, Any]:
        return {**after(not finds), **(to if finds else {})}

    first = [step("take matches"), step("drop matches", **after()), step("look", **after())]
    first += [step("go north", **led(DROPPED)), step("go east", **after()), step(WAY[0], **led(DRAWER))]
    first += [step(WAY[1], **led(UNSEEN))] * (2 if finds else 1)  # it is sent back once
    first += [*(step(command, **after()) for command in WAY[2:])]
    first += [step(tool="finish", **led(GREAT_KEY))]
    steps = [{"when": {"stage": "play_step"}, "reply": reply} for reply in first]
    rulings = [{"when": {"stage": "play_ruling"}, "reply": ruling(), "repeat": True}]
    path.write_text(yaml.safe_dump([*steps, *rulings, *ALWAYS]))
    return path
