"""Corrections for the judge's own errors, from clips that people annotated.

A single calibration for all runs shifts the numbers of all runs equally, so it does not change their order. A separate
calibration for each run, from the run's own clips, also corrects differences between runs, because a judge may make
more errors for one checkpoint than for another.

The annotated clips must be of the same kind as the runs' clips. The same pipeline must judge the annotated clips and
the runs' clips, so that the judge makes the same errors. Annotated clips are used only if both the predicted and the
true annotation are complete. Only the complete clips of a run are used.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from robogaze.comparison.clip_measures import dimensions_of
from robogaze.comparison.leaderboard import ComparisonConfig
from robogaze.comparison.pairs import Clips
from robogaze.comparison.prompt_pairing import made_from
from robogaze.comparison.runs import Run
from robogaze.core.annotation import ClipAnnotation
from robogaze.core.estimate import Estimate, undefined
from robogaze.errors import InputError
from robogaze.stats.jackknife import JackknifeError, influences, stratum_numbers
from robogaze.stats.paired import DETECTED, Difference, one_sided_level
from robogaze.stats.prediction_powered import Errors, calibrated_difference, calibrated_mean, naive_mean
from robogaze.stats.resample import Floats, draw_resamples, mean, mean_rows

Value = Callable[[ClipAnnotation], float]


@dataclass(frozen=True)
class Calibration:
    """Pairs of the predicted and the true annotation of a clip. `units` has the prompt of each clip, or its id.
    `unpaired` counts the clips that have only one of the two annotations.
    """

    pairs: tuple[tuple[ClipAnnotation, ClipAnnotation], ...]
    units: tuple[str, ...]
    unpaired: int


@dataclass(frozen=True)
class CorrectedEstimate:
    """A number of a run: `naive` as the judge gives it, `corrected` after a correction for the judge's errors."""

    naive: Estimate
    corrected: Estimate


def pair_calibration(predictions: Run, references: Run, runs: Sequence[Run], *, mixed: bool) -> Calibration:
    """Pair predictions with references by clip id.

    Raises InputError if no clip has both a prediction and a reference, or if a prediction and its reference are about
    different files. Without `mixed`, also raises InputError if the predictions and the runs come from different judges.
    """
    if not mixed:
        _check_same_judge(predictions, runs)
    pairs = []
    shared = sorted(predictions.annotations.keys() & references.annotations.keys())
    if not shared:
        raise InputError(
            f"no clip of {predictions.name} has a reference in {references.name}; both sides need the same clip ids"
        )
    for clip_id in shared:
        prediction, reference = predictions.annotations[clip_id], references.annotations[clip_id]
        if len({prediction.clip_sha256, reference.clip_sha256} - {None}) > 1:
            raise InputError(f"{clip_id}: {prediction.source} and {reference.source} are about different files")
        if prediction.status == reference.status == "complete":
            pairs.append((prediction, reference))
    units = tuple(made_from(predictions, prediction) or prediction.clip_id for prediction, _ in pairs)
    return Calibration(tuple(pairs), units, len(predictions.annotations.keys() ^ references.annotations.keys()))


def _check_same_judge(predictions: Run, runs: Sequence[Run]) -> None:
    def judges_of(run: Run) -> set[tuple[str | None, str, str]]:
        prints = {clip_id: annotation.fingerprint for clip_id, annotation in run.annotations.items()}
        return {(prints[clip_id], metadata.pipeline, metadata.models) for clip_id, metadata in run.metadata.items()}

    judges = judges_of(predictions)
    for run in runs:
        if (used := judges_of(run)) and judges and not used & judges:
            raise InputError(
                f"{predictions.name} and {run.name} were judged by different pipelines, models or versions, so "
                f"their errors differ; use --mixed to apply the correction anyway"
            )


def corrected(
    run: Run, units: Mapping[str, str], sample: Calibration, dimensions: Sequence[str], config: ComparisonConfig
) -> Mapping[str, CorrectedEstimate]:
    """For one run: the clean rate, the events per clip and, for each dimension, the share of clips with an event.

    `units` maps the id of each clip of the run to what the clip was generated from.
    """
    values: dict[str, Value] = {
        "clean_rate": config.scope.counts,
        "events_per_clip": lambda annotation: len(annotation.findings),
    }
    values |= {f"dimension {name}": _holds(name) for name in dimensions}
    complete = [annotation for annotation in run.annotations.values() if annotation.status == "complete"]
    of_run = [units[annotation.clip_id] for annotation in complete]
    found = {}
    for name, value in values.items():
        predictions = _column(complete, value)
        labelled, truth = (_column([both[side] for both in sample.pairs], value) for side in (0, 1))
        found[name] = CorrectedEstimate(
            naive_mean(predictions, level=config.level, units=of_run),
            calibrated_mean(predictions, labelled, truth, level=config.level, units=of_run, label_units=sample.units),
        )
    return found


def corrected_difference(
    clips: Clips, units: Sequence[str], first: Calibration, second: Calibration, config: ComparisonConfig
) -> Difference:
    """The difference between the clean rates of two runs, over the prompts with two complete clips. Each run is
    corrected with its own calibration.
    """
    clean = config.scope.counts
    kept = [at for at, both in enumerate(clips) if all(clip.status == "complete" for clip in both)]
    if not kept:
        return Difference(0, 1, undefined("no prompt has two complete clips"), nan, nan)
    values = np.array([[float(clean(clips[at][0])) - float(clean(clips[at][1])) for at in kept]])
    sums = draw_resamples([0] * len(kept), 1, config.rng, [units[at] for at in kept]).sums(mean_rows(values))
    spread = JackknifeError.of(influences(sums, mean), stratum_numbers(sums))
    naive = float(mean(sums.total)[0]), float(spread.error[0]), float(spread.freedom[0])
    outer = one_sided_level(config.level, config.family)
    found, p, error, equivalence_bound = calibrated_difference(
        naive, _errors(first, config), _errors(second, config), len(kept), level=config.level, outer=outer
    )
    return Difference(0, 1, found, p, error * DETECTED, equivalence_bound)


def _errors(sample: Calibration, config: ComparisonConfig) -> Errors:
    """For each annotated clip, 1 if only the judge calls it clean, -1 if only the truth calls it clean, else 0."""
    predicted, true = (_column([both[side] for both in sample.pairs], config.scope.counts) for side in (0, 1))
    return predicted - true, sample.units


def _holds(dimension: str) -> Value:
    return lambda annotation: dimension in dimensions_of(annotation)


def _column(annotations: Sequence[ClipAnnotation], value: Value) -> Floats:
    return np.array([float(value(annotation)) for annotation in annotations], dtype=np.float64)
