"""Regions that appear, vanish or jump from one frame to the next.

What an arm uncovers was behind it and what it covers is behind it now: one of the two directions of the flow
explains it. A region that neither direction explains, at the same place, has been replaced. That alone is common
(thin fingers, reflections, things too fast for the flow), so a region counts as a pop only if its place was at rest
before and is at rest after, as far as the camera allows, and so are its surroundings in the moment itself: nothing
that moves is near enough to explain it. Where such a region has neighbours that move, or no frames on both sides to
look at, whether it popped cannot be told in this way (NaN). Where there is no such region nothing popped (0). What
becomes of things in or near what moves is judged otherwise, in `turnover`, what single things do by themselves, slowly
too, in `tracks`, and whether all that moves gets ahead at once in `surges`.

Whether something appeared or vanished is a question of in which of the two frames the region stands out from its
surroundings: a thing does, a gap does not. A thing that vanishes here while one that looks the same appears there
has jumped.
"""

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence

import cv2
import numpy as np

from robogaze.core.events import Box
from robogaze.evidence.base import FrameView, Series, Signal, ViewSignals
from robogaze.evidence.optical_flow import UNLIKE_LEVELS, Change, Flow
from robogaze.evidence.region_change import Mask, Pop, best_pair, described, grown
from robogaze.evidence.series import running_median
from robogaze.evidence.signals.dropped_frames import Surges
from robogaze.evidence.signals.region_replacement import Turnovers

_AROUND = 2  # frames before and after, in which the place must rest
_LEAST_SIDE_PX = 64  # of the reduced picture: in a smaller one hardly a thing is as wide as the least region
_LEAST_AREA, _LARGEST_AREA = 0.0015, 0.1  # of the view: smaller is a highlight; of a larger one nothing is sure
_LEAST_RADIUS_PX = 2.5  # of the largest circle inside: thinner regions are slips of the flow along edges
_LEAST_FILL = 0.4  # of its bounding box
_BORDER = 0.03  # of the view's sides: things enter and leave there
_NEAR_PX, _BESIDE_PX = 2, 10  # the ring of surroundings that must rest
_STIRRED_SHARE = 0.4  # of the ring: the most that may stir in the moment itself (a shadow, the edge of the region)
_REST_SHARE = 0.05  # of the ring: the most that may stir in the frames around
_REST = 0.12  # of the region's own change: the most it may change in the frames around; moving things reach 0.19
_TREND_S = 1.0  # a rise against this is sudden
_PARTS = 3  # the picture's regions are a 3 x 3 grid
_LEAST_PART = 0.1  # of one of these, unexplained: fewer may be a thing on its border
_TOO_SMALL = "the picture is too small for regions to be told apart"
_UNSURE = "something changed at once there, at the clip's ends or beside what moves, and may be an effect of motion"


class Regions:
    """What motion does not explain: overall, and as single regions that pop."""

    signals: tuple[Signal, ...] = (
        Signal(
            name="unexplained",
            unit="of the view",
            description="Share of the picture that no motion explains from the frame before; after a cut, most of it.",
            gap=_TOO_SMALL,
        ),
        Signal(
            name="unexplained_rise",
            unit="of the view",
            description=f"That share beyond its median over {_TREND_S} s.",
            gap=_TOO_SMALL,
        ),
        Signal(
            name="unexplained_spread",
            unit="of the regions",
            description="Share of the picture's nine regions of which at least a tenth is unexplained.",
            gap=_TOO_SMALL,
        ),
        Signal(
            name="appeared",
            unit="of the view",
            description="Area of the largest compact region, in a place at rest, that stands out now and not before.",
            gap=_UNSURE,
        ),
        Signal(
            name="vanished",
            unit="of the view",
            description="Area of the largest compact region, in a place at rest, that stood out before and not now.",
            gap=_UNSURE,
        ),
        Signal(
            name="pop_contrast",
            unit="levels",
            description="How far such a region differs in colour from its surroundings, in 8-bit levels.",
        ),
        Signal(
            name="pair_similarity",
            unit="of 1",
            description="How alike, in colours and area, a vanished and an appeared region of a frame are; 0 without.",
            gap=_UNSURE,
        ),
        Signal(
            name="jump",
            unit="of the diagonal",
            description="How far apart the most alike pair of a vanished and an appeared region lies; 0 without one.",
            gap=_UNSURE,
        ),
        *Surges.signals,
        *Turnovers.signals,
    )

    def __init__(self) -> None:
        self._flow = Flow()
        self._before: FrameView | None = None
        self._recent: deque[Change] = deque(maxlen=2 * _AROUND + 1)
        self._times_s: list[float] = []
        self._unexplained: list[tuple[float, float]] = []
        self._pops: dict[int, tuple[Pop, ...]] = {}
        self._surges = Surges()
        self._turnovers = Turnovers()

    def update(self, look: FrameView) -> None:
        """Take the next frame."""
        before, self._before = self._before, look
        self._times_s.append(look.time_s)
        if before is None or min(look.small_gray.shape) < _LEAST_SIDE_PX:
            self._unexplained.append((math.nan, math.nan))
            return
        self._recent.append(self._flow.between(before, look))
        self._unexplained.append(_shares(self._recent[-1].replaced > UNLIKE_LEVELS))
        if len(self._recent) > _AROUND:
            self._examine(len(self._recent) - 1 - _AROUND)

    def _examine(self, place: int) -> None:
        """Look for pops in one of the recent changes, beside those that lie around it."""
        change = self._recent[place]
        around = [
            other for other in self._recent if other is not change and abs(other.number - change.number) <= _AROUND
        ]
        self._pops[change.number] = tuple(_pops(change, around))
        self._surges.examine(self._recent, place)
        self._turnovers.examine(self._recent, place)

    def finish(self) -> ViewSignals:
        """Series of all frames; NaN at the first one, and in pictures under 64 px.

        Pops, pairs and jumps are NaN, too, where a region is neither surely one nor surely none; a contrast is NaN
        without a region.
        """
        for place in range(max(0, len(self._recent) - _AROUND), len(self._recent)):
            self._examine(place)
        unexplained, spread = np.array(self._unexplained, dtype=np.float64).T
        trend = running_median(unexplained, np.array(self._times_s), _TREND_S)
        series: dict[str, Series] = {
            "unexplained": unexplained,
            "unexplained_rise": unexplained - trend,
            "unexplained_spread": spread,
        }
        names = ("appeared", "vanished", "pop_contrast", "pair_similarity", "jump")
        series.update({name: np.full(len(unexplained), math.nan) for name in names})
        boxes: dict[str, dict[int, Box]] = {name: {} for name in names}
        for frame, pops in self._pops.items():
            for name, (value, box) in _values(pops).items():
                series[name][frame] = value
                if box is not None:
                    boxes[name][frame] = box
        frames = len(unexplained)
        parts = (
            self._surges.finish(np.array(self._times_s)),
            self._turnovers.finish(frames),
        )
        for part in parts:
            series.update(part.series)
            boxes.update(part.boxes)
        return ViewSignals(series, boxes)


def _shares(unexplained: Mask) -> tuple[float, float]:
    """Of the view, and of its regions."""
    parts = [part for rows in np.array_split(unexplained, _PARTS) for part in np.array_split(rows, _PARTS, axis=1)]
    return float(unexplained.mean()), float(np.mean([part.mean() >= _LEAST_PART for part in parts]))


def _values(pops: Sequence[Pop]) -> Mapping[str, tuple[float, Box | None]]:
    """The signals of one frame, each with the region it belongs to."""
    old_ones, new_ones = ([pop for pop in pops if pop.appeared == appeared] for appeared in (False, True))
    values = {"appeared": _largest(new_ones), "vanished": _largest(old_ones)}
    if sure := [pop for pop in pops if pop.sure]:
        strongest = max(sure, key=lambda pop: pop.contrast)
        values["pop_contrast"] = (strongest.contrast, strongest.box)
    pair = best_pair(pops)
    if pair is not None:
        return {**values, "pair_similarity": (pair.similarity, pair.now.box), "jump": (pair.distance, pair.now.box)}
    none = (math.nan if old_ones and new_ones else 0.0, None)
    return {**values, "pair_similarity": none, "jump": none}


def _largest(pops: Sequence[Pop]) -> tuple[float, Box | None]:
    """The area of the largest sure one; NaN where there are only others, 0 where there is none at all."""
    sure = max((pop for pop in pops if pop.sure), key=lambda pop: pop.area, default=None)
    if sure is not None:
        return sure.area, sure.box
    return (math.nan if pops else 0.0), None


def _pops(change: Change, around: Sequence[Change]) -> Iterator[Pop]:
    """The compact regions of a change that one of the two frames shows and the other does not."""
    height, width = change.replaced.shape
    mask = (change.replaced > UNLIKE_LEVELS).astype(np.uint8)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=4)
    for label in range(1, count):
        left, top, wide, high, area = (int(value) for value in stats[label])
        box = Box(left=left / width, top=top / height, right=(left + wide) / width, bottom=(top + high) / height)
        share = area / mask.size
        small = share <= _LARGEST_AREA
        if share < _LEAST_AREA or area < _LEAST_FILL * wide * high or (small and _at_border(box)):
            continue
        region = labels == label
        if _radius(region) >= _LEAST_RADIUS_PX:
            sure = small and len(around) == 2 * _AROUND and _at_rest(region, change, around)
            pop = described(region, change.before, change.now, box, sure)
            if pop is not None:
                yield pop


def _at_border(box: Box) -> bool:
    return min(box.left, box.top) < _BORDER or max(box.right, box.bottom) > 1 - _BORDER


def _radius(region: Mask) -> float:
    """Of the largest circle inside, in pixels."""
    return float(cv2.distanceTransform(region.astype(np.uint8), cv2.DIST_L2, 3).max())


def _at_rest(region: Mask, change: Change, around: Sequence[Change]) -> bool:
    """The region is quiet before and after, and what surrounds it is quiet throughout."""
    own = float(change.replaced[region].mean())
    ring = grown(region, _BESIDE_PX) & ~grown(region, _NEAR_PX)
    if _stirred(change, ring) > _STIRRED_SHARE:
        return False
    return all(
        _stirred(other, ring) <= _REST_SHARE and float(other.stirred[region].mean()) < _REST * own for other in around
    )


def _stirred(change: Change, where: Mask) -> float:
    """Share of a place that changed by more than the camera explains."""
    return float((change.stirred[where] > UNLIKE_LEVELS).mean())
