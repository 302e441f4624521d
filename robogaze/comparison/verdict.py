"""The result of a comparison in sentences."""

from collections.abc import Mapping, Sequence
from math import isnan

from robogaze.comparison.calibration import CorrectedEstimate
from robogaze.comparison.leaderboard import ComparisonConfig, LeaderboardRow
from robogaze.comparison.pairs import RunPair
from robogaze.core.estimate import Estimate
from robogaze.stats.paired import Difference


def pair_verdict(pair: RunPair, names: Sequence[str], comparisons: int, config: ComparisonConfig) -> str:
    """Whether two runs differ in their clean rate, by how much, and what could reverse it."""
    first, second, rate = names[pair.first], names[pair.second], config.scope.name
    if not pair.prompts:
        return f"{first} and {second} share no prompt and cannot be compared."
    found, over = pair.decisive, f"over {_prompts(pair.prompts)}"
    if pair.corrected is not None:
        naive = points(pair.clean.difference.value)
        over = f"corrected for the judge's errors ({naive} uncorrected) {over}"
    if not found.difference.defined:
        return f"{first} and {second} cannot be compared: {found.difference.why}."
    by = f"{points(found.difference.value)} points [{points(found.difference.low)}, {points(found.difference.high)}]"
    if pair.significant:
        word = "better" if found.difference.value > 0 else "worse"
        sentence = f"{first} is {word} than {second}: {rate} {by} {over}, {_p(found.p, found.holm, comparisons)}"
        return f"{sentence}{_reversal(pair, config)}."
    if found.excludes_zero:
        p, alpha = _p(found.p, found.holm, comparisons), f"{1 - config.level:.2g}"
        why = f"the interval excludes zero, but {p} is not below {alpha}"
        return f"No significant difference between {first} and {second}: {rate} {by} {over}; {why}."
    return f"No significant difference between {first} and {second}: {rate} {by} {over}; {_ruled_out(found, config)}."


def _ruled_out(found: Difference, config: ComparisonConfig) -> str:
    """Which differences are ruled out; with a margin, whether the two runs are equal within this margin."""
    no_larger = f"two one-sided tests rule out a difference larger than {100 * found.equivalence_bound:.1f} points"
    if config.margin is None:
        return no_larger
    margin = f"within {100 * config.margin:g} points"
    equal = found.equivalence_bound <= config.margin
    return f"equal {margin}" if equal else f"not shown to be equal {margin} ({no_larger})"


def overall_verdict(
    leaderboard: Sequence[LeaderboardRow],
    bands: Sequence[Sequence[int]],
    pairs: Sequence[RunPair],
    baseline: int | None,
    config: ComparisonConfig,
    corrected: Sequence[Mapping[str, CorrectedEstimate]] = (),
) -> str:
    """Which run is best, and how the runs compare with the baseline, in one sentence. A rate is given corrected if
    `corrected` contains it.
    """
    names = [row.name for row in leaderboard]
    if len(names) == 1:
        rate = f"{config.scope.name} {_rate(0, leaderboard, corrected)}"
        return f"{names[0]}: {rate}; there is no other run to compare it with."
    top = bands[0]
    if not any(pair.prompts for pair in pairs):
        return "No two runs share a prompt, so they cannot be compared."
    best = _best([names[run] for run in top], len(names))
    if len(top) == 1:
        best = f"{best} {config.scope.name}, {_rate(top[0], leaderboard, corrected)}"
    if baseline is None or len(top) == len(names) == 2:
        return f"{best}."
    return f"{best}; {_against(pairs, names, baseline, config)}."


def _best(top: Sequence[str], runs: int) -> str:
    if len(top) == 1:
        return f"{top[0]} has the highest"
    if len(top) == runs:
        return f"No significant difference between {_listed(top)}"
    return f"{_listed(top)} are the best, with no significant difference between them"


def _against(pairs: Sequence[RunPair], names: Sequence[str], baseline: int, config: ComparisonConfig) -> str:
    apart: dict[str, list[str]] = {"better": [], "worse": [], "not significantly different": []}
    for pair in pairs:
        if not pair.significant:
            apart["not significantly different"].append(names[pair.first])
        else:
            apart["better" if pair.decisive.difference.value > 0 else "worse"].append(names[pair.first])
    sentence = [f"{_listed(runs)} {'is' if len(runs) == 1 else 'are'} {word}" for word, runs in apart.items() if runs]
    return f"against {names[baseline]}, {', '.join(sentence)}"


def points(share: float) -> str:
    """A difference of shares in percentage points, with its sign."""
    return "undefined" if isnan(share) else f"{100 * share:+.1f}"


def _reversal(pair: RunPair, config: ComparisonConfig) -> str:
    """Whether the open clips could reverse the sign of the difference."""
    if pair.worst <= 0 <= pair.best:
        between = f"{points(pair.worst)} to {points(pair.best)} points"
        return f", but the {config.scope.open_clips} could reverse this difference ({between})"
    return ""


def _p(p: float, holm: float, comparisons: int) -> str:
    if comparisons == 1:
        return f"p = {p:.2g}"
    return f"p = {p:.2g} ({holm:.2g} adjusted for {comparisons} comparisons)"


def _rate(run: int, leaderboard: Sequence[LeaderboardRow], corrected: Sequence[Mapping[str, CorrectedEstimate]]) -> str:
    naive = _interval_text(leaderboard[run].clean_rate)
    if not corrected or "clean_rate" not in corrected[run] or not corrected[run]["clean_rate"].corrected.defined:
        return naive
    rate = corrected[run]["clean_rate"].corrected
    return f"{_interval_text(rate)} corrected for the judge's errors ({naive} uncorrected)"


def _interval_text(rate: Estimate) -> str:
    return f"{rate.value:.3f} [{rate.low:.3f}, {rate.high:.3f}]" if rate.defined else "undefined"


def _prompts(number: int) -> str:
    return f"{number:,} shared prompt{'' if number == 1 else 's'}"


def _listed(words: Sequence[str]) -> str:
    return " and ".join(words) if len(words) < 3 else f"{', '.join(words[:-1])} and {words[-1]}"
