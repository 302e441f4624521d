"""The human ceiling: each annotator against what the others agree on, in the metrics of a system.

Of two annotators each is scored against the other. Of more, each is scored against the consensus of the others (see
`consensus`); clips on which these agree on nothing they report have none, and are counted. An annotator on a clip is
scored as a system would be: same matching, same rows, same means, the judge asked in the same way. A clip with a
failed judgement leaves the estimate; the bounds say what it would be if all failed pairs were unrelated, or the same.

The ceiling pools all annotators: `macro` is the mean over annotator and clip, `micro` is over all their events. Clips,
or prompts where clips share one, are the units, and take all their annotators with them; that is the interval of shares
of clips, too, which Wilson's would make too narrow, for a clip is counted once for each annotator. The row of one
annotator is told as a system's.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robogaze.agreement.adjudication import consensus, named
from robogaze.agreement.event_matching import MatchedClip
from robogaze.core.annotation import ClipAnnotation
from robogaze.core.scores import undefined
from robogaze.evaluation.config import EvaluationConfig
from robogaze.evaluation.estimates import Matrix, Scores, Values, estimates, macro_scores, micro_scores
from robogaze.evaluation.rows import only_judgeable, row
from robogaze.judges.base import Judge
from robogaze.judges.similarity import similarities
from robogaze.metrics.scores import METRICS, expand, macro, macro_n, micro, micro_n
from robogaze.metrics.tally import COLUMNS
from robogaze.stats.resample import Sums, draw


@dataclass(frozen=True)
class CeilingRow:
    """Scores as a system has them; `n` counts the accounts behind them."""

    macro: Scores
    micro: Scores
    n: int


@dataclass(frozen=True)
class Ceiling:
    """The ceiling, for all clips, by dataset and by annotator.

    `without` counts the accounts that could not be scored, for the others have no consensus on the clip, and `failed`
    those that left the estimate with a failed judgement; `worst` and `best` are the bounds, None where none failed.
    """

    whole: CeilingRow
    datasets: dict[str, CeilingRow]
    annotators: dict[str, CeilingRow]
    without: int
    failed: int
    worst: CeilingRow | None
    best: CeilingRow | None


@dataclass(frozen=True)
class _Trial:
    """An annotator's account of a clip, and what it is scored against."""

    place: int
    account: ClipAnnotation
    reference: ClipAnnotation


async def human_ceiling(
    matched: Sequence[MatchedClip], annotators: Sequence[str], judge: Judge, terms: EvaluationConfig
) -> Ceiling:
    """Score every annotator against the others."""
    tried = [
        _Trial(place, named(account), _others(one, account.author, terms))
        for place, one in enumerate(matched)
        for account in one.case.accounts
    ]
    trials = [one for one in tried if one.reference.status == "complete"]
    judged = await similarities([(one.reference, one.account.findings) for one in trials], judge)
    asked = [only_judgeable(one.reference, one.account, each) for one, each in zip(trials, judged, strict=True)]
    failed = np.array([bool(np.isnan(one).any()) for one in asked], dtype=np.bool_)
    worst, best = (_rows(trials, asked, value, terms) for value in (0.0, 1.0))
    stands = np.where(failed[:, None], 0.0, worst)
    frame = _Frame(tuple(matched), tuple(trials), terms)
    of = {name: [one.account.author == name for one in trials] for name in annotators}
    within = {
        name: [matched[one.place].case.dataset == name for one in trials]
        for name in sorted({one.case.dataset for one in matched})
    }
    return Ceiling(
        whole=frame.pooled(stands),
        datasets={name: frame.pooled(_only(chosen, stands)) for name, chosen in within.items()},
        annotators={name: frame.alone(_only(chosen, stands)) for name, chosen in of.items()},
        without=len(tried) - len(trials),
        failed=int(failed.sum()),
        worst=frame.pooled(worst) if failed.any() else None,
        best=frame.pooled(best) if failed.any() else None,
    )


def _only(chosen: Sequence[bool], rows: Matrix) -> Matrix:
    """The rows with zeros in those that are not chosen: they leave every sum."""
    return np.where(np.array(chosen, dtype=np.bool_)[:, None], rows, 0.0)


def _others(one: MatchedClip, author: str, terms: EvaluationConfig) -> ClipAnnotation:
    """What the other annotators of a clip say together."""
    names = [name for name in one.case.authors if name != author]
    if len(names) == 1:
        return named(next(account for account in one.case.accounts if account.author != author))
    others = one.only(names)
    assert others is not None
    return consensus(others, terms.iou)


def _rows(trials: Sequence[_Trial], asked: Sequence[Matrix], value: float, terms: EvaluationConfig) -> Matrix:
    """The rows of all trials, with a value in the place of failed judgements."""
    rows = [
        row(one.reference, one.account, np.where(np.isnan(each), value, each), terms.weighting)
        for one, each in zip(trials, asked, strict=True)
    ]
    return np.array(rows, dtype=np.float64).reshape(len(trials), len(COLUMNS))


@dataclass(frozen=True)
class _Frame:
    """The clips, and the trials made on them."""

    matched: tuple[MatchedClip, ...]
    trials: tuple[_Trial, ...]
    terms: EvaluationConfig

    def alone(self, rows: Matrix) -> CeilingRow:
        """The scores of one annotator, as those of a system."""
        sums = self._sums(rows)
        if sums is None:
            return _nothing()
        return CeilingRow(macro_scores(sums, self.terms)[0], micro_scores(sums, self.terms)[0], _accounts(rows))

    def pooled(self, rows: Matrix) -> CeilingRow:
        """The scores of several."""
        sums = self._sums(rows)
        if sums is None:
            return _nothing()
        means, whole = (self._scores(sums, values, n(sums.total)) for values, n in ((macro, macro_n), (micro, micro_n)))
        return CeilingRow(means, whole, _accounts(rows))

    def _scores(self, sums: Sums, values: Values, n: Matrix) -> Scores:
        found = estimates(sums, values, len(METRICS), self.terms)
        return {name: found(0, index, int(n[0, index])) for index, name in enumerate(METRICS)}

    def _sums(self, rows: Matrix) -> Sums | None:
        """The sums over clips, each of which holds the rows of its annotators; None where there is no row."""
        if not _accounts(rows):
            return None
        ends = np.searchsorted([one.place for one in self.trials], range(1, len(self.matched)))
        # Each column of a clip is added up from the smallest: the order of the annotators must leave no trace.
        clips = np.stack([np.sort(trials, axis=0).sum(axis=0) for trials in np.split(expand(rows), ends)])
        strata = [one.case.dataset for one in self.matched]
        units = [one.case.unit(self.terms.units) for one in self.matched]
        return draw(strata, self.terms.resamples, np.random.default_rng(self.terms.seed), units).sums(clips[None])


def _accounts(rows: Matrix) -> int:
    """How many rows hold an account."""
    return int(rows[:, COLUMNS.index("clips")].sum())


def _nothing() -> CeilingRow:
    nothing = {name: undefined("no annotator can be scored against the others") for name in METRICS}
    return CeilingRow(nothing, nothing, 0)
