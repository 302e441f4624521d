"""Evidence that needs no model: signals measured in every frame, and rules that turn them into findings."""

from robogaze.evidence.base import ClipSignals, FrameView, Signal, SignalExtractor, SignalRecorder, ViewSignals
from robogaze.evidence.classifier import Classifier, class_signals, with_classes
from robogaze.evidence.gaps import MeasurementGap, measurement_gaps
from robogaze.evidence.rules import (
    ExplainedFinding,
    RuleFinding,
    SignalCondition,
    SignalRule,
    check_signals,
    describe_place,
    explained_findings,
    find,
)
from robogaze.evidence.signal_text import summarise
from robogaze.registry import Registry

EXTRACTORS: Registry[type[SignalExtractor]] = Registry(
    "signals",
    {
        "exposure": "robogaze.evidence.signals.exposure:Exposure",
        "sharpness": "robogaze.evidence.signals.sharpness:Sharpness",
        "camera_motion": "robogaze.evidence.signals.camera_motion:CameraMotion",
        "tears": "robogaze.evidence.signals.tears:Tears",
        "seams": "robogaze.evidence.signals.seams:Seams",
        "repeated_frames": "robogaze.evidence.signals.repeated_frames:RepeatedFrames",
        "dark_patch": "robogaze.evidence.signals.dark_patch:DarkPatch",
        "unexplained_change": "robogaze.evidence.signals.unexplained_change:UnexplainedChange",
        "dropped_frames": "robogaze.evidence.signals.dropped_frames:DroppedFrames",
        "region_replacement": "robogaze.evidence.signals.region_replacement:RegionReplacement",
    },
)
"""The signal extractors by name. An extractor may measure several signals."""


def load_extractors() -> dict[str, type[SignalExtractor]]:
    """Every extractor by name, including the extractors of other packages."""
    return {name: EXTRACTORS.load(name) for name in EXTRACTORS.names()}


def known_signals() -> dict[str, Signal]:
    """Every signal by name."""
    return {signal.name: signal for extractor in load_extractors().values() for signal in extractor.signals}


__all__ = [
    "EXTRACTORS",
    "Classifier",
    "ClipSignals",
    "ExplainedFinding",
    "FrameView",
    "MeasurementGap",
    "RuleFinding",
    "Signal",
    "SignalCondition",
    "SignalExtractor",
    "SignalRecorder",
    "SignalRule",
    "ViewSignals",
    "check_signals",
    "class_signals",
    "describe_place",
    "explained_findings",
    "find",
    "known_signals",
    "load_extractors",
    "measurement_gaps",
    "summarise",
    "with_classes",
]
