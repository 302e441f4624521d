"""A review of a run: which clips people review, and what their verdicts say about the whole run.

A sample is stratified by the run's verdict and number of events. Each stratum contributes in proportion to its size,
but at least two clips if it has as many. Estimates weight the reviewed clips of a stratum so that they represent all
clips of the stratum. Intervals are Student's; their widths come from leaving out each prompt in turn (see
`robogaze.stats.jackknife`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from robogaze.core.annotation import ClipAnnotation
from robogaze.core.data import Data
from robogaze.core.estimate import Estimate, undefined
from robogaze.reporting.wording import count
from robogaze.stats.jackknife import student_intervals
from robogaze.stats.resample import Floats, draw_resamples, ratio
from robogaze.web.drafts import ClipDraft

_MOST_EVENTS = 3
"""Clips with this many events or more are one stratum."""

_LEAST = 2
"""The clips of each stratum in a sample, if there are as many."""


class ReviewedClip(Data):
    """A clip of a review: its stratum, and its unit (its prompt, if the prompt is known)."""

    stratum: str
    unit: str


class ReviewPlan(Data):
    """What is reviewed. `sizes` maps each stratum to its number of clips in the run, and `clips` maps the ids of the
    clips to review to the clips.

    `run` is the absolute path of the run.
    """

    run: str
    seed: int
    sizes: dict[str, int]
    clips: dict[str, ReviewedClip]


@dataclass(frozen=True)
class ReviewEstimates:
    """What the verdicts say about a run. `planned` is the number of clips to review, `clips` is the number of clips
    reviewed so far, and `verdicts` counts the model's events by verdict.

    `precision`  the share of the run's events that are faults (that is, accepted or edited by the reviewer)
    `accepted`   the share of the run's events that the reviewer accepted without a change
    `found`      the share of the faults that the run reports; the faults include those that reviewers added

    All estimates are undefined if there is nothing to count. `unseen` counts the clips of the run whose stratum has no
    reviewed clip.
    """

    planned: int
    clips: int
    unseen: int
    verdicts: Mapping[str, int]
    added: int
    precision: Estimate
    accepted: Estimate
    found: Estimate


def plan_review(
    annotations: Mapping[str, ClipAnnotation], sample: int | None = None, seed: int = 0, *, run: str = ""
) -> ReviewPlan:
    """The clips of a run to review: all, or a sample of them. Equal arguments give the same sample."""
    strata: dict[str, list[str]] = {}
    for clip_id, annotation in annotations.items():
        strata.setdefault(_stratum(annotation), []).append(clip_id)
    sizes = {name: len(members) for name, members in sorted(strata.items())}
    taken = sizes if sample is None else _allocated(sizes, sample)
    chosen = {
        clip_id: ReviewedClip(stratum=name, unit=annotations[clip_id].fields.get("prompt_id", clip_id))
        for name, number in taken.items()
        for clip_id in sorted(strata[name], key=lambda clip_id: sha256(f"{seed}\0{clip_id}".encode()).digest())[:number]
    }
    return ReviewPlan(run=run, seed=seed, sizes=sizes, clips=chosen)


def review_estimates(plan: ReviewPlan, drafts: Mapping[str, ClipDraft], *, level: float = 0.95) -> ReviewEstimates:
    """The estimates from the submitted reviews in `drafts`, which is keyed by clip id. Some planned clips may have no
    review.
    """
    clip_ids = [clip_id for clip_id in plan.clips if clip_id in drafts]
    strata = [plan.clips[clip_id].stratum for clip_id in clip_ids]
    reviewed = Counter(strata)
    weights = np.array([plan.sizes[name] / reviewed[name] for name in strata])
    counts = np.array([_counts(drafts[clip_id]) for clip_id in clip_ids], dtype=np.float64).reshape(-1, 4)
    accepted, edited, rejected, added = counts.T
    right, decided = accepted + edited, accepted + edited + rejected
    units = [plan.clips[clip_id].unit for clip_id in clip_ids]

    def share(part: Floats, whole: Floats) -> Estimate:
        return _share(np.stack([part, whole], axis=1) * weights[:, None], strata, units, int(whole.sum()), level)

    totals = counts.sum(axis=0).astype(int).tolist()
    return ReviewEstimates(
        planned=len(plan.clips),
        clips=len(clip_ids),
        unseen=sum(size for name, size in plan.sizes.items() if name not in reviewed),
        verdicts=dict(zip(("accepted", "edited", "rejected"), totals[:3], strict=True)),
        added=totals[3],
        precision=share(right, decided),
        accepted=share(accepted, decided),
        found=share(right, right + added),
    )


def _stratum(annotation: ClipAnnotation) -> str:
    events = len(annotation.findings)
    number = count(events, "event") if events < _MOST_EVENTS else f"{_MOST_EVENTS} or more events"
    return f"{annotation.verdict}, {number}"


def _allocated(sizes: Mapping[str, int], sample: int) -> dict[str, int]:
    """The number of clips of each stratum; each further clip is taken from the stratum of which the smallest share is
    taken so far.
    """
    taken = {name: min(size, _LEAST) for name, size in sizes.items()}
    while sum(taken.values()) < min(sample, sum(sizes.values())):
        open_strata = [name for name, size in sizes.items() if taken[name] < size]
        taken[min(open_strata, key=lambda name: taken[name] / sizes[name])] += 1
    return taken


def _counts(draft: ClipDraft) -> tuple[int, int, int, int]:
    """Accepted, edited and rejected events of the model, and events that the reviewer added."""
    verdicts = Counter(event.verdict for event in draft.events)
    return verdicts["accepted"], verdicts["edited"], verdicts["rejected"], verdicts[None]


def _share(rows: Floats, strata: Sequence[str], units: Sequence[str], n: int, level: float) -> Estimate:
    if n == 0:
        return undefined("the reviewed clips have no event of this kind")
    sums = draw_resamples(strata, 1, np.random.default_rng(0), units).sums(rows)
    found = student_intervals(sums, lambda sums: ratio(sums[..., 0], sums[..., 1]), level=level, share=True)
    return found.estimate(n=n)
