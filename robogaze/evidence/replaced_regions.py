"""One region that was replaced from a frame to the next, judged against its own past and future.

Beside what moves nothing rests, so rest cannot be asked for. What can be asked is whether the moment stands out. Three
things must go together for a region to have turned over, and each is a number:

- the place is replaced far more in this frame than in the frames before and after (what moves too fast for the flow
  does so for several frames);
- what was there cannot be found anywhere near now, although a frame earlier it could (so it went), or what is there
  now could not be found anywhere near before, although a frame later it can (so it came);
- the colours of all that is around have changed by as much: what was moved or turned, or is found wrongly, leaves
  them as they were. Colours that nothing around has at all count twice or three times.

What comes into a place at rest and moves on is not found a frame later either. There the past alone is asked: the
place was at rest, and what was there is still all around it.

What grows or shrinks within three frames is looked at over these three together, where the place rests before and
after them and is replaced all over in one of them; what moves through does so bit by bit.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import cv2
import numpy as np

from robogaze.core.events import Box
from robogaze.evidence.colours import Colours, Sides, colours, likeness, tint
from robogaze.evidence.optical_flow import UNLIKE_LEVELS, Change
from robogaze.evidence.region_change import Mask, grown
from robogaze.media.decode import Image

_REPLACED_LEVELS = 40  # what pops differs by this much; failures of the flow at moving edges mostly by less
_LEAST_AREA, _LARGEST_AREA = 0.0008, 0.12  # of the view
_LEAST_RADIUS_PX = 2.0  # of the largest circle inside
_BORDER = 0.02  # of the longer side: things enter and leave there
_STANDS_OUT = 1.5  # times what the place is replaced by a frame before and after: less is not looked into
_USUAL_LEVELS = 8.0  # what compression and noise leave of a difference: smaller ones are not told from nothing
_NEAR = 0.06  # of the diagonal: how far a thing may move within a frame
_NEW_AT_MOST = 6.0  # times: beyond this no search result is any better
_HIDDEN_AT_ONCE = 0.6  # of its own width: what moves so far in a frame can be covered, or uncovered, within one
_WHOLE_AREA = 0.003  # of the view: smaller regions count less, in proportion
_REST_FOUND = 20.0  # levels: how well what was in a place at rest is found beside it, at a plain or grained ground
_ALL_LEFT = 0.88  # of its colours: then nothing went, something came before it
_LEAST_ECHO_AREA = 0.0006  # of the view: partly hidden, what jumped is small
_LEAST_APART = 0.03  # of the diagonal
_RIM_PX = 5  # where a region ends is known to two pixels

_GROWN_LEVELS = 25  # over three frames a thin thing is replaced by at least this
_LEAST_GROWN_AREA = 0.002  # of the view
_REST_LEVELS = 3.0  # the most that a place at rest changes
_PASSING = 0.3  # of its surroundings: the most that may stir meanwhile; else something came by and stopped
_AT_ONCE = 0.9  # of all that is replaced in three frames: the least that must be in one of them


@dataclass(frozen=True)
class Turnover:
    """A region replaced at once.

    `came` and `went` are strengths, in times (abruptness, novelty and share of the colours, multiplied): of what is
    there now, and of what was there. `abrupt` is how many times more the place is replaced than a frame before and a
    frame later, whichever is less. `fill` is the region's share of its box. `moving` is how much the place changes in
    the two frames after, in levels, beyond what the camera explains. `left` is the share of the old region's colours
    that is still found around it, `found` that of the new ones which was found there before. `rim_before` and `rim_now`
    say how sharply it is set off from its surroundings, in levels. `known` is the smaller of two shares of the whole
    picture: of the old colours it still holds, of the new ones it held before. `gained` and `lost` are the shares of
    its new colours of which the picture has more, and of its old ones of which it has less. `tint` is how far its
    pixels differ beyond what a shadow makes of them.
    """

    box: Box
    centre: tuple[float, float]
    area: float
    fill: float
    came: float
    went: float
    abrupt: float
    moving: float
    left: float
    found: float
    rim_before: float
    rim_now: float
    known: float
    gained: float
    lost: float
    tint: float
    before: Colours
    now: Colours

    @property
    def strength(self) -> float:
        """The larger one."""
        return max(self.came, self.went)


@dataclass(frozen=True)
class Moment:
    """A change with the changes before and after it, and the one after those where there is one."""

    earlier: Change
    change: Change
    later: Change
    latest: Change | None

    @cached_property
    def whole(self) -> tuple[Colours, Colours]:
        """The colours of the whole picture before and now."""
        return colours(self.change.before), colours(self.change.now)

    @classmethod
    def at(cls, changes: Sequence[Change], place: int) -> Self | None:
        """The moment of one of several changes in a row; None for the first and the last."""
        if not 0 < place < len(changes) - 1:
            return None
        latest = changes[place + 2] if place + 2 < len(changes) else None
        return cls(changes[place - 1], changes[place], changes[place + 1], latest)


def candidates(change: Change) -> Iterator[tuple[Mask, Box]]:
    """The compact regions that are strongly replaced in a change."""
    return _compact(change.replaced > _REPLACED_LEVELS, _LEAST_AREA, connectivity=4)


def _compact(mask: Mask, least_area: float, connectivity: int = 8) -> Iterator[tuple[Mask, Box]]:
    """The parts of a mask that are no slips along edges, away from the picture's sides."""
    height, width = mask.shape
    count, labels, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=connectivity)
    for label in range(1, count):
        left, top, wide, high, area = (int(value) for value in stats[label])
        inside = min(left, top, width - left - wide, height - top - high) > _BORDER * max(height, width)
        if inside and least_area <= area / mask.size <= _LARGEST_AREA:
            region = labels == label
            if cv2.distanceTransform(region.astype(np.uint8), cv2.DIST_L2, 3).max() >= _LEAST_RADIUS_PX:
                yield (
                    region,
                    Box(left=left / width, top=top / height, right=(left + wide) / width, bottom=(top + high) / height),
                )


def turnovers(moment: Moment) -> Iterator[Turnover]:
    """The candidates of a moment that stand out from the frames around it."""
    for region, box in candidates(moment.change):
        yield from _turned(moment, region, box)


def growths(changes: Sequence[Change], place: int) -> Iterator[Turnover]:
    """What turned over in three changes together, the middle one given; none without two on either side."""
    if not 2 <= place < len(changes) - 2:
        return
    earlier, first, middle, last, later = (changes[place + step] for step in range(-2, 3))
    replaced = np.maximum(np.maximum(first.replaced, middle.replaced), last.replaced)
    stirred = np.maximum(earlier.stirred, later.stirred)
    moment = Moment(earlier, replace(middle, before=first.before, now=last.now, replaced=replaced), later, None)
    for region, box in _compact((replaced > _GROWN_LEVELS) & (stirred < UNLIKE_LEVELS), _LEAST_GROWN_AREA):
        once = max(float(one.replaced[region].mean()) for one in (first, middle, last))
        rests = max(float(one.stirred[region].mean()) for one in (earlier, later)) <= _REST_LEVELS
        ring = grown(region, 8) & ~grown(region, 3)
        passing = np.mean([(one.stirred[ring] > UNLIKE_LEVELS).mean() for one in (first, middle, last)])
        if rests and passing <= _PASSING and once >= _AT_ONCE * float(replaced[region].mean()):
            yield from _turned(moment, region, box)


def _turned(moment: Moment, region: Mask, box: Box) -> Iterator[Turnover]:
    """The region, if it stands out from the past alone at least."""
    place = grown(region, 2)
    own = float(moment.change.replaced[region].mean())
    earlier, later = (float(one.replaced[place].mean()) for one in (moment.earlier, moment.later))
    if own >= _STANDS_OUT * (_USUAL_LEVELS + earlier) or own >= _STANDS_OUT * (_USUAL_LEVELS + later):
        yield _measured(moment, region, box, own / (_USUAL_LEVELS + earlier), own / (_USUAL_LEVELS + later))


def _measured(moment: Moment, region: Mask, box: Box, since: float, until: float) -> Turnover:
    """A region, with how many times more than a frame earlier, and than a frame later, it is replaced."""
    change, core = moment.change, _core(region)
    reach = max(8, round(_NEAR * float(np.hypot(*region.shape))))
    pixels = np.count_nonzero(core)
    sides = Sides.of(change, moment.whole, core, _near(region, reach))
    rim = grown(region, 1) & ~core
    size = min(1.0, float(region.mean()) / _WHOLE_AREA)
    missing_before, _ = _search(change.now, change.before, core, reach)
    there_after, leaves = _search(change.now, moment.later.now, core, reach)
    missing_now, _ = _search(change.before, change.now, core, reach)
    there_before, arrived = _search(change.before, moment.earlier.before, core, reach)
    abrupt, wide = size * min(since, until), math.sqrt(np.count_nonzero(region))
    came = abrupt * sides.gained * (2 - sides.known_near) * _times(missing_before, there_after)
    onto_rest = size * since * sides.gained * _times(missing_before, 0.0) if sides.left_near > _ALL_LEFT else 0.0
    onto_rest /= (1 + missing_now / _REST_FOUND) * (1 + float(moment.earlier.stirred[region].mean()) / _USUAL_LEVELS)
    went = abrupt * sides.lost * (3 - 2 * sides.left_near) * _times(missing_now, there_before)
    after = [one for one in (moment.later, moment.latest) if one is not None]
    return Turnover(
        box=box,
        centre=_centre(region),
        area=float(region.mean()),
        fill=float(region.mean()) / ((box.right - box.left) * (box.bottom - box.top)),
        came=max(came, onto_rest) if leaves < _HIDDEN_AT_ONCE * wide else 0.0,
        went=went if arrived < _HIDDEN_AT_ONCE * wide else 0.0,
        abrupt=min(since, until),
        moving=max(float(one.stirred[region].mean()) for one in after),
        left=sides.left_near,
        found=sides.known_near,
        rim_before=_set_off(change.before, rim),
        rim_now=_set_off(change.now, rim),
        known=sides.known,
        gained=sides.gained_all,
        lost=sides.lost_all,
        tint=tint(change.before[core], change.now[core]),
        before=sides.before / np.float32(pixels),
        now=sides.now / np.float32(pixels),
    )


def echo(change: Change, one: Turnover) -> tuple[float, float]:
    """Whether what went from a region is at once elsewhere, or what came was elsewhere: how alike, and how far away.

    Alike is by how much more (of 1) the colours are those in the frame in which they should be; (0, NaN) without one.
    """
    best = (0.0, math.nan)
    for region, _ in _compact(change.replaced > UNLIKE_LEVELS, _LEAST_ECHO_AREA):
        apart = math.dist(one.centre, _centre(region))
        if apart >= _LEAST_APART:
            core = _core(region)
            before, now = (
                colours(image, core) / np.float32(np.count_nonzero(core)) for image in (change.before, change.now)
            )
            alike = (
                likeness(one.before, now) - likeness(one.before, before) if one.went > 0 else 0.0,
                likeness(one.now, before) - likeness(one.now, now) if one.came > 0 else 0.0,
            )
            best = max(best, (max(alike), apart))
    return best


def _centre(region: Mask) -> tuple[float, float]:
    down, right = np.argwhere(region).mean(axis=0) / math.hypot(*region.shape)
    return float(right), float(down)


def _times(missing: float, there: float) -> float:
    """How much worse a region is found where it should be missing than where it should be; 6 at most."""
    return min(_NEW_AT_MOST, missing / (_USUAL_LEVELS + there))


def _search(image: Image, other: Image, core: Mask, reach: int) -> tuple[float, float]:
    """The place near by in another picture that is most like a region: how unlike in levels, how far away in pixels."""
    rows, columns = np.flatnonzero(core.any(axis=1)), np.flatnonzero(core.any(axis=0))
    top, left = max(0, rows[0] - reach), max(0, columns[0] - reach)
    inner = image[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    weights = np.dstack([core[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].astype(np.uint8)] * 3)
    outer = other[top : rows[-1] + 1 + reach, left : columns[-1] + 1 + reach]
    squares = cv2.matchTemplate(outer, inner, cv2.TM_SQDIFF, mask=weights)
    least, _, (right, down), _ = cv2.minMaxLoc(squares)
    away = math.hypot(left + right - columns[0], top + down - rows[0])
    return math.sqrt(max(0.0, least) / np.count_nonzero(weights)), away


def _core(region: Mask) -> Mask:
    """The region without its rim, where old and new are mixed; a very thin one as it is."""
    core = cv2.erode(region.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    return core if np.count_nonzero(core) >= 12 else region


def _set_off(image: Image, rim: Mask) -> float:
    """How much a picture changes across a rim, in levels: the largest difference near by of any colour."""
    rows, columns = np.flatnonzero(rim.any(axis=1)), np.flatnonzero(rim.any(axis=0))
    part = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    steps = cv2.morphologyEx(image[part], cv2.MORPH_GRADIENT, np.ones((_RIM_PX, _RIM_PX), np.uint8))
    return float(steps.max(axis=2)[rim[part]].mean())


def _near(region: Mask, reach: int) -> Mask:
    """The region's bounding box and all that is within reach of it."""
    rows, columns = np.flatnonzero(region.any(axis=1)), np.flatnonzero(region.any(axis=0))
    near = np.zeros_like(region)
    near[max(0, rows[0] - reach) : rows[-1] + 1 + reach, max(0, columns[0] - reach) : columns[-1] + 1 + reach] = True
    return near
