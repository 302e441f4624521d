"""A run's reports: a faulty clip with a recurring event, a clean, a partial, an unscored and an undecided one."""

from pathlib import Path
from typing import Any

from making import coverage, make_clip

from formats.samples import make_event, make_report
from robogaze.core.report import Failure, Report
from robogaze.core.time import Span

CUP = 'The cup <b> "passes" & --> through,\nthe table; slowly'
DIMENSIONS = ("matter", "light")
STUCK = Failure(stage="observe", kind="server_fault", message="no answer")


def reports() -> tuple[Report, ...]:
    event = make_event(id="E1", spans=(Span(1.0, 1.5), Span(2.0, 2.0625)), description=CUP)
    other = make_event(id="E2", type="floating", severity=None, confidence=None, description="The lid floats.")
    known: dict[str, Any] = {"checkpoint": "iter_4000", "split": "test", "embodiment": "so100"}
    every = coverage(*DIMENSIONS)
    found = make_report("kitchen/cup.v1", event, other, clip=make_clip(id="kitchen/cup.v1", **known), coverage=every)
    clean = make_report("pot", clip=make_clip(id="pot", checkpoint="iter_4000", uri="pot.mp4"), coverage=every)
    part = make_report("part", coverage=coverage("matter", not_examined=["light"]), failures=(STUCK,))
    none = make_report("none", coverage=coverage(not_examined=DIMENSIONS), failures=(STUCK,))
    pixels = make_report("pixels", coverage=coverage("matter", partial=["light"]))
    return found, clean, part, none, pixels


def uneven() -> Report:
    """A clip whose frames do not follow at one rate."""
    times = (0.0, 0.1, 0.2, 0.5)
    clip = make_clip(id="uneven", frame_count=4, frame_times_s=times, duration_s=0.6, fps=4 / 0.6)
    return make_report("uneven", make_event(spans=(Span(0.2, 0.5),)), clip=clip)


def videos(folder: Path, *more: Report) -> dict[str, Path]:
    """Where the clips lie."""
    return {report.clip.id: folder / f"{report.clip.id}.mp4" for report in (*reports(), *more)}
