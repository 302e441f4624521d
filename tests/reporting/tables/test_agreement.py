"""The agreement of annotators in tables, in JSON, and as a table of accounts that can be read again."""

import csv
import io
import json
from pathlib import Path

import pytest
from agreement.annotators import WordJudge, demo_annotators, event, looked_for
from agreement.annotators import annotation as account

from robogaze.agreement import AgreementConfig, AgreementResult, AnnotationSet, agree_on_ratings
from robogaze.agreement import measure_agreement as agree
from robogaze.agreement.ratings import Ratings
from robogaze.core.annotation import ClipAnnotation
from robogaze.datasets.formats.read import read_annotations
from robogaze.metrics.scores import METRICS
from robogaze.reporting.serialize import agreement_json, annotations_csv, ratings_json
from robogaze.reporting.tables import ResultTable, cell_text, table_files
from robogaze.reporting.tables.agreement import agreement_tables, ratings_table


async def result(*accounts: ClipAnnotation) -> AgreementResult:
    return await agree(AnnotationSet.of(accounts), WordJudge(), AgreementConfig(resamples=100))


async def tables(*accounts: ClipAnnotation) -> dict[str, ResultTable]:
    return {table.name: table for table in agreement_tables(await result(*accounts))}


async def test_the_first_table_holds_the_five_numbers_of_the_paper_and_what_they_must_not_be_read_without() -> None:
    found = (await tables(*demo_annotators(["ann", "bob"])))["agreement"]
    assert found.title == "Agreement of 2 annotators on 10 clips"
    assert found.columns == (
        "dataset", "clips", "events", "detection kappa", "dimension kappa", "tIoU", "severity alpha",
        "description similarity",
    )  # fmt: skip
    assert [row[0] for row in found.rows] == ["overall"]
    notes = "\n".join(found.notes)
    for said in ("ann and bob", "Both kappas are Cohen's kappa", "see the measure 'events matched'", "iou*similarity",
                 "95% percentile", "seed 0", "Judge words: Counts words."):  # fmt: skip
        assert said in notes


async def test_datasets_have_rows_where_there_are_several() -> None:
    def seen(author: str, clip: str, split: str) -> ClipAnnotation:
        return account(author, clip, event(0, 4), fields={"split": split} if split else {})

    found = await tables(
        *(seen(name, clip, split) for name in ("ann", "bob") for clip, split in (("a", "sim"), ("b", "")))
    )
    assert [row[0] for row in found["agreement"].rows] == ["overall", "(none given)", "sim"]
    assert [row[0] for row in found["human-ceiling-rows"].rows] == [
        "all",
        "(none given)",
        "sim",
        "annotator ann",
        "annotator bob",
    ]


async def test_three_annotators_have_a_table_of_pairs_and_the_mean_of_cohens_kappas() -> None:
    found = await tables(*demo_annotators(["ann", "bob", "eve"]))
    assert [row[0] for row in found["by-pair"].rows] == ["ann - bob", "ann - eve", "bob - eve"]
    assert found["further"].columns[-2:] == ("detection, mean Cohen", "dimension, mean Cohen")
    assert "Detection kappa is Fleiss' kappa" in "\n".join(found["agreement"].notes)
    two = await tables(*demo_annotators(["ann", "bob"]))
    assert "by-pair" not in two
    assert two["further"].columns[-1] == "timeline alpha"


async def test_the_ceiling_has_the_metrics_of_a_system() -> None:
    found = await tables(*demo_annotators(["ann", "bob", "eve"]))
    assert [row[0] for row in found["human-ceiling"].rows] == [metric.title for metric in METRICS.values()]
    assert "more than half" in "\n".join(found["human-ceiling"].notes)


async def test_an_undefined_number_has_its_reason() -> None:
    found = await tables(account("ann", "a"), account("bob", "a"))
    assert [cell_text(cell) for cell in found["agreement"].rows[0]][3:5] == ["undefined, n=1", "undefined, n=0"]
    assert found["agreement"].notes[-2:] == (
        "Undefined where all ratings are the same, so agreement cannot be distinguished from chance: overall.",
        "Undefined where nobody reports an event: overall.",
    )


async def test_without_anything_to_compare_there_is_one_table() -> None:
    found = await tables(account("ann", "a", event(0, 4)), account("bob", "b"))
    assert found.keys() == {"agreement"}
    assert found["agreement"].notes == (
        "Left out, because only one annotator examined the clip: 2 clips (a, b).",
        "Undefined where no clip has two annotators: overall.",
    )


async def test_what_is_left_out_is_in_the_notes() -> None:
    unreadable = [account("ann", "a", event(0, 4, "unreadable")), account("bob", "a", event(0, 4), duration_s=10.0)]
    narrow = [account("ann", "b", event(0, 4, dimension="y")), account("bob", "b", coverage=looked_for("x"))]
    nothing = [account(name, "c", coverage=looked_for(name, among=("ann", "bob"))) for name in ("ann", "bob")]
    timeless = [account(name, "d", duration_s=None) for name in ("ann", "bob")]
    more = [account("ann", "e"), account("ann", "f", status="partial")]
    found = await tables(*unreadable, *narrow, *nothing, *timeless, *more)
    notes = "\n".join(found["agreement"].notes)
    for said in (
        "Left out, because only one annotator examined the clip: 1 clip (e).",
        "Left out, because the annotation is not complete: 1 clip (f by ann).",
        "Left out, because the annotators examined no dimension in common: 1 clip (c).",
        "1 event left out, because some annotators of the clip did not examine the dimension.",
        "Left out of timeline alpha, because the length is not known: 1 clip.",
        "1 pair of overlapping events without a judgement.",
        "1 matched pair without a judgement. Depending on these judgements, description similarity is between "
        "0.000 and 1.000.",
    ):
        assert said in notes
    rows = [row[0] for row in found["human-ceiling-rows"].rows]
    assert rows[-2:] == ["if all failed pairs were unrelated", "if all failed pairs were the same"]


async def test_the_queue_names_the_clip_the_reasons_and_the_events() -> None:
    found = (
        await tables(account("ann", "a", event(0, 8, severity=None)), account("bob", "a", event(0, 4, dimension="x")))
    )["queue"]
    assert found.title == "To be settled by a person: 1 event"
    assert found.rows == (
        (1, "a", "times overlap with an IoU of only 0.50", "ann", "0.00-8.00 s", None, None, "the cup falls"),
        (1, "a", "times overlap with an IoU of only 0.50", "bob", "0.00-4.00 s", "x", 3, "the cup falls"),
    )
    assert "0 events settled without a person" in found.notes[0]


async def test_every_table_can_be_written_in_every_form() -> None:
    """A CSV file for each, and all of them in one Markdown and one LaTeX file."""
    found = await tables(*demo_annotators(["ann", "bob", "eve"]))
    written = dict(table_files(list(found.values())))
    assert set(written) == {*(f"{name}.csv" for name in found), "tables.md", "tables.tex"}
    for name, table in found.items():
        rows = list(csv.reader(io.StringIO(written[f"{name}.csv"])))
        assert (rows[0][0], len(rows)) == (table.columns[0], 1 + len(table.rows)), name
        assert f"### {table.title}" in written["tables.md"]
        assert rf"\label{{tab:{name}}}" in written["tables.tex"]


async def test_json_holds_every_number_and_what_is_settled() -> None:
    written = json.loads(
        json.dumps(agreement_json(await result(*demo_annotators(["ann", "bob", "eve"]))), allow_nan=False)
    )
    assert written["schema_version"] == 1
    assert written["annotators"] == ["ann", "bob", "eve"]
    assert written["statistics"] == {"detection_kappa": "fleiss", "dimension_kappa": "krippendorff"}
    five = {"detection_kappa", "dimension_kappa", "tiou", "severity_alpha", "description_similarity"}
    for part in (
        written["overall"],
        written["per_dataset"]["demo"],
        written["per_dimension"]["visual_quality"],
        written["per_pair"][0],
    ):
        assert five <= part.keys()
        assert all({"value", "low", "high", "n"} <= part[name].keys() for name in five)
    assert written["human_ceiling"]["macro"].keys() == METRICS.keys()
    assert written["counts"]["clips"] == 10
    adjudication = written["adjudication"]
    assert adjudication["settled"] == sum(len(clip["events"]) for clip in adjudication["consensus"])
    assert {"clip_id", "reasons", "events"} == adjudication["queue"][0].keys()


async def test_settled_events_are_written_so_that_they_can_be_references(tmp_path: Path) -> None:
    found = (await result(*demo_annotators(["ann", "bob"]))).adjudication.annotations
    path = tmp_path / "consensus.csv"
    path.write_text(annotations_csv(found))
    read = {annotation.clip_id: annotation for annotation in read_annotations(path).annotations}
    assert read.keys() == {annotation.clip_id for annotation in found}
    for settled in found:
        again = read[settled.clip_id]
        assert (again.author, again.status, again.instruction) == ("consensus", settled.status, settled.instruction)
        assert (again.coverage, again.verdict) == (settled.coverage, settled.verdict)
        assert {
            (finding.id, finding.spans, finding.dimension, finding.type, finding.severity, finding.description)
            for finding in again.findings
        } == {
            (finding.id, finding.spans, finding.dimension, finding.type, finding.severity, finding.description)
            for finding in settled.findings
        }
        assert again.fields == settled.fields
        assert again.frame_times_s == pytest.approx(settled.frame_times_s)
        assert again.duration_s == settled.duration_s


async def test_a_consensus_about_some_dimensions_does_not_come_back_clean(tmp_path: Path) -> None:
    both = [account("ann", "a"), account("bob", "a", coverage=looked_for("x"))]
    path = tmp_path / "consensus.csv"
    path.write_text(annotations_csv((await result(*both)).adjudication.annotations))
    (one,) = read_annotations(path).annotations
    assert (one.coverage, one.verdict) == (looked_for("x"), "undecided")


def test_frames_at_no_constant_rate_have_no_place_in_that_table(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(annotations_csv([account("ann", "a", frame_times_s=(0.0, 0.1, 0.3), duration_s=0.4)]))
    (one,) = read_annotations(path).annotations
    assert (one.frame_times_s, one.duration_s) == (None, 0.4)


def test_ratings_are_a_table_and_json() -> None:
    units = {"1": ("bug", "bug", "bug"), "2": ("bug", "no", None), "3": ("no", "no", "no"), "4": (None, None, "no")}
    found = agree_on_ratings(Ratings(("ann", "bob", "eve"), units), resamples=100, seed=0, level=0.95)
    sheet = ratings_table(found, 0.95, 100, 0)
    assert [row[0] for row in sheet.rows] == ["all units", "bug", "no"]
    notes = "\n".join(sheet.notes)
    assert "1 unit of 4 left out: fewer than two ratings." in notes
    assert "1 unit with a tie: no single label is the most frequent." in notes
    written = ratings_json(found)
    assert (written["units"], written["units_rated_once"], written["units_tied"]) == (4, 1, 1)
    assert written["per_label"].keys() == {"bug", "no"}
