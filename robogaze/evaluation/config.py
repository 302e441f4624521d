"""The terms an evaluation is done on; every result says which they were."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from robogaze.core.data import Data
from robogaze.matching import Overlap, Use, Weighting

Normalisation = Literal["loose", "strict"]
"""By all events, or by those that share time with some event of the other side (RoboGaze, Table 20)."""

DIMENSION_BONUSES = (0.0, 0.1, 0.25, 0.5)
"""The bonuses for a shared dimension that RoboGaze tries (Table 16)."""


STRATA = "split"
"""The field that names data sets."""

UNITS = "prompt_id"
"""The field that names what clips were made from; a clip without it is a unit of its own."""

MIN_UNITS = 60
"""With fewer units intervals hold the truth less often than they say; a table then warns."""


class EvaluationConfig(Data):
    """How events are matched, scored and resampled.

    `convention` is the name they go by; `use`, `dimension_bonus` and `iou` are the weight of a pair (see
    `robogaze.matching`). Clips are resampled within the values of the field `strata`, those that share a value of the
    field `units` together. `margin` is the difference up to which two systems count as equal, None for no such verdict.
    `floors` says whether the judge is asked about the floors, too, which is as much again as about the systems.
    """

    convention: str = "robogaze"
    use: Use = "similarity*iou*bonus"
    dimension_bonus: Annotated[float, Field(ge=0)] = 0.25
    iou: Overlap = "frames"
    normalisation: Normalisation = "loose"
    resamples: Annotated[int, Field(ge=1)] = 1000
    level: Annotated[float, Field(gt=0, lt=1)] = 0.95
    interval: Literal["student", "percentile", "bca"] = "student"
    strata: str = STRATA
    units: str = UNITS
    margin: Annotated[float, Field(gt=0, lt=1)] | None = None
    floors: bool = True
    seed: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _keeps_to_its_convention(self) -> Self:
        fixed = USES.get(self.convention)
        if self.use != fixed:
            raise ValueError(f"the convention {self.convention} weighs pairs by {fixed}, not by {self.use}")
        return self

    @classmethod
    def of(cls, convention: str, **changes: object) -> Self:
        """The terms of a convention. ValueError for an unknown one."""
        if convention not in USES:
            raise ValueError(f"there is no convention {convention!r} (there is: {', '.join(USES)})")
        known = {"convention": convention, "use": USES[convention], **DEFAULTS[convention]}
        return cls.model_validate({**known, **changes})

    @property
    def weighting(self) -> Weighting:
        """The weight of a pair."""
        return Weighting(use=self.use, dimension_bonus=self.dimension_bonus, iou=self.iou)


USES: Mapping[str, Use] = {
    "robogaze": "similarity*iou*bonus",
    "glide-paper": "similarity*iou",
    "descriptions": "similarity",
}
"""The conventions by what they weigh pairs by; the released evaluators have code of their own."""

DEFAULTS: Mapping[str, Mapping[str, object]] = {"robogaze": {}, "glide-paper": {"iou": "exact"}, "descriptions": {}}
"""What else a convention takes where nothing is said: GLIDE's intervals are seconds."""
