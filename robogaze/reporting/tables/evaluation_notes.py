"""The notes of an evaluation: how the scores were made, what is left out, and warnings."""

from collections.abc import Iterator, Sequence

from robogaze.evaluation.config import MIN_UNITS
from robogaze.evaluation.results import Evaluation, SystemResult
from robogaze.judges import offline
from robogaze.metrics.controls import CONTROLS, SHUFFLED_RULE, TYPE_PRIOR, TYPE_PRIOR_RULE
from robogaze.metrics.scores import METRICS
from robogaze.reporting.tables.result_table import cell_text
from robogaze.reporting.wording import count


def judge_note(result: Evaluation) -> str:
    """The judge of the descriptions and its quality."""
    return f"Judge {result.judge}: {result.judge_note}"


def evaluation_notes(result: Evaluation) -> tuple[str, ...]:
    """The conditions of the scores, the clips that are left out, and warnings."""
    counts = result.counts
    corpus = (
        f"{count(counts['clips'], 'clip')} with a reference: {counts['clips_with_events']} with events, "
        f"{counts['clean_clips']} clean."
    )
    return (method_note(result), *evaluation_warnings(result), judge_note(result), corpus, *_rules(result))


def method_note(result: Evaluation) -> str:
    """A sentence on how the scores were made: the convention, the axis of the IoU, and the method of the intervals."""
    terms = result.config
    return (
        f"Convention {terms.convention}, {terms.normalisation} normalisation, IoU on {_axis(result)}; "
        f"{100 * terms.level:g}% {_intervals(result)}{_strata(result)}, seed {terms.seed}."
    )


def evaluation_warnings(result: Evaluation) -> Iterator[str]:
    """Warnings about the result: too few units, the judge, missing or unfinished clips, and systems that are not
    significantly above their floor.
    """
    yield from few_units(result)
    yield from judge_caution(result)
    for system in result.systems:
        if absent := _absent(system):
            yield f"{system.name}: {absent}."
    if result.unfinished:
        yield _left_out(result.unfinished, "the reference is not finished")
    if result.left_out:
        parts = count(len(result.left_out), "part")
        yield f"{parts} of the files did not match the format and were left out: {_first(result.left_out)}."
    if result.unreferenced:
        yield _left_out(result.unreferenced, "there is no reference")
    yield from _not_above_floor(result)


def _rules(result: Evaluation) -> Iterator[str]:
    """The definitions of the floors and upper bounds."""
    for name in result.controls:
        if name == TYPE_PRIOR:
            yield f"Floor {name} {TYPE_PRIOR_RULE}"
        else:
            yield f"{'Upper bound' if CONTROLS[name].oracle else 'Floor'} {name} {CONTROLS[name].rule}"
    yield (
        "An upper bound is the highest score that a guess can reach under any judge. A good system may have a "
        "lower score."
    )
    if any(system.floor for system in result.systems):
        yield SHUFFLED_RULE


def _not_above_floor(result: Evaluation) -> Iterator[str]:
    for system in result.systems:
        if system.floor is None or (system.floor.above.significant and system.floor.above.difference.value > 0):
            continue
        difference = cell_text(system.floor.above.difference)
        yield (
            f"Warning: {system.name} is not significantly above its floor in {METRICS['desc_f1'].title} (difference "
            f"{difference}): the scores do not show that the system uses the clips."
        )


def _intervals(result: Evaluation) -> str:
    terms, units = result.config, result.counts["units"]
    of = "clips" if units == result.counts["clips"] else f"{units:,} values of {terms.units}"
    if terms.interval == "student":
        return f"intervals (Student's t) over the {of}"
    return f"{terms.interval} intervals from {terms.resamples:,} resamples of the {of}"


def _strata(result: Evaluation) -> str:
    field = result.config.strata
    return f" within each {field}" if any(field in clip.fields for clip in result.clips) else ""


def _axis(result: Evaluation) -> str:
    without = result.counts["clips_without_frame_times"]
    if result.config.iou == "exact":
        return "the time axis"
    return f"frames (on the time axis for {count(without, 'clip')} without frame times)" if without else "frames"


def _left_out(names: Sequence[str], why: str) -> str:
    return f"{count(len(names), 'clip')} left out because {why}: {_first(names)}."


_ABSENT = {
    "missing": ("clip", "without a prediction (their events count as missed)"),
    "unscored": ("clip", "unscored (their events count as missed)"),
    "partial": ("clip", "partial (never clean)"),
    "undecided": (
        "clip",
        "without an event, but not examined in every dimension (counted as clean only if every dimension that "
        "the reference "
        "covers was examined)",
    ),
    "unjudged": ("clip", "with a failed judgement (left out; see the bounds)"),
    "unjudgeable": ("event", "predicted in dimensions that the reference does not cover (not counted)"),
    "predictions_blank": (
        "event",
        "predicted without a time, dimension or severity that the reference has (counted as wrong)",
    ),
    "references_not_looked_for": ("event", "in dimensions that the system does not examine (missed)"),
}


def _absent(system: SystemResult) -> str:
    parts = []
    for name, (noun, words) in _ABSENT.items():
        if number := system.counts[name]:
            clips = system.incomplete.get(name, ())
            parts.append(f"{count(number, noun)} {words}" + (f": {_first(clips)}" if clips else ""))
    return "; ".join(parts)


def _first(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (", ..." if names[3:] else "")


def judge_caution(result: Evaluation) -> Iterator[str]:
    """A warning about rankings by the offline judge."""
    if result.judge == offline.NAME and len(result.systems) > 1:
        yield offline.CAUTION


def few_units(result: Evaluation) -> Iterator[str]:
    """A warning if there are too few units for exact intervals and p-values."""
    if result.counts["units"] < MIN_UNITS:
        units = count(result.counts["units"], "unit")
        yield (
            f"Warning: {units} (a unit is a clip, or a prompt if several clips share it). Below {MIN_UNITS} "
            f"units, intervals are "
            "approximate: with 20 units, 95% intervals covered the true value in 92 to 99% of trials "
            "(docs/metrics/coverage.md)."
        )
