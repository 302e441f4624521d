"""A run: the annotations of the clips of one checkpoint, and what they cost.

A comparison also uses the cost, the pipeline and the models of each clip, which only reports contain. In foreign
formats they are unknown; an unknown cost never counts as 0.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from robogaze.annotations import LoadedRun
from robogaze.core.annotation import FIELDS, ClipAnnotation
from robogaze.core.clip import address
from robogaze.core.report import Report
from robogaze.datasets.documents import FormatError, documents
from robogaze.datasets.formats import report
from robogaze.datasets.formats.base import AnnotationPart
from robogaze.datasets.formats.read import find_files
from robogaze.datasets.pairing import System
from robogaze.errors import InputError


@dataclass(frozen=True)
class ReportMetadata:
    """What a comparison reads from a report besides its events.

    Two reports have equal `models` texts if they used the same models with the same settings, even on different
    servers.
    """

    cost_usd: float | None
    pipeline: str
    models: str
    initial_frame: str | None


@dataclass(frozen=True)
class ManifestClip:
    """A clip in a run's manifest: its instruction, the fields of `ClipAnnotation.fields`, and its address."""

    instruction: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    address: str = ""


@dataclass(frozen=True)
class Run:
    """The clips of one checkpoint.

    `annotations` and `metadata` are by clip id; a clip without metadata comes from a foreign format. `unreadable`
    counts clips whose video could not be read; `at` lists the known addresses of these clips. `listed` are the clips of
    the run's manifest, empty if there is no manifest. If this run is part of a split run, `unplaced` counts the whole
    run's unreadable clips that could not be assigned to a part; no part's numbers include these clips.
    """

    name: str
    annotations: Mapping[str, ClipAnnotation]
    metadata: Mapping[str, ReportMetadata] = field(default_factory=dict)
    unreadable: int = 0
    listed: Mapping[str, ManifestClip] = field(default_factory=dict)
    at: tuple[str, ...] = ()
    unplaced: int = 0

    @classmethod
    def of(cls, name: str, annotations: Sequence[ClipAnnotation], path: Path | None = None) -> "Run":
        """A run from annotations, and from the path of these annotations if there is one.

        Raises InputError if a clip has two annotations, or if the run's manifest is damaged.
        """
        by_clip = System.of(name, annotations).annotations
        if path is None:
            return cls(name, by_clip)
        by_source = dict(_metadata(path))
        metadata = {
            clip_id: by_source[annotation.source]
            for clip_id, annotation in by_clip.items()
            if annotation.source in by_source
        }
        listed = {line["clip_id"]: _listed(line) for line in _lines(path / "manifest.jsonl")}
        unreadable = _unreadable(path / "unreadable.json")
        return cls(name, by_clip, metadata, len(unreadable), listed, unreadable)

    @classmethod
    def of_loaded(
        cls, name: str, annotations: Sequence[ClipAnnotation], loaded: Iterable[Report | ClipAnnotation]
    ) -> "Run":
        """A run from annotations, and from the loaded values of these annotations.

        Raises InputError if a clip has two annotations.
        """
        by_clip = System.of(name, annotations).annotations
        metadata = {
            item.clip.id: _metadata_of(item)
            for item in loaded
            if isinstance(item, Report) and item.clip.id in by_clip and by_clip[item.clip.id].author == item.author
        }
        if not isinstance(loaded, LoadedRun):
            return cls(name, by_clip, metadata)
        listed = {line.clip_id: _listed(line.model_dump()) for line in loaded.listed}
        at = tuple(clip.uri for clip in loaded.unreadable)
        return cls(name, by_clip, metadata, len(at), listed, at)

    @property
    def unreported(self) -> Mapping[str, ManifestClip]:
        """The clips of the manifest that have no report, by clip id; some of them may be unreadable."""
        return {clip_id: clip for clip_id, clip in self.listed.items() if clip_id not in self.annotations}

    def split_by(self, name: str) -> Iterator["Run"]:
        """One run for each value of a clip field, in sorted order. A value that occurs only in the manifest also gets a
        run.

        Clips without a report and unreadable clips are assigned to runs by the manifest; `unplaced` counts unreadable
        clips that cannot be assigned. Raises InputError for a report without the field.
        """
        for clip_id, annotation in sorted(self.annotations.items()):
            if name not in annotation.fields:
                raise InputError(
                    f"{annotation.source}: {clip_id} has no {name}, but the run must be split by this field"
                )
        placed = {(clip.address, clip.fields[name]) for clip in self.listed.values() if name in clip.fields}
        known = {address for address, _ in placed}
        for value in sorted(
            {*(annotation.fields[name] for annotation in self.annotations.values()), *(value for _, value in placed)}
        ):
            annotations = {
                clip_id: annotation
                for clip_id, annotation in sorted(self.annotations.items())
                if annotation.fields[name] == value
            }
            there = tuple(address for address in self.at if (address, value) in placed)
            yield replace(
                self,
                name=value,
                annotations=annotations,
                metadata={clip_id: self.metadata[clip_id] for clip_id in annotations if clip_id in self.metadata},
                unreadable=len(there),
                listed={clip_id: clip for clip_id, clip in self.listed.items() if clip.fields.get(name) == value},
                at=there,
                unplaced=sum(address not in known for address in self.at),
            )


class _Clip(BaseModel):
    initial_frame: str | None = None


class _Usage(BaseModel):
    cost_usd: float | None = None


class _Provenance(BaseModel):
    models: dict[str, dict[str, Any]] = {}


class _ReportExcerpt(BaseModel):
    """The parts of a report that are read here; the ledger is long, and `read_annotations` has checked all of it."""

    clip: _Clip
    pipeline: str
    usage: _Usage = _Usage()
    provenance: _Provenance = _Provenance()


def _metadata(path: Path) -> Iterator[tuple[str, ReportMetadata]]:
    """The metadata of every report in a path, by the report's source; files that are not reports have no metadata."""
    found = find_files(path)
    for file in found.files:
        for part in _parts(found.root / file, file.parts[:-1]):
            try:
                yield part.source, _metadata_of(_ReportExcerpt.model_validate_json(part.value))
            except ValidationError:
                continue  # no report, or one that `read_annotations` has left out


def _parts(file: Path, folders: tuple[str, ...]) -> Iterator[AnnotationPart]:
    try:
        for document in documents(file, folders):
            yield from report.split(document)
    except FormatError:
        return  # `read_annotations` has left out what cannot be read


def _metadata_of(report: _ReportExcerpt | Report) -> ReportMetadata:
    models = report.provenance.models.items()
    same = {role: {**model, "identity": _without_address(model.get("identity") or {})} for role, model in models}
    return ReportMetadata(
        report.usage.cost_usd, report.pipeline, json.dumps(same, sort_keys=True), report.clip.initial_frame
    )


def _without_address(identity: Mapping[str, Any]) -> Mapping[str, Any]:
    """A model's identity without its address: a run may use several servers."""
    return {key: value for key, value in identity.items() if key != "url"}


def _lines(manifest: Path) -> Iterator[dict[str, Any]]:
    if not (manifest.parent / "run.json").is_file() or not manifest.is_file():
        return
    for number, line in enumerate(manifest.read_bytes().splitlines(), start=1):
        try:
            found = from_json(line)
        except ValueError as error:
            raise InputError(
                f"{manifest}:{number} is damaged: {error}; this file is the run's own list of clips"
            ) from error
        if not isinstance(found, dict) or not isinstance(found.get("clip_id"), str):
            raise InputError(f"{manifest}:{number}: clip_id is missing; this file is the run's own list of clips")
        yield found


def _listed(line: Mapping[str, Any]) -> ManifestClip:
    fields = {name: value for name in FIELDS if isinstance(value := line.get(name), str)}
    where = address(line.get("path") or "", line.get("start_s"), line.get("end_s"))
    return ManifestClip(line.get("instruction"), fields, where)


def _unreadable(listed: Path) -> tuple[str, ...]:
    # `read_annotations` has checked the list.
    return tuple(clip["uri"] for clip in from_json(listed.read_bytes())) if listed.is_file() else ()


def check_comparable(runs: Sequence[Run], *, mixed: bool) -> None:
    """Check that the runs can be compared as checkpoints.

    Raises InputError for two runs with the same name and for a run of several checkpoints. Without `mixed`, different
    taxonomies, versions of the domain's files, pipelines or models are also an error.
    """
    names = [run.name for run in runs]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"two runs have the name {twice}; give one of these runs another name with NAME=PATH")
    for run in runs:
        checkpoints = sorted(
            {value for annotation in run.annotations.values() if (value := annotation.fields.get("checkpoint"))}
        )
        if len(checkpoints) > 1:
            held = f"{run.name} holds clips of {len(checkpoints)} checkpoints ({checkpoints[0]}, {checkpoints[1]}"
            raise InputError(f"{held}{', ...' if checkpoints[2:] else ''}); use --by checkpoint to compare them")
    if mixed:
        return
    for what, values in _identities(runs).items():
        if len(values) > 1:
            first, second = list(values.values())[:2]
            raise InputError(
                f"{first} and {second} were made with different {what}; use --mixed to compare them anyway"
            )


def _identities(runs: Sequence[Run]) -> Mapping[str, Mapping[str, str]]:
    """The values of everything that must be the same in all runs, each with the first place where it occurs."""
    met: dict[str, dict[str, str]] = {
        name: {} for name in ("taxonomies", "versions of the domain's files", "pipelines", "models")
    }
    for run in runs:
        for clip_id, annotation in run.annotations.items():
            metadata = run.metadata.get(clip_id)
            metadata_values = (None, None) if metadata is None else (metadata.pipeline, metadata.models)
            values = (annotation.taxonomy, annotation.fingerprint, *metadata_values)
            for seen, value in zip(met.values(), values, strict=True):
                if value is not None:
                    seen.setdefault(value, f"{run.name} ({annotation.source})")
    return met
