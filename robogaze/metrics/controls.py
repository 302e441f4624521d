"""Controls: predictions that need no look at the clip, scored beside every system.

A control is made from the reference alone, with the similarities that its rule gives; the rule is a sentence that is
printed with its row. Those whose description counts as right wherever the time is are upper bounds: the most that a
guess of that time could get from any judge, which an honest system may stay below. Floors, which every system should
be above, ask the judge (see `robogaze.metrics.floors`), but for "always clean", which says nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.time import Span

Matrix = NDArray[np.float64]

SEVERITY = 4
"""What the control of one severity says of every event."""

LATE = 0.7
"""Where the last 30 percent of a clip begin."""


@dataclass(frozen=True)
class Guess:
    """A control's account of a clip and its similarities to the reference, (reference findings, its findings)."""

    account: ClipAnnotation
    similarity: Matrix


@dataclass(frozen=True)
class Control:
    """A control: `rule` says in a sentence what it reports and what its descriptions count as.

    `oracle` says that its descriptions count as right by that rule: its row is an upper bound, the others are floors.
    `guess` gives None for a clip whose duration is not known, where the control needs it.
    """

    name: str
    rule: str
    oracle: bool
    guess: Callable[[ClipAnnotation], Guess | None]


def duration_s(account: ClipAnnotation) -> float | None:
    """How long a clip lasts: as said, else to the end of its last frame; None where neither is known.

    The last frame is taken to stay as long as the one before it, so one frame alone does not tell.
    """
    times_s = account.frame_times_s
    if account.duration_s is not None or times_s is None or len(times_s) < 2:
        return account.duration_s
    return 2 * times_s[-1] - times_s[-2]


def _guess(reference: ClipAnnotation, name: str, findings: tuple[AnnotatedEvent, ...], similarity: Matrix) -> Guess:
    return Guess(replace(reference, author=f"control {name}", findings=findings, candidates=()), similarity)


def _always_clean(reference: ClipAnnotation) -> Guess:
    return _guess(reference, "always_clean", (), np.zeros((len(reference.findings), 0)))


def _from(share: float, name: str) -> Callable[[ClipAnnotation], Guess | None]:
    def guess(reference: ClipAnnotation) -> Guess | None:
        length_s = duration_s(reference)
        if length_s is None:
            return None
        event = AnnotatedEvent("1", (Span(share * length_s, length_s),), "Something is wrong here.")
        return _guess(reference, name, (event,), np.ones((len(reference.findings), 1)))

    return guess


def _constant_severity(reference: ClipAnnotation) -> Guess:
    findings = tuple(replace(one, severity=SEVERITY) for one in reference.findings)
    return _guess(reference, "constant_severity", findings, np.eye(len(findings)))


_ALL = (
    Control("always_clean", "reports no event in any clip.", False, _always_clean),
    Control(
        "whole_clip",
        "reports one event over the whole of every clip, without dimension or severity; its description counts as "
        "right (S = 1) for whichever reference event it is matched to.",
        True,
        _from(0.0, "whole_clip"),
    ),
    Control(
        "last_30_percent",
        "reports one event over the last 30 percent of every clip, without dimension or severity; its description "
        "counts as right (S = 1) for whichever reference event it is matched to.",
        True,
        _from(LATE, "last_30_percent"),
    ),
    Control(
        "constant_severity",
        f"repeats the reference with severity {SEVERITY} for every event (S = 1 with its own, 0 with all others), so "
        "only its severity columns say anything.",
        True,
        _constant_severity,
    ),
)

CONTROLS: Mapping[str, Control] = {control.name: control for control in _ALL}
"""Every control by name."""
