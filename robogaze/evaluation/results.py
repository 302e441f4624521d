"""What an evaluation returns."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from robogaze.core.annotation import ClipAnnotation
from robogaze.core.estimate import Estimate
from robogaze.dataframes import data_frame
from robogaze.datasets.pairing import System
from robogaze.evaluation.config import EvaluationConfig
from robogaze.evaluation.estimates import Matrix, Scores
from robogaze.judges.base import DescriptionPair
from robogaze.stats.paired import Difference, Rank

if TYPE_CHECKING:
    from pandas import DataFrame

BOUNDED = ("desc_precision", "desc_recall", "desc_f1", "f1_iou")
"""The metrics that have bounds when judgements failed. The others may take any value under another matching."""


@dataclass(frozen=True)
class Bounds:
    """The lowest and highest possible scores in BOUNDED; `clips` counts the clips in which a judgement failed."""

    clips: int
    worst: Scores
    best: Scores


@dataclass(frozen=True, slots=True)
class NamedMatch:
    """A matched pair of events, each given by its id. `similarity` is 0 if the judgement failed."""

    reference: str
    prediction: str
    similarity: float
    iou: float


@dataclass(frozen=True)
class Floor:
    """The scores that a system would get if its predictions were shuffled, so that they belong to other clips. `above`
    says by how much the system's own description F1 is higher, on average over the clips.
    """

    macro: Scores
    micro: Scores
    above: Difference


@dataclass(frozen=True)
class SystemResult:
    """The scores of one system.

    `incomplete` lists the clips that are missing, unscored, partial, undecided or unjudged. An unjudged clip is listed
    with the reason why its first failed judgement failed. `macro` and `micro` hold one value for each metric.
    `strata_mean` is the mean of the macro values over the strata (the paper's headline). `usage` holds the means of
    `estimates.USAGE` over clips. `by` breaks the macro values down by the values of clip fields. `by_bonus` has the
    macro values for several bonuses for a shared dimension. `operating_points` has macro and micro values for several
    thresholds on confidence; it is empty if no candidate has a confidence. For each kind of error, `error_costs` holds
    the number of errors and the gain in F1 (micro) from repairing them. `dimensions` and `types` hold precision, recall
    and F1. `confusion` has a row and a column for each dimension, in order; the last column counts missed events, and
    the last row counts spurious events. `matches` are by clip, in the order of the references.
    """

    system: System
    counts: Mapping[str, int]
    incomplete: Mapping[str, tuple[str, ...]]
    macro: Scores
    micro: Scores
    strata_mean: Scores
    usage: Scores
    bounds: Bounds | None
    by: Mapping[str, Mapping[str, Scores]]
    dimensions: Mapping[str, Scores]
    types: Mapping[str, Scores]
    confusion: Matrix
    error_costs: Mapping[str, tuple[int, Estimate]]
    by_bonus: Mapping[float, Scores]
    operating_points: Mapping[float, tuple[Scores, Scores]]
    floor: Floor | None
    matches: tuple[tuple[NamedMatch, ...], ...]

    @property
    def name(self) -> str:
        return self.system.name


@dataclass(frozen=True)
class SystemComparisons:
    """The comparison of the systems in one metric (macro): the differences between pairs of systems, and the ranks.

    Without a baseline, all pairs of systems are compared. With a baseline, each other system is compared with the
    baseline; the difference is the other system minus the baseline. p is adjusted for the number of pairs.
    """

    pairs: tuple[Difference, ...]
    ranks: tuple[Rank, ...]


@dataclass(frozen=True)
class Evaluation:
    """The result of `robogaze.evaluate`.

    `clips` are the references, in the order of their ids. `unreferenced` clips have a prediction only; `unfinished`
    clips have a reference that is not complete. `left_out` are the parts of files that were skipped. `controls` holds
    the macro and micro scores of each control. `comparisons` holds the comparison of the systems in each metric; it is
    empty for one system. `gains_by` holds the differences from the baseline, keyed by clip field, then by value of the
    field, then by metric; it is empty if there is no baseline. `unjudged` are the pairs of descriptions without a
    judgement. `second_judge` is the same evaluation by another judge, if a second judge was used.
    """

    config: EvaluationConfig
    judge: str
    judge_note: str
    counts: Mapping[str, int]
    unreferenced: tuple[str, ...]
    unfinished: tuple[str, ...]
    left_out: tuple[str, ...]
    clips: tuple[ClipAnnotation, ...]
    dimensions: tuple[str, ...]
    systems: tuple[SystemResult, ...]
    controls: Mapping[str, tuple[Scores, Scores]]
    comparisons: Mapping[str, SystemComparisons]
    gains_by: Mapping[str, Mapping[str, Mapping[str, tuple[Difference, ...]]]]
    unjudged: tuple[DescriptionPair, ...] = ()
    second_judge: "Evaluation | None" = None

    @property
    def judged(self) -> bool:
        """Whether every judgement was made, including the judgements of the second judge."""
        mine = all(system.bounds is None for system in self.systems)
        return mine and (self.second_judge is None or self.second_judge.judged)

    def to_dataframe(self) -> "DataFrame":
        """One row per system, average (macro, micro, strata_mean) and metric. Raises MissingExtra without pandas."""
        columns = ("system", "average", "metric", "value", "low", "high", "n", "why")
        return data_frame(self._rows(), columns)

    def _rows(self) -> Iterator[Mapping[str, Any]]:
        for result in self.systems:
            averages = {"macro": result.macro, "micro": result.micro, "strata_mean": result.strata_mean}
            for average, scores in averages.items():
                for metric, score in scores.items():
                    yield {"system": result.name, "average": average, "metric": metric, **asdict(score)}
