"""Which clips an annotator sees, in which order, and how much is left.

Everyone sees the calibration clips first. The other clips are in an order that depends only on their ids. Several
annotators who stop early have therefore annotated the same clips, and clips of different checkpoints are mixed.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from robogaze.web.annotation_store import Revision


def assigned(
    clip_ids: Iterable[str], annotator: str, annotators: Sequence[str], per_clip: int | None, everyone: Collection[str]
) -> tuple[str, ...]:
    """The clips of an annotator in the order of the queue.

    Each clip is given to `per_clip` of the `annotators`, those with the lowest hash of clip and name; if `per_clip` is
    None, it is given to all. This is rendezvous hashing: if an annotator is added, few clips move from one annotator to
    another. Clips in `everyone` come first and are given to all.
    """
    ordered = sorted(clip_ids, key=lambda clip_id: (clip_id not in everyone, _hash(clip_id)))
    if per_clip is None:
        return tuple(ordered)
    return tuple(
        clip_id
        for clip_id in ordered
        if clip_id in everyone or annotator in sorted(annotators, key=lambda name: _hash(clip_id, name))[:per_clip]
    )


def _hash(*parts: str) -> bytes:
    return sha256("\0".join(parts).encode()).digest()


@dataclass(frozen=True)
class QueueProgress:
    """The progress of an annotator. Seconds are None before the first clip is submitted.

    `seconds_left` is the mean time per submitted clip, multiplied by the number of clips that are left.
    """

    assigned: int
    submitted: int
    seconds_per_clip: float | None
    seconds_left: float | None

    @classmethod
    def of(cls, clip_ids: Sequence[str], revisions: Mapping[str, Revision]) -> "QueueProgress":
        """The progress, from an annotator's clips and newest revisions."""
        done = [
            revisions[clip_id]
            for clip_id in clip_ids
            if clip_id in revisions and revisions[clip_id].status == "submitted"
        ]
        if not done:
            return cls(len(clip_ids), 0, None, None)
        mean_s = sum(revision.draft.seconds_spent for revision in done) / len(done)
        return cls(len(clip_ids), len(done), mean_s, mean_s * (len(clip_ids) - len(done)))
