"""What the commands that diagnose clips have in common: what to run, running it, and saying what became of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from robogaze.backends import AnswerStore, Models, ModelsConfig
    from robogaze.backends.middleware.budget import Budget
    from robogaze.bench import RunOptions, RunResult
    from robogaze.core.report_summary import ReportSummary
    from robogaze.datasets import ManifestEntry
    from robogaze.domains import Domain
    from robogaze.engines.base import Engine, Task
    from robogaze.engines.ray import WorkerConfig
    from robogaze.stages.pipeline import Pipeline

SCHEMA_VERSION = 1

Command = TypeVar("Command", bound=Callable[..., Any])

CLIPS_AT_ONCE = 16


def choosing(command: Command) -> Command:
    """--domain, --pipeline, --model, --concurrency, --decoder and --retry-failed."""
    kinds = "KIND:NAME[@URL] (kinds: openai, transformers, batch, scripted), or a YAML file of models."
    again = "Ask again where answers were invalid; unanswered questions are always asked again."
    for option in reversed(
        (
            click.option("--domain", help="A built-in domain or the folder of one.  [default: the built-in default]"),
            click.option("--pipeline", help="A pipeline of the domain.  [default: by whether a model is given]"),
            click.option("--model", help=kinds),
            click.option("--concurrency", type=click.IntRange(min=1), help="Requests and clips under way at once."),
            click.option("--decoder", type=click.Choice(["pyav", "decord"]), default="pyav", show_default=True),
            click.option("--retry-failed", is_flag=True, help=again),
        )
    ):
        command = option(command)
    return command


@dataclass(frozen=True)
class ScoringPlan:
    """What is done with each clip: a pipeline, its models if it asks any, a decoder.

    `home` is the name of the domain, or its folder wherever a command runs.
    """

    home: str
    domain: Domain
    pipeline: Pipeline
    models: ModelsConfig | None
    decoder: str

    @property
    def configuration(self) -> dict[str, Any]:
        """What makes two runs the same run."""
        from robogaze import __version__

        return {
            "schema_version": SCHEMA_VERSION,
            "robogaze": __version__,
            "domain": {
                "id": self.domain.id,
                "version": self.domain.file.version,
                "fingerprint": self.domain.fingerprint,
            },
            "pipeline": self.pipeline.name,
            "decoder": self.decoder,
            "models": None if self.models is None else self.models.essence(),
        }


def plan(
    domain: str | None, pipeline: str | None, model: str | None, concurrency: int | None, decoder: str
) -> ScoringPlan:
    """What the options say. Raises UsageError for a pipeline that asks a model where none is given."""
    from robogaze.domains import default_domain, domain_folders, load_domain
    from robogaze.stages.pipeline import Pipeline

    home = domain or default_domain()
    if home not in domain_folders():
        home = str(Path(home).absolute())
    loaded = load_domain(home)
    chosen = Pipeline.build(loaded, pipeline or _default_pipeline(loaded, model))
    return ScoringPlan(home, loaded, chosen, _models(model, chosen, concurrency), decoder)


def _default_pipeline(domain: Domain, model: str | None) -> str:
    if model is not None:
        return domain.file.default_pipeline
    if domain.file.pipeline_without_model is None:
        raise click.UsageError(f"the domain {domain.id} has no pipeline without a model; give --model")
    return domain.file.pipeline_without_model


def _models(model: str | None, pipeline: Pipeline, concurrency: int | None) -> ModelsConfig | None:
    if not pipeline.roles:
        if model is not None:
            click.echo(f"the pipeline {pipeline.name} asks no model; --model is not used", err=True)
        return None
    if model is None:
        raise click.UsageError(f"the pipeline {pipeline.name} asks a model; give --model, or another --pipeline")
    from robogaze.backends import ModelsConfig

    config = ModelsConfig.read(model)
    return config if concurrency is None else config.with_concurrency(concurrency)


def recipe(made: ScoringPlan, in_flight: int, outage_s: float) -> WorkerConfig:
    """A plan as what workers elsewhere are given, with the keys of its servers."""
    from robogaze.engines.ray import WorkerConfig

    models = () if made.models is None else made.models.models.values()
    names = {"OPENAI_API_KEY", "ROBOGAZE_API_KEY", *(model.api_key_env for model in models if model.api_key_env)}
    secrets = {name: os.environ[name] for name in names if name in os.environ}
    return WorkerConfig(made.home, made.pipeline.name, made.models, made.decoder, in_flight, outage_s, secrets)


@dataclass(frozen=True)
class ModelOptions:
    """How models are opened beside what their file says; see `Models.open`."""

    purse: Budget | None = None
    outage_s: float = 0.0


EngineOf = Callable[["Models | None", "AnswerStore | None"], "Engine"]
"""Makes an engine of the models it may ask and the answers that are kept, None where no model is asked."""


async def run(
    entries: Sequence[ManifestEntry],
    job: RunOptions,
    plan: ScoringPlan,
    engine_of: EngineOf,
    door: ModelOptions | None = None,
) -> RunResult:
    """Do a job. Answers are kept in its run folder or in the user's cache; models are asked only if a clip is to do."""
    from robogaze.backends import AnswerStore, Models
    from robogaze.bench import run_clips
    from robogaze.cli import quiet_retries

    if plan.models is None:
        return await run_clips(entries, engine_of(None, None), job)
    quiet_retries()
    door = door or ModelOptions()
    with ExitStack() as stack:
        answers = AnswerStore(_cache_path() if job.run is None else job.run.answers)
        stack.callback(answers.close)
        # In a run folder a budget is for all starts together; the user's cache knows no runs.
        budget = None if job.run is None else answers
        models = Models.open(
            plan.models, answers, os.environ, budget=budget, purse=door.purse, outage_s=door.outage_s, tell=_say
        )

        async def before(tasks: Sequence[Task], done: Mapping[str, ReportSummary]) -> bool:
            going_on = await job.before(tasks, done)
            if going_on and tasks:
                await models.ready()
            return going_on

        try:
            return await run_clips(entries, engine_of(models, answers), replace(job, answers=answers, before=before))
        finally:
            await models.close()


def here(plan: ScoringPlan, in_flight: int, on_decoded: Callable[[str, float], None] | None = None) -> EngineOf:
    """This process, with so many clips under way at once; `on_decoded` is told how far each is (see `ClipWorker`)."""
    from robogaze.engines.base import ClipWorker
    from robogaze.engines.local import Local

    return lambda models, answers: Local(ClipWorker(plan.pipeline, models, plan.decoder, on_decoded), in_flight)


def _say(text: str) -> None:
    click.echo(text, err=True)


def _cache_path() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("robogaze") / "answers.sqlite"


def tell(outcome: RunResult, out: Path | None) -> None:
    """Say on stderr what went wrong, and what to do about it."""
    from robogaze.bench import awaits_answer, wants_other_answers
    from robogaze.reporting.wording import count

    for one in outcome.unreadable:
        _say(f"error: {one.reason}")
    for path in outcome.repeated:
        _say(f"{path} is the same clip as another and was scored once")
    for clip_id, what in outcome.replaced.items():
        said = "file" if what == "sha256" else what.replace("_", " ")
        _say(f"{clip_id} has another {said} than when it was scored; its old report is replaced")
    if outcome.stopped is not None:
        _say(f"stopped: {outcome.stopped}")
    digests = outcome.digests.values()
    if unanswered := sum(awaits_answer(one) for one in digests):
        what = f"{count(unanswered, 'clip')} incomplete because the server did not answer"
        _say(f"{what}; run the same command again to resume")
    if wanting := sum(wants_other_answers(one) and not awaits_answer(one) for one in digests):
        what = f"{count(wanting, 'clip')} incomplete because the model's answers were invalid"
        way_out = "run the same command again" if out is None else "add --retry-failed"
        _say(f"{what}; {way_out} to ask again")


def exit_code(outcome: RunResult) -> int:
    """What the command ends with."""
    from robogaze.bench import found_no_server
    from robogaze.cli import EXIT_ERROR, EXIT_UNFINISHED, EXIT_UNREACHABLE

    asked = [outcome.digests[name] for name in outcome.diagnosed]
    if asked and all(found_no_server(one) for one in asked):
        return EXIT_UNREACHABLE
    if not outcome.digests and outcome.unreadable and outcome.stopped is None:
        return EXIT_ERROR
    complete = all(digest.status == "complete" for digest in outcome.digests.values())
    return 0 if outcome.stopped is None and not outcome.unreadable and complete else EXIT_UNFINISHED


def as_told(outcome: RunResult) -> Mapping[str, Any]:
    """The unreadable clips as JSON."""
    return {"unreadable": [one.model_dump() for one in outcome.unreadable]}
