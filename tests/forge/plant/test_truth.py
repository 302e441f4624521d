"""Annotations agree with the decoded clips."""

from pathlib import Path

import numpy as np
import pytest

from robogaze.core.clip import Layout
from robogaze.core.report import Report
from robogaze.core.time import frames_in
from robogaze.datasets.manifest import ManifestEntry
from robogaze.forge.plant.planted_dataset import PlantingOptions, plant_clips
from robogaze.forge.plant.planting_config import PlantingConfig
from robogaze.forge.plant.planting_scene import differ
from robogaze.forge.plant.truth import LEAST_SHOWN
from robogaze.media.compose import split
from robogaze.media.decode import Image, read_frames

from .sample_clips import FRAMES, scenery, write
from .test_planted_dataset import planted_fields, reports

WORDS = ("other_hand", "other_object", "other_colour", "other_place", "other_order")
IN_PLACE = ("smear", "darken", "shake", "blocks", "tear", "cover", "hold", "reverse", "erase", "paste", "tint")


def images(folder: Path, report: Report) -> list[Image]:
    return [frame.image for frame in read_frames(folder / report.clip.uri)]


def made(folder: Path, name: str) -> list[tuple[Report, list[Image], list[Image], frozenset[int]]]:
    """The clips of a plant with their frames, those of the untouched clip, and the frames of the span."""
    known = reports(folder)
    return [
        (
            report,
            images(folder, report),
            images(folder, known[planted_fields(report)["untouched"]]),
            frames_in(report.events[0].spans, report.clip.frame_times_s),
        )
        for report in known.values()
        if planted_fields(report)["plant"] == name
    ]


@pytest.mark.parametrize("name", IN_PLACE)
def test_a_span_covers_exactly_the_decoded_frames_that_differ(folder: Path, name: str) -> None:
    for _, shown, untouched, span in made(folder, name):
        seen = {n for n, pair in enumerate(zip(shown, untouched, strict=True)) if differ(*pair)}
        assert seen <= span
        assert {min(span), max(span)} <= seen
        assert len(seen) >= LEAST_SHOWN * len(span)


def test_where_frames_are_left_out_the_span_is_the_first_one_after_the_gap(folder: Path) -> None:
    for _, shown, untouched, span in made(folder, "skip"):
        (at,) = span
        gap = len(untouched) - len(shown)
        assert gap > 0
        assert not any(differ(*pair) for pair in zip(shown[:at], untouched[:at], strict=True))
        assert not any(differ(*pair) for pair in zip(shown[at:], untouched[at + gap :], strict=True))
        assert differ(shown[at], untouched[at])


def test_a_cut_clip_is_the_start_of_the_source_and_its_span_the_last_frame(folder: Path) -> None:
    for report, shown, untouched, span in made(folder, "cut"):
        assert span == {len(shown) - 1}
        assert 0.25 * FRAMES < len(shown) < 0.65 * FRAMES
        assert report.events[0].offset_s == report.clip.duration_s
        assert not any(differ(*pair) for pair in zip(shown, untouched, strict=False))
        assert differ(untouched[len(shown) - 1], untouched[-1])


@pytest.mark.parametrize("name", WORDS)
def test_a_changed_instruction_keeps_the_pictures_and_lasts_the_whole_clip(folder: Path, name: str) -> None:
    for report, shown, untouched, _ in made(folder, name):
        assert all(np.array_equal(*pair) for pair in zip(shown, untouched, strict=True))
        assert report.events[0].spans == (report.clip.span,)


def test_a_frozen_picture_is_the_one_before_and_a_reversed_stretch_runs_backwards(folder: Path) -> None:
    for _, shown, untouched, span in made(folder, "hold"):
        assert not any(differ(shown[number], untouched[min(span) - 1]) for number in span)
    for _, shown, untouched, span in made(folder, "reverse"):
        assert not any(differ(shown[n], untouched[min(span) + max(span) - n]) for n in span)


def test_evidence_is_within_the_span_and_the_description_has_its_times(folder: Path) -> None:
    for report in reports(folder).values():
        for event in report.events:
            span = frames_in(event.spans, report.clip.frame_times_s)
            assert {number for evidence in event.evidence for number in evidence.frames} <= span
            assert "{" not in event.description
            mentioned = [f"{time_s:.2f} s" in event.description for time_s in (event.onset_s, event.offset_s)]
            assert any(mentioned) or planted_fields(report)["plant"] in WORDS


def test_in_a_grid_one_view_is_changed_and_the_empty_panel_stays_black(tmp_path: Path, config: PlantingConfig) -> None:
    views = [scenery(seed, (160, 96)) for seed in (1, 2, 3)]
    black = np.zeros_like(views[0][0])
    grid = [np.vstack([np.hstack([a, b]), np.hstack([c, black])]) for a, b, c in zip(*views, strict=True)]
    entry = ManifestEntry(path=write(tmp_path / "grid.mp4", grid), instruction="wait")
    options = PlantingOptions(config, config.select(("smear", "shake", "darken")), 1, 0)
    plant_clips([entry], options, tmp_path / "out")
    layout = Layout(rows=2, columns=2, views=("top left", "top right", "bottom left", None))
    for name in ("smear", "shake", "darken"):
        ((report, shown, untouched, span),) = made(tmp_path / "out", name)
        assert report.clip.layout == layout
        number = min(span)
        pairs = zip(split(shown[number], layout), split(untouched[number], layout), strict=True)
        changed = [view for view, pair in zip(layout.active, pairs, strict=True) if differ(*pair)]
        assert changed == [report.events[0].evidence[0].view]
        assert shown[number][96:, 160:].mean() < 3
