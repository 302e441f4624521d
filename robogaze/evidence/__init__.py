"""What can be measured in the pixels of a clip: signals per frame, numbers without verdicts, and rules over them."""

from robogaze.evidence.base import ClipSignals, FrameView, Signal, SignalExtractor, SignalRecorder, ViewSignals
from robogaze.evidence.classifier import Classifier, class_signals, classified
from robogaze.evidence.gaps import MeasurementGap, gaps
from robogaze.evidence.rules import Condition, Explained, RuleFinding, SignalRule, check, explained, find, place
from robogaze.evidence.signals.blocks import Blocks
from robogaze.evidence.signals.camera_motion import Motion
from robogaze.evidence.signals.dark_patch import Cover
from robogaze.evidence.signals.exposure import Exposure
from robogaze.evidence.signals.repeated_frames import Repeats
from robogaze.evidence.signals.seams import Seams
from robogaze.evidence.signals.sharpness import Sharpness
from robogaze.evidence.signals.tears import Tears
from robogaze.evidence.signals.unexplained_change import Regions
from robogaze.evidence.summary import summarise

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
