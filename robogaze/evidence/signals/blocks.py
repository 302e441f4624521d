"""Block artefacts: steps in brightness that lie on a grid of 8 pixels.

Codecs and generators work in blocks of 8 or 16 pixels; where they fail, the borders of blocks show. An edge of the
scene falls on any column alike, so steps are counted for each of the eight places a grid can have, and what one
place has beyond the others is the grid's. Both directions must show it, and several lines.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.core.events import Box
from robogaze.evidence.base import FrameView, Signal, ViewSignals
from robogaze.evidence.series import own_level

_GRID_PX = 8
_STEP_LEVELS = 8
"""A side of a block is a step when it exceeds its neighbours by this: compression at CRF 30 gives 0.06 % of them."""

_LINE_SHARE = 0.1  # of a line of the grid: what counts of it at most
_LEAST_STEPS = 8  # of one frame, for a box around them

Places = NDArray[np.bool_]
"""Steps between columns: shape (rows of blocks, columns), True where a block's height of pixels jumps."""


class Blocks:
    """How strongly the grid shows over the whole picture, and on how many sides of blocks it shows sharply."""

    signals: tuple[Signal, ...] = (
        Signal(
            name="grid_strength",
            unit="times the clip's median",
            description="Brightness change across the lines of an 8-px grid against beside them, relative to the clip.",
        ),
        Signal(
            name="block_steps",
            unit="of the block sides",
            description="Share of the sides of 8-px blocks that are sharp steps, beyond what edges of the scene give.",
            gap="the picture is too small to hold blocks, or the clip too short to tell what is usual in it",
            hides="block_steps compares with the clip's own usual frame; blocks that are there throughout do not count",
        ),
    )

    def __init__(self) -> None:
        self._times_s: list[float] = []
        self._rows: list[tuple[float, float]] = []
        self._boxes: dict[int, Box] = {}

    def update(self, look: FrameView) -> None:
        """Take the next frame."""
        self._times_s.append(look.time_s)
        if min(look.gray.shape) < 3 * _GRID_PX:
            self._rows.append((np.nan, np.nan))
            return
        across, down = _Side(look.gray), _Side(np.asarray(cv2.transpose(look.gray), dtype=np.uint8))
        self._rows.append((min(across.strength, down.strength), min(across.steps, down.steps)))
        if (box := _box(across, down)) is not None:
            self._boxes[look.number] = box

    def finish(self) -> ViewSignals:
        """Series of all frames; NaN for pictures under 24 px and clips under 0.5 s, which have no usual frame.

        Steps are counted beyond the clip's median.
        """
        strength, steps = np.array(self._rows, dtype=np.float64).T
        series = {
            "grid_strength": strength / own_level(strength, self._times_s, 50),
            "block_steps": np.maximum(steps - own_level(steps, self._times_s, 50), 0.0),
        }
        return ViewSignals(series, dict.fromkeys(series, self._boxes))


class _Side:
    """The steps between the columns of a picture (of its transpose: between its rows)."""

    def __init__(self, gray: NDArray[np.uint8]) -> None:
        height = gray.shape[0] - gray.shape[0] % _GRID_PX
        gray = gray[:height]
        step = cv2.absdiff(gray[:, 1:], gray[:, :-1])
        mean = cv2.resize(step, (step.shape[1], height // _GRID_PX), interpolation=cv2.INTER_AREA).astype(np.int16)
        beside = np.maximum(mean[:, :-2], mean[:, 2:])
        sharp = mean[:, 1:-1] - beside > _STEP_LEVELS
        # Broken blocks lie scattered; a straight edge of the scene fills a single line of the grid, and counts little.
        shares = _by_place(np.minimum(sharp.mean(axis=0, keepdims=True), _LINE_SHARE))
        means = _by_place(mean)
        self.place = int(shares.argmax())
        self.steps = float(shares.max() - np.median(shares))
        usual = float(np.median(means))
        self.strength = float(means.max()) / usual if usual else np.nan
        self.on_grid: Places = sharp[:, self.place :: _GRID_PX]


def _by_place(values: NDArray[np.generic]) -> NDArray[np.float64]:
    """The mean of the columns at each of the grid's eight possible places."""
    return np.array([values[:, place::_GRID_PX].mean() for place in range(_GRID_PX)])


def _box(across: _Side, down: _Side) -> Box | None:
    """Around nine tenths of the steps in each direction, which leaves out the odd edge of the scene."""
    rows, columns = np.nonzero(across.on_grid)
    if len(rows) < _LEAST_STEPS:
        return None
    high, wide = across.on_grid.shape
    left, right = np.percentile(columns, (5, 95)) / wide
    top, bottom = np.percentile(rows, (5, 95)) / high
    return Box(left=left, top=top, right=min(1.0, right + 1 / wide), bottom=min(1.0, bottom + 1 / high))
