"""The options for measuring agreement; every result includes them."""

from typing import Annotated

from pydantic import Field

from robogaze.agreement.event_matching import By
from robogaze.core.data import Data
from robogaze.evaluation.config import STRATA, UNITS
from robogaze.matching import Overlap


class AgreementConfig(Data):
    """How events are matched, and how clips are resampled.

    `match` is the weight by which two annotators' events are matched. `by` is the clip field that names data sets;
    clips are resampled within each data set. `units` is a clip field: clips with equal values of this field are
    resampled together.
    """

    match: By = "iou*similarity"
    iou: Overlap = "frames"
    by: str = STRATA
    units: str = UNITS
    resamples: Annotated[int, Field(ge=1)] = 1000
    level: Annotated[float, Field(gt=0, lt=1)] = 0.95
    seed: Annotated[int, Field(ge=0)] = 0
