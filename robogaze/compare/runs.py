"""A run: what was said of the clips of one checkpoint, and what it cost.

An account says what went wrong in a clip. What a comparison needs beside that (cost, pipeline, models) stands in
reports alone; of a foreign format it is not known, which is never 0.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from robogaze.core.annotation import FIELDS, ClipAnnotation
from robogaze.core.clip import address
from robogaze.datasets.documents import FormatError, documents
from robogaze.datasets.formats import report
from robogaze.datasets.formats.base import AnnotationPart
from robogaze.datasets.formats.read import find_files
from robogaze.datasets.pairing import System
from robogaze.errors import InputError


@dataclass(frozen=True)
class Facts:
    """What a report says beside its findings.

    `models` is a text that is the same for the same models asked the same way, on whatever server.
    """

    cost_usd: float | None
    pipeline: str
    models: str
    initial_frame: str | None


@dataclass(frozen=True)
class ManifestClip:
    """A clip in a run's manifest: what it was made for, the fields of `ClipAnnotation.fields`, and its address."""

    instruction: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    address: str = ""


@dataclass(frozen=True)
class Run:
    """The clips of one checkpoint.

    `accounts` and `facts` are by clip id; a clip without facts is from a foreign format. `unreadable` counts clips
    whose video could not be read, `at` says where those lie that are known one by one. `listed` are the clips that the
    run's manifest names, empty where there is none. `unplaced` counts the unreadable clips of the run that this one
    was split off, of which it is not known where they belong; they are in no run's own numbers.
    """

    name: str
    accounts: Mapping[str, ClipAnnotation]
    facts: Mapping[str, Facts] = field(default_factory=dict)
    unreadable: int = 0
    listed: Mapping[str, ManifestClip] = field(default_factory=dict)
    at: tuple[str, ...] = ()
    unplaced: int = 0

    @classmethod
    def of(cls, name: str, accounts: Sequence[ClipAnnotation], path: Path | None = None) -> "Run":
        """A run from accounts, and from the path they were read from, if any.

        Raises InputError when a clip has two accounts, or the run's own lists are damaged.
        """
        by_clip = System.of(name, accounts).annotations
        if path is None:
            return cls(name, by_clip)
        told = dict(_facts(path))
        facts = {clip_id: told[one.source] for clip_id, one in by_clip.items() if one.source in told}
        listed = {line["clip_id"]: _listed(line) for line in _lines(path / "manifest.jsonl")}
        unreadable = _unreadable(path / "unreadable.json")
        return cls(name, by_clip, facts, len(unreadable), listed, unreadable)

    def split_by(self, name: str) -> Iterator["Run"]:
        """A run for each value of a clip field, in order, also for one of which no clip has a report.

        What the manifest names without a report, and what could not be read, goes by the manifest's own word; see
        `unplaced` for what that says nothing of. Raises InputError for a report without the field.
        """
        for clip_id, one in sorted(self.accounts.items()):
            if name not in one.fields:
                raise InputError(f"{one.source}: {clip_id} has no {name}, by which the run is to be split")
        placed = {(one.address, one.fields[name]) for one in self.listed.values() if name in one.fields}
        known = {address for address, _ in placed}
        for value in sorted({*(one.fields[name] for one in self.accounts.values()), *(value for _, value in placed)}):
            accounts = {clip_id: one for clip_id, one in sorted(self.accounts.items()) if one.fields[name] == value}
            there = tuple(address for address in self.at if (address, value) in placed)
            yield replace(
                self,
                name=value,
                accounts=accounts,
                facts={clip_id: self.facts[clip_id] for clip_id in accounts if clip_id in self.facts},
                unreadable=len(there),
                listed={clip_id: one for clip_id, one in self.listed.items() if one.fields.get(name) == value},
                at=there,
                unplaced=sum(address not in known for address in self.at),
            )


class _Clip(BaseModel):
    initial_frame: str | None = None


class _Usage(BaseModel):
    cost_usd: float | None = None


class _Provenance(BaseModel):
    models: dict[str, dict[str, Any]] = {}


class _Told(BaseModel):
    """What is read of a report here, and no more, for the ledger is long; `read_annotations` has checked all of it."""

    clip: _Clip
    pipeline: str
    usage: _Usage = _Usage()
    provenance: _Provenance = _Provenance()


def _facts(path: Path) -> Iterator[tuple[str, Facts]]:
    """The facts of every report below a path, by its source; what is no report has none."""
    found = find_files(path)
    for file in found.files:
        for part in _parts(found.root / file, file.parts[:-1]):
            try:
                yield part.source, _facts_of(_Told.model_validate_json(part.value))
            except ValidationError:
                continue  # no report, or one that `read_annotations` has left out


def _parts(file: Path, folders: tuple[str, ...]) -> Iterator[AnnotationPart]:
    try:
        for document in documents(file, folders):
            yield from report.split(document)
    except FormatError:
        return  # `read_annotations` has left out what cannot be read


def _facts_of(one: _Told) -> Facts:
    models = one.provenance.models.items()
    same = {role: {**model, "identity": _anywhere(model.get("identity") or {})} for role, model in models}
    return Facts(one.usage.cost_usd, one.pipeline, json.dumps(same, sort_keys=True), one.clip.initial_frame)


def _anywhere(identity: Mapping[str, Any]) -> Mapping[str, Any]:
    """A model's identity without its address: a run may be spread over several servers."""
    return {key: value for key, value in identity.items() if key != "url"}


def _lines(manifest: Path) -> Iterator[dict[str, Any]]:
    if not (manifest.parent / "run.json").is_file() or not manifest.is_file():
        return
    for number, line in enumerate(manifest.read_bytes().splitlines(), start=1):
        try:
            found = from_json(line)
        except ValueError as error:
            raise InputError(f"{manifest}:{number} is damaged: {error}; it is the run's own list of clips") from error
        if not isinstance(found, dict) or not isinstance(found.get("clip_id"), str):
            raise InputError(f"{manifest}:{number}: clip_id is missing; it is the run's own list of clips")
        yield found


def _listed(line: Mapping[str, Any]) -> ManifestClip:
    fields = {name: value for name in FIELDS if isinstance(value := line.get(name), str)}
    where = address(line.get("path") or "", line.get("start_s"), line.get("end_s"))
    return ManifestClip(line.get("instruction"), fields, where)


def _unreadable(listed: Path) -> tuple[str, ...]:
    # `read_annotations` has checked the list.
    return tuple(one["uri"] for one in from_json(listed.read_bytes())) if listed.is_file() else ()


def check_comparable(runs: Sequence[Run], *, mixed: bool) -> None:
    """Refuse what is no comparison of checkpoints.

    Raises InputError for two runs of one name, a run of several checkpoints, and, unless `mixed`, for different
    taxonomies, versions of the domain's files, pipelines or models.
    """
    names = [one.name for one in runs]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"two runs have the name {twice}; write NAME=PATH")
    for run in runs:
        checkpoints = sorted({value for one in run.accounts.values() if (value := one.fields.get("checkpoint"))})
        if len(checkpoints) > 1:
            held = f"{run.name} holds clips of {len(checkpoints)} checkpoints ({checkpoints[0]}, {checkpoints[1]}"
            raise InputError(f"{held}{', ...' if checkpoints[2:] else ''}); --by checkpoint compares them")
    if mixed:
        return
    for what, values in _identities(runs).items():
        if len(values) > 1:
            one, other = list(values.values())[:2]
            raise InputError(f"{one} and {other} were made with different {what}; --mixed compares them anyway")


def _identities(runs: Sequence[Run]) -> Mapping[str, Mapping[str, str]]:
    """Of everything that must be the same, the values, each with where it was first met."""
    met: dict[str, dict[str, str]] = {
        name: {} for name in ("taxonomies", "versions of the domain's files", "pipelines", "models")
    }
    for run in runs:
        for clip_id, one in run.accounts.items():
            facts = run.facts.get(clip_id)
            told = (None, None) if facts is None else (facts.pipeline, facts.models)
            values = (one.taxonomy, one.fingerprint, *told)
            for seen, value in zip(met.values(), values, strict=True):
                if value is not None:
                    seen.setdefault(value, f"{run.name} ({one.source})")
    return met
