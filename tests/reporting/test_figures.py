"""Figures are whole SVG documents that tell their numbers in text, too."""

from xml.etree import ElementTree

from robogaze.core.scores import Estimate, undefined
from robogaze.core.time import Span
from robogaze.reporting.figures import Lane, Point, bars, curve, timeline

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
