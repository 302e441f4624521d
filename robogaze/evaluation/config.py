"""The options of an evaluation; every result contains them."""

from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from robogaze.core.data import Data
from robogaze.evaluation import CONVENTIONS
from robogaze.matching import Overlap, Use, Weighting

Normalisation = Literal["loose", "strict"]
"""By all events, or by those that overlap in time with any event of the other side (RoboGaze, Table 20)."""

DIMENSION_BONUSES = (0.0, 0.1, 0.25, 0.5)
"""The bonuses for a shared dimension that are tried: lambda in RoboGaze, Table 16."""

STRATA = "split"
"""The clip field that names data sets."""

UNITS = "prompt_id"
"""The clip field that names what a clip was generated from; a clip without it is a unit of its own."""

MIN_UNITS = 60
"""With fewer units, intervals cover the truth less often than their level says; tables then warn."""


@dataclass(frozen=True)
class Convention:
    """How the weight of a pair of events is computed, and how IoU is measured by default (see `robogaze.matching`)."""

    use: Use
    iou: Overlap = "frames"


ROBOGAZE = Convention("similarity*iou*bonus")
GLIDE_PAPER = Convention("similarity*iou", iou="exact")
DESCRIPTIONS = Convention("similarity")


class EvaluationConfig(Data):
    """How events are matched, scored and resampled.

    `convention` is a name in CONVENTIONS, except released evaluators and the conventions for bugs; `use`,
    `dimension_bonus` and `iou` define the weight of a pair (see `robogaze.matching`). Clips are resampled within the
    values of the field `strata`; clips with the same value of the field `units` are resampled together. `margin` is the
    largest difference at which two systems still count as equal; if it is None, equality is not tested. `baseline`
    names the system that the other systems are compared with; without `baseline`, all pairs are compared. With
    `floors`, the judge also compares the floors, which doubles its work. With `sweep`, the judge also compares the
    rejected hypotheses; the scores at other thresholds on confidence are computed from these comparisons.
    """

    convention: str = "robogaze"
    use: Use = ROBOGAZE.use
    dimension_bonus: Annotated[float, Field(ge=0)] = 0.25
    iou: Overlap = ROBOGAZE.iou
    normalisation: Normalisation = "loose"
    resamples: Annotated[int, Field(ge=1)] = 1000
    level: Annotated[float, Field(gt=0, lt=1)] = 0.95
    interval: Literal["student", "percentile", "bca"] = "student"
    strata: str = STRATA
    units: str = UNITS
    margin: Annotated[float, Field(gt=0, lt=1)] | None = None
    baseline: str | None = None
    floors: bool = True
    sweep: bool = True
    seed: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _use_is_that_of_the_convention(self) -> Self:
        convention = CONVENTIONS.load(self.convention)
        if not isinstance(convention, Convention):
            raise ValueError(
                f"{self.convention} does not use an EvaluationConfig: it is for lists of bugs, or a released evaluator"
            )
        if self.use != convention.use:
            raise ValueError(f"the convention {self.convention} weighs pairs by {convention.use}, not by {self.use}")
        return self

    @classmethod
    def of(cls, convention: str, **changes: object) -> Self:
        """The config of a convention, with changes. Raises InputError for an unknown convention."""
        found = CONVENTIONS.load(convention)
        defaults = {"use": found.use, "iou": found.iou} if isinstance(found, Convention) else {}
        return cls.model_validate({"convention": convention, **defaults, **changes})

    @property
    def weighting(self) -> Weighting:
        """The weight of a pair."""
        return Weighting(use=self.use, dimension_bonus=self.dimension_bonus, iou=self.iou)
