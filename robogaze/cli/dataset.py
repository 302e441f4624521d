"""`robogaze dataset`: import clips into a manifest, check a manifest, export reports."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robogaze.cli.shared.parts import PartOption, export_formats
from robogaze.cli.shared.types import GivenPath

if TYPE_CHECKING:
    from robogaze.datasets.layouts.importer import Imported
    from robogaze.datasets.manifest import ManifestEntry
    from robogaze.datasets.manifest_check import DecodedFacts
    from robogaze.store import StoredRun

SCHEMA_VERSION = 1

_MAX_NAMED = 3
"""The number of files that a line names."""


@click.group()
def dataset() -> None:
    """Import clips into a manifest, check a manifest, and export reports."""


@dataset.command("import")
@click.argument("path", type=GivenPath())
@click.option(
    "--format",
    "layout",
    default="auto",
    show_default=True,
    help="Layout of PATH; needed only if RoboGaze does not recognise the layout.",
)
@click.option("--out", type=GivenPath(dir_okay=False), default=Path("manifest.jsonl"),
              show_default=True, help="The manifest to write.")  # fmt: skip
@click.option("--hash", "hashed", is_flag=True, help="Read every file and record its SHA-256.")
@click.option("--dry-run", is_flag=True, help="Print the clips and write nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the clips as one JSON object.")
def import_(path: Path, layout: str, out: Path, hashed: bool, dry_run: bool, as_json: bool) -> int:
    """Write a manifest of the clips in PATH. PATH is a folder, or a file that lists clips.

    The command prints the clips, the ignored files, and the reasons why files were ignored. Without --hash, it opens no
    video. Clips in tar files are unpacked next to the manifest. With --hash, `robogaze dataset check` can later detect
    files that were replaced.
    """
    from robogaze.datasets.layouts.base import UNPACKED
    from robogaze.datasets.layouts.importer import import_clips, unpack, with_sha256, with_unpacked_paths
    from robogaze.datasets.manifest import manifest_text
    from robogaze.store import write_whole

    if hashed and dry_run:
        raise click.UsageError(
            "--hash reads every file, but --dry-run reads none; use either --hash or --dry-run, not both"
        )
    if out.exists() and path.is_file() and out.samefile(path):
        raise click.BadParameter(
            f"{out} is the file to import and would be overwritten; give another file", param_hint="--out"
        )
    clips = out.with_name(f"{out.stem}{UNPACKED}")
    imported = with_unpacked_paths(import_clips(path, layout), clips)
    if not dry_run:
        imported = unpack(imported, clips)
    if hashed:
        imported = with_sha256(imported)
    text = manifest_text(imported.entries, out.parent)
    if as_json:
        click.echo(json.dumps(_import_json(imported, text), ensure_ascii=False))
    else:
        _show_import(imported)
    if not dry_run:
        write_whole(out, text)
        click.echo(f"manifest: {out}", err=True)
    return 0


def _import_json(imported: Imported, manifest: str) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "layout": imported.layout,
        "clips": [json.loads(line) for line in manifest.split("\n") if line],
        "ignored": [asdict(ignored) for ignored in imported.ignored],
        "remarks": list(imported.remarks),
    }


def _show_import(imported: Imported) -> None:
    from robogaze.reporting.wording import count, printable

    click.echo(f"{imported.layout}: {count(len(imported.entries), 'clip')}")
    for field in ("checkpoint", "split", "task_family", "embodiment"):
        values = Counter(getattr(entry, field) for entry in imported.entries)
        named = [f"{value} ({number})" for value, number in values.items() if value is not None]
        if named:
            click.echo(printable(f"  {field}: {_some(named)}"))
    if without := sum(entry.instruction is None for entry in imported.entries):
        click.echo(f"  without an instruction: {without}")
    for remark in imported.remarks:
        click.echo(printable(f"  {remark}"))
    if imported.packed:
        click.echo(f"  in tar files, to be unpacked: {len(imported.packed)}")
    if imported.ignored:
        click.echo(f"ignored: {count(len(imported.ignored), 'file')}")
    by_reason: dict[str, list[str]] = {}
    for ignored in imported.ignored:
        by_reason.setdefault(ignored.reason, []).append(ignored.file)
    for reason, files in by_reason.items():
        click.echo(printable(f"  {len(files)} {reason}: {_some(files)}"))


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_MAX_NAMED]) + (f", and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else "")


@dataset.command()
@click.argument("manifest", type=GivenPath(dir_okay=False))
@click.option("--json", "as_json", is_flag=True, help="Print the problems as one JSON object.")
def check(manifest: Path, as_json: bool) -> int:
    """Decode every clip of a MANIFEST to its end and report problems; the exit code is 1 if a clip has a problem.

    Problems are unreadable files, duplicates, clips without an instruction, unusual frame rates, uneven frames, and
    changed files. A frame rate is unusual if it differs from the median frame rate of the clips. A file has changed if
    its content differs from the sha256 in the manifest (see `robogaze dataset import --hash`). A file without a sha256
    has changed if it was modified after the manifest was written.
    """
    from robogaze.cli import EXIT_ERROR
    from robogaze.datasets.manifest import read_manifest
    from robogaze.datasets.manifest_check import check_entries
    from robogaze.reporting.wording import count, printable

    entries = read_manifest(manifest)
    with click.progressbar(length=len(entries), label="checking", file=sys.stderr) as bar:
        result = check_entries(entries, manifest.stat().st_mtime, lambda entry: _decode(entry, bar.update))
    if as_json:
        problems = [asdict(problem) for problem in result.problems]
        summary = {"schema_version": SCHEMA_VERSION, "manifest": str(manifest), "clips": result.clips,
                   "counts": dict(result.counts), "problems": problems}  # fmt: skip
        click.echo(json.dumps(summary, ensure_ascii=False))
    else:
        for problem in result.problems:
            click.echo(printable(f"{problem.file}: {problem.kind}: {problem.message}"))
        counts = ", ".join(f"{kind} {number}" for kind, number in result.counts.items())
        click.echo(f"{count(result.clips, 'clip')}: {counts or 'no problems'}")
    return EXIT_ERROR if result.problems else 0


def _decode(entry: ManifestEntry, advance: Callable[[int], None]) -> DecodedFacts:
    """Decode a clip and its initial frame. Raises VideoError if the clip or the frame cannot be read."""
    from hashlib import sha256

    from robogaze.datasets.manifest_check import DecodedFacts
    from robogaze.media.decode import read_frames
    from robogaze.media.picture_files import open_picture

    advance(1)
    pictures, times_s, end_s = sha256(), [], 0.0
    for frame in read_frames(entry.path, start_s=entry.start_s, end_s=entry.end_s):
        pictures.update(frame.image.tobytes())
        times_s.append(frame.time_s)
        end_s = frame.time_s + frame.duration_s
    if entry.initial_frame is not None:
        open_picture(entry.initial_frame, f"the initial frame {entry.initial_frame}")
    return DecodedFacts(tuple(times_s), end_s, pictures.hexdigest())


@dataset.command()
@click.argument("run", type=GivenPath(file_okay=False))
@click.option("--to", cls=PartOption, names=export_formats, metavar="FORMAT", help="Format to write: {names}.")
@click.option(
    "--keep",
    type=click.Choice(["clean"]),
    help="Write a manifest of the clean clips. For LeRobot data sets, also list the clean episodes.",
)
@click.option(
    "--dimension",
    "dimensions",
    metavar="NAME",
    multiple=True,
    help="Dimension that --keep clean checks; repeat for several dimensions.  [default: all dimensions of the domain]",
)
@click.option("--out", required=True, type=GivenPath(file_okay=False), help="Folder for the files.")
def export(run: Path, to: str | None, keep: str | None, dimensions: tuple[str, ...], out: Path) -> int:
    """Write the reports of a RUN in another format (--to), or write a manifest of the clean clips of the RUN (--keep).

    A clip is clean in a dimension if the dimension was examined or ruled out, has no event, and contains nothing
    undecided. --keep clean writes clean.jsonl, a manifest of the clips that are clean in every requested dimension. If
    clips are episodes of a LeRobot data set, --keep clean also writes episodes.json. This file lists the episodes that
    are clean in every camera.
    """
    from robogaze.errors import InputError
    from robogaze.reporting.wording import count
    from robogaze.store import StoredRun, write_whole

    if (to is None) == (keep is None):
        raise click.UsageError("use either --to FORMAT or --keep clean")
    if dimensions and keep is None:
        raise click.UsageError("--dimension needs --keep clean")
    finished = StoredRun(run)
    if not finished.reports:
        raise InputError(f"{run} has no report; give the --out folder of robogaze score")
    files = _exported(finished, to, out) if to is not None else _clean(finished, dimensions, out)
    for name, content in files.items():
        write_whole(out / name, content)
        click.echo(out / name)
    if finished.unreadable:
        click.echo(f"left out: {count(len(finished.unreadable), 'clip')} that could not be read", err=True)
    return 0


def _exported(run: StoredRun, to: str, out: Path) -> Mapping[str, str | bytes]:
    from robogaze.datasets.formats.export import export_reports
    from robogaze.reporting.wording import count

    exported = export_reports(run.reports, run.videos, to, out)
    click.echo(f"{to}: {count(exported.clips, 'clip')}", err=True)
    for reason, number in exported.left_out.items():
        click.echo(f"left out: {count(number, 'clip')} {reason}", err=True)
    return exported.files


def _clean(run: StoredRun, names: Sequence[str], out: Path) -> Mapping[str, str | bytes]:
    from robogaze.core.coverage import COVERED
    from robogaze.datasets.clean_clips import clean_entries
    from robogaze.datasets.manifest import manifest_text
    from robogaze.errors import InputError
    from robogaze.reporting.wording import count, listed

    known = tuple(dict.fromkeys(name for report in run.reports for name in report.coverage))
    if unknown := [name for name in names if name not in known]:
        raise InputError(f"{run.root} has no dimension {unknown[0]}; its dimensions are: {', '.join(known)}")
    dimensions = tuple(names) or known
    entries = clean_entries(run.reports, run.videos, dimensions)
    faulty = sum(not report.faulty_dimensions.isdisjoint(dimensions) for report in run.reports)
    wanted = f"{count(len(dimensions), 'dimension')} ({', '.join(dimensions)})"
    others = f"{faulty} faulty, {len(run.reports) - faulty - len(entries)} undecided"
    if not entries:
        examined = [name for name in known if any(report.coverage[name].state in COVERED for report in run.reports)]
        way_out = (
            f"; use --dimension to check fewer dimensions (examined in at least one clip: {listed(examined) or 'none'})"
        )
        raise InputError(f"no clip of {run.root} is clean in {wanted}: {others}{way_out if not names else ''}")
    rest = f"other clips: {others}" if len(entries) < len(run.reports) else "no other clips"
    click.echo(f"clean in {wanted}: {len(entries)} of {count(len(run.reports), 'clip')}; {rest}", err=True)
    return {"clean.jsonl": manifest_text(entries, out), **_clean_episodes(run, dimensions)}


def _clean_episodes(run: StoredRun, dimensions: Sequence[str]) -> Mapping[str, str]:
    """A list of episodes for each LeRobot data set that contains clips of the run."""
    from robogaze.datasets.clean_clips import chosen_episodes
    from robogaze.reporting.wording import count
    from robogaze.store import file_name

    data_sets = chosen_episodes(
        (report.clip, run.videos[report.clip.id], report.clean_in(dimensions)) for report in run.reports
    )
    files = {}
    for data_set in data_sets:
        scored, cameras = count(data_set.scored, "episode"), count(data_set.cameras, "camera")
        click.echo(f"clean: {len(data_set.chosen)} of {scored} of {data_set.root}, in {cameras}", err=True)
        if data_set.other_clips:
            clips = count(data_set.other_clips, "clip")
            click.echo(f"left out, because not an episode of {data_set.root}: {clips}", err=True)
        if data_set.chosen:
            root = file_name(data_set.root.as_posix())
            name = "episodes.json" if len(data_sets) == 1 else f"episodes of {root}.json"
            files[name] = json.dumps(data_set.chosen) + "\n"
    return files
