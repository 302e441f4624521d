"""Draws the screen of a puzzle on a grid as PNG."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Literal

import cv2
import numpy as np
from numpy.typing import NDArray
from pydantic import Field

Kind = Literal["wall", "floor", "start", "crate", "plate", "gate", "key", "door", "token", "exit"]
Level = Annotated[int, Field(ge=0, le=255)]
Colour = tuple[Level, Level, Level]
"""Red, green, blue."""

CELL_PX, TOP_PX = 40, 36
_FONT = (cv2.FONT_HERSHEY_SIMPLEX, 0.6, 1)
_INK, _PAPER = (30, 30, 30), (250, 250, 250)

Image = NDArray[np.uint8]


def draw(
    size: tuple[int, int],
    shown: Mapping[tuple[int, int], tuple[Kind, Colour]],
    floor: Colour,
    gate_open: bool,
    counts: Mapping[str, int],
) -> bytes:
    """A PNG of a grid of rows and columns, with the counts on top. `shown` has the cells that are not plain floor."""
    rows, columns = size
    image: Image = np.full((TOP_PX + rows * CELL_PX, columns * CELL_PX, 3), _PAPER, np.uint8)
    image[TOP_PX:] = floor
    text = "   ".join(f"{name} {count}" for name, count in counts.items())
    _write(image[:TOP_PX], text)
    for (row, column), (kind, colour) in shown.items():
        top, left = TOP_PX + row * CELL_PX, column * CELL_PX
        _draw_cell(image[top : top + CELL_PX, left : left + CELL_PX], kind, colour, gate_open)
    done, encoded = cv2.imencode(".png", image[:, :, ::-1])
    assert done, "PNG is built into OpenCV"
    return encoded.tobytes()


def _write(line: Image, text: str) -> None:
    """Write a text into the top line; characters that do not fit are left out."""
    left = 10
    for glyph in map(_glyph, text):
        if left + glyph.shape[1] > line.shape[1]:
            return
        line[:, left : left + glyph.shape[1]] = glyph
        left += glyph.shape[1]


@cache
def _glyph(character: str) -> Image:
    """The image of a character, as high as the top line. Cached, because each thread sets up OpenCV's font first."""
    (width, _), _ = cv2.getTextSize(character, *_FONT)
    image: Image = np.full((TOP_PX, width + 1, 3), _PAPER, np.uint8)
    cv2.putText(image, character, (0, TOP_PX - 12), *_FONT[:2], _INK, _FONT[2], cv2.LINE_AA)
    return image


def _draw_cell(cell: Image, kind: Kind, colour: Colour, gate_open: bool) -> None:
    """Draw one thing into its cell, in place."""
    drawn = np.ascontiguousarray(cell)
    far, middle = CELL_PX - 1, CELL_PX // 2
    if kind == "wall":
        drawn[:] = colour
    elif kind in ("crate", "door"):
        cv2.rectangle(drawn, (4, 4), (far - 4, far - 4), colour, -1)
        cv2.rectangle(drawn, (4, 4), (far - 4, far - 4), _INK, 2)
        if kind == "crate":
            cv2.line(drawn, (4, 4), (far - 4, far - 4), _INK, 2)
            cv2.line(drawn, (4, far - 4), (far - 4, 4), _INK, 2)
        else:
            cv2.circle(drawn, (far - 11, middle), 3, _PAPER, -1)
    elif kind == "plate":
        cv2.rectangle(drawn, (8, 8), (far - 8, far - 8), colour, 3)
    elif kind == "gate":
        bars = (6, far - 6) if gate_open else range(6, far, 9)
        for bar in bars:
            cv2.line(drawn, (bar, 2), (bar, far - 2), colour, 4)
    elif kind == "key":
        cv2.circle(drawn, (13, middle), 7, colour, 3)
        cv2.line(drawn, (20, middle), (far - 5, middle), colour, 3)
        cv2.line(drawn, (far - 7, middle), (far - 7, middle + 7), colour, 3)
    elif kind == "token":
        cv2.circle(drawn, (middle, middle + 3), 10, colour, -1)
        cv2.rectangle(drawn, (middle - 5, 4), (middle + 5, 10), _INK, 2)
    elif kind == "exit":
        cv2.rectangle(drawn, (5, 3), (far - 5, far - 3), colour, -1)
        cv2.arrowedLine(drawn, (10, middle), (far - 9, middle), _PAPER, 3, tipLength=0.4)
    elif kind == "start":
        cv2.circle(drawn, (middle, 11), 7, colour, -1)
        cv2.ellipse(drawn, (middle, far - 4), (12, 17), 0, 180, 360, colour, -1)
    cell[:] = drawn
