"""The contract of a stage.

A stage is one step of a diagnosis. Its parameters are its fields (read from a pipeline's YAML, unknown keys
refused); it says which parts of the context it reads and writes and which prompts it renders with which
variables, so that a pipeline is checked as a whole before anything is asked of a model.
"""

from collections.abc import Mapping
from typing import ClassVar

from robogaze.core.data import Data
from robogaze.domains import Domain
from robogaze.evidence import ClipSignals
from robogaze.stages.client import ModelClient
from robogaze.stages.context import Context, Slot


class Stage(Data):
    """One step of a diagnosis.

    `prompts` maps each prompt the stage renders to a TypedDict of the variables it gives it.
    """

    prompts: ClassVar[Mapping[str, type]] = {}

    def reads(self) -> frozenset[Slot]:
        """The slots that must be written before."""
        return frozenset()

    def writes(self) -> frozenset[Slot]:
        """The slots this stage writes."""
        raise NotImplementedError

    def role(self) -> str | None:
        """The role of the model it asks, None when it asks none."""
        return None

    def examines(self) -> bool:
        """Whether it looks for faults, so that frames it is not shown count as unseen."""
        return False

    def covers(self, domain: Domain) -> frozenset[str]:
        """The dimensions for which this stage can propose hypotheses, so that finding none is an answer."""
        return frozenset()

    def covers_partly(self, domain: Domain) -> frozenset[str]:
        """The dimensions for which it can propose hypotheses, but where finding none says nothing."""
        return frozenset()

    def templates(self) -> Mapping[str, type]:
        """The prompts that these parameters make it render."""
        return self.prompts

    def notes(self, domain: Domain, evidence: ClipSignals | None) -> tuple[str, ...]:
        """Sentences the reader of a report should know about what these parameters can and cannot find."""
        return ()

    def check(self, domain: Domain) -> None:
        """Raise ValueError when the parameters do not fit the domain."""

    async def run(self, context: Context, desk: ModelClient) -> Context:
        """Do the step.

        What was examined goes into `coverage`; what fails, into `failures`. RunStopped passes through.
        """
        raise NotImplementedError


class Examiner(Stage):
    """A stage in which a model that looks proposes hypotheses of any dimension."""

    def writes(self) -> frozenset[Slot]:
        """The hypotheses."""
        return frozenset({"hypotheses"})

    def role(self) -> str:
        """The model that looks."""
        return "vlm"

    def examines(self) -> bool:
        """It does."""
        return True

    def covers(self, domain: Domain) -> frozenset[str]:
        """Every dimension."""
        return frozenset(domain.dimensions)
