"""What a run folder holds, for those who read it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from robogaze.core.data import fault_of
from robogaze.core.report import Report, Unreadable
from robogaze.core.report_summary import ReportSummary
from robogaze.errors import InputError, RunError
from robogaze.store.files import file_name
from robogaze.store.manifest import ManifestLine, read_manifest

FLAT = "flat"
"""What run.json says as its layout where reports lie side by side."""


@dataclass(frozen=True)
class StoredRun:
    """A run folder, read piece by piece; `flat` says that its reports lie side by side.

    Whatever is damaged raises InputError when it is read.
    """

    root: Path
    flat: bool

    @classmethod
    def at(cls, root: Path) -> "StoredRun":
        """The run in a folder, laid out as its run.json says."""
        return cls(root, configuration_of(root).get("layout") == FLAT)

    @cached_property
    def lines(self) -> tuple[ManifestLine, ...]:
        """Its manifest."""
        return tuple(read_manifest(self.root))

    @cached_property
    def unreadable(self) -> tuple[Unreadable, ...]:
        """The clips whose file could not be read."""
        path = self.root / "unreadable.json"
        try:
            found = TypeAdapter(tuple[Unreadable, ...])
            return found.validate_json(path.read_bytes()) if path.is_file() else ()
        except ValidationError as error:
            raise InputError(f"{path} is damaged ({fault_of(error)}); remove it and start the run again") from error

    def report_path(self, clip_id: str) -> Path:
        """Where the report of a clip lies, or would."""
        name = file_name(clip_id)
        return self.root / "reports" / f"{name}.json" if self.flat else self.root / name / "report.json"

    def frames_folder(self, clip_id: str) -> Path:
        """Where the frames beside a report lie, or would."""
        name = file_name(clip_id)
        return self.root / "frames" / name if self.flat else self.root / name / "frames"

    def has_report(self, clip_id: str) -> bool:
        """Whether a clip is done."""
        return self.report_path(clip_id).is_file()

    def report(self, clip_id: str) -> Report | None:
        """A clip's report, None when it is not done."""
        path = self.report_path(clip_id)
        return read_report(path) if path.is_file() else None

    def digest(self, clip_id: str) -> ReportSummary | None:
        """A clip's report at a glance, None when it is not done."""
        path = self.report_path(clip_id)
        try:
            return ReportSummary.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            return None
        except ValidationError as error:
            raise InputError(f"{path} is not a report: {fault_of(error)}; remove it and start the run again") from error

    def frames(self, clip_id: str) -> dict[int, bytes]:
        """The frames kept beside a report (JPEG), by number."""
        kept = sorted(self.frames_folder(clip_id).glob("*.jpg"))
        return {int(path.stem): path.read_bytes() for path in kept}


@dataclass(frozen=True)
class FinishedRun:
    """All that a run folder holds; `videos` says where the file of each clip lies."""

    stored: StoredRun
    reports: tuple[Report, ...]
    unreadable: tuple[Unreadable, ...]
    videos: Mapping[str, Path]

    @property
    def root(self) -> Path:
        """The run folder."""
        return self.stored.root

    def frames(self, clip_id: str) -> dict[int, bytes]:
        """The frames kept beside a report (JPEG), by number."""
        return self.stored.frames(clip_id)


def read_run(root: Path) -> FinishedRun:
    """Read a run folder; its reports come in the manifest's order. Raises InputError for a damaged file."""
    stored = StoredRun.at(root)
    reports = (stored.report(line.clip_id) for line in stored.lines)
    videos = {line.clip_id: root.resolve() / line.path for line in stored.lines}
    return FinishedRun(stored, tuple(one for one in reports if one is not None), stored.unreadable, videos)


def configuration_of(root: Path) -> dict[str, Any]:
    """What run.json says, empty where there is none. Raises RunError for a damaged file."""
    path = root / "run.json"
    try:
        return TypeAdapter(dict[str, Any]).validate_json(path.read_bytes()) if path.is_file() else {}
    except ValidationError as error:
        raise RunError(f"{path} is damaged ({fault_of(error)}); choose another --out") from error


def read_report(path: Path) -> Report:
    """Read a report. Raises InputError with the file and the key of what does not fit."""
    try:
        return Report.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise InputError(f"{path} is not a report: {fault_of(error)}") from error
