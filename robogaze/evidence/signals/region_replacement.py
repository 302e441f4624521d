"""What turned over in each frame of a clip, as series."""

import math
from collections import deque
from collections.abc import Mapping, Sequence

import numpy as np

from robogaze.core.events import Box
from robogaze.evidence.base import Signal, ViewSignals
from robogaze.evidence.colours import Colours, Moving, likeness
from robogaze.evidence.optical_flow import UNLIKE_LEVELS, Change
from robogaze.evidence.replaced_regions import Moment, Turnover, candidates, echo, growths, turnovers

_REMEMBERED = 3.0  # times: the weakest that can be undone later
_MOST_REMEMBERED = 24  # the latest: a clip full of them must not fill the memory
_SEPARATE_FRAMES = 4  # what is nearer in time is the same event, seen in a frame and in three together
_NOTHING, _NOT_GROWN = {"turnover": 0.0, "turnover_pair": 0.0}, {"growth": 0.0}
_TOO_SMALL = "the picture is too small for regions to be told apart"
_AT_END = "something was replaced at once in the clip's first or last frames, with nothing to compare the moment with"


class Turnovers:
    """Collects what turned over, frame by frame; keeps no pictures."""

    signals: tuple[Signal, ...] = (
        Signal(
            name="turnover",
            unit="times",
            description=(
                "How much more abruptly than in the frames around it the strongest region was replaced, by what was "
                "nowhere near before, or of what is nowhere near now; 0 without one."
            ),
            gap=f"{_TOO_SMALL}, or {_AT_END}",
        ),
        Signal(
            name="turnover_came",
            of="turnover",
            unit="times",
            description="That strength for what is in the region now; alone, something came.",
        ),
        Signal(
            name="turnover_went",
            of="turnover",
            unit="times",
            description="That strength for what was in the region; alone, something went.",
        ),
        Signal(
            name="turnover_abrupt",
            of="turnover",
            unit="times",
            description="How much more the region is replaced than a frame before and after, whatever replaces it.",
        ),
        Signal(
            name="turnover_mobile_before",
            of="turnover",
            unit="of 1",
            description="How far its old colours are those of what moves in the clip, rather than of what rests.",
        ),
        Signal(
            name="turnover_mobile_now",
            of="turnover",
            unit="of 1",
            description="How far its new colours are those of what moves in the clip, rather than of what rests.",
        ),
        Signal(
            name="turnover_tint",
            of="turnover",
            unit="levels",
            description="How far the region's pixels differ from before by more than a shadow would make of them.",
        ),
        Signal(
            name="turnover_area",
            of="turnover",
            unit="of the view",
            description="Area of all regions that turned over in that frame.",
        ),
        Signal(
            name="turnover_moving",
            of="turnover",
            unit="levels",
            description="How much that place goes on changing in the two frames after, beyond the camera's motion.",
        ),
        Signal(
            name="turnover_left",
            of="turnover",
            unit="of 1",
            description="Share of the colours that were in that region which is still found around it.",
        ),
        Signal(
            name="turnover_found",
            of="turnover",
            unit="of 1",
            description="Share of the colours that are in that region now which was found around it before.",
        ),
        Signal(
            name="turnover_rim_before",
            of="turnover",
            unit="levels",
            description="How sharply the region was set off from its surroundings.",
        ),
        Signal(
            name="turnover_rim_now",
            of="turnover",
            unit="levels",
            description="How sharply the region is set off from its surroundings now.",
        ),
        Signal(
            name="turnover_known",
            of="turnover",
            unit="of 1",
            description=(
                "Share of its old colours which the picture still holds, or of its new ones which the picture held "
                "before, whichever is less."
            ),
        ),
        Signal(
            name="turnover_gained",
            of="turnover",
            unit="of 1",
            description="Share of its new colours of which the whole picture has more than before.",
        ),
        Signal(
            name="turnover_lost",
            of="turnover",
            unit="of 1",
            description="Share of its old colours of which the whole picture has less than before.",
        ),
        Signal(
            name="turnover_pair",
            of="turnover",
            unit="of 1",
            description="How alike what went from there, or came, and what came or went elsewhere in that frame are.",
        ),
        Signal(
            name="turnover_apart",
            of="turnover",
            unit="of the diagonal",
            description="How far apart the two are.",
        ),
        Signal(
            name="growth",
            unit="times",
            description=(
                "How abruptly something came, within three frames, into a place that rests before and after; in the "
                "first of them, and 0 without one."
            ),
            gap=f"{_TOO_SMALL}, or it is the clip's beginning or end",
        ),
        Signal(
            name="growth_fill",
            of="growth",
            unit="of its box",
            description="Area of that region, which is small where it is thin and slanted or branches.",
        ),
        Signal(
            name="stirred_usual",
            unit="of the view",
            description="Median over the clip of the share of the picture that changes beyond the camera's motion.",
        ),
        Signal(
            name="turnover_back",
            of="turnover",
            unit="of 1",
            description="How far the region undoes an earlier one: what went comes back, what came goes.",
        ),
    )

    def __init__(self) -> None:
        self._told: dict[int, tuple[Mapping[str, float], Box | None]] = {}
        self._grown: dict[int, tuple[Mapping[str, float], Box | None]] = {}
        self._stirred: list[float] = []
        self._colours = Moving()
        self._sides: dict[int, tuple[Colours, Colours]] = {}
        self._past: deque[tuple[int, Turnover]] = deque(maxlen=_MOST_REMEMBERED)

    def examine(self, changes: Sequence[Change], place: int) -> None:
        """Look into one of several changes in a row; called for each change of a clip in turn."""
        change = changes[place]
        self._colours.take(change)
        self._stirred.append(float((change.stirred > UNLIKE_LEVELS).mean()))
        moment = Moment.at(changes, place)
        if moment is not None:
            self._tell(change, tuple(turnovers(moment)))
        elif next(candidates(change), None) is None:
            self._tell(change, ())
        if 2 <= place < len(changes) - 2:
            self._tell_grown(change.number - 1, tuple(growths(changes, place)))

    def _tell(self, change: Change, found: Sequence[Turnover]) -> None:
        known = [one for frame, one in self._past if frame <= change.number - _SEPARATE_FRAMES]
        pair = echo(change, _strongest(found)) if found else (0.0, math.nan)
        self._told[change.number] = _values(found, known, pair), _strongest(found).box if found else None
        if found:
            self._sides[change.number] = _strongest(found).before, _strongest(found).now
        self._remember(change.number, found)

    def _mobile(self, frame: int) -> Mapping[str, float]:
        before, now = self._sides[frame]
        return {
            "turnover_mobile_before": self._colours.share(before),
            "turnover_mobile_now": self._colours.share(now),
        }

    def _tell_grown(self, frame: int, found: Sequence[Turnover]) -> None:
        largest = max(found, key=lambda one: one.came, default=None)
        if largest is None:
            self._grown[frame] = _NOT_GROWN, None
        else:
            self._grown[frame] = {"growth": largest.came, "growth_fill": largest.fill}, largest.box
        self._remember(frame, found)

    def _remember(self, frame: int, found: Sequence[Turnover]) -> None:
        self._past.extend((frame, one) for one in found if one.strength >= _REMEMBERED)

    def finish(self, frames: int) -> ViewSignals:
        """Series of so many frames; NaN where nothing was looked into."""
        names = tuple(signal.name for signal in self.signals)
        series = {name: np.full(frames, math.nan) for name in names}
        boxes: dict[str, dict[int, Box]] = {name: {} for name in names}
        # What moves is known when the clip is over: an arm's first fast move is not taken for a strange thing's.
        mobile = ((frame, (self._mobile(frame), self._told[frame][1])) for frame in self._sides)
        for frame, (values, box) in (*self._told.items(), *mobile, *self._grown.items()):
            for name, value in values.items():
                series[name][frame] = value
                if box is not None:
                    boxes[name][frame] = box
        if self._stirred:
            series["stirred_usual"][:] = float(np.median(self._stirred))
        return ViewSignals(series, boxes)


def _strongest(found: Sequence[Turnover]) -> Turnover:
    return max(found, key=lambda one: one.strength)


def _values(found: Sequence[Turnover], past: Sequence[Turnover], pair: tuple[float, float]) -> Mapping[str, float]:
    """The signals of one frame."""
    if not found:
        return _NOTHING
    strongest = _strongest(found)
    return {
        "turnover": strongest.strength,
        "turnover_came": strongest.came,
        "turnover_went": strongest.went,
        "turnover_abrupt": strongest.abrupt,
        "turnover_tint": strongest.tint,
        "turnover_area": sum(one.area for one in found),
        "turnover_moving": strongest.moving,
        "turnover_left": strongest.left,
        "turnover_found": strongest.found,
        "turnover_rim_before": strongest.rim_before,
        "turnover_rim_now": strongest.rim_now,
        "turnover_known": strongest.known,
        "turnover_gained": strongest.gained,
        "turnover_lost": strongest.lost,
        "turnover_pair": pair[0],
        "turnover_apart": pair[1],
        "turnover_back": max((_undone(one, strongest) for one in past), default=0.0),
    }


def _undone(past: Turnover, now: Turnover) -> float:
    """How alike what went then is to what came now, or what came then to what goes now."""
    back = likeness(past.before, now.now) if past.went > past.came / 2 and now.came > now.went / 2 else 0.0
    gone = likeness(past.now, now.before) if past.came > past.went / 2 and now.went > now.came / 2 else 0.0
    return max(back, gone)
