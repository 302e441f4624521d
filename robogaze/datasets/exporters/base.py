"""What an exporter is, and what it is given.

An exporter is one module that makes files of reports, gathered in an `Exporter`. A format that cannot say how far a
clip was examined holds complete reports with the verdict faulty or clean and no others: else a clip that nobody
examined would be a clean clip there.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from robogaze.core.clip import Clip
from robogaze.core.report import Report
from robogaze.core.time import Span

_CLOCK_S = 1e-5
"""By how much the time of a frame may be off its rate: times are written to the microsecond, and rates are rounded."""


@dataclass(frozen=True)
class Exported:
    """A report, where its video lies, and where that is as seen from the folder that is written to.

    Of a clip that is a part of its video, `video` tells the part, too (`file.mp4#t=5.2,10.1`).
    """

    report: Report
    path: Path
    video: str

    @property
    def clip(self) -> Clip:
        """The clip it is about."""
        return self.report.clip


@dataclass(frozen=True)
class Exporter:
    """A format to export to.

    `leaves_out` says why a report cannot be in it, None when it can; `files` are names with their content.
    """

    name: str
    holds: str
    leaves_out: Callable[[Report], str | None]
    files: Callable[[Sequence[Exported]], Mapping[str, str | bytes]]


def nothing(report: Report) -> str | None:
    """Leaves out no report."""
    return None


def unfinished(report: Report) -> str | None:
    """Leaves out reports that are not complete, and those that are undecided."""
    said = report.status if report.status != "complete" else report.verdict
    return f"{said}, which the format cannot say" if said in ("partial", "unscored", "undecided") else None


def on_file(span: Span, clip: Clip) -> Span:
    """A span of a clip on the clock of its file; for a clip that is the whole file it is the same."""
    shift_s = clip.start_s or 0.0
    return Span(round(span.start + shift_s, 6), round(span.end + shift_s, 6)) if shift_s else span


def steady(clip: Clip) -> bool:
    """Whether its frames follow each other at one rate, so that a frame's number tells its time."""
    step_s = clip.duration_s / clip.frame_count
    gaps_s = (after - before for before, after in pairwise((*clip.frame_times_s, clip.duration_s)))
    return all(abs(gap - step_s) <= _CLOCK_S for gap in gaps_s)
