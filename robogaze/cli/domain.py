"""`robogaze domain`: list, show, check and create domains, and render the requests to a model."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from robogaze.cli.shared import clips
from robogaze.cli.shared.types import GivenPath, GivenSource

if TYPE_CHECKING:
    from robogaze.datasets import ManifestEntry
    from robogaze.domains import Domain
    from robogaze.render import RenderedStage


@click.group()
def domain() -> None:
    """List, check and create domains: folders of data that define what to look for and what to ask a model."""


@domain.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def list_(as_json: bool) -> int:
    """List the built-in domains."""
    from robogaze.domains import domain_folders, load_domain

    domains = [load_domain(name) for name in domain_folders()]
    if as_json:
        rows = [{"id": found.id, "version": found.file.version, "title": found.file.title} for found in domains]
        click.echo(json.dumps({"schema_version": 1, "domains": rows}))
        return 0
    for found in domains:
        counts = f"{len(found.dimensions)} dimensions, {len(found.types)} types, {len(found.pipelines)} pipelines"
        click.echo(f"{found.id:11} {found.file.version:8} {found.file.title} ({counts})")
    return 0


@domain.command()
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(name: str, as_json: bool) -> int:
    """Show the dimensions, the types with their spans, the severity levels and the pipelines of a domain.

    NAME is a built-in domain or a folder.
    """
    from robogaze.domains import load_domain

    found = load_domain(name)
    if as_json:
        click.echo(json.dumps({"schema_version": 1, **_described(found)}))
        return 0
    click.echo(f"{found.id} {found.file.version}: {found.file.title}\nfingerprint {found.fingerprint}")
    for dimension in found.dimensions.values():
        needs = f" (needs: {', '.join(dimension.needs)})" if dimension.needs else ""
        click.echo(f"\n{dimension.code}  {dimension.id}{needs}\n    {dimension.definition}")
        for kind in dimension.types:
            limiting = ", evidence-limiting" if kind.evidence_limiting else ""
            click.echo(f"    {kind.id} [{kind.severity}{limiting}]: {kind.definition}")
            click.echo(f"        span ({kind.span.covers}). Start: {kind.span.starts}. End: {kind.span.ends}.")
    click.echo("\nseverity")
    for level in found.taxonomy.severity:
        click.echo(f"    {level.level} {level.name}: {level.definition}")
    click.echo("\npipelines")
    for pipeline in found.pipelines.values():
        stages = ", ".join(stage.name for stage in pipeline.stages)
        click.echo(f"    {pipeline.name}: {pipeline.description}\n        {stages}")
    return 0


def _described(found: Domain) -> dict[str, object]:
    return {
        **found.file.model_dump(mode="json"),
        "fingerprint": found.fingerprint,
        "taxonomy": found.taxonomy.model_dump(mode="json"),
        "pipelines": {pipeline.name: pipeline.description for pipeline in found.pipelines.values()},
    }


@domain.command()
@click.argument("name")
def check(name: str) -> int:
    """Check a domain: its files, the stages of every pipeline (order and parameters), every prompt, and its forge.yaml
    and simulate.yaml.

    Each pipeline is rehearsed on a clip of noise, without a model. The check stops at the first error, and names the
    file and line of this error. NAME is a built-in domain or a folder.
    """
    from robogaze.domains import load_domain
    from robogaze.domains.load import find_domain
    from robogaze.forge.plant.planting_config import find_planting_file, load_planting_config
    from robogaze.forge.simulate.load_config import load_simulation_config
    from robogaze.forge.simulate.simulation_config import FILE
    from robogaze.reporting.wording import count

    found = load_domain(name)

    from robogaze.rehearse import rehearse
    from robogaze.stages.pipeline import Pipeline

    for pipeline in found.pipelines:
        asyncio.run(rehearse(Pipeline.build(found, pipeline)))
    parts = [count(len(found.types), "type"), f"{count(len(found.pipelines), 'pipeline')} rehearsed"]
    if find_planting_file(name) is not None:
        parts.append(f"{count(len(load_planting_config(name).glitches), 'kind')} of glitch")
    if (find_domain(name) / FILE).is_file():
        parts.append(count(len(load_simulation_config(name).faults), "simulated fault"))
    click.echo(f"{found.id} is valid: {', '.join(parts)}")
    return 0


@domain.command()
@click.argument("folder", type=GivenPath())
def new(folder: Path) -> int:
    """Create a domain: write a FOLDER with the files to fill in."""
    from robogaze.domains.scaffold import scaffold

    for path in scaffold(folder):
        click.echo(path)
    click.echo(f"fill in taxonomy.yaml, then: robogaze domain check {folder}", err=True)
    return 0


@domain.command()
@click.argument("pipeline")
@click.argument("stage")
@click.argument("clip", required=False, type=GivenSource())
@click.option(
    "--domain",
    "name",
    help="Name of a built-in domain, or the folder of a domain.  [default: the default built-in domain]",
)
@click.option("-i", "--instruction", help="Instruction of the clip.")
@click.option("--layout", help=clips.LAYOUT)
@click.option("--model", help="Use this model's settings for frames and pictures; the model is not queried.")
@click.option("--run", type=GivenPath(), help="Take the answers of earlier stages from this run folder.")
@click.option("--all", "all_", is_flag=True, help="Render every request, not only the first request of each prompt.")
@click.option("--out", type=GivenPath(), help="Write a page with the pictures to this file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def render(
    pipeline: str,
    stage: str,
    clip: str | None,
    name: str | None,
    instruction: str | None,
    layout: str | None,
    model: str | None,
    run: Path | None,
    all_: bool,
    out: Path | None,
    as_json: bool,
) -> int:
    """Print what a STAGE of a PIPELINE sends to a model: system prompt, images, text and schema.

    No model is queried. CLIP is a video. With --run, CLIP is the id of a clip in the run folder. Without CLIP, a clip
    of noise is used. The answers of earlier stages come from the run folder (with --run), or are the simplest valid
    answers (without --run).

    Example: robogaze domain render full verify cup.mp4 --out verify.html
    """
    if run is not None and (clip is None or model is not None):
        raise click.UsageError("--run needs a CLIP, and uses the models of the run; give a CLIP, and leave out --model")
    if clip is not None and run is None:
        clips.check_exist(Path(clip))

    from robogaze.backends import ModelsConfig
    from robogaze.domains import default_domain, load_domain
    from robogaze.render import as_json as to_json
    from robogaze.render import as_page, as_text, render_clip, render_noise
    from robogaze.stages.pipeline import Pipeline

    built = Pipeline.build(load_domain(name or default_domain()), pipeline)
    models = None if model is None else ModelsConfig.read(model)
    if clip is None:
        rendered = asyncio.run(render_noise(built, stage, models))
    else:
        entry = _entry(clip, run, instruction, layout)
        rendered = asyncio.run(render_clip(built, stage, entry, models, run))
    shown = rendered if all_ else rendered.one_per_prompt()
    if out is not None:
        out.write_text(as_page(shown), encoding="utf-8")
    click.echo(json.dumps(to_json(shown)) if as_json else as_text(shown), nl=bool(shown.requests) or as_json)
    _report(rendered, shown, out)
    return 0


def _entry(clip: str, run: Path | None, instruction: str | None, layout: str | None) -> ManifestEntry:
    from robogaze.render import clip_of_run
    from robogaze.run.clips import list_clips

    if run is not None:
        return clip_of_run(run, clip)
    path = Path(clip)
    entries = list_clips([path], instruction=instruction, layout=clips.parse_layout(layout)).entries
    if len(entries) != 1:
        raise click.UsageError(f"{path} holds {len(entries)} clips; give one video")
    return entries[0]


def _report(rendered: RenderedStage, shown: RenderedStage, out: Path | None) -> None:
    """Print on stderr what the page does not show, and where the page is."""
    if rendered.note:
        click.echo(rendered.note, err=True)
    if hidden := len(rendered.requests) - len(shown.requests):
        click.echo(f"{hidden} more requests use the same prompts; add --all to render them", err=True)
    if rendered.made_up:
        click.echo(
            f"{rendered.made_up} answers are missing in the run; the simplest valid answers are used instead", err=True
        )
    if out is not None:
        click.echo(f"page: {out}", err=True)
