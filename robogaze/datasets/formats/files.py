"""Which files of a path hold accounts.

One file is itself. Of a folder, in this order:

files named report.json, at any depth   where there are some, only these: runs of `robogaze score`, of the RoboGaze
                                        release and of others keep a folder a clip, with further files in it
reports/*.json                          a run that keeps its reports together
*.json *.jsonl *.csv *.tsv              at any depth

The order is that of the names, so it is the same every time. Names that begin with a dot or an underscore are passed
over, as the released evaluator does. What else of a folder was passed over is counted.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from robogaze.errors import InputError

_REPORT = "report.json"
_REPORTS = "reports"
_SUFFIXES = (".json", ".jsonl", ".csv", ".tsv")
_OF_A_RUN = ("run.json", "manifest.jsonl", "unreadable.json")
"""What a run folder says about itself."""


@dataclass(frozen=True)
class FoundFiles:
    """The files to read below `root`, relative to it, and how many others there are that might have been meant."""

    root: Path
    files: tuple[PurePosixPath, ...]
    overlooked: int = 0


def find_files(path: Path) -> FoundFiles:
    """The files to read. Raises InputError when there is none."""
    if path.is_file():
        return FoundFiles(path.parent, (PurePosixPath(path.name),))
    if not path.is_dir():
        raise InputError(f"{path} does not exist; name a file or a folder of reports or annotations")
    listed = _listed(path)
    rules: tuple[Callable[[PurePosixPath], bool], ...] = (
        lambda file: file.name == _REPORT,
        lambda file: file.parts[:-1] == (_REPORTS,) and file.suffix == ".json",
        lambda file: True,
    )
    for rule in rules:
        if chosen := tuple(file for file in listed if rule(file)):
            return FoundFiles(path, chosen, len(listed) - len(chosen))
    raise InputError(f"{path} holds no file of reports or annotations ({', '.join(_SUFFIXES)})")


def _listed(root: Path) -> list[PurePosixPath]:
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        inner = Path(folder).relative_to(root).as_posix()
        of_the_run = _OF_A_RUN if inner == "." else ()
        for name in names:
            if name.endswith(_SUFFIXES) and not name.startswith((".", "_")) and name not in of_the_run:
                found.append(PurePosixPath(inner, name))
    return sorted(found)
