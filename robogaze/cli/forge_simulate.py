"""`robogaze forge simulate`: clips of a simulated machine at work, with glitches whose truth is known."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from robogaze.cli import interrupt

if TYPE_CHECKING:
    from robogaze.forge.sim.draw import Gl
    from robogaze.forge.sim.folder import Simulated
    from robogaze.reporting.tables import ResultTable


def _size(context: click.Context, parameter: click.Parameter, text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{2,4})x(\d{2,4})", text)
    size = (int(found[1]), int(found[2])) if found else (0, 0)
    # Two views stand side by side in a picture, and the encoding takes even sides.
    if not (64 <= size[0] <= 1280 and 64 <= size[1] <= 960) or size[0] % 4 or size[1] % 4:
        raise click.BadParameter("a size is WIDTHxHEIGHT, multiples of 4 from 64x64 to 1280x960")
    return size


@click.command()
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="The data set's folder.")
@click.option("--clips", type=click.IntRange(min=1), required=True, help="How many clips.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--types", multiple=True, metavar="TYPE", help="Only this event type; may be given several times.")
@click.option("--tasks", multiple=True, metavar="NAME", help="Only this task; may be given several times.")
@click.option("--clean-share", type=click.FloatRange(0, 1), default=0.3, show_default=True, help="How many are clean.")
@click.option("--twins", is_flag=True, help="Write the clean twin of each glitchy clip, too, as a clip of its own.")
@click.option("--size", callback=_size, default="640x480", show_default=True, help="Of the picture, in pixels.")
@click.option("--world", help="Arms, surfaces, cameras and light of this world only; the domain names worlds.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="How many processes.")
@click.option("--gl", type=click.Choice(["auto", "egl", "osmesa"]), default="auto", show_default=True,
              help="What draws without a screen.")  # fmt: skip
@click.option("--domain", help="Whose event types, a built-in domain or a folder.  [default: the built-in default]")
@click.option("--json", "as_json", is_flag=True, help="Print what was made as one JSON object.")
def simulate(
    out: Path,
    clips: int,
    seed: int,
    types: tuple[str, ...],
    tasks: tuple[str, ...],
    clean_share: float,
    twins: bool,
    size: tuple[int, int],
    world: str | None,
    jobs: int,
    gl: str,
    domain: str | None,
    as_json: bool,
) -> int:
    """Simulate clips, glitchy and clean, with exact annotations, as a data set.

    Physics is recorded once and played back with edits, so a glitchy clip differs from its clean twin in the frames
    that its annotation names, and in no others. The same command resumes one that was killed; the same seed gives
    the same pixels and annotations.
    """
    from robogaze.cli import EXIT_UNFINISHED
    from robogaze.cli.shared.tables import print_tables
    from robogaze.domains import default_domain, load_domain
    from robogaze.forge.sim import load_simulator

    load_simulator()
    from robogaze.forge.sim.folder import SimulationPlan, chosen_types, simulate_clips
    from robogaze.forge.sim.make import Workshop
    from robogaze.forge.sim.recipe import load_recipe

    name = domain or default_domain()
    recipe = load_recipe(name).only(tasks)
    recipe.world(world)  # a name that is unknown is told before anything is made
    shop = Workshop(out, load_domain(name), recipe, seed, size, cast("Gl", gl), world)
    plan = SimulationPlan(shop, clips, chosen_types(recipe, types), clean_share, twins)
    interrupt.keeps_clips(out)
    with click.progressbar(length=clips, label="simulating", file=sys.stderr) as bar:
        done = simulate_clips(plan, jobs, lambda: bar.update(1))
    for given_up in done.given_up:
        click.echo(f"error: {given_up}", err=True)
    click.echo(f"data set: {out}", err=True)
    if as_json:
        click.echo(json.dumps(done.as_json(), ensure_ascii=False))
    else:
        print_tables([_sheet(done)], "terminal")
    return EXIT_UNFINISHED if done.given_up else 0


def _sheet(done: Simulated) -> ResultTable:
    from robogaze.reporting.tables import ResultTable
    from robogaze.reporting.wording import count

    rows = tuple((name or "clean", number) for name, number in done.by_type.items())
    turned_down = sum(sum(reasons.values()) for reasons in done.rejections.values())
    return ResultTable(
        name="simulated",
        title=f"{count(len(done.made), 'clip')} simulated, seed {done.plan.workshop.seed}",
        columns=("type", "clips"),
        rows=rows,
        notes=(f"{count(turned_down, 'draw')} turned down; simulated.json says why",),
    )
