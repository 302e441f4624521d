"""`robogaze dataset`: manifests from what others lay out, whether they hold, and reports in the forms others read."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from robogaze.datasets.check import DecodedFacts
    from robogaze.datasets.layouts import Imported
    from robogaze.datasets.manifest import ManifestEntry
    from robogaze.store import FinishedRun

SCHEMA_VERSION = 1

_SHOWN = 3
"""How many files a line names."""


@click.group()
def dataset() -> None:
    """Data sets: import clips into a manifest, check it, export reports."""


@dataset.command("import")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--format", "layout", default="auto", show_default=True, help="The layout, where it is not recognised.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), default=Path("manifest.jsonl"),
              show_default=True, help="The manifest to write.")  # fmt: skip
@click.option("--hash", "hashed", is_flag=True, help="Read every file, and write down what it holds (sha256).")
@click.option("--dry-run", is_flag=True, help="Print what was found, write nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as one JSON object.")
def import_(path: Path, layout: str, out: Path, hashed: bool, dry_run: bool, as_json: bool) -> int:
    """Make a manifest of the clips in PATH, a folder or a file that lists them.

    Says which clips were found, and what was ignored and why. No video is opened: see `robogaze dataset check`. Clips
    in tar files are unpacked beside the manifest. With --hash a file that is replaced later is noticed.
    """
    from robogaze.datasets.layouts import UNPACKED, import_clips, manifest_text, placed, unpack, with_content
    from robogaze.store import write_whole

    if hashed and dry_run:
        raise click.UsageError("--hash reads every file and --dry-run none; give one of the two")
    _refuse_to_overwrite(out, path)
    clips = out.with_name(f"{out.stem}{UNPACKED}")
    found = placed(import_clips(path, layout), clips)
    if not dry_run:
        found = unpack(found, clips)
    if hashed:
        found = with_content(found)
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
    if found.packed:
        click.echo(f"  in tar files, to be unpacked: {len(found.packed)}")
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


@dataset.command()
@click.argument("manifest", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print what is wrong as one JSON object.")
def check(manifest: Path, as_json: bool) -> int:
    """Decode every clip of a MANIFEST to its end and report what is wrong; exit 1 when anything is.

    Reported are unreadable files, duplicates, clips without an instruction, frame rates that differ from the others',
    uneven frames, and files whose content differs from the manifest's sha256 (see `robogaze dataset import --hash`);
    without a sha256, files that changed after the manifest was written.
    """
    from robogaze.cli import EXIT_ERROR
    from robogaze.datasets.check import check_entries
    from robogaze.datasets.manifest import read_manifest
    from robogaze.reporting.wording import count, printable

    entries = read_manifest(manifest)
    with click.progressbar(length=len(entries), label="checking", file=sys.stderr) as bar:
        found = check_entries(entries, manifest.stat().st_mtime, lambda entry: _look(entry, bar.update))
    if as_json:
        told = {"schema_version": SCHEMA_VERSION, "manifest": str(manifest), "clips": found.clips}
        problems = [{"file": one.file, "kind": one.kind, "message": one.message} for one in found.problems]
        click.echo(json.dumps({**told, "counts": dict(found.counts), "problems": problems}, ensure_ascii=False))
    else:
        for one in found.problems:
            click.echo(printable(f"{one.file}: {one.kind}: {one.message}"))
        wrong = ", ".join(f"{kind} {number}" for kind, number in found.counts.items())
        click.echo(f"{count(found.clips, 'clip')}: {wrong or 'nothing is wrong'}")
    return EXIT_ERROR if found.problems else 0


def _look(entry: ManifestEntry, done: Callable[[int], None]) -> DecodedFacts:
    """Decode a clip and its initial frame. Raises VideoError when one cannot be."""
    from hashlib import sha256

    from robogaze.datasets.check import DecodedFacts
    from robogaze.media.decode import read_frames
    from robogaze.media.picture_files import open_picture

    done(1)
    pictures, times_s, end_s = sha256(), [], 0.0
    for frame in read_frames(entry.path, start_s=entry.start_s, end_s=entry.end_s):
        pictures.update(frame.image.tobytes())
        times_s.append(frame.time_s)
        end_s = frame.time_s + frame.duration_s
    if entry.initial_frame is not None:
        open_picture(entry.initial_frame, f"the initial frame {entry.initial_frame}")
    return DecodedFacts(tuple(times_s), end_s, pictures.hexdigest())


@dataset.command()
@click.argument("run", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--to",
    metavar="FORMAT",
    help="jsonl, csv, parquet, activitynet, fiftyone, label-studio, webvtt or videoglitchbench.",
)
@click.option("--keep", type=click.Choice(["clean"]), help="Write the clips that pass: clean.jsonl, episodes.json.")
@click.option(
    "--dimension",
    "dimensions",
    metavar="NAME",
    multiple=True,
    help="A dimension that --keep asks for; may be repeated. All dimensions of the domain by default.",
)
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="A folder for the files.")
def export(run: Path, to: str | None, keep: str | None, dimensions: tuple[str, ...], out: Path) -> int:
    """Write the reports of a RUN in a form that others read (--to), or the subset that passes (--keep).

    A clip is clean in a dimension that was examined or ruled out and in which nothing was found or left undecided.
    --keep clean writes a manifest of the clips that are clean in every dimension asked for; where clips are episodes of
    a LeRobot data set, also a list of the episodes that are clean in every camera.
    """
    from robogaze.errors import InputError
    from robogaze.reporting.wording import count
    from robogaze.store import read_run, write_whole

    if (to is None) == (keep is None):
        raise click.UsageError("give --to FORMAT or --keep clean, one of the two")
    if dimensions and keep is None:
        raise click.UsageError("--dimension goes with --keep clean")
    found = read_run(run)
    if not found.reports:
        raise InputError(f"{run} holds no report; a run writes <clip id>/report.json")
    files = _exported(found, to, out) if to is not None else _clean(found, dimensions, out)
    for name, content in files.items():
        write_whole(out / name, content)
        click.echo(out / name)
    if found.unreadable:
        click.echo(f"left out: {count(len(found.unreadable), 'clip')} that could not be read", err=True)
    return 0


def _exported(run: FinishedRun, to: str, out: Path) -> Mapping[str, str | bytes]:
    from robogaze.datasets.exporters import export_reports
    from robogaze.reporting.wording import count

    found = export_reports(run.reports, run.videos, to, out)
    click.echo(f"{to}: {count(found.clips, 'clip')}", err=True)
    for reason, number in found.left_out.items():
        click.echo(f"left out: {count(number, 'clip')} {reason}", err=True)
    return found.files


def _clean(run: FinishedRun, asked: Sequence[str], out: Path) -> Mapping[str, str | bytes]:
    from robogaze.core.coverage import COVERED
    from robogaze.datasets.exporters import clean_entries
    from robogaze.datasets.layouts import manifest_text
    from robogaze.errors import InputError
    from robogaze.reporting.wording import count, listed

    known = tuple(dict.fromkeys(name for report in run.reports for name in report.coverage))
    if unknown := [name for name in asked if name not in known]:
        raise InputError(f"{run.root} has no dimension {unknown[0]}; its dimensions are: {', '.join(known)}")
    dimensions = tuple(asked) or known
    kept = clean_entries(run.reports, run.videos, dimensions)
    faulty = sum(not report.faulty_dimensions.isdisjoint(dimensions) for report in run.reports)
    wanted = f"{count(len(dimensions), 'dimension')} ({', '.join(dimensions)})"
    others = f"{faulty} faulty, {len(run.reports) - faulty - len(kept)} undecided"
    if not kept:
        examined = [name for name in known if any(report.coverage[name].state in COVERED for report in run.reports)]
        way_out = f"; --dimension asks for fewer (examined in some clip: {listed(examined) or 'none'})"
        raise InputError(f"no clip of {run.root} is clean in {wanted}: {others}{way_out if not asked else ''}")
    rest = f"of the others {others}" if len(kept) < len(run.reports) else "no others"
    click.echo(f"clean in {wanted}: {len(kept)} of {count(len(run.reports), 'clip')}; {rest}", err=True)
    return {"clean.jsonl": manifest_text(kept, out), **_clean_episodes(run, dimensions)}


def _clean_episodes(run: FinishedRun, dimensions: Sequence[str]) -> Mapping[str, str]:
    """A list of episodes for each LeRobot data set that clips of the run lie in."""
    from robogaze.datasets.exporters import clean_episodes
    from robogaze.reporting.wording import count
    from robogaze.store import file_name

    found = clean_episodes(run.reports, run.videos, dimensions)
    files = {}
    for one in found:
        seen = f"as seen by {count(one.cameras, 'camera')}"
        click.echo(f"clean: {len(one.clean)} of {count(one.scored, 'episode')} of {one.root}, {seen}", err=True)
        if one.others:
            click.echo(f"left out: {count(one.others, 'clip')} of {one.root} that are no episode of it", err=True)
        if one.clean:
            name = "episodes.json" if len(found) == 1 else f"episodes of {file_name(one.root.as_posix())}.json"
            files[name] = json.dumps(one.clean) + "\n"
    return files
