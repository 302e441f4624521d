"""`robogaze agree`."""

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from agreement.annotators import DEMO, demo_annotators

from cli.running import Shell
from robogaze.core.annotation import ClipAnnotation
from robogaze.reporting.serialize import annotations_csv

FEW = ("--resamples", 50)


@pytest.fixture
def annotators(tmp_path: Path) -> list[Path]:
    """Three annotators' files."""
    accounts = demo_annotators(["ann", "bob", "eve"])
    return [
        write(tmp_path / f"{name}.csv", [account for account in accounts if account.author == name])
        for name in ("ann", "bob", "eve")
    ]


def write(path: Path, accounts: list[ClipAnnotation]) -> Path:
    path.write_text(annotations_csv(accounts))
    return path


def agreement(robogaze: Shell, *arguments: Any) -> dict[str, Any]:
    ran = robogaze("agree", *arguments, *FEW, "--json")
    assert ran.code == 0, ran.err
    found: dict[str, Any] = json.loads(ran.out)
    return found


def test_tables_are_data_and_carry_their_judge(robogaze: Shell, annotators: list[Path]) -> None:
    ran = robogaze("agree", *annotators, *FEW)
    assert (ran.code, ran.err) == (0, "")
    for said in ("Agreement of 3 annotators on 10 clips", "detection kappa", "Human ceiling",
                 "To be settled by a person", "The offline judge gives the similarities"):  # fmt: skip
        assert said in " ".join(ran.out.split())


def test_json_holds_the_numbers(robogaze: Shell, annotators: list[Path]) -> None:
    found = agreement(robogaze, *annotators)
    assert found["annotators"] == ["ann", "bob", "eve"]
    assert found["overall"]["tiou"]["low"] < found["overall"]["tiou"]["value"] < found["overall"]["tiou"]["high"]
    assert (found["resamples"], found["match"], found["by"]) == (50, "iou*similarity", "split")


@pytest.mark.parametrize("option", ["--by", "--units"])
def test_a_field_that_no_annotation_has_is_refused(option: str, robogaze: Shell, annotators: list[Path]) -> None:
    ran = robogaze("agree", *annotators, *FEW, option, "typo")
    assert (ran.code, "no annotation has the field typo; fields: embodiment, split" in ran.err) == (1, True), ran.err


def test_one_file_by_several_annotators_is_the_same_as_a_file_for_each(
    robogaze: Shell, annotators: list[Path], tmp_path: Path
) -> None:
    together = write(tmp_path / "all.csv", demo_annotators(["ann", "bob", "eve"]))
    assert robogaze("agree", together, *FEW, "--json").out == robogaze("agree", *annotators, *FEW, "--json").out


def test_an_annotator_without_a_name_has_that_of_the_file(robogaze: Shell, tmp_path: Path) -> None:
    accounts = [replace(annotation, author="") for annotation in demo_annotators(["ann"])]
    paths = [write(tmp_path / f"{name}.csv", accounts) for name in ("zoe", "max")]
    assert agreement(robogaze, *paths)["annotators"] == ["max", "zoe"]


def test_names_distinguish_two_files_by_one_author(robogaze: Shell) -> None:
    ran = robogaze("agree", DEMO, DEMO)
    assert ran.code == 1
    assert "robogaze agree ANN=FILE BOB=FILE" in ran.err
    assert agreement(robogaze, f"ann={DEMO}", f"bob={DEMO}")["annotators"] == ["ann", "bob"]


def test_one_annotator_has_no_agreement_and_the_exit_code_says_so(robogaze: Shell, annotators: list[Path]) -> None:
    ran = robogaze("agree", annotators[0], *FEW)
    assert ran.code == 1
    assert "Undefined where no clip has two annotators: overall." in ran.out
    assert "Left out, because only one annotator examined the clip: 10 clips" in ran.out
    assert "all annotations are by ann; give a second file with annotations by another annotator" in ran.err


def test_annotators_of_other_clips_have_no_agreement(robogaze: Shell, tmp_path: Path) -> None:
    accounts = demo_annotators(["ann", "bob"])
    first = min(account.clip_id for account in accounts)
    paths = [
        write(
            tmp_path / f"{name}.csv",
            [account for account in accounts if (account.author, account.clip_id == first) == (name, early)],
        )
        for name, early in (("ann", True), ("bob", False))
    ]
    ran = robogaze("agree", *paths, *FEW, "--json")
    assert ran.code == 1
    assert json.loads(ran.out)["overall"]["tiou"]["value"] is None


def test_ratings_without_a_unit_rated_twice_have_no_agreement(robogaze: Shell, tmp_path: Path) -> None:
    votes = tmp_path / "votes.csv"
    votes.write_text("unit,annotator,label\n1,ann,bug\n2,bob,no\n")
    ran = robogaze("agree", "--ratings", votes, *FEW)
    assert (ran.code, "nothing could be computed: nothing was rated twice" in ran.err) == (1, True)


def test_everything_is_written_and_settled_events_can_be_references(
    robogaze: Shell, annotators: list[Path], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    ran = robogaze("agree", *annotators, *FEW, "--out", out)
    assert ran.code == 0
    assert "agreement.json and consensus.csv" in ran.err
    names = {path.name for path in out.iterdir()}
    assert {"agreement.json", "consensus.csv", "agreement.csv", "queue.csv", "tables.tex"} <= names
    queue = json.loads((out / "agreement.json").read_text())["adjudication"]["queue"]
    with (out / "queue.csv").open(newline="") as file:
        assert len({row["event"] for row in csv.DictReader(file)}) == len(queue) > 0
    again = agreement(robogaze, out / "consensus.csv", annotators[0])
    assert again["counts"]["unfinished"]
    assert again["overall"]["clips"] == 10 - len(again["counts"]["unfinished"])


def test_a_terminal_shows_the_first_rows_of_a_long_queue(robogaze: Shell, tmp_path: Path) -> None:
    alone = [
        replace(annotation, clip_id=f"{annotation.clip_id}{number}")
        for number in range(3)
        for annotation in demo_annotators(["ann"])
    ]
    nobody = [replace(annotation, author="bob", findings=()) for annotation in alone]
    ran = robogaze("agree", write(tmp_path / "all.csv", [*alone, *nobody]), *FEW)
    events = sum(len(annotation.findings) for annotation in alone)
    assert f"To be settled by a person: {events} events" in ran.out
    assert f"Events not shown here: {events - 10}. Use --out DIR to write all events." in ran.out


def test_a_judgement_that_is_missing_is_unscored_and_the_exit_code_says_so(
    robogaze: Shell, annotators: list[Path], tmp_path: Path
) -> None:
    accounts = demo_annotators(["ann", "bob"])
    ids = {(account.clip_id, account.author): [finding.id for finding in account.findings] for account in accounts}
    lines = [
        {"clip_id": clip, "reference_id": f"ann/{one}", "prediction_id": f"bob/{other}", "similarity": 0.5}
        for (clip, author), found in ids.items() if author == "ann"
        for one in found for other in ids[clip, "bob"]
    ]  # fmt: skip
    table = tmp_path / "judged.jsonl"
    table.write_text("".join(json.dumps(line) + "\n" for line in lines))
    ran = robogaze("agree", *annotators[:2], *FEW, "--judge", f"table:{table}", "--json")
    found = json.loads(ran.out)
    # One direction is enough for agreement; the ceiling scores both annotators and wants both.
    assert found["overall"]["description_similarity"]["value"] == 0.5
    assert found["counts"]["failed_judgements"] == 0
    assert found["human_ceiling"]["annotations_with_failed_judgements"] > 0
    assert ran.code == 4


def test_what_cannot_be_read_is_named(robogaze: Shell, annotators: list[Path], tmp_path: Path) -> None:
    gone = robogaze("agree", tmp_path / "gone.csv", annotators[0])
    assert (gone.code, "gone.csv does not exist" in gone.err) == (2, True)
    annotators[1].write_text(annotators[1].read_text().replace("complete", "completed", 1))
    ran = robogaze("agree", *annotators)
    assert (ran.code, "bob.csv:2: status" in ran.err) == (1, True)


def test_labels_of_two_taxonomies_are_compared_only_on_request(robogaze: Shell, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    lines = [json.loads(line) for line in DEMO.read_text().splitlines()]
    for line in lines:
        line["domain"]["taxonomy"] = "0" * 64
    other.write_text("".join(json.dumps(line) + "\n" for line in lines))
    ran = robogaze("agree", f"ann={DEMO}", f"bob={other}")
    assert (ran.code, "--mixed" in ran.err) == (1, True)
    assert agreement(robogaze, f"ann={DEMO}", f"bob={other}", "--mixed")["overall"]["tiou"]["value"] == 1.0


def test_ratings_are_another_kind_of_input(robogaze: Shell, tmp_path: Path) -> None:
    votes = tmp_path / "votes.csv"
    rows = [f"{unit},{name},{'bug' if (unit + (name == 'eve' and unit == 3)) % 2 else 'no'}"
            for unit in range(10) for name in ("ann", "bob", "eve")]  # fmt: skip
    votes.write_text("\n".join(["unit,annotator,label", *rows]))
    ran = robogaze("agree", "--ratings", votes, *FEW, "--out", tmp_path / "out")
    assert ran.code == 0
    assert "Agreement of 3 annotators on labels" in ran.out
    assert (tmp_path / "out" / "ratings.csv").read_text().startswith("label,Krippendorff's alpha,")
    found = json.loads(robogaze("agree", "--ratings", votes, *FEW, "--json").out)
    assert (found["overall"]["n"], found["per_label"].keys()) == (10, {"bug", "no"})


@pytest.mark.parametrize("arguments", [(), ("--ratings", "votes.csv", "ann.csv"), ("ann.csv", "--match", "words")])
def test_invalid_options_are_a_usage_error(robogaze: Shell, arguments: tuple[str, ...]) -> None:
    assert robogaze("agree", *arguments).code == 2
