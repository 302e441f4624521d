"""Reading a run folder."""

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

from pydantic import BaseModel, TypeAdapter, ValidationError

from robogaze.core.data import fault_of
from robogaze.core.report import Report, Unreadable
from robogaze.core.report_summary import ReportSummary
from robogaze.errors import InputError, RunError
from robogaze.store.files import file_name
from robogaze.store.manifest import ManifestLine, read_manifest

Read = TypeVar("Read", bound=BaseModel)

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
        """The relative path from the run folder to a file outside the folder."""
        try:
            return Path(os.path.relpath(path.absolute(), self._home)).as_posix()
        except ValueError:  # there is no relative path between drives
            return path.absolute().as_posix()

    @cached_property
    def lines(self) -> tuple[ManifestLine, ...]:
        """The clips of the run, in order."""
        return tuple(read_manifest(self.root))

    @cached_property
    def scored(self) -> tuple[ManifestLine, ...]:
        """The clips that count with their report: they have a report, and their file could be read."""
        return tuple(line for line in self._readable if self.has_report(line.clip_id))

    @cached_property
    def pending(self) -> tuple[ManifestLine, ...]:
        """The clips that have no report yet, and whose file could be read."""
        return tuple(line for line in self._readable if not self.has_report(line.clip_id))

    @cached_property
    def _readable(self) -> tuple[ManifestLine, ...]:
        bad = {(clip.uri, clip.clip_id) for clip in self.unreadable}
        return tuple(line for line in self.lines if not bad & {(line.address, line.clip_id), (line.address, None)})

    @property
    def is_empty(self) -> bool:
        """Whether the run has neither a report nor an unreadable clip."""
        return not (self.unreadable or any(self.has_report(line.clip_id) for line in self.lines))

    @cached_property
    def left_out(self) -> tuple[Path, ...]:
        """The paths of reports that do not count, because the clip's file has become unreadable."""
        if not self.unreadable:
            return ()
        readable = {line.clip_id for line in self._readable}
        return tuple(self.report_path(line.clip_id) for line in self.lines if line.clip_id not in readable)

    @cached_property
    def reports(self) -> tuple[Report, ...]:
        """The reports of the clips in `scored`, in the order of the manifest."""
        found = (self.report(line.clip_id) for line in self.scored)
        return tuple(report for report in found if report is not None)

    @cached_property
    def videos(self) -> dict[str, Path]:
        """The paths of the clips' files, by clip id."""
        return {line.clip_id: self._home / line.path for line in self.lines}

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
        return self._read(Report, clip_id)

    def summary(self, clip_id: str) -> ReportSummary | None:
        """The summary of a clip's report, None if it has none."""
        return self._read(ReportSummary, clip_id)

    def _read(self, kind: type[Read], clip_id: str) -> Read | None:
        path = self.report_path(clip_id)
        try:
            return kind.model_validate_json(path.read_bytes())
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


def configuration_of(root: Path) -> dict[str, Any]:
    """The content of run.json, empty without the file. Raises RunError for a damaged file."""
    path = root / "run.json"
    try:
        return TypeAdapter(dict[str, Any]).validate_json(path.read_bytes()) if path.is_file() else {}
    except ValidationError as error:
        raise RunError(f"{path} is damaged ({fault_of(error)}); choose another `out`") from error
