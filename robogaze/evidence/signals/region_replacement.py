"""Regions that are replaced from one frame to the next, as series."""

import math
from collections import deque
from collections.abc import Mapping, Sequence

import numpy as np

from robogaze.core.events import Box
from robogaze.evidence.base import FrameView, Signal, ViewSignals
from robogaze.evidence.colours import Histogram, MovingColours, overlap
from robogaze.evidence.optical_flow import DIFFERENT_LEVELS, Change, RecentChanges
from robogaze.evidence.replaced_regions import (
    Moment,
    ReplacedRegion,
    candidates,
    counterpart_similarity,
    replaced_regions,
)

_REMEMBERED = 3.0  # times: weaker replacements are not looked up later
_MOST_REMEMBERED = 24  # the latest, so that memory is bounded
_SEPARATE_FRAMES = 4  # replacements that are nearer in time are the same event


def _detail(name: str, unit: str, description: str) -> Signal:
    return Signal(name=f"region_replacement_{name}", unit=unit, description=description, part_of="region_replacement")


class RegionReplacement:
    """The strongest replacement in each frame, with its details; keeps only the recent pictures."""

    signals: tuple[Signal, ...] = (
        Signal(
            name="region_replacement",
            unit="times",
            description=(
                "How much more abruptly the strongest region changed than in the frames before and after. Either "
                "its new content was "
                "nowhere nearby before, or its old content is nowhere nearby now; 0 without a replaced region."
            ),
            gap=(
                "the picture is too small for optical flow, or a region was replaced in the clip's first or last "
                "frames, where there are no frames to compare it with"
            ),
        ),
        _detail("appeared", "times", "Strength of the replacement for the new content of the region."),
        _detail("disappeared", "times", "Strength of the replacement for the old content of the region."),
        _detail(
            "abruptness",
            "times",
            "How much more the region changes in this frame than one frame before and one frame after.",
        ),
        _detail("area", "of the view", "Area of all regions that are replaced in that frame."),
        _detail("colour_change", "levels", "Difference of the region's pixels beyond what a shadow explains."),
        _detail(
            "motion_after", "levels", "Change at the region's place in the next two frames, beyond the camera's motion."
        ),
        _detail("old_near", "of 1", "Share of the region's old colours that is still found nearby."),
        _detail("new_near", "of 1", "Share of the region's new colours that was found nearby before."),
        _detail("edge_before", "levels", "Contrast of the region with its surroundings in the frame before."),
        _detail("edge_now", "levels", "Contrast of the region with its surroundings in this frame."),
        _detail(
            "known",
            "of 1",
            "Share of the region's old colours that the picture still has, or of its new colours that the "
            "picture had before, whichever is less.",
        ),
        _detail("gained", "of 1", "Share of the region's new colours that became more frequent in the whole picture."),
        _detail("lost", "of 1", "Share of the region's old colours that became less frequent in the whole picture."),
        _detail("counterpart", "of 1", "Similarity with a region that appeared or disappeared elsewhere in the frame."),
        _detail(
            "moving_before",
            "of 1",
            "How far the region's old colours are colours that move in the clip, not colours that rest.",
        ),
        _detail(
            "moving_now",
            "of 1",
            "How far the region's new colours are colours that move in the clip, not colours that rest.",
        ),
        _detail(
            "reversal",
            "of 1",
            "How far the region reverses an earlier replacement: an object returns, or leaves again.",
        ),
        Signal(
            name="moving_share",
            unit="of the view",
            description="Share of the picture that changes beyond the camera's motion, as a median over the clip.",
        ),
    )

    def __init__(self) -> None:
        self._frames = 0
        self._recent = RecentChanges()
        self._values: dict[int, tuple[Mapping[str, float], Box | None]] = {}
        self._moving_shares: list[float] = []
        self._moving_colours = MovingColours()
        self._colours: dict[int, tuple[Histogram, Histogram]] = {}
        self._past: deque[tuple[int, ReplacedRegion]] = deque(maxlen=_MOST_REMEMBERED)

    def update(self, frame: FrameView) -> None:
        """Take the next frame."""
        self._frames += 1
        if frame.change is not None:
            for changes, place in self._recent.add(frame.change):
                self._examine(changes, place)

    def _examine(self, changes: Sequence[Change], place: int) -> None:
        change = changes[place]
        self._moving_colours.add(change)
        self._moving_shares.append(np.count_nonzero(change.moving > DIFFERENT_LEVELS) / change.moving.size)
        moment = Moment.at(changes, place)
        if moment is not None:
            self._record(change, tuple(replaced_regions(moment)))
        elif next(candidates(change), None) is None:
            self._record(change, ())

    def _record(self, change: Change, regions: Sequence[ReplacedRegion]) -> None:
        frame = change.number
        strongest = max(regions, key=lambda region: region.strength, default=None)
        if strongest is None:
            self._values[frame] = {"region_replacement": 0.0, "region_replacement_counterpart": 0.0}, None
            return
        earlier = [region for number, region in self._past if number <= frame - _SEPARATE_FRAMES]
        values = {
            "appeared": strongest.appeared,
            "disappeared": strongest.disappeared,
            "abruptness": strongest.abruptness,
            "area": sum(region.area for region in regions),
            "colour_change": strongest.colour_change,
            "motion_after": strongest.motion_after,
            "old_near": strongest.old_near,
            "new_near": strongest.new_near,
            "edge_before": strongest.edge_before,
            "edge_now": strongest.edge_now,
            "known": strongest.known,
            "gained": strongest.gained,
            "lost": strongest.lost,
            "counterpart": counterpart_similarity(change, strongest),
            "reversal": max((_reversal(region, strongest) for region in earlier), default=0.0),
        }
        details = {f"region_replacement_{name}": value for name, value in values.items()}
        self._values[frame] = {"region_replacement": strongest.strength, **details}, strongest.box
        self._colours[frame] = strongest.before, strongest.now
        self._past.extend((frame, region) for region in regions if region.strength >= _REMEMBERED)

    def finish(self) -> ViewSignals:
        """Series over all frames. Values are NaN in frames that could not be examined. In frames without a replacement,
        the details are also NaN, but the counterpart is 0. `moving_share` has one value for the whole clip.
        """
        for changes, place in self._recent.remaining():
            self._examine(changes, place)
        names = tuple(signal.name for signal in self.signals)
        series = {name: np.full(self._frames, math.nan) for name in names}
        boxes: dict[str, dict[int, Box]] = {name: {} for name in names}
        for frame, (values, box) in self._values.items():
            for name, value in (*values.items(), *self._moving(frame).items()):
                series[name][frame] = value
                if box is not None:
                    boxes[name][frame] = box
        if self._moving_shares:
            series["moving_share"][:] = float(np.median(self._moving_shares))
        return ViewSignals(series, boxes)

    def _moving(self, frame: int) -> Mapping[str, float]:
        """The details that need the whole clip, because the moving colours are known only at its end."""
        if frame not in self._colours:
            return {}
        before, now = (self._moving_colours.share(colours) for colours in self._colours[frame])
        return {"region_replacement_moving_before": before, "region_replacement_moving_now": now}


def _reversal(past: ReplacedRegion, now: ReplacedRegion) -> float:
    """How similar content that disappeared earlier is to content that appears now, or content that appeared earlier to
    content that disappears now.
    """
    returns, leaves = 0.0, 0.0
    if past.disappeared > past.appeared / 2 and now.appeared > now.disappeared / 2:
        returns = overlap(past.before, now.now)
    if past.appeared > past.disappeared / 2 and now.disappeared > now.appeared / 2:
        leaves = overlap(past.now, now.before)
    return max(returns, leaves)
