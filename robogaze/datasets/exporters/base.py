"""What an exporter is, and what it is given.

An exporter is one module that makes files of reports, gathered in an `Exporter`. A format that cannot say how far a
clip was judged holds those judged to the end and no others: else a clip that nobody judged would be a clean one there.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from robogaze.core.clip import Clip
from robogaze.core.report import Report

_CLOCK_S = 1e-5
"""By how much the time of a frame may be off its rate: times are written to the microsecond, and rates are rounded."""


@dataclass(frozen=True)
class Exported:
    """A report, where its video lies, and where that is as seen from the folder that is written to."""

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
    """Leaves out the clips that were not judged to the end."""
    return None if report.status == "ok" else f"{report.status}, which the format cannot say"


def steady(clip: Clip) -> bool:
    """Whether its frames follow each other at one rate, so that a frame's number tells its time."""
    step_s = clip.duration_s / clip.frame_count
    gaps_s = (after - before for before, after in pairwise((*clip.frame_times_s, clip.duration_s)))
    return all(abs(gap - step_s) <= _CLOCK_S for gap in gaps_s)
