"""Every metric: its definition, its computation from sums of rows, and its mean over clips.

S is the similarity of a matched pair, N is the number of predicted events (only judgeable events, see `tally`), and M
is the number of reference events.

`micro`   A metric is computed once for the corpus, from the sums of all rows, as in GLIDE. A prediction on a clean clip
          lowers the precision.
`macro`   A metric is computed for each clip and then averaged over clips, as in RoboGaze. Metrics of events are
          averaged over the clips whose reference has events; a prediction on a clean clip does not count here. Clean
          accuracy, detection and the recall of severe events have one value for the corpus, which is the same for
          `micro` and `macro`.

A value that would be 0/0 is NaN. It counts neither in the mean nor in n (the number of averaged values). A clip with
references and no prediction has no precision (0/0), but recall 0 and F1 0, so it stays in the means of recall and F1.
In the released evaluator, the clip stays in these means only if the prediction file exists and is empty.

Most metrics are normalised by the number of all events ("loose"). Metrics whose name ends in `_strict` are normalised
by the number of events that overlap in time with any event of the other side (RoboGaze, Table 20); events at a wrong
time are therefore not counted at all. Severities are weights as in RoboGaze, A.2.4: a missed reference event of
severity k adds k to the denominator. Fields that a prediction leaves blank count against it (see `tally`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from robogaze.metrics.tally import COLUMNS

Matrix = NDArray[np.float64]

COLUMN = {name: index for index, name in enumerate(COLUMNS)}
"""The position of a column in a row."""


@dataclass(frozen=True)
class Metric:
    """A number in [0, 1], higher is better, NaN if undefined.

    `title` is its name in tables. `level` is "clip" if every clip has a value, so that there is a mean over clips. It
    is "corpus" if there is only a single value for a corpus. `of` computes the metric from sums of rows; the result has
    no axis of columns. The n of the micro value is the sum of the columns in `counted`, and `unit` says what n counts.
    """

    name: str
    title: str
    doc: str
    level: Literal["clip", "corpus"]
    unit: Literal["events", "pairs", "clips"]
    counted: tuple[str, ...]
    of: Callable[[Matrix], Matrix]

    def per_clip(self, rows: Matrix) -> Matrix:
        """The value of each row; NaN if the reference has no event and the metric has a mean over clips."""
        values = self.of(rows)
        return values if self.level == "corpus" else np.where(_sum(rows, "references") > 0, values, np.nan)

    def n(self, sums: Matrix) -> Matrix:
        """The n of the micro value."""
        return _sum(sums, *self.counted)


def _sum(sums: Matrix, *columns: str) -> Matrix:
    total: Matrix = sums[..., [COLUMN[column] for column in columns]].sum(axis=-1)
    return total


def safe_divide(top: Matrix, bottom: Matrix) -> Matrix:
    """`top` / `bottom`, NaN where `bottom` is 0."""
    quotient: Matrix = np.divide(top, bottom, out=np.full(np.shape(bottom), np.nan), where=bottom > 0)
    return quotient


def _ratio(top: str, *bottom: str) -> Callable[[Matrix], Matrix]:
    """A sum divided by the mean of one or two other sums: S/N, S/M, and F1, which is S over the mean of N and M."""
    return lambda sums: safe_divide(_sum(sums, top), _sum(sums, *bottom) / len(bottom))


def _severity_weighted_f1(sums: Matrix) -> Matrix:
    predictions, references = _sum(sums, "predictions"), _sum(sums, "references")
    of_predictions, of_references = _sum(sums, "predictions_severity"), _sum(sums, "references_severity")
    precision = safe_divide(_sum(sums, "similarity_predictions_severity"), of_predictions)
    recall = safe_divide(_sum(sums, "similarity_references_severity"), of_references)
    ungraded = (references > 0) & (of_references == 0)
    nothing_found = np.where(ungraded | (predictions + references == 0), np.nan, 0.0)
    both = precision + recall
    return np.where(both > 0, safe_divide(2 * precision * recall, both), nothing_found)


def _doubled_share(field: str, top: str) -> Callable[[Matrix], Matrix]:
    """Twice a sum, divided by the number of references that have a field plus the number of predictions that should
    have it. NaN if there are references and none of them has the field.
    """

    def value(sums: Matrix) -> Matrix:
        asked = _sum(sums, f"references_{field}")
        whole = asked + _sum(sums, f"predictions_{field}")
        return safe_divide(2 * _sum(sums, top), np.where((asked == 0) & (_sum(sums, "references") > 0), 0.0, whole))

    return value


def _field_metric(name: str, title: str, doc: str, field: str, top: str) -> Metric:
    counted = (f"predictions_{field}", f"references_{field}")
    return Metric(name, title, doc, "clip", "events", counted, _doubled_share(field, top))


def _event_metric(name: str, title: str, doc: str, top: str, *bottom: str) -> Metric:
    return Metric(name, title, doc, "clip", "events", bottom, _ratio(top, *bottom))


def _pair_metric(name: str, title: str, doc: str, top: str, bottom: str) -> Metric:
    return Metric(name, title, doc, "clip", "pairs", (bottom,), _ratio(top, bottom))


def _clip_metric(name: str, title: str, doc: str, top: str, *bottom: str) -> Metric:
    counted = bottom if len(bottom) == 1 else ("clips",)
    return Metric(name, title, doc, "corpus", "clips", counted, _ratio(top, *bottom))


_OVERLAPPED = ("predictions_overlapped", "references_overlapped")

_ALL = (
    _event_metric(
        "desc_precision", "Description precision", "Sum of S over matched pairs / N.", "similarity", "predictions"
    ),
    _event_metric("desc_recall", "Description recall", "Sum of S over matched pairs / M.", "similarity", "references"),
    _event_metric(
        "desc_f1",
        "Description F1",
        "2 * sum of S over matched pairs / (N + M).",
        "similarity",
        "predictions",
        "references",
    ),
    _pair_metric("miou", "mIoU", "Mean IoU over matched pairs whose reference has a time.", "iou", "matched_timed"),
    _field_metric(
        "f1_iou",
        "F1 x IoU",
        "2 * sum of S * IoU over matched pairs / (N + M), only for references with a time.",
        "timed",
        "similarity_iou",
    ),
    _pair_metric(
        "severity_exact",
        "Severity, exact",
        "Share of matched pairs with equal severities, among the matched pairs whose reference has a severity.",
        "severity_exact",
        "severity_pairs",
    ),
    _pair_metric(
        "severity_within1",
        "Severity within 1",
        "Share of matched pairs whose severities differ by at most 1, among the matched pairs whose reference "
        "has a severity.",
        "severity_within1",
        "severity_pairs",
    ),
    Metric(
        "severity_weighted_f1",
        "Severity-weighted F1",
        "Harmonic mean of P and R. P = sum of S * k over matched pairs / sum of k over predictions, where k is "
        "the predicted "
        "severity. R = sum of S * k over matched pairs / sum of k over references, where k is the reference severity. "
        "A prediction without a severity weighs 5 and earns nothing; a reference without a severity is left out. "
        "The value is 0 if a "
        "side has no events, and NaN if the reference has events, but none with a severity.",
        "clip",
        "events",
        ("predictions", "references_graded"),
        _severity_weighted_f1,
    ),
    Metric(
        "severe_recall",
        "Sev-R",
        "Share of the reference events of severity 4 or 5 that are recovered: a predicted event of the same dimension "
        "shares time with the reference event. No judge is asked.",
        "corpus",
        "events",
        ("references_severe",),
        _ratio("severe_recovered", "references_severe"),
    ),
    _clip_metric(
        "clean_accuracy",
        "Clean accuracy",
        "Share of the clips without reference events whose prediction is complete, covers the dimensions of the "
        "reference and has no events.",
        "clean_found",
        "clean",
    ),
    _clip_metric(
        "detection_precision",
        "Detection precision",
        "Of the clips that were reported with events, the share whose reference has events.",
        "faulty_found",
        "alarms",
    ),
    _clip_metric(
        "detection_recall",
        "Detection recall",
        "Share of the clips with reference events that were reported with events.",
        "faulty_found",
        "faulty",
    ),
    _clip_metric(
        "detection_f1",
        "Detection F1",
        "2 * clips with events on both sides / (clips reported with events + clips with reference events).",
        "faulty_found",
        "alarms",
        "faulty",
    ),
    *(
        _field_metric(
            f"tiou_f1_{percent}",
            f"tIoU F1 at 0.{percent // 10}",
            f"2 * matched pairs with an IoU of at least 0.{percent // 10} / (N + M), only for references with a time.",
            "timed",
            f"tiou_{percent}",
        )
        for percent in (30, 50, 70)
    ),
    _event_metric(
        "desc_precision_strict",
        "Description precision, strict",
        "Sum of S over matched pairs that share time / predicted events that share time with a reference event.",
        "similarity_overlapped",
        "predictions_overlapped",
    ),
    _event_metric(
        "desc_recall_strict",
        "Description recall, strict",
        "Sum of S over matched pairs that share time / reference events that share time with a predicted event.",
        "similarity_overlapped",
        "references_overlapped",
    ),
    _event_metric(
        "desc_f1_strict",
        "Description F1, strict",
        "2 * sum of S over matched pairs that share time / events that share time with an event of the other side.",
        "similarity_overlapped",
        *_OVERLAPPED,
    ),
    _field_metric(
        "desc_f1_dimension",
        "Description F1 with dimension",
        "2 * sum of S over matched pairs with the same dimension / (N + M), only for references with a dimension.",
        "dimensioned",
        "similarity_dimension",
    ),
)

METRICS: Mapping[str, Metric] = {metric.name: metric for metric in _ALL}
"""Every metric by name, in the order of the tables."""

_MEANS = [metric for metric in _ALL if metric.level == "clip"]


def with_clip_values(rows: Matrix) -> Matrix:
    """Add columns to the rows, so that the means over clips can be computed from sums of rows, too.

    Each row is followed by the clip's own value of each metric of events (0 if undefined), then by a flag for each of
    these values: 1 if it is defined, 0 if it is undefined. The shape (..., columns) becomes (..., columns + 2 * metrics
    of events).
    """
    values = np.stack([metric.per_clip(rows) for metric in _MEANS], axis=-1)
    defined = ~np.isnan(values)
    return np.concatenate([rows, np.where(defined, values, 0.0), defined], axis=-1)


def micro(sums: Matrix) -> Matrix:
    """Compute all metrics over the corpus from sums of rows, which may be extended by `with_clip_values`. The result
    has shape (..., metrics), in the order of METRICS.
    """
    return np.stack([metric.of(sums) for metric in _ALL], axis=-1)


def macro(sums: Matrix) -> Matrix:
    """Compute all metrics as means over clips, from sums of rows that `with_clip_values` extended. The result has shape
    (..., metrics), in the order of METRICS.
    """
    values, defined = _means(sums)
    means = iter(np.moveaxis(safe_divide(values, defined), -1, 0))
    return np.stack([next(means) if metric.level == "clip" else metric.of(sums) for metric in _ALL], axis=-1)


def micro_n(sums: Matrix) -> Matrix:
    """The number of events, pairs or clips (see `Metric.unit`) behind each micro value, shape (..., metrics)."""
    return np.stack([metric.n(sums) for metric in _ALL], axis=-1)


def macro_n(sums: Matrix) -> Matrix:
    """The number of clips behind each macro value (the clips in which the value is defined), shape (..., metrics)."""
    defined = iter(np.moveaxis(_means(sums)[1], -1, 0))
    return np.stack([next(defined) if metric.level == "clip" else metric.n(sums) for metric in _ALL], axis=-1)


def _means(sums: Matrix) -> tuple[Matrix, Matrix]:
    values, defined = np.split(sums[..., len(COLUMNS) :], 2, axis=-1)
    return values, defined
