"""The clips of a run that pass, as a manifest: to train on, or to look at again."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from robogaze.core.annotation import FIELDS
from robogaze.core.report import Report
from robogaze.datasets.manifest import ManifestEntry
from robogaze.errors import InputError


def clean_entries(
    reports: Sequence[Report], videos: Mapping[str, Path], dimensions: Collection[str]
) -> tuple[ManifestEntry, ...]:
    """The clips that are clean in these dimensions (`Report.clean_in`).

    Each entry has the SHA-256 of its file, so that a file that is replaced later is noticed. Clips keep their ids, and
    the layout that was given for them. Raises InputError for an initial frame that is not where the run saw it.
    """
    return tuple(_entry(report, videos[report.clip.id]) for report in reports if report.clean_in(dimensions))


def _entry(report: Report, video: Path) -> ManifestEntry:
    clip = report.clip
    initial = None if clip.initial_frame is None else Path(clip.initial_frame)
    if initial is not None and not initial.is_file():
        where = "run this from the folder that the run was started in"
        raise InputError(f"{clip.id}: the initial frame {initial} is not there; {where}")
    return ManifestEntry(
        path=video,
        start_s=clip.start_s,
        end_s=clip.end_s,
        sha256=clip.sha256,
        clip_id=clip.id,
        instruction=clip.instruction,
        initial_frame=initial,
        layout=clip.layout if report.provenance.media.get("layout") == "given" else None,
        **{name: getattr(clip, name) for name in FIELDS},
    )
