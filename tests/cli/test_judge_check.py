"""`robogaze judge-check`: any judge against people's ratings."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from stub_server import Body, Reply, Stub, running, text_of

from cli.running import Shell
from robogaze.judges.offline import data_folder

PEOPLE = [0.0, 0.2, 0.6, 1.0]


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    lines = [
        {"reference": f"Fault {number}", "prediction": "It falls.", "similarity": rated, "kind": "made up"}
        for number, rated in enumerate(PEOPLE)
    ]
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def answer(rating: int) -> dict[str, Any]:
    return {"rationale": "so", "event_faithfulness": rating, "specificity": rating, "causal_correctness": rating}


def test_the_offline_judge_is_measured_by_default(robogaze: Shell) -> None:
    ran = robogaze("judge-check", data_folder() / "pairs.jsonl", "--split", "held_out", "--json")
    assert ran.code == 0
    found = json.loads(ran.out)
    stored = yaml.safe_load((data_folder() / "fitted.yaml").read_text())["held_out"]
    assert found["schema_version"] == 1
    assert found["judge"]["name"] == "offline"
    assert (found["pairs"], found["units"], found["unscored"]) == (stored["pairs"], stored["events"], 0)
    for name in ("pearson", "spearman", "mean_absolute_error"):
        assert {key: found[name][key] for key in stored[name]} == pytest.approx(stored[name], abs=1e-3)
    assert found["stability"] is None
    measured, kept = found["auc_other_object"], stored["auc_other_object"]
    assert measured["value"] == pytest.approx(kept["value"], abs=1e-3)
    assert (measured["low"], measured["high"]) == pytest.approx((kept["low"], kept["high"]), abs=0.02), (
        "other resamples"
    )
    assert found["kinds"]["paraphrase"]["rated"] > 0.9


def test_the_output_says_ratings_because_the_raters_are_unknown(robogaze: Shell) -> None:
    out = robogaze("judge-check", data_folder() / "pairs.jsonl", "--split", "held_out").out
    table = out[: out.index("The offline judge gives")]
    assert "offline against pairs.jsonl" in table
    assert "AUC, the same event against the same type on another object" in table
    assert "people" not in table


def test_without_pairs_of_both_kinds_there_is_no_auc(robogaze: Shell, pairs: Path) -> None:
    assert "auc_other_object" not in json.loads(robogaze("judge-check", pairs, "--json").out)
    assert "AUC, the same event" not in robogaze("judge-check", pairs).out


def test_two_runs_print_the_same_bytes(robogaze: Shell, pairs: Path) -> None:
    assert robogaze("judge-check", pairs).out == robogaze("judge-check", pairs).out


def test_the_table_shows_every_measure_and_the_judges_note(robogaze: Shell, pairs: Path) -> None:
    ran = robogaze("judge-check", pairs, "--repeats", "2")
    for said in ("Pearson", "Spearman", "mean absolute error", "changed over 2 repeats", "unscored", "made up"):
        assert said in ran.out
    assert "asks no model" in ran.out


def test_a_table_is_a_judge_and_missing_pairs_are_counted(robogaze: Shell, pairs: Path, tmp_path: Path) -> None:
    table = tmp_path / "own.jsonl"
    lines = [
        {"clip_id": "", "reference_id": str(number), "prediction_id": str(number), "similarity": similarity}
        for number, similarity in ((1, 0.1), (2, 0.3), (3, 0.7))
    ]
    table.write_text("".join(json.dumps(line) + "\n" for line in lines))
    ran = robogaze("judge-check", pairs, "--judge", f"table:{table}", "--json")
    assert ran.code == 4
    assert "1 unscored pair; reason for the first pair, 'Fault 3': own.jsonl does not hold the pair" in ran.err
    found = json.loads(ran.out)
    assert (found["pairs"], found["unscored"]) == (4, 1)
    assert found["mean_difference"]["value"] == pytest.approx(0.1)
    assert found["pearson"]["value"] == pytest.approx(1)


def test_ratings_that_change_between_repeats_are_measured(robogaze: Shell, pairs: Path) -> None:
    """The first two pairs get other ratings each time they are asked about."""
    times: dict[str, int] = {}

    def behave(body: Body) -> Reply:
        text = text_of(body)
        times[text] = times.get(text, 0) + 1
        wavers = '"Fault 0"' in text or '"Fault 1"' in text
        return Reply(content=json.dumps(answer(times[text] if wavers else 4)))

    with running(Stub(behave=behave)) as url:
        arguments = ("judge-check", pairs, "--judge", f"openai:stub@{url}", "--repeats", "3", "--json")
        first = robogaze(*arguments)
        assert set(times.values()) == {3}, "each pair is asked about three times"
        assert robogaze(*arguments).out == first.out, "and not again when all is known"
        assert set(times.values()) == {3}
    stability = json.loads(first.out)["stability"]
    assert stability["repeats"] == 3
    assert stability["changed"]["value"] == 0.5
    assert stability["spread"]["value"] == pytest.approx(0.2 / 2)


def test_axes_are_scored_with_the_named_rubric(robogaze: Shell, tmp_path: Path) -> None:
    pairs, script = tmp_path / "pairs.jsonl", tmp_path / "script.yaml"
    pairs.write_text('{"reference": "a", "prediction": "b", "axes": {"same_behaviour": 2}}\n')
    script.write_text(yaml.safe_dump([{"reply": {"rationale": "so", "same_behaviour": 3}}]))
    ran = robogaze("judge-check", pairs, "--judge", f"scripted:{script}", "--rubric", "glide", "--json")
    found = json.loads(ran.out)
    assert found["mean_difference"]["value"] == pytest.approx(0.2)
    assert found["judge"]["name"].endswith("by glide")
    assert robogaze("judge-check", pairs).code == 1


def test_a_malformed_line_stops_it_with_file_line_and_key(robogaze: Shell, pairs: Path) -> None:
    pairs.write_text(pairs.read_text() + '{"reference": "a", "prediction": "b", "similarty": 1}\n')
    ran = robogaze("judge-check", pairs)
    assert (ran.code, ran.out) == (1, "")
    assert "pairs.jsonl:5: similarty: unknown key" in ran.err


def test_an_unreachable_server_sets_the_exit_code(robogaze: Shell, pairs: Path) -> None:
    with running(Stub()) as url:
        pass
    assert robogaze("judge-check", pairs, "--judge", f"openai:stub@{url}").code == 5
