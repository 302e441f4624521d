"""The frames that are kept beside a report."""

import asyncio
from pathlib import Path

from robogaze.datasets import ManifestEntry
from robogaze.domains import load_domain
from robogaze.media.compose import decode_image
from robogaze.run.engines.base import ClipWorker, Task
from robogaze.stages.pipeline import Pipeline

CLIPS = Path(__file__).parents[3] / "datasets" / "demo" / "clips"


async def test_of_three_views_each_is_wide_enough_to_be_seen_and_the_neighbours_of_the_event_are_kept() -> None:
    unit = ClipWorker(Pipeline.build(load_domain("robot"), "pixels"))
    result = await unit(Task("grid", ManifestEntry(path=CLIPS / "multi_view.mp4")), asyncio.Semaphore(1))
    assert result.report is not None
    (event,) = result.report.events
    onset = result.report.clip.frame_at(event.onset_s)
    assert {onset - 1, onset, onset + 1} <= set(result.frames)
    picture = decode_image(result.frames[onset], "the frame")
    assert picture.shape[1] == 320 + 4 + 320, "two views of 320 px beside each other"
