"""`robogaze domain`: which domains there are, what is in one, whether it holds together, and how to begin one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from robogaze.domains import Domain


@click.group()
def domain() -> None:
    """Domains: what to look for, as folders of data."""


@domain.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def list_(as_json: bool) -> int:
    """List the built-in domains."""
    from robogaze.domains import domain_folders, load_domain

    found = [load_domain(name) for name in domain_folders()]
    if as_json:
        rows = [{"id": one.id, "version": one.file.version, "title": one.file.title} for one in found]
        click.echo(json.dumps({"schema_version": 1, "domains": rows}))
        return 0
    for one in found:
        counts = f"{len(one.dimensions)} dimensions, {len(one.types)} types, {len(one.pipelines)} pipelines"
        click.echo(f"{one.id:10} {one.file.version:8} {one.file.title} ({counts})")
    return 0


@domain.command()
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(name: str, as_json: bool) -> int:
    """Show a domain's dimensions, types, severity rubric and pipelines. NAME is a built-in domain or a folder."""
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
            click.echo(f"    {kind.id} [{kind.severity}]: {kind.definition}")
    click.echo("\nseverity")
    for level in found.taxonomy.severity:
        click.echo(f"    {level.level} {level.name}: {level.definition}")
    click.echo("\npipelines")
    for pipeline in found.pipelines.values():
        click.echo(f"    {pipeline.name}: {pipeline.description}")
    return 0


def _described(found: Domain) -> dict[str, object]:
    return {
        **found.file.model_dump(mode="json"),
        "fingerprint": found.fingerprint,
        "taxonomy": found.taxonomy.model_dump(mode="json"),
        "pipelines": {one.name: one.description for one in found.pipelines.values()},
    }


@domain.command()
@click.argument("name")
def check(name: str) -> int:
    """Check a domain: its files, every pipeline's order and parameters, and every prompt, in a rehearsal.

    What it has planted in clips is checked, too (forge.yaml).

    Stops at the first fault and names its file and line. NAME is a built-in domain or a folder.
    """
    import asyncio

    from robogaze.domains import load_domain
    from robogaze.forge.plant.planting_config import find_planting_file, load_planting_config
    from robogaze.rehearse import rehearse
    from robogaze.reporting.wording import count
    from robogaze.stages import Pipeline

    found = load_domain(name)
    for pipeline in found.pipelines:
        asyncio.run(rehearse(Pipeline.build(found, pipeline)))
    planted = (
        ""
        if find_planting_file(name) is None
        else f", {count(len(load_planting_config(name).glitches), 'kind')} of glitch"
    )
    told = f"{len(found.types)} types, {len(found.pipelines)} pipelines rehearsed{planted}"
    click.echo(f"{found.id} holds together: {told}")
    return 0


@domain.command()
@click.argument("folder", type=click.Path(path_type=Path))
def new(folder: Path) -> int:
    """Begin a domain of your own: a FOLDER with the files to fill in."""
    from robogaze.domains.scaffold import scaffold

    for path in scaffold(folder):
        click.echo(path)
    click.echo(f"fill in taxonomy.yaml, then: robogaze domain check {folder}", err=True)
    return 0
