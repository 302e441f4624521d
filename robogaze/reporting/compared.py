"""What the page of a comparison shows beyond the comparison itself: who judged each run, and the clips that changed.

It is kept in `page.json` beside `comparison.json`, so that the page can be written again without the reports it came
from. Videos stay where they are and are named as seen from that folder.
"""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from robogaze.comparison import Comparison, Run
from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.coverage import CoverageState
from robogaze.core.data import Data, fault_of
from robogaze.core.events import Severity
from robogaze.core.report import Status, Verdict
from robogaze.core.time import Span
from robogaze.datasets.layouts.dreamdojo import CONTROL
from robogaze.errors import InputError
from robogaze.store import ManifestLine, StoredRun

FILE = "page.json"


class ShownEvent(Data):
    """An event of a clip; no spans where it is not said when."""

    id: str
    dimension: str | None
    type: str | None
    spans: tuple[Span, ...]
    severity: Severity | None
    confidence: float | None
    description: str

    @classmethod
    def of(cls, one: AnnotatedEvent) -> "ShownEvent":
        """An event of an account."""
        return cls(**{name: getattr(one, name) for name in cls.model_fields})


class ShownClip(Data):
    """A clip of a run. `video` is None where it is not known where that lies, `coverage` where all counts as examined.

    `duration_s` is None where it is not known. `start_s` is where in its video the clip begins. `video_sha256` is the
    content the video had, None where it is not known.
    """

    id: str
    status: Status
    verdict: Verdict
    instruction: str | None
    duration_s: float | None
    frame_times_s: tuple[float, ...]
    coverage: dict[str, CoverageState] | None
    video: str | None
    start_s: float
    video_sha256: str | None = None
    events: tuple[ShownEvent, ...]


class ShownRun(Data):
    """A run: who judged it, as far as its reports tell, and its clips by id, those alone that changed.

    `controls` counts the clips that are real, `alarms` those of them in which something was found. `page` is where the
    run's own page lies, None where there is none, or the clips lie in several run folders.
    """

    name: str
    page: str | None
    authors: tuple[str, ...]
    pipelines: tuple[str, ...]
    models: Mapping[str, tuple[str, ...]]
    taxonomies: tuple[str, ...]
    fingerprints: tuple[str, ...]
    controls: int
    alarms: int
    clips: Mapping[str, ShownClip]


class ComparisonPageData(Data):
    """All of it; the runs stand in the order of the comparison's."""

    schema_version: Literal[2] = 2
    runs: tuple[ShownRun, ...]

    @property
    def taxonomies(self) -> frozenset[str]:
        """The fingerprints of the taxonomies that the runs speak in."""
        return frozenset(one for run in self.runs for one in run.taxonomies)


def shown(result: Comparison, folder: Path) -> ComparisonPageData:
    """What a page that stands in `folder` shows of a comparison."""
    changed: list[set[str]] = [set() for _ in result.runs]
    for pair in result.pairs:
        for flip in pair.flips.found:
            changed[pair.second].add(flip.before)
            changed[pair.first].add(flip.after)
    places = _Places(folder)
    return ComparisonPageData(
        runs=tuple(_run(run, clips, places) for run, clips in zip(result.runs, changed, strict=True))
    )


def read_shown(path: Path) -> ComparisonPageData:
    """Read what was kept. Raises InputError with the file and the key of what does not fit."""
    try:
        return ComparisonPageData.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise InputError(f"{path}: {fault_of(error)}; write the comparison again") from error


def _run(run: Run, changed: set[str], places: "_Places") -> ShownRun:
    accounts = [run.annotations[clip_id] for clip_id in sorted(run.annotations)]
    controls = [one for one in accounts if one.fields.get("split") == CONTROL]
    facts = run.metadata.values()
    roots = {places.run_of(one) for one in accounts}
    only = roots.pop() if len(roots) == 1 else None
    page = None if only is None else only.root / "index.html"
    return ShownRun(
        name=run.name,
        page=places.address(page) if page is not None and page.is_file() else None,
        authors=_each(one.author for one in accounts),
        pipelines=_each(one.pipeline for one in facts),
        models=_models({one.models for one in facts}),
        taxonomies=_each(one.taxonomy for one in accounts),
        fingerprints=_each(one.fingerprint for one in accounts),
        controls=len(controls),
        alarms=sum(bool(one.findings) for one in controls),
        clips={one.clip_id: _clip(one, places) for one in accounts if one.clip_id in changed},
    )


def _each(values: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(sorted({value for value in values if value}))


def _models(told: set[str]) -> dict[str, tuple[str, ...]]:
    """By role the models' own names; what the run calls them where no name is told."""
    found: dict[str, set[str]] = {}
    for text in told:
        for role, model in json.loads(text).items():
            name = (model.get("identity") or {}).get("name") or model.get("model") or "not named"
            found.setdefault(role, set()).add(str(name))
    return {role: tuple(sorted(names)) for role, names in sorted(found.items())}


def _clip(one: ClipAnnotation, places: "_Places") -> ShownClip:
    video, start_s, content = places.video_of(one)
    return ShownClip(
        id=one.clip_id,
        status=one.status,
        verdict=one.verdict,
        instruction=one.instruction,
        duration_s=one.duration_s,
        frame_times_s=tuple(one.frame_times_s or ()),
        coverage=None if one.coverage is None else dict(one.coverage),
        video=video,
        start_s=start_s,
        video_sha256=content,
        events=tuple(map(ShownEvent.of, one.findings)),
    )


class _Places:
    """Where run folders and their videos lie, as seen from a folder; every manifest is read once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._runs: dict[Path, StoredRun | None] = {}
        self._lines: dict[Path, Mapping[str, ManifestLine]] = {}

    def run_of(self, one: ClipAnnotation) -> StoredRun | None:
        """The run folder that a report lies in: `<clip id>/report.json` or `reports/<clip id>.json`; None elsewhere."""
        root = Path(one.source).parent.parent
        if root not in self._runs:
            run = StoredRun(root) if (root / "run.json").is_file() else None
            self._runs[root] = run
            self._lines[root] = {} if run is None else {line.clip_id: line for line in run.lines}
        return self._runs[root]

    def video_of(self, one: ClipAnnotation) -> tuple[str | None, float, str | None]:
        """The address of a clip's video, where in it the clip begins, in seconds, and the SHA-256 it had."""
        run = self.run_of(one)
        line = None if run is None else self._lines[run.root].get(one.clip_id)
        if run is None or line is None:
            return None, 0.0, None
        # The manifest has what was asked for; the clip begins with the first frame there.
        report = None if line.start_s is None else run.report(one.clip_id)
        start_s = None if report is None else report.clip.start_s
        return self.address(run.root / line.path), start_s or 0.0, line.sha256

    def address(self, path: Path) -> str:
        """Where a file lies."""
        try:
            return Path(os.path.relpath(path.resolve(), self._folder)).as_posix()
        except ValueError:  # no way leads from one drive to another
            return path.resolve().as_posix()
