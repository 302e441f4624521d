"""The fields of clips that results are broken down by: the fields of `ClipAnnotation.fields`, and the duration band."""

from collections.abc import Sequence
from math import inf

from robogaze.core.annotation import ClipAnnotation
from robogaze.metrics.controls import duration_s

DURATION = "duration"

DURATION_BANDS_S = {"<=15 s": 15.0, "15-40 s": 40.0, "40-80 s": 80.0, ">80 s": inf}
"""The duration bands with their upper ends in seconds, which belong to the band (RoboGaze, second version)."""


def field_of(clip: ClipAnnotation, field: str) -> str:
    """The value that a clip has in a field, which is the duration band for the field `duration`. Empty if the clip has
    no value.
    """
    return duration_band(duration_s(clip)) if field == DURATION else clip.fields.get(field, "")


def duration_band(seconds: float | None) -> str:
    """The band of a duration; empty if it is not known."""
    if seconds is None:
        return ""
    return next(band for band, end in DURATION_BANDS_S.items() if seconds <= end)


def field_values(clips: Sequence[ClipAnnotation], field: str) -> list[str]:
    """The values of a field that occur in the clips, sorted; duration bands are sorted from short to long. The empty
    value comes first.
    """
    order = {band: place for place, band in enumerate(DURATION_BANDS_S)}
    return sorted({field_of(clip, field) for clip in clips}, key=lambda value: (order.get(value, -1), value))


def known_fields(clips: Sequence[ClipAnnotation]) -> list[str]:
    """The fields that some clip has, sorted."""
    timed = [DURATION] if any(duration_s(clip) is not None for clip in clips) else []
    return sorted({name for clip in clips for name in clip.fields}.union(timed))
