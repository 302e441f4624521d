"""The base class of a stage, which is one step of a diagnosis.

The fields of a stage are its parameters in a pipeline's YAML; unknown keys are refused. A stage declares the slots of
the context that it reads and writes, and the prompts that it renders, with their variables. The whole pipeline can
therefore be checked before the first request.
"""

from collections.abc import Mapping
from typing import ClassVar

from robogaze.core.data import Data
from robogaze.domains import Domain
from robogaze.evidence import ClipSignals
from robogaze.stages.client import ModelClient
from robogaze.stages.context import Context, Slot


class InvalidParameter(ValueError):
    """A parameter of a stage that does not fit the domain; `place` is its path below the stage's parameters."""

    def __init__(self, message: str, *place: str | int) -> None:
        super().__init__(message)
        self.place = place


class Stage(Data):
    """One step of a diagnosis.

    `prompts` maps the name of each prompt that the stage renders to a TypedDict of the variables it passes.
    """

    prompts: ClassVar[Mapping[str, type]] = {}

    def reads(self) -> frozenset[Slot]:
        """The slots that an earlier stage must have written."""
        return frozenset()

    def writes(self) -> frozenset[Slot]:
        """The slots that this stage writes."""
        raise NotImplementedError

    def role(self) -> str | None:
        """The role of the model that the stage queries; None if it queries none."""
        return None

    def examines(self) -> bool:
        """Whether the stage looks for faults. A frame that is shown to no such stage is reported as unseen."""
        return False

    def covers(self, domain: Domain) -> frozenset[str]:
        """The dimensions that the stage can examine. If it finds nothing in one of them, it saw no fault there."""
        return frozenset()

    def covers_partly(self, domain: Domain) -> frozenset[str]:
        """The dimensions in which the stage can find only some faults. If it finds none, a fault is still possible."""
        return frozenset()

    def shows_any_frame(self) -> bool:
        """Whether the stage may show frames outside its model's regime."""
        return self.role() is not None

    def templates(self) -> Mapping[str, type]:
        """The prompts that the stage renders with these parameters."""
        return self.prompts

    def notes(self, domain: Domain, evidence: ClipSignals | None) -> tuple[str, ...]:
        """Sentences for the report on what the stage can and cannot find with these parameters."""
        return ()

    def check(self, domain: Domain) -> None:
        """Raise ValueError if the parameters do not fit the domain."""

    async def run(self, context: Context, client: ModelClient) -> Context:
        """Run the stage on one clip.

        The result says what was examined in `coverage` and what failed in `failures`. RunStopped is not caught.
        """
        raise NotImplementedError


class Examiner(Stage):
    """A stage in which a model looks at the clip and proposes hypotheses of any dimension."""

    def writes(self) -> frozenset[Slot]:
        return frozenset({"hypotheses"})

    def role(self) -> str:
        return "vlm"

    def examines(self) -> bool:
        return True

    def covers(self, domain: Domain) -> frozenset[str]:
        return frozenset(domain.dimensions)
