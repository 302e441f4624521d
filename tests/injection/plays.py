"""What a good server says: the pipelines that faults are tried on, their questions, and a good answer to each.

A clip is played in one of three ways, by what there is to find: `found` ends in an event, `cleared` in a suspicion that
is rejected, `nothing` in no suspicion. The last two end clean, so that a fault must not end the same way.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from stub_server import Body, answer, schema_of, stage_of, text_of

Way = Literal["found", "cleared", "nothing"]


@dataclass(frozen=True)
class Play:
    """A pipeline of a domain, its questions in the order they are first put, and the ways it can be played."""

    domain: str
    pipeline: str
    questions: tuple[str, ...]
    ways: tuple[Way, ...]


DEBATE = ("judge", "look", "advocate", "skeptic")
PLAYS = {
    "full": Play(
        "robot",
        "full",
        ("direct", "ground", "observe", "segment", "propose", "verify"),
        ("found", "cleared", "nothing"),
    ),
    "vote3": Play("robot", "vote3", ("direct",), ("found", "nothing")),
    "glide": Play(
        "game",
        "glide",
        ("scan", "remember", *DEBATE, "same", "visible", "edge"),
        ("found", "cleared", "nothing"),
    ),
    "vanilla": Play("game", "vanilla", ("recurring",), ("found", "nothing")),
}

_KNOWN_BY = {
    "ground": ("ground", "task_memory"),
    "observe": ("observe", "windows"),
    "segment": ("segment", "segments"),
    "propose": ("propose", "hypotheses"),
    "verify": ("verify", "decisions"),
    "recurring": ("direct", "spans_s"),
    "direct": ("direct", "events"),
    "scan": ("scan", "cues"),
    "remember": ("remember", "course"),
    "advocate": ("investigate", "violated_rules"),
    "skeptic": ("investigate", "missing_context"),
    "judge": ("investigate", "ruling"),
    "look": ("investigate", "answer"),
    "same": ("trace", "same_as"),
    "visible": ("trace", "visible"),
    "edge": ("trace", "frame"),
}
"""The stage that puts a question, and a field of its answer that no question before it here has."""

STAGE_OF: Mapping[str, str] = {question: stage for question, (stage, _) in _KNOWN_BY.items()}
QUESTIONS = tuple(_KNOWN_BY)


@dataclass(frozen=True)
class Asked:
    """A question as it came, its good answer, and an answer of the same form that reports nothing."""

    body: Body
    question: str
    good: Any
    nothing: Any

    @classmethod
    def of(cls, body: Body, way: Way) -> "Asked":
        """Read a request."""
        question, said = question_of(body), answer(body, specialists=2)
        if question == "scan":
            # One sample of each window, so that the suspicions of two windows are two; none in the third.
            sample = schema_of(body)["$defs"]["FindingAnswer"]["properties"]["frames"]["items"]["enum"][4]
            suspect = {**said["cues"][0], "frames": [sample, sample]}
            said["cues"] = [] if "window W2 of the clip" in text_of(body) else [suspect]
        if question == "judge" and "\nStep 1:" not in text_of(body):
            frames = schema_of(body)["$defs"]["VqaArguments"]["properties"]["frames"]["items"]["enum"]
            said["next_look"] = {"tool": "vqa", "frames": frames[:1], "question": "Where is it?"}
        if question == "visible":
            said["visible"] = said["visible"][4:]
        if question == "same":
            said["same"] = {name: {**record, "same_as": name} for name, record in said["same"].items()}
        if question == "recurring":
            said["events"][0]["spans_s"] = [[0.0, 1.0], [3.0, 4.5]]
        silent = _silent(question, said)
        quiet = way == "nothing" or (way == "cleared" and question in ("verify", "judge"))
        return cls(body, question, silent if quiet else said, silent)


def question_of(body: Body) -> str:
    """Which question a request is."""
    stage, schema = stage_of(body), json.dumps(schema_of(body))
    return next(
        name for name, (asking, field) in _KNOWN_BY.items() if asking == stage and re.search(f'"{field}"', schema)
    )


def _silent(question: str, said: Any) -> Any:
    """The answer of one who found nothing."""
    if question in ("propose", "direct", "recurring"):
        return {name: [] for name in said}
    if question == "scan":
        return said | {"cues": []}
    if question == "judge":
        return said | {"ruling": "normal", "confidence": 0.9, "visible": [], "next_look": None}
    if question == "verify":
        rejected = {"decision": "REJECT", "frames": [], "confidence": 0.2, "merge_with": None}
        return {"decisions": {name: decision | rejected for name, decision in said["decisions"].items()}}
    return said
