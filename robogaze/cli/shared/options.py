"""Options that several commands share: reading annotations, judging, resampling, printing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from robogaze.cli.shared.types import FiniteRange, GivenPath

Command = TypeVar("Command", bound=Callable[..., Any])

READING = ("format", "fps", "first_frame", "lenient", "mixed", "domain")
"""The parameters of `reading`, which are fields of `robogaze.annotations.ReadOptions`."""


def reading(command: Command) -> Command:
    """--format, --fps, --first-frame, --lenient, --mixed and --domain: how annotations are read."""
    return with_options(
        command,
        click.option("--format", default="auto", show_default=True, help="Format of the files."),
        click.option(
            "--fps",
            type=FiniteRange(min=0, min_open=True),
            help="Frames per second, for formats that give frame numbers without a frame rate.",
        ),
        click.option(
            "--first-frame",
            type=click.IntRange(0, 1),
            help="Number of the first frame (0 or 1), for formats that need --fps.",
        ),
        click.option("--lenient", is_flag=True, help="Leave out invalid annotations, and count the omitted ones."),
        click.option("--mixed", is_flag=True, help="Allow labels from different taxonomies or taxonomy versions."),
        click.option(
            "--domain", help="Domain of the labels: a name or a folder.  [default: the default built-in domain]"
        ),
    )


def judging(command: Command) -> Command:
    """--judge and --rubric."""
    spec = "Judge that compares descriptions: offline, table:FILE, or a model KIND:NAME[@URL]."
    return with_options(
        command,
        click.option("--judge", default="offline", show_default=True, help=spec),
        click.option(
            "--rubric", help="Rubric of the judge: a name in judges/ or a file. [default: the domain's rubric]"
        ),
    )


def resampling(command: Command) -> Command:
    """--resamples, --level and --seed."""
    share = FiniteRange(0, 1, min_open=True, max_open=True)
    return with_options(
        command,
        click.option(
            "--resamples",
            type=click.IntRange(min=1),
            default=1000,
            show_default=True,
            help="Number of bootstrap resamples.",
        ),
        click.option("--level", type=share, default=0.95, show_default=True, help="Confidence level of intervals."),
        click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed."),
    )


def printing(out: str) -> Callable[[Command], Command]:
    """--as, --json and --out; `out` describes what --out contains."""
    forms = click.Choice(["terminal", "csv", "markdown", "latex"])
    folder = GivenPath(file_okay=False)
    return lambda command: with_options(
        command,
        click.option(
            "--as",
            "form",
            type=forms,
            default="terminal",
            show_default=True,
            help="Format of the printed tables.",
        ),
        click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object."),
        click.option("--out", type=folder, help=f"Write {out} to this folder."),
    )


def with_options(command: Command, *options: Callable[[Command], Command]) -> Command:
    """Add options to a command, in the order in which its help lists them."""
    for option in reversed(options):
        command = option(command)
    return command
