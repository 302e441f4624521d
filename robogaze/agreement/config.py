"""The options of an agreement; every result carries them."""

from typing import Annotated

from pydantic import Field

from robogaze.agreement.event_matching import By
from robogaze.core.data import Data
from robogaze.evaluation.config import STRATA, UNITS
from robogaze.matching import Overlap


class AgreementConfig(Data):
    """How events are matched, and clips resampled.

    `match` is what two annotators' events are matched by. `by` is the clip field that names data sets: clips are
    resampled within each; clips with the same value of the field `units` are resampled together.
    """

    match: By = "iou*similarity"
    iou: Overlap = "frames"
    by: str = STRATA
    units: str = UNITS
    resamples: Annotated[int, Field(ge=1)] = 1000
    level: Annotated[float, Field(gt=0, lt=1)] = 0.95
    seed: Annotated[int, Field(ge=0)] = 0
