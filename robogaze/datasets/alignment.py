"""Accounts of the same clips under different ids, found by id, then by content, then by the stem of the file."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from robogaze.core.annotation import ClipAnnotation
from robogaze.datasets.manifest import stem_of

_VIDEO = (".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi")


@dataclass(frozen=True)
class Aligned:
    """Accounts under the ids of the references; `by` counts how each of those that have a reference was found."""

    accounts: tuple[ClipAnnotation, ...]
    by: Mapping[str, int]

    def __str__(self) -> str:
        """How clips were paired: `3 by id, 1 by sha256`."""
        return ", ".join(f"{number} by {key}" for key, number in self.by.items() if number)


def aligned(references: Sequence[ClipAnnotation], accounts: Sequence[ClipAnnotation]) -> Aligned:
    """Give accounts the clip ids of the references of the same clips.

    A content or a stem pairs only where it is that of one clip on either side, and a stem never two files that are
    known to differ. What has no partner keeps its id.
    """
    ids = {one.clip_id for one in references}
    found = {one.clip_id: one.clip_id for one in accounts if one.clip_id in ids}
    by = {"id": len(found), "sha256": 0, "stem": 0}
    for name, key in (("sha256", _sha256), ("stem", _stem)):
        left = [one for one in references if one.clip_id not in set(found.values())]
        theirs = _unique(left, key)
        ours = _unique([one for one in accounts if one.clip_id not in found], key)
        for value in theirs.keys() & ours.keys():
            if len({theirs[value].clip_sha256, ours[value].clip_sha256} - {None}) < 2:
                found[ours[value].clip_id] = theirs[value].clip_id
                by[name] += 1
    renamed = (replace(one, clip_id=found.get(one.clip_id, one.clip_id)) for one in accounts)
    return Aligned(tuple(renamed), by)


def _unique(
    accounts: Sequence[ClipAnnotation], key: Callable[[ClipAnnotation], str | None]
) -> dict[str, ClipAnnotation]:
    """One account of each clip by a key that no other clip has."""
    clips = {one.clip_id: one for one in accounts}
    counts = Counter(key(one) for one in clips.values())
    return {value: one for one in clips.values() if (value := key(one)) is not None and counts[value] == 1}


def _sha256(account: ClipAnnotation) -> str | None:
    return account.clip_sha256


def _stem(account: ClipAnnotation) -> str:
    path = PurePath((account.clip_file or account.clip_id).partition("#")[0])
    return stem_of(path.stem if account.clip_file or path.suffix.lower() in _VIDEO else path.name).casefold()
