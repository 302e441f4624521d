"""Clips with made-up series and known events, for the scripts that fit."""

from collections.abc import Mapping

import numpy as np
from making import coverage, make_clip
from measured_clips import KnownClip

from robogaze.core.events import Event
from robogaze.core.report import DomainRef, Report
from robogaze.core.time import Span
from robogaze.evidence import ClipSignals, Signal, ViewSignals
from robogaze.evidence.base import Series
from robogaze.stages.event_rule import EventRule

FPS = 16


def make_known(
    name: str,
    series: Mapping[str, Series],
    rule: EventRule,
    frames: tuple[int, int] | None,
    *,
    kind: str | None = None,
    world: str = "",
) -> KnownClip:
    """A clip with these series and one event in these frames, of the rule's type by default; clean without frames."""
    count = len(next(iter(series.values())))
    events = []
    if frames is not None:
        span = Span(frames[0] / FPS, frames[1] / FPS)
        fields = {"severity": 2, "confidence": None, "description": "It is wrong.", "evidence": ()}
        events.append(Event(id="E1", dimension=rule.dimension, type=kind or rule.type, spans=(span,), **fields))
    truth = Report(
        clip=make_clip(count / FPS, id=name),
        domain=DomainRef(id="robot", version="1", taxonomy="t", fingerprint="f"),
        pipeline="ground_truth",
        author="simulator",
        coverage=coverage(rule.dimension),
        events=tuple(events),
    )
    signals = {key: Signal(name=key, unit="units", description="A signal.") for key in series}
    views = {"main": ViewSignals(dict(series))}
    return KnownClip(name, truth, ClipSignals(signals, views, tuple(np.arange(count) / FPS), count / FPS), world)
