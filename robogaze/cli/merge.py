"""`robogaze merge`: merge the shards of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from robogaze.cli.shared.clips import check_exist
from robogaze.cli.shared.types import GivenPath


@click.command()
@click.argument("runs", nargs=-1, required=True, type=GivenPath(), metavar="RUN...")
@click.option("--out", type=GivenPath(), metavar="PATH", help="Merge the given run folders into this folder.")
def merge(runs: tuple[Path, ...], out: Path | None) -> int:
    """Merge the shards of each RUN into the run folder RUN.

    `robogaze score --shard` writes the shards to RUN.shards/. With --out PATH, the command merges the given run folders
    into PATH instead. To add clips that were scored later, merge again.
    """
    from robogaze.errors import InputError
    from robogaze.run.shards import shards_of, written_shards
    from robogaze.store import configuration_of

    if out is not None:
        check_exist(*runs)
        return join(runs, out, "shard" if all("shard" in configuration_of(run) for run in runs) else "run")
    codes = []
    for run in runs:
        shards = written_shards(run)
        if not shards:
            raise InputError(f"{shards_of(run)} has no shards; robogaze score --shard I/N --out {run} writes shards")
        codes.append(join(shards, run, "shard"))
    return max(codes)


def join(sources: Sequence[Path], out: Path, what: str = "run") -> int:
    """Merge runs, or the shards of a run. Print the path and the counts, and return the exit code."""
    from robogaze.cli import EXIT_UNFINISHED
    from robogaze.reporting.wording import count, listed
    from robogaze.run.merge import merge as joined

    found = joined(sources, out)
    parts = [f"{count(found.clips, 'clip')} of {count(found.runs, what)}", f"{found.reports:,} with a report"]
    parts += [f"{found.unreadable:,} unreadable"] if found.unreadable else []
    parts += [f"{found.repeated:,} in both"] if found.repeated else []
    parts += [f"{found.incomplete:,} incomplete"] if found.incomplete else []
    click.echo(", ".join(parts), err=True)
    if found.missing:
        click.echo(f"missing: shard {listed(found.missing)}; merge again when all shards are finished", err=True)
    click.echo(out)
    complete = found.reports == found.clips and not found.incomplete
    finished = complete and not found.missing and not found.unreadable
    return 0 if finished else EXIT_UNFINISHED
