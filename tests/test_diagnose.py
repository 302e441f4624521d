"""Opening a clip: the whole of a file, or a part of it, that holds what it is to hold."""

import asyncio
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from making import scripted
from media.videos import FPS, number_in, write

from robogaze.core.clip import Layout
from robogaze.core.view_boxes import picture_size
from robogaze.datasets import ManifestEntry
from robogaze.diagnose import content_sha256, diagnose, open_clip
from robogaze.domains import default_domain, load_domain
from robogaze.errors import VideoError
from robogaze.media import DecodedClip, decode_clip
from robogaze.stages.base import Stage
from robogaze.stages.client import ModelClient
from robogaze.stages.context import Context, Slot
from robogaze.stages.pipeline import Pipeline


@pytest.fixture
def video(tmp_path: Path) -> Path:
    """Two seconds whose every picture carries its number."""
    return write(tmp_path / "all.mp4", 32, codec_options={"g": "8"})


@pytest.fixture
def pixels() -> Pipeline:
    """A pipeline that asks no model."""
    return Pipeline.build(load_domain(default_domain()), "pixels")


def test_a_part_is_reported_on_as_a_clip_of_its_own(video: Path, pixels: Pipeline) -> None:
    with open_clip(ManifestEntry(path=video, start_s=0.5, end_s=1.5, prompt_id="7"), pixels, models=None) as opened:
        clip = asyncio.run(diagnose(opened, pixels)).clip
    assert (clip.start_s, clip.end_s, clip.duration_s, clip.frame_count) == (0.5, 1.5, 1.0, 16)
    assert clip.frame_times_s == tuple(number / FPS for number in range(16))
    assert (clip.address, clip.prompt_id) == (f"{video}#t=0.5,1.5", "7")
    assert clip.sha256 == sha256(video.read_bytes()).hexdigest()


def test_a_clip_knows_where_its_first_frame_stands_whatever_was_asked_for(video: Path, pixels: Pipeline) -> None:
    """So a time in the clip and `start_s` make the time in the file."""
    with open_clip(ManifestEntry(path=video, start_s=0.51), pixels, models=None) as opened:
        assert (opened.clip.start_s, opened.clip.end_s) == (0.5, 2.0)
    with open_clip(ManifestEntry(path=video, end_s=0.49), pixels, models=None) as opened:
        assert (opened.clip.start_s, opened.clip.end_s) == (0.0, 0.5)


def test_a_model_is_shown_the_same_pictures_of_a_part_as_of_the_whole(video: Path, pixels: Pipeline) -> None:
    with (
        open_clip(ManifestEntry(path=video), pixels, models=None) as whole,
        open_clip(ManifestEntry(path=video, start_s=0.5, end_s=1.5), pixels, models=None) as part,
    ):
        for number in range(16):
            (shown,), (same,) = part.decoded.views(number), whole.decoded.views(number + 8)
            assert np.array_equal(shown[8:], same[8:]), "the top rows share JPEG blocks with the stamp"
            assert number_in(shown) == number + 8
        assert (whole.clip.start_s, whole.clip.end_s) == (None, None)


def test_two_parts_of_one_file_have_two_ids(video: Path, pixels: Pipeline) -> None:
    ids = set()
    for start_s, end_s in ((None, None), (0.0, 1.0), (1.0, 2.0)):
        with open_clip(ManifestEntry(path=video, start_s=start_s, end_s=end_s), pixels, models=None) as opened:
            ids.add(opened.clip.id)
    assert len(ids) == 3


def test_a_file_that_was_replaced_is_refused(video: Path, pixels: Pipeline) -> None:
    entry = ManifestEntry(path=video, sha256=sha256(video.read_bytes()).hexdigest())
    assert content_sha256(entry) == entry.sha256
    write(video, 31)
    with pytest.raises(VideoError, match=r"all\.mp4 was replaced after the manifest was written"):
        content_sha256(entry)
    with (
        pytest.raises(VideoError, match=r"all\.mp4 was replaced after the manifest was written"),
        open_clip(entry, pixels, models=None),
    ):
        pass


@pytest.mark.parametrize("side", [16, 96])
@pytest.mark.parametrize("level", [0, 128])
def test_a_picture_of_one_colour_is_reported_on_and_never_clean(
    tmp_path: Path, pixels: Pipeline, side: int, level: int
) -> None:
    """Most signals have nothing to go by in it; what the others find is an event of a covered dimension."""
    flat = np.full((side, side, 3), level, np.uint8)
    path = write(tmp_path / "flat.mp4", 20, size=(side, side), draw=lambda number: flat)
    with open_clip(ManifestEntry(path=path), pixels, models=None) as opened:
        report = asyncio.run(diagnose(opened, pixels))
    assert report.verdict != "clean"
    assert bool(report.events) is (report.verdict == "faulty")
    assert all(report.coverage[event.dimension].state != "not_examined" for event in report.events)
    assert (level == 0) <= bool(report.events), "a black clip is found to be dark"


@pytest.mark.parametrize(("name", "rate"), [("pixels", 0.0), ("vanilla", 4.0), ("full", None)])
def test_only_pictures_that_a_pipeline_shows_are_made_while_decoding(
    video: Path, monkeypatch: pytest.MonkeyPatch, name: str, rate: float | None
) -> None:
    asked: list[float | None] = []

    def decode(path: Path, *, pictures_fps: float | None, **options: Any) -> DecodedClip:
        asked.append(pictures_fps)
        return decode_clip(path, pictures_fps=pictures_fps, **options)

    monkeypatch.setattr("robogaze.diagnose.decode_clip", decode)
    models, _ = scripted()
    with open_clip(ManifestEntry(path=video), Pipeline.build(load_domain(default_domain()), name), models):
        assert asked == [rate]


class Noting(Stage):
    """A stage that could not do something in this clip."""

    def writes(self) -> frozenset[Slot]:
        return frozenset()

    async def run(self, context: Context, client: ModelClient) -> Context:
        return replace(context, notes=(*context.notes, f"frame {client.clip.frame_count} is not there."))


def test_a_report_has_the_notes_of_its_stages(video: Path, pixels: Pipeline) -> None:
    noting = replace(pixels, stages=(("note", Noting()), *pixels.stages))
    with open_clip(ManifestEntry(path=video), noting, models=None) as opened:
        report = asyncio.run(diagnose(opened, noting))
    assert "frame 32 is not there." in report.notes


@pytest.mark.parametrize("layout", [None, Layout.parse("1x2:left,right")])
def test_a_report_records_the_size_of_its_pictures(video: Path, pixels: Pipeline, layout: Layout | None) -> None:
    """Pages find the views in them by it."""
    with open_clip(ManifestEntry(path=video, layout=layout), pixels, models=None) as opened:
        report, shown = asyncio.run(diagnose(opened, pixels)), opened.decoded.frame_image(0).picture
    clip = report.clip
    view = clip.width // clip.layout.columns, clip.height // clip.layout.rows
    assert report.provenance.media["picture_size"] == [shown.width, shown.height]
    assert (shown.width, shown.height) == picture_size(clip.layout, view)
