"""The frames that are kept beside a report."""

import asyncio
from pathlib import Path
from shutil import copy
from typing import Any

import pytest
import yaml
from making import scripted

from robogaze.core.key_frames import pictures_to_show
from robogaze.core.report import Report
from robogaze.datasets import ManifestEntry
from robogaze.diagnose import diagnose
from robogaze.domains import load_domain
from robogaze.errors import VideoError
from robogaze.media.compose import decode_image
from robogaze.run.engines import base
from robogaze.run.engines.base import ClipTask, ClipWorker
from robogaze.stages.pipeline import Pipeline

CLIPS = Path(__file__).parents[3] / "datasets" / "demo" / "clips"
CONVERSATION = Path(__file__).parents[2] / "e2e" / "conversation.yaml"


async def test_three_views_stay_wide_enough_and_the_frames_around_the_event_are_kept() -> None:
    unit = ClipWorker(Pipeline.build(load_domain("robot"), "pixels"))
    result = await unit(ClipTask("grid", ManifestEntry(path=CLIPS / "multi_view.mp4")), asyncio.Semaphore(1))
    assert result.report is not None
    (event,) = result.report.events
    onset = result.report.clip.frame_at(event.onset_s)
    assert {onset - 1, onset, onset + 1} <= set(result.frames)
    picture = decode_image(result.frames[onset], "the frame")
    assert picture.shape[1] == 320 + 4 + 320, "two views of 320 px beside each other"


async def test_the_claim_sheets_that_evidence_names_are_kept() -> None:
    models, _ = scripted(*yaml.safe_load(CONVERSATION.read_text(encoding="utf-8")))
    unit = ClipWorker(Pipeline.build(load_domain("robot"), "full"), models)
    entry = ManifestEntry(path=CLIPS / "gripper_through_cup.mp4", instruction="Put the cube in the tray")
    result = await unit(ClipTask("cup", entry), asyncio.Semaphore(1))
    assert result.report is not None
    assert tuple(result.pictures) == pictures_to_show(result.report)
    assert len(result.pictures) == 6, "of three events and three rejected hypotheses"
    known = {picture.id: picture for picture in result.report.provenance.pictures}
    for name, jpeg in result.pictures.items():
        height, width = decode_image(jpeg, name).shape[:2]
        assert max(width, height) <= 1200
        assert width / height == pytest.approx(known[name].width / known[name].height, rel=0.01)


async def test_a_video_deleted_before_its_frames_are_kept_is_unreadable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cube.mp4"
    copy(CLIPS / "cube_teleports.mp4", path)

    async def gone_afterwards(*given: Any) -> Report:
        report = await diagnose(*given)
        path.unlink()
        return report

    monkeypatch.setattr(base, "diagnose", gone_afterwards)
    unit = ClipWorker(Pipeline.build(load_domain("robot"), "pixels"))
    result = await unit(ClipTask("cube", ManifestEntry(path=path)), asyncio.Semaphore(1))
    assert result.report is None
    assert "cube.mp4" in result.unreadable


async def test_a_video_that_changes_while_it_is_diagnosed_is_unreadable(monkeypatch: pytest.MonkeyPatch) -> None:
    async def changed(*_: object) -> None:
        raise VideoError("cube_teleports.mp4 has changed since it was decoded")

    monkeypatch.setattr(base, "diagnose", changed)
    unit = ClipWorker(Pipeline.build(load_domain("robot"), "pixels"))
    result = await unit(ClipTask("cube", ManifestEntry(path=CLIPS / "cube_teleports.mp4")), asyncio.Semaphore(1))
    assert (result.report, result.unreadable) == (None, "cube_teleports.mp4 has changed since it was decoded")
