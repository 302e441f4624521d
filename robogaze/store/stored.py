"""Reading a run folder."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from pydantic import TypeAdapter, ValidationError

from robogaze.core.data import fault_of
from robogaze.core.report import Report, Unreadable
from robogaze.core.report_summary import ReportSummary
from robogaze.errors import InputError, RunError
from robogaze.store.files import file_name
from robogaze.store.manifest import ManifestLine, read_manifest

_PICTURE = "picture-"
"""Prefix of the file of a picture that is not a frame."""


@dataclass(frozen=True)
class StoredRun:
    """A run folder, read piece by piece. Reading a damaged file raises InputError."""

    root: Path

    @cached_property
    def _home(self) -> Path:
        return self.root.resolve()

    def address(self, path: Path) -> str:
        """The path of a file outside, relative to the run folder."""
        try:
            return Path(os.path.relpath(path.absolute(), self._home)).as_posix()
        except ValueError:  # there is no relative path between drives
            return path.absolute().as_posix()

    @cached_property
    def lines(self) -> tuple[ManifestLine, ...]:
        """The clips of the run, in order."""
        return tuple(read_manifest(self.root))

    @cached_property
    def unreadable(self) -> tuple[Unreadable, ...]:
        """The clips whose file could not be read."""
        path = self.root / "unreadable.json"
        try:
            found = TypeAdapter(tuple[Unreadable, ...])
            return found.validate_json(path.read_bytes()) if path.is_file() else ()
        except ValidationError as error:
            raise InputError(f"{path} is damaged ({fault_of(error)}); remove it and run the command again") from error

    def report_path(self, clip_id: str) -> Path:
        """The path of a clip's report, whether it exists or not."""
        return self.root / "reports" / f"{file_name(clip_id)}.json"

    def frames_folder(self, clip_id: str) -> Path:
        """The folder of a clip's stored frames, whether it exists or not."""
        return self.root / "frames" / file_name(clip_id)

    def picture_path(self, clip_id: str, picture: str) -> Path:
        """The path of a picture that a clip's report names as evidence, whether it exists or not."""
        return self.frames_folder(clip_id) / f"{_PICTURE}{file_name(picture)}.jpg"

    def has_report(self, clip_id: str) -> bool:
        """Whether a clip has a report."""
        return self.report_path(clip_id).is_file()

    def report(self, clip_id: str) -> Report | None:
        """A clip's report, None if it has none."""
        path = self.report_path(clip_id)
        return read_report(path) if path.is_file() else None

    def summary(self, clip_id: str) -> ReportSummary | None:
        """The summary of a clip's report, None if it has none."""
        path = self.report_path(clip_id)
        try:
            return ReportSummary.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            return None
        except ValidationError as error:
            raise InputError(
                f"{path} is not a report: {fault_of(error)}; remove it and run the command again"
            ) from error

    def frames(self, clip_id: str) -> dict[int, bytes]:
        """The stored frames of a clip (JPEG), by number."""
        paths = sorted(self.frames_folder(clip_id).glob("[0-9]*.jpg"))
        return {int(path.stem): path.read_bytes() for path in paths}

    def pictures(self, clip_id: str) -> dict[str, bytes]:
        """The stored pictures that a clip's report names as evidence (JPEG), by id."""
        paths = sorted(self.frames_folder(clip_id).glob(f"{_PICTURE}*.jpg"))
        return {unquote(path.stem.removeprefix(_PICTURE)): path.read_bytes() for path in paths}


@dataclass(frozen=True)
class FinishedRun:
    """The content of a run folder; `videos` are the paths of the clips' files, by clip id."""

    stored: StoredRun
    reports: tuple[Report, ...]
    unreadable: tuple[Unreadable, ...]
    videos: Mapping[str, Path]

    @property
    def root(self) -> Path:
        """The run folder."""
        return self.stored.root

    def frames(self, clip_id: str) -> dict[int, bytes]:
        """The stored frames of a clip (JPEG), by number."""
        return self.stored.frames(clip_id)


def read_run(root: Path) -> FinishedRun:
    """Read a run folder; reports are in the order of the manifest. Raises InputError for a damaged file."""
    stored = StoredRun(root)
    reports = (stored.report(line.clip_id) for line in stored.lines)
    videos = {line.clip_id: root.resolve() / line.path for line in stored.lines}
    return FinishedRun(stored, tuple(report for report in reports if report is not None), stored.unreadable, videos)


def configuration_of(root: Path) -> dict[str, Any]:
    """The content of run.json, empty without the file. Raises RunError for a damaged file."""
    path = root / "run.json"
    try:
        return TypeAdapter(dict[str, Any]).validate_json(path.read_bytes()) if path.is_file() else {}
    except ValidationError as error:
        raise RunError(f"{path} is damaged ({fault_of(error)}); choose another `out`") from error


def read_report(path: Path) -> Report:
    """Read a report. Raises InputError with the file and the key of what does not fit."""
    try:
        return Report.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise InputError(f"{path} is not a report: {fault_of(error)}") from error
