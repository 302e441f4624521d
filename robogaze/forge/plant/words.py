"""The planter that changes the instruction, so that the clip shows something else than was asked for.

Only words that a domain's `forge.yaml` knows are changed, and only where it can be told that the new instruction is not
what is shown: a hand for the other one, an object or a place for one of another name, the order of two steps. That the
clip shows what the old instruction says is taken from the user.
"""

import re

import numpy as np

from robogaze.forge.plant.edit import GlitchEdit, Refused
from robogaze.forge.plant.recipe import InstructionChange
from robogaze.forge.plant.scene import PlantingScene


def reword(scene: PlantingScene, rng: np.random.Generator, words: InstructionChange) -> GlitchEdit:
    """Another instruction, for the whole clip. Raises Refused where the words do not allow it."""
    old = scene.instruction
    if old is None:
        raise Refused("the clip has no instruction")
    found = re.search(words.find, old, re.IGNORECASE)
    if found is None:
        raise Refused("its instruction has no such words")
    if said := _words(" ".join(found.groupdict().values())) & _words(" ".join(words.unless)):
        raise Refused(f"its instruction leaves open what is meant ({', '.join(sorted(said))})")
    if "slot" in found.groupdict():
        was, now = found["slot"], _other(found["slot"], old, words, rng)
        new = f"{old[: found.start('slot')]}{now}{old[found.end('slot') :]}"
    else:
        was, now = old, _swapped(old, found)
        new = now
    return GlitchEdit(
        sources=scene.as_shown(),
        first=0,
        end=scene.count,
        strength=1.0,
        amount=f"{was} → {now}",
        where=scene.named(0),
        seen=False,
        instruction=(new, was, now),
    )


def _other(was: str, instruction: str, words: InstructionChange, rng: np.random.Generator) -> str:
    """Words to take the place of others: of those that share no word with the instruction, one drawn evenly."""
    others = [one for one in words.instead if not _words(one) & _words(instruction)]
    if not others:
        raise Refused("every other word stands in its instruction, too")
    return others[int(rng.integers(len(others)))]


def _swapped(old: str, found: re.Match[str]) -> str:
    """The two parts of an instruction in the other order; the first one spoken keeps the capital."""
    first, second = found["first"], found["second"]
    if first[:1].isupper() and not first[:2].isupper():
        first, second = first[0].lower() + first[1:], second[0].upper() + second[1:]
    (start, middle), (other, end) = found.span("first"), found.span("second")
    return f"{old[:start]}{second}{old[middle:other]}{first}{old[end:]}"


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", text.lower()))
