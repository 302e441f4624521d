"""`agree` as a library function: annotations from paths or loaded values."""

import pytest

from agreement.annotators import DEMO, demo_annotators
from robogaze.agreement import AgreementConfig, agree, agree_async
from robogaze.annotations import SourceError
from robogaze.reports import load_reports

FEW = AgreementConfig(resamples=20)


def test_loaded_annotations_of_several_annotators_are_compared() -> None:
    result = agree(demo_annotators(["ann", "bob", "cid"]), FEW)
    assert result.annotation_set.annotators == ("ann", "bob", "cid")
    assert len(result.pairs) == 3
    assert result.overall.clips == 10


def test_a_name_renames_the_only_annotator_of_a_source() -> None:
    result = agree({"ann": DEMO, "bob": load_reports(DEMO)}, FEW)
    assert result.annotation_set.annotators == ("ann", "bob")
    assert result.overall.tiou.value == 1.0
    with pytest.raises(SourceError, match="annotations by ann, bob, but the name zoe can stand for only one annotator"):
        agree({"zoe": demo_annotators(["ann", "bob"])}, FEW)


def test_no_annotations_are_refused() -> None:
    with pytest.raises(SourceError, match="no annotations are given"):
        agree([], FEW)


async def test_inside_an_event_loop_both_twins_give_the_same() -> None:
    awaited = await agree_async({"ann": DEMO, "bob": DEMO}, FEW)
    assert awaited.overall.events_matched.value == 1.0
    blocking = agree({"ann": DEMO, "bob": DEMO}, FEW)
    assert repr(blocking.overall) == repr(awaited.overall)


def test_data_frame_has_a_row_per_group_and_measure() -> None:
    pytest.importorskip("pandas")
    result = agree(demo_annotators(["ann", "bob"]), FEW)
    frame = result.to_dataframe()
    assert set(frame["group"]) == {"all", "dataset", "dimension", "pair"}
    (row,) = frame[(frame["group"] == "all") & (frame["measure"] == "tiou")].to_dict("records")
    assert (row["value"], row["n"]) == (result.overall.tiou.value, result.overall.tiou.n)
