"""Measuring clips that tests draw."""

from collections.abc import Sequence

from robogaze.evidence import METERS, ClipSignals, SignalExtractor, SignalRecorder, ViewSignals
from robogaze.media.decode import Image

from .procedural import FPS


def measured(images: Sequence[Image]) -> ClipSignals:
    """All signals of a clip with a single view."""
    gauge = SignalRecorder(METERS)
    for number, image in enumerate(images):
        gauge(number, number / FPS, (image,))
    return gauge.evidence(["main"], len(images) / FPS)


def measured_by(meter: type[SignalExtractor], images: Sequence[Image]) -> ViewSignals:
    """The signals of one meter."""
    gauge = SignalRecorder({"meter": meter})
    for number, image in enumerate(images):
        gauge(number, number / FPS, (image,))
    return gauge.evidence(["main"], len(images) / FPS).views["main"]
