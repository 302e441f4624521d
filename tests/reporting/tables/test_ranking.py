"""A ranking as tables: reasons, clips without a rank, and the kept part."""

from pathlib import Path

from checkpoints import report, unscored
from making import coverage

from robogaze.ranking import rank
from robogaze.ranking.labels import Label
from robogaze.reporting.tables import cell_text
from robogaze.reporting.tables.ranking import ranking_tables, reason_of, screening_sentence


def clips() -> list[object]:
    names = {"a": {"shape_hole": 4, "colour_shift": 2, "shape_dent": 1, "colour_flash": 1}, "b": {}, "c": {}}
    return [report(name, kinds, prompt_id="p", instruction="Lift it.") for name, kinds in names.items()]


def test_reason_names_the_largest_risks_and_the_tie() -> None:
    (prompt,) = rank({"run": clips()}).prompts  # type: ignore[dict-item]
    tied, also, worst = prompt.ranked
    assert reason_of(tied) == "nothing found, every dimension covered; tied with c, ordered by clip id"
    assert reason_of(also).endswith("tied with b, ordered by clip id")
    assert reason_of(worst, {"shape_hole": "Hole"}) == (
        "Hole severity 4, confidence 0.90 (0.85), colour_shift severity 2, confidence 0.90 (0.10), "
        "shape_dent severity 1, confidence 0.90 (0.02), 1 more risk"
    )


def test_reason_names_what_was_not_judged() -> None:
    found = report("a", prompt_id="p", coverage=coverage(not_examined=["colour"], partial=["shape"]))
    (prompt,) = rank({"run": [found, report("b", prompt_id="p")]}).prompts
    assert reason_of(prompt.ranked[1]) == "1 dimension not examined (0.10), 1 dimension partially covered (0.05)"


def test_clips_without_a_rank_have_a_table_of_their_own() -> None:
    result = rank({"run": [*clips(), unscored("d", prompt_id="p")]})  # type: ignore[dict-item]
    ranking, unranked = ranking_tables(result)
    assert ranking.title == "2 of 4 candidates of 1 prompt kept, 1 clip without a rank"
    assert unranked.rows == (("p", "d", "run", "it is unscored: no dimension was examined"),)


def test_screening_has_a_row_for_each_measure_and_says_what_the_numbers_are(tmp_path: Path) -> None:
    labels = {name: Label(usable, not usable) for name, usable in (("a", False), ("b", True), ("c", True))}
    result = rank({"run": clips()}, keep=2, labels=labels)  # type: ignore[dict-item]
    *_, screening = ranking_tables(result)
    assert [row[0] for row in screening.rows] == [
        "usability", "number of events", "worst severity", "random", "oracle"
    ]  # fmt: skip
    assert screening.columns[1] == "P@2"
    assert cell_text(screening.rows[0][1]).startswith("1.000 [")
    assert "67% of 3 labelled candidates are usable" in screening.notes[0]
    assert result.screening is not None
    assert screening_sentence(result.screening).endswith("random 0.67, oracle 1.00")


def test_screening_names_the_first_prompts_without_labels_and_counts_the_others() -> None:
    pairs = [report(f"{prompt}{place}", prompt_id=prompt) for prompt in "abcde" for place in range(2)]
    result = rank({"run": pairs}, labels={"a0": Label(True, False), "a1": Label(True, False)})
    *_, screening = ranking_tables(result)
    assert "Left out: 4 prompts (b, c, d and 1 more), because of 8 candidates without a label." in screening.notes
