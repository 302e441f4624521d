"""What an evaluation of bug reports returns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from robogaze.core.estimate import Estimate
from robogaze.judges.base import DescriptionPair


@dataclass(frozen=True)
class JudgedReport:
    """A report, and the bug that it is matched to. `bug` is None if the report is matched to no bug.

    `similarity` is the similarity with the most similar bug. If an unmatched report describes a documented bug,
    `duplicate` is this bug; otherwise, `duplicate` is None. `reproduced` says whether the bug appeared again when the
    reported steps were repeated; it is None if that is not known.
    """

    system: str
    play: str
    id: str
    description: str
    bug: str | None
    duplicate: str | None
    similarity: float
    reproduced: bool | None


@dataclass(frozen=True)
class BugScores:
    """What plays found, as counts and shares.

    `found_in_any` is the share of bugs that at least one play found, with Wilson's interval. Use this share to measure
    sessions that remember earlier sessions, because these sessions do not report a known bug again. The interval of
    `recall` treats all plays of a bug as one unit; if each bug was played once, it is Wilson's interval. `precision`
    has Wilson's interval over reports. `recall_over_environments`, `precision_over_environments` and `f1` have
    intervals over environments. These intervals are computed only if there are at least two environments.
    """

    plays: int
    bugs: int
    found: int
    reports: int
    duplicates: int
    not_reproduced: int
    found_in_any: Estimate
    recall: Estimate
    precision: Estimate
    recall_over_environments: Estimate
    precision_over_environments: Estimate
    f1: Estimate


@dataclass(frozen=True)
class PlayGroup:
    """The scores of some plays, with recall by difficulty. `setting` holds what these plays have in common."""

    setting: Mapping[str, Any]
    scores: BugScores
    by_difficulty: Mapping[str, Estimate]


@dataclass(frozen=True)
class FoundBug:
    """A documented bug. `plays` counts the plays of each system; `found` counts the plays in which the system found the
    bug.
    """

    environment: str
    id: str
    difficulty: str
    found: dict[str, int]
    plays: dict[str, int]


@dataclass(frozen=True)
class SystemBugs:
    """The scores of a system.

    `counts` gives the numbers of missing, unscored, partial and unjudged plays, and the number of reports that were
    left out because they are not known to reproduce. For several numbers of steps, `by_step` has the scores of the
    reports that were made within this number of steps. It covers only plays whose budget was at least this number.
    `by_setting` has the scores of plays with the same settings; it is empty if no setting differs.
    """

    name: str
    counts: Mapping[str, int]
    scores: BugScores
    by_difficulty: Mapping[str, Estimate]
    by_step: tuple[PlayGroup, ...]
    by_setting: tuple[PlayGroup, ...]
    reports: tuple[JudgedReport, ...]


@dataclass(frozen=True)
class BugEvaluation:
    """The result of `evaluate_bugs`; `setting` lists the settings by which the plays in `by_setting` are grouped."""

    convention: str
    threshold: float
    judge: str
    judge_note: str
    environments: tuple[str, ...]
    setting: tuple[str, ...]
    unreferenced: tuple[str, ...]
    systems: tuple[SystemBugs, ...]
    bugs: tuple[FoundBug, ...]
    unjudged: tuple[DescriptionPair, ...] = ()

    @property
    def judged(self) -> bool:
        """Whether every judgement was made."""
        return not self.unjudged
