"""Checks the printed figures of the papers that can be recomputed: the tables of docs/metrics/reproduction.md.

A printed number stands for every number that rounds to it. A figure agrees if some values within the ranges of its
inputs give a value within its own range. The numbers, and the rules that relate them, are in paper_figures.yaml.

    python scripts/research/paper_figures.py
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import inf
from pathlib import Path
from statistics import NormalDist
from typing import Any

import yaml

DATA = Path(__file__).with_suffix(".yaml")
GLITCHY_CLIPS, CLEAN_CLIPS = 268, 114


@dataclass(frozen=True)
class Printed:
    """A printed number, and half a unit of its last digit (0 for a count)."""

    text: str

    @property
    def value(self) -> Fraction:
        return Fraction(self.text)

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The smallest and the largest number that is printed so."""
        _, point, digits = self.text.partition(".")
        half = Fraction(1, 2 * 10 ** len(digits)) if point else Fraction(0)
        return self.value - half, self.value + half


def normal_p(difference: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """Two-sided p of a difference whose 95 percent interval is 2 * 1.96 standard errors wide."""
    return Fraction(2 * NormalDist().cdf(float(-difference * Fraction("3.92") / (high - low))))


RULES: Mapping[str, Callable[..., Fraction]] = {
    "equal": lambda value: value,
    "hundredth": lambda value: value / 100,
    "sum": lambda *values: sum(values, Fraction(0)),
    "mean": lambda *values: sum(values, Fraction(0)) / len(values),
    "largest": max,
    "difference": lambda a, b: a - b,
    "product": lambda a, b: a * b,
    "quotient": lambda part, whole: part / whole,
    "percent": lambda part, whole: 100 * part / whole,
    "harmonic": lambda precision, recall: 2 * precision * recall / (precision + recall),
    "gap_closed": lambda plain, other, full: 100 * (other - plain) / (full - plain),
    "pooled_precision": lambda recall, clean: (
        GLITCHY_CLIPS * recall / (GLITCHY_CLIPS * recall + CLEAN_CLIPS * (1 - clean))
    ),
    "normal_p": normal_p,
    "convex": lambda at_0, at_025: 2 * at_025 - at_0,
}
"""Formulas that are monotone in each input, so that the ends of the inputs span the range of the result."""


@dataclass(frozen=True)
class Figure:
    """A printed figure, and the range of values that its inputs allow."""

    name: str
    printed: Printed
    low: Fraction
    high: Fraction | float

    @classmethod
    def parse(cls, line: str) -> "Figure":
        """From `figure: printed number = rule inputs`."""
        name, _, rest = line.rpartition(": ")
        text, _, formula = rest.partition(" = ")
        return cls(name, Printed(text), *_range(Printed(text), *formula.split()))

    @property
    def agrees(self) -> bool:
        low, high = self.printed.ends
        return self.low <= high and low <= self.high

    def __str__(self) -> str:
        digits = len(self.printed.text.partition(".")[2]) + 1
        low, high = (f"{float(end):.{digits}f}" for end in (self.low, self.high))
        rest = "" if low == high else " or more" if self.high == inf else f" to {high}"
        return f"{self.name}: {self.printed.text}, not {low}{rest}"


def _range(printed: Printed, rule: str, *texts: str) -> tuple[Fraction, Fraction | float]:
    inputs = [Printed(text) for text in texts]
    if rule in ("share_of", "percent_of"):  # k of so many: the nearest of these
        scale = 100 if rule == "percent_of" else 1
        nearest = scale * Fraction(round(printed.value / scale * inputs[0].value), int(inputs[0].value))
        return nearest, nearest
    if rule == "within":  # a mean over clips is between the means of its slices
        return min(number.ends[0] for number in inputs), max(number.ends[1] for number in inputs)
    values = [RULES[rule](*ends) for ends in product(*(number.ends for number in inputs))]
    return min(values), inf if rule == "convex" else max(values)


def relation_line(relation: Mapping[str, Any]) -> str:
    figures = [Figure.parse(line) for line in relation["figures"]]
    agreeing, others = sum(figure.agrees for figure in figures), "; ".join(str(f) for f in figures if not f.agrees)
    implied = "yes" if relation["implied"] else "no"
    head = f"| {relation['where']} | {relation['relation']} | {implied} "
    return f"{head}| {agreeing} of {len(figures)} | {others} |"


def claim_line(claim: Mapping[str, Any]) -> str:
    """Whether the lowest and the highest of some values, or the number of positive ones, are within limits."""
    values = [RULES[rule](*(Fraction(text) for text in texts)) for rule, *texts in map(str.split, claim["values"])]
    measures = {"lowest": min(values), "highest": max(values), "positive": sum(value > 0 for value in values)}
    limits = {name: claim[name] for name in measures if name in claim}
    holds = all(Fraction(str(low)) <= measures[name] <= _limit(high) for name, (low, high) in limits.items())
    low, high = (f"{float(measures[name]):.{claim.get('digits', 1)}f}" for name in ("lowest", "highest"))
    found = (
        f"{measures['positive']} of {len(values)}"
        if "positive" in claim
        else low
        if low == high
        else f"{low} to {high}"
    )
    return f"| {claim['where']} | {claim['claim']} | {found} | {'yes' if holds else 'no'} |"


def _limit(number: float) -> Fraction | float:
    return number if number == inf else Fraction(str(number))


def report() -> str:
    """Both tables as Markdown."""
    data = yaml.safe_load(DATA.read_text(encoding="utf-8"))
    lines = ["| where | relation | implied | agree | figures that do not, and what their inputs give |"]
    lines += ["|---|---|---|---|---|", *map(relation_line, data["relations"]), ""]
    lines += ["| where | claim | what the table gives | holds |", "|---|---|---|---|"]
    return "\n".join([*lines, *map(claim_line, data["claims"])])


if __name__ == "__main__":
    print(report())
