"""`robogaze evaluate`: predictions against references."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from robogaze.cli.shared import options
from robogaze.cli.shared.pages import show_notes
from robogaze.cli.shared.sources import check_baseline, check_judge, check_sources
from robogaze.cli.shared.tables import as_text, list_unjudged, print_tables, write_files
from robogaze.cli.shared.types import FiniteRange, GivenPath, GivenSource
from robogaze.evaluation import CONVENTIONS

if TYPE_CHECKING:
    from robogaze.evaluation.bug_results import BugEvaluation
    from robogaze.evaluation.config import EvaluationConfig
    from robogaze.evaluation.released import ReleasedEvaluation
    from robogaze.evaluation.results import Evaluation
    from robogaze.reporting.tables import ResultTable


@click.command()
@click.option("--reference", required=True, type=GivenPath(exists=True), help="Reference annotations.")
@click.option(
    "--prediction",
    "predictions",
    required=True,
    multiple=True,
    type=GivenSource(),
    metavar="[NAME=]PATH",
    help="Reports of one system. To compare several systems, repeat the option.",
)
@click.option("--author", help="Use only the references of this author, if the references have several authors.")
@options.reading
@options.judging
@click.option(
    "--second-judge", metavar="SPEC", help="Repeat the evaluation with this second judge, and compare the scores."
)
@click.option(
    "--convention",
    type=click.Choice(CONVENTIONS.names()),
    help="Rules for matching and scoring events.  [default: robogaze, or gbqa-0.65 for lists of bugs]",
)
@click.option("--reproduced", "reproduced_only", is_flag=True,
              help="Use only bug reports whose bug is known to be reproducible.")  # fmt: skip
@click.option(
    "--normalise",
    "normalisation",
    type=click.Choice(["loose", "strict"]),
    default="loose",
    show_default=True,
    help="Divide scores by the number of all events (loose), or of the events that overlap in time with an event of "
    "the other side (strict).",
)
@click.option(
    "--iou",
    type=click.Choice(["frames", "exact"]),
    help="How to measure the overlap of events: in whole frames (frames) or in seconds (exact).",
)
@click.option(
    "--lambda",
    "dimension_bonus",
    type=FiniteRange(min=0),
    help="Bonus for matching two events of the same dimension.",
)
@click.option("--baseline", metavar="NAME", help="The system to compare all others with.  [default: compare all pairs]")
@click.option("--by", multiple=True, metavar="FIELD",
              help="Show results by duration, or by a clip field such as task_family or checkpoint. For bugs, use "
              "budget, mode, memory, session or agent. Repeat the option for several fields.")  # fmt: skip
@click.option("--strata", default="split", show_default=True, metavar="FIELD",
              help="Clip field that divides the clips into groups; clips are resampled within each group.")  # fmt: skip
@click.option("--units", default="prompt_id", show_default=True, metavar="FIELD",
              help="Clip field whose values define units; clips of the same unit are resampled together.")  # fmt: skip
@click.option("--interval", type=click.Choice(["student", "percentile", "bca"]), default="student", show_default=True,
              help="Kind of confidence interval.")  # fmt: skip
@click.option("--margin", type=FiniteRange(0, 1, min_open=True, max_open=True), metavar="X",
              help="Test whether the scores of two systems differ by at most X.")  # fmt: skip
@click.option("--floors/--no-floors", default=True, show_default=True,
              help="Also score predictions that ignore the clip (floors): the most frequent type, and the events that "
              "a system reported in another clip.")  # fmt: skip
@click.option("--sweep/--no-sweep", default=True, show_default=True,
              help="Also judge rejected hypotheses, and show the scores for each minimum confidence.")  # fmt: skip
@options.resampling
@options.printing("every table and figure, and a page that shows them")
def evaluate(
    reference: Path,
    predictions: tuple[str, ...],
    judge: str,
    second_judge: str | None,
    rubric: str | None,
    convention: str | None,
    reproduced_only: bool,
    by: tuple[str, ...],
    form: str,
    as_json: bool,
    out: Path | None,
    **rest: Any,
) -> int:
    """Score predictions against references: matched, missed and spurious events, with confidence intervals.

    PATH is a report, a folder of reports, a JSONL file, or data in another recognised format (see docs/formats.md). The
    command reads only reports and annotations: it loads no video and no model library.
    """
    check_sources(predictions, "--prediction")
    check_baseline(rest["baseline"], predictions)
    check_judge(judge)
    check_judge(second_judge, "--second-judge")

    from robogaze.annotations import ReadOptions
    from robogaze.cli import EXIT_UNFINISHED, quiet_retries
    from robogaze.datasets.formats.read import format_of
    from robogaze.evaluation.bug_matching import BugConvention
    from robogaze.evaluation.config import Convention
    from robogaze.evaluation.evaluate import evaluate as run_evaluation
    from robogaze.evaluation.evaluate import evaluate_released

    quiet_retries()
    reading = ReadOptions(**{name: rest.pop(name) for name in options.READING}, author=rest.pop("author"))
    shared: dict[str, Any] = {"judge": judge, "rubric": rubric, "environ": os.environ, "reading": reading}
    if convention is None:
        convention = "gbqa-0.65" if format_of(reference, reading.format) in _LISTS_OF_BUGS else "robogaze"
    rules = CONVENTIONS.load(convention)
    if isinstance(rules, BugConvention):
        found = _evaluate_bugs(reference, predictions, convention, by, rest["level"], reproduced_only, shared)
        _show_bugs(found, form, as_json, out)
        list_unjudged(found.unjudged, judge, out)
        return 0 if found.judged else EXIT_UNFINISHED
    if reproduced_only:
        raise click.UsageError(
            "--reproduced can be used only with a convention for lists of bugs, such as gbqa-0.65, not with "
            f"{convention}"
        )
    if not isinstance(rules, Convention):
        _refuse_options(convention, "is a released evaluator", _UNUSED)
        released = evaluate_released(predictions, reference, convention, **shared)
        _show_released(released, form, as_json, out)
        return 0
    config = _config(convention, {name: value for name, value in rest.items() if value is not None})
    result = run_evaluation(predictions, reference, config, by=by, second_judge=second_judge, **shared)
    _show(result, reading.domain, form, as_json, out)
    list_unjudged(result.unjudged, judge, out)
    if result.second_judge is not None:
        list_unjudged(result.second_judge.unjudged, second_judge or "", out, "unjudged-second")
    return 0 if result.judged else EXIT_UNFINISHED


def _config(convention: str, changes: dict[str, Any]) -> EvaluationConfig:
    from pydantic import ValidationError

    from robogaze.core.data import first_fault
    from robogaze.evaluation.config import EvaluationConfig

    try:
        return EvaluationConfig.of(convention, **changes)
    except ValidationError as error:
        raise click.UsageError(first_fault(error)[1]) from error


def _show(result: Evaluation, domain: str | None, form: str, as_json: bool, out: Path | None) -> None:
    from robogaze.reporting.serialize import evaluation_json
    from robogaze.reporting.tables.evaluation import brief, evaluation_tables, robustness_table

    tables = list(evaluation_tables(result))
    document = evaluation_json(result)
    if result.second_judge is not None:
        tables.insert(1, robustness_table(result, result.second_judge))
        document = {**document, "second_judge": evaluation_json(result.second_judge)}
    text = as_text(document)
    if out is not None:
        from robogaze.domains import default_domain, load_domain
        from robogaze.reporting.pages.evaluation import evaluation_page
        from robogaze.reporting.pages.results import write_result_page
        from robogaze.reporting.tables import table_files

        files = (("evaluation.json", f"{text}\n"), *table_files(tables))
        write_files(out, files, f"{len(tables)} tables and evaluation.json")
        words = load_domain(domain or default_domain())
        page = write_result_page(evaluation_page(result, tables, out, words), out, words)
        click.echo(f"page: {show_notes(page)}", err=True)
    if as_json:
        click.echo(text)
    else:
        print_tables(brief(result, tables) if form == "terminal" else tables, form)


_UNUSED = (
    "second_judge", "by", "normalisation", "iou", "dimension_bonus", "strata", "units", "interval", "margin",
    "baseline", "floors", "sweep", "resamples", "level", "seed",
)  # fmt: skip
"""The options that released evaluators do not have."""

_UNUSED_FOR_BUGS = tuple(name for name in _UNUSED if name not in ("by", "level"))
_LISTS_OF_BUGS = ("gbqa", "gbqa_markdown")


def _refuse_options(convention: str, what: str, unused: tuple[str, ...]) -> None:
    context = click.get_current_context()
    given = [name for name in unused if context.get_parameter_source(name) is not ParameterSource.DEFAULT]
    if given:
        flags = {option.name: option.opts[-1] for option in context.command.params}
        names = ", ".join(str(flags[name]) for name in given)
        raise click.UsageError(f"{names} cannot be used with the convention {convention}, which {what}")


def _evaluate_bugs(
    reference: Path,
    predictions: tuple[str, ...],
    convention: str,
    by: tuple[str, ...],
    level: float,
    reproduced_only: bool,
    shared: dict[str, Any],
) -> BugEvaluation:
    from robogaze.evaluation.bugs import evaluate_bugs

    _refuse_options(convention, "is for lists of bugs", _UNUSED_FOR_BUGS)
    options: dict[str, Any] = {"by": by or None, "level": level, "reproduced_only": reproduced_only}
    return evaluate_bugs(predictions, reference, convention, **options, **shared)


def _show_bugs(result: BugEvaluation, form: str, as_json: bool, out: Path | None) -> None:
    from robogaze.reporting.serialize import bugs_json
    from robogaze.reporting.tables.bugs import bug_tables

    _show_tables(list(bug_tables(result)), as_text(bugs_json(result)), form, as_json, out)


def _show_released(result: ReleasedEvaluation, form: str, as_json: bool, out: Path | None) -> None:
    from robogaze.reporting.serialize import released_json
    from robogaze.reporting.tables.evaluation import released_tables

    _show_tables(list(released_tables(result)), as_text(released_json(result)), form, as_json, out)


def _show_tables(tables: list[ResultTable], text: str, form: str, as_json: bool, out: Path | None) -> None:
    """Write the tables and the JSON text if a folder is given; print one of them."""
    from robogaze.reporting.tables import table_files

    if out is not None:
        files = (("evaluation.json", f"{text}\n"), *table_files(tables))
        write_files(out, files, f"{len(tables)} tables and evaluation.json")
    if as_json:
        click.echo(text)
    else:
        print_tables(tables, form)
