"""The folder of a data set that is written clip by clip: lock, records, annotations and manifest."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from filelock import FileLock, Timeout
from pydantic import ValidationError

from robogaze.core.clip import Clip
from robogaze.core.data import Data, dotted, first_fault
from robogaze.core.report import Report
from robogaze.datasets.manifest import ManifestEntry, manifest_text
from robogaze.errors import InputError, RunError
from robogaze.store import write_whole

_Record = TypeVar("_Record", bound=Data)


@contextmanager
def dataset_lock(out: Path, hidden: str, settings: Mapping[str, Any], made: str) -> Iterator[None]:
    """Lock the folder `out` and write the settings to the subfolder `hidden`.

    `made` is the participle for error messages ("planted"). Raises RunError if another process uses the folder, or if
    the folder cannot be written or was made with other settings.
    """
    path, lock = out / hidden / "settings.json", FileLock(out / hidden / "lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout as error:
        raise RunError(f"{out} is in use by another process; wait for it, or choose another --out") from error
    except OSError as error:
        raise RunError(f"{out} cannot be written ({error.strerror}); choose another --out") from error
    with lock:
        text = json.dumps(dict(settings), ensure_ascii=False, indent=1) + "\n"
        if path.is_file() and path.read_text(encoding="utf-8") != text:
            raise RunError(f"{out} was {made} with other settings ({path} lists them); choose another --out")
        if not path.is_file():
            write_whole(path, text)
        yield


def read_record(path: Path, kind: type[_Record]) -> _Record:
    """A record of a finished clip. Raises InputError if the record is damaged."""
    try:
        return kind.model_validate_json(path.read_bytes())
    except ValidationError as error:
        place, message = first_fault(error)
        raise InputError(f"{path}: {dotted(place)}: {message}; remove the file and start again") from error


def write_annotations(reports: Iterable[Report], out: Path) -> None:
    """Write annotations.jsonl and the manifest clips.jsonl, sorted by clip id."""
    in_order = sorted(reports, key=lambda report: report.clip.id)
    write_whole(out / "annotations.jsonl", "".join(f"{report.model_dump_json()}\n" for report in in_order))
    write_whole(out / "clips.jsonl", manifest_text([_entry(report.clip, out) for report in in_order], out))


def _entry(clip: Clip, out: Path) -> ManifestEntry:
    given = ("instruction", "prompt_id", "checkpoint", "split", "task_family", "embodiment", "layout")
    initial = None if clip.initial_frame is None else out / clip.initial_frame
    return ManifestEntry(
        path=out / clip.uri, clip_id=clip.id, initial_frame=initial, **{name: getattr(clip, name) for name in given}
    )
