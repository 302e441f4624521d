"""The frames and pictures that show the events and hypotheses of a report."""

from dataclasses import dataclass
from itertools import chain

from robogaze.core.clip import Clip
from robogaze.core.events import Claim
from robogaze.core.report import Report
from robogaze.core.time import frames_in


@dataclass(frozen=True)
class KeyFrames:
    """Frame numbers around the spans of a claim; `before` and `after` are None at the ends of the clip."""

    before: int | None
    first: int
    middle: int
    last: int
    after: int | None


def frames_to_show(report: Report, per_claim: int = 9) -> tuple[int, ...]:
    """The numbers of the frames to keep with a report, in ascending order.

    Each event gets at most `per_claim` frames, and so does each hypothesis that was not accepted. The frames are chosen
    in this order: the first frame of the claim, the frames just before and after the claim, the frames cited as
    evidence, the last frame and the middle frame. A report without events and hypotheses has no frames to keep.
    """
    other_hypotheses = (hypothesis for hypothesis in report.hypotheses if hypothesis.verdict != "accepted")
    wanted: set[int] = set()
    for claim in (*report.events, *other_hypotheses):
        key = key_frames(claim, report.clip)
        cited = chain.from_iterable(evidence.frames for evidence in claim.evidence)
        ranked = (key.first, key.before, key.after, *cited, key.last, key.middle)
        wanted.update(list(dict.fromkeys(frame for frame in ranked if frame is not None))[:per_claim])
    return tuple(sorted(wanted))


def pictures_to_show(report: Report) -> tuple[str, ...]:
    """The ids of the pictures that are cited as evidence, first for events and then for hypotheses that were not
    accepted.
    """
    others = (hypothesis for hypothesis in report.hypotheses if hypothesis.verdict != "accepted")
    named = (evidence.picture for claim in (*report.events, *others) for evidence in claim.evidence)
    return tuple(dict.fromkeys(name for name in named if name is not None))


def key_frames(claim: Claim, clip: Clip) -> KeyFrames:
    """The key frames of a claim. If no frame starts within the spans, the frame shown at the onset is used as the only
    frame of the claim.
    """
    inside = sorted(frames_in(claim.spans, clip.frame_times_s)) or [clip.frame_at(claim.onset_s)]
    first, last = inside[0], inside[-1]
    return KeyFrames(
        before=first - 1 if first > 0 else None,
        first=first,
        middle=inside[len(inside) // 2],
        last=last,
        after=last + 1 if last + 1 < clip.frame_count else None,
    )
