"""What every signal extractor provides, checked over the registry."""

import tracemalloc
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from robogaze.errors import InputError
from robogaze.evidence import EXTRACTORS, SignalRecorder, known_signals, load_extractors
from robogaze.evidence.base import FrameView, Signal, ViewSignals
from robogaze.media.decode import Image

from .measuring import measured, measured_by
from .procedural import Take, film

_NOISE = np.random.default_rng(5).integers(0, 256, (4, 100, 160, 3), dtype=np.uint8)

CLIPS: dict[str, list[Image]] = {
    "a single frame": [_NOISE[0]],
    "two frames": [_NOISE[0], _NOISE[1]],
    "unrelated frames": list(_NOISE),
    "16 x 16": [np.ascontiguousarray(image[:16, :16]) for image in _NOISE],
    "1 x 1": [np.ascontiguousarray(image[:1, :1]) for image in _NOISE],
    "very wide": [np.ascontiguousarray(image[:3]) for image in _NOISE],
    "very high": [np.ascontiguousarray(image[:, :3]) for image in _NOISE],
    "a part of a larger picture": [image[20:60, 30:90] for image in _NOISE],
    "black": [np.zeros((100, 160, 3), np.uint8)] * 4,
    "white": [np.full((100, 160, 3), 255, np.uint8)] * 4,
    "black, then noise": [np.zeros((100, 160, 3), np.uint8)] * 4 + list(_NOISE),
    "a clip": film(0, Take(frames=9, size=(160, 100))),
}


@pytest.mark.parametrize("clip", CLIPS)
@pytest.mark.parametrize("name", EXTRACTORS.own)
def test_every_declared_signal_has_one_finite_or_undefined_value_per_frame(name: str, clip: str) -> None:
    found = measured_by(EXTRACTORS.load(name), CLIPS[clip])
    assert set(found.series) == {signal.name for signal in EXTRACTORS.load(name).signals}
    for series in found.series.values():
        assert series.shape == (len(CLIPS[clip]),)
        assert series.dtype == np.float64
        assert not np.isinf(series).any()


@pytest.mark.parametrize("name", EXTRACTORS.own)
def test_boxes_belong_to_declared_signals_and_frames_of_the_clip(name: str) -> None:
    for clip in CLIPS.values():
        found = measured_by(EXTRACTORS.load(name), clip)
        assert set(found.boxes) <= set(found.series)
        assert all(0 <= frame < len(clip) for boxes in found.boxes.values() for frame in boxes)


@pytest.mark.parametrize("name", EXTRACTORS.own)
def test_measuring_twice_gives_the_same_numbers(name: str) -> None:
    first, second = (measured_by(EXTRACTORS.load(name), CLIPS["a clip"]).series for _ in range(2))
    for signal in first:
        np.testing.assert_array_equal(first[signal], second[signal])


class Broken:
    """An extractor that declares `heat` and measures something else."""

    signals = (Signal(name="heat", unit="K", description="Heat."),)

    def __init__(self, series: Mapping[str, Sequence[float]]) -> None:
        self._series = series

    def update(self, frame: FrameView) -> None:
        pass

    def finish(self) -> ViewSignals:
        return ViewSignals({name: np.array(values) for name, values in self._series.items()})


@pytest.mark.parametrize(
    ("series", "says"),
    [
        ({"haet": [0.0, 1.0]}, "Broken returned haet, but its signals are heat"),
        ({}, "Broken returned no signal, but its signals are heat"),
        ({"heat": [0.0]}, "Broken returned 1 values of heat for 2 frames"),
    ],
)
def test_an_extractor_of_another_package_that_returns_something_else_is_named(
    series: Mapping[str, Sequence[float]], says: str
) -> None:
    recorder = SignalRecorder({"broken": lambda: Broken(series)})
    for number in range(2):
        recorder(number, float(number), (CLIPS["a clip"][0],))
    with pytest.raises(InputError, match=says):
        recorder.evidence(["main"], 2.0)


def test_signals_are_named_once_and_described_in_one_sentence() -> None:
    declared = [signal for extractor in load_extractors().values() for signal in extractor.signals]
    assert len(known_signals()) == len(declared)
    for signal in declared:
        assert signal.name.replace("_", "").isalnum()
        assert signal.unit
        assert signal.description.endswith(".")


def test_views_are_measured_separately() -> None:
    recorder = SignalRecorder(load_extractors())
    dark, light = np.zeros((20, 20, 3), np.uint8), np.full((20, 20, 3), 255, np.uint8)
    for number in range(2):
        recorder(number, number / 16, (dark, light))
    evidence = recorder.evidence(("left", "right"), 0.125)
    assert {view: found.series["luma"].tolist() for view, found in evidence.views.items()} == {
        "left": [0.0, 0.0],
        "right": [1.0, 1.0],
    }
    assert (evidence.frame_times_s, evidence.duration_s) == ((0.0, 0.0625), 0.125)


def test_memory_grows_by_numbers_and_a_thumbnail_per_frame() -> None:
    recorder = SignalRecorder(load_extractors())
    images = film(1, Take(frames=8, size=(160, 100)))
    allocated = []
    tracemalloc.start()
    try:
        for number in range(97):
            recorder(number, number / 16, (images[number % 8].copy(),))
            if number in (48, 96):  # then every window of frames is full
                allocated.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    early, late = allocated
    assert (late - early) / 48 < images[0].nbytes / 6, "a thumbnail and some numbers"


def test_a_clean_clip_has_every_signal_in_most_frames() -> None:
    evidence = measured(film(2, Take(frames=20, size=(320, 200), speed=2)))
    mostly = {name for name, series in evidence.views["main"].series.items() if np.isfinite(series).mean() > 0.5}
    details = {name for name in known_signals() if name.startswith("region_replacement_")}
    assert set(known_signals()) - mostly <= details | {"resume_jump", "camera_straightness"}
