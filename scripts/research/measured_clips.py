"""Clips of which the truth is known, measured once: the series of every meter are kept in a folder.

What was measured by another version of a meter's code is measured again, and only by that meter.
"""

import ast
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from inspect import getfile
from pathlib import Path

import numpy as np

from robogaze.core.report import Report
from robogaze.evidence import METERS, ClipSignals, SignalExtractor, SignalRecorder, ViewSignals
from robogaze.media import decode_clip

DRAWN_SEEDS = range(10)


@dataclass(frozen=True)
class Known:
    """A measured clip of which the truth is known; None for one that is clean and has no report.

    `world` names the surroundings it was drawn from; "" where that was not limited, or is not known.
    """

    name: str
    truth: Report | None
    evidence: ClipSignals
    world: str = ""

    @property
    def clean(self) -> bool:
        """Nothing is wrong with it."""
        return self.truth is None or not self.truth.events


@cache
def sources(module: str) -> frozenset[str]:
    """The names of the modules of measured evidence that a module is made of."""
    tree = ast.parse(Path(getfile(import_module(module))).read_text(encoding="utf-8"))
    named = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    inside = {name for name in named if name.startswith("robogaze.evidence.")} - {module}
    return frozenset({module}).union(*(sources(name) for name in inside))


@cache
def version(meter: type[SignalExtractor]) -> str:
    """A fingerprint of the code a meter is made of."""
    files = (Path(getfile(import_module(name))) for name in sorted(sources(meter.__module__)))
    return hashlib.sha256("".join(file.read_text(encoding="utf-8") for file in files).encode()).hexdigest()[:10]


def kept(folder: Path, name: str, meters: Sequence[str]) -> dict[str, Path]:
    """Where the series of a clip are kept, by meter."""
    return {meter: folder / f"{name}-{meter}-{version(METERS[meter])}.npz" for meter in meters}


def keep(files: dict[str, Path], gauges: dict[str, SignalRecorder], views: Sequence[str], duration_s: float) -> None:
    """Write the series of each meter. Boxes are not kept: nothing that is fitted or counted reads them."""
    for meter, gauge in gauges.items():
        found = gauge.evidence(views, duration_s).views
        series = {f"{view}/{name}": one for view, told in found.items() for name, one in told.series.items()}
        np.savez(files[meter], **series)


def stored(files: dict[str, Path], views: Sequence[str], times_s: Sequence[float], duration_s: float) -> ClipSignals:
    """The evidence of a clip whose series are kept."""
    measured = {view: ViewSignals({}) for view in views}
    for file in files.values():
        with np.load(file) as series:
            for name in series.files:
                view, signal = name.split("/")
                measured[view].series[signal] = series[name]
    signals = {signal.name: signal for meter in files for signal in METERS[meter].signals}
    return ClipSignals(signals, measured, tuple(times_s), duration_s)


def simulated(folder: Path, cached: Path, meters: Sequence[str]) -> Iterator[Known]:
    """The clips of a folder that `robogaze forge simulate` or `forge plant` wrote, measured where they are not yet."""
    made = folder / "simulated.json"
    world = json.loads(made.read_text(encoding="utf-8"))["settings"]["world"] if made.exists() else None
    for line in (folder / "annotations.jsonl").read_text(encoding="utf-8").splitlines():
        truth = Report.model_validate_json(line)
        clip = truth.clip
        files = kept(cached, clip.id, meters)
        gauges = {meter: SignalRecorder({meter: METERS[meter]}) for meter, file in files.items() if not file.exists()}
        if gauges:
            decode_clip(folder / clip.uri, layout=clip.layout, observers=tuple(gauges.values())).close()
            keep(files, gauges, clip.layout.active, clip.duration_s)
        yield Known(clip.id, truth, stored(files, clip.layout.active, clip.frame_times_s, clip.duration_s), world or "")


def drawn(cached: Path, meters: Sequence[str]) -> Iterator[Known]:
    """Clean clips drawn by arithmetic."""
    cases = import_module("tests.evidence.cases")
    procedural = import_module("tests.evidence.procedural")
    for kind, take in cases.CLEAN.items():
        for seed in DRAWN_SEEDS:
            name = f"drawn-{kind.replace(' ', '_').replace('/', '_')}-{seed}"
            files = kept(cached, name, meters)
            gauges = {
                meter: SignalRecorder({meter: METERS[meter]}) for meter, file in files.items() if not file.exists()
            }
            times_s = [frame / procedural.FPS for frame in range(take.frames)]
            duration_s = take.frames / procedural.FPS
            for frame, image in enumerate(procedural.film(seed, take) if gauges else ()):
                for gauge in gauges.values():
                    gauge(frame, times_s[frame], (image,))
            keep(files, gauges, ["main"], duration_s)
            yield Known(name, None, stored(files, ["main"], times_s, duration_s), "drawn")
