"""Clips with known events, measured once: the series of every signal extractor are kept in a folder.

A series that another version of an extractor's code measured is measured again.
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
from robogaze.evidence import (
    ClipSignals,
    SignalExtractor,
    SignalRecorder,
    ViewSignals,
    known_signals,
    load_extractors,
)
from robogaze.media import decode_clip

SYNTHETIC_SEEDS = range(10)


@dataclass(frozen=True)
class KnownClip:
    """A measured clip with known events. `truth` is None for a clean synthetic clip.

    `world` is the simulated world it is from; "" where it is not limited to one.
    """

    name: str
    truth: Report | None
    evidence: ClipSignals
    world: str = ""

    @property
    def clean(self) -> bool:
        """Whether it has no events."""
        return self.truth is None or not self.truth.events


@cache
def sources(module: str) -> frozenset[str]:
    """The modules of robogaze.evidence that a module consists of."""
    tree = ast.parse(Path(getfile(import_module(module))).read_text(encoding="utf-8"))
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    inside = {name for name in imported if name.startswith("robogaze.evidence.")} - {module}
    return frozenset({module}).union(*(sources(name) for name in inside))


@cache
def version(extractor: type[SignalExtractor]) -> str:
    """A fingerprint of an extractor's code."""
    files = (Path(getfile(import_module(name))) for name in sorted(sources(extractor.__module__)))
    return hashlib.sha256("".join(file.read_text(encoding="utf-8") for file in files).encode()).hexdigest()[:10]


class SeriesCache:
    """The measured series of one clip, a file per extractor.

    Boxes are not kept, because nothing that is fitted or counted reads them.
    """

    def __init__(self, folder: Path, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._extractors = load_extractors()
        self._files = {
            key: folder / f"{name}-{key}-{version(extractor)}.npz" for key, extractor in self._extractors.items()
        }
        missing = {key: self._extractors[key] for key, file in self._files.items() if not file.exists()}
        self.recorder = SignalRecorder(missing) if missing else None

    def save(self, views: Sequence[str], duration_s: float) -> None:
        """Write what the recorder measured."""
        assert self.recorder is not None, "some series are missing"
        measured = self.recorder.evidence(views, duration_s).views
        for key, file in self._files.items():
            names = [signal.name for signal in self._extractors[key].signals]
            if not file.exists():
                np.savez(file, **{f"{view}/{name}": measured[view].series[name] for view in measured for name in names})

    def load(self, views: Sequence[str], times_s: Sequence[float], duration_s: float) -> ClipSignals:
        """The signals of the clip."""
        measured = {view: ViewSignals({}) for view in views}
        for file in self._files.values():
            with np.load(file) as series:
                for key in series.files:
                    view, signal = key.split("/")
                    measured[view].series[signal] = series[key]
        return ClipSignals(known_signals(), measured, tuple(times_s), duration_s)


def simulated_clips(folder: Path, cache: Path) -> Iterator[KnownClip]:
    """The clips of a folder that `robogaze forge simulate` or `forge plant` wrote."""
    made = folder / "simulated.json"
    world = json.loads(made.read_text(encoding="utf-8"))["settings"]["world"] if made.exists() else None
    for line in (folder / "annotations.jsonl").read_text(encoding="utf-8").splitlines():
        truth = Report.model_validate_json(line)
        clip = truth.clip
        kept = SeriesCache(cache / folder.name, clip.id)
        if kept.recorder is not None:
            decode_clip(folder / clip.uri, layout=clip.layout, observers=(kept.recorder,), pictures_fps=0).close()
            kept.save(clip.layout.active, clip.duration_s)
        yield KnownClip(clip.id, truth, kept.load(clip.layout.active, clip.frame_times_s, clip.duration_s), world or "")


def synthetic_clips(cache: Path) -> Iterator[KnownClip]:
    """Clean clips drawn by tests/evidence."""
    cases = import_module("tests.evidence.cases")
    procedural = import_module("tests.evidence.procedural")
    for kind, take in cases.CLEAN.items():
        for seed in SYNTHETIC_SEEDS:
            name = f"synthetic-{kind.replace(' ', '_').replace('/', '_')}-{seed}"
            kept = SeriesCache(cache / "synthetic", name)
            times_s = [frame / procedural.FPS for frame in range(take.frames)]
            duration_s = take.frames / procedural.FPS
            if kept.recorder is not None:
                for frame, image in enumerate(procedural.film(seed, take)):
                    kept.recorder(frame, times_s[frame], (image,))
                kept.save(["main"], duration_s)
            yield KnownClip(name, None, kept.load(["main"], times_s, duration_s), "synthetic")
