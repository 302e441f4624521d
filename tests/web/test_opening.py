"""Which clips are opened."""

from pathlib import Path
from typing import Any

import pytest
from making import make_clip

from robogaze.core.coverage import all_examined
from robogaze.core.report import Report
from robogaze.datasets import ManifestEntry, file_sha256
from robogaze.domains import Domain
from robogaze.errors import InputError, OptionError
from robogaze.store import ManifestLine, RunFolder
from robogaze.web.annotation_store import AnnotationStore
from robogaze.web.opening import AnnotationOptions, clips_of_run, open_annotator
from web.serving import NOON, opened
from web.test_calibration_feedback import key_event


def test_clips_that_cannot_be_read_are_left_out_and_named(
    entries: list[ManifestEntry], store: AnnotationStore, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.mp4"
    bad.write_bytes(b"no video")
    missing = ManifestEntry(path=tmp_path / "missing.mp4")
    given = [*entries, ManifestEntry(path=bad, clip_id="bad"), missing]
    found = open_annotator(given, store, AnnotationOptions(("ann",), "robot"), lambda: NOON)
    assert found.annotator.entries.keys() == {"cup", "pot", "lid"}
    assert [entry.path.name for entry in found.unreadable] == ["bad.mp4", "missing.mp4"]


def test_clips_of_which_none_can_be_read_are_an_error(store: AnnotationStore, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none of the 1 clips can be read; run robogaze dataset check to see why"):
        opened([ManifestEntry(path=tmp_path / "missing.mp4")], store)
    assert store.settings() == {}, "another domain may be chosen"


@pytest.mark.parametrize("option", ["start", "calibration"])
def test_annotations_that_cannot_be_read_leave_the_taxonomy_open(
    entries: list[ManifestEntry], store: AnnotationStore, tmp_path: Path, option: str
) -> None:
    given: dict[str, Any] = {option: tmp_path / "missing.json"}
    with pytest.raises(InputError):
        opened(entries, store, **given)
    assert store.settings() == {}, "another domain may be chosen"


def test_clips_that_share_a_stem_get_ids_by_their_content(entries: list[ManifestEntry], store: AnnotationStore) -> None:
    twice = [entry.with_(clip_id=None) for entry in entries[:2]]
    assert len(opened(twice, store).entries) == 2


def test_a_run_is_reviewed_with_its_own_clips(
    video: Path, robot: Domain, store: AnnotationStore, tmp_path: Path
) -> None:
    content = file_sha256(video)
    line = ManifestLine(clip_id="cup", path=str(video), sha256=content, instruction="Lift it", checkpoint="step-9000")
    report = Report(
        clip=make_clip(id="cup", sha256=content),
        domain=robot.ref,
        pipeline="pixels",
        author="model",
        coverage=all_examined(robot.dimensions, "examined"),
        events=(key_event("m1", 0.5, 1.0),),
    )
    with RunFolder(tmp_path / "run", {}) as run:
        run.add(line)
        run.write(report, {})
    annotator = opened(clips_of_run(tmp_path / "run"), store, review=tmp_path / "run")
    shown = annotator.clip("ann", "cup")
    assert (annotator.review, shown["instruction"]) == ("run", "Lift it")
    assert [event["id"] for event in shown["review"]["events"]] == ["m1"]


def test_a_folder_that_is_no_run_needs_its_clips_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="robogaze annotate CLIPS --review"):
        clips_of_run(tmp_path)


def test_a_store_is_of_one_taxonomy(entries: list[ManifestEntry], store: AnnotationStore) -> None:
    opened(entries, store)
    with pytest.raises(InputError, match=r"use another taxonomy than game.*\(robot\)"):
        opened(entries, store, domain="game")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"annotators": ("ann", "ann")}, "must differ from each other"),
        ({"annotators": ("ann",), "per_clip": 2}, "must be from 1 to 1, the number"),
        ({"annotators": ("ann",), "sample": 3}, "`sample` needs `review`"),
        ({"annotators": ("ann",), "review": Path(), "start": Path()}, "`review` cannot be used with"),
    ],
)
def test_options_that_contradict_each_other_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        AnnotationOptions(domain="robot", **options)  # type: ignore[arg-type]
