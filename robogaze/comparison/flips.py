"""What changed for each prompt from one run to another, and which prompts to look at first."""

from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Literal, get_args

from robogaze.comparison.clip_measures import load_of
from robogaze.core.annotation import ClipAnnotation
from robogaze.metrics.tally import scored

FlipKind = Literal["new", "worse", "changed", "better", "fixed"]


@dataclass(frozen=True, slots=True)
class Flip:
    """A prompt whose clip changed; `before` and `after` are the ids of its clips.

    new      no event before, events after
    worse    events before, and a larger total severity after, or more events with the same total severity
    changed  as many events and the same total severity, but other types
    better   the reverse of worse
    fixed    events before, none after

    `gained` and `lost` list event types, the most severe first, each with the highest severity of its events (None if
    no event has a severity). `load` is the total severity before and after.
    """

    prompt: str
    before: str
    after: str
    kind: FlipKind
    gained: tuple[tuple[str, int | None], ...]
    lost: tuple[tuple[str, int | None], ...]
    load: tuple[int, int]

    @property
    def worst(self) -> int:
        """The highest severity of the gained types, 0 if there is none."""
        return max((severity or 0 for _, severity in self.gained), default=0)


@dataclass(frozen=True)
class Flips:
    """The prompts that changed, in the order in which to look at them, and the numbers of unchanged and unknown
    prompts.
    """

    found: tuple[Flip, ...]
    same: int
    unknown: int

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of prompts for each kind of flip, and for "same" and "unknown"."""
        kinds = Counter(flip.kind for flip in self.found)
        by_kind = {kind: kinds[kind] for kind in get_args(FlipKind)}
        return {**by_kind, "same": self.same, "unknown": self.unknown}


def flips_between(clips: Mapping[str, tuple[ClipAnnotation, ClipAnnotation]]) -> Flips:
    """How each prompt changed from its second clip (`Flip.before`) to its first clip (`Flip.after`).

    The order: gained types by severity, highest first; then prompts with an increased total severity; improvements
    last. A prompt is unknown if one of its clips is unscored, or is partial and has no event.
    """
    found, same, unknown = [], 0, 0
    for prompt, (after, before) in clips.items():
        if not (_known(after) and _known(before)):
            unknown += 1
        elif flip := _flip(prompt, before, after):
            found.append(flip)
        else:
            same += 1
    found.sort(key=lambda flip: (-flip.worst, flip.load[0] - flip.load[1], flip.prompt))
    return Flips(tuple(found), same, unknown)


def _known(annotation: ClipAnnotation) -> bool:
    return scored(annotation) and (annotation.status == "complete" or bool(annotation.findings))


def _flip(prompt: str, before: ClipAnnotation, after: ClipAnnotation) -> Flip | None:
    was, now = _types(before), _types(after)
    load = load_of(before), load_of(after)
    kind = _kind(before, after, was.keys(), now.keys(), load)
    if kind is None:
        return None
    gained = {name: severity for name, severity in now.items() if name not in was}
    lost = {name: severity for name, severity in was.items() if name not in now}
    return Flip(prompt, before.clip_id, after.clip_id, kind, _severest(gained), _severest(lost), load)


def _kind(
    before: ClipAnnotation, after: ClipAnnotation, was: Set[str], now: Set[str], load: tuple[int, int]
) -> FlipKind | None:
    if bool(before.findings) is not bool(after.findings):
        return "new" if after.findings else "fixed"
    weight = (load[0], len(before.findings)), (load[1], len(after.findings))
    if weight[0] != weight[1]:
        return "worse" if weight[1] > weight[0] else "better"
    return "changed" if was != now else None


def _types(annotation: ClipAnnotation) -> dict[str, int | None]:
    """The types of a clip's events with their highest severity; an event without a type is listed by its dimension."""
    found: dict[str, int | None] = {}
    for event in annotation.findings:
        name = event.type or event.dimension or "(no type)"
        found[name] = max(
            (severity for severity in (found.get(name), event.severity) if severity is not None), default=None
        )
    return found


def _severest(types: Mapping[str, int | None]) -> tuple[tuple[str, int | None], ...]:
    return tuple(sorted(types.items(), key=lambda item: (-(item[1] or 0), item[0])))
