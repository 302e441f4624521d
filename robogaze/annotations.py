"""Annotations from paths or loaded values, for `evaluate`, `compare` and `agree`.

A source is a path (a report, a folder of reports, JSONL, or any format that is recognised: docs/formats.md), a path
with a name ("NAME=PATH"), loaded reports, or loaded annotations. No video and no model library is needed.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

from robogaze.core.annotation import ClipAnnotation, annotation_of
from robogaze.core.report import Report, Unreadable
from robogaze.datasets.formats.label_mapping import Labels, load_labels
from robogaze.datasets.formats.read import read_annotations
from robogaze.datasets.pairing import match_clip_ids
from robogaze.domains import default_domain, load_domain
from robogaze.errors import InputError, OptionError
from robogaze.paths import given_path
from robogaze.store import ManifestLine

Source = str | Path | Iterable[Report | ClipAnnotation]

_log = logging.getLogger("robogaze")


@runtime_checkable
class LoadedRun(Protocol):
    """Loaded reports that also list the clips without a report, such as the result of `robogaze.score`."""

    @property
    def unreadable(self) -> tuple[Unreadable, ...]:
        """The clips whose file cannot be read."""

    @property
    def listed(self) -> tuple[ManifestLine, ...]:
        """All clips of the run, with and without a report; empty if they are not known."""


class SourceError(OptionError):
    """Sources are missing, or a name is unknown, missing or used twice."""


@dataclass(frozen=True)
class ReadOptions:
    """How annotations are read and which of them are compared.

    `format` is the name of a format; with "auto", the format is recognised. `fps` (frames per second) and `first_frame`
    (0 or 1, the number of the first frame) apply to formats that count in frames but state neither value. With
    `lenient`, an invalid annotation is skipped, counted and reported; otherwise it is an error. `domain` is a name or a
    folder; foreign labels are mapped to the labels of this domain. None means the built-in default. `author` selects
    one author if a source has several authors. `mixed` allows labels of different taxonomies or versions.
    """

    format: str = "auto"
    fps: float | None = None
    first_frame: int | None = None
    lenient: bool = False
    domain: str | None = None
    author: str | None = None
    mixed: bool = False

    def __post_init__(self) -> None:
        """Raise OptionError for a number that is out of its range."""
        if self.fps is not None and not 0 < self.fps < inf:
            raise OptionError(f"fps must be above 0 and finite, not {self.fps}")
        if self.first_frame not in (None, 0, 1):
            raise OptionError(f"first_frame must be 0 or 1, not {self.first_frame}")

    def labels(self) -> Labels:
        """The labels of the domain."""
        return load_labels(self.domain or default_domain())

    def rubric(self) -> str:
        """The name of the domain's rubric for judges."""
        return load_domain(self.domain or default_domain()).file.judge


@dataclass(frozen=True)
class NamedSource:
    """A source and its name. `name` is None if the user gave no name; `path` is None for loaded values."""

    name: str | None
    source: Source
    path: Path | None

    @classmethod
    def of(cls, source: Source, name: str | None = None) -> "NamedSource":
        """A source as the user gave it: "NAME=PATH" is split, unless a file has that very name.

        Raises InputError if a path is empty or does not exist, and SourceError for anything but a path, reports and
        annotations.
        """
        if not isinstance(source, str | Path):
            return cls(name, _loaded(source), None)
        given, sign, rest = str(source).partition("=")
        split = name is None and isinstance(source, str) and bool(sign) and not Path(source).exists()
        path = given_path(rest if split else source, "the path of a source")
        if not path.exists():
            raise InputError(f"{path} does not exist")
        return cls(given if split else name, path, path)

    @property
    def label(self) -> str:
        """The name if there is one. Otherwise the name of the folder, or the name of the file without its suffix.

        Raises InputError for loaded values without a name.
        """
        if self.name is not None:
            return self.name
        if self.path is None:
            raise SourceError("loaded reports or annotations need a name; give a mapping from names to values")
        path = self.path.resolve()
        return path.name if path.is_dir() else path.stem


def named_sources(sources: Mapping[str, Source] | Sequence[Source] | Source) -> list[NamedSource]:
    """The sources with their names. A name is a key of the mapping, or the NAME in a string "NAME=PATH"."""
    if isinstance(sources, Mapping):
        return [NamedSource.of(source, str(name)) for name, source in sources.items()]
    if isinstance(sources, str | Path) or not isinstance(sources, Iterable):
        return [NamedSource.of(sources)]
    loaded: list[Report | ClipAnnotation] = []
    named: list[NamedSource] = []
    for item in sources:
        if isinstance(item, Report | ClipAnnotation):
            loaded.append(item)
        else:
            named.append(NamedSource.of(item))
    return [*named, NamedSource.of(loaded)] if loaded else named


def _loaded(source: Iterable[Report | ClipAnnotation]) -> Iterable[Report | ClipAnnotation]:
    """Loaded values that can be read several times; an iterator can be read only once. One value is accepted, too."""
    several = isinstance(source, Iterable) and not isinstance(source, Report)  # the fields of a report are iterable
    values = source if isinstance(source, LoadedRun) else tuple(source if several else cast(Any, (source,)))
    for value in values:
        if not isinstance(value, Report | ClipAnnotation):
            raise SourceError(
                f"a source must be a path, or loaded reports or annotations; it contains a {type(value).__name__}"
            )
    return values


@dataclass(frozen=True)
class SourceReader:
    """Reads sources with one set of options.

    Foreign labels are mapped to `labels`; None leaves them unchanged. `as_written` keeps the intervals exactly as they
    are in the file; released evaluators need this. `skipped` collects the parts that were skipped. Unless `quiet` is
    True, the logger `robogaze` reports each warning and each skipped part.
    """

    options: ReadOptions
    labels: Labels | None
    as_written: bool = False
    skipped: list[str] | None = None
    quiet: bool = False

    def read(self, source: NamedSource, clips: Mapping[str, ClipAnnotation] | None = None) -> list[ClipAnnotation]:
        """The annotations of a source.

        `clips` maps clip ids to other annotations of the same clips, for example to the references of predictions. A
        file that gives frame numbers without times gets the frame times of `clips`. Unless `lenient`, raises InputError
        with file, line and key for an invalid annotation.
        """
        if source.path is None:
            assert not isinstance(source.source, str | Path)
            place = source.name or "loaded reports"
            return [annotation_of(item, place) if isinstance(item, Report) else item for item in source.source]
        found = read_annotations(
            source.path,
            format=self.options.format,
            labels=self.labels,
            fps=self.options.fps,
            first_frame=self.options.first_frame,
            lenient=self.options.lenient,
            clips=clips,
            as_written=self.as_written,
        )
        for warning in found.warnings:
            self._warn(f"{source.path}: {warning}")
        for skipped in found.skipped:
            self._warn(f"skipped: {skipped}")
        if self.skipped is not None:
            self.skipped.extend(found.skipped)
        return list(found.annotations)

    def with_ids_of(
        self, references: Sequence[ClipAnnotation], annotations: Sequence[ClipAnnotation], label: str
    ) -> list[ClipAnnotation]:
        """The annotations, with the clip ids that the references use for the same clips. Clips are matched by id, then
        by sha256, then by file stem.
        """
        found = match_clip_ids(references, annotations)
        if found.by["sha256"] or found.by["stem"]:
            self._warn(f"{label}: clips were matched to those of the other annotations: {found}")
        return list(found.annotations)

    def _warn(self, message: str) -> None:
        if not self.quiet:
            _log.warning("%s", message)
