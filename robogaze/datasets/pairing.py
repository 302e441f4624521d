"""References and predictions, paired by clip.

Nothing falls out unseen: a clip without a prediction stays in every denominator, a prediction without a reference and
a reference that was never finished are listed and counted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from robogaze.core.annotation import ClipAnnotation
from robogaze.errors import InputError

_SHOWN = 3
"""How many clips a message names."""


@dataclass(frozen=True)
class System:
    """What one system said of every clip it has a report for, by clip id."""

    name: str
    accounts: Mapping[str, ClipAnnotation]

    @classmethod
    def of(cls, name: str, accounts: Sequence[ClipAnnotation]) -> "System":
        """Raises InputError when a clip has two accounts."""
        return cls(name, _by_clip(accounts))


@dataclass(frozen=True)
class Pairing:
    """The clips that can be scored, in the order of their ids, and those that cannot.

    `unreferenced` have a prediction of some system but no reference; `unfinished` have a reference that
    is not complete. `left_out` are the parts of files that did not fit, each with its place.
    """

    references: tuple[ClipAnnotation, ...]
    systems: tuple[System, ...]
    unreferenced: tuple[str, ...]
    unfinished: tuple[str, ...]
    left_out: tuple[str, ...] = ()


def pair(references: Sequence[ClipAnnotation], systems: Sequence[System], *, mixed: bool = False) -> Pairing:
    """Pair accounts by clip id.

    Raises InputError when a clip has two references, when both sides know the clip's file and it is not the same,
    when no clip has both, and, unless `mixed`, when labels of different taxonomies meet.
    """
    by_clip = _by_clip(references)
    for system in systems:
        for name, account in system.accounts.items():
            if name in by_clip:
                _check_same_clip(by_clip[name], account)
    if not mixed:
        _check_same_labels(references, systems)
    finished = {name: _timed(one, systems) for name, one in by_clip.items() if one.status == "complete"}
    if not finished:
        raise InputError(f"no reference is complete: those of {_listed(by_clip)} are partial or unscored")
    predicted = {name for system in systems for name in system.accounts}
    if not predicted & by_clip.keys():
        raise InputError(f"no prediction has the id of a referenced clip (references: {_listed(by_clip)}; "
                         f"predictions: {_listed(predicted)}); both sides must name clips alike")  # fmt: skip
    return Pairing(
        references=tuple(finished[name] for name in sorted(finished)),
        systems=tuple(systems),
        unreferenced=tuple(sorted(predicted - by_clip.keys())),
        unfinished=tuple(sorted(by_clip.keys() - finished.keys())),
    )


def _timed(reference: ClipAnnotation, systems: Sequence[System]) -> ClipAnnotation:
    """The reference with the clip's frames, which a prediction may know where the reference does not."""
    if reference.frame_times_s is not None:
        return reference
    said = (system.accounts.get(reference.clip_id) for system in systems)
    known = next((one for one in said if one is not None and one.frame_times_s is not None), None)
    if known is None:
        return reference
    return replace(reference, frame_times_s=known.frame_times_s, duration_s=reference.duration_s or known.duration_s)


def _by_clip(accounts: Sequence[ClipAnnotation]) -> dict[str, ClipAnnotation]:
    found: dict[str, ClipAnnotation] = {}
    for account in accounts:
        other = found.setdefault(account.clip_id, account)
        if other is not account:
            raise InputError(
                f"{account.clip_id} has two accounts, by {other.author} ({other.source}) and by {account.author} "
                f"({account.source}); choose one with --author, or compare authors with: robogaze agree"
            )
    return found


def _check_same_clip(reference: ClipAnnotation, prediction: ClipAnnotation) -> None:
    known = {one.clip_sha256 for one in (reference, prediction)} - {None}
    if len(known) > 1:
        raise InputError(
            f"{reference.clip_id}: {prediction.source} speaks of another file than {reference.source} (their sha256 "
            "differ); score the clip again"
        )


def _check_same_labels(references: Sequence[ClipAnnotation], systems: Sequence[System]) -> None:
    seen: dict[str, ClipAnnotation] = {}
    for account in (*references, *(one for system in systems for one in system.accounts.values())):
        if account.taxonomy is not None:
            seen.setdefault(account.taxonomy, account)
    if len(seen) > 1:
        first, second = list(seen.values())[:2]
        raise InputError(
            f"{first.source} and {second.source} use labels of different taxonomies; --mixed compares them anyway"
        )
    for system in systems:
        prints = {one.fingerprint: one for one in system.accounts.values() if one.fingerprint is not None}
        if len(prints) > 1:
            first, second = list(prints.values())[:2]
            raise InputError(
                f"{system.name} is not one system: {first.source} and {second.source} were made with different "
                "versions of the domain's files; --mixed scores them anyway"
            )


def _listed(names: Mapping[str, ClipAnnotation] | set[str]) -> str:
    shown = sorted(names)[:_SHOWN]
    return ", ".join(shown) + (", ..." if len(names) > _SHOWN else "") if names else "none"
