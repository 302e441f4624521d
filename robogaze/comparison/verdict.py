"""What a comparison comes to, in sentences."""

from collections.abc import Mapping, Sequence
from math import isnan

from robogaze.comparison.calibration import Corrected
from robogaze.comparison.leaderboard import ComparisonConfig, LeaderboardRow
from robogaze.comparison.pairs import PairedDifference, RunPair
from robogaze.core.scores import Estimate


def of_pair(one: RunPair, names: Sequence[str], comparisons: int, terms: ComparisonConfig) -> str:
    """Whether two runs differ in their clean rate, by how much, and what would turn it over."""
    first, second, rate = names[one.first], names[one.second], terms.scope.name
    if not one.prompts:
        return f"{first} and {second} share no prompt; nothing can be said."
    found, over = one.decisive, f"over {_prompts(one.prompts)}"
    if one.corrected is not None:
        naive = points(one.clean.difference.value)
        over = f"corrected for the judge's errors ({naive} as it says) {over}"
    if not found.difference.defined:
        return f"Nothing can be said of {first} and {second}: {found.difference.why}."
    by = f"{points(found.difference.value)} points [{points(found.difference.low)}, {points(found.difference.high)}]"
    if one.separated(terms.level):
        word = "better" if found.difference.value > 0 else "worse"
        said = f"{first} is {word} than {second}: {rate} {by} {over}, {_p(found.p, found.holm, comparisons)}"
        return f"{said}{_turned(one)}."
    if found.excludes_zero:
        why = f"the interval excludes zero, but {_p(found.p, found.holm, comparisons)} does not hold"
        return f"No significant difference between {first} and {second}: {rate} {by} {over}; {why}."
    return f"No significant difference between {first} and {second}: {rate} {by} {over}; {_left(found, terms)}."


def _left(found: PairedDifference, terms: ComparisonConfig) -> str:
    """Which differences are ruled out; where a margin is given, whether the two are equal within it."""
    most = f"no difference larger than {100 * found.most:.1f} points"
    if terms.margin is None:
        return most
    margin = f"within {100 * terms.margin:g} points"
    return f"equal {margin}" if found.most <= terms.margin else f"not shown to be equal {margin} ({most})"


def overall(
    standings: Sequence[LeaderboardRow], bands: Sequence[Sequence[int]], pairs: Sequence[RunPair], baseline: int | None,
    terms: ComparisonConfig, corrected: Sequence[Mapping[str, Corrected]] = (),
) -> str:  # fmt: skip
    """Which run is the best, and what of the baseline, in one sentence; rates are `corrected` where they can be."""
    names = [one.name for one in standings]
    if len(names) == 1:
        return f"{names[0]}: {terms.scope.name} {_rate(0, standings, corrected)}; there is nothing to compare it with."
    top = bands[0]
    if not any(one.prompts for one in pairs):
        return "No two runs share a prompt; nothing can be said of their difference."
    best = (
        f"{names[top[0]]} has the highest {terms.scope.name}, {_rate(top[0], standings, corrected)}"
        if len(top) == 1
        else f"{_listed([names[run] for run in top])} do not differ significantly as the best"
    )
    if baseline is None:
        return f"{best}."
    return f"{best}; {_against(pairs, names, baseline, terms)}."


def _against(pairs: Sequence[RunPair], names: Sequence[str], baseline: int, terms: ComparisonConfig) -> str:
    apart: dict[str, list[str]] = {"better": [], "worse": [], "not significantly different": []}
    for one in pairs:
        if not one.separated(terms.level):
            apart["not significantly different"].append(names[one.first])
        else:
            apart["better" if one.decisive.difference.value > 0 else "worse"].append(names[one.first])
    said = [f"{_listed(runs)} {'is' if len(runs) == 1 else 'are'} {word}" for word, runs in apart.items() if runs]
    return f"against {names[baseline]}, {', '.join(said)}"


def points(share: float) -> str:
    """A difference of shares in percentage points, with its sign."""
    return "undefined" if isnan(share) else f"{100 * share:+.1f}"


def _turned(one: RunPair) -> str:
    """Whether the undecided clips could turn the sign."""
    if one.worst <= 0 <= one.best:
        between = f"{points(one.worst)} to {points(one.best)} points"
        return f", though the undecided clips could turn it ({between})"
    return ""


def _p(p: float, holm: float, comparisons: int) -> str:
    if comparisons == 1:
        return f"p = {p:.2g}"
    return f"p = {p:.2g} ({holm:.2g} adjusted for {comparisons} comparisons)"


def _rate(run: int, standings: Sequence[LeaderboardRow], corrected: Sequence[Mapping[str, Corrected]]) -> str:
    naive = _told(standings[run].clean_rate)
    if not corrected or "clean_rate" not in corrected[run] or not corrected[run]["clean_rate"].corrected.defined:
        return naive
    return f"{_told(corrected[run]['clean_rate'].corrected)} corrected for the judge's errors ({naive} as it says)"


def _told(rate: Estimate) -> str:
    return f"{rate.value:.3f} [{rate.low:.3f}, {rate.high:.3f}]" if rate.defined else "undefined"


def _prompts(number: int) -> str:
    return f"{number:,} shared prompt{'' if number == 1 else 's'}"


def _listed(words: Sequence[str]) -> str:
    return " and ".join(words) if len(words) < 3 else f"{', '.join(words[:-1])} and {words[-1]}"
