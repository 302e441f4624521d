"""Random corpora in the files of the two releases, through `robogaze evaluate` and through a second implementation.

The second implementation is released_evaluators.py. The corpora have what the releases read: several frame rates,
missing predictions, events of one frame or none, reversed events, spans after the end, labels outside the taxonomy,
missing severities and texts, repeated ids, and times in place of frames.
"""

import contextlib
import io
import json
import random
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import released_evaluators as second

from robogaze.cli import cli
from robogaze.domains import load_domain

DATASETS = ("gr1_real", "gr1_sim", "droid_mv")
TOLERANCE = 1e-9

Json = dict[str, Any]


def taxonomy() -> dict[str, tuple[str, ...]]:
    """The types of each dimension of the robot domain."""
    return {
        dimension.id: tuple(kind.id for kind in dimension.types)
        for dimension in load_domain("robot").dimensions.values()
    }


def robogaze_corpus(dice: random.Random, folder: Path, kinds: Mapping[str, tuple[str, ...]]) -> second.Ratings:
    """Write gold/*.json and said/<data set>/<video>/report.json; returns the ratings of all pairs."""
    ratings: dict[tuple[str, int, int], int] = {}
    lines = []
    for number in range(dice.randint(3, 8)):
        dataset, fps, frames = dice.choice(DATASETS), dice.choice((8, 10, 16)), dice.randint(20, 80)
        name = f"{dataset}__{number}"
        true = [_glitch(dice, kinds, frames, person=True) for _ in range(dice.choice((0, 1, 1, 2, 3)))]
        head = {"video_id": name, "source_dataset": dataset, "source_video_id": f"{number}", "task": "Lift the cup."}
        write(folder / "gold" / f"{name}.json", {**head, "glitches": true})
        if number and dice.random() < 0.2:
            continue
        predicted = [_glitch(dice, kinds, frames, person=False, fps=fps) for _ in range(dice.choice((0, 1, 2, 3)))]
        meta = {"fps": fps, "total_frames": frames, "duration_s": frames / fps}
        video = dice.choice((name, f"{number}"))
        write(
            folder / "said" / dataset / f"{number}" / "report.json",
            {"video_id": video, "task_instruction": "Lift the cup.", "video_meta": meta, "glitches": predicted},
        )
        for r, reference in enumerate(_ids(true)):
            for p, prediction in enumerate(_ids(predicted)):
                ratings[name, r, p] = dice.randint(0, 15)
                lines.append(line(name, reference, prediction, ratings[name, r, p] / 15))
    _table(folder, lines)
    return ratings


def _glitch(
    dice: random.Random, kinds: Mapping[str, tuple[str, ...]], frames: int, *, person: bool, fps: float = 0
) -> Json:
    """An event as the release writes it, or as its evaluator takes it."""
    dimension = dice.choice(list(kinds))
    event: Json = {"glitch_type": dice.choice((*kinds[dimension], "Motion Blur", "no such type"))}
    if dice.random() < 0.5:
        event["dimension"] = dice.choice((dimension, None, "another"))
    start = dice.randrange(frames)
    end = dice.choice((start, start + 1, start + dice.randint(2, 30), max(start - 3, 0)))
    if fps and dice.random() < 0.3:
        event |= {"start_time": start / fps, "end_time": end / fps}
    else:
        event |= {"start_frame": start, "end_frame": dice.choice((end, float(end)))}
    if dice.random() < 0.8:
        event["human_severity" if person and dice.random() < 0.5 else "severity"] = dice.choice(
            (None, 0, 1, 2, 3, 4, 5)
        )
    if dice.random() < 0.9:
        event["note" if person and dice.random() < 0.5 else "description"] = "The cup passes through the table."
    if dice.random() < 0.5:
        event["glitch_id" if person else "event_id"] = dice.choice(("E1", "E2", "E3"))
    return event


def _ids(events: list[Json]) -> list[str]:
    """The ids of the events: their own, else their number; repeated ids are numbered."""
    own = [event.get("glitch_id") or event.get("event_id") or f"{number}" for number, event in enumerate(events, 1)]
    return [
        name if own[:at].count(name) == 0 else f"{name} ({own[: at + 1].count(name)})" for at, name in enumerate(own)
    ]


def glide_corpus(dice: random.Random, folder: Path) -> second.Ratings:
    """Write gold.json and said.json; returns the ratings of all pairs."""
    ratings: dict[tuple[str, int, int], int] = {}
    gold, predicted, lines = [], [], []
    for number in range(dice.randint(3, 8)):
        name = f"clip_{number}"
        true = _record(dice, name, dice.choice((0, 1, 1, 2, 3)))
        gold.append({"id": number, **true})
        if number and dice.random() < 0.2:
            continue
        found = _record(dice, name, dice.choice((0, 1, 2, 3)))
        predicted.append(found)
        for r in range(len(true["bugs"])):
            for p in range(len(found["bugs"])):
                ratings[name, r, p] = dice.randint(0, 5)
                lines.append(line(f"Some Title/{name}", f"{r + 1}", f"{p + 1}", ratings[name, r, p] / 5))
    dice.shuffle(predicted)
    write(folder / "gold.json", gold)
    write(folder / "said.json", predicted)
    _table(folder, lines)
    return ratings


def _record(dice: random.Random, name: str, events: int) -> Json:
    nodes = [[_seconds(dice) for _ in range(dice.choice((0, 1, 1, 1, 2)))] for _ in range(events)]
    bugs = ["The car hangs in the air."] * events
    title = {"video_name": name, "game_name": "Some Title"}
    return {**title, "no_bugs": not events, "bugs": bugs, "time_nodes": nodes}


def _seconds(dice: random.Random) -> list[int]:
    start = dice.randrange(12)
    return [start, start + dice.choice((0, 0, 1, 2, 5))]


def line(clip: str, reference: str, prediction: str, similarity: float) -> Json:
    return {"clip_id": clip, "reference_id": reference, "prediction_id": prediction, "similarity": similarity}


def write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def _table(folder: Path, lines: list[Json]) -> None:
    (folder / "ratings.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def ours(folder: Path, reference: str, prediction: str, convention: str, *more: str) -> second.Figures:
    """The figures that the command prints. Raises whatever refuses the corpus."""
    out, err = io.StringIO(), io.StringIO()
    table = f"table:{folder / 'ratings.jsonl'}"
    words = ["evaluate", "--reference", f"{folder / reference}", "--prediction", f"{folder / prediction}"]
    words += ["--convention", convention, "--judge", table, "--json", *more]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        cli.main(words, standalone_mode=False)
    (system,) = json.loads(out.getvalue())["systems"]
    figures = {name: estimate["value"] for name, estimate in system["metrics"].items()}
    for name, estimate in system["metrics"].items():
        if estimate["low"] is not None:
            figures |= {f"{name} low": estimate["low"], f"{name} high": estimate["high"]}
    return figures | {f"dimension {name}": estimate["value"] for name, estimate in system["per_dimension"].items()}


def differences(mine: second.Figures, theirs: second.Figures) -> list[str]:
    """The figures that differ or are missing on one side, with both values."""
    missing = float("inf")
    return [
        f"{name}: {mine.get(name)} here, {theirs.get(name)} there"
        for name in sorted(mine.keys() | theirs.keys())
        if not abs(mine.get(name, missing) - theirs.get(name, missing)) <= TOLERANCE
    ]


def tried(release: str, seed: int, *more: str) -> list[str]:
    """The differences in a corpus. Raises the error that refuses it."""
    with tempfile.TemporaryDirectory() as home:
        folder, dice = Path(home), random.Random(seed)
        if release == "robogaze-released":
            kinds = taxonomy()
            ratings = robogaze_corpus(dice, folder, kinds)
            theirs = second.robogaze(folder / "gold", folder / "said", ratings, kinds)
            return differences(ours(folder, "gold", "said", release, *more), theirs)
        ratings = glide_corpus(dice, folder)
        theirs = second.glide(folder / "gold.json", folder / "said.json", ratings)
        return differences(ours(folder, "gold.json", "said.json", release, *more), theirs)
