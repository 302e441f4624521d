"""Runs a pipeline up to a stage and collects the requests of that stage.

No model is queried. The answers of earlier stages are taken from a run folder if it has them. Answers that the run
folder does not have are the simplest valid answers (`robogaze.backends.rehearsal`).
"""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from robogaze.backends import AnswerStore, Completion, Model, ModelConfig, Models, ModelsConfig, Request
from robogaze.backends.rehearsal import RehearsalBackend
from robogaze.core.pictures import FrameImage
from robogaze.core.report import Report
from robogaze.datasets import ManifestEntry
from robogaze.diagnose import OpenClip, open_clip
from robogaze.errors import InputError
from robogaze.rehearse import noise_clip
from robogaze.stages.client import ModelClient, Query
from robogaze.stages.pipeline import Pipeline
from robogaze.store import StoredRun, configuration_of


@dataclass(frozen=True)
class RenderedRequest:
    """A request and the query from which it was made. `prompt_file` is the template of the query's prompt."""

    query: Query
    request: Request
    prompt_file: Path


@dataclass(frozen=True)
class RenderedStage:
    """The requests of a stage about one clip.

    `requests` is empty if the stage queries no model, or if the earlier answers leave nothing to ask; `note` then says
    why. `run` is the run folder with the answers of earlier stages, None if the simplest answers are used. `made_up`
    counts the answers that the run folder lacks.
    """

    pipeline: str
    stage: str
    clip: str
    requests: tuple[RenderedRequest, ...]
    note: str = ""
    run: str | None = None
    made_up: int = 0

    def one_per_prompt(self) -> "RenderedStage":
        """A copy that has only the first request made from each prompt."""
        first = {request.query.prompt: request for request in reversed(self.requests)}
        return replace(self, requests=tuple(request for request in self.requests if request in first.values()))


async def render_noise(pipeline: Pipeline, stage: str, models: ModelsConfig | None = None) -> RenderedStage:
    """The requests of a stage about a clip of noise, with an instruction. Raises InputError for an unknown stage."""
    clip, decoded, evidence = noise_clip(pipeline.measures)
    with closing(decoded):
        return await _render(pipeline, stage, OpenClip(clip, decoded, evidence, {}), models, RehearsalBackend())


async def render_clip(
    pipeline: Pipeline, stage: str, entry: ManifestEntry, models: ModelsConfig | None = None, run: Path | None = None
) -> RenderedStage:
    """The requests of a stage about a clip.

    With `run`, the models, their frames and the earlier answers are taken from this run folder. Raises VideoError if
    the clip cannot be decoded. Raises InputError if the stage is unknown, or if the run has no report of the clip.
    """
    config = models_of_run(run) if run is not None else models
    with open_clip(entry, pipeline, _rehearsal(config, RehearsalBackend())) as opened:
        if run is None:
            return await _render(pipeline, stage, opened, config, RehearsalBackend())
        with closing(AnswerStore(run / "calls.sqlite")) as answers:
            backend = RunAnswers(_report(run, opened.clip.id), answers)
            rendered = await _render(pipeline, stage, opened, config, backend)
        return replace(rendered, run=run.as_posix(), made_up=backend.made_up)


def clip_of_run(run: Path, clip_id: str) -> ManifestEntry:
    """A clip of a run folder, as the run scored it. Raises InputError if the run does not have this clip; the message
    lists the clips that it has.
    """
    models_of_run(run)  # raises if the folder holds no run
    stored = StoredRun(run)
    paths = {line.clip_id: line.path for line in stored.lines}
    if clip_id not in paths:
        raise InputError(f"{run} has no clip {clip_id!r}; it has: {', '.join(paths) or 'none'}")
    clip = _report(run, clip_id).clip
    return ManifestEntry(
        path=run.resolve() / paths[clip_id],
        clip_id=clip_id,
        instruction=clip.instruction,
        initial_frame=None if clip.initial_frame is None else Path(clip.initial_frame),
        layout=clip.layout,
        start_s=clip.start_s,
        end_s=clip.end_s,
        sha256=clip.sha256,
    )


def models_of_run(run: Path) -> ModelsConfig | None:
    """The models of a run folder; None for a run without models. Raises InputError if `run` is not a run folder."""
    configuration = configuration_of(run)
    if not configuration:
        raise InputError(f"{run} is not a run folder: it has no run.json")
    models = configuration["models"]
    return None if models is None else ModelsConfig.model_validate(models)


def _report(run: Path, clip_id: str) -> Report:
    report = StoredRun(run).report(clip_id)
    if report is None:
        raise InputError(f"{run} has no report of the clip {clip_id}")
    return report


@dataclass
class RunAnswers(RehearsalBackend):
    """Answers each request with the run's answer for the same stage, subject and attempt. If the run has no such
    answer, the simplest valid answer is returned.
    """

    report: Report
    answers: AnswerStore
    made_up: int = 0

    async def complete(self, request: Request) -> Completion:
        about = (request.stage, request.subject, request.attempt)
        for call in self.report.provenance.calls:
            if (call.stage, call.subject, call.attempt) == about and (found := self.answers.get(call.key)):
                return found
        self.made_up += 1
        return await super().complete(request)


@dataclass
class _RecordingClient(ModelClient):
    """Keeps every request, with its query; images are read, because they are deleted with the decoded clip."""

    requests: list[tuple[Query, Request]] = field(default_factory=list)

    def request(self, query: Query, parts: tuple[str | FrameImage, ...], model: Model, attempt: int) -> Request:
        request = super().request(query, parts, model, attempt)
        read = tuple(replace(part, content=part.jpeg) if isinstance(part, FrameImage) else part for part in parts)
        self.requests.append((query, replace(request, parts=read)))
        return request


def _rehearsal(config: ModelsConfig | None, backend: RehearsalBackend) -> Models:
    if config is None:
        config = ModelsConfig(models={"model": ModelConfig(kind="scripted")}, roles={"vlm": "model"})
    return Models(config, dict.fromkeys(config.models, backend))


async def _render(
    pipeline: Pipeline, stage: str, opened: OpenClip, config: ModelsConfig | None, backend: RehearsalBackend
) -> RenderedStage:
    names = [name for name, _ in pipeline.stages]
    if stage not in names:
        known = ", ".join(dict.fromkeys(names))
        raise InputError(f"the pipeline {pipeline.name} has no stage {stage!r}; it has: {known}")
    rendered = RenderedStage(pipeline.name, stage, opened.clip.id, ())
    if all(found.role() is None for name, found in pipeline.stages if name == stage):
        return replace(rendered, note=f"{stage} queries no model")
    client = _RecordingClient(pipeline.domain, opened.clip, opened.decoded, _rehearsal(config, backend))
    last = len(names) - names[::-1].index(stage)
    start = pipeline.start(opened.clip, opened.evidence)
    end = await replace(pipeline, stages=pipeline.stages[:last]).run(start, client)
    path = pipeline.domain.prompts.path
    requests = tuple(
        RenderedRequest(query, request, path(query.prompt))
        for query, request in client.requests
        if request.stage == stage and request.attempt == 1
    )
    failures: Mapping[str, Any] = {failure.stage: failure for failure in end.failures}
    reason = next(
        (failure.message for failure in failures.values()), "after the earlier answers there is nothing left to ask"
    )
    return replace(rendered, requests=requests, note="" if requests else f"{stage} sends no request: {reason}")
