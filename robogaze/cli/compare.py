"""`robogaze compare`: checkpoints against each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robogaze.cli.shared import options, tracking
from robogaze.cli.shared.accounts import named_path
from robogaze.cli.shared.tables import as_text, print_tables, write_files

if TYPE_CHECKING:
    from robogaze.compare import Calibration, Comparison, GateCheck, Run
    from robogaze.datasets.formats.labels import Labels
    from robogaze.reporting.result_tables import ResultTable
    from robogaze.reporting.trackers import Tracker

_READING = ("fps", "first_frame", "lenient")
_KEYS = ("auto", "prompt_id", "instruction", "instruction and initial frame", "clip id")
_BRIEF = ("leaderboard", "clips", "by-dimension", "calibrated", "-pair", "-in-what", "-flips", "trend", "gate")
"""The tables that a terminal shows; --out writes all."""

_SHOWN = 10
"""How many rows a terminal shows of these."""

_LONG = ("-in-what", "-flips")

EXIT_GATE = 3


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="[NAME=]RUN...")
@click.option(
    "--baseline", metavar="NAME|PATH", help="The run that the others are compared with.  [default: all pairs]"
)
@click.option("--by", metavar="FIELD", help="Split every RUN by a clip field, such as checkpoint.")
@click.option("--pair-by", type=click.Choice(_KEYS), default="auto", show_default=True, help="What one prompt is.")
@click.option("--author", help="Of clips judged by several authors, the one to take.")
@click.option("--gate", type=click.Path(path_type=Path), help="Rules to pass; exit code 3 when one fails.")
@click.option("--junit", type=click.Path(dir_okay=False, path_type=Path), help="A file for the gate's JUnit XML.")
@click.option("--calibration", "calibrations", multiple=True, metavar="[NAME=]PATH",
              help="Predictions for clips that people judged, too; with NAME, those of that run's clips.")  # fmt: skip
@click.option("--reference", metavar="PATH", help="What people said of the clips of --calibration.")
@click.option("--margin", type=click.FloatRange(0, 1, min_open=True, max_open=True), metavar="X",
              help="Say whether runs are equal up to this difference of clean rates.")  # fmt: skip
@options.reading
@options.resampling
@options.printing("every table, comparison.json, and a page to look at")
@tracking.option
def compare(
    paths: tuple[str, ...],
    baseline: str | None,
    by: str | None,
    pair_by: str,
    author: str | None,
    gate: Path | None,
    junit: Path | None,
    calibrations: tuple[str, ...],
    reference: str | None,
    mixed: bool,
    domain: str | None,
    form: str,
    as_json: bool,
    out: Path | None,
    track: str | None,
    **rest: Any,
) -> int:
    """Compare checkpoints: which is better, in what, by how much, whether it is significant, which clips to look at.

    RUN holds the reports of one checkpoint: a run folder, a folder, JSONL. It goes by its own name; NAME=RUN gives
    another. Reads reports only: no video, no model library.
    """
    from robogaze.compare import ComparisonConfig, read_gate
    from robogaze.compare import compare as compared

    if bool(calibrations) != (reference is not None):
        raise click.UsageError("--calibration and --reference go together")
    if junit is not None and gate is None:
        raise click.UsageError("--junit needs --gate")
    tracker = tracking.opened(track)
    if out is not None and (out / "run.json").is_file():
        raise click.UsageError(f"{out} is a run folder, whose page would be lost; choose another --out")
    rules = None if gate is None else read_gate(gate)
    reader = _Reader(domain, {"format": rest["file_format"], **{name: rest[name] for name in _READING}}, author)
    runs, baseline = _with_baseline(list(_runs(paths, reader, by)), paths, baseline, reader)
    sample, samples = _samples(calibrations, reference, reader, runs, mixed)
    terms = ComparisonConfig(level=rest["level"], resamples=rest["resamples"], seed=rest["seed"], margin=rest["margin"])
    result = compared(runs, terms, baseline=baseline, pair_by=pair_by, mixed=mixed, sample=sample, samples=samples)
    from robogaze.compare import check

    checks = None if rules is None else check(rules, result)
    _show(result, checks, form, as_json, out, domain)
    code = _passed(checks or (), junit)
    if tracker is not None:
        _track(tracker, result)
    if code == 0 and result.pairs and not any(one.prompts for one in result.pairs):
        from robogaze.cli import EXIT_ERROR

        click.echo("nothing could be compared: no two runs share a prompt", err=True)
        return EXIT_ERROR
    return code


@dataclass(frozen=True)
class _Reader:
    """Reads runs from paths."""

    domain: str | None
    reading: dict[str, Any]
    author: str | None

    def run(self, named: str, option: str) -> Run:
        """The run of a path; it goes by the path's name when none is given."""
        from robogaze.compare import Run
        from robogaze.datasets.formats.read import read_annotations

        name, path = named_path(named, option)
        found = read_annotations(path, labels=self._labels(path), **self.reading)
        for said in (*(f"{path}: {one}" for one in found.warnings), *(f"left out: {one}" for one in found.skipped)):
            click.echo(said, err=True)
        accounts = [one for one in found.annotations if self.author in (None, one.author)]
        return Run.of(path.resolve().stem if name is None else name, accounts, path)

    def _labels(self, path: Path) -> Labels | None:
        """Whose words foreign labels are read as. Reports name their domain and need none, unless one is named."""
        from robogaze.datasets.formats.base import ReadLog
        from robogaze.datasets.formats.labels import load_labels
        from robogaze.datasets.formats.read import iter_annotations
        from robogaze.domains import default_domain

        notes = ReadLog()
        next(iter_annotations(path, notes, **self.reading), None)
        if self.domain is None and notes.format == "report":
            return None
        return load_labels(self.domain or default_domain())


def _runs(paths: Sequence[str], reader: _Reader, by: str | None) -> Iterator[Run]:
    whole = [reader.run(path, "RUN") for path in paths]
    for one in whole:
        if by is None:
            yield one
        parts = () if by is None else tuple(one.split_by(by))
        for part in parts:
            yield part if len(whole) == 1 else replace(part, name=f"{one.name}/{part.name}")
        if parts and parts[0].unplaced:
            what = f"{parts[0].unplaced} unreadable of which the {by} is not known"
            click.echo(f"{one.name}: {what}; they are in no run's numbers (see unplaced in --json)", err=True)


def _with_baseline(
    runs: list[Run], paths: Sequence[str], baseline: str | None, reader: _Reader
) -> tuple[list[Run], str | None]:
    """The runs and the name of the baseline, which may be given as a path: of one of the runs, or of one more."""
    if baseline is None or baseline in (one.name for one in runs):
        return runs, baseline
    if not Path(baseline.partition("=")[2] or baseline).exists():
        names = ", ".join(one.name for one in runs)
        raise click.BadParameter(f"{baseline} is none of the runs ({names}) and no path", param_hint="--baseline")
    path = named_path(baseline, "--baseline")[1]
    same = [named_path(text, "RUN")[1].resolve() == path.resolve() for text in paths]
    if len(runs) == len(paths) and any(same):
        return runs, runs[same.index(True)].name
    added = reader.run(baseline, "--baseline")
    return [added, *runs], added.name


def _samples(
    calibrations: Sequence[str], reference: str | None, reader: _Reader, runs: Sequence[Run], mixed: bool
) -> tuple[Calibration | None, dict[str, Calibration]]:
    """The labelled sample for all runs, if any, and those of single runs by name."""
    from robogaze.compare import calibration as labelled

    common: Calibration | None = None
    own: dict[str, Calibration] = {}
    if reference is None:
        return common, own
    people = reader.run(reference, "--reference")
    for given in calibrations:
        name = named_path(given, "--calibration")[0]
        judged = [one for one in runs if name in (None, one.name)]
        if not judged:
            known = ", ".join(one.name for one in runs)
            raise click.BadParameter(f"{name} is none of the runs ({known})", param_hint="--calibration")
        if name in own or (name is None and common is not None):
            raise click.BadParameter(f"{name or 'all runs'}: two samples are given", param_hint="--calibration")
        sample = labelled(reader.run(given, "--calibration"), people, judged, mixed=mixed)
        if name is None:
            common = sample
        else:
            own[name] = sample
    return common, own


def _show(
    result: Comparison,
    checks: tuple[GateCheck, ...] | None,
    form: str,
    as_json: bool,
    out: Path | None,
    domain: str | None,
) -> None:
    from robogaze.reporting.comparison import sheets
    from robogaze.reporting.comparison_json import comparison_json

    tables = list(sheets(result, checks))
    told = comparison_json(result, checks)
    if out is not None:
        _keep(result, told, tables, out, domain)
    if as_json:
        click.echo(as_text(told))
    elif form != "terminal":
        print_tables(tables, form)
    else:
        print_tables([_cut(one) for one in tables if one.name.endswith(_BRIEF)], form)


def _keep(
    result: Comparison, told: Mapping[str, Any], tables: Sequence[ResultTable], out: Path, domain: str | None
) -> None:
    """Write the folder that `robogaze report` reads again."""
    from robogaze.cli.report import COMPARISON, write_comparison
    from robogaze.reporting.compared import FILE, shown
    from robogaze.reporting.result_tables import files

    clips = shown(result, out)
    kept = ((COMPARISON, f"{as_text(told)}\n"), (FILE, f"{clips.model_dump_json()}\n"))
    write_files(out, (*kept, *files(tables)), f"{len(tables)} tables, {COMPARISON}")
    click.echo(f"page: {write_comparison(out, told, clips, domain)}", err=True)


def _track(tracker: Tracker, result: Comparison) -> None:
    from robogaze.reporting.trackers import standing_numbers

    made = {"level": result.terms.level, "resamples": result.terms.resamples, "seed": result.terms.seed}
    for one in result.standings:
        tracking.track(tracker, one.name, made, standing_numbers(one, result.scope))


def _cut(table: ResultTable) -> ResultTable:
    """A long table's first rows, with a note of how many there are."""
    if not table.name.endswith(_LONG) or len(table.rows) <= _SHOWN:
        return table
    note = f"The first {_SHOWN} of {len(table.rows)}; --out and --json hold all."
    return replace(table, rows=table.rows[:_SHOWN], notes=(*table.notes, note))


def _passed(checks: Sequence[GateCheck], junit: Path | None) -> int:
    """The exit code, after a line for each rule that failed."""
    from robogaze.reporting.junit import junit as document
    from robogaze.store import write_whole

    if junit is not None:
        write_whole(junit, document(checks))
    failed = [one for one in checks if not one.passed]
    for one in failed:
        click.echo(f"gate: {one.run}: {one.rule}: {one.said}", err=True)
    return EXIT_GATE if failed else 0
