import math

import numpy as np

from robogaze.evidence import ClipSignals, Signal, ViewSignals, known_signals, summarise

from .measuring import measured
from .procedural import Take, film

NAN = math.nan


def _evidence(gap: str = "", **views: list[float]) -> ClipSignals:
    signal = Signal(name="heat", unit="degrees", description="How hot.", gap=gap)
    measured = {name: ViewSignals({"heat": np.array(series, float)}) for name, series in views.items()}
    count = len(next(iter(views.values())))
    return ClipSignals({"heat": signal}, measured, tuple(frame / 2 for frame in range(count)), count / 2)


def test_a_line_has_median_range_and_extremes_with_their_times() -> None:
    assert summarise(_evidence(main=[NAN, 4, 1, 2, 3])) == [
        "heat (degrees): median 2.5, mostly 1.15 to 3.85, lowest 1 at 1.00 s, highest 4 at 0.50 s"
    ]


def test_constant_and_undefined_signals_are_described_as_such() -> None:
    assert summarise(_evidence(main=[0, 0, NAN])) == ["heat (degrees): 0 throughout"]
    assert summarise(_evidence(main=[NAN, NAN])) == ["heat (degrees): not defined"]


def test_frames_that_could_not_be_measured_are_counted() -> None:
    assert summarise(_evidence("too cold", main=[NAN, 0, NAN, 0])) == [
        "heat (degrees): 0 throughout, not measured in 1 of 4 frames"
    ]
    assert summarise(_evidence("too cold", main=[0, 1, NAN, NAN]))[0].endswith("not measured in 2 of 4 frames")


def test_several_views_share_a_line() -> None:
    assert summarise(_evidence(front=[1, 1], wrist=[2, 2])) == [
        "heat (degrees): front: 1 throughout; wrist: 2 throughout"
    ]


def test_every_signal_but_details_has_a_line() -> None:
    lines = summarise(measured(film(0, Take(frames=3, size=(64, 48)))))
    assert [line.split(" ")[0] for line in lines] == [
        name for name, signal in known_signals().items() if not signal.part_of
    ]
