"""Export: reports -> the files of a format."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from robogaze.core.clip import Clip, address
from robogaze.core.report import Report
from robogaze.datasets.formats import FORMATS
from robogaze.datasets.formats.base import ExportedReport, ReportWriter
from robogaze.errors import InputError

_EXPORT_NAMES = {"report": "jsonl", "label_studio": "label-studio"}
"""The names under which a format is exported, if they differ from the format's name."""


@dataclass(frozen=True)
class Export:
    """The files by name, the number of clips in them, and the number of clips that were left out for each reason."""

    files: Mapping[str, str | bytes]
    clips: int
    left_out: Mapping[str, int]


def export_writers() -> Mapping[str, ReportWriter]:
    """The formats that can be written, by their export name."""
    formats = {_EXPORT_NAMES.get(name, name): FORMATS.load(name) for name in FORMATS.names()}
    return {name: format_.writer for name, format_ in formats.items() if format_.writer is not None}


def export_reports(reports: Sequence[Report], videos: Mapping[str, Path], to: str, folder: Path) -> Export:
    """Convert reports to a format, without writing files. Paths of videos in the result are relative to `folder`, where
    the files are to be written; `videos` maps each clip id to the clip's file.

    Raises InputError for an unknown format, and MissingExtra if the format needs a package that is not installed.
    """
    writers = export_writers()
    if to not in writers:
        raise InputError(f"there is no format {to!r} to export to; the formats are: {', '.join(writers)}")
    writer = writers[to]
    reasons = [writer.why_left_out(report) for report in reports]
    kept = [report for report, reason in zip(reports, reasons, strict=True) if reason is None]
    paths = [(report, videos[report.clip.id].resolve()) for report in kept]
    clips = [ExportedReport(report, path, _relative(report.clip, path, folder)) for report, path in paths]
    left_out = Counter(reason for reason in reasons if reason is not None)
    return Export(writer.files(clips), len(clips), left_out)


def _relative(clip: Clip, video: Path, folder: Path) -> str:
    """The address of a clip, relative to a folder."""
    try:
        path = Path(os.path.relpath(video, folder.resolve())).as_posix()
    except ValueError:  # on another drive
        path = video.as_posix()
    return address(path, clip.start_s, clip.end_s)
