"""Results as plain JSON values, annotations as CSV, a gate's checks as JUnit XML.

A data class becomes an object whose keys are the names of its fields; `KEYS` lists the exceptions. Each list of fields
is therefore written only once, in the class. NaN and infinity are null.
"""

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np
from pydantic import BaseModel

from robogaze.agreement.annotator_agreement import AgreementResult
from robogaze.agreement.ratings import RatingAgreement
from robogaze.comparison import Comparison, GateCheck, RunPair
from robogaze.comparison.flips import Flip
from robogaze.core.annotation import FIELDS, AnnotatedEvent, ClipAnnotation
from robogaze.core.coverage import as_cell
from robogaze.core.estimate import Estimate
from robogaze.core.time import RESOLUTION
from robogaze.evaluation.bug_results import BugEvaluation
from robogaze.evaluation.released import ReleasedEvaluation
from robogaze.evaluation.results import Evaluation, SystemComparisons, SystemResult
from robogaze.forge.sensitivity import RULE, Alarms, BoundedProportion, Sensitivity
from robogaze.metrics.controls import CONTROLS, SHUFFLED_RULE, TYPE_PRIOR, TYPE_PRIOR_RULE
from robogaze.ranking import RankedCandidate, Ranking
from robogaze.reporting.wording import printable
from robogaze.stats.paired import Difference

Json = dict[str, Any]

KEYS = {
    "dimensions": "per_dimension", "types": "per_type", "datasets": "per_dataset", "annotators": "per_annotator",
    "incomplete": "absent", "error_costs": "losses", "by_bonus": "lambda", "holm": "p_holm", "fdr": "p_fdr",
    "ungraded": "events_without_severity", "cost_per_clip": "cost_per_clip_usd",
    "without": "annotations_without_consensus", "failed": "annotations_with_failed_judgements",
}  # fmt: skip
"""JSON keys that are clearer than the names of their fields."""


def to_json(value: Any) -> Any:
    """A value as JSON. Data classes and models become objects, keys become texts, sequences and sets become lists."""
    if isinstance(value, Estimate | Alarms | BoundedProportion):
        return dict(value.as_json())
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if is_dataclass(value) and not isinstance(value, type):
        return without(value)
    if isinstance(value, Mapping):
        return {str(key): to_json(inner) for key, inner in value.items()}
    if isinstance(value, np.ndarray):
        return to_json(value.tolist())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [to_json(inner) for inner in value]
    if isinstance(value, Set):
        return sorted(to_json(inner) for inner in value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value.item() if isinstance(value, np.generic) else value


def without(value: Any, *names: str) -> Json:
    """The fields of a data class as JSON, except the named fields."""
    return only(value, *(field.name for field in fields(value) if field.name not in names))


def only(value: Any, *names: str) -> Json:
    """The named fields of a data class as JSON."""
    return {KEYS.get(name, name): to_json(getattr(value, name)) for name in names}


def evaluation_json(result: Evaluation) -> Json:
    """An evaluation; the keys of a single system are also at the top level."""
    systems = [_system(system, result) for system in result.systems]
    whole = {
        "schema_version": 1,
        **to_json(result.config),
        "judge": {"name": result.judge, "note": result.judge_note},
        **only(result, "counts", "unreferenced", "unfinished", "left_out"),
        "controls": {name: {**_macro_micro(scores), **_control(name)} for name, scores in result.controls.items()},
        "systems": systems,
        "pairs": {name: _comparisons(metric, result) for name, metric in result.comparisons.items()},
        "gains_by": _gains_by(result),
    }
    if len(systems) == 1:
        whole = {**whole, **systems[0], "counts": {**whole["counts"], **systems[0]["counts"]}}
    return whole


def _system(system: SystemResult, result: Evaluation) -> Json:
    matches = zip(result.clips, system.matches, strict=True)
    floor = system.floor
    return {
        "name": system.name,
        **without(system, "system"),
        "confusion": {"labels": result.dimensions, "counts": system.confusion.astype(int).tolist()},
        "losses": {kind: {"errors": n, "f1_gained": to_json(gain)} for kind, (n, gain) in system.error_costs.items()},
        "lambda": {f"{bonus:g}": to_json(scores) for bonus, scores in system.by_bonus.items()},
        "operating_points": {f"{least:.2f}": _macro_micro(scores) for least, scores in system.operating_points.items()},
        "floor": floor
        and {**to_json(floor), "rule": SHUFFLED_RULE, "above": without(floor.above, "first", "second", "holm", "fdr")},
        "matches": {clip.clip_id: to_json(found) for clip, found in matches if found},
    }


def _control(name: str) -> Json:
    if name == TYPE_PRIOR:
        return {"bound": "floor", "rule": TYPE_PRIOR_RULE}
    return {"bound": "upper" if CONTROLS[name].oracle else "floor", "rule": CONTROLS[name].rule}


def _macro_micro(scores: tuple[Mapping[str, Estimate], Mapping[str, Estimate]]) -> Json:
    return dict(zip(("macro", "micro"), to_json(scores), strict=True))


def _comparisons(metric: SystemComparisons, result: Evaluation) -> Json:
    return {
        "differences": _differences(metric.pairs, result),
        "ranks": {system.name: to_json(rank) for system, rank in zip(result.systems, metric.ranks, strict=True)},
    }


def _differences(pairs: Sequence[Difference], result: Evaluation) -> list[Json]:
    return [
        {
            **to_json(pair),
            "first": result.systems[pair.first].name,
            "second": result.systems[pair.second].name,
            "verdict": pair.verdict(result.config.margin),
        }
        for pair in pairs
    ]


def _gains_by(result: Evaluation) -> Json:
    return {
        field: {
            value: {metric: _differences(pairs, result) for metric, pairs in metrics.items()}
            for value, metrics in values.items()
        }
        for field, values in result.gains_by.items()
    }


def released_json(result: ReleasedEvaluation) -> Json:
    """The scores of a released evaluator."""
    return {
        "schema_version": 1,
        "convention": result.convention,
        "judge": {"name": result.judge.name, "note": result.judge.note},
        "systems": [{"name": name, **to_json(scores)} for name, scores in result.systems.items()],
    }


def bugs_json(result: BugEvaluation) -> Json:
    """An evaluation of bug reports."""
    judged = {"judge": {"name": result.judge, "note": result.judge_note}, "unjudged": len(result.unjudged)}
    return {"schema_version": 1, **without(result, "judge", "judge_note", "unjudged"), **judged}


def comparison_json(result: Comparison, checks: Sequence[GateCheck] | None = None) -> Json:
    """A comparison, with the checks of the gate if there is a gate. Runs are in the order in which they were given."""
    terms = result.config
    whole = {
        "schema_version": 2,
        "level": terms.level,
        "resamples": terms.resamples,
        "seed": terms.seed,
        "baseline": None if result.baseline is None else result.names[result.baseline],
        "paired_by": {"key": result.prompts.key, "passed_over": list(result.prompts.passed_over)},
        "rate": {"key": result.scope.key, "name": result.scope.name, "dimensions": to_json(result.scope.dimensions)},
        "runs": [_run(position, result) for position in range(len(result.runs))],
        "order": [result.names[position] for position in result.order],
        "bands": [[result.names[position] for position in band] for band in result.bands],
        "pairs": [_pair(pair, verdict, result) for pair, verdict in zip(result.pairs, result.verdicts, strict=True)],
        "trend": result.trend and {
            **without(result.trend, "slopes"), "per_1000_steps": _by_measure(result.trend.slopes, result)
        },
        "verdict": result.verdict,
    }  # fmt: skip
    if checks is not None:
        whole["gate"] = {"passed": all(check.passed for check in checks), "checks": to_json(checks)}
    return whole


def ranking_json(result: Ranking) -> Json:
    """A ranking: for each prompt its candidates, best first. `screening` is null if there are no labels."""
    return {
        "schema_version": 1,
        **to_json(result.config),
        "weights": to_json(result.weights),
        "grouped_by": result.key,
        "prompts": [
            {
                "prompt": prompt.prompt,
                "keep": prompt.wanted,
                "candidates": [_ranked(ranked) for ranked in prompt.ranked],
                "without_rank": to_json(prompt.unranked),
            }
            for prompt in result.prompts
        ],
        "without_prompt": to_json(result.unplaced),
        "screening": to_json(result.screening),
    }


def _ranked(ranked: RankedCandidate) -> Json:
    candidate = ranked.candidate
    return {
        "clip_id": candidate.id,
        "run": candidate.run,
        **without(ranked, "candidate"),
        "verdict": candidate.annotation.verdict,
        "status": candidate.annotation.status,
        "events": len(candidate.events),
        "faulty_s": candidate.faulty_s,
    }


def gate_junit(checks: Sequence[GateCheck]) -> str:
    """A gate's checks as JUnit XML, which build servers show: a test case for each rule and run."""
    failed = str(sum(not check.passed for check in checks))
    counts = {"tests": str(len(checks)), "failures": failed, "errors": "0", "skipped": "0"}
    suites = Element("testsuites", name="robogaze compare", attrib=counts)
    suite = SubElement(suites, "testsuite", name="gate", attrib=counts)
    for check in checks:
        case = SubElement(suite, "testcase", classname=f"gate.{printable(check.run)}", name=check.rule, time="0")
        if check.passed:
            SubElement(case, "system-out").text = printable(check.message)
        else:
            SubElement(case, "failure", message=printable(check.message), type="gate")
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _run(position: int, result: Comparison) -> Json:
    row, rank = result.leaderboard[position], result.ranks[position]
    found = {
        **without(row, "measures", "worst", "best"),
        **_by_measure(row.measures, result),
        "rate_bounds": {"worst": to_json(row.worst), "best": to_json(row.best)},
        "rank": {**to_json(rank.rank), "first": to_json(rank.first)},
        "unplaced": result.runs[position].unplaced,
        "band": 1 + next(number for number, band in enumerate(result.bands) if position in band),
    }
    if result.corrected:
        corrected = _by_measure(result.corrected[position], result)
        found["calibrated"] = {"labels": result.labels[position], **corrected}
    return found


def _by_measure(values: Mapping[str, Any], result: Comparison) -> Json:
    return {result.scope.renamed(name): to_json(value) for name, value in values.items()}


_OF_PAIR = ("first", "second", "significant")
"""The fields of a difference that the JSON of its pair gives."""


def _pair(pair: RunPair, verdict: str, result: Comparison) -> Json:
    return {
        "prompts": pair.prompts,
        "per_dimension": {name: without(difference, *_OF_PAIR) for name, difference in pair.dimensions.items()},
        "per_type": {name: without(difference, *_OF_PAIR) for name, difference in pair.types.items()},
        "corrected": None if pair.corrected is None else without(pair.corrected, *_OF_PAIR),
        **without(pair.clean, *_OF_PAIR),
        "first": result.names[pair.first],
        "second": result.names[pair.second],
        "without_partner": dict(zip(("first", "second"), pair.unpaired, strict=True)),
        "bounds": {"worst": to_json(pair.worst), "best": to_json(pair.best)},
        "significant": pair.significant,
        "measures": {result.scope.renamed(name): without(found, *_OF_PAIR) for name, found in pair.differences.items()},
        "flips": {**pair.flips.counts, "clips": [_flip(flip) for flip in pair.flips.found]},
        "verdict": verdict,
    }


def _flip(flip: Flip) -> Json:
    return {
        **without(flip, "load"),
        "gained": [{"type": name, "severity": severity} for name, severity in flip.gained],
        "lost": [{"type": name, "severity": severity} for name, severity in flip.lost],
        "load_before": flip.load[0],
        "load_after": flip.load[1],
    }


def agreement_json(result: AgreementResult) -> Json:
    """The agreement of annotators, the settled events and the events that need adjudication."""
    panel = result.annotation_set
    return {
        "schema_version": 1,
        **to_json(result.config),
        "judge": {"name": result.judge, "note": result.judge_note},
        "annotators": list(panel.annotators),
        "statistics": {"detection_kappa": result.kappas.detection, "dimension_kappa": result.kappas.dimension},
        "counts": {
            "clips": len(panel.clips),
            "events": result.overall.events,
            "events_set_aside": panel.excluded_events,
            "failed_judgements": result.failed,
            "clips_by_one_annotator": list(panel.single_annotator),
            "unfinished": [{"clip_id": clip, "annotator": author} for clip, author in panel.unfinished],
            "clips_with_nothing_in_common": list(panel.no_shared_dimensions),
        },
        **only(result, "overall", "datasets", "dimensions"),
        "per_pair": [{"annotators": list(two), **to_json(measures)} for two, measures in result.pairs.items()],
        "human_ceiling": {**to_json(result.ceiling.whole), **without(result.ceiling, "whole")},
        "adjudication": {
            "settled": result.adjudication.settled,
            "queue": [
                {
                    "clip_id": question.clip_id,
                    "reasons": list(question.reasons),
                    "events": [{"annotator": author, **_event(event)} for author, event in question.events],
                }
                for question in result.adjudication.queue
            ],
            "consensus": [
                {"clip_id": clip.clip_id, "status": clip.status, "events": [_event(event) for event in clip.findings]}
                for clip in result.adjudication.annotations
            ],
        },
    }


def _event(event: AnnotatedEvent) -> Json:
    spans = [[span.start, span.end] for span in event.spans]
    return {**without(event, "confidence", "written", "spans"), "spans": spans}


def ratings_json(result: RatingAgreement) -> Json:
    """The agreement of annotators on labels."""
    return {
        "schema_version": 1,
        "annotators": list(result.annotators),
        "units": result.units,
        "units_rated_once": result.once,
        "units_tied": result.tied,
        "overall": to_json(result.overall),
        "per_label": to_json(result.labels),
    }


def sensitivity_json(result: Sensitivity, run: str, level: float) -> Json:
    """The sensitivity of an evaluator; `run` names the folder of its reports."""
    return {
        "schema_version": 1,
        "run": run,
        "rule": RULE,
        "level": level,
        **without(result, "alarms", "trials"),
        "untouched": to_json(result.alarms),
    }


_CLIP = ("clip_id", "author", "status", "coverage", "instruction", *FIELDS, "duration_s", "fps", "frame_count")
_EVENT = ("event_id", "dimension", "type", "description", "start_s", "end_s", "severity")


def annotations_csv(annotations: Sequence[ClipAnnotation]) -> str:
    """Annotations in the format `csv`: one row per span, per event without a time, and per clip without an event.

    The frame rate and number of frames are written only if the rate is constant; the format has no variable rates.
    """
    out = io.StringIO()
    writer = csv.DictWriter(out, (*_CLIP, *_EVENT), lineterminator="\n")
    writer.writeheader()
    for annotation in annotations:
        clip = {name: getattr(annotation, name, None) for name in _CLIP} | dict(annotation.fields)
        clip |= _frame_rate(annotation.frame_times_s)
        clip["coverage"] = None if annotation.coverage is None else as_cell(annotation.coverage)
        columns = {name: clip[name] for name in _CLIP}
        writer.writerows({**columns, **row} for row in _event_rows(annotation.findings))
    return out.getvalue()


def _frame_rate(times_s: Sequence[float] | None) -> Json:
    """The rate and number of a clip's frames; empty if the rate is not constant from time 0."""
    if times_s is None or len(times_s) < 2 or not times_s[-1] > 0:
        return {}
    fps = (len(times_s) - 1) / times_s[-1]
    constant = all(abs(time_s - number / fps) <= RESOLUTION for number, time_s in enumerate(times_s))
    return {"fps": fps, "frame_count": len(times_s)} if constant else {}


def _event_rows(events: Sequence[AnnotatedEvent]) -> Iterator[Json]:
    if not events:
        yield {}
    for event in events:
        columns = {name: getattr(event, name) for name in ("dimension", "type", "description", "severity")}
        for span in event.spans or (None,):
            times = {} if span is None else {"start_s": span.start, "end_s": span.end}
            yield {"event_id": event.id, **columns, **times}
