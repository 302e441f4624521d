"""Several annotators' annotations of the same clips: how far they agree, and what needs adjudication.

annotation set -> matched events (a judge) -> agreement scores
                                           -> human ceiling
                                           -> settled events, and a queue for adjudication
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from robogaze.agreement.adjudication import Adjudication, adjudicate
from robogaze.agreement.annotation_set import AnnotationSet
from robogaze.agreement.ceiling import Ceiling, human_ceiling
from robogaze.agreement.coefficients import AgreementScores, KappaChoice, choose_kappas, measure
from robogaze.agreement.config import AgreementConfig
from robogaze.agreement.event_matching import MatchedClip, match_annotators
from robogaze.dataframes import data_frame
from robogaze.evaluation.config import EvaluationConfig
from robogaze.judges.base import DescriptionPair, Judge

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class AgreementResult:
    """The result of `robogaze.agree`; `failed` counts the pairs of overlapping events without a judgement.

    `unjudged` are all pairs of descriptions without a judgement.
    """

    config: AgreementConfig
    judge: str
    judge_note: str
    annotation_set: AnnotationSet
    kappas: KappaChoice
    overall: AgreementScores
    datasets: Mapping[str, AgreementScores]
    dimensions: Mapping[str, AgreementScores]
    pairs: Mapping[tuple[str, str], AgreementScores]
    ceiling: Ceiling
    adjudication: Adjudication
    failed: int
    unjudged: tuple[DescriptionPair, ...] = ()

    def to_dataframe(self) -> "DataFrame":
        """One row for each measure of each group of clips.

        The column `group` is "all", "dataset", "dimension" or "pair". The column `name` is the data set, the dimension
        or the pair of annotators; it is empty for "all".

        Raises MissingExtra without pandas.
        """
        columns = ("group", "name", "measure", "value", "low", "high", "n", "why")
        return data_frame(self._rows(), columns)

    def _rows(self) -> Iterator[Mapping[str, Any]]:
        groups: list[tuple[str, str, AgreementScores]] = [
            ("all", "", self.overall),
            *(("dataset", name, scores) for name, scores in self.datasets.items()),
            *(("dimension", name, scores) for name, scores in self.dimensions.items()),
            *(("pair", f"{first}, {second}", scores) for (first, second), scores in self.pairs.items()),
        ]
        for group, name, scores in groups:
            for measure_name, estimate in scores.estimates():
                yield {"group": group, "name": name, "measure": measure_name, **asdict(estimate)}


async def measure_agreement(annotation_set: AnnotationSet, judge: Judge, config: AgreementConfig) -> AgreementResult:
    """Match the annotators' events and measure their agreement."""
    matched, failed = await match_annotators(annotation_set.clips, judge, config.match, config.iou)
    annotators = annotation_set.annotators
    kappas = choose_kappas(matched, annotators)
    datasets = sorted({clip.annotated.dataset for clip in matched})
    scoring = EvaluationConfig(
        iou=config.iou,
        resamples=config.resamples,
        level=config.level,
        seed=config.seed,
        strata=config.by,
        units=config.units,
    )
    return AgreementResult(
        config=config,
        judge=judge.name,
        judge_note=judge.note,
        annotation_set=annotation_set,
        kappas=kappas,
        overall=measure(matched, annotators, kappas, config),
        datasets={
            name: measure([clip for clip in matched if clip.annotated.dataset == name], annotators, kappas, config)
            for name in datasets
        },
        dimensions={name: measure(matched, annotators, kappas, config, name) for name in _dimensions(matched)},
        pairs={pair: _of_pair(matched, pair, config) for pair in combinations(annotators, 2)},
        ceiling=await human_ceiling(matched, annotators, judge, scoring),
        adjudication=adjudicate(matched, config.iou),
        failed=failed,
    )


def _dimensions(matched: Sequence[MatchedClip]) -> list[str]:
    """The dimensions that were looked for, where this is known, and the dimensions of the events."""
    looked_for = {name for clip in matched for name in clip.annotated.dimensions or ()}
    found = {
        event.dimension
        for clip in matched
        for annotation in clip.annotated.annotations
        for event in annotation.findings
    }
    return sorted(looked_for | {name for name in found if name is not None})


def _of_pair(matched: Sequence[MatchedClip], pair: tuple[str, str], config: AgreementConfig) -> AgreementScores:
    """The scores of two annotators alone, with Cohen's kappa."""
    theirs = [of_pair for clip in matched if (of_pair := clip.only(pair)) is not None]
    return measure(theirs, pair, KappaChoice("cohen", "cohen"), config)
