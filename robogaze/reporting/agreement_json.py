"""The agreement of annotators as JSON, and what is settled as a table that can be read again."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from robogaze.agreement.annotator_agreement import AgreementResult
from robogaze.agreement.ceiling import Ceiling, CeilingScores
from robogaze.agreement.coefficients import AgreementScores
from robogaze.agreement.ratings import RatingAgreement
from robogaze.core.annotation import FIELDS, AnnotatedEvent, ClipAnnotation
from robogaze.core.coverage import as_cell
from robogaze.core.time import RESOLUTION
from robogaze.evaluation.estimates import Scores


def agreement_json(result: AgreementResult) -> Mapping[str, Any]:
    """The result as one JSON object."""
    panel = result.annotation_set
    return {
        "schema_version": 1,
        **result.config.model_dump(),
        "judge": {"name": result.judge, "note": result.judge_note},
        "annotators": panel.annotators,
        "statistics": {"detection_kappa": result.kappas.detection, "dimension_kappa": result.kappas.dimension},
        "counts": {
            "clips": len(panel.clips),
            "events": result.overall.events,
            "events_set_aside": panel.excluded_events,
            "failed_judgements": result.failed,
            "clips_by_one_annotator": panel.single_annotator,
            "unfinished": [{"clip_id": clip, "annotator": author} for clip, author in panel.unfinished],
            "clips_with_nothing_in_common": panel.no_shared_dimensions,
        },
        "overall": _measures(result.overall),
        "per_dataset": {name: _measures(one) for name, one in result.datasets.items()},
        "per_dimension": {name: _measures(one) for name, one in result.dimensions.items()},
        "per_pair": [{"annotators": two, **_measures(one)} for two, one in result.pairs.items()],
        "human_ceiling": _ceiling(result.ceiling),
        "adjudication": {
            "settled": result.adjudication.settled,
            "queue": [
                {
                    "clip_id": one.clip_id,
                    "reasons": one.reasons,
                    "events": [{"annotator": author, **_finding(found)} for author, found in one.events],
                }
                for one in result.adjudication.queue
            ],
            "consensus": [
                {"clip_id": one.clip_id, "status": one.status, "events": [_finding(found) for found in one.findings]}
                for one in result.adjudication.annotations
            ],
        },
    }


def _measures(one: AgreementScores) -> dict[str, Any]:
    bounds = None if one.bounds is None else {"low": one.bounds[0], "high": one.bounds[1]}
    counts = {"clips": one.clips, "events": one.events, "unscored_pairs": one.unscored, "similarity_bounds": bounds}
    return {**{name: estimate.as_json() for name, estimate in one.estimates()}, **counts}


def _ceiling(ceiling: Ceiling) -> Mapping[str, Any]:
    return {
        **_row(ceiling.whole),
        "per_dataset": {name: _row(one) for name, one in ceiling.datasets.items()},
        "per_annotator": {name: _row(one) for name, one in ceiling.annotators.items()},
        "accounts_without_consensus": ceiling.without,
        "accounts_with_failed_judgements": ceiling.failed,
        "worst": None if ceiling.worst is None else _row(ceiling.worst),
        "best": None if ceiling.best is None else _row(ceiling.best),
    }


def _row(row: CeilingScores) -> Mapping[str, Any]:
    return {"accounts": row.n, "macro": _scores(row.macro), "micro": _scores(row.micro)}


def _scores(scores: Scores) -> Mapping[str, Any]:
    return {name: one.as_json() for name, one in scores.items()}


def _finding(one: AnnotatedEvent) -> Mapping[str, Any]:
    return {
        "id": one.id,
        "dimension": one.dimension,
        "type": one.type,
        "secondary": one.secondary,
        "spans": [[span.start, span.end] for span in one.spans],
        "severity": one.severity,
        "description": one.description,
    }


def ratings_json(result: RatingAgreement) -> Mapping[str, Any]:
    """Agreement on labels as one JSON object."""
    return {
        "schema_version": 1,
        "annotators": result.annotators,
        "units": result.units,
        "units_rated_once": result.once,
        "units_tied": result.tied,
        "overall": result.overall.as_json(),
        "per_label": {name: one.as_json() for name, one in result.labels.items()},
    }


_CLIP = ("clip_id", "author", "status", "coverage", "instruction", *FIELDS, "duration_s", "fps", "frame_count")
_EVENT = ("event_id", "dimension", "type", "description", "start_s", "end_s", "severity")


def accounts_csv(accounts: Sequence[ClipAnnotation]) -> str:
    """Accounts as a table in the format "csv", one row a span, one without an event for a clip without any.

    Frames are kept where they come at a constant rate; the format has no place for others.
    """
    out = io.StringIO()
    writer = csv.DictWriter(out, (*_CLIP, *_EVENT), lineterminator="\n")
    writer.writeheader()
    for account in accounts:
        clip = {name: getattr(account, name, None) for name in _CLIP} | dict(account.fields)
        clip |= _frames(account.frame_times_s)
        clip["coverage"] = None if account.coverage is None else as_cell(account.coverage)
        known = {name: clip[name] for name in _CLIP}
        writer.writerows({**known, **row} for row in _rows(account.findings))
    return out.getvalue()


def _frames(times_s: Sequence[float] | None) -> Mapping[str, float]:
    """The rate and number of a clip's frames, if they come at a constant rate from 0 on."""
    if times_s is None or len(times_s) < 2 or not times_s[-1] > 0:
        return {}
    fps = (len(times_s) - 1) / times_s[-1]
    steady = all(abs(time_s - number / fps) <= RESOLUTION for number, time_s in enumerate(times_s))
    return {"fps": fps, "frame_count": len(times_s)} if steady else {}


def _rows(findings: Sequence[AnnotatedEvent]) -> Iterator[Mapping[str, Any]]:
    if not findings:
        yield {}
    for one in findings:
        said = {name: getattr(one, name) for name in ("dimension", "type", "description", "severity")}
        for span in one.spans or (None,):
            times = {} if span is None else {"start_s": span.start, "end_s": span.end}
            yield {"event_id": one.id, **said, **times}
