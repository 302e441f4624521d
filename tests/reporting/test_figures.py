"""Figures are complete SVG documents with their numbers as text."""

from xml.etree import ElementTree

from robogaze.core.estimate import Estimate, undefined
from robogaze.reporting.figures import STRIP, Point, curve, interval_strip, line_chart

SVG = "{http://www.w3.org/2000/svg}"


def parts(svg: str, tag: str) -> list[ElementTree.Element]:
    return ElementTree.fromstring(svg).findall(f"{SVG}{tag}")


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in parts(svg, "text")]


def test_names_are_text() -> None:
    svg = curve([Point(0.1, 0.1, "<script>alert(1)</script>")], "t", "x", "y")
    assert "<script>alert(1)</script>" in texts(svg)


def test_a_curve_has_a_point_for_every_defined_pair() -> None:
    svg = curve(
        [Point(0.3, 0.9, "0.3"), Point(float("nan"), 0.5, "0.5"), Point(0.6, 0.4, "0.7")], "t", "recall", "prec"
    )
    assert len(parts(svg, "circle")) == 2
    assert {"0.3", "0.7", "recall", "prec"} <= set(texts(svg))
    assert "0.5" not in texts(svg)


def test_a_strip_draws_the_value_its_interval_and_zero() -> None:
    svg = interval_strip(Estimate(0.0, -0.5, 0.5, 9), -1.0, 1.0)
    (dot,) = parts(svg, "circle")
    assert float(dot.get("cx", 0)) == STRIP[0] / 2
    interval = [element for element in parts(svg, "line") if element.get("stroke-width") == "2"]
    assert len(interval) == 1
    assert float(interval[0].get("x2", 0)) - float(interval[0].get("x1", 0)) == (STRIP[0] - 12) / 2
    assert len(parts(svg, "line")) == 1 + 3 + 1  # the axis, its ends and zero, the interval


def test_the_strip_of_an_undefined_value_is_an_empty_axis() -> None:
    assert not parts(interval_strip(undefined("nothing", 0), 0.0, 1.0), "circle")


def test_a_line_chart_joins_its_points_by_step() -> None:
    points = [(2000, Estimate(0.5, 0.4, 0.6, 9)), (1000, Estimate(0.25, n=9)), (3000, undefined("nothing", 0))]
    svg = line_chart(points, "rate")
    first, second = parts(svg, "circle")
    assert float(first.get("cx", 0)) < float(second.get("cx", 0))
    assert float(first.get("cy", 0)) > float(second.get("cy", 0))
    assert {"rate", "1,000", "2,000", "0.6"} <= set(texts(svg))
    assert texts(line_chart([], "empty"))[0] == "empty"
