"""Exporting: reports as the files of a format."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from robogaze.core.clip import Clip, address
from robogaze.core.report import Report
from robogaze.datasets.exporters import (
    activitynet,
    csv_rows,
    fiftyone,
    jsonl,
    label_studio,
    parquet,
    videoglitchbench,
    webvtt,
)
from robogaze.datasets.exporters.base import Exported, Exporter
from robogaze.errors import InputError

_MODULES = (jsonl, csv_rows, parquet, activitynet, fiftyone, label_studio, webvtt, videoglitchbench)

EXPORTERS: Mapping[str, Exporter] = {module.EXPORTER.name: module.EXPORTER for module in _MODULES}
"""The exporters by name."""


@dataclass(frozen=True)
class Export:
    """Files by name, how many clips they hold, and how many were left out, by reason."""

    files: Mapping[str, str | bytes]
    clips: int
    left_out: Mapping[str, int]


def export_reports(reports: Sequence[Report], videos: Mapping[str, Path], to: str, folder: Path) -> Export:
    """Reports in a format, for `folder`, which is not touched; `videos` says where each clip lies.

    Raises InputError for an unknown format, MissingExtra where one needs a package that is not installed.
    """
    if to not in EXPORTERS:
        raise InputError(f"there is no format {to!r} to export to; there is: {', '.join(EXPORTERS)}")
    exporter = EXPORTERS[to]
    reasons = [exporter.leaves_out(report) for report in reports]
    kept = [report for report, reason in zip(reports, reasons, strict=True) if reason is None]
    places = [(report, videos[report.clip.id].resolve()) for report in kept]
    clips = [Exported(report, path, _video(report.clip, path, folder)) for report, path in places]
    left_out = Counter(reason for reason in reasons if reason is not None)
    return Export(exporter.files(clips), len(clips), left_out)


def _video(clip: Clip, video: Path, folder: Path) -> str:
    """Where a clip lies, as seen from a folder; of a part of a longer video with the part."""
    try:
        there = Path(os.path.relpath(video, folder.resolve())).as_posix()
    except ValueError:  # no way leads from one drive to another
        there = video.as_posix()
    return address(there, clip.start_s, clip.end_s)
