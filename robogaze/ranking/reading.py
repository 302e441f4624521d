"""The clips of runs: each has a report that judges something, or a reason why it has none."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from robogaze.annotations import LoadedRun, NamedSource
from robogaze.core.clip import address
from robogaze.core.report import Report, Unreadable
from robogaze.datasets.manifest import stem_of
from robogaze.errors import InputError
from robogaze.ranking.candidates import Candidate, candidate_of
from robogaze.reports import iter_reports
from robogaze.store import ManifestLine, StoredRun


@dataclass(frozen=True)
class ReadClip:
    """A clip of a run, and what it was generated from. If `candidate` is None, `reason` says why."""

    id: str
    run: str
    prompt_id: str | None = None
    instruction: str | None = None
    initial_frame: str | None = None
    candidate: Candidate | None = None
    reason: str = ""


def read_clips(sources: Sequence[NamedSource], *, mixed: bool) -> tuple[ReadClip, ...]:
    """The clips of all runs; ids that several runs share get the name of the run.

    Raises InputError for input that is not a report, for two reports on a clip, and, unless `mixed`, for reports of
    different domains or pipelines.
    """
    origins: dict[tuple[str, str], str] = {}
    clips: list[ReadClip] = []
    for source in sources:
        found = list(_clips(source, origins))
        names = Counter(clip.id for clip in found)
        if twice := next((name for name, number in names.items() if number > 1), None):
            raise InputError(f"{source.label} has two reports on {twice}; rank reports of one author and pipeline")
        clips += found
    if len(origins) > 1 and not mixed:
        (first, place), (second, other_place) = list(origins.items())[:2]
        what = "pipelines" if first[0] == second[0] else "domains"
        raise InputError(f"{place} and {other_place} were made with different {what}; use --mixed to rank them anyway")
    runs = Counter(clip.run for clip in clips)
    shared = {name for name, number in Counter(clip.id for clip in clips).items() if number > 1}
    if len(runs) < len(sources) and shared:
        raise InputError("two runs have the same name; write NAME=PATH")
    return tuple(_renamed(clip, f"{clip.run}/{clip.id}") if clip.id in shared else clip for clip in clips)


def _renamed(clip: ReadClip, name: str) -> ReadClip:
    candidate = None if clip.candidate is None else replace(clip.candidate, id=name)
    return replace(clip, id=name, candidate=candidate)


def _clips(source: NamedSource, origins: dict[tuple[str, str], str]) -> Iterator[ReadClip]:
    run = None if source.path is None or not (source.path / "run.json").is_file() else StoredRun(source.path)
    lines = {line.clip_id: line for line in _lines(source, run)}
    scored = set()
    for place, report in _reports(source):
        scored.add(report.clip.id)
        origins.setdefault((report.domain.taxonomy, report.pipeline), place or source.label)
        yield _read(report, source, place, lines.get(report.clip.id))
    unreadable = {clip.uri: f"it cannot be read: {clip.reason}" for clip in _unreadable(source, run)}
    for line in lines.values():
        if line.clip_id not in scored:
            why = unreadable.pop(address(line.path, line.start_s, line.end_s), "it has no report")
            yield ReadClip(line.clip_id, source.label, line.prompt_id, line.instruction, reason=why)
    for uri, why in unreadable.items():
        stem = stem_of(Path(uri).stem)
        yield ReadClip(uri if stem in scored or stem in lines else stem, source.label, reason=why)


def _reports(source: NamedSource) -> Iterator[tuple[str, Report]]:
    if source.path is not None:
        yield from iter_reports(source.path)
        return
    assert not isinstance(source.source, str | Path)
    for report in source.source:
        if not isinstance(report, Report):
            raise InputError(
                "an annotation does not show what stayed undecided, so annotations cannot be ranked; pass "
                "reports instead"
            )
        yield "", report


def _lines(source: NamedSource, run: StoredRun | None) -> Sequence[ManifestLine]:
    if run is not None:
        return run.lines
    return source.source.listed if isinstance(source.source, LoadedRun) else ()


def _unreadable(source: NamedSource, run: StoredRun | None) -> Sequence[Unreadable]:
    if run is not None:
        return run.unreadable
    return source.source.unreadable if isinstance(source.source, LoadedRun) else ()


def _read(report: Report, source: NamedSource, place: str, line: ManifestLine | None) -> ReadClip:
    clip = report.clip
    made_from = clip.prompt_id, clip.instruction, clip.initial_frame
    if report.status == "unscored":
        why = next((failure.message for failure in report.failures), "no dimension was examined")
        return ReadClip(clip.id, source.label, *made_from, reason=f"it is unscored: {why}")
    candidate = candidate_of(report, source.label, "", _video(report, source, line), place)
    return ReadClip(clip.id, source.label, *made_from, candidate=candidate)


def _video(report: Report, source: NamedSource, line: ManifestLine | None) -> Path:
    """The file of a clip: by the run's manifest, otherwise by the path in the report, relative to the current folder or
    to the folder of the report's source.
    """
    if line is not None and source.path is not None:
        return source.path / line.path
    path = Path(report.clip.uri)
    if path.exists() or source.path is None:
        return path
    folder = source.path if source.path.is_dir() else source.path.parent
    return folder / path if (folder / path).exists() else path
