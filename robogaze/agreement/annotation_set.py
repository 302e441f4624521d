"""Who annotated what: the clips that two annotators or more have completed, and those that they have not.

Only what all annotators of a clip looked for can be compared: where one of them was asked for some dimensions alone,
the findings of the others are set aside and counted.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.errors import InputError

Dimensions = frozenset[str] | None
"""Dimensions that were looked for; None means all."""


@dataclass(frozen=True)
class ClipAnnotations:
    """A clip with what two annotators or more say of it.

    `accounts` are in the order of the authors' names and hold nothing outside `dimensions`, those that all of
    them looked for; findings are in the order of what they say. `dataset` is the clip's value of the field that clips
    are resampled within, empty where it has none. `frame_times_s` and `duration_s` are those of whichever account
    knows them.
    """

    clip_id: str
    dataset: str
    accounts: tuple[ClipAnnotation, ...]
    dimensions: Dimensions
    frame_times_s: Sequence[float] | None
    duration_s: float | None

    @property
    def authors(self) -> tuple[str, ...]:
        """The annotators' names."""
        return tuple(account.author for account in self.accounts)

    def unit(self, field: str) -> Hashable:
        """What the clip is resampled with: its value of the field, as one of the accounts gives it, else itself."""
        said = sorted(one.fields[field] for one in self.accounts if one.fields.get(field))
        return said[0] if said else (self.clip_id,)


@dataclass(frozen=True)
class AnnotationSet:
    """The clips of several annotators.

    `cases` are in the order of the clips' ids. What is not among them is listed: `single` clips, which one annotator
    alone has completed, `unfinished` accounts (clip, author), and `apart`, clips whose annotators looked for nothing in
    common. `aside` counts the findings that were set aside.
    """

    annotators: tuple[str, ...]
    cases: tuple[ClipAnnotations, ...]
    single: tuple[str, ...]
    unfinished: tuple[tuple[str, str], ...]
    apart: tuple[str, ...]
    aside: int

    @classmethod
    def of(cls, accounts: Iterable[ClipAnnotation], by: str = "split", *, mixed: bool = False) -> "AnnotationSet":
        """Gather accounts by clip; `by` names the field that tells the dataset.

        Raises InputError when one annotator has two accounts of a clip, when two accounts of a clip are known to be
        of different files or datasets, and, unless `mixed`, when labels of different taxonomies meet.
        """
        given = sorted(accounts, key=lambda one: (one.clip_id, one.author))
        if not mixed:
            _check_same_labels(given)
        clips = {name: [one for one in found if one.status == "complete"] for name, found in _by_clip(given).items()}
        several = {name: found for name, found in clips.items() if len(found) > 1}
        shared = {name: common(found) for name, found in several.items()}
        compared = {name: found for name, found in several.items() if shared[name] != frozenset()}
        cases = tuple(_case(found, shared[name], by) for name, found in compared.items())
        before = sum(len(one.findings) for found in compared.values() for one in found)
        return cls(
            annotators=tuple(sorted({one.author for one in given})),
            cases=cases,
            single=tuple(name for name, found in clips.items() if len(found) == 1),
            unfinished=tuple((one.clip_id, one.author) for one in given if one.status != "complete"),
            apart=tuple(name for name in several if name not in compared),
            aside=before - sum(len(one.findings) for case in cases for one in case.accounts),
        )


def content(one: AnnotatedEvent) -> tuple[Any, ...]:
    """What a finding says, comparable; labels and severity last, for they must not decide what is matched."""
    return one.spans, one.description, one.dimension or "", one.type or "", one.severity or 0, one.secondary


def event_name(author: str, one: AnnotatedEvent) -> str:
    """What an event is called where several annotators' events meet, for a judge as for people."""
    return f"{author}/{one.id}"


def common(accounts: Sequence[ClipAnnotation]) -> Dimensions:
    """The dimensions that all authors looked for; None when nobody says, which means all."""
    said = [covered for one in accounts if (covered := one.covered) is not None]
    return frozenset.intersection(*said) if said else None


def _case(accounts: Sequence[ClipAnnotation], dimensions: Dimensions, by: str) -> ClipAnnotations:
    times = [one.frame_times_s for one in accounts if one.frame_times_s is not None]
    lengths = [one.duration_s for one in accounts if one.duration_s is not None]
    return ClipAnnotations(
        clip_id=accounts[0].clip_id,
        dataset=_dataset(accounts, by),
        accounts=tuple(replace(one, findings=_compared(one.findings, dimensions)) for one in accounts),
        dimensions=dimensions,
        # Two that know the frames know the same ones; if they do not, the choice must not depend on who came first.
        frame_times_s=max(times, key=lambda one: (len(one), tuple(one))) if times else None,
        duration_s=max(lengths) if lengths else None,
    )


def _compared(findings: Sequence[AnnotatedEvent], dimensions: Dimensions) -> tuple[AnnotatedEvent, ...]:
    """The findings that can be compared, in an order that depends on what they say alone."""
    kept = (
        one
        for one in findings
        if dimensions is None or one.dimension is None or not dimensions.isdisjoint((one.dimension, *one.secondary))
    )
    return tuple(sorted(kept, key=content))


def _dataset(accounts: Sequence[ClipAnnotation], by: str) -> str:
    said = {one.fields[by]: one for one in accounts if by in one.fields}
    if len(said) > 1:
        (first, one), (second, other) = list(said.items())[:2]
        raise InputError(
            f"{one.clip_id} has the {by} {first!r} in {one.source} and {second!r} in {other.source}; "
            "correct one of them, or choose another field with --by"
        )
    return next(iter(said), "")


def _by_clip(accounts: Sequence[ClipAnnotation]) -> Mapping[str, Sequence[ClipAnnotation]]:
    clips: dict[str, list[ClipAnnotation]] = {}
    for account in accounts:
        others = clips.setdefault(account.clip_id, [])
        _check_new(account, others)
        others.append(account)
    return clips


def _check_new(account: ClipAnnotation, others: Sequence[ClipAnnotation]) -> None:
    for other in others:
        if other.author == account.author:
            raise InputError(
                f"{account.author} has two accounts of {account.clip_id} ({other.source} and {account.source}); "
                "if they are of two people, name them: robogaze agree ANN=FILE BOB=FILE"
            )
        if None not in (other.clip_sha256, account.clip_sha256) and other.clip_sha256 != account.clip_sha256:
            raise InputError(
                f"{account.clip_id} is not the same file in {other.source} and {account.source} (their sha256 differ); "
                "give one of the clips another id"
            )


def _check_same_labels(accounts: Sequence[ClipAnnotation]) -> None:
    seen: Mapping[str, ClipAnnotation] = {one.taxonomy: one for one in reversed(accounts) if one.taxonomy is not None}
    if len(seen) > 1:
        first, second = sorted(one.source for one in seen.values())[:2]
        raise InputError(f"{first} and {second} use labels of different taxonomies; --mixed compares them anyway")
