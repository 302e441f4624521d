"""Feedback on a calibration clip: the annotator's events, compared with the events of the reference (the key).

The kappas are computed as in `robogaze agree`, between the annotator and the key, over all calibration clips that the
annotator has submitted. RoboGaze's senior annotators are the annotators with a kappa above 0.78 (A.2.3).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from robogaze.agreement.agree import agree
from robogaze.agreement.config import AgreementConfig
from robogaze.annotations import ReadOptions
from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.matching import Weighting, iou_matrix, match_events

_ANNOTATOR, _KEY = "annotator", "key"


def calibration_feedback(
    annotations: Sequence[ClipAnnotation], keys: Mapping[str, ClipAnnotation], clip_id: str
) -> Mapping[str, Any]:
    """What to show after a calibration clip, as JSON values.

    `annotations` are the annotations of all calibration clips that the annotator has submitted, including the clip
    `clip_id`. An undefined kappa, such as the kappa of a single clip, is null.
    """
    own = next(annotation for annotation in annotations if annotation.clip_id == clip_id)
    key = keys[clip_id]
    iou = iou_matrix(key.findings, own.findings, own.frame_times_s)
    alike = np.ones(iou.shape)
    matches = match_events(key.findings, own.findings, alike, iou, Weighting())
    pairs = [(key.findings[match.reference], own.findings[match.prediction], match.iou) for match in matches]
    found, used = ({id(pair[side]) for pair in pairs} for side in (0, 1))
    return {
        "kappa": _kappas(annotations, keys),
        "matched": [_matched(reference, event, overlap) for reference, event, overlap in pairs],
        "missed": [_shown(reference) for reference in key.findings if id(reference) not in found],
        "extra": [event.id for event in own.findings if id(event) not in used],
    }


def _kappas(annotations: Sequence[ClipAnnotation], keys: Mapping[str, ClipAnnotation]) -> Mapping[str, Any]:
    shared = {annotation.clip_id for annotation in annotations}
    result = agree(
        {
            _ANNOTATOR: [replace(annotation, author=_ANNOTATOR) for annotation in annotations],
            _KEY: [
                replace(keys[clip_id], clip_id=clip_id, author=_KEY, clip_sha256=None) for clip_id in sorted(shared)
            ],
        },
        AgreementConfig(match="iou", resamples=1),
        reading=ReadOptions(mixed=True),
    )
    scores = result.overall
    return {
        "clips": scores.clips,
        "detection": _number(scores.detection_kappa.value),
        "dimension": _number(scores.dimension_kappa.value),
    }


def _number(value: float) -> float | None:
    return None if np.isnan(value) else value


def _matched(reference: AnnotatedEvent, event: AnnotatedEvent, iou: float) -> Mapping[str, Any]:
    severities = reference.severity, event.severity
    return {
        "event": event.id,
        "key": _shown(reference),
        "iou": iou,
        "same_dimension": reference.dimension == event.dimension,
        "same_type": reference.type == event.type,
        "severity_difference": None if None in severities else (severities[1] or 0) - (severities[0] or 0),
    }


def _shown(event: AnnotatedEvent) -> Mapping[str, Any]:
    return {
        "id": event.id,
        "dimension": event.dimension,
        "type": event.type,
        "spans": [{"start_s": span.start, "end_s": span.end} for span in event.spans],
        "severity": event.severity,
        "description": event.description,
    }
