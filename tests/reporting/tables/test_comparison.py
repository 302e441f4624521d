"""A comparison as tables and as JUnit XML."""

import json
from xml.etree import ElementTree

import pytest
from checkpoints import ALL, PIXELS, clean_and_faulty, event, run, without_a_model
from checkpoints import annotation as account

from robogaze.comparison import Comparison, ComparisonConfig, GateCheck
from robogaze.comparison import compare_runs as compare
from robogaze.comparison import pair_calibration as calibration
from robogaze.core.estimate import Estimate
from robogaze.reporting.serialize import comparison_json, gate_junit
from robogaze.reporting.tables import FORMS, ResultTable
from robogaze.reporting.tables.comparison import comparison_tables

CHECKS = (GateCheck("unscored", "new", False, "3 % <too> many"), GateCheck("no_new_types", "new", True, "none"))


def compared(*signs: str, resamples: int = 200) -> Comparison:
    return compare(
        [clean_and_faulty(f"r{at}", sign) for at, sign in enumerate(signs)], ComparisonConfig(resamples=resamples)
    )


def tables(result: Comparison) -> dict[str, ResultTable]:
    return {table.name: table for table in comparison_tables(result, CHECKS)}


def test_the_leaderboard_is_in_order_and_carries_the_verdict() -> None:
    result = compared("+---", "+++-")
    board = tables(result)["leaderboard"]
    assert [row[0] for row in board.rows] == ["r1", "r0"]
    assert board.notes[0] == result.verdict
    assert any(note == "Clips are paired by instruction." for note in board.notes)


def test_undecided_clips_bound_the_difference_of_a_pair() -> None:
    notes = tables(compared("+-", "+?"))["r1-r0-pair"].notes
    assert notes[1] == (
        "r1 against r0: the clean rates differ by +0.0 to +50.0 points, depending on the verdicts of the "
        "undecided or incomplete clips."
    )


def test_undecided_clips_bound_the_clean_rate() -> None:
    table = tables(compared("+?-~o"))["clips"]
    assert table.columns == (
        "run", "complete", "partial", "unscored", "unreadable", "missing", "undecided",
        "clean rate at worst", "as it is", "at best",
    )  # fmt: skip
    assert table.rows == (("r0", 3, 1, 1, 0, 0, 1, 0.2, 0.2, 0.8),)
    assert table.notes == (
        "Undecided: complete clips that are neither faulty nor clean.",
        "At worst, all undecided or incomplete clips are faulty, and so are unreadable or missing clips. At best, all "
        "of these clips count for the clean rate, except clips with a found event.",
    )


def test_undecided_clips_are_shown_beside_a_nothing_found_rate_that_they_leave_as_it_is() -> None:
    runs = [without_a_model(name, signs) for name, signs in (("r0", "++-?"), ("r1", "+++?"))]
    found = {table.name: table for table in comparison_tables(compare(runs, ComparisonConfig(resamples=20)))}
    assert found["clips"].rows == (
        ("r1", 3, 0, 1, 0, 0, 3, 0.75, 0.75, 1.0),
        ("r0", 3, 0, 1, 0, 0, 2, 0.5, 0.5, 0.75),
    )
    assert found["clips"].notes == (
        "Undecided: complete clips that are neither faulty nor clean. The nothing-found rate counts "
        "undecided clips, because nothing was found in them.",
        "At worst, all incomplete clips are faulty, and so are unreadable or missing clips. At best, all of these "
        "clips count for the nothing-found rate, except clips with a found event.",
    )
    assert found["r1-r0-pair"].notes[1].endswith("depending on the verdicts of the incomplete clips.")


def test_without_a_model_every_table_speaks_of_a_nothing_found_rate() -> None:
    runs = [without_a_model(f"step_{n}000", signs) for n, signs in enumerate(("+---", "++--", "+++-"), start=1)]
    found = {table.name: table for table in comparison_tables(compare(runs, ComparisonConfig(resamples=20)))}
    assert found["leaderboard"].columns[3] == "nothing-found rate"
    assert any(note.startswith("Nothing was found in a clip if it is complete and has no event. "
                               "Examined in every complete clip: colour.")
               for note in found["leaderboard"].notes)  # fmt: skip
    assert found["clips"].columns[-3] == "nothing-found rate at worst"
    assert found["trend"].rows[0][0] == "nothing_found_rate"
    assert found["step_2000-step_1000-pair"].rows[0][0] == "nothing_found_rate"
    assert "clean rate" not in "".join(FORMS["markdown"](table) for table in found.values())


def test_json_names_the_rate_and_its_dimensions() -> None:
    written = comparison_json(compared("+-o", "+-?"))
    assert written["schema_version"] == 2
    assert written["rate"] == {"key": "clean_rate", "name": "clean rate", "dimensions": None}
    first, second = written["runs"]
    assert (first["undecided"], second["undecided"]) == (1, 0)
    assert first["rate_bounds"] == {"worst": pytest.approx(1 / 3), "best": pytest.approx(2 / 3)}
    assert first["clean_rate"]["value"] == pytest.approx(1 / 3)
    assert written["pairs"][0]["measures"].keys() >= {"clean_rate", "events_per_clip"}


def test_json_of_runs_without_a_model_has_a_nothing_found_rate_and_no_clean_rate() -> None:
    labels = [run(name, *(account(f"c{at}", coverage=what) for at in range(40)))
              for name, what in (("said", PIXELS), ("true", ALL))]  # fmt: skip
    runs = [without_a_model(f"step_{n}000", signs) for n, signs in enumerate(("+---", "++--", "+++-"), start=1)]
    sample = calibration(*labels, runs, mixed=False)
    written = comparison_json(compare(runs, ComparisonConfig(resamples=20), sample=sample))
    assert written["rate"] == {"key": "nothing_found_rate", "name": "nothing-found rate", "dimensions": ["colour"]}
    assert [run["nothing_found_rate"]["value"] for run in written["runs"]] == [0.25, 0.5, 0.75]
    assert written["runs"][0]["rate_bounds"] == {"worst": 0.25, "best": 0.25}
    assert written["runs"][0]["undecided"] == 1
    for part in (
        *written["runs"],
        written["trend"]["per_1000_steps"],
        written["pairs"][0]["measures"],
        written["runs"][0]["calibrated"],
    ):
        assert "nothing_found_rate" in part
        assert "clean_rate" not in part


def test_every_pair_has_its_differences_and_its_flips() -> None:
    found = tables(compared("+-", "-+", "++"))
    assert {name for name in found if name.endswith(("-pair", "-flips", "-in-what"))} == {
        f"{pair}-{what}" for pair in ("r1-r0", "r2-r0", "r2-r1") for what in ("pair", "flips", "in-what")
    }
    (flip,) = found["r2-r0-flips"].rows
    assert flip[:5] == ("p1", "fixed", "", "colour_shift (3)", "3 -> 0")


def test_the_smallest_p_is_first() -> None:
    runs = [clean_and_faulty("a", "-" * 9, "shape_hole"), clean_and_faulty("b", "-" * 8 + "+", "shape_hole")]
    changed = run("b", *list(runs[1].annotations.values())[:-1], account("b-p8", event("colour_cast")))
    rows = {
        table.name: table for table in comparison_tables(compare([runs[0], changed], ComparisonConfig(resamples=50)))
    }["b-a-in-what"].rows
    assert [row[0] for row in rows] == ["dimension colour", "dimension shape", "type colour_cast", "type shape_hole"]
    whole = compare(
        [clean_and_faulty("a", "+" * 9), clean_and_faulty("b", "-" * 9, "shape_hole")], ComparisonConfig(resamples=50)
    )
    first = {table.name: table for table in comparison_tables(whole)}["b-a-in-what"].rows[0]
    assert first[0] == "dimension shape"


def test_a_trend_is_per_thousand_steps_and_from_first_to_last() -> None:
    signs = {"step_1000": "+---", "step_2000": "++--", "step_3000": "+++-"}
    runs = [clean_and_faulty(name, sign) for name, sign in signs.items()]
    found = {table.name: table for table in comparison_tables(compare(runs, ComparisonConfig(resamples=100)))}["trend"]
    assert found.title == "Trend over the steps 1,000, 2,000, 3,000"
    _, slope, whole = found.rows[0]
    assert isinstance(slope, Estimate)
    assert isinstance(whole, Estimate)
    assert (slope.value, whole.value) == (pytest.approx(0.25), pytest.approx(0.5))


def test_few_prompts_give_a_warning() -> None:
    for signs, warned in (("+-", True), ("+-" * 30, False)):
        notes = tables(compared(signs, signs, resamples=20))["leaderboard"].notes
        assert any(f"share {len(signs)} prompts; below 60" in note for note in notes) is warned


def test_json_has_no_number_that_is_not_one() -> None:
    written = json.dumps(comparison_json(compared("??", "+-"), CHECKS), allow_nan=False)
    assert json.loads(written)["gate"]["checks"][0] == {
        "rule": "unscored", "run": "new", "passed": False, "message": "3 % <too> many"
    }  # fmt: skip


def test_a_build_server_reads_a_case_for_every_check() -> None:
    suites = ElementTree.fromstring(gate_junit(CHECKS).encode())
    assert (suites.tag, suites.attrib["tests"], suites.attrib["failures"]) == ("testsuites", "2", "1")
    failed, passed = suites.iter("testcase")
    assert (failed.attrib["classname"], failed.attrib["name"]) == ("gate.new", "unscored")
    assert failed[0].attrib["message"] == "3 % <too> many"
    assert [row.tag for row in passed] == ["system-out"]
