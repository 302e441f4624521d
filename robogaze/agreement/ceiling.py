"""The human ceiling: the scores that annotators reach if each of them is scored like a system, against the others.

With two annotators, each is scored against the other annotator. With three or more annotators, each is scored against
the consensus of the other annotators (see `adjudication`). If the other annotators report events in a clip but agree on
none of them, the clip has no consensus. The annotator is then not scored on this clip, and `Ceiling.without` counts the
annotation. Each annotator is scored on a clip in the same way as a system: same matching, same rows, same means, same
judge. A clip with a failed judgement is excluded. The bounds give the values for two cases: all failed pairs are
unrelated, or all failed pairs describe the same event.

The ceiling pools all annotators: `macro` is the mean over all pairs of annotator and clip; `micro` is computed over all
events of all annotators. The units of the intervals are clips, or prompts if several clips share a prompt. A clip is
one unit with the rows of all its annotators. Proportions of clips have the same kind of interval, because a clip counts
once for each annotator and a Wilson interval would be too narrow. The row of one annotator is computed in the same way
as a system's row.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robogaze.agreement.adjudication import consensus, named
from robogaze.agreement.event_matching import MatchedClip
from robogaze.core.annotation import ClipAnnotation
from robogaze.core.estimate import undefined
from robogaze.evaluation.clip_rows import base_row, matchable
from robogaze.evaluation.config import EvaluationConfig
from robogaze.evaluation.estimates import Matrix, Scores, Values, estimates, macro_scores, micro_scores
from robogaze.judges.base import Judge
from robogaze.judges.similarity import similarities
from robogaze.metrics.scores import METRICS, macro, macro_n, micro, micro_n, with_clip_values
from robogaze.metrics.tally import COLUMNS
from robogaze.stats.resample import Sums, draw_resamples


@dataclass(frozen=True)
class CeilingScores:
    """Scores with the same fields as a system's scores; `n` is the number of annotations that were scored."""

    macro: Scores
    micro: Scores
    n: int


@dataclass(frozen=True)
class Ceiling:
    """The ceiling, for all clips, by data set and by annotator.

    `without` counts the annotations that could not be scored because the clip's other annotators have no consensus.
    `failed` counts the annotations that were excluded because a judgement failed. `worst` and `best` are the bounds,
    None if no judgement failed.
    """

    whole: CeilingScores
    datasets: dict[str, CeilingScores]
    annotators: dict[str, CeilingScores]
    without: int
    failed: int
    worst: CeilingScores | None
    best: CeilingScores | None


@dataclass(frozen=True)
class _Trial:
    """An annotator's annotation of a clip, and the reference that it is scored against."""

    place: int
    annotation: ClipAnnotation
    reference: ClipAnnotation


async def human_ceiling(
    matched: Sequence[MatchedClip], annotators: Sequence[str], judge: Judge, config: EvaluationConfig
) -> Ceiling:
    """Score every annotator against the other annotators."""
    all_trials = [
        _Trial(place, named(annotation), _others(clip, annotation.author, config))
        for place, clip in enumerate(matched)
        for annotation in clip.annotated.annotations
    ]
    trials = [trial for trial in all_trials if trial.reference.status == "complete"]
    wanted = [matchable(trial.reference, trial.annotation, config.weighting) for trial in trials]
    judged = await similarities([(trial.reference, trial.annotation.findings) for trial in trials], judge, wanted)
    similarities_of_trials = [np.where(asked, found, 0.0) for asked, found in zip(wanted, judged, strict=True)]
    failed = np.array([bool(np.isnan(similarity).any()) for similarity in similarities_of_trials], dtype=np.bool_)
    worst, best = (_rows(trials, similarities_of_trials, value, config) for value in (0.0, 1.0))
    kept_rows = np.where(failed[:, None], 0.0, worst)
    frame = _Frame(tuple(matched), tuple(trials), config)
    of = {name: [trial.annotation.author == name for trial in trials] for name in annotators}
    within = {
        name: [matched[trial.place].annotated.dataset == name for trial in trials]
        for name in sorted({clip.annotated.dataset for clip in matched})
    }
    return Ceiling(
        whole=frame.pooled(kept_rows),
        datasets={name: frame.pooled(_only(chosen, kept_rows)) for name, chosen in within.items()},
        annotators={name: frame.alone(_only(chosen, kept_rows)) for name, chosen in of.items()},
        without=len(all_trials) - len(trials),
        failed=int(failed.sum()),
        worst=frame.pooled(worst) if failed.any() else None,
        best=frame.pooled(best) if failed.any() else None,
    )


def _only(chosen: Sequence[bool], rows: Matrix) -> Matrix:
    """The rows, with zeros in each row that is not chosen, so that this row adds nothing to any sum."""
    return np.where(np.array(chosen, dtype=np.bool_)[:, None], rows, 0.0)


def _others(clip: MatchedClip, author: str, config: EvaluationConfig) -> ClipAnnotation:
    """What the other annotators of a clip report together."""
    names = [name for name in clip.annotated.authors if name != author]
    if len(names) == 1:
        return named(next(annotation for annotation in clip.annotated.annotations if annotation.author != author))
    others = clip.only(names)
    assert others is not None
    return consensus(others, config.iou)


def _rows(
    trials: Sequence[_Trial], similarities_of_trials: Sequence[Matrix], value: float, config: EvaluationConfig
) -> Matrix:
    """The rows of all trials, with `value` used for failed judgements."""
    rows = [
        base_row(trial.reference, trial.annotation, np.where(np.isnan(similarity), value, similarity), config)
        for trial, similarity in zip(trials, similarities_of_trials, strict=True)
    ]
    return np.array(rows, dtype=np.float64).reshape(len(trials), len(COLUMNS))


@dataclass(frozen=True)
class _Frame:
    """The clips, and the trials on them."""

    matched: tuple[MatchedClip, ...]
    trials: tuple[_Trial, ...]
    config: EvaluationConfig

    def alone(self, rows: Matrix) -> CeilingScores:
        """The scores of one annotator, computed in the same way as a system's scores."""
        sums = self._sums(rows)
        if sums is None:
            return _nothing()
        return CeilingScores(macro_scores(sums, self.config)[0], micro_scores(sums, self.config)[0], _accounts(rows))

    def pooled(self, rows: Matrix) -> CeilingScores:
        """The scores of several annotators together."""
        sums = self._sums(rows)
        if sums is None:
            return _nothing()
        means, whole = (self._scores(sums, values, n(sums.total)) for values, n in ((macro, macro_n), (micro, micro_n)))
        return CeilingScores(means, whole, _accounts(rows))

    def _scores(self, sums: Sums, values: Values, n: Matrix) -> Scores:
        found = estimates(sums, values, len(METRICS), self.config)
        return {name: found(0, index, int(n[0, index])) for index, name in enumerate(METRICS)}

    def _sums(self, rows: Matrix) -> Sums | None:
        """The sums over clips, each clip with the rows of its annotators; None if no row holds an annotation."""
        if not _accounts(rows):
            return None
        ends = np.searchsorted([trial.place for trial in self.trials], range(1, len(self.matched)))
        # Each column of a clip is added up from the smallest: the order of the annotators must leave no trace.
        clips = np.stack([np.sort(trials, axis=0).sum(axis=0) for trials in np.split(with_clip_values(rows), ends)])
        strata = [clip.annotated.dataset for clip in self.matched]
        units = [clip.annotated.unit(self.config.units) for clip in self.matched]
        return draw_resamples(strata, self.config.resamples, np.random.default_rng(self.config.seed), units).sums(
            clips[None]
        )


def _accounts(rows: Matrix) -> int:
    """The number of rows that hold an annotation."""
    return int(rows[:, COLUMNS.index("clips")].sum())


def _nothing() -> CeilingScores:
    nothing = {name: undefined("no annotator can be scored against the other annotators") for name in METRICS}
    return CeilingScores(nothing, nothing, 0)
