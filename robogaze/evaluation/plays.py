"""Plays of interactive environments, each with the documented bugs of the build that was played."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.datasets.builds import is_address, parse_switches
from robogaze.errors import InputError
from robogaze.metrics.tally import scored


@dataclass(frozen=True)
class Play:
    """A play of a system, with the bugs of the build that was played.

    `annotation` is None if the system did not play the environment. `left_out` counts the reports that were left out
    because they are not known to reproduce.
    """

    system: str
    environment: ClipAnnotation
    annotation: ClipAnnotation | None
    left_out: int = 0

    @property
    def bugs(self) -> tuple[AnnotatedEvent, ...]:
        return self.environment.findings

    @property
    def reports(self) -> tuple[AnnotatedEvent, ...]:
        """What was reported; empty for a missing or unscored play."""
        return self.annotation.findings if scored(self.annotation) else ()

    @property
    def setting(self) -> Mapping[str, Any]:
        """How the play was made; empty if that is not known."""
        return {} if self.annotation is None else self.annotation.play


def environments_in(references: Iterable[ClipAnnotation]) -> Mapping[str, ClipAnnotation]:
    """The documented bugs by environment. Raises InputError if an environment has two lists."""
    found: dict[str, ClipAnnotation] = {}
    for reference in references:
        other = found.setdefault(reference.clip_id, reference)
        if other is not reference:
            raise InputError(
                f"{reference.clip_id} has two lists of bugs, {other.source} and {reference.source}; pass only "
                f"one of them"
            )
    return found


def plays_of(
    system: str,
    annotations: Sequence[ClipAnnotation],
    environments: Mapping[str, ClipAnnotation],
    *,
    reproduced_only: bool,
) -> tuple[tuple[Play, ...], tuple[str, ...]]:
    """A system's plays, and the ids of the plays without documented bugs.

    For an environment that the system did not play, the result contains a play without an annotation; every bug counts
    as missed in this play. `reproduced_only` leaves out the reports that are not known to reproduce.
    """
    plays, unreferenced = [], []
    for annotation in annotations:
        environment = _environment(annotation, environments)
        if environment is None:
            unreferenced.append(annotation.clip_id)
            continue
        kept = tuple(event for event in annotation.findings if event.reproduced or not reproduced_only)
        left_out = len(annotation.findings) - len(kept)
        plays.append(Play(system, environment, replace(annotation, findings=kept), left_out))
    played = {play.environment.clip_id for play in plays}
    plays += [Play(system, bugs, None) for name, bugs in environments.items() if name not in played]
    return tuple(plays), tuple(unreferenced)


def _environment(annotation: ClipAnnotation, environments: Mapping[str, ClipAnnotation]) -> ClipAnnotation | None:
    """The bugs of the build that was played, such as `castle:-drawer`; None if the environment is not known.

    A play at the address of a server belongs to the environment if there is only one environment.
    """
    played = str(annotation.play.get("environment") or annotation.clip_id)
    if is_address(played):
        return next(iter(environments.values())) if len(environments) == 1 else None
    path, _, switches = played.partition(":")
    reference = environments.get(path) or environments.get(PurePosixPath(path).name)
    if reference is None:
        return None
    present = parse_switches(switches, tuple(bug.id for bug in reference.findings))
    return replace(reference, findings=tuple(bug for bug in reference.findings if bug.id in present))
