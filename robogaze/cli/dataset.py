"""`robogaze dataset`: manifests from what others lay out, whether they hold, and reports in the forms others read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from robogaze.datasets.importers import Imported

SCHEMA_VERSION = 1

_SHOWN = 3
"""How many files a line names."""


@click.group()
def dataset() -> None:
    """Data sets: import clips into a manifest, check it, export reports."""


@dataset.command("import")
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option("--format", "layout", default="auto", show_default=True, help="The layout, where it is not recognised.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), default=Path("manifest.jsonl"),
              show_default=True, help="The manifest to write.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Say what was found, and write nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as one JSON object.")
def import_(path: Path, layout: str, out: Path, dry_run: bool, as_json: bool) -> int:
    """Make a manifest of the clips in PATH, a folder or a file that lists them.

    Says which clips were found, and what was ignored and why. No video is opened: see `robogaze dataset check`.
    """
    from robogaze.datasets.importers import import_clips, manifest_text
    from robogaze.store import write_whole

    _refuse_to_overwrite(out, path)
    found = import_clips(path, layout)
    text = manifest_text(found.entries, out.parent)
    if as_json:
        click.echo(json.dumps(_told(found, text), ensure_ascii=False))
    else:
        _show(found)
    if not dry_run:
        write_whole(out, text)
        click.echo(f"manifest: {out}", err=True)
    return 0


def _refuse_to_overwrite(out: Path, source: Path) -> None:
    if out.exists() and source.is_file() and out.samefile(source):
        raise click.BadParameter(f"{out} is the file to import; name another one", param_hint="--out")


def _told(found: Imported, manifest: str) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "layout": found.layout,
        "clips": [json.loads(line) for line in manifest.split("\n") if line],
        "ignored": [{"file": one.file, "reason": one.reason} for one in found.ignored],
        "remarks": list(found.remarks),
    }


def _show(found: Imported) -> None:
    from robogaze.reporting.wording import count, printable

    click.echo(f"{found.layout}: {count(len(found.entries), 'clip')}")
    for field in ("checkpoint", "split", "task_family", "embodiment"):
        values = Counter(getattr(entry, field) for entry in found.entries)
        named = [f"{value} ({number})" for value, number in values.items() if value is not None]
        if named:
            click.echo(printable(f"  {field}: {_some(named)}"))
    if without := sum(entry.instruction is None for entry in found.entries):
        click.echo(f"  without an instruction: {without}")
    for remark in found.remarks:
        click.echo(printable(f"  {remark}"))
    if found.ignored:
        click.echo(f"ignored: {count(len(found.ignored), 'file')}")
    for reason, files in _by_reason(found).items():
        click.echo(printable(f"  {len(files)} {reason}: {_some(files)}"))


def _by_reason(found: Imported) -> Mapping[str, Sequence[str]]:
    reasons: dict[str, list[str]] = {}
    for one in found.ignored:
        reasons.setdefault(one.reason, []).append(one.file)
    return reasons


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f", and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
