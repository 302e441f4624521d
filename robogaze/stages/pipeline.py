"""A pipeline: stages in order, checked as a whole before the first request."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import ValidationError

from robogaze.core.clip import Clip
from robogaze.core.coverage import Coverage
from robogaze.core.data import dotted, first_fault
from robogaze.core.report import Failure
from robogaze.domains import Domain, PipelineSpec, StageSpec
from robogaze.domains.yaml_files import Key
from robogaze.errors import DomainError, FailureKind, InputError
from robogaze.evidence import ClipSignals
from robogaze.stages import STAGES
from robogaze.stages.base import InvalidParameter, Stage
from robogaze.stages.baselines.direct import Direct
from robogaze.stages.baselines.vote import Vote
from robogaze.stages.client import PROMPTS, ModelClient, NoAnswer
from robogaze.stages.compose import Compose
from robogaze.stages.context import Context, Slot


@dataclass(frozen=True)
class Pipeline:
    """The named stages of a diagnosis, in order. Made by `build`."""

    name: str
    domain: Domain
    stages: tuple[tuple[str, Stage], ...]

    @classmethod
    def build(cls, domain: Domain, name: str) -> "Pipeline":
        """Build and check a domain's pipeline.

        Raises InputError for an unknown name. Raises DomainError, with file and line, if a stage is unknown, if a
        parameter is wrong, if a stage reads what no earlier stage writes, if no stage decides the hypotheses, or if a
        prompt is missing or uses a variable that its stage does not provide.
        """
        if name not in domain.pipelines:
            known = ", ".join(domain.pipelines)
            raise InputError(f"the domain {domain.id} has no pipeline {name!r}; it has: {known}")
        spec = domain.pipelines[name]
        stages = tuple((stage.name, _stage(stage, spec, domain)) for stage in spec.stages)
        _check_order(spec, stages)
        _check_examined(spec, stages)
        _check_decided(spec, stages)
        pipeline = cls(name, domain, stages)
        if pipeline.roles:
            for prompt, variables in PROMPTS.items():
                domain.prompts.check(prompt, tuple(variables.__annotations__))
        return pipeline

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles of the models that the pipeline queries; empty for a pipeline without models."""
        return tuple(dict.fromkeys(role for _, stage in self.stages if (role := stage.role()) is not None))

    @property
    def measures(self) -> bool:
        """Whether signals must be measured while the clip is decoded."""
        return any("evidence" in stage.writes() for _, stage in self.stages)

    @property
    def examiners(self) -> frozenset[str]:
        """The names of the stages that look for faults."""
        return frozenset(name for name, stage in self.stages if stage.examines())

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The dimensions that the pipeline can examine, in the taxonomy's order."""
        able: frozenset[str] = frozenset().union(*(stage.covers(self.domain) for _, stage in self.stages))
        return tuple(name for name in self.domain.dimensions if name in able)

    @property
    def partial_dimensions(self) -> tuple[str, ...]:
        """The dimensions in which the pipeline can find only some types, in the taxonomy's order."""
        seen: frozenset[str] = frozenset().union(*(stage.covers_partly(self.domain) for _, stage in self.stages))
        return tuple(name for name in self.domain.dimensions if name in seen and name not in self.dimensions)

    def start(self, clip: Clip, evidence: ClipSignals | None = None) -> Context:
        """The context of a clip before the first stage: nothing is examined yet."""
        return Context(
            clip=clip,
            dimensions=tuple(name for name in self.dimensions if not self._lacks(name, clip)),
            partial_dimensions=tuple(name for name in self.partial_dimensions if not self._lacks(name, clip)),
            coverage={name: self._not_examined(name, clip) for name in self.domain.dimensions},
            evidence=evidence,
        )

    def _lacks(self, dimension: str, clip: Clip) -> tuple[str, ...]:
        """What a dimension needs but the clip does not have."""
        return tuple(need for need in self.domain.dimensions[dimension].needs if getattr(clip, need) is None)

    def _not_examined(self, dimension: str, clip: Clip) -> Coverage:
        if dimension not in (*self.dimensions, *self.partial_dimensions):
            reason = f"no stage of the pipeline {self.name} looks for faults in this dimension"
            reason += "" if self.roles else "; a model is needed"
        elif lacks := self._lacks(dimension, clip):
            reason = f"the clip has {' and '.join(f'no {need}' for need in lacks)}"
        else:
            reason = "no stage has examined this dimension"
        return Coverage(state="not_examined", reason=reason)

    async def run(self, context: Context, client: ModelClient) -> Context:
        """Run the stages; a stage that raises NoAnswer ends the run.

        If a run ends early, no dimension counts as covered, because the events were not composed. If no dimension of
        the clip can be examined, no stage runs.
        """
        if not context.dimensions and not context.partial_dimensions:
            return replace(context, failures=(*context.failures, self._nothing_to_examine(context.clip)))
        for _, stage in self.stages:
            try:
                context = await stage.run(context, client)
            except NoAnswer as error:
                return self._ended(context, error.failure)
        return context

    def _ended(self, context: Context, failure: Failure) -> Context:
        """The context of a run that ended before its last stage."""
        reason = f"the diagnosis ended at the stage {failure.stage}: {failure.message}"
        ended = dict.fromkeys(context.coverage, Coverage(state="not_examined", reason=reason))
        for name in context.coverage:
            if name not in (*context.dimensions, *context.partial_dimensions):
                ended[name] = context.coverage[name]
        return replace(context, coverage=ended, failures=(*context.failures, failure))

    def _nothing_to_examine(self, clip: Clip) -> Failure:
        able = (*self.dimensions, *self.partial_dimensions)
        lacks = " and ".join(
            f"an {need}" for need in dict.fromkeys(need for name in able for need in self._lacks(name, clip))
        )
        message = f"every dimension that {self.name} can examine needs {lacks}, but this clip has none"
        first = next(name for name, stage in self.stages if stage.examines())
        return Failure(stage=first, kind=FailureKind.NOTHING_TO_EXAMINE, message=message)


def _stage(spec: StageSpec, pipeline: PipelineSpec, domain: Domain) -> Stage:
    path = pipeline.path
    if spec.name not in STAGES:
        raise DomainError(
            f"there is no stage {spec.name!r}; the stages are: {', '.join(STAGES.names())}", path, spec.line
        )
    try:
        stage = STAGES.load(spec.name).model_validate(spec.parameters)
        for prompt, variables in stage.templates().items():
            try:
                domain.prompts.path(prompt)
            except DomainError as error:
                raise DomainError(f"{spec.name} needs {error}", path, spec.line) from error
            domain.prompts.check(prompt, tuple(variables.__annotations__))
        stage.check(domain)
    except ValidationError as error:
        place, found = first_fault(error)
        raise DomainError(f"{dotted((spec.name, *place))}: {found}", path, _line(spec, place)) from error
    except InvalidParameter as error:
        where = dotted((spec.name, *error.place))
        raise DomainError(f"{where}: {error}", path, _line(spec, error.place)) from error
    except ValueError as error:
        raise DomainError(f"{spec.name}: {error}", path, spec.line) from error
    return stage


def _line(spec: StageSpec, place: Key) -> int | None:
    while place and place not in spec.lines:
        place = place[:-1]
    return spec.lines.get(place, spec.line)


def _check_order(spec: PipelineSpec, stages: Sequence[tuple[str, Stage]]) -> None:
    """Raise DomainError for a stage that reads what no earlier stage writes, and if compose is not the last stage or
    occurs more than once.
    """
    written: set[Slot] = set()
    for (name, stage), in_file in zip(stages, spec.stages, strict=True):
        if "events" in written:
            raise DomainError(f"{name} comes after compose, which must be the last stage", spec.path, in_file.line)
        if missing := sorted(stage.reads() - written):
            lacking = f"{name} reads {', '.join(missing)}, which no stage before it writes"
            raise DomainError(lacking, spec.path, in_file.line)
        written |= stage.writes()
    if "events" not in written:
        raise DomainError("no stage writes events; a pipeline ends with compose", spec.path, spec.stages[-1].line)


def _check_examined(spec: PipelineSpec, stages: Sequence[tuple[str, Stage]]) -> None:
    """Raise DomainError if no stage looks for faults, or if a vote has fewer than two samples to count."""
    if not any(stage.examines() for _, stage in stages):
        which = "propose, direct, scan, or measure with rules"
        raise DomainError(f"no stage looks for faults ({which})", spec.path, spec.stages[0].line)
    votes = [place for place, (_, stage) in enumerate(stages) if isinstance(stage, Vote)]
    for place in votes:
        line = spec.stages[place].line
        if place > votes[0]:
            raise DomainError(
                "only one vote is allowed, because a second vote would count the same samples again; remove one "
                "of them",
                spec.path,
                line,
            )
        samples = sum(stage.samples for _, stage in stages[:place] if isinstance(stage, Direct))
        if samples < 2:
            few = f"the direct stages before the vote take {samples or 'none'} (parameter 'samples' of direct)"
            raise DomainError(f"vote needs at least two samples, but {few}", spec.path, line)


def _check_decided(spec: PipelineSpec, stages: Sequence[tuple[str, Stage]]) -> None:
    """Raise DomainError unless every hypothesis is decided: by a critic, a vote or compose."""
    compose, in_file = stages[-1][1], spec.stages[-1]
    assert isinstance(compose, Compose), "the pipeline's order is checked"
    vote = _last(Vote, stages)
    verify = max((place for place, (_, stage) in enumerate(stages) if _decides(stage)), default=-1)
    if compose.accept_unverified and max(verify, vote) >= 0:
        problem = f"would accept hypotheses that {stages[max(verify, vote)][0]} left undecided; remove this setting"
        line = _line(in_file, ("accept_unverified",))
        raise DomainError(f"compose.accept_unverified: {problem}", spec.path, line)
    undecided = [
        name
        for place, (name, stage) in enumerate(stages)
        if stage.examines() and place > verify and not (isinstance(stage, Direct) and place < vote)
    ]
    if undecided and not compose.accept_unverified:
        critic = "put verify or investigate before compose"
        fix = critic if vote >= 0 else f"{critic}, or set accept_unverified: true"
        raise DomainError(f"no stage decides what {undecided[0]} proposes; {fix}", spec.path, in_file.line)


def _decides(stage: Stage) -> bool:
    """Whether the stage decides every earlier hypothesis; a vote decides only the hypotheses of the samples that it
    counts.
    """
    return "verdicts" in stage.writes() and not isinstance(stage, Vote)


def _last(kind: type[Stage], stages: Sequence[tuple[str, Stage]]) -> int:
    """The index of the last stage of a kind; -1 if there is none."""
    return max((place for place, (_, stage) in enumerate(stages) if isinstance(stage, kind)), default=-1)
