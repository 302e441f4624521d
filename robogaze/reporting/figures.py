"""Figures as SVG: bars with intervals, curves, spans of reference and prediction side by side, values over steps.

Each is a whole SVG document that also stands inside an HTML page. Colours are readable for the colour-blind, and
nothing is told by colour alone.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from robogaze.core.scores import Estimate
from robogaze.core.time import Span
from robogaze.reporting.wording import printable

WIDTH = 720
_LEFT, _RIGHT, _ROW, _TEXT = 190, 100, 26, 12
_INK, _FAINT, _REFERENCE, _PREDICTION = "#222", "#bbb", "#1b6ca8", "#b3541e"


def bars(estimates: Mapping[str, Estimate], title: str) -> str:
    """A horizontal bar for each estimate in [0, 1], with its interval; what is undefined says so."""
    svg, height = _canvas(title, len(estimates))
    _axis(svg, height, 1.0)
    for number, (name, one) in enumerate(estimates.items()):
        middle = _middle(number)
        _label(svg, name, middle)
        if not one.defined:
            _text(svg, _LEFT + 4, middle, f"undefined, n={one.n}", fill=_INK)
            continue
        _box(svg, _x(0.0), middle - 8, _x(one.value) - _x(0.0), 16, _REFERENCE)
        if not math.isnan(one.low):
            _line(svg, _x(one.low), middle, _x(one.high), middle, _INK, 2)
            for edge in (one.low, one.high):
                _line(svg, _x(edge), middle - 5, _x(edge), middle + 5, _INK, 2)
        end = one.value if math.isnan(one.high) else one.high
        _text(svg, _x(end) + 6, middle, f"{one.value:.2f}  n={one.n}", fill=_INK)
    return _written(svg)


@dataclass(frozen=True)
class Point:
    """A point of a curve: where it lies, both in [0, 1], and what it is called."""

    x: float
    y: float
    name: str


def curve(points: Sequence[Point], title: str, x_name: str, y_name: str) -> str:
    """Points joined in the order given, in the unit square; points with an undefined place are left out."""
    side, top = 320, 40
    svg = _svg(WIDTH, side + top + 50, title)
    for tick in range(6):
        share = tick / 5
        x, y = _LEFT + share * side, top + (1 - share) * side
        _line(svg, x, top, x, top + side, _FAINT, 1)
        _line(svg, _LEFT, y, _LEFT + side, y, _FAINT, 1)
        _text(svg, x, top + side + 14, f"{share:.1f}", anchor="middle")
        _text(svg, _LEFT - 8, y, f"{share:.1f}", anchor="end")
    _text(svg, _LEFT + side / 2, top + side + 34, x_name, anchor="middle")
    _text(svg, _LEFT - 40, top + side / 2, y_name, anchor="end")
    known = [one for one in points if not (math.isnan(one.x) or math.isnan(one.y))]
    places = [(_LEFT + one.x * side, top + (1 - one.y) * side) for one in known]
    drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    SubElement(svg, "polyline", points=drawn, fill="none", stroke=_REFERENCE, attrib={"stroke-width": "2"})
    for one, (x, y) in zip(known, places, strict=True):
        SubElement(svg, "circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r="4", fill=_PREDICTION)
        _text(svg, x + 8, y - 8, one.name)
    return _written(svg)


@dataclass(frozen=True)
class Lane:
    """One event on a timeline; `pair` numbers the match it belongs to, None for an event that found none."""

    name: str
    spans: tuple[Span, ...]
    reference: bool
    pair: int | None


def timeline(lanes: Sequence[Lane], duration_s: float, title: str) -> str:
    """Events on the clip's axis, one a row: references filled, predictions in outline."""
    svg, height = _canvas(title, len(lanes))
    _axis(svg, height, duration_s, unit=" s")
    for number, lane in enumerate(lanes):
        middle = _middle(number)
        side = "reference" if lane.reference else "prediction"
        found = "unmatched" if lane.pair is None else f"pair {lane.pair}"
        _label(svg, f"{side}: {lane.name}", middle)
        for span in lane.spans:
            x = _x(span.start / duration_s)
            width = max(_x(span.end / duration_s) - x, 2)
            _box(
                svg,
                x,
                middle - 7,
                width,
                14,
                _REFERENCE if lane.reference else "none",
                _INK if lane.reference else _PREDICTION,
            )
        end = max((span.end for span in lane.spans), default=0.0)
        _text(svg, _x(end / duration_s) + 6, middle, found)
    return _written(svg)


STRIP = (180, 20)
"""How wide and high a strip is."""


def strip(one: Estimate, low: float, high: float, bounds: tuple[float, float] | None = None) -> str:
    """A value and its interval between `low` and `high`, to stand in a table beside the numbers it draws.

    `bounds`, drawn in outline, are what the value could be; a line marks zero where it is inside. What is undefined
    leaves the axis empty.
    """
    width, height = STRIP
    svg = Element(
        "svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width} {height}", attrib={"aria-hidden": "true"}
    )

    def x(value: float) -> float:
        return 6 + (min(max(value, low), high) - low) / (high - low) * (width - 12)

    middle = height / 2
    _line(svg, 6, middle, width - 6, middle, _FAINT, 1)
    for mark in (low, 0.0, high) if low < 0 < high else (low, high):
        _line(svg, x(mark), 2, x(mark), height - 2, _FAINT, 1)
    if bounds is not None and not any(map(math.isnan, bounds)):
        _box(svg, x(bounds[0]), middle - 5, x(bounds[1]) - x(bounds[0]), 10, "none", _FAINT)
    if not math.isnan(one.low):
        _line(svg, x(one.low), middle, x(one.high), middle, _INK, 2)
    if one.defined:
        SubElement(svg, "circle", cx=f"{x(one.value):.1f}", cy=f"{middle:g}", r="4", fill=_REFERENCE)
    return _written(svg)


def course(points: Sequence[tuple[int, Estimate]], title: str) -> str:
    """A measure over steps: a point with its interval for each, joined in their order; the undefined are left out."""
    known = [(step, one) for step, one in sorted(points) if one.defined]
    side, left, top, bottom = 300, 60, 36, 186
    svg = _svg(side + left + 30, bottom + 30, title)
    highest = max([_top(one) for _, one in known], default=1.0) or 1.0
    steps = [step for step, _ in known] or [0]
    length = (steps[-1] - steps[0]) or 1

    def at(step: int, value: float) -> tuple[float, float]:
        return left + (step - steps[0]) / length * side, bottom - value / highest * (bottom - top)

    for share in (0.0, 0.5, 1.0):
        _line(svg, left, at(0, share * highest)[1], left + side, at(0, share * highest)[1], _FAINT, 1)
        _text(svg, left - 8, at(0, share * highest)[1], f"{share * highest:.2g}", anchor="end")
    drawn = " ".join("{:.1f},{:.1f}".format(*at(step, one.value)) for step, one in known)
    SubElement(svg, "polyline", points=drawn, fill="none", stroke=_REFERENCE, attrib={"stroke-width": "2"})
    for step, one in known:
        x, y = at(step, one.value)
        if not math.isnan(one.low):
            _line(svg, x, at(step, one.low)[1], x, at(step, one.high)[1], _INK, 2)
        SubElement(svg, "circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r="4", fill=_REFERENCE)
    for step in dict.fromkeys((steps[0], steps[-1])):
        _text(svg, at(step, 0)[0], bottom + 14, f"{step:,}", anchor="middle")
    return _written(svg)


def _top(one: Estimate) -> float:
    return one.value if math.isnan(one.high) else one.high


def _canvas(title: str, rows: int) -> tuple[Element, float]:
    height = 40 + rows * _ROW
    return _svg(WIDTH, height + 30, title), height


def _svg(width: float, height: float, title: str) -> Element:
    svg = Element(
        "svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width:g} {height:g}", role="img",
        attrib={"font-family": "system-ui, sans-serif", "font-size": str(_TEXT)},
    )  # fmt: skip
    SubElement(svg, "title").text = printable(title)
    _text(svg, 8, 16, title, weight="bold")
    return svg


def _axis(svg: Element, height: float, end: float, unit: str = "") -> None:
    for tick in range(6):
        x = _x(tick / 5)
        _line(svg, x, 30, x, height, _FAINT, 1)
        _text(svg, x, height + 14, f"{end * tick / 5:.1f}{unit}", anchor="middle")


def _middle(row: int) -> float:
    return 40 + row * _ROW + _ROW / 2 - 4


def _x(share: float) -> float:
    return _LEFT + share * (WIDTH - _LEFT - _RIGHT)


def _label(svg: Element, text: str, middle: float) -> None:
    shown = text if len(text) <= 28 else f"{text[:27]}…"
    _text(svg, _LEFT - 8, middle, shown, anchor="end")


def _text(
    svg: Element, x: float, y: float, text: str, *, anchor: str = "start", fill: str = _INK, weight: str = "normal"
) -> None:
    styles = {"text-anchor": anchor, "dominant-baseline": "middle", "font-weight": weight}
    SubElement(svg, "text", x=f"{x:.1f}", y=f"{y:.1f}", fill=fill, attrib=styles).text = printable(text)


def _line(svg: Element, x1: float, y1: float, x2: float, y2: float, stroke: str, width: int) -> None:
    ends = {"x1": f"{x1:.1f}", "y1": f"{y1:.1f}", "x2": f"{x2:.1f}", "y2": f"{y2:.1f}"}
    SubElement(svg, "line", stroke=stroke, attrib={**ends, "stroke-width": str(width)})


def _box(svg: Element, x: float, y: float, width: float, height: float, fill: str, stroke: str = "none") -> None:
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "width": f"{width:.1f}", "height": f"{height:.1f}"}
    SubElement(svg, "rect", fill=fill, stroke=stroke, attrib={**place, "stroke-width": "2"})


def _written(svg: Element) -> str:
    return ElementTree.tostring(svg, encoding="unicode") + "\n"
