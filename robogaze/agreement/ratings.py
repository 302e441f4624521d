"""Agreement on labels: is this a fault or not? (GBQA, Table 2)

A table of ratings has a row for each rating, with `unit`, `annotator` and `label`, as CSV or as JSONL. An empty label
(null) is a missing rating.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robogaze.core.estimate import Estimate
from robogaze.datasets.documents import Document, FormatError, Place, Table, documents
from robogaze.datasets.formats.records import ForeignRecord, Identifier, parse
from robogaze.errors import InputError
from robogaze.stats.agreement import alpha, alpha_by_class
from robogaze.stats.resample import Clusters, draw_resamples

COLUMNS = ("unit", "annotator", "label")


class _Rating(ForeignRecord):
    unit: Identifier
    annotator: Identifier
    label: Identifier | bool | None


@dataclass(frozen=True)
class Ratings:
    """The labels of each unit, in the order of `annotators`; None for a missing label."""

    annotators: tuple[str, ...]
    units: Mapping[str, tuple[str | None, ...]]

    @classmethod
    def read(cls, path: Path) -> "Ratings":
        """Read a table of ratings.

        Raises InputError if a value is invalid or an annotator rates a unit twice. The message contains the place in
        the file.
        """
        given: dict[tuple[str, str], tuple[str | None, str]] = {}
        for document, place, value in _records(path):
            try:
                rating = parse(_Rating, value)
            except FormatError as fault:
                raise _error(document, (*place, *fault.place), fault) from fault
            key, source = (str(rating.unit), str(rating.annotator)), document.source(place)
            if key in given:
                raise InputError(
                    f"{source}: {key[1]} rated {key[0]} twice (also in {given[key][1]}); keep one of the two"
                )
            given[key] = _label(rating.label), source
        annotators = tuple(sorted({annotator for _, annotator in given}))
        labels = {key: label for key, (label, _) in given.items()}
        units = sorted({unit for unit, _ in given})
        return cls(annotators, {unit: tuple(labels.get((unit, name)) for name in annotators) for unit in units})


@dataclass(frozen=True)
class RatingAgreement:
    """Krippendorff's nominal alpha: `overall` for all units, and `labels` for the units of each label (see
    `stats.alpha_by_class`).

    A unit belongs to the label that most of its ratings give. `units` counts all units. `once` counts the units with
    fewer than two ratings, which are excluded. `tied` counts the units without a single most frequent label.
    """

    annotators: tuple[str, ...]
    units: int
    once: int
    tied: int
    overall: Estimate
    labels: Mapping[str, Estimate]


def agree_on_ratings(ratings: Ratings, *, resamples: int, seed: int, level: float) -> RatingAgreement:
    """Agreement on the labels of units; the units are resampled."""
    rated = [unit for unit in ratings.units.values() if len(_given(unit)) > 1]
    clusters = Clusters(draw_resamples([""] * len(rated), resamples, np.random.default_rng(seed)), range(len(rated)))
    by_label = alpha_by_class(rated, by=clusters, level=level)
    return RatingAgreement(
        annotators=ratings.annotators,
        units=len(ratings.units),
        once=len(ratings.units) - len(rated),
        tied=sum(_tied(unit) for unit in rated),
        overall=alpha(rated, by=clusters, level=level),
        labels={str(label): estimate for label, estimate in sorted(by_label.items(), key=lambda item: str(item[0]))},
    )


def _given(unit: Sequence[str | None]) -> list[str]:
    return [label for label in unit if label is not None]


def _tied(unit: Sequence[str | None]) -> bool:
    counts = Counter(_given(unit)).most_common(2)
    return len(counts) == 2 and counts[0][1] == counts[1][1]


def _records(path: Path) -> Iterator[tuple[Document, Place, Any]]:
    """Every row or line, with its place."""
    if not path.is_file():
        raise InputError(f"{path} is not a file; give a table of ratings with {', '.join(COLUMNS)}")
    document = None
    try:
        for document in documents(path):
            yield from ((document, place, value) for place, value in _of_document(document))
    except FormatError as fault:
        raise (InputError(f"{path}: {fault.message}") if document is None else _error(document, (), fault)) from fault


def _of_document(document: Document) -> list[tuple[Place, Any]]:
    value = document.value
    if not isinstance(value, Table):
        return [((), value)] if not isinstance(value, list) else [((number,), row) for number, row in enumerate(value)]
    if missing := [name for name in COLUMNS if name not in value.columns]:
        raise FormatError(f"the header has no {', no '.join(missing)}; a table of ratings has {', '.join(COLUMNS)}")
    return [((number,), {"label": None, **row.cells}) for number, row in enumerate(value.rows)]


def _error(document: Document, place: Place, fault: FormatError) -> InputError:
    line, key = document.where(place)
    where = f"{document.path}:{line}" if line is not None else f"{document.path}"
    return InputError(f"{where}: {key}: {fault.message}" if key else f"{where}: {fault.message}")


def _label(value: str | int | bool | None) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)
