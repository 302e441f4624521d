"""`robogaze compare`: checkpoints against each other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robogaze.cli.shared import options, tracking
from robogaze.cli.shared.pages import show_notes
from robogaze.cli.shared.sources import check_sources
from robogaze.cli.shared.tables import as_text, print_tables
from robogaze.cli.shared.types import FiniteRange, GivenPath, GivenSource

if TYPE_CHECKING:
    from collections.abc import Sequence

    from robogaze.comparison import Comparison, GateCheck
    from robogaze.reporting.tables import ResultTable
    from robogaze.reporting.trackers import Tracker

_KEYS = ("auto", "prompt_id", "instruction", "instruction and initial frame", "clip id")
_BRIEF = ("leaderboard", "clips", "by-dimension", "calibrated", "-pair", "-in-what", "-flips", "trend", "gate")
"""The tables that a terminal shows; --out writes all tables."""

_SHOWN = 10
"""The number of rows that a terminal shows of the tables in _LONG."""

_LONG = ("-in-what", "-flips")

EXIT_GATE = 3


@click.command()
@click.argument("paths", nargs=-1, required=True, type=GivenSource(), metavar="[NAME=]RUN...")
@click.option("--baseline", type=GivenSource(), metavar="NAME|PATH",
              help="The run to compare all other runs with.  [default: compare all pairs]")  # fmt: skip
@click.option("--by", metavar="FIELD", help="Split every RUN by a clip field, such as checkpoint.")
@click.option("--pair-by", type=click.Choice(_KEYS), default="auto", show_default=True,
              help="What identifies the same prompt in different runs.")  # fmt: skip
@click.option("--author", help="Use only the reports of this author, if several authors judged the same clips.")
@click.option("--gate", type=GivenPath(), help="File of rules to check; the exit code is 3 if a rule fails.")
@click.option("--junit", type=GivenPath(dir_okay=False),
              help="Write the results of --gate to this file as JUnit XML.")  # fmt: skip
@click.option("--calibration", "calibrations", multiple=True, type=GivenSource(), metavar="[NAME=]PATH",
              help="Reports whose clips also have annotations by people (--reference), to correct the judge's errors. "
              "With NAME, they correct only the run called NAME. Repeat the option for several runs.")  # fmt: skip
@click.option(
    "--reference", type=GivenSource(), metavar="PATH", help="Annotations by people, for the clips in --calibration."
)
@click.option("--margin", type=FiniteRange(0, 1, min_open=True, max_open=True), metavar="X",
              help="Test whether the clean rates of two runs differ by at most X.")  # fmt: skip
@options.reading
@options.resampling
@options.printing("every table, comparison.json, and a page that shows them")
@tracking.option
def compare(
    paths: tuple[str, ...],
    baseline: str | None,
    by: str | None,
    pair_by: str,
    gate: Path | None,
    junit: Path | None,
    calibrations: tuple[str, ...],
    reference: str | None,
    form: str,
    as_json: bool,
    out: Path | None,
    track: str | None,
    **rest: Any,
) -> int:
    """Compare checkpoints: which is better, in which respects, and by how much. The command also tests whether the
    differences are significant, and lists the clips to look at.

    RUN holds the reports of one checkpoint: a run folder, another folder of reports, or a JSONL file. A run is named
    after its path; to set another name, write NAME=RUN. The command reads only reports: it loads no video and no model
    library.
    """
    _check_usage(paths, calibrations, reference, gate, junit, out)
    from robogaze.annotations import ReadOptions
    from robogaze.comparison import ComparisonConfig, check_gate, read_gate
    from robogaze.comparison import compare as compare_runs

    tracker = tracking.opened(track)
    rules = None if gate is None else read_gate(gate)
    result = compare_runs(
        paths,
        ComparisonConfig(level=rest["level"], resamples=rest["resamples"], seed=rest["seed"], margin=rest["margin"]),
        baseline=baseline,
        by=by,
        pair_by=pair_by,
        calibrations=calibrations,
        references=reference,
        reading=ReadOptions(**{name: rest[name] for name in options.READING}, author=rest["author"]),
    )
    checks = None if rules is None else check_gate(rules, result)
    _show(result, checks, form, as_json, out, rest["domain"])
    code = _gate_code(checks or (), junit)
    if tracker is not None:
        _track(tracker, result)
    if code == 0 and result.pairs and not any(pair.prompts for pair in result.pairs):
        from robogaze.cli import EXIT_ERROR

        click.echo("nothing could be compared: no two runs share a prompt", err=True)
        return EXIT_ERROR
    return code


def _check_usage(
    paths: Sequence[str],
    calibrations: Sequence[str],
    reference: str | None,
    gate: Path | None,
    junit: Path | None,
    out: Path | None,
) -> None:
    """Refuse options that cannot be combined, before anything is loaded."""
    if bool(calibrations) != (reference is not None):
        raise click.UsageError("give --calibration and --reference together")
    check_sources(paths, "RUN")
    check_sources(calibrations, "--calibration")
    check_sources((reference,) if reference else (), "--reference")
    if junit is not None and gate is None:
        raise click.UsageError("--junit needs --gate")
    if out is not None and (out / "run.json").is_file():
        raise click.UsageError(f"{out} is a run folder, and its page would be overwritten; choose another --out")


def _show(
    result: Comparison,
    checks: tuple[GateCheck, ...] | None,
    form: str,
    as_json: bool,
    out: Path | None,
    domain: str | None,
) -> None:
    from robogaze.reporting.comparison_files import write_comparison
    from robogaze.reporting.serialize import comparison_json
    from robogaze.reporting.tables.comparison import comparison_tables

    tables = list(comparison_tables(result, checks))
    if out is not None:
        page = write_comparison(result, out, checks, domain)
        click.echo(f"{len(tables)} tables, comparison.json: {out}", err=True)
        click.echo(f"page: {show_notes(page)}", err=True)
    if as_json:
        click.echo(as_text(comparison_json(result, checks)))
    elif form != "terminal":
        print_tables(tables, form)
    else:
        print_tables([_cut(table) for table in tables if table.name.endswith(_BRIEF)], form)


def _track(tracker: Tracker, result: Comparison) -> None:
    from robogaze.reporting.trackers import leaderboard_numbers

    config = {"level": result.config.level, "resamples": result.config.resamples, "seed": result.config.seed}
    for row in result.leaderboard:
        tracking.track(tracker, row.name, config, leaderboard_numbers(row, result.scope))


def _cut(table: ResultTable) -> ResultTable:
    """The first rows of a long table, with a note that says how many rows there are in total."""
    if not table.name.endswith(_LONG) or len(table.rows) <= _SHOWN:
        return table
    note = f"The first {_SHOWN} of {len(table.rows)} rows; --out and --json contain all rows."
    return replace(table, rows=table.rows[:_SHOWN], notes=(*table.notes, note))


def _gate_code(checks: Sequence[GateCheck], junit: Path | None) -> int:
    """Print a line for each rule that failed, and return the exit code."""
    from robogaze.reporting.serialize import gate_junit
    from robogaze.store import write_whole

    if junit is not None:
        write_whole(junit, gate_junit(checks))
    failed = [check for check in checks if not check.passed]
    for check in failed:
        click.echo(f"gate: {check.run}: {check.rule}: {check.message}", err=True)
    return EXIT_GATE if failed else 0
