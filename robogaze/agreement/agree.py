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
from robogaze.agreement.coefficients import Drawing, Kinds, Measures, kinds, measure
from robogaze.agreement.event_matching import By, MatchedClip, match_events
from robogaze.core.data import Data
from robogaze.evaluation.config import UNITS, EvaluationConfig
from robogaze.judges.base import Judge
from robogaze.matching import Overlap


class AgreeTerms(Data):
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

    terms: AgreeTerms
    judge: str
    judge_note: str
    panel: AnnotationSet
    kinds: Kinds
    overall: Measures
    datasets: Mapping[str, Measures]
    dimensions: Mapping[str, Measures]
    pairs: Mapping[tuple[str, str], Measures]
    ceiling: Ceiling
    adjudication: Adjudication
    failed: int


async def agree(panel: AnnotationSet, judge: Judge, terms: AgreeTerms) -> AgreementResult:
    """Everything about the agreement of a panel."""
    matched, failed = await match_events(panel.cases, judge, terms.match, terms.iou)
    annotators = panel.annotators
    chosen = kinds(matched, annotators)
    drawing = Drawing(terms.resamples, terms.seed, terms.level, terms.units)
    datasets = sorted({one.case.dataset for one in matched})
    scored = EvaluationConfig(
        iou=terms.iou,
        resamples=terms.resamples,
        level=terms.level,
        seed=terms.seed,
        strata=terms.by,
        units=terms.units,
    )
    return AgreementResult(
        terms=terms,
        judge=judge.name,
        judge_note=judge.note,
        panel=panel,
        kinds=chosen,
        overall=measure(matched, annotators, chosen, drawing),
        datasets={
            name: measure([one for one in matched if one.case.dataset == name], annotators, chosen, drawing)
            for name in datasets
        },
        dimensions={name: measure(matched, annotators, chosen, drawing, name) for name in _dimensions(matched)},
        pairs={two: _of_pair(matched, two, drawing) for two in combinations(annotators, 2)},
        ceiling=await human_ceiling(matched, annotators, judge, scored),
        adjudication=adjudicate(matched, terms.iou),
        failed=failed,
    )


def _dimensions(matched: Sequence[MatchedClip]) -> list[str]:
    """The dimensions that were looked for, as far as that is said, and those that were found."""
    looked_for = {name for one in matched for name in one.case.dimensions or ()}
    found = {each.dimension for one in matched for account in one.case.accounts for each in account.findings}
    return sorted(looked_for | {name for name in found if name is not None})


def _of_pair(matched: Sequence[MatchedClip], two: tuple[str, str], drawing: Drawing) -> Measures:
    """The numbers for two annotators alone; theirs is Cohen's kappa."""
    theirs = [each for one in matched if (each := one.only(two)) is not None]
    return measure(theirs, two, Kinds("cohen", "cohen"), drawing)
