"""The figures of the papers that can be recomputed from their printed numbers, recomputed.

A printed number stands for every number that would have been printed so. A figure agrees when some numbers that its
inputs stand for give one that it stands for; nothing else is allowed for. What a paper says in words is held against
the printed numbers as they stand. Printed as Markdown; docs/metrics/reproduction.md holds it.

    python scripts/bench/paper_figures.py
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import inf
from statistics import NormalDist

import paper_tables as paper
from paper_tables import Printed, Row, Table

CONDITIONS = ("V", "CoT", "RG")

Formula = Callable[..., Fraction]


@dataclass(frozen=True)
class Figure:
    """A printed figure beside the smallest and the largest number that its inputs can give."""

    name: str
    printed: Printed
    low: Fraction
    high: Fraction | float

    @property
    def agrees(self) -> bool:
        low, high = self.printed.ends
        return self.low <= high and low <= self.high

    def __str__(self) -> str:
        digits = len(self.printed.text.partition(".")[2]) + 1
        low, high = (f"{float(end):.{digits}f}" for end in (self.low, self.high))
        upward = "" if low == high else " or more" if self.high == inf else f" to {high}"
        return f"{self.name}: {self.printed.text}, not {low}{upward}"


@dataclass(frozen=True)
class Relation:
    """A rule that figures of a table follow, or might. `implied` where it follows from what the paper says they are."""

    where: str
    rule: str
    implied: bool
    figures: Sequence[Figure]


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper, and what its own tables say of it."""

    where: str
    said: str
    found: str
    holds: bool


# How figures are recomputed.


def figure(name: str, printed: Printed, formula: Formula, *inputs: Printed) -> Figure:
    """A figure of a formula that is monotone in each input: its range is spanned by the inputs' ends."""
    values = [formula(*ends) for ends in product(*(one.ends for one in inputs))]
    return Figure(name, printed, min(values), max(values))


def each(table: Table, printed: int, formula: Formula, *inputs: int) -> list[Figure]:
    """A figure for each row, from cells of the same row."""
    return [figure(name, row[printed], formula, *(row[at] for at in inputs)) for name, row in table.items()]


def copies(table: Table, at: int, elsewhere: Mapping[str, Printed], formula: Formula | None = None) -> list[Figure]:
    """A figure for each row, as it is printed elsewhere under the same name."""
    return [figure(name, row[at], formula or same, elsewhere[name]) for name, row in table.items()]


def counts(name: str, printed: Printed, parts: int) -> Figure:
    """A figure that must be k / parts: beside it stands the nearest of these."""
    possible = Fraction(round(printed.value * parts), parts)
    return Figure(name, printed, possible, possible)


def between(name: str, whole: Printed, slices: Row) -> Figure:
    """A mean over clips lies between the means of its slices if every clip weighs the same in all of them."""
    return Figure(name, whole, min(one.ends[0] for one in slices), max(one.ends[1] for one in slices))


def same(value: Fraction) -> Fraction:
    return value


def hundredth(value: Fraction) -> Fraction:
    return value / 100


def quotient(part: Fraction, whole: Fraction) -> Fraction:
    return part / whole


def percent(part: Fraction, whole: Fraction) -> Fraction:
    return 100 * part / whole


def times(a: Fraction, b: Fraction) -> Fraction:
    return a * b


def less(a: Fraction, b: Fraction) -> Fraction:
    return a - b


def total(*values: Fraction) -> Fraction:
    return sum(values, Fraction(0))


def mean(*values: Fraction) -> Fraction:
    return total(*values) / len(values)


def harmonic(p: Fraction, r: Fraction) -> Fraction:
    return 2 * p * r / (p + r)


def closed(plain: Fraction, other: Fraction, full: Fraction) -> Fraction:
    """The percent of the way from plain to full that another goes."""
    return percent(other - plain, full - plain)


def pooled_precision(recall: Fraction, clean: Fraction) -> Fraction:
    """Clip-level precision over the 268 clips with and the 114 without a glitch."""
    return 268 * recall / (268 * recall + 114 * (1 - clean))


def normal_p(difference: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """Two-sided p of a difference whose 95 percent interval is 2 * 1.96 standard errors wide."""
    return Fraction(2 * NormalDist().cdf(float(-difference * Fraction("3.92") / (high - low))))


# RoboGaze.


def main_column(at: int) -> dict[str, Printed]:
    """A measure of Table 4 by model and condition: 0 is F1, 3 mIoU, 6 F x IoU, 9 clean accuracy."""
    found = {f"{name} {said}": row[at + i] for name, row in paper.MAIN.items() for i, said in enumerate(CONDITIONS)}
    return found | {"human": paper.HUMAN[at // 3]}


def under(condition: str, figures: Mapping[str, Printed]) -> dict[str, Printed]:
    """The figures of one condition by model."""
    return {name.removesuffix(f" {condition}"): one for name, one in figures.items() if name.endswith(f" {condition}")}


def robogaze_main() -> Iterator[Relation]:
    """Tables 2 to 12."""
    f1, miou, joint, clean = (main_column(at) for at in (0, 3, 6, 9))
    clips = [row[0] for row in paper.SPLITS.values()]
    yield Relation("Tables 2, 7", "clips add up to 382", True, [figure("clips", Printed("382"), total, *clips)])
    yield Relation("Table 7", "duration = frames / frames a second", True, each(paper.SPLITS, 4, quotient, 2, 3))
    yield Relation("Table 7", "pass rate = clips / pool", True, each(paper.SPLITS, 5, quotient, 0, 1))
    yield Relation("Table 3", "overall = mean of the three splits", False, each(paper.AGREEMENT, 3, mean, 0, 1, 2))
    products = [figure(name, joint[name], times, f1[name], miou[name]) for name in joint]
    yield Relation("Table 4", "F x IoU = F1 x mIoU", False, products)
    measures = zip(("F1", "mIoU", "F x IoU"), paper.ABLATION[:3], (f1, miou, joint), strict=True)
    full = [figure(measure, one, same, known["Gemma4-31B RG"]) for measure, one, known in measures]
    yield Relation("Table 5", "full system = Table 4", True, full)
    within1 = figure("Gemma4-31B RG", paper.SEVERITY_WITHIN1, hundredth, paper.ABLATION[3])
    yield Relation("Table 12", "within 1 = Table 5's Sev@1", True, [within1])
    plain, wrapped = (copies(paper.REGIMES, at, under(said, f1)) for at, said in ((0, "V"), (1, "RG")))
    yield Relation("Table 10", "default regime = Table 4", True, plain + wrapped)
    yield Relation("Table 11", "F1 = harmonic mean of P and R", False, each(paper.DETECTION, 2, harmonic, 0, 1))
    pooled = each(paper.DETECTION, 0, pooled_precision, 1, 3)
    yield Relation("Table 11", "P from recall, clean accuracy and 268 + 114 clips, pooled", False, pooled)
    yield Relation("Table 11", "clean accuracy = Table 4", True, copies(paper.DETECTION, 3, clean))


def robogaze_statistics() -> Iterator[Relation]:
    """Tables 16 to 20."""
    f1 = main_column(0)
    yield Relation("Table 16", "lambda 0.25 = Table 4", True, copies(paper.LAMBDA, 2, under("RG", f1)))
    convex = [
        Figure(one.name, one.printed, one.low, inf)
        for one in each(paper.LAMBDA, 3, lambda at_0, at_025: 2 * at_025 - at_0, 0, 2)
    ]
    rule = "were it computed from C, which is convex in lambda: F1(0.5) is 2 F1(0.25) - F1(0) or more"
    yield Relation("Table 16", rule, False, convex)
    calls = figure("calls", paper.CALLS[-1], total, *paper.CALLS[:-1])
    yield Relation("Table 17", "steps add up to all calls", True, [calls])
    yield Relation("Table 18", "F1 = Table 4", True, copies(paper.INTERVALS, 0, under("RG", f1)))
    known = {name: row[0] for name, row in paper.INTERVALS.items()}
    apart = [figure(n, row[0], less, *(known[one] for one in n.split(" - "))) for n, row in paper.ADJACENT.items()]
    yield Relation("Table 19", "difference = Table 18", True, apart)
    numbered = {name: row for name, row in paper.ADJACENT.items() if row[3].text != paper.P_BOUND}
    yield Relation(
        "Table 19", "p of a normal distribution with that interval", False, each(numbered, 3, normal_p, 0, 1, 2)
    )
    yield Relation("Table 20, strict", "F1 = Table 4", True, copies(paper.STRICT, 2, f1))
    for kind, table in (("strict", paper.STRICT), ("loose", paper.LOOSE)):
        yield Relation(f"Table 20, {kind}", "F1 = harmonic mean of P and R", False, each(table, 2, harmonic, 0, 1))
        models = sorted({name.rpartition(" ")[0] for name in table})
        gains = [figure(n, table[f"{n} RG"][3], less, table[f"{n} RG"][2], table[f"{n} V"][2]) for n in models]
        yield Relation(f"Table 20, {kind}", "gain = RG - V", True, gains)


def robogaze_controls() -> Iterator[Relation]:
    """Tables 21 to 26."""
    f1 = main_column(0)
    for where, table in (("Table 21", paper.VOTES), ("Table 22", paper.TAXONOMY)):
        known = copies(table, 0, under("V", f1)) + copies(table, 2, under("RG", f1))
        yield Relation(where, "V and RG = Table 4", True, known)
        yield Relation(where, "gain over V", True, each(table, 3, less, 1, 0))
        yield Relation(where, "percent of the gap closed", True, each(table, 4, closed, 0, 1, 2))
    yield Relation("Table 23", "F1 = harmonic mean of P and R", False, each(paper.THRESHOLDS, 2, harmonic, 0, 1))
    yield Relation("Table 23", "default threshold = Tables 4, 11 and 20", True, list(default_threshold()))
    yield from pilot()
    for where, table in (("Table 25", paper.FAMILIES), ("Table 26", paper.EMBODIMENTS)):
        clips = figure("clips", Printed("382"), total, *table["clips"])
        yield Relation(where, "clips add up to 382", True, [clips])
        models = ("Gemini 3.1 Pro", "Gemma4-31B")
        whole = [between(name, f1[f"{name} RG"], table[name]) for name in models]
        yield Relation(where, "Table 4's F1 is within the range of the slices", False, whole)
        gains = [between(name, paper.STRICT[f"{name} RG"][3], table[f"{name} gain"]) for name in models]
        yield Relation(where, "Table 20's gain is within the range of the slices", False, gains)


def default_threshold() -> Iterator[Figure]:
    """Table 23's row of the system as it is reported elsewhere."""
    name, row = "Gemma4-31B RG", paper.THRESHOLDS["0.50"]
    precision, recall, f1 = paper.STRICT[name][:3]
    yield figure("P", row[0], hundredth, precision)
    yield figure("R", row[1], hundredth, recall)
    yield figure("F1", row[2], hundredth, f1)
    yield figure("F x IoU", row[3], same, main_column(6)[name])
    yield figure("clean accuracy", row[4], same, main_column(9)[name])
    yield figure("recall of glitchy clips", row[5], same, paper.DETECTION[name][1])


def pilot() -> Iterator[Relation]:
    """Table 24."""
    runs = {name: paper.PILOT[name] for name in CONDITIONS}
    main_gap, gap, kept = (paper.PILOT[name] for name in ("main gap", "pilot gap", "retention"))
    yield Relation("Table 24", "F x IoU = F1 x mIoU", False, each(runs, 2, times, 0, 1))
    gaps = []
    for at, (measure, column) in enumerate((("F1", 0), ("clean accuracy", 3))):
        main = under("RG", main_column(3 * column)), under("V", main_column(3 * column))
        gaps.append(figure(measure, gap[at], less, runs["RG"][column], runs["V"][column]))
        gaps.append(figure(f"{measure}, main", main_gap[at], less, *(one["Gemini 3.1 Pro"] for one in main)))
    yield Relation("Table 24", "gap = RG - V", True, gaps)
    shares = [
        figure(name, kept[at], percent, gap[at], main_gap[at]) for at, name in enumerate(("F1", "clean accuracy"))
    ]
    yield Relation("Table 24", "retention = gap / main gap", True, shares)
    ninths = [counts(name, row[3], 9) for name, row in runs.items()]
    yield Relation("Table 24", "clean accuracy = k / 9 clean clips", True, ninths)


# GLIDE and GBQA.


def glide() -> Iterator[Relation]:
    """Tables 3 to 6 and section 5.3."""
    both = {**paper.GLIDE_PLAIN, **{f"{name} + GLIDE": row for name, row in paper.GLIDE.items()}}
    yield Relation("Table 3", "F1 = harmonic mean of P and R", True, each(both, 2, harmonic, 0, 1))
    yield Relation("Table 3", "F1 x IoU = F1 x mIoU", False, each(both, 4, times, 2, 3))
    gains = [
        figure(f"{name} {measure}", row[at], less, paper.GLIDE[name][at], paper.GLIDE_PLAIN[name][at])
        for name, row in paper.GLIDE_GAINS.items()
        for at, measure in enumerate(("P", "R", "F1", "mIoU", "F1 x IoU"))
    ]
    yield Relation("Table 3", "gain = with - without", True, gains)
    means = []
    for (measure, (before, after, *gain)), at in zip(paper.GLIDE_MEANS.items(), (2, 3, 4), strict=True):
        means.append(figure(f"{measure} without", before, mean, *(paper.GLIDE_PLAIN[name][at] for name in paper.GLIDE)))
        means.append(figure(f"{measure} with", after, mean, *(row[at] for row in paper.GLIDE.values())))
        means += [figure(f"{measure} gain", one, less, after, before) for one in gain]
    yield Relation("section 5.3", "means over the six open models, and their gains", True, means)
    yield Relation("Table 4", "F1 = harmonic mean of P and R", True, each(paper.GLIDE_ABLATION, 2, harmonic, 0, 1))
    first = {"GLIDE": paper.GLIDE_ABLATION["GLIDE"]}
    known = [one for at in range(3) for one in copies(first, at, {"GLIDE": paper.GLIDE["Qwen2.5-VL-7B"][at]})]
    yield Relation("Table 4", "first row = Table 3", True, known)
    miou = {name: row[3] for name, row in paper.GLIDE.items()}
    yield Relation("Table 5", "mIoU = Table 3", True, copies(paper.GLIDE_GROUNDING, 0, miou))
    sums = [figure(name, row[0], total, *row[2::2]) for name, row in paper.GENRES.items()]
    sums.append(figure("videos", Printed("5238"), total, *(row[0] for row in paper.GENRES.values())))
    yield Relation("Table 6", "subgenres add up to genres, and these to 5,238", True, sums)
    shares = [
        figure(name, share, percent, videos, Printed("5238"))
        for name, row in paper.GENRES.items()
        for videos, share in zip(row[::2], row[1::2], strict=True)
    ]
    yield Relation("Table 6", "share = videos / 5,238", True, shares)


def gbqa() -> Iterator[Relation]:
    """Tables 1 and 2."""
    found = [
        Figure(name, one, *(100 * counts(name, Printed(f"{one.text}e-2"), 124).low,) * 2)
        for name, row in paper.LEADERBOARD.items()
        for one in row
    ]
    yield Relation("Table 1", "recall = k / 124 bugs", True, found)
    yield Relation("Table 1", "best = largest of the eight", True, each(paper.LEADERBOARD, 8, max, *range(8)))
    candidates = figure("candidates", Printed("378"), total, Printed("124"), Printed("254"))
    yield Relation("Table 2", "valid bugs and others add up to all candidates", True, [candidates])


PAPERS: Mapping[str, Sequence[Callable[[], Iterator[Relation]]]] = {
    "RoboGaze": (robogaze_main, robogaze_statistics, robogaze_controls),
    "GLIDE": (glide,),
    "GBQA": (gbqa,),
}


# What is said in words.


def span(
    where: str, said: str, found: Sequence[Fraction], holds: Callable[[Fraction, Fraction], bool], digits: int = 1
) -> Claim:
    """A claim about the smallest and the largest of some numbers."""
    low, high = min(found), max(found)
    return Claim(where, said, f"{float(low):.{digits}f} to {float(high):.{digits}f}", holds(low, high))


def nearly(low: int, high: int) -> Callable[[Fraction, Fraction], bool]:
    """Whether a range, rounded to whole numbers, is this one."""
    return lambda found_low, found_high: (round(found_low), round(found_high)) == (low, high)


def claims() -> Iterator[Claim]:
    """What the papers say of their own tables."""
    yield from abstract()
    yield from statistics_in_words()
    yield from controls_in_words()
    proprietary = list(paper.GLIDE_PLAIN.values())[:4]
    margins = [
        row[at].value - max(one[at].value for one in proprietary) for row in paper.GLIDE.values() for at in (2, 3, 4)
    ]
    said = "with GLIDE every open model beats the best proprietary one in F1, mIoU and F1 x IoU"
    yield span("GLIDE, section 5.3", said, margins, lambda low, high: low > 0, 2)
    gains = [row[at + 4].value - row[at].value for row in paper.LEADERBOARD.values() for at in range(4)]
    said = "quality assurance mode beats player mode for every model and budget"
    yield span("GBQA, section 5.2", said, gains, lambda low, high: low > 0, 2)


def abstract() -> Iterator[Claim]:
    """RoboGaze's abstract."""
    rows, where = paper.MAIN.values(), "RoboGaze, abstract"
    f1, joint = ([row[at + 2].value - row[at].value for row in rows] for at in (0, 6))
    yield span(where, "F1 improves by up to 43 points", f1, lambda low, high: high >= Fraction("42.5"))
    yield span(where, "F x IoU improves by up to 37 points", joint, lambda low, high: high >= Fraction("36.5"))
    gap = [closed(row[0].value, row[2].value, paper.HUMAN[0].value) for row in rows]
    yield span(
        where,
        "about 85 % of the gap to the human ceiling is closed (at best)",
        gap,
        lambda low, high: round(high) == 85,
    )
    plain, wrapped = ([row[at].value for row in rows] for at in (9, 11))
    yield span(where, "clean accuracy of V is under 0.25", plain, lambda low, high: high < Fraction("0.25"), 2)
    yield span(where, "clean accuracy of RG is over 0.80", wrapped, lambda low, high: low > Fraction("0.8"), 2)


def statistics_in_words() -> Iterator[Claim]:
    """Around RoboGaze's Tables 2 to 20."""
    durations = [row[4] for row in paper.SPLITS.values()]
    lasting = ", ".join(one.text for one in durations)
    whole = [int(one.value) for one in durations]
    yield Claim("RoboGaze, Table 2", "clips last 8 to 9, 5 to 6 and 17 to 18 s", lasting, whole == [8, 5, 17])
    moved = [abs(row[at].value - row[at + 2].value) for row in paper.REGIMES.values() for at in (0, 1)]
    yield span("RoboGaze, Table 10", "the regime changes F1 by at most 2.0", moved, lambda low, high: high <= 2)
    touching = [one[1].value <= other[2].value for one, other in pairwise(paper.INTERVALS.values())]
    overlapping = f"{sum(touching)} of {len(touching)}"
    yield Claim("RoboGaze, Table 18", "several adjacent intervals overlap", overlapping, sum(touching) > 2)
    apart = [row[1].value > 0 for row in paper.ADJACENT.values()]
    separable = f"{sum(apart)} of {len(apart)}"
    said = "seven of eight adjacent pairs are separable"
    yield Claim("RoboGaze, Table 19", said, separable, (sum(apart), len(apart)) == (7, 8))
    pairs = list(zip(paper.STRICT.values(), paper.LOOSE.values(), strict=True))
    drops = [strict[0].value - loose[0].value for strict, loose in pairs]
    wider = [loose[3].value - strict[3].value for strict, loose in pairs[1::2]]
    where = "RoboGaze, Table 20"
    yield span(where, "loose precision of V is 7 to 11 points lower", drops[::2], nearly(7, 11))
    yield span(
        where, "loose precision of RG is 2 to 3 points lower", drops[1::2], lambda low, high: 2 <= low <= high <= 3
    )
    exactly = (Fraction("2.0"), Fraction("3.4"))
    yield span(where, "the gain of RG is 2.0 to 3.4 points wider", wider, lambda low, high: (low, high) == exactly)


def controls_in_words() -> Iterator[Claim]:
    """Around RoboGaze's Tables 21 to 25."""
    votes, taxonomy = paper.VOTES.values(), paper.TAXONOMY.values()
    left = [row[2].value - row[1].value for row in votes]
    where = "RoboGaze, Table 21"
    yield span(where, "V@3 closes 13 to 22 % of the gap", [row[4].value for row in votes], nearly(13, 22))
    yield span(where, "V@3 leaves at least 30 points", left, lambda low, high: low >= 30)
    yield span(where, "V@3 gains 4 to 6 points", [row[3].value for row in votes], nearly(4, 6))
    where = "RoboGaze, Table 22"
    yield span(where, "V+Tax closes 20 to 28 % of the gap", [row[4].value for row in taxonomy], nearly(20, 28))
    yield span(where, "V+Tax gains 7 to 11 points", [row[3].value for row in taxonomy], nearly(7, 11))
    recall = paper.THRESHOLDS["0.60"][5]
    said = "recall of glitchy clips falls below 0.9 above the threshold 0.6"
    yield Claim("RoboGaze, Table 23", said, f"{recall.text} at 0.60", recall.value >= Fraction("0.9"))
    for name in ("Gemini 3.1 Pro", "Gemma4-31B"):
        whole = paper.STRICT[f"{name} RG"][3].value
        apart = [abs(one.value - whole) for one in paper.FAMILIES[f"{name} gain"]]
        said = f"every family's gain is within 3 points of the whole ({name})"
        yield span("RoboGaze, Table 25", said, apart, lambda low, high: high <= 3)


# Printing.


def relations() -> Iterator[tuple[str, Relation]]:
    """All of them with the paper they are of."""
    return ((name, one) for name, parts in PAPERS.items() for part in parts for one in part())


def relation_line(name: str, one: Relation) -> str:
    """A line of the first table."""
    agreeing = sum(known.agrees for known in one.figures)
    others = "; ".join(str(known) for known in one.figures if not known.agrees)
    implied = "yes" if one.implied else "no"
    return f"| {name}, {one.where} | {one.rule} | {implied} | {agreeing} of {len(one.figures)} | {others} |"


def report() -> str:
    """Both tables."""
    lines = ["| where | relation | implied | agree | figures that do not, and what their inputs give |"]
    lines += ["|---|---|---|---|---|", *(relation_line(name, one) for name, one in relations()), ""]
    lines += ["| where | what is said | what the table gives | holds |", "|---|---|---|---|"]
    lines += [f"| {one.where} | {one.said} | {one.found} | {'yes' if one.holds else 'no'} |" for one in claims()]
    return "\n".join(lines)


if __name__ == "__main__":
    print(report())
