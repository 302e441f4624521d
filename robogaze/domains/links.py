"""Refuses links that lead out of a domain's folder.

Text in a domain folder is sent to models, so a link could send any file of this machine.
"""

from pathlib import Path

from robogaze.errors import DomainError


def check_inside(path: Path, domain_path: Path) -> None:
    """Raise DomainError if a path below a folder leads out of it, by a link anywhere in the path."""
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle, before Python 3.13
        raise DomainError(f"cannot be followed: {error}", path) from error
    if not target.is_relative_to(domain_path.resolve()):
        raise DomainError(
            f"leads out of the domain's folder {domain_path}, to {target}; copy the file into the folder", path
        )


def check_links(domain_path: Path) -> None:
    """Raise DomainError for the first link in a domain's folder that leads out of it; hidden files are skipped."""
    waiting = [domain_path]
    while waiting:
        for path in sorted(waiting.pop().iterdir()):
            if path.name.startswith("."):
                continue
            if path.is_symlink():
                check_inside(path, domain_path)
            elif path.is_dir():
                waiting.append(path)
