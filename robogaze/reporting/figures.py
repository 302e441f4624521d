"""Draws figures as SVG: curves, values over steps, and small intervals for table cells.

Each is a complete SVG document that can also be part of an HTML page. No information is given by colour alone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from robogaze.core.estimate import Estimate
from robogaze.reporting.wording import printable

WIDTH = 480
_LEFT, _TEXT = 100, 12
_INK, _FAINT, _POINT = "#222", "#bbb", "#1b6ca8"


@dataclass(frozen=True)
class Point:
    """A labelled point of a curve, both coordinates in [0, 1]."""

    x: float
    y: float
    name: str


def curve(points: Sequence[Point], title: str, x_name: str, y_name: str) -> str:
    """Points in the unit square, joined in the order given; points with an undefined coordinate are left out."""
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
    known = [point for point in points if not (math.isnan(point.x) or math.isnan(point.y))]
    places = [(_LEFT + point.x * side, top + (1 - point.y) * side) for point in known]
    drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    SubElement(svg, "polyline", points=drawn, fill="none", stroke=_POINT, attrib={"stroke-width": "2"})
    for point, (x, y) in zip(known, places, strict=True):
        SubElement(svg, "circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r="4", fill=_POINT)
        _text(svg, x + 8, y - 8, point.name)
    return _svg_text(svg)


STRIP = (180, 20)
"""Width and height of an interval strip, in units of its view box."""


def interval_strip(estimate: Estimate, low: float, high: float) -> str:
    """A value and its interval on an axis from `low` to `high`, for a cell of a table.

    If zero lies on the axis, a line marks it. The axis of an undefined value is empty.
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
    if not math.isnan(estimate.low):
        _line(svg, x(estimate.low), middle, x(estimate.high), middle, _INK, 2)
    if estimate.defined:
        SubElement(svg, "circle", cx=f"{x(estimate.value):.1f}", cy=f"{middle:g}", r="4", fill=_POINT)
    return _svg_text(svg)


def line_chart(points: Sequence[tuple[int, Estimate]], title: str) -> str:
    """Draw a measure over steps. Each step has a point and an interval, and a line joins the points. Undefined values
    are left out.
    """
    known = [(step, estimate) for step, estimate in sorted(points) if estimate.defined]
    side, left, top, bottom = 300, 60, 36, 186
    svg = _svg(side + left + 30, bottom + 30, title)
    highest = max([_top(estimate) for _, estimate in known], default=1.0) or 1.0
    steps = [step for step, _ in known] or [0]
    length = (steps[-1] - steps[0]) or 1

    def at(step: int, value: float) -> tuple[float, float]:
        return left + (step - steps[0]) / length * side, bottom - value / highest * (bottom - top)

    for share in (0.0, 0.5, 1.0):
        _line(svg, left, at(0, share * highest)[1], left + side, at(0, share * highest)[1], _FAINT, 1)
        _text(svg, left - 8, at(0, share * highest)[1], f"{share * highest:.2g}", anchor="end")
    drawn = " ".join("{:.1f},{:.1f}".format(*at(step, estimate.value)) for step, estimate in known)
    SubElement(svg, "polyline", points=drawn, fill="none", stroke=_POINT, attrib={"stroke-width": "2"})
    for step, estimate in known:
        x, y = at(step, estimate.value)
        if not math.isnan(estimate.low):
            _line(svg, x, at(step, estimate.low)[1], x, at(step, estimate.high)[1], _INK, 2)
        SubElement(svg, "circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r="4", fill=_POINT)
    for step in dict.fromkeys((steps[0], steps[-1])):
        _text(svg, at(step, 0)[0], bottom + 14, f"{step:,}", anchor="middle")
    return _svg_text(svg)


def _top(estimate: Estimate) -> float:
    return estimate.value if math.isnan(estimate.high) else estimate.high


def _svg(width: float, height: float, title: str) -> Element:
    svg = Element(
        "svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width:g} {height:g}", role="img",
        attrib={"font-family": "system-ui, sans-serif", "font-size": str(_TEXT)},
    )  # fmt: skip
    SubElement(svg, "title").text = printable(title)
    _text(svg, 8, 16, title, weight="bold")
    return svg


def _text(svg: Element, x: float, y: float, text: str, *, anchor: str = "start", weight: str = "normal") -> None:
    styles = {"text-anchor": anchor, "dominant-baseline": "middle", "font-weight": weight}
    SubElement(svg, "text", x=f"{x:.1f}", y=f"{y:.1f}", fill=_INK, attrib=styles).text = printable(text)


def _line(svg: Element, x1: float, y1: float, x2: float, y2: float, stroke: str, width: int) -> None:
    ends = {"x1": f"{x1:.1f}", "y1": f"{y1:.1f}", "x2": f"{x2:.1f}", "y2": f"{y2:.1f}"}
    SubElement(svg, "line", stroke=stroke, attrib={**ends, "stroke-width": str(width)})


def _svg_text(svg: Element) -> str:
    return ElementTree.tostring(svg, encoding="unicode") + "\n"
