"""What can be measured in the pixels of a clip: signals per frame, numbers without verdicts, and rules over them."""

from robogaze.evidence.base import ClipSignals, FrameView, Signal, SignalExtractor, SignalRecorder, ViewSignals
from robogaze.evidence.blocks import Blocks
from robogaze.evidence.classifier import Classifier, class_signals, classified
from robogaze.evidence.cover import Cover
from robogaze.evidence.exposure import Exposure
from robogaze.evidence.gaps import MeasurementGap, gaps
from robogaze.evidence.motion import Motion
from robogaze.evidence.regions import Regions
from robogaze.evidence.repeats import Repeats
from robogaze.evidence.rules import Condition, Explained, RuleFinding, SignalRule, check, explained, find, place
from robogaze.evidence.seams import Seams
from robogaze.evidence.sharpness import Sharpness
from robogaze.evidence.summary import summarise
from robogaze.evidence.tears import Tears

METERS: dict[str, type[SignalExtractor]] = {
    "exposure": Exposure,
    "sharpness": Sharpness,
    "motion": Motion,
    "blocks": Blocks,
    "tears": Tears,
    "seams": Seams,
    "repeats": Repeats,
    "cover": Cover,
    "regions": Regions,
}
"""Every meter by name."""

SIGNALS: dict[str, Signal] = {signal.name: signal for meter in METERS.values() for signal in meter.signals}
"""Every signal by name."""

__all__ = [
    "METERS",
    "SIGNALS",
    "Classifier",
    "ClipSignals",
    "Condition",
    "Explained",
    "FrameView",
    "MeasurementGap",
    "RuleFinding",
    "Signal",
    "SignalExtractor",
    "SignalRecorder",
    "SignalRule",
    "ViewSignals",
    "check",
    "class_signals",
    "classified",
    "explained",
    "find",
    "gaps",
    "place",
    "summarise",
]
