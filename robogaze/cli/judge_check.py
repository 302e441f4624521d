"""`robogaze judge-check`: how far a judge agrees with ratings, and with itself."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robogaze.cli.shared.judges import opened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from robogaze.core.scores import Estimate
    from robogaze.judges.base import Judge, Judgement
    from robogaze.judges.check import JudgeCheck
    from robogaze.judges.rated import Rated

SCHEMA_VERSION = 1
_MEASURES = {
    "pearson": "Pearson",
    "spearman": "Spearman",
    "mean_difference": "mean difference (judge - ratings)",
    "mean_absolute_error": "mean absolute error",
    "auc_other_object": "AUC, one event against the same type on another object",
}


@click.command("judge-check")
@click.argument("pairs", type=click.Path(path_type=Path))
@click.option("--judge", default="offline", show_default=True, help="offline, table:FILE, or KIND:NAME[@URL], a model.")
@click.option("--rubric", default="robogaze", show_default=True, help="What a model is asked and what axes count.")
@click.option("--split", help="Only the pairs of this split of the file.")
@click.option(
    "--repeats", type=click.IntRange(min=1), default=1, show_default=True, help="How often to judge each pair."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def judge_check(pairs: Path, judge: str, rubric: str, split: str | None, repeats: int, seed: int, as_json: bool) -> int:
    """Measure a judge against ratings of pairs of descriptions.

    PAIRS is a JSONL file of {"reference": ..., "prediction": ..., "similarity": 0..1} or, in place of the similarity,
    "axes": ratings on the axes of the rubric; intervals are over "event" or "clip_id" where lines have one. With
    --repeats a model is asked as often about each pair, and what changes is counted.
    """
    import numpy as np

    from robogaze.judges.check import check
    from robogaze.judges.rated import read_rated
    from robogaze.judges.rubric import read_rubric

    rated = read_rated(pairs, read_rubric(rubric), split)
    judges = [opened(judge, rubric, sample=number) for number in range(repeats)]
    runs = [asyncio.run(one.rate([line.pair for line in rated])) for one in judges]
    found = check(rated, runs, np.random.default_rng(seed))
    _tell_unscored(rated, runs[0])
    if as_json:
        click.echo(json.dumps(_as_json(found, judges[0], rubric)))
    else:
        _print(found, judges[0], pairs)
    from robogaze.cli import EXIT_UNFINISHED

    return EXIT_UNFINISHED if found.unscored else 0


def _tell_unscored(rated: Sequence[Rated], run: Sequence[Judgement]) -> None:
    """The first of the pairs without a similarity, and why; one cause is often behind all."""
    failed = [(one.pair, two.rationale) for one, two in zip(rated, run, strict=True) if two.similarity is None]
    if failed:
        pair, why = failed[0]
        click.echo(f"{len(failed)} pairs are unscored; the first, {pair.reference!r}: {why}", err=True)


def _as_json(found: JudgeCheck, judge: Judge, rubric: str) -> dict[str, Any]:
    stability = found.stability
    return {
        "schema_version": SCHEMA_VERSION,
        "judge": {"name": judge.name, "note": judge.note, "identity": dict(judge.identity)},
        "rubric": rubric,
        "pairs": found.pairs,
        "units": found.units,
        "unscored": found.unscored,
        **{name: one.as_json() for name, one in _measured(found)},
        "kinds": {
            kind: {"n": count, "rated": rated, "judge": judged} for kind, (count, rated, judged) in found.kinds.items()
        },
        "stability": stability
        and {
            "repeats": stability.repeats,
            "changed": stability.changed.as_json(),
            "spread": stability.spread.as_json(),
        },
    }


def _measured(found: JudgeCheck) -> Iterator[tuple[str, Estimate]]:
    """What was measured; the AUC where there are pairs of both kinds."""
    for name in _MEASURES:
        one = getattr(found.agreement, name)
        if one is not None:
            yield name, one


def _print(found: JudgeCheck, judge: Judge, pairs: Path) -> None:
    from rich.console import Console

    from robogaze.reporting.tables import ResultTable, to_terminal

    rows: list[tuple[Any, ...]] = [(_MEASURES[name], one) for name, one in _measured(found)]
    if found.stability is not None:
        rows.append((f"changed over {found.stability.repeats} repeats", found.stability.changed))
        rows.append(("standard deviation over repeats", found.stability.spread))
    rows += [("pairs", found.pairs), ("rated together (units of the intervals)", found.units)]
    rows.append(("unscored", found.unscored))
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(
        to_terminal(ResultTable("judge-check", f"{judge.name} against {pairs.name}", ("", "value"), tuple(rows)))
    )
    if found.kinds:
        kinds = tuple((kind, *numbers) for kind, numbers in found.kinds.items())
        table = ResultTable("kinds", "mean similarity by kind of pair", ("kind", "n", "rated", "judge"), kinds)
        console.print(to_terminal(table))
    console.print(judge.note, highlight=False, markup=False)
