"""Which frames show what a report says."""

from itertools import chain

from robogaze.core.clip import Clip
from robogaze.core.events import Claim
from robogaze.core.report import Report
from robogaze.core.time import frames_in


def frames_to_show(report: Report, per_claim: int = 6) -> tuple[int, ...]:
    """The frames worth keeping beside a report, ascending.

    For each event, and each hypothesis that became none, at most `per_claim` frames: those cited as evidence
    before the first, the middle and the last one of its spans. Empty when there is neither.
    """
    set_aside = (hypothesis for hypothesis in report.hypotheses if hypothesis.verdict != "accepted")
    wanted: set[int] = set()
    for claim in (*report.events, *set_aside):
        cited = chain.from_iterable(evidence.frames for evidence in claim.evidence)
        wanted.update(list(dict.fromkeys((*cited, *key_frames(claim, report.clip))))[:per_claim])
    return tuple(sorted(wanted))


def key_frames(claim: Claim, clip: Clip) -> tuple[int, int, int]:
    """The first, the middle and the last frame of a claim's spans; the one on show when they hold none."""
    inside = sorted(frames_in(claim.spans, clip.frame_times_s)) or [clip.frame_at(claim.onset_s)]
    return inside[0], inside[len(inside) // 2], inside[-1]
