"""A domain's folder is whole: none of its files is a link to something outside.

Text in a domain folder is sent to models, so a link could send any file of this machine.
"""

from pathlib import Path

from robogaze.errors import DomainError


def check_inside(path: Path, home: Path) -> None:
    """Raise DomainError when a path below a folder leads out of it, by a link at any place in the path."""
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle, before Python 3.13
        raise DomainError(f"cannot be followed: {error}", path) from error
    if not target.is_relative_to(home.resolve()):
        raise DomainError(f"leads out of the domain's folder {home}, to {target}; copy the file into the folder", path)


def check_links(home: Path) -> None:
    """Raise DomainError for the first link in a domain's folder, hidden ones aside, that leads out of it."""
    waiting = [home]
    while waiting:
        for path in sorted(waiting.pop().iterdir()):
            if path.name.startswith("."):
                continue
            if path.is_symlink():
                check_inside(path, home)
            elif path.is_dir():
                waiting.append(path)
