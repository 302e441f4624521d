"""The planter that rewords the instruction of a clip. The clip then no longer follows its instruction.

Only words listed in a domain's `forge.yaml` are changed, and only if the clip certainly does not show the new
instruction: the other hand, another object or place, another order of two steps. The clip is assumed to follow the
original instruction.
"""

import re

import numpy as np

from robogaze.forge.plant.planting_config import InstructionChange
from robogaze.forge.plant.planting_scene import DrawRefused, GlitchEdit, PlantingScene


def reword(scene: PlantingScene, rng: np.random.Generator, change: InstructionChange) -> GlitchEdit:
    """Another instruction for the whole clip. Raises DrawRefused if the instruction has no words to change."""
    old = scene.instruction
    if old is None:
        raise DrawRefused("the clip has no instruction")
    found = re.search(change.pattern, old, re.IGNORECASE)
    if found is None:
        raise DrawRefused("the glitch's pattern matches no words of the instruction")
    if ambiguous := _words(" ".join(found.groupdict().values())) & _words(" ".join(change.excluded_words)):
        raise DrawRefused(f"the instruction is ambiguous ({', '.join(sorted(ambiguous))})")
    if "slot" in found.groupdict():
        was, now = found["slot"], _other(found["slot"], old, change, rng)
        new = f"{old[: found.start('slot')]}{now}{old[found.end('slot') :]}"
    else:
        was, now = old, _swapped(old, found)
        new = now
    return GlitchEdit(
        sources=scene.all_frames(),
        first=0,
        end=scene.frame_count,
        strength=1.0,
        amount=f"{was} → {now}",
        where=scene.view_name(0),
        seen=False,
        instruction=(new, was, now),
    )


def _other(was: str, instruction: str, change: InstructionChange, rng: np.random.Generator) -> str:
    """A uniformly random replacement that shares no word with the instruction."""
    others = [words for words in change.replacements if not _words(words) & _words(instruction)]
    if not others:
        raise DrawRefused("every replacement shares a word with the instruction")
    return others[int(rng.integers(len(others)))]


def _swapped(old: str, found: re.Match[str]) -> str:
    """The two parts of an instruction in the other order; the capital letter stays at the front."""
    first, second = found["first"], found["second"]
    if first[:1].isupper() and not first[:2].isupper():
        first, second = first[0].lower() + first[1:], second[0].upper() + second[1:]
    (start, middle), (other, end) = found.span("first"), found.span("second")
    return f"{old[:start]}{second}{old[middle:other]}{first}{old[end:]}"


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", text.lower()))
