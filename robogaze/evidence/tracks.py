"""Things followed through a clip by flow and appearance: what each does by itself, as series.

A frame's segments are paired with those of the frame before: where the flow takes them, and with about the same area
and tone. What has no pair was born, or died, if its place changed at that moment (what is only outlined otherwise did
neither). That is explained by the picture's edge, by something that moves there, or by nothing.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.core.events import Box
from robogaze.evidence.base import Signal, ViewSignals
from robogaze.evidence.flow import FLOW_STEP, UNLIKE_LEVELS, Change, Field
from robogaze.evidence.nearby_motion import Beside, joined
from robogaze.evidence.segments import Point, Segment, Tones, box_of, segments, tones
from robogaze.evidence.track import Track

_NEAR, _FAR = 0.8, 2.0  # times its size: how far from where it should be a thing is looked for; and one just alike
_LATER = 0.1  # times its size, more for each frame in which it was not seen
_FORGOTTEN = 6  # frames unseen
_TONE_UNIT = 40.0  # levels, worth as much as its own size or a factor of e in area
_LARGEST_COST, _LARGEST_STEP = 1.6, 0.7  # of the sum of the three; of the area alone
_JUST_ALIKE = 0.3  # of area and of tone, each
_MOVED_PX = 0.7
_CHANGED = 0.5  # of its pixels
_LEAST_SEEN = 3  # frames: what was not seen longer did not die
_LEAST_LEAP = 0.03  # of the diagonal: what is nearer moved
_PART = 0.2  # of the whole: the least that is a part of it
_MOST_STIRRED = 0.4  # of the view
_FASTEST_PX = 1.0  # by which the camera moves in a frame
_LIT_LEVELS, _LIT_STEP_PX = 4.0, 8  # of luma, of every so many pixels: by more than 15 % a lamp was switched
_UNSURE = (
    "the picture is too small for things to be told apart, the camera moves too fast, or most of the picture or its "
    "light changes at once"
)
_EXPLAINED = {
    "": "where nothing explains it",
    "_at_edge": "at the picture's edge",
    "_beside": "where something larger moves",
}


def _signal(name: str, unit: str, description: str, of: str = "") -> Signal:
    return Signal(name=name, unit=unit, description=description, gap=_UNSURE, of=of)


class Tracks:
    """Follows things, frame by frame; keeps the tones of one picture, and the outlines of its things."""

    signals: tuple[Signal, ...] = (
        *(
            _signal(
                f"thing_{name}{suffix}",
                "of the view",
                f"Area of the largest thing that {told}, {where}; 0 without.",
                of=f"thing_{name}" if suffix else "",
            )
            for name, told in (("born", "comes to be seen"), ("died", "is seen no more"))
            for suffix, where in _EXPLAINED.items()
        ),
        _signal(
            "thing_leap",
            "of the diagonal",
            "How far from its place a thing that is seen no more is at once seen again; 0 without one.",
        ),
        _signal(
            "thing_split",
            "of the diagonal",
            "How far two parts of what was one thing came apart, with nothing that moves beside them; 0 without.",
        ),
        _signal(
            "thing_colour",
            "levels",
            "How far a thing at rest slowly came from its colour by more than light makes of it; 0 without one.",
        ),
        _signal(
            "thing_size",
            "times, minus 1",
            "By what factor a thing that nothing touches slowly grew or shrank, minus 1; 0 without one.",
        ),
        _signal(
            "thing_shape",
            "times, minus 1",
            "By what factor a thing that nothing touches was slowly stretched one way, minus 1; 0 without one.",
        ),
        _signal(
            "thing_shift",
            "of the diagonal",
            "How far a thing moved from rest, other than down, with nothing that moves beside it; 0 without one.",
        ),
        _signal(
            "thing_rise",
            "of the diagonal",
            "How far a thing came up since nothing that moves is beside it; 0 without one.",
        ),
        _signal(
            "thing_return",
            "of the diagonal",
            "How far a thing that came up so has come down again; 0 without one.",
            of="thing_rise",
        ),
    )

    def __init__(self) -> None:
        self._tones: Tones | None = None
        self._tracks: list[Track] = []
        self._camera: Point = np.zeros(2)
        self._told: dict[int, Mapping[str, tuple[float, Box | None]]] = {}

    def follow(self, change: Change) -> None:
        """Go on to the next frame; called for each change of a clip in turn."""
        if self._tones is None:
            self._tones = tones(change.before)
            self._tracks = [Track(one) for one in segments(change.before, self._tones)]
        before, self._tones = self._tones, tones(change.now)
        found = segments(change.now, self._tones)
        camera = np.median(change.flow.reshape(-1, 2), axis=0).astype(np.float64)
        stirred = float((change.stirred > UNLIKE_LEVELS).mean())
        if stirred > _MOST_STIRRED or np.hypot(*camera) > _FASTEST_PX or _lit(before, self._tones) > _LIT_LEVELS:
            self._tracks = [Track(one) for one in found]
            return
        self._camera = self._camera + camera
        self._told[change.number] = self._step(found, change, Beside(change, before, self._tones))

    def _step(self, found: Sequence[Segment], change: Change, beside: Beside) -> Mapping[str, tuple[float, Box | None]]:
        """What the things do from a frame to the next."""
        expected = _expected(self._tracks, change.flow)
        pairs = _paired(self._tracks, expected, found)
        new_ones = [one for place, one in enumerate(found) if place not in set(pairs.values())]
        going_on = [(self._tracks[number], found[place]) for number, place in pairs.items()]
        fresh = [Track(one, _whole(one, going_on)) for one in new_ones]
        best = _Best(change.now.shape)
        lost = []
        for number, track in enumerate(self._tracks):
            old = track.segment
            if number in pairs:
                new = found[pairs[number]]
                alone = _alone(track, new, expected[number], beside)
                best.take(track.follow(new, self._camera, alone), new)
                continue
            if track.missed == 0 and track.seen >= _LEAST_SEEN and beside.share_changed(old.part, old.mask) > _CHANGED:
                lost.append(old)
            track.miss(beside.touches(old.part, old.size))
        came = [one for one in new_ones if beside.share_changed(one.part, one.mask) > _CHANGED]
        best.pairs(lost, came, beside)
        self._tracks = [*(track for track in self._tracks if track.missed <= _FORGOTTEN), *fresh]
        return best.values

    def finish(self, frames: int) -> ViewSignals:
        """Series of so many frames; NaN in the first one, and where things cannot be followed."""
        names = tuple(signal.name for signal in self.signals)
        series = {name: np.full(frames, math.nan) for name in names}
        boxes: dict[str, dict[int, Box]] = {name: {} for name in names}
        for frame, values in self._told.items():
            for name in names:
                series[name][frame], box = values.get(name, (0.0, None))
                if box is not None:
                    boxes[name][frame] = box
        return ViewSignals(series, boxes)


class _Best:
    """Of each signal the largest value in a frame, with its place; without an entry it is 0."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._shape = shape
        self._diagonal, self._pixels = math.hypot(*shape[:2]), shape[0] * shape[1]
        self.values: dict[str, tuple[float, Box | None]] = {}

    def take(self, told: Mapping[str, float], segment: Segment) -> None:
        """What one thing does; lengths are in pixels."""
        for name, value in told.items():
            long = name in ("thing_shift", "thing_rise", "thing_return", "thing_split")
            self._keep(name, value / self._diagonal if long else value, segment)

    def pairs(self, lost: Iterable[Segment], came: Iterable[Segment], beside: Beside) -> None:
        """What died and what was born; what did both at once leapt, or only moved."""
        gone = {one: _explained(one, beside) for one in lost}
        new = {one: _explained(one, beside) for one in came}
        for old in tuple(gone):
            like = min((one for one in new if _alike(old, one)), key=lambda one: _apart(old, one), default=None)
            if like is None:
                continue
            far = _apart(old, like) / self._diagonal
            if far >= _LEAST_LEAP and "" in (gone[old], new[like]):
                self._keep("thing_leap", far, like)
            del gone[old], new[like]
        for name, found in (("thing_died", gone), ("thing_born", new)):
            for one, suffix in found.items():
                self._keep(name + suffix, one.area / self._pixels, one)

    def _keep(self, name: str, value: float, segment: Segment) -> None:
        if value > self.values.get(name, (0.0, None))[0]:
            self.values[name] = (value, box_of(segment.part, self._shape))


def _lit(before: Tones, now: Tones) -> float:
    """How much the luma of most of the picture changed, in levels of tone."""
    one, other = (tone[::_LIT_STEP_PX, ::_LIT_STEP_PX, 3] for tone in (before, now))
    return float(np.median(cv2.absdiff(one, other)))


def _expected(tracks: Sequence[Track], flow: Field) -> NDArray[np.float64]:
    """Where the flow takes the middle of each."""
    if not tracks:
        return np.zeros((0, 2))
    centres = np.array([track.segment.centre for track in tracks])
    right, down = (centres / FLOW_STEP).astype(np.intp).T
    went = flow[np.minimum(down, flow.shape[0] - 1), np.minimum(right, flow.shape[1] - 1)]
    return np.asarray(centres + went, dtype=np.float64)


def _paired(tracks: Sequence[Track], expected: NDArray[np.float64], found: Sequence[Segment]) -> dict[int, int]:
    """Which track is which segment now: the cheapest pairs first."""
    if not (tracks and found):
        return {}
    olds = [track.segment for track in tracks]
    centres, places = (np.array([one.centre for one in group]) for group in (olds, found))
    sizes = np.array([one.size for one in olds])[:, None]
    away = [np.hypot(*(places[None] - start[:, None]).transpose(2, 0, 1)) for start in (expected, centres)]
    distance = np.minimum(*away) / sizes
    step = np.abs(np.log(np.array([one.area for one in found])[None] / sizes**2))
    tone = np.array([one.tone for one in found])[None] - np.array([one.tone for one in olds])[:, None]
    unlike = np.abs(tone).max(axis=2) / _TONE_UNIT
    cost = distance + step + unlike
    later = np.array([track.missed for track in tracks])[:, None]
    near = (distance < _NEAR + _LATER * later) & (step < _LARGEST_STEP) & (cost < _LARGEST_COST)
    alike = (distance < _FAR) & (step < _JUST_ALIKE) & (unlike < _JUST_ALIKE)
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    rows, columns = np.nonzero(near | alike)
    for place in np.argsort(cost[rows, columns], kind="stable"):
        old, new = int(rows[place]), int(columns[place])
        if old not in pairs and new not in taken:
            pairs[old] = new
            taken.add(new)
    return pairs


def _alone(track: Track, new: Segment, expected: Point, beside: Beside) -> bool:
    """Whether nothing that moves is beside a thing."""
    old = track.segment
    both = joined(old.part, new.part)
    moved = new.centre - old.centre
    if new.at_side:
        return False
    if np.hypot(*moved) <= _MOVED_PX:
        return not beside.touches(both, old.size)
    astray = min(math.dist(new.centre, expected), math.dist(new.centre, old.centre)) > _NEAR * old.size
    return (
        track.missed == 0 and not astray and not beside.sweeps(both, old.size) and not beside.carries(old.part, moved)
    )


def _explained(one: Segment, beside: Beside) -> str:
    """The end of the signal's name that says what explains that a thing was born or died."""
    if one.at_side:
        return "_at_edge"
    return "_beside" if beside.sweeps(one.part, one.size) else ""


def _whole(part: Segment, going_on: Iterable[tuple[Track, Segment]]) -> Track | None:
    """What a new segment was a part of, of the tracks and what they are now; None without such a thing."""
    for track, rest in going_on:
        whole = track.segment
        left, top, right, bottom = whole.part
        within = left <= part.centre[0] < right and top <= part.centre[1] < bottom
        kept = abs(math.log((part.area + rest.area) / whole.area)) < _JUST_ALIKE
        if within and kept and part.area >= _PART * whole.area and _same_tone(whole, part):
            return track
    return None


def _alike(one: Segment, other: Segment) -> bool:
    return abs(math.log(one.area / other.area)) < _JUST_ALIKE and _same_tone(one, other)


def _same_tone(one: Segment, other: Segment) -> bool:
    return float(np.abs(one.tone - other.tone).max()) < _JUST_ALIKE * _TONE_UNIT


def _apart(one: Segment, other: Segment) -> float:
    return float(np.hypot(*(one.centre - other.centre)))
