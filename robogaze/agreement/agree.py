"""Several annotators' accounts of the same clips: how far they agree, and what a person must settle.

panel -> matched events (a judge) -> measures
                                  -> human ceiling
                                  -> settled events, and a queue for a person
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated

from pydantic import Field

from robogaze.agreement.adjudication import Adjudication, adjudicate
from robogaze.agreement.annotation_set import AnnotationSet
from robogaze.agreement.ceiling import Ceiling, human_ceiling
from robogaze.agreement.coefficients import AgreementScores, KappaChoice, Resampling, choose_kappas, measure
from robogaze.agreement.event_matching import By, MatchedClip, match_events
from robogaze.core.data import Data
from robogaze.evaluation.config import UNITS, EvaluationConfig
from robogaze.judges.base import Judge
from robogaze.matching import Overlap


class AgreementConfig(Data):
    """How events are matched, and clips resampled.

    `match` is by what two annotators' events are matched, `by` the field whose values are datasets: clips are resampled
    within each, those that share a value of the field `units` together.
    """

    match: By = "iou*similarity"
    iou: Overlap = "frames"
    by: str = "split"
    units: str = UNITS
    resamples: Annotated[int, Field(ge=1)] = 1000
    level: Annotated[float, Field(gt=0, lt=1)] = 0.95
    seed: Annotated[int, Field(ge=0)] = 0


@dataclass(frozen=True)
class AgreementResult:
    """The whole result; `failed` counts the pairs of events that share time and have no judgement."""

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


async def agree(annotation_set: AnnotationSet, judge: Judge, config: AgreementConfig) -> AgreementResult:
    """Everything about the agreement of a panel."""
    matched, failed = await match_events(annotation_set.clips, judge, config.match, config.iou)
    annotators = annotation_set.annotators
    chosen = choose_kappas(matched, annotators)
    resampling = Resampling(config.resamples, config.seed, config.level, config.units)
    datasets = sorted({clip.clip.dataset for clip in matched})
    scored = EvaluationConfig(
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
        kappas=chosen,
        overall=measure(matched, annotators, chosen, resampling),
        datasets={
            name: measure([clip for clip in matched if clip.clip.dataset == name], annotators, chosen, resampling)
            for name in datasets
        },
        dimensions={name: measure(matched, annotators, chosen, resampling, name) for name in _dimensions(matched)},
        pairs={two: _of_pair(matched, two, resampling) for two in combinations(annotators, 2)},
        ceiling=await human_ceiling(matched, annotators, judge, scored),
        adjudication=adjudicate(matched, config.iou),
        failed=failed,
    )


def _dimensions(matched: Sequence[MatchedClip]) -> list[str]:
    """The dimensions that were looked for, as far as that is said, and those that were found."""
    looked_for = {name for clip in matched for name in clip.clip.dimensions or ()}
    found = {
        event.dimension for clip in matched for annotation in clip.clip.annotations for event in annotation.findings
    }
    return sorted(looked_for | {name for name in found if name is not None})


def _of_pair(matched: Sequence[MatchedClip], two: tuple[str, str], resampling: Resampling) -> AgreementScores:
    """The numbers for two annotators alone; theirs is Cohen's kappa."""
    theirs = [each for clip in matched if (each := clip.only(two)) is not None]
    return measure(theirs, two, KappaChoice("cohen", "cohen"), resampling)
