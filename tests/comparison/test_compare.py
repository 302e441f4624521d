"""`compare` as a library function: runs from paths or loaded reports."""

from math import inf, nan
from pathlib import Path
from typing import Any

import pytest
from checkpoints import report, write_reports

from robogaze.annotations import ReadOptions, SourceError
from robogaze.comparison import ComparisonConfig, compare
from robogaze.core.report import Provenance, Unreadable, Usage
from robogaze.errors import InputError, OptionError
from robogaze.reports import load_reports
from robogaze.run.score import RunResult
from robogaze.store import ManifestLine

FEW = ComparisonConfig(resamples=20)


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """A base of ten prompts, half of them faulty, and a run with two faulty ones."""
    base = [report(f"base-p{number}", {"colour_shift": 3} if number < 5 else {}) for number in range(10)]
    new = [report(f"new-p{number}", {"colour_shift": 3} if number < 2 else {}) for number in range(10)]
    return [write_reports(tmp_path / "base", base), write_reports(tmp_path / "new.jsonl", new)]


def test_runs_have_the_names_of_their_paths_or_those_given(runs: list[Path]) -> None:
    assert compare(runs, FEW).names == ("base", "new")
    assert compare([str(runs[0]), f"better={runs[1]}"], FEW).names == ("base", "better")
    assert compare({"a": runs[0], "b": load_reports(runs[1])}, FEW).names == ("a", "b")


def test_run_folder_with_a_dot_keeps_its_whole_name(runs: list[Path]) -> None:
    assert compare([runs[0].rename(runs[0].with_name("v1.5"))], FEW).names == ("v1.5",)


def test_paths_and_loaded_reports_give_the_same_leaderboard(runs: list[Path]) -> None:
    by_path = compare(runs, FEW, baseline="base")
    loaded = compare({"base": load_reports(runs[0]), "new": load_reports(runs[1])}, FEW, baseline="base")
    assert [row.clean_rate for row in by_path.leaderboard] == [row.clean_rate for row in loaded.leaderboard]
    assert by_path.pairs[0].clean == loaded.pairs[0].clean
    assert by_path.pairs[0].clean.difference.value == pytest.approx(0.3)


def test_unreadable_clips_of_a_scored_run_stay_in_its_counts(runs: list[Path]) -> None:
    lost = (Unreadable(uri="lost.mp4", reason="lost.mp4 is empty"),)
    scored = RunResult(load_reports(runs[0]), lost, None, None)
    result = compare({"base": scored, "new": load_reports(runs[1])}, FEW)
    assert {row.name: row.clips["unreadable"] for row in result.leaderboard} == {"base": 1, "new": 0}


def test_loaded_reports_are_compared_as_strictly_as_their_files(runs: list[Path]) -> None:
    loaded = load_reports(runs[0])
    models = {"vlm": {"model": "other", "identity": {"kind": "openai", "name": "other"}}}
    for changes, what in (
        ({"pipeline": "other"}, "pipelines"),
        ({"provenance": Provenance(models=models)}, "models"),
    ):
        others = [report.with_(**changes) for report in loaded]
        with pytest.raises(InputError, match=rf"a \(a\) and b \(b\) were made with different {what}"):
            compare({"a": loaded, "b": others}, FEW)
        assert compare({"a": loaded, "b": others}, FEW, reading=ReadOptions(mixed=True)).names == ("a", "b")


def test_loaded_reports_have_the_cost_and_the_missing_clips_of_their_run_folder(runs: list[Path]) -> None:
    paid = [report.with_(usage=Usage(calls=2, cost_usd=0.5)) for report in load_reports(runs[0])]
    folder = write_reports(runs[0].with_name("paid"), paid)
    (folder / "run.json").write_text("{}")
    lines = [
        ManifestLine(clip_id=f"paid-p{number}", path=f"p{number}.mp4", sha256="0" * 64, instruction=f"p{number}")
        for number in range(10, 12)
    ]
    (folder / "manifest.jsonl").write_text("".join(f"{line.model_dump_json()}\n" for line in lines))
    by_path, loaded = compare([folder], FEW), compare({"paid": load_reports(folder)}, FEW)
    assert repr(by_path.leaderboard) == repr(loaded.leaderboard)  # NaN is not equal to NaN
    assert (loaded.leaderboard[0].cost_per_clip.value, loaded.leaderboard[0].clips["missing"]) == (0.5, 2)


def test_names_may_be_training_steps(runs: list[Path]) -> None:
    assert compare({1000: runs[0], 2000: runs[1]}, FEW).names == ("1000", "2000")  # type: ignore[dict-item]


@pytest.mark.parametrize("source", [None, 3, [None], ["a.json"], {"clip": "c"}])
def test_only_reports_and_annotations_are_loaded_values(source: Any) -> None:
    with pytest.raises(SourceError, match="a source must be a path, or loaded reports or annotations; it contains a"):
        compare({"a": source}, FEW)


def test_one_report_is_a_source(runs: list[Path]) -> None:
    report = load_reports(runs[0])[0]
    one, several = (compare({"a": source}, FEW).leaderboard for source in (report, [report]))  # type: ignore[dict-item]
    assert repr(one) == repr(several)  # NaN is not equal to NaN


def test_unknown_keys_of_pairs_are_refused(runs: list[Path]) -> None:
    with pytest.raises(OptionError, match=r"`pair_by` must be one of auto, prompt_id, .*, not 'prompt'"):
        compare(runs, FEW, pair_by="prompt")


def test_no_run_is_refused() -> None:
    with pytest.raises(SourceError, match="no run is given"):
        compare([], FEW)


def test_the_baseline_is_a_name_or_a_path(runs: list[Path]) -> None:
    assert compare(runs, FEW, baseline=runs[0]).baseline == 0
    one_more = compare([runs[1]], FEW, baseline=runs[0])
    assert (one_more.names, one_more.baseline) == (("base", "new"), 0)
    with pytest.raises(SourceError, match=r"the baseline best is neither one of the runs \(base, new\) nor a path"):
        compare(runs, FEW, baseline="best")


def test_calibrations_need_references_and_the_name_of_a_run(runs: list[Path]) -> None:
    with pytest.raises(SourceError, match="give both calibrations"):
        compare(runs, FEW, calibrations=[runs[0]])
    with pytest.raises(SourceError, match=r"no run has the name of the calibration other; the runs are: base, new"):
        compare(runs, FEW, calibrations=[f"other={runs[0]}"], references=runs[0])


def test_data_frame_is_the_leaderboard_best_run_first(runs: list[Path]) -> None:
    pytest.importorskip("pandas")
    result = compare(runs, FEW)
    frame = result.to_dataframe()
    assert list(frame["run"]) == ["new", "base"]
    assert list(frame["clean_rate"]) == [0.8, 0.5]
    assert list(frame["clean_rate_n"]) == [10, 10]


@pytest.mark.parametrize("changes", [{"level": nan}, {"level": inf}, {"margin": nan}, {"margin": 1.0}])
def test_numbers_out_of_their_range_are_refused(runs: list[Path], changes: dict[str, float]) -> None:
    with pytest.raises(OptionError, match=f"{next(iter(changes))} must be above 0 and below 1"):
        compare(runs, ComparisonConfig(resamples=20, **changes))  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="seed must be at least 0, not -1"):
        compare(runs, ComparisonConfig(resamples=20, seed=-1))
