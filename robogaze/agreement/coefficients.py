"""The agreement scores for any selection of clips: all clips, a data set, two annotators, or one dimension.

Clips are resampled, or prompts if several clips share a prompt. A clip in a resample keeps all of its events and all of
its pairs of annotators.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from robogaze.agreement.config import AgreementConfig
from robogaze.agreement.event_matching import MatchedClip
from robogaze.agreement.kappas import KappaKind, choose_kappa, kappa, mean_cohen
from robogaze.agreement.slices import Slice
from robogaze.core.estimate import Estimate, undefined
from robogaze.stats.agreement import Rating, alpha
from robogaze.stats.interval import Statistic, estimate
from robogaze.stats.resample import Clusters, Floats, Resamples, draw_resamples, mean, mean_rows
from robogaze.stats.unitizing import alpha_u

NO_CLIPS = "no clip has two annotators"
NO_EVENTS = "nobody reports an event"
NO_MATCHES = "no two annotators report the same event"


@dataclass(frozen=True)
class KappaChoice:
    """Which statistic is reported as "kappa"."""

    detection: KappaKind
    dimension: KappaKind


@dataclass(frozen=True)
class AgreementScores:
    """Agreement in numbers.

    `detection_kappa`         any event in the clip, or none?
    `dimension_kappa`         which dimension, over matched events
    `tiou`                    mean IoU of matched pairs
    `severity_alpha`          Krippendorff's ordinal alpha over matched events
    `description_similarity`  mean similarity of matched pairs, from the judge
    `events_matched`          the share of events that the other annotator reports, too, over all pairs of annotators
    `timeline_alpha`          Krippendorff's alpha for unitizing: when is anything wrong?
    `detection_cohen`, `dimension_cohen`  the mean of Cohen's kappa over the pairs of annotators

    `clips` and `events` are the numbers of clips and events that the scores are computed from. `unscored` counts the
    matched pairs without a judgement. `bounds` are the mean similarities for two cases: all unscored pairs are
    unrelated, or all unscored pairs describe the same event. None if there are no unscored pairs.
    """

    detection_kappa: Estimate
    dimension_kappa: Estimate
    tiou: Estimate
    severity_alpha: Estimate
    description_similarity: Estimate
    events_matched: Estimate
    timeline_alpha: Estimate
    detection_cohen: Estimate
    dimension_cohen: Estimate
    clips: int
    events: int
    unscored: int
    bounds: tuple[float, float] | None

    def estimates(self) -> Iterator[tuple[str, Estimate]]:
        """All estimates by name."""
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Estimate):
                yield field.name, value


def choose_kappas(matched: Sequence[MatchedClip], annotators: Sequence[str]) -> KappaChoice:
    """The statistics for a whole annotation set."""
    choice = Slice.of(matched, annotators)
    return KappaChoice(choose_kappa(choice.detection()), choose_kappa([rated for _, rated in choice.dimensions()]))


def measure(
    matched: Iterable[MatchedClip],
    annotators: Sequence[str],
    kappas: KappaChoice,
    config: AgreementConfig,
    dimension: str | None = None,
) -> AgreementScores:
    """The agreement scores for some clips, in all dimensions or, if `dimension` is given, in this dimension only."""
    choice = Slice.of(matched, annotators, dimension)
    clips = [clip.annotated for clip in choice.matched]
    units = [clip.unit(config.units) for clip in clips]
    resamples = draw_resamples(
        [clip.dataset for clip in clips], config.resamples, np.random.default_rng(config.seed), units
    )
    sample = _Sample(choice, kappas, resamples, config.level)
    matches = [match for _, match in choice.matches()]
    judged = [match.similarity for match in matches if not math.isnan(match.similarity)]
    return AgreementScores(
        detection_kappa=sample.detection(),
        dimension_kappa=sample.dimension(),
        tiou=sample.mean((place, match.iou) for place, match in choice.matches()),
        severity_alpha=sample.severity(),
        description_similarity=sample.mean((place, match.similarity) for place, match in choice.matches()),
        events_matched=sample.events_matched(),
        timeline_alpha=sample.timeline(),
        detection_cohen=sample.detection_cohen(),
        dimension_cohen=sample.dimension_cohen(),
        clips=len(choice.matched),
        events=choice.events,
        unscored=len(matches) - len(judged),
        bounds=_bounds(judged, len(matches)),
    )


def _bounds(judged: Sequence[float], matches: int) -> tuple[float, float] | None:
    if matches == len(judged):
        return None
    whole = math.fsum(judged)
    return whole / matches, (whole + matches - len(judged)) / matches


@dataclass(frozen=True)
class _Sample:
    """The numbers of a selection of clips."""

    choice: Slice
    kappas: KappaChoice
    resamples: Resamples
    level: float

    def detection(self) -> Estimate:
        ratings = self.choice.detection()
        return self._kappa(self.kappas.detection, list(enumerate(ratings)))

    def dimension(self) -> Estimate:
        rated = self.choice.dimensions()
        return self._kappa(self.kappas.dimension, rated) if rated else self._none()

    def detection_cohen(self) -> Estimate:
        ratings = self.choice.detection()
        if not ratings:
            return undefined(NO_CLIPS)
        return mean_cohen(ratings, by=self._by(range(len(ratings))), level=self.level)

    def dimension_cohen(self) -> Estimate:
        rated = self.choice.dimensions()
        if not rated:
            return self._none()
        return mean_cohen([given for _, given in rated], by=self._by(place for place, _ in rated), level=self.level)

    def _kappa(self, kind: KappaKind, rated: Sequence[tuple[int, list[Rating]]]) -> Estimate:
        if not self.choice.matched:
            return undefined(NO_CLIPS)
        by = self._by(place for place, _ in rated)
        return kappa(kind, [given for _, given in rated], by=by, level=self.level)

    def severity(self) -> Estimate:
        rated = self.choice.severities()
        if not rated:
            return self._none()
        by = self._by(place for place, _ in rated)
        return alpha([given for _, given in rated], "ordinal", by=by, level=self.level)

    def mean(self, valued: Iterable[tuple[int, float]]) -> Estimate:
        """The mean of the values, without missing values (NaN)."""
        listed = list(valued)
        if not listed:
            return self._none()
        known = sorted((place, value) for place, value in listed if not math.isnan(value))
        if not known:
            return undefined("no judgement was given")
        values = [value for _, value in known]
        rows = mean_rows(np.array(values))
        return self._estimate(math.fsum(values) / len(values), rows, mean, (place for place, _ in known), len(values))

    def events_matched(self) -> Estimate:
        rows = self.choice.shares()
        matched, events = rows.sum(axis=0)
        if not events:
            return undefined(NO_EVENTS if self.choice.matched else NO_CLIPS)
        return self._estimate(float(matched / events), rows, mean, range(len(rows)), int(events))

    def timeline(self) -> Estimate:
        timed = self.choice.timelines()
        if not timed:
            return undefined("no clip's length is known" if self.choice.matched else NO_CLIPS)
        by = self._by(place for place, _ in timed)
        return alpha_u([timeline for _, timeline in timed], by=by, level=self.level)

    def _estimate(self, value: float, rows: Floats, statistic: Statistic, of: Iterable[int], n: int) -> Estimate:
        return estimate(value, rows, statistic, n=n, by=self._by(of), level=self.level)

    def _by(self, of: Iterable[int]) -> Clusters:
        return Clusters(self.resamples, tuple(of))

    def _none(self) -> Estimate:
        """An undefined estimate, with the reason why there are no matched events."""
        if not self.choice.matched:
            return undefined(NO_CLIPS)
        return undefined(NO_MATCHES if self.choice.events else NO_EVENTS)
