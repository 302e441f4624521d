"""`robogaze forge simulate`: simulated clips with faults and exact annotations."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from robogaze.cli import interrupt
from robogaze.cli.shared.types import FiniteRange, GivenPath

if TYPE_CHECKING:
    from robogaze.forge.simulate.playback import Gl
    from robogaze.forge.simulate.simulated_dataset import SimulatedDataset
    from robogaze.reporting.tables import ResultTable


_LIMITS = {"seconds": (4.0, 180.0), "fps": (8.0, 30.0)}


def _size(context: click.Context, parameter: click.Parameter, text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{2,4})x(\d{2,4})", text)
    size = (int(found[1]), int(found[2])) if found else (0, 0)
    # Two views are side by side in a frame, and the encoder needs even sides.
    if not (64 <= size[0] <= 1280 and 64 <= size[1] <= 960) or size[0] % 4 or size[1] % 4:
        raise click.BadParameter("give WIDTHxHEIGHT, both multiples of 4, from 64x64 to 1280x960")
    return size


def _range(context: click.Context, parameter: click.Parameter, text: str | None) -> tuple[float, float] | None:
    """Parse a number, or two numbers with a hyphen between them."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(?:-(\d+(?:\.\d+)?))?", text)
    low, high = (float(found[1]), float(found[2] or found[1])) if found else (0.0, 0.0)
    least, most = _LIMITS[str(parameter.name)]
    if not least <= low <= high <= most:
        raise click.BadParameter(f"give a number or a range LOW-HIGH; values must be from {least:g} to {most:g}")
    return low, high


@click.command()
@click.option("--out", required=True, type=GivenPath(file_okay=False), help="Folder for the data set.")
@click.option("--clips", type=click.IntRange(min=1), required=True, help="Number of clips.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option(
    "--types",
    multiple=True,
    metavar="TYPE",
    help="Simulate only this event type. Repeat the option to simulate several types.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="NAME",
    help="Simulate only this fault, named by its `make` in simulate.yaml. Repeat the option for several faults.",
)
@click.option(
    "--tasks",
    multiple=True,
    metavar="NAME",
    help="Simulate only this task. Repeat the option to simulate several tasks.",
)
@click.option("--clean-share", type=FiniteRange(0, 1), default=0.3, show_default=True, help="Share of clean clips.")
@click.option(
    "--seconds",
    callback=_range,
    metavar="LOW-HIGH",
    help="Clip length in seconds; tasks follow each other until the clip is this long.  [default: one task per clip]",
)
@click.option("--fps", callback=_range, metavar="LOW-HIGH", default="16", show_default=True, help="Frames per second.")
@click.option(
    "--difficulty",
    metavar="NAME",
    help="Difficulty of the clips: 'hard' makes faults that are hard to see, and clean clips with hard negatives.",
)
@click.option(
    "--twins", is_flag=True, help="Also write the clean twin of each faulty clip: the same clip without the fault."
)
@click.option("--size", callback=_size, default="640x480", show_default=True, help="Size of a frame in pixels.")
@click.option("--world", help="Use only the surroundings and objects of this world.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Number of processes.")
@click.option("--gl", type=click.Choice(["auto", "egl", "osmesa"]), default="auto", show_default=True,
              help="Offscreen renderer.")  # fmt: skip
@click.option(
    "--domain", help="Name of a built-in domain, or the folder of a domain.  [default: the default built-in domain]"
)
@click.option("--json", "as_json", is_flag=True, help="Print a summary as one JSON object.")
def simulate(
    out: Path,
    clips: int,
    seed: int,
    types: tuple[str, ...],
    only: tuple[str, ...],
    tasks: tuple[str, ...],
    clean_share: float,
    seconds: tuple[float, float] | None,
    fps: tuple[float, float],
    difficulty: str | None,
    twins: bool,
    size: tuple[int, int],
    world: str | None,
    jobs: int,
    gl: str,
    domain: str | None,
    as_json: bool,
) -> int:
    """Simulate a data set of faulty and clean clips with exact annotations.

    The physics is recorded once, and then played back with the faults. A faulty clip therefore differs from its clean
    twin only in the annotated frames. Run the same command again to resume. The same seed gives the same pixels and
    annotations.
    """
    from robogaze.cli import EXIT_UNFINISHED
    from robogaze.cli.shared.tables import print_tables
    from robogaze.domains import default_domain, load_domain
    from robogaze.forge.simulate import require_simulator

    require_simulator()
    from robogaze.forge.simulate.generate import SimulationContext
    from robogaze.forge.simulate.load_config import load_simulation_config
    from robogaze.forge.simulate.simulated_dataset import SimulationPlan, select_types, simulate_clips

    name = domain or default_domain()
    config = load_simulation_config(name).with_tasks(tasks).with_faults(only)
    config.world(world)  # an unknown name is an error before anything is written
    if difficulty is not None:
        config.difficulty(difficulty)
    context = SimulationContext(out, load_domain(name), config, seed, size, cast("Gl", gl), world, difficulty)
    rates = (round(fps[0]), round(fps[1]))
    plan = SimulationPlan(context, clips, select_types(config, types), clean_share, twins, seconds, rates)
    interrupt.keeps_clips(out)
    with click.progressbar(length=clips, label="simulating", file=sys.stderr) as bar:
        dataset = simulate_clips(plan, jobs, lambda: bar.update(1))
    for error in dataset.failed:
        click.echo(f"error: {error}", err=True)
    click.echo(f"data set: {out}", err=True)
    if as_json:
        click.echo(json.dumps(dataset.as_json(), ensure_ascii=False))
    else:
        print_tables([_table(dataset)], "terminal")
    return EXIT_UNFINISHED if dataset.failed else 0


def _table(dataset: SimulatedDataset) -> ResultTable:
    from robogaze.reporting.tables import ResultTable
    from robogaze.reporting.wording import count

    rows = tuple((name or "clean", number) for name, number in dataset.by_type.items())
    rejected = sum(sum(reasons.values()) for reasons in dataset.rejections.values())
    return ResultTable(
        name="simulated",
        title=f"{count(len(dataset.clips), 'clip')} simulated, seed {dataset.plan.context.seed}",
        columns=("type", "clips"),
        rows=rows,
        notes=(f"{count(rejected, 'draw')} rejected; simulated.json gives the reasons",),
    )
