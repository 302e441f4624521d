"""The rate by which runs are compared: its name, and the dimensions it covers.

If every run has clips that cover all dimensions, this rate is the clean rate. A run without such clips, for example one
that was scored without a model, cannot have a clean clip. Runs are then compared by the nothing-found rate, the share
of clips without an event. This rate covers only the dimensions that every complete clip of every run covers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from robogaze.comparison.runs import Run
from robogaze.core.annotation import ClipAnnotation
from robogaze.core.coverage import covers_all


@dataclass(frozen=True)
class Scope:
    """The dimensions that a comparison covers; None means all dimensions."""

    dimensions: tuple[str, ...] | None = None

    @property
    def key(self) -> str:
        """The rate's name in JSON and for trackers."""
        return "clean_rate" if self.dimensions is None else "nothing_found_rate"

    @property
    def name(self) -> str:
        """The rate's name in tables and sentences."""
        return "clean rate" if self.dimensions is None else "nothing-found rate"

    @property
    def open_clips(self) -> str:
        """The words for clips that another verdict could add to the rate or take from it. The nothing-found rate counts
        undecided clips, because they are complete and have no event.
        """
        return "undecided or incomplete clips" if self.dimensions is None else "incomplete clips"

    def renamed(self, measure: str) -> str:
        """The name of a measure in JSON: `key` for the rate, and the unchanged name for all others."""
        return self.key if measure == "clean_rate" else measure

    def counts(self, annotation: ClipAnnotation) -> bool:
        """Whether a clip counts for the rate: it is clean, or has no event."""
        return annotation.clean if self.dimensions is None else annotation.nothing_found


def scope_of(runs: Sequence[Run]) -> Scope:
    """The scope of a comparison; it covers all dimensions even if no run has a complete clip."""
    complete = [
        [annotation for annotation in run.annotations.values() if annotation.status == "complete"] for run in runs
    ]
    if all(not annotations or any(map(_covers_all, annotations)) for annotations in complete):
        return Scope()
    covered = [
        annotation.covered for annotations in complete for annotation in annotations if annotation.covered is not None
    ]
    return Scope(tuple(sorted(frozenset.intersection(*covered))))


def _covers_all(annotation: ClipAnnotation) -> bool:
    return annotation.coverage is None or covers_all(annotation.coverage.values())
