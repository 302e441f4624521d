"""Regions that are replaced from one frame to the next, compared with the frames before and after.

A region need not be at rest before and after the change, because nothing near a moving object is at rest. Instead, the
change must differ from the changes one frame earlier and one frame later. A region is replaced if three conditions
hold, each of them measured as a number:

- the place changes far more in this frame than in the frames before and after (an object that is too fast for the flow
  changes the place for several frames);
- the old content disappeared (a frame earlier it was already there, and now it is not nearby), or the new content
  appeared (it was not nearby before, and a frame later it is still there);
- in the surroundings, which include the region, the new colours become more frequent or the old colours less frequent.
  Content that moves or turns, or that is matched wrongly, does not change how frequent the colours are. New colours
  that were not nearby at all count twice; old colours of which nothing is left nearby count three times.

An object that appears and moves on at once is no longer in its place a frame later. Therefore, if the place was at rest
and its old content is still around it, the later frame is not considered.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import cv2
import numpy as np

from robogaze.core.events import Box
from robogaze.evidence.colours import Histogram, RegionColours, colour_change, histogram, overlap
from robogaze.evidence.optical_flow import DIFFERENT_LEVELS, Change, Mask, dilated
from robogaze.media.decode import Image

_REPLACED_LEVELS = 40  # a replaced region differs by this much; failures of the flow at moving edges mostly by less
_LEAST_AREA, _LARGEST_AREA = 0.0008, 0.12  # of the view
_LEAST_RADIUS_PX = 2.0  # of the largest circle inside
_BORDER = 0.02  # of the longer side: objects enter and leave there
_STANDS_OUT = 1.5  # times the change of the place one frame before and after: less is not examined
_USUAL_LEVELS = 8.0  # the difference that compression and noise leave
_NEAR = 0.06  # of the diagonal: how far an object may move within a frame
_MOST_TIMES = 6.0  # beyond this a better search result makes no difference
_HIDDEN_AT_ONCE = 0.6  # of its width: what moves this far in a frame can be covered, or uncovered, within one
_FULL_AREA = 0.003  # of the view: smaller regions count less, in proportion
_REST_FOUND = 20.0  # levels: the difference at which the old content of a place at rest still counts as nearby
_ALL_LEFT = 0.88  # of its colours: then nothing disappeared, something came in front of it
_LEAST_COUNTERPART = 0.0006  # of the view: partly hidden, an object that jumped is small
_LEAST_APART = 0.03  # of the diagonal
_EDGE_PX = 5  # the border of a region is known to two pixels


@dataclass(frozen=True)
class ReplacedRegion:
    """A region that is replaced from one frame to the next.

    `appeared` says how strongly the new content appeared, and `disappeared` how strongly the old content disappeared.
    Each of these strengths is the product of abruptness, novelty and the share of the colours. `abruptness` compares
    the change of the place with its change a frame earlier and a frame later; it is the smaller of the two ratios.
    `motion_after` is the change of the place in the next two frames, in levels, beyond the camera's motion. `old_near`
    is the share of the old colours that are still nearby. `new_near` is the share of the new colours that were already
    nearby before. `edge_before` and `edge_now` are the contrast with the surroundings, in levels. `known` is the
    smaller of two shares: the share of the old colours that the picture still has, and the share of the new colours
    that the picture had before. `gained` is the share of the new colours that have become more frequent in the picture;
    `lost` is the share of the old colours that have become less frequent. `colour_change` is the mean difference of the
    pixels beyond what a shadow explains, in levels.
    """

    box: Box
    centre: tuple[float, float]
    area: float
    appeared: float
    disappeared: float
    abruptness: float
    motion_after: float
    old_near: float
    new_near: float
    edge_before: float
    edge_now: float
    known: float
    gained: float
    lost: float
    colour_change: float
    before: Histogram
    now: Histogram

    @property
    def strength(self) -> float:
        """The larger of the two strengths."""
        return max(self.appeared, self.disappeared)


@dataclass(frozen=True)
class Moment:
    """A change, the change before it, and the changes one and two frames after it. `latest`, the last of them, is None
    at the end of the clip.
    """

    earlier: Change
    change: Change
    later: Change
    latest: Change | None

    @cached_property
    def whole(self) -> tuple[Histogram, Histogram]:
        """The colours of the whole picture before and now."""
        return histogram(self.change.before), histogram(self.change.now)

    @classmethod
    def at(cls, changes: Sequence[Change], place: int) -> Self | None:
        """The moment of the change at position `place` of consecutive changes. None for the first and the last change,
        which lack a neighbour.
        """
        if not 0 < place < len(changes) - 1:
            return None
        latest = changes[place + 2] if place + 2 < len(changes) else None
        return cls(changes[place - 1], changes[place], changes[place + 1], latest)


def candidates(change: Change) -> Iterator[tuple[Mask, Box]]:
    """The compact regions whose content changes strongly in a way that no motion explains."""
    return _compact(change.replaced > _REPLACED_LEVELS, _LEAST_AREA, connectivity=4)


def replaced_regions(moment: Moment) -> Iterator[ReplacedRegion]:
    """The measurements of each candidate that changes clearly more in this frame than one frame earlier or one frame
    later.
    """
    for region, box in candidates(moment.change):
        place = dilated(region, 2)
        own = float(moment.change.replaced[region].mean())
        earlier, later = (float(change.replaced[place].mean()) for change in (moment.earlier, moment.later))
        since, until = own / (_USUAL_LEVELS + earlier), own / (_USUAL_LEVELS + later)
        if max(since, until) >= _STANDS_OUT:
            yield _measured(moment, region, box, since, until)


def counterpart_similarity(change: Change, region: ReplacedRegion) -> float:
    """How similar a region's content is to content that changes the opposite way elsewhere in the frame, from 0 to 1.
    Content that disappeared is compared with content that appears; content that appeared is compared with content that
    disappears.

    For content that disappeared, the similarity is the match of its colours with the other place after the change,
    minus the match with the other place before the change. For content that appeared, it is the reverse. The similarity
    is 0 if there is no counterpart.
    """
    best = 0.0
    for other, _ in _compact(change.replaced > DIFFERENT_LEVELS, _LEAST_COUNTERPART):
        if math.dist(region.centre, _centre(other)) < _LEAST_APART:
            continue
        core = _core(other)
        before, now = (
            histogram(image, core) / np.float32(np.count_nonzero(core)) for image in (change.before, change.now)
        )
        if region.disappeared > 0:
            best = max(best, overlap(region.before, now) - overlap(region.before, before))
        if region.appeared > 0:
            best = max(best, overlap(region.now, before) - overlap(region.now, now))
    return best


def _compact(mask: Mask, least_area: float, connectivity: int = 8) -> Iterator[tuple[Mask, Box]]:
    """The connected parts of a mask that are away from the picture's border, without thin strips along edges."""
    height, width = mask.shape
    count, labels, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=connectivity)
    for label in range(1, count):
        left, top, wide, high, area = (int(value) for value in stats[label])
        inside = min(left, top, width - left - wide, height - top - high) > _BORDER * max(height, width)
        if not (inside and least_area <= area / mask.size <= _LARGEST_AREA):
            continue
        region = labels == label
        if cv2.distanceTransform(region.astype(np.uint8), cv2.DIST_L2, 3).max() >= _LEAST_RADIUS_PX:
            box = Box(left=left / width, top=top / height, right=(left + wide) / width, bottom=(top + high) / height)
            yield region, box


def _measured(moment: Moment, region: Mask, box: Box, since: float, until: float) -> ReplacedRegion:
    """The measurements of a region that changes `since` times more than a frame earlier and `until` times more than a
    frame later.
    """
    change, core = moment.change, _core(region)
    reach = max(8, round(_NEAR * float(np.hypot(*region.shape))))
    pixels = np.count_nonzero(core)
    colours = RegionColours.of(change, moment.whole, core, _near(region, reach))
    border = dilated(region, 1) & ~core
    size = min(1.0, float(region.mean()) / _FULL_AREA)
    new_before, _ = _search(change.now, change.before, core, reach)
    new_after, leaves = _search(change.now, moment.later.now, core, reach)
    old_now, _ = _search(change.before, change.now, core, reach)
    old_before, arrived = _search(change.before, moment.earlier.before, core, reach)
    abruptness, width = size * min(since, until), math.sqrt(np.count_nonzero(region))
    appeared = abruptness * colours.gained_near * (2 - colours.new_near) * _times(new_before, new_after)
    at_rest = size * since * colours.gained_near * _times(new_before, 0.0) if colours.old_near > _ALL_LEFT else 0.0
    at_rest /= (1 + old_now / _REST_FOUND) * (1 + float(moment.earlier.moving[region].mean()) / _USUAL_LEVELS)
    disappeared = abruptness * colours.lost_near * (3 - 2 * colours.old_near) * _times(old_now, old_before)
    after = [later for later in (moment.later, moment.latest) if later is not None]
    return ReplacedRegion(
        box=box,
        centre=_centre(region),
        area=float(region.mean()),
        appeared=max(appeared, at_rest) if leaves < _HIDDEN_AT_ONCE * width else 0.0,
        disappeared=disappeared if arrived < _HIDDEN_AT_ONCE * width else 0.0,
        abruptness=min(since, until),
        motion_after=max(float(later.moving[region].mean()) for later in after),
        old_near=colours.old_near,
        new_near=colours.new_near,
        edge_before=_edge_contrast(change.before, border),
        edge_now=_edge_contrast(change.now, border),
        known=colours.known,
        gained=colours.gained,
        lost=colours.lost,
        colour_change=colour_change(change.before[core], change.now[core]),
        before=colours.before / np.float32(pixels),
        now=colours.now / np.float32(pixels),
    )


def _centre(region: Mask) -> tuple[float, float]:
    """The centre in diagonals from the upper left corner."""
    down, right = np.argwhere(region).mean(axis=0) / math.hypot(*region.shape)
    return float(right), float(down)


def _times(absent: float, present: float) -> float:
    """The ratio of two differences of a region: its difference where it should be absent, divided by its difference
    where it should be present; at most 6.
    """
    return min(_MOST_TIMES, absent / (_USUAL_LEVELS + present))


def _search(image: Image, other: Image, core: Mask, reach: int) -> tuple[float, float]:
    """The best match of a region nearby in another picture: its difference in levels, and its distance in pixels."""
    rows, columns = np.flatnonzero(core.any(axis=1)), np.flatnonzero(core.any(axis=0))
    top, left = max(0, rows[0] - reach), max(0, columns[0] - reach)
    inner = image[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    weights = np.dstack([core[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].astype(np.uint8)] * 3)
    outer = other[top : rows[-1] + 1 + reach, left : columns[-1] + 1 + reach]
    squares = cv2.matchTemplate(outer, inner, cv2.TM_SQDIFF, mask=weights)
    least, _, (right, down), _ = cv2.minMaxLoc(squares)
    distance = math.hypot(left + right - columns[0], top + down - rows[0])
    return math.sqrt(max(0.0, least) / np.count_nonzero(weights)), distance


def _core(region: Mask) -> Mask:
    """The region without its border, where old and new content are mixed; a very thin region is returned unchanged."""
    core = cv2.erode(region.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    return core if np.count_nonzero(core) >= 12 else region


def _edge_contrast(image: Image, border: Mask) -> float:
    """The mean contrast along a border, in levels; at a pixel, the largest difference nearby in any colour channel."""
    rows, columns = np.flatnonzero(border.any(axis=1)), np.flatnonzero(border.any(axis=0))
    part = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    steps = cv2.morphologyEx(image[part], cv2.MORPH_GRADIENT, np.ones((_EDGE_PX, _EDGE_PX), np.uint8))
    return float(steps.max(axis=2)[border[part]].mean())


def _near(region: Mask, reach: int) -> Mask:
    """The region's bounding box, extended by the reach on each side."""
    rows, columns = np.flatnonzero(region.any(axis=1)), np.flatnonzero(region.any(axis=0))
    near = np.zeros_like(region)
    near[max(0, rows[0] - reach) : rows[-1] + 1 + reach, max(0, columns[0] - reach) : columns[-1] + 1 + reach] = True
    return near
