"""A lock on the folder of a data set, for one process and one set of settings."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from robogaze.errors import RunError
from robogaze.store import write_whole


@contextmanager
def dataset_lock(out: Path, hidden: str, settings: Mapping[str, Any], made: str) -> Iterator[None]:
    """Lock the folder `out`. The settings are written to its subfolder `hidden`.

    `made` is the participle for error messages ("planted"). Raises RunError if another process uses the folder, it
    cannot be written, or it was made with other settings.
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
            raise RunError(f"{out} was {made} with other settings ({path} holds them); choose another --out")
        if not path.is_file():
            write_whole(path, text)
        yield
