"""The checkpoints of a bench by name."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from robogaze.errors import OptionError
from robogaze.paths import given_path


def named_checkpoints(checkpoints: Mapping[str, str | Path] | Iterable[str | Path]) -> dict[str, Path]:
    """The paths of checkpoints by name.

    The keys of a mapping are the names. Otherwise a path may be written as "NAME=PATH". A checkpoint without a name is
    named after its folder, or after its file without the suffix. Raises OptionError if two checkpoints have the same
    name, if a name cannot be the name of a folder, or if a path is empty.
    """
    items = checkpoints.items() if isinstance(checkpoints, Mapping) else (_named(given) for given in checkpoints)
    named: dict[str, Path] = {}
    for name, path in ((str(name), path) for name, path in items):
        if name in named or name in ("", "..") or name != Path(name).name:
            why = "is the name of two checkpoints" if name in named else "cannot be the name of a folder"
            raise OptionError(f"{name or 'an empty text'} {why}; give another name: NAME=PATH")
        named[name] = given_path(path, f"the path of the checkpoint {name}")
    return named


def _named(given: str | Path) -> tuple[str, str | Path]:
    before, sign, after = str(given).partition("=")
    if sign and not Path(given).exists():
        return before, after
    whole = given_path(given, "the path of a checkpoint").resolve()
    return whole.name if whole.is_dir() else whole.stem, given
