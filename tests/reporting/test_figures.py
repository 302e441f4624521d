"""Figures are whole SVG documents that tell their numbers in text, too."""

from xml.etree import ElementTree

from robogaze.core.scores import Estimate, undefined
from robogaze.core.time import Span
from robogaze.reporting.figures import STRIP, Lane, Point, bars, course, curve, strip, timeline

SVG = "{http://www.w3.org/2000/svg}"


def parts(svg: str, tag: str) -> list[ElementTree.Element]:
    return ElementTree.fromstring(svg).findall(f"{SVG}{tag}")


def texts(svg: str) -> list[str]:
    return [one.text or "" for one in parts(svg, "text")]


def test_a_bar_is_as_long_as_its_value() -> None:
    half, whole = parts(bars({"a": Estimate(0.5, 0.4, 0.6, 9), "b": Estimate(1.0, n=2)}, "x"), "rect")
    assert float(whole.get("width", 0)) == 2 * float(half.get("width", 0))


def test_a_bar_tells_value_and_n_and_the_undefined_says_so() -> None:
    said = texts(bars({"a": Estimate(0.42, 0.3, 0.5, 12), "b": undefined("nothing", 0)}, "title"))
    assert {"title", "a", "0.42  n=12", "b", "undefined, n=0"} <= set(said)


def test_names_are_text_whatever_they_hold() -> None:
    assert "<script>alert(1)</script>" in texts(bars({"<script>alert(1)</script>": Estimate(0.1, n=1)}, "x"))


def test_a_long_name_is_cut() -> None:
    assert f"{'x' * 27}…" in texts(bars({"x" * 40: Estimate(0.1, n=1)}, "t"))


def test_a_curve_has_a_point_for_every_defined_pair() -> None:
    svg = curve(
        [Point(0.3, 0.9, "0.3"), Point(float("nan"), 0.5, "0.5"), Point(0.6, 0.4, "0.7")], "t", "recall", "prec"
    )
    assert len(parts(svg, "circle")) == 2
    assert {"0.3", "0.7", "recall", "prec"} <= set(texts(svg))
    assert "0.5" not in texts(svg)


def test_a_timeline_draws_every_span_and_says_the_side_and_the_pair() -> None:
    lanes = [
        Lane("one", (Span(1, 2), Span(4, 5)), reference=True, pair=1),
        Lane("two", (Span(1, 2),), reference=False, pair=1),
        Lane("three", (), reference=False, pair=None),
    ]
    svg = timeline(lanes, 10.0, "clip")
    assert len(parts(svg, "rect")) == 3
    assert {"reference: one", "prediction: two", "pair 1", "unmatched"} <= set(texts(svg))


def test_a_strip_draws_the_value_its_interval_and_zero() -> None:
    svg = strip(Estimate(0.0, -0.5, 0.5, 9), -1.0, 1.0)
    (dot,) = parts(svg, "circle")
    assert float(dot.get("cx", 0)) == STRIP[0] / 2
    interval = [one for one in parts(svg, "line") if one.get("stroke-width") == "2"]
    assert len(interval) == 1
    assert float(interval[0].get("x2", 0)) - float(interval[0].get("x1", 0)) == (STRIP[0] - 12) / 2
    assert len(parts(svg, "line")) == 1 + 3 + 1  # the axis, its ends and zero, the interval


def test_a_strip_of_nothing_is_an_axis_and_bounds_stand_behind() -> None:
    assert not parts(strip(undefined("nothing", 0), 0.0, 1.0), "circle")
    (box,) = parts(strip(Estimate(0.5, 0.4, 0.6, 9), 0.0, 1.0, bounds=(0.25, 0.75)), "rect")
    assert float(box.get("width", 0)) == (STRIP[0] - 12) / 2
    assert not parts(strip(Estimate(0.5, n=1), 0.0, 1.0, bounds=(float("nan"), 1.0)), "rect")


def test_a_course_joins_its_points_by_step() -> None:
    points = [(2000, Estimate(0.5, 0.4, 0.6, 9)), (1000, Estimate(0.25, n=9)), (3000, undefined("nothing", 0))]
    svg = course(points, "rate")
    first, second = parts(svg, "circle")
    assert float(first.get("cx", 0)) < float(second.get("cx", 0))
    assert float(first.get("cy", 0)) > float(second.get("cy", 0))
    assert {"rate", "1,000", "2,000", "0.6"} <= set(texts(svg))
    assert texts(course([], "empty"))[0] == "empty"
