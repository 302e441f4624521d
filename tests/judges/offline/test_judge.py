"""The offline judge: what it gets right on sentences it was not made with, and that its figures are true."""

import json
import runpy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from judges.cases import pair, rate
from robogaze.errors import DomainError
from robogaze.judges.offline import FIT, HELD_OUT, OfflineJudge, data_folder, read_pairs

SCRIPT = Path(__file__).parents[3] / "scripts" / "research" / "fit_offline_judge.py"
STORED: dict[str, Any] = yaml.safe_load((data_folder() / "fitted.yaml").read_text())
LINES: list[dict[str, Any]] = [json.loads(line) for line in (data_folder() / "pairs.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def judge() -> OfflineJudge:
    return OfflineJudge.read()


# What it makes of new sentences.


ORDERED = [
    ("the left is not the right", "The left gripper drops the ring.", "The left gripper lets the ring fall.",
     "The right gripper drops the ring."),
    ("a denial is not the claim", "The left gripper drops the ring.", "The left gripper lets the ring fall.",
     "The left gripper does not drop the ring."),
    ("another colour", "The red ball passes through the fence.", "The red ball goes straight through the fence.",
     "The green ball passes through the fence."),
    ("another number", "The robot puts two bolts into the cup.", "Two bolts are placed in the cup by the robot.",
     "The robot puts three bolts into the cup."),
    ("another phase", "Before the grasp the lid opens by itself.", "The lid opens on its own before the grasp.",
     "After the grasp the lid opens by itself."),
    ("another fault of the thing", "The hand passes through the bowl.", "The gripper intersects the bowl.",
     "The hand grasps the bowl."),
    ("the opposite", "The bread knife vanishes from the board.", "The knife is no longer on the board.",
     "The bread knife stays on the board."),
    ("something else", "The bread knife vanishes from the board.", "The knife is no longer on the board.",
     "The camera shakes when the video begins."),
    ("the fault of something else", "A tree hovers above the lawn.", "The tree floats over the lawn.",
     "A wolf hovers above the roof."),
]  # fmt: skip


@pytest.mark.parametrize(("reference", "right", "wrong"), [row[1:] for row in ORDERED], ids=[row[0] for row in ORDERED])
def test_a_right_description_is_nearer_than_a_wrong_one(
    judge: OfflineJudge, reference: str, right: str, wrong: str
) -> None:
    near, far = rate(judge, [pair(reference, right), pair(reference, wrong)])
    assert near.similarity is not None
    assert far.similarity is not None
    assert near.similarity > far.similarity + 0.05


def test_none_of_these_sentences_is_among_its_pairs() -> None:
    known = {text for line in LINES for text in (line["reference"], line["prediction"])}
    assert not known & {text for row in ORDERED for text in row[1:]}


def test_the_same_words_rate_the_best_even_unknown_ones(judge: OfflineJudge) -> None:
    same = [("The cup falls.", "the cup falls"), ("Xyzzy plugh!", "Xyzzy plugh"), ("The lids open", "The lid opened.")]
    for judgement in rate(judge, [pair(one, other) for one, other in same]):
        assert judgement.similarity == 1
        assert set(judgement.axes.values()) == {5}


def test_the_side_that_is_the_reference_matters(judge: OfflineJudge) -> None:
    precise, vague = "The red cup falls off the left edge of the tray.", "Something falls."
    one, other = rate(judge, [pair(precise, vague), pair(vague, precise)])
    assert one.axes["specificity"] != other.axes["specificity"]


def test_the_similarity_is_the_mean_of_the_axes_over_5(judge: OfflineJudge) -> None:
    (judgement,) = rate(judge, [pair()])
    assert list(judgement.axes) == ["event_faithfulness", "specificity", "causal_correctness"]
    assert judgement.similarity == pytest.approx(sum(judgement.axes.values()) / 15, abs=1e-6)


def test_many_pairs_are_judged_in_parts_to_the_same_end(judge: OfflineJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [pair.pair for pair in read_pairs(data_folder(), FIT)[:50]]
    whole = rate(judge, pairs)
    monkeypatch.setattr("robogaze.judges.offline._AT_ONCE", 7)
    assert rate(judge, pairs) == whole


# Its pairs.


def test_there_are_pairs_of_every_kind_in_both_halves() -> None:
    assert len(LINES) >= 300
    kinds = {half: Counter(line["kind"] for line in LINES if line["split"] == half) for half in (FIT, HELD_OUT)}
    for wanted in ("paraphrase", "vaguer", "other fault", "other phase", "negated", "swapped roles", "unrelated"):
        assert min(kinds[FIT][wanted], kinds[HELD_OUT][wanted]) >= 5


def test_no_event_and_no_description_is_in_both_halves() -> None:
    for key in (("event",), ("reference", "prediction")):
        fit, held_out = (
            {line[name] for line in LINES if line["split"] == half for name in key} for half in (FIT, HELD_OUT)
        )
        assert fit
        assert not fit & held_out


def test_no_pair_is_listed_twice() -> None:
    pairs = Counter((line["reference"], line["prediction"]) for line in LINES)
    assert pairs.most_common(1)[0][1] == 1


# Its figures.


@pytest.fixture(scope="module")
def refitted() -> Any:
    return runpy.run_path(str(SCRIPT))["refit"](data_folder())


def test_fitting_again_gives_the_stored_weights(refitted: Any) -> None:
    assert refitted["axes"].keys() == STORED["axes"].keys()
    for name, axis in STORED["axes"].items():
        assert refitted["axes"][name]["intercept"] == pytest.approx(axis["intercept"], abs=0.002)
        assert refitted["axes"][name]["weights"] == pytest.approx(axis["weights"], abs=0.002)


def test_what_agrees_never_lowers_and_what_contradicts_never_raises() -> None:
    for axis in STORED["axes"].values():
        for name, weight in axis["weights"].items():
            assert (weight < 0) == name.endswith((".apart", ".against", ".other"))


def test_measuring_again_gives_the_stored_figures(refitted: Any) -> None:
    held_out = STORED["held_out"]
    assert (held_out["pairs"], held_out["events"]) == (
        sum(line["split"] == HELD_OUT for line in LINES),
        len({line["event"] for line in LINES if line["split"] == HELD_OUT}),
    )
    for name in ("pearson", "spearman", "mean_absolute_error", "pearson_unseen_words", "auc_other_object"):
        assert refitted["held_out"][name] == pytest.approx(held_out[name], abs=0.001)


def test_its_note_gives_its_measured_agreement(judge: OfflineJudge) -> None:
    found = STORED["held_out"]
    low, high = found["pearson"]["low"], found["pearson"]["high"]
    assert f"Pearson {found['pearson']['value']:.2f} [{low:.2f}, {high:.2f}]" in judge.note
    assert f"{found['pearson_unseen_words']['value']:.2f} if the words are new to the judge" in judge.note
    assert f"{found['pairs']} held-out pairs" in judge.note
    other = found["auc_other_object"]
    assert f"another object: AUC {other['value']:.2f} [{other['low']:.2f}, {other['high']:.2f}]" in judge.note
    assert "which the project wrote and rated (not a study with people)" in judge.note


def test_it_does_better_than_counting_words() -> None:
    assert STORED["held_out"]["pearson"]["low"] > 0.5
    assert STORED["held_out"]["pearson_unseen_words"]["low"] > 0.4


def test_other_data_is_another_judge(judge: OfflineJudge, tmp_path: Path) -> None:
    for path in data_folder().iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert OfflineJudge.read(tmp_path).identity == judge.identity
    fitted = tmp_path / "fitted.yaml"
    fitted.write_text(fitted.read_text().replace("  pairs:", "  # changed\n  pairs:"))
    assert OfflineJudge.read(tmp_path).identity != judge.identity
    fitted.write_text(fitted.read_text().replace("intercept", "intersept", 1))
    with pytest.raises(DomainError, match=r"fitted\.yaml:\d+: axes\.event_faithfulness\.intersept: unknown key"):
        OfflineJudge.read(tmp_path)
