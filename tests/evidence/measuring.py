"""Measuring clips that tests draw."""

from collections.abc import Sequence

from robogaze.evidence import METERS, Evidence, Gauge, Measured, Meter
from robogaze.media.decode import Image

from .procedural import FPS


def measured(images: Sequence[Image]) -> Evidence:
    """All signals of a clip with a single view."""
    gauge = Gauge(METERS)
    for number, image in enumerate(images):
        gauge(number, number / FPS, (image,))
    return gauge.evidence(["main"], len(images) / FPS)


def measured_by(meter: type[Meter], images: Sequence[Image]) -> Measured:
    """The signals of one meter."""
    gauge = Gauge({"meter": meter})
    for number, image in enumerate(images):
        gauge(number, number / FPS, (image,))
    return gauge.evidence(["main"], len(images) / FPS).views["main"]
