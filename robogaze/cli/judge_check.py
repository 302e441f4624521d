"""`robogaze judge-check`: how well a judge agrees with ratings, and how stable its own answers are."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robogaze.cli.shared.clips import check_exist
from robogaze.cli.shared.types import GivenPath

if TYPE_CHECKING:
    from collections.abc import Sequence

    from robogaze.core.estimate import Estimate
    from robogaze.judges.base import Judge, Judgement
    from robogaze.judges.judge_check import JudgeCheck
    from robogaze.judges.rated_pairs import RatedPair

SCHEMA_VERSION = 1
_MEASURES = {
    "pearson": "Pearson",
    "spearman": "Spearman",
    "mean_difference": "mean difference (judge - ratings)",
    "mean_absolute_error": "mean absolute error",
    "auc_other_object": "AUC, the same event against the same type on another object",
}


@click.command("judge-check")
@click.argument("pairs", type=GivenPath())
@click.option(
    "--judge",
    default="offline",
    show_default=True,
    help="Judge to measure: offline, table:FILE, or a model KIND:NAME[@URL].",
)
@click.option(
    "--rubric",
    default="robogaze",
    show_default=True,
    help="Rubric that defines the questions to a model and the axes of the rating.",
)
@click.option("--split", help="Use only the pairs of this split.")
@click.option("--repeats", type=click.IntRange(min=1), default=1, show_default=True,
              help="Number of times to judge each pair.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed of the resampling.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def judge_check(pairs: Path, judge: str, rubric: str, split: str | None, repeats: int, seed: int, as_json: bool) -> int:
    """Measure how well a judge agrees with ratings of pairs of descriptions.

    PAIRS is a JSONL file. A line is {"reference": ..., "prediction": ..., "similarity": 0..1}. Instead of "similarity",
    a line can have "axes": ratings on the axes of the rubric. For the confidence intervals, pairs with the same "event"
    are resampled together; pairs without an "event" are grouped by "clip_id". With --repeats, the model judges each
    pair several times, and changed answers are counted.
    """
    check_exist(pairs)
    import numpy as np

    from robogaze.cli import EXIT_UNFINISHED, quiet_retries
    from robogaze.judges import open_judge
    from robogaze.judges.judge_check import check_judge
    from robogaze.judges.rated_pairs import read_rated_pairs
    from robogaze.judges.rubric import read_rubric

    quiet_retries()
    rated = read_rated_pairs(pairs, read_rubric(rubric), split)
    judges = [open_judge(judge, rubric, os.environ, sample=number) for number in range(repeats)]
    runs = [asyncio.run(opened.rate([pair.pair for pair in rated])) for opened in judges]
    result = check_judge(rated, runs, np.random.default_rng(seed))
    _print_unscored(rated, runs[0])
    if as_json:
        click.echo(json.dumps(_as_json(result, judges[0], rubric)))
    else:
        _print(result, judges[0], pairs)
    return EXIT_UNFINISHED if result.unscored else 0


def _print_unscored(rated: Sequence[RatedPair], run: Sequence[Judgement]) -> None:
    """Print the number of unscored pairs and the first reason, because the cause is often the same for all."""
    failed = [
        (pair.pair, judgement.rationale)
        for pair, judgement in zip(rated, run, strict=True)
        if judgement.similarity is None
    ]
    if failed:
        from robogaze.reporting.wording import count

        pair, why = failed[0]
        unscored = count(len(failed), "unscored pair")
        click.echo(f"{unscored}; reason for the first pair, {pair.reference!r}: {why}", err=True)


def _as_json(result: JudgeCheck, judge: Judge, rubric: str) -> dict[str, Any]:
    stability = result.stability
    return {
        "schema_version": SCHEMA_VERSION,
        "judge": {"name": judge.name, "note": judge.note, "identity": dict(judge.identity)},
        "rubric": rubric,
        "pairs": result.pairs,
        "units": result.units,
        "unscored": result.unscored,
        **{name: estimate.as_json() for name, estimate in _estimates(result).items()},
        "kinds": {
            kind: {"n": count, "rated": rated, "judge": judged} for kind, (count, rated, judged) in result.kinds.items()
        },
        "stability": stability
        and {
            "repeats": stability.repeats,
            "changed": stability.changed.as_json(),
            "spread": stability.spread.as_json(),
        },
    }


def _estimates(result: JudgeCheck) -> dict[str, Estimate]:
    """The agreement by measure; the AUC only if there are pairs of both kinds."""
    return {name: estimate for name, estimate in vars(result.agreement).items() if estimate is not None}


def _print(result: JudgeCheck, judge: Judge, pairs: Path) -> None:
    from rich.console import Console

    from robogaze.reporting.tables import ResultTable, to_terminal

    rows: list[tuple[Any, ...]] = [(_MEASURES[name], estimate) for name, estimate in _estimates(result).items()]
    if result.stability is not None:
        rows.append((f"changed over {result.stability.repeats} repeats", result.stability.changed))
        rows.append(("standard deviation over repeats", result.stability.spread))
    rows += [("pairs", result.pairs), ("groups of pairs that are resampled together for the intervals", result.units)]
    rows.append(("unscored", result.unscored))
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(
        to_terminal(ResultTable("judge-check", f"{judge.name} against {pairs.name}", ("", "value"), tuple(rows)))
    )
    if result.kinds:
        kinds = tuple((kind, *numbers) for kind, numbers in result.kinds.items())
        table = ResultTable("kinds", "mean similarity by kind of pair", ("kind", "n", "rated", "judge"), kinds)
        console.print(to_terminal(table))
    console.print(judge.note, highlight=False, markup=False)
