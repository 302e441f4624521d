"""A pipeline: stages in order, checked as a whole before the first question is asked."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from pydantic import ValidationError

from robogaze.core.clip import Clip
from robogaze.domains import Domain, PipelineSpec, StageSpec
from robogaze.errors import DomainError, InputError
from robogaze.stages.base import Stage
from robogaze.stages.compose import Compose
from robogaze.stages.context import Context, Slot
from robogaze.stages.desk import PROMPTS, Desk, NoAnswer
from robogaze.stages.direct import Direct
from robogaze.stages.ground import Ground
from robogaze.stages.measure import Measure
from robogaze.stages.observe import Observe
from robogaze.stages.propose import Propose
from robogaze.stages.route import RouteStage
from robogaze.stages.segment import SegmentStage
from robogaze.stages.verify import Verify
from robogaze.stages.vote import Vote

STAGES: Mapping[str, type[Stage]] = {
    "measure": Measure,
    "ground": Ground,
    "observe": Observe,
    "segment": SegmentStage,
    "route": RouteStage,
    "propose": Propose,
    "direct": Direct,
    "vote": Vote,
    "verify": Verify,
    "compose": Compose,
}


@dataclass(frozen=True)
class Pipeline:
    """The stages of a diagnosis, in order. Made by `build`."""

    name: str
    domain: Domain
    stages: tuple[tuple[str, Stage], ...]

    @classmethod
    def build(cls, domain: Domain, name: str) -> "Pipeline":
        """Build and check a domain's pipeline.

        Raises InputError for an unknown name, DomainError (file and line) for a stage that does not exist or does not
        fit, a wrong parameter, an order in which a stage reads what no stage before it writes, or a prompt that uses
        a variable no stage provides.
        """
        if name not in domain.pipelines:
            known = ", ".join(domain.pipelines)
            raise InputError(f"the domain {domain.id} has no pipeline {name!r}; it has: {known}")
        spec = domain.pipelines[name]
        stages = tuple((one.name, _stage(one, spec, domain)) for one in spec.stages)
        _check_order(spec, [stage for _, stage in stages])
        pipeline = cls(name, domain, stages)
        if pipeline.roles:
            for prompt, variables in PROMPTS.items():
                domain.prompts.check(prompt, tuple(variables.__annotations__))
        return pipeline

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles of the models it asks, empty for a pipeline that asks none."""
        return tuple(dict.fromkeys(role for _, stage in self.stages if (role := stage.role()) is not None))

    @property
    def measures(self) -> bool:
        """Whether the clip's pixels must be measured while it is decoded."""
        return any(isinstance(stage, Measure) for _, stage in self.stages)

    @property
    def examiners(self) -> frozenset[str]:
        """The names of the stages that look for faults."""
        return frozenset(name for name, stage in self.stages if stage.examines())

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The dimensions it can judge at all, in the taxonomy's order."""
        able: frozenset[str] = frozenset().union(*(stage.assesses(self.domain) for _, stage in self.stages))
        return tuple(name for name in self.domain.dimensions if name in able)

    def assessed(self, clip: Clip) -> tuple[str, ...]:
        """The dimensions it can judge for a clip: those whose needs the clip meets."""
        return tuple(
            name
            for name in self.dimensions
            if all(getattr(clip, need) is not None for need in self.domain.dimensions[name].needs)
        )

    async def run(self, context: Context, desk: Desk) -> Context:
        """Run the stages. A question without an answer that a later stage would need ends the run there."""
        for _, stage in self.stages:
            try:
                context = await stage.run(context, desk)
            except NoAnswer as error:
                return replace(context, failures=(*context.failures, error.failure))
        return context


def _stage(spec: StageSpec, pipeline: PipelineSpec, domain: Domain) -> Stage:
    path = pipeline.path
    if spec.name not in STAGES:
        raise DomainError(f"there is no stage {spec.name!r}; there is: {', '.join(STAGES)}", path, spec.line)
    try:
        stage = STAGES[spec.name](**spec.parameters)
        for prompt, variables in stage.templates().items():
            domain.prompts.check(prompt, tuple(variables.__annotations__))
        stage.check(domain)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(step) for step in first["loc"])
        message = "unknown key" if first["type"] == "extra_forbidden" else first["msg"]
        raise DomainError(f"{spec.name}.{key}: {message}", path, _line(spec, first["loc"])) from error
    except ValueError as error:
        raise DomainError(f"{spec.name}: {error}", path, spec.line) from error
    return stage


def _line(spec: StageSpec, key: Iterable[str | int]) -> int | None:
    steps = tuple(key)
    while steps and steps not in spec.lines:
        steps = steps[:-1]
    return spec.lines.get(steps, spec.line)


def _check_order(spec: PipelineSpec, stages: Iterable[Stage]) -> None:
    written: set[Slot] = set()
    for stage, one in zip(stages, spec.stages, strict=True):
        if missing := sorted(stage.reads() - written):
            raise DomainError(
                f"{one.name} reads {', '.join(missing)}, which no stage before it writes", spec.path, one.line
            )
        written |= stage.writes()
    if "events" not in written:
        raise DomainError("no stage writes events; a pipeline ends with compose", spec.path, None)
