"""Answers that build a small environment: a vault that opens with a coin and a word."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

CONCEPT = {
    "title": "The Vault",
    "genre": "text puzzle",
    "premise": "You are locked in a bank at night.",
    "role": "a clerk",
    "goal": "Open the vault.",
    "winning_condition": "The vault is open.",
    "mechanics": ["A coin lies in the hall.", "The vault opens for who carries the coin."],
    "commands": ["look", "take THING", "drop THING", "open vault"],
}

CODE: Mapping[str, Sequence[str]] = {
    "start": ["def start():", "    return {'coin': 'hall', 'open': False}"],
    "opening": ["def opening(state):", "    return 'You are in the hall. ' + look(state)"],
    "look": [
        "def look(state):",
        "    return 'A coin lies here.' if state['coin'] == 'hall' else 'The floor is empty.'",
    ],
    "take": [
        "def take(state):",
        "    if state['coin'] == 'carried':",
        "        return 'You have it already.'",
        "    state['coin'] = 'carried'",
        "    return 'You take the coin.'",
    ],
    "drop": [
        "def drop(state):",
        "    if state['coin'] != 'carried':",
        "        return 'You carry nothing.'",
        "    state['coin'] = 'hall'",
        "    return 'You drop the coin.'",
    ],
    "open_vault": [
        "def open_vault(state):",
        "    if state['coin'] != 'carried':",
        "        return 'The slot asks for a coin.'",
        "    state['open'] = True",
        "    return 'The vault opens.'",
    ],
    "act": [
        "def act(state, command):",
        "    rules = {'look': look, 'take coin': take, 'drop coin': drop, 'open vault': open_vault}",
        "    rule = rules.get(command.strip().lower())",
        "    return rule(state) if rule else 'That is not understood.'",
    ],
    "visible": ["def visible(state):", "    return {'carried': ['coin'] if state['coin'] == 'carried' else []}"],
    "finished": ["def finished(state):", "    return state['open']"],
}

SLOT = {
    "id": "slot",
    "bug_type": "logic error",
    "part": "open_vault",
    "lines": ["def open_vault(state):", "    state['open'] = True", "    return 'The vault opens.'"],
    "minimal_reproduction": ["open vault"],
    "observed_fault": "The vault opens without the coin.",
}
STALE = {
    "id": "stale",
    "bug_type": "stale description",
    "part": "look",
    "lines": ["def look(state):", "    return 'A coin lies here.'"],
    "minimal_reproduction": ["take coin", "look"],
    "observed_fault": "The coin is still described in the hall after it was taken.",
}


def entry(stage: str, subject: str | None, reply: Any, **fields: Any) -> dict[str, Any]:
    when = {"stage": stage} | ({} if subject is None else {"subject": subject})
    return {"when": when, "reply": reply, **fields}


def plan(*ids: str, needs: Mapping[str, Sequence[str]] | None = None) -> dict[str, Any]:
    return {
        "tasks": [
            {"id": name, "title": name, "instructions": f"Make {name}.", "needs": [*(needs or {}).get(name, ())]}
            for name in ids
        ]
    }


def accepted(*ids: str, **sent_back: str) -> dict[str, Any]:
    verdicts = [{"id": name, "accepted": name not in sent_back, "reason": sent_back.get(name, "good")} for name in ids]
    return {"verdicts": verdicts}


def studio(*bugs: Mapping[str, Any], **changes: Any) -> list[dict[str, Any]]:
    """The script of a build without a hitch; `changes` replace the lines of parts."""
    code = {**CODE, **changes}
    return [
        entry("build_proposal", None, CONCEPT),
        entry("build_plan", "design", plan("places", "rules", needs={"rules": ["places"]})),
        entry("build_section", "places", {"paragraphs": ["There is one hall, with a coin and a vault."]}),
        entry("build_section", "rules", {"paragraphs": ["The vault opens only for who carries the coin."]}),
        entry("build_review", "design 1", accepted("places", "rules")),
        entry("build_plan", "programming", plan(*code, needs={"act": ["look", "take", "drop", "open_vault"]})),
        *(entry("build_part", name, {"lines": [*lines]}) for name, lines in code.items()),
        entry("build_review", "programming 1", accepted(*code)),
        entry("build_walkthrough", None, {"commands": ["take coin", "open vault"]}),
        *(entry("build_bug", None, dict(bug)) for bug in bugs),
    ]


def script(path: Path, entries: Sequence[Mapping[str, Any]]) -> str:
    """The spec of a scripted model."""
    path.write_text(yaml.safe_dump([*entries]), encoding="utf-8")
    return f"scripted:{path}"
