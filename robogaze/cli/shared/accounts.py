"""Accounts from paths on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from robogaze.core.annotation import ClipAnnotation
    from robogaze.datasets.formats.labels import Labels


def named_path(text: str, option: str) -> tuple[str | None, Path]:
    """`NAME=PATH` or `PATH`, which may hold a = itself. Raises BadParameter when there is no such path."""
    name, sign, rest = text.partition("=")
    named = bool(sign) and not Path(text).exists()
    path = Path(rest if named else text)
    if not path.exists():
        raise click.BadParameter(f"{path} does not exist", param_hint=option)
    return (name if named else None), path


def read(
    path: Path,
    labels: Labels,
    *,
    file_format: str,
    fps: float | None,
    first_frame: int | None,
    lenient: bool,
    clips: Mapping[str, ClipAnnotation] | None = None,
    left_out: list[str] | None = None,
    as_written: bool = False,
) -> list[ClipAnnotation]:
    """The accounts of a path; what was left out or understood in a certain way is told on stderr.

    `left_out` is given the former.
    """
    from robogaze.datasets.formats.read import read_annotations

    found = read_annotations(
        path,
        format=file_format,
        labels=labels,
        fps=fps,
        first_frame=first_frame,
        lenient=lenient,
        clips=clips,
        as_written=as_written,
    )
    for said in (*(f"{path}: {one}" for one in found.warnings), *(f"left out: {one}" for one in found.skipped)):
        click.echo(said, err=True)
    if left_out is not None:
        left_out.extend(map(str, found.skipped))
    return list(found.annotations)
