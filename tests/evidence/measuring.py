"""Measuring the clips that tests draw."""

from collections.abc import Mapping, Sequence

from robogaze.evidence import ClipSignals, SignalExtractor, SignalRecorder, ViewSignals, load_extractors
from robogaze.media.decode import Image

from .procedural import FPS


def measured(images: Sequence[Image], extractors: Mapping[str, type[SignalExtractor]] | None = None) -> ClipSignals:
    """The signals of a clip with a single view, those of all extractors by default."""
    recorder = SignalRecorder(load_extractors() if extractors is None else extractors)
    for number, image in enumerate(images):
        recorder(number, number / FPS, (image,))
    return recorder.evidence(["main"], len(images) / FPS)


def measured_by(extractor: type[SignalExtractor], images: Sequence[Image]) -> ViewSignals:
    """The signals of one extractor."""
    return measured(images, {"extractor": extractor}).views["main"]
