"""`robogaze score`: clips in, reports out."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from robogaze.backends import ModelsConfig
    from robogaze.bench import Job, Outcome
    from robogaze.core.report import Report
    from robogaze.datasets import Entry
    from robogaze.domains import Domain
    from robogaze.stages import Pipeline

SCHEMA_VERSION = 1


@click.command()
@click.argument("clips", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="CLIP...")
@click.option(
    "-i", "--instruction", help="What the clip was generated for. For many clips, use sidecars or a manifest."
)
@click.option("--initial-frame", type=click.Path(path_type=Path), help="A picture of the scene before the clip starts.")
@click.option("--layout", help="'single', or 'ROWSxCOLUMNS:name,name,...' for views in a grid, - for an empty panel.")
@click.option("--domain", help="A built-in domain or the folder of one.  [default: the built-in default]")
@click.option("--pipeline", help="A pipeline of the domain.  [default: the domain's, by whether a model is given]")
@click.option(
    "--model", help="KIND:NAME[@URL] (kinds: openai, transformers, batch, scripted), or a YAML file of models."
)
@click.option("--out", type=click.Path(path_type=Path), help="A folder for reports, answers and the page to look at.")
@click.option("--concurrency", type=click.IntRange(min=1), help="Requests and clips under way at once.")
@click.option("--decoder", type=click.Choice(["pyav", "decord"]), default="pyav", show_default=True)
@click.option(
    "--retry-failed", is_flag=True, help="Ask again where answers could not be used; where none came it is done anyway."
)
@click.option("--json", "as_json", is_flag=True, help="Print the reports as one JSON object.")
def score(
    clips: tuple[Path, ...],
    instruction: str | None,
    initial_frame: Path | None,
    layout: str | None,
    domain: str | None,
    pipeline: str | None,
    model: str | None,
    out: Path | None,
    concurrency: int | None,
    decoder: str,
    retry_failed: bool,
    as_json: bool,
) -> int:
    """Score clips: say what failed in each, when, why and how badly.

    CLIP is a video, or a manifest (.jsonl) that lists videos. A sidecar beside a video gives its instruction:
    cup.txt, or cup.json with any field of a manifest line.

    Without --model, what can be measured in the pixels is judged, and the report says what that leaves out.
    """
    from robogaze.datasets import find_entries
    from robogaze.domains import default_domain, load_domain
    from robogaze.stages import Pipeline

    entries = find_entries(clips, instruction=instruction, initial_frame=initial_frame, layout=_layout(layout))
    loaded = load_domain(domain or default_domain())
    chosen = Pipeline.build(loaded, pipeline or _default_pipeline(loaded, model))
    config = _models(model, chosen, concurrency)
    outcome = _run(entries, chosen, config, out, decoder, retry_failed, concurrency)
    if out is not None and (outcome.reports or outcome.unreadable):
        from robogaze.cli.report import write_page

        click.echo(f"report: {write_page(out, loaded)}", err=True)
    _show(outcome, loaded, as_json)
    _tell(outcome, out)
    return _exit_code(outcome)


def _layout(text: str | None) -> Any:
    from robogaze.core.clip import Layout

    try:
        return None if text is None else Layout.parse(text)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--layout") from error


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


def _run(
    entries: Sequence[Entry],
    pipeline: Pipeline,
    config: ModelsConfig | None,
    out: Path | None,
    decoder: str,
    retry_failed: bool,
    concurrency: int | None,
) -> Outcome:
    import asyncio

    from robogaze.backends import AnswerStore
    from robogaze.bench import Job
    from robogaze.store import RunFolder

    with ExitStack() as stack:
        run = None if out is None else stack.enter_context(RunFolder(out, _configuration(pipeline, config, decoder)))
        answers = None
        if config is not None:
            answers = AnswerStore(run.answers if run is not None else _cache_path())
            stack.callback(answers.close)
        job = Job(
            pipeline=pipeline,
            run=run,
            answers=answers,
            decoder=decoder,
            in_flight=concurrency or 16,
            retry_failed=retry_failed,
            on_done=stack.enter_context(_progress(len(entries))),
        )
        return asyncio.run(_with_models(entries, job, config))


async def _with_models(entries: Sequence[Entry], job: Job, config: ModelsConfig | None) -> Outcome:
    from dataclasses import replace

    from robogaze.backends import Models
    from robogaze.bench import run_clips
    from robogaze.cli import quiet_retries

    if config is None:
        return await run_clips(entries, job)
    quiet_retries()
    # In a run folder a budget is for all starts together; the user's cache knows no runs.
    budget = None if job.run is None else job.answers
    models = Models.open(config, job.answers, os.environ, budget=budget)
    try:
        await models.ready()
        return await run_clips(entries, replace(job, models=models))
    finally:
        await models.close()


def _configuration(pipeline: Pipeline, config: ModelsConfig | None, decoder: str) -> Mapping[str, Any]:
    """What makes two runs the same run."""
    from robogaze import __version__

    return {
        "schema_version": SCHEMA_VERSION,
        "robogaze": __version__,
        "domain": {
            "id": pipeline.domain.id,
            "version": pipeline.domain.file.version,
            "fingerprint": pipeline.domain.fingerprint,
        },
        "pipeline": pipeline.name,
        "decoder": decoder,
        "models": None if config is None else config.essence(),
    }


def _cache_path() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("robogaze") / "answers.sqlite"


def _progress(total: int) -> Any:
    """A progress bar on stderr when it is a terminal; nothing otherwise."""
    from contextlib import contextmanager

    @contextmanager
    def bar() -> Any:
        if not sys.stderr.isatty():
            yield lambda name, report: None
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("scoring", total=total)
            yield lambda name, report: progress.update(task, advance=1, description=name)

    return bar()


def _show(outcome: Outcome, domain: Domain, as_json: bool) -> None:
    reports = list(outcome.reports.values())
    if as_json:
        found = [report.model_dump(mode="json") for report in reports]
        unreadable = [one.model_dump() for one in outcome.unreadable]
        click.echo(json.dumps({"schema_version": SCHEMA_VERSION, "reports": found, "unreadable": unreadable}))
    else:
        from rich.console import Console

        from robogaze.reporting.tables import clip_table, summary_lines

        console = Console(width=None if sys.stdout.isatty() else 160)
        if reports or outcome.unreadable:
            console.print(clip_table(reports, outcome.unreadable, domain))
            for line in summary_lines(reports, outcome.unreadable, domain):
                console.print(line, highlight=False, markup=False)


def _tell(outcome: Outcome, out: Path | None) -> None:
    """Say on stderr what went wrong, and what to do about it."""
    from robogaze.bench import awaits_answer, wants_other_answers
    from robogaze.reporting.wording import count

    for one in outcome.unreadable:
        click.echo(f"error: {one.reason}", err=True)
    for path in outcome.repeated:
        click.echo(f"{path} is the same clip as another and was scored once", err=True)
    if outcome.stopped is not None:
        click.echo(f"stopped: {outcome.stopped}", err=True)
    reports = outcome.reports.values()
    if unanswered := sum(awaits_answer(one) for one in reports):
        what = f"{count(unanswered, 'clip')} not judged to the end because no answer came from the server"
        click.echo(f"{what}; run the same command again to go on", err=True)
    if wanting := sum(wants_other_answers(one) and not awaits_answer(one) for one in reports):
        what = f"{count(wanting, 'clip')} not judged to the end for want of answers that could be used"
        way_out = "run the same command again" if out is None else "add --retry-failed"
        click.echo(f"{what}; {way_out} to ask for others", err=True)


def _exit_code(outcome: Outcome) -> int:
    from robogaze.cli import EXIT_ERROR, EXIT_UNFINISHED, EXIT_UNREACHABLE

    reports = list(outcome.reports.values())
    asked = [outcome.reports[name] for name in outcome.diagnosed]
    if asked and all(_found_no_server(one) for one in asked):
        return EXIT_UNREACHABLE
    if not reports and outcome.unreadable and outcome.stopped is None:
        return EXIT_ERROR
    finished = outcome.stopped is None and not outcome.unreadable and all(one.status == "ok" for one in reports)
    return 0 if finished else EXIT_UNFINISHED


def _found_no_server(report: Report) -> bool:
    return report.status == "unscored" and any(one.kind == "Unreachable" for one in report.failures)
