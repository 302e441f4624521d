"""Paths of reports and annotations on the command line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click


def check_sources(sources: Iterable[str], option: str) -> None:
    """Raise BadParameter for a PATH or NAME=PATH that does not exist, before anything is loaded."""
    for source in sources:
        path = Path(source if Path(source).exists() else source.partition("=")[2] or source)
        if not path.exists():
            raise click.BadParameter(f"{path} does not exist", param_hint=option)


def check_baseline(baseline: str | None, sources: Iterable[str]) -> None:
    """Raise BadParameter if every source is given as NAME=PATH and the baseline is not one of the names."""
    names = [None if Path(source).exists() else source.partition("=")[0] for source in sources]
    if baseline is not None and None not in names and baseline not in names:
        raise click.BadParameter(f"{baseline} is not one of the predictions: {', '.join(map(str, names))}",
                                 param_hint="--baseline")  # fmt: skip


def check_judge(judge: str | None, option: str = "--judge") -> None:
    """Raise BadParameter for a table of similarities that does not exist."""
    kind, _, value = (judge or "").partition(":")
    if kind == "table" and not Path(value).exists():
        raise click.BadParameter(f"{value} does not exist", param_hint=option)
