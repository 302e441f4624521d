"""Scores by dimension or event type, and the confusion of dimensions.

On both sides, an event belongs to the group of its primary dimension (or its type). A match counts in the group of each
of its two events. The recall of a group adds up S over the group's reference events, even if the matched predictions
belong to other groups. In the same way, the precision adds up S over the group's predicted events. An event that is
found under another dimension therefore counts as found in its own group, and its prediction counts as correct in the
other group. The confusion table counts these pairs. The F1 of a group is stricter. As in the released evaluator, it
counts only matches whose two events both belong to the group.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.matching import Match
from robogaze.metrics.scores import safe_divide
from robogaze.metrics.tally import judgeable, scored

Matrix = NDArray[np.float64]

UNNAMED = ""
"""The group of events without a label."""

GROUP_COLUMNS = ("references", "predictions", "references_similarity", "predictions_similarity", "similarity_within")
"""The counts of a group: events of both sides, the S of those that are matched, and the S of pairs within the group."""


def dimension_of(event: AnnotatedEvent) -> str:
    """The dimension of an event; UNNAMED if it has none."""
    return event.dimension or UNNAMED


def type_of(event: AnnotatedEvent) -> str:
    """The type of an event; UNNAMED if it has none."""
    return event.type or UNNAMED


Group = Callable[[AnnotatedEvent], str]


def groups_in(annotations: Iterable[ClipAnnotation], group: Group) -> tuple[str, ...]:
    """The groups of the annotations' events, sorted; UNNAMED comes first."""
    return tuple(sorted({group(event) for annotation in annotations for event in annotation.findings}))


def group_counts(
    reference: ClipAnnotation,
    prediction: ClipAnnotation | None,
    matches: Sequence[Match],
    group: Group,
    groups: Sequence[str],
) -> Matrix:
    """The counts of a clip, with one row per group and one column for each of GROUP_COLUMNS. The counts of several
    clips can be added.

    Raises KeyError if an event's group is not in `groups`. A missing or unscored prediction has no events, and
    predicted events that the reference cannot judge are excluded, as in `tally`.
    """
    place = {name: index for index, name in enumerate(groups)}
    counts = np.zeros((len(groups), len(GROUP_COLUMNS)))
    predicted = _predicted(reference, prediction)
    for column, findings in enumerate((reference.findings, predicted.values())):
        for event in findings:
            counts[place[group(event)], column] += 1
    # Added up from the smallest, so that the order of the findings leaves no trace in the last digit.
    for pair in sorted(matches, key=lambda match: match.similarity) if predicted else ():
        row, column = (
            place[group(event)] for event in (reference.findings[pair.reference], predicted[pair.prediction])
        )
        counts[row, 2] += pair.similarity
        counts[column, 3] += pair.similarity
        counts[row, 4] += pair.similarity * (row == column)
    return counts


def group_scores(sums: Matrix) -> Matrix:
    """Precision, recall and F1, each in [0, 1], from sums of group counts: the 5 counts on the last axis become 3
    scores.

    Precision is NaN if nothing was predicted in the group; recall is NaN if the group has no reference event. F1 is 2S
    / (N + M), where S is summed over the pairs whose events are both in the group. An event that is found under another
    label counts against F1, so a group that is never predicted has F1 0. F1 is NaN if neither side has an event.
    """
    references, predictions, found, right, within = np.moveaxis(sums, -1, 0)
    whole = references + predictions
    return np.stack(
        [safe_divide(right, predictions), safe_divide(found, references), safe_divide(2 * within, whole)], axis=-1
    )


def confusion(
    reference: ClipAnnotation,
    prediction: ClipAnnotation | None,
    matches: Sequence[Match],
    group: Group,
    groups: Sequence[str],
) -> Matrix:
    """Count a clip's events by their group in the reference and in the prediction, shape (groups + 1, groups + 1). The
    counts of several clips can be added.

    Rows are the reference's groups, columns the prediction's. The last column counts missed events, and the last row
    counts spurious events; the corner is 0. Raises KeyError if an event's group is not in `groups`.
    """
    place = {name: index for index, name in enumerate(groups)}
    counts = np.zeros((len(groups) + 1, len(groups) + 1))
    missed = dict(enumerate(reference.findings))
    spurious = dict(_predicted(reference, prediction))
    for pair in matches if spurious else ():
        row, column = missed.pop(pair.reference), spurious.pop(pair.prediction)
        counts[place[group(row)], place[group(column)]] += 1
    for event in missed.values():
        counts[place[group(event)], -1] += 1
    for event in spurious.values():
        counts[-1, place[group(event)]] += 1
    return counts


def _predicted(reference: ClipAnnotation, prediction: ClipAnnotation | None) -> Mapping[int, AnnotatedEvent]:
    """The judgeable events of a prediction by their index."""
    if not scored(prediction):
        return {}
    kept = judgeable(reference, prediction)
    return {index: event for index, event in enumerate(prediction.findings) if kept[index]}
