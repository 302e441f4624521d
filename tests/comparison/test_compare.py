"""`compare` as a library function: runs from paths or loaded reports."""

from math import inf, nan
from pathlib import Path

import pytest
from checkpoints import report, write_reports

from robogaze.annotations import SourceError
from robogaze.comparison import ComparisonConfig, compare
from robogaze.core.report import Unreadable
from robogaze.errors import OptionError
from robogaze.reports import load_reports
from robogaze.run.score import RunResult

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
