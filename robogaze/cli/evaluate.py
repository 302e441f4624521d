"""`robogaze evaluate`: predictions against references."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from robogaze.cli.shared import options
from robogaze.cli.shared.accounts import named_path, read
from robogaze.cli.shared.judges import opened
from robogaze.cli.shared.tables import as_text, print_tables, write_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from robogaze.core.annotation import ClipAnnotation
    from robogaze.datasets.formats.labels import Labels
    from robogaze.datasets.pairing import Pairing
    from robogaze.domains import Domain
    from robogaze.evaluate import Evaluation
    from robogaze.judges.base import Judge
    from robogaze.reporting.result_tables import ResultTable
    from robogaze.scoring.config import EvaluationConfig

_CONVENTIONS = ("robogaze", "glide-paper", "descriptions", "robogaze-released", "glide-released")
_READING = ("file_format", "fps", "first_frame", "lenient")


@click.command()
@click.option("--reference", required=True, type=click.Path(exists=True, path_type=Path), help="Reference annotations.")
@click.option("--prediction", "predictions", required=True, multiple=True, metavar="[NAME=]PATH",
              help="A system's reports; several are compared with one another.")  # fmt: skip
@click.option("--author", help="Of references by several authors, the one to take.")
@options.reading
@options.judging
@click.option("--second-judge", metavar="SPEC", help="Judge again with another one, and compare the two.")
@click.option("--convention", type=click.Choice(_CONVENTIONS), default="robogaze", show_default=True)
@click.option("--normalise", "normalisation", type=click.Choice(["loose", "strict"]), default="loose",
              show_default=True, help="By all events, or by those that share time with any.")  # fmt: skip
@click.option("--iou", type=click.Choice(["frames", "exact"]), help="Overlap on frames or in seconds.")
@click.option("--lambda", "dimension_bonus", type=click.FloatRange(min=0), help="The bonus for a shared dimension.")
@click.option("--by", multiple=True, metavar="FIELD", help="Break results down by a clip field, such as task_family.")
@click.option("--strata", default="split", show_default=True, metavar="FIELD", help="Clips are resampled within these.")
@click.option("--units", default="prompt_id", show_default=True, metavar="FIELD",
              help="Clips with one value of it are resampled together.")  # fmt: skip
@click.option("--interval", type=click.Choice(["student", "percentile", "bca"]), default="student", show_default=True)
@click.option("--margin", type=click.FloatRange(0, 1, min_open=True, max_open=True), metavar="X",
              help="Say whether systems are equal up to this difference.")  # fmt: skip
@click.option("--floors/--no-floors", default=True, show_default=True,
              help="Ask the judge about floors, too: the type prior, and own events on other clips.")  # fmt: skip
@options.resampling
@options.printing("every table and figure, and a page that shows them")
def evaluate(
    reference: Path,
    predictions: tuple[str, ...],
    author: str | None,
    mixed: bool,
    domain: str | None,
    judge: str,
    second_judge: str | None,
    rubric: str | None,
    convention: str,
    by: tuple[str, ...],
    form: str,
    as_json: bool,
    out: Path | None,
    **rest: Any,
) -> int:
    """Score predictions against references: what was found, missed and made up, with intervals.

    Reads reports and annotations only: no video, no model library. PATH is a report, a folder of reports, JSONL, or
    any format that is recognised (see docs/formats.md).
    """
    from robogaze.datasets.formats.labels import load_labels
    from robogaze.domains import default_domain, load_domain
    from robogaze.reporting.evaluation import robustness_sheet, sheets
    from robogaze.scoring.released import RELEASED

    loaded = load_domain(domain or default_domain())
    labels = load_labels(domain or default_domain())
    reading = {name: rest.pop(name) for name in _READING} | {"as_written": convention in RELEASED}
    pairing = _pairing(reference, author, predictions, labels, mixed, reading)
    judges = [opened(one, rubric or loaded.file.judge) for one in (judge, second_judge) if one]
    if convention in RELEASED:
        _refuse_unused(convention)
        _released(pairing, judges[0], convention, loaded, form, as_json, out)
        return 0
    terms = _terms(convention, {name: value for name, value in rest.items() if value is not None})
    results = asyncio.run(_judged(pairing, judges, terms, by))
    tables = list(sheets(results[0]))
    tables[1:1] = [robustness_sheet(results[0], other) for other in results[1:]]
    _show(results, tables, by, form, as_json, out)
    from robogaze.cli import EXIT_UNFINISHED

    return EXIT_UNFINISHED if any(one.bounds for result in results for one in result.systems) else 0


def _pairing(
    reference: Path,
    author: str | None,
    predictions: Sequence[str],
    labels: Labels,
    mixed: bool,
    reading: dict[str, Any],
) -> Pairing:
    from robogaze.datasets.pairing import System, match_clip_ids, pair

    left_out: list[str] = []
    named = _named(predictions)
    references = _references(reference, named, labels, {**reading, "left_out": left_out})
    authors = sorted({one.author for one in references})
    references = [one for one in references if author in (None, one.author)]
    if not references:
        raise click.BadParameter(f"{reference} holds accounts by {', '.join(authors)}", param_hint="--author")
    clips = {one.clip_id: one for one in references}
    systems = []
    for name, path in named:
        found = match_clip_ids(references, read(path, labels, clips=clips, left_out=left_out, **reading))
        if found.by["sha256"] or found.by["stem"]:
            click.echo(f"{name}: clips paired {found}", err=True)
        systems.append(System.of(name, found.annotations))
    return replace(pair(references, systems, mixed=mixed), left_out=tuple(left_out))


def _references(
    reference: Path, predictions: Sequence[tuple[str, Path]], labels: Labels, reading: dict[str, Any]
) -> list[ClipAnnotation]:
    """The references; where they cannot be read by themselves, on the axes that the predictions know.

    So a partner's frame rate comes before --fps, and --lenient leaves out only what does not fit on its clip's axis.
    """
    from robogaze.errors import InputError

    try:
        return read(reference, labels, **{**reading, "fps": None, "lenient": False})
    except InputError:
        return read(reference, labels, clips=_axes(predictions, labels, reading), **reading)


def _axes(
    predictions: Sequence[tuple[str, Path]], labels: Labels, reading: dict[str, Any]
) -> dict[str, ClipAnnotation]:
    """The accounts of predictions that know their clip's frames by themselves, by clip."""
    from robogaze.datasets.formats.read import read_annotations
    from robogaze.errors import InputError

    found: dict[str, ClipAnnotation] = {}
    for _, path in predictions:
        try:
            said = read_annotations(
                path, format=reading["file_format"], labels=labels, first_frame=reading["first_frame"], lenient=True
            )
        except InputError:  # that it cannot be read is said where it is read as a prediction
            continue
        for one in said.annotations:
            if one.frame_times_s is not None:
                found.setdefault(one.clip_id, one)
    return found


def _named(predictions: Iterable[str]) -> list[tuple[str, Path]]:
    """Names and paths; a path without a name goes by its own."""
    given = [named_path(one, "--prediction") for one in predictions]
    found = [(path.resolve().stem if name is None else name, path) for name, path in given]
    names = [name for name, _ in found]
    if len(set(names)) < len(names):
        raise click.BadParameter(f"two have one name ({', '.join(names)}); write NAME=PATH", param_hint="--prediction")
    return found


def _terms(convention: str, changes: dict[str, Any]) -> EvaluationConfig:
    from pydantic import ValidationError

    from robogaze.core.data import first_fault
    from robogaze.scoring.config import EvaluationConfig

    try:
        return EvaluationConfig.of(convention, **changes)
    except ValidationError as error:
        raise click.UsageError(first_fault(error)[1]) from error


async def _judged(
    pairing: Pairing, judges: Sequence[Judge], terms: EvaluationConfig, by: tuple[str, ...]
) -> list[Evaluation]:
    from robogaze.evaluate import evaluate

    return [await evaluate(pairing, judge, terms, by) for judge in judges]


def _show(
    results: Sequence[Evaluation],
    tables: list[ResultTable],
    by: Sequence[str],
    form: str,
    as_json: bool,
    out: Path | None,
) -> None:
    from robogaze.reporting.evaluation import brief
    from robogaze.reporting.evaluation_json import evaluation_json
    from robogaze.reporting.evaluation_page import files_of

    result, *others = results
    told = as_text({**evaluation_json(result), **({"second_judge": evaluation_json(others[0])} if others else {})})
    if out is not None:
        texts = (("evaluation.json", f"{told}\n"), *files_of(result, tables))
        write_files(out, texts, f"{len(tables)} tables, evaluation.json and index.html")
    if as_json:
        click.echo(told)
    else:
        print_tables(brief(tables, by) if form == "terminal" else tables, form)


_UNUSED = (
    "second_judge", "by", "normalisation", "iou", "dimension_bonus", "strata", "units", "interval", "margin",
    "floors", "resamples", "level", "seed",
)  # fmt: skip


def _refuse_unused(convention: str) -> None:
    """A released evaluator has no options: those given are refused, and not passed over."""
    context = click.get_current_context()
    given = [name for name in _UNUSED if context.get_parameter_source(name) is not ParameterSource.DEFAULT]
    if given:
        options = {one.name: one.opts[-1] for one in context.command.params}
        names = ", ".join(str(options[name]) for name in given)
        raise click.UsageError(f"{convention} is a released evaluator as it is: it has no {names}")


def _released(
    pairing: Pairing, judge: Judge, convention: str, domain: Domain, form: str, as_json: bool, out: Path | None
) -> None:
    from robogaze.reporting.released import released_json, released_sheets
    from robogaze.reporting.result_tables import files
    from robogaze.scoring.released import released

    taxonomy = {one.id: tuple(kind.id for kind in one.types) for one in domain.dimensions.values()}
    results = asyncio.run(released(pairing, judge, convention, taxonomy))
    tables = list(released_sheets(results, judge, convention))
    told = as_text(released_json(results, judge, convention))
    if out is not None:
        write_files(
            out, (("evaluation.json", f"{told}\n"), *files(tables)), f"{len(tables)} tables and evaluation.json"
        )
    if as_json:
        click.echo(told)
    else:
        print_tables(tables, form)
