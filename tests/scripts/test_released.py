"""Corpora in the files of the two releases: read as the releases read them, and scored to the same figures."""

import contextlib
import io
import json
from pathlib import Path

import pytest
import released
from released_evaluators import Figures

from robogaze.cli import cli
from robogaze.datasets.formats.read import read_annotations


@pytest.mark.parametrize("more", [(), ("--fps", "16"), ("--lenient",), ("--fps", "16", "--lenient")])
@pytest.mark.parametrize("release", ["robogaze-released", "glide-released"])
def test_a_corpus_of_a_release_has_the_release_s_figures_whatever_is_given_beside(
    release: str, more: tuple[str, ...]
) -> None:
    assert [released.tried(release, seed, *more) for seed in range(100, 103)] == [[]] * 3


def test_intervals_of_no_length_are_read_as_the_release_reads_them(tmp_path: Path) -> None:
    for name, at in (("gold", 3), ("said", 5)):
        record = {"video_name": "clip", "game_name": "Title", "no_bugs": False, "bugs": ["It hangs."]}
        (tmp_path / f"{name}.json").write_text(json.dumps([{**record, "time_nodes": [[[at, at]]]}]))
    (tmp_path / "ratings.jsonl").write_text(json.dumps(released.line("Title/clip", "1", "1", 0.8)))
    figures = released.ours(tmp_path, "gold.json", "said.json", "glide-released")
    assert (figures["miou"], figures["mean_rating"]) == (1.0, 4.0)


def corpus(folder: Path, fps: float) -> None:
    """A perfect prediction that says its rate, and one that is missing."""
    event = {"glitch_type": "blur", "start_frame": 8, "end_frame": 24, "severity": 2, "description": "It is blurred."}
    for name in ("gr1_sim__1", "gr1_sim__2"):
        head = {"video_id": name, "source_dataset": "gr1_sim", "source_video_id": name[-1]}
        released.write(folder / "gold" / f"{name}.json", {**head, "glitches": [event]})
    meta = {"fps": fps, "total_frames": 80, "duration_s": 80 / fps}
    said = {"video_id": "1", "video_meta": meta, "glitches": [event]}
    released.write(folder / "said" / "gr1_sim" / "1" / "report.json", said)
    (folder / "ratings.jsonl").write_text(json.dumps(released.line("gr1_sim__1", "1", "1", 1.0)))


def test_a_missing_prediction_is_left_out_where_the_release_leaves_it_out(tmp_path: Path) -> None:
    corpus(tmp_path, 8)
    figures: Figures = released.ours(tmp_path, "gold", "said", "robogaze-released")
    assert (figures["desc_f1"], figures["miou"], figures["detection_recall"]) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("more", [("--fps", "16"), ("--fps", "16", "--lenient")])
def test_a_partner_s_rate_comes_before_the_one_given(tmp_path: Path, more: tuple[str, ...]) -> None:
    corpus(tmp_path, 8)
    (tmp_path / "gold" / "gr1_sim__2.json").unlink()
    found = _macro(tmp_path, *more)
    assert (found["desc_f1"], found["miou"]) == (1.0, 1.0)


def test_lenient_leaves_out_what_no_partner_can_place_and_nothing_else(tmp_path: Path) -> None:
    corpus(tmp_path, 8)
    found = _macro(tmp_path, "--lenient")
    assert (found["desc_f1"], found["miou"]) == (1.0, 1.0)


def _macro(folder: Path, *more: str) -> dict[str, float]:

    out = io.StringIO()
    words = ["evaluate", "--reference", f"{folder / 'gold'}", "--prediction", f"{folder / 'said'}", "--json"]
    words += ["--judge", f"table:{folder / 'ratings.jsonl'}", *more]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        cli.main(words, standalone_mode=False)
    return {name: figure["value"] for name, figure in json.loads(out.getvalue())["macro"].items()}


def test_frames_are_kept_as_written(tmp_path: Path) -> None:
    corpus(tmp_path, 8)
    (account,) = read_annotations(tmp_path / "said").annotations
    written = account.findings[0].written
    assert written is not None
    assert (written.unit, written.intervals) == ("frames", ((8, 24),))
