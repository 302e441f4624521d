"""LeRobot data sets, v2.0, v2.1 and v3.0, read without the `lerobot` package.

A clip is an episode seen by one camera; the cameras are the features of type video, whatever they are called. The
instruction is the episode's task, of several the first. v3.0 keeps many episodes in one file: such an episode is the
part of the file that `meta/episodes` gives it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import PurePosixPath
from typing import Any, TypeVar

from pydantic import ConfigDict, ValidationError

from robogaze.core.data import Data, dotted, first_fault
from robogaze.datasets.layouts.base import Importer, ImportState, make_entry
from robogaze.datasets.layouts.rows import rows_of
from robogaze.datasets.layouts.source import ImportSource, object_of
from robogaze.datasets.manifest import ManifestEntry
from robogaze.datasets.parquet_files import read_parquet
from robogaze.errors import InputError

INFO, _EPISODES, _MODALITY = "meta/info.json", "meta/episodes", "meta/modality.json"
_VALIDITY = "valid"
"""What GR00T's flavour (with `modality.json`) puts among the tasks, and is none."""


class _Feature(Data):
    model_config = ConfigDict(frozen=True, extra="ignore")

    dtype: str


class _Info(Data):
    model_config = ConfigDict(frozen=True, extra="ignore")

    codebase_version: str
    features: dict[str, _Feature]
    video_path: str | None = None
    chunks_size: int = 1000
    splits: dict[str, str] = {}

    @property
    def cameras(self) -> list[str]:
        """The features that are videos."""
        return [name for name, feature in self.features.items() if feature.dtype == "video"]


class _Episode(Data):
    model_config = ConfigDict(frozen=True, extra="ignore")

    episode_index: int
    tasks: list[str] = []


@dataclass(frozen=True)
class EpisodeVideo:
    """An episode as one camera saw it, the file that holds it, and from when to when, where that is said."""

    episode: int
    camera: str
    tasks: Sequence[str]
    video: PurePosixPath
    start_s: float | None
    end_s: float | None


def recognises(source: ImportSource) -> bool:
    """`meta/info.json` with a version."""
    return source.has(INFO) and "codebase_version" in object_of(source.at(INFO))


def read(source: ImportSource, found: ImportState) -> None:
    """A clip an episode and camera."""
    told = _told(source)
    info = _parse(_Info, told, f"{source.at(INFO)}")
    for clip in episode_videos(source):
        if not source.has(clip.video):
            found.ignore(clip.video, "is named by meta/episodes, but not there")
        else:
            found.add(_entry(source, clip, info, told, found), clip.video)
    found.use(*source.within("meta"))


def episode_videos(source: ImportSource) -> list[EpisodeVideo]:
    """Where every episode and camera of a data set lies; of one that has a file to itself no times are told.

    Raises InputError when the description contradicts itself, or does not say which part of a file an episode is.
    """
    told = _told(source)
    info = _parse(_Info, told, f"{source.at(INFO)}")
    if not info.cameras or info.video_path is None:
        raise InputError(f"{source.at(INFO)} names no video; a data set of single pictures is not read")
    found = list(_videos(source, info))
    held = Counter(one.video for one in found)
    for one in found:
        if held[one.video] > 1 and (one.start_s is None or one.end_s is None):
            raise InputError(f"{source.at(one.video)} holds several episodes, and {_EPISODES} gives them no timestamps")
    return [one if held[one.video] > 1 else replace(one, start_s=None, end_s=None) for one in found]


def _told(source: ImportSource) -> Mapping[str, Any]:
    if not source.has(INFO):
        raise InputError(f"{source.at(INFO)} does not exist; it describes the data set")
    return object_of(source.at(INFO))


def _videos(source: ImportSource, info: _Info) -> Iterator[EpisodeVideo]:
    if info.codebase_version.startswith("v2"):
        path = source.at(f"{_EPISODES}.jsonl")
        rows = [(row.where, row.cells) for row in rows_of(path)]
    elif info.codebase_version.startswith("v3"):
        tables = [file for file in source.within(_EPISODES) if file.suffix == ".parquet"]
        rows = [(f"{source.at(one)}", cells) for one in tables for cells in read_parquet(source.at(one), "stats/")]
    else:
        raise InputError(f"{source.at(INFO)}: codebase_version: {info.codebase_version!r} is none of v2.0, v2.1, v3.0")
    for where, cells in rows:
        episode = _parse(_Episode, cells, where)
        for camera in info.cameras:
            span = (_seconds(cells.get(f"videos/{camera}/{name}_timestamp"), where) for name in ("from", "to"))
            video = _video(info, episode, camera, cells, where)
            yield EpisodeVideo(episode.episode_index, camera, episode.tasks, video, *span)


def _seconds(value: Any, where: str) -> float | None:
    """A timestamp, to the microsecond as all times are."""
    if value is None:
        return None
    if not isinstance(value, int | float) or not isfinite(value):
        raise InputError(f"{where}: a timestamp must be a number of seconds, not {value!r}")
    return round(float(value), 6)


def _video(info: _Info, episode: _Episode, camera: str, cells: Mapping[str, Any], where: str) -> PurePosixPath:
    """The file of an episode and camera. Templates are met with the places of either version."""
    chunk = cells.get(f"videos/{camera}/chunk_index", episode.episode_index // info.chunks_size)
    file = cells.get(f"videos/{camera}/file_index", episode.episode_index)
    places = {"episode_chunk": chunk, "chunk_index": chunk, "episode_file": file, "file_index": file}
    try:
        named = (info.video_path or "").format(video_key=camera, episode_index=episode.episode_index, **places)
    except (KeyError, IndexError, ValueError, AttributeError) as error:
        raise InputError(f"{where}: the video_path {info.video_path!r} of {INFO} cannot be filled in") from error
    return PurePosixPath(named)


def _entry(
    source: ImportSource, clip: EpisodeVideo, info: _Info, told: Mapping[str, Any], found: ImportState
) -> ManifestEntry:
    tasks = [one for one in clip.tasks if not (one == _VALIDITY and source.has(_MODALITY))]
    if len(tasks) > 1:
        found.remark("some episodes have several tasks; the first is the instruction")
    path = source.at(clip.video)
    return make_entry(
        f"{path}",
        path=path,
        start_s=clip.start_s,
        end_s=clip.end_s,
        instruction=tasks[0] if tasks else None,
        split=_split(info, clip.episode),
        embodiment=_body(told),
    )


def _split(info: _Info, episode: int) -> str | None:
    """The split whose range, `first:end`, holds an episode."""
    for name, episodes in info.splits.items():
        first, _, end = episodes.partition(":")
        if first.isdecimal() and end.isdecimal() and int(first) <= episode < int(end):
            return name
    return None


def _body(told: Mapping[str, Any]) -> str | None:
    """What moved: the one text of the description whose key ends so."""
    named = [value for key, value in told.items() if key.endswith("_type") and isinstance(value, str)]
    return named[0] if len(named) == 1 else None


Record = TypeVar("Record", bound=Data)


def _parse(kind: type[Record], cells: Mapping[str, Any], where: str) -> Record:
    try:
        return kind.model_validate(dict(cells))
    except ValidationError as error:
        place, message = first_fault(error)
        raise InputError(f"{where}: {dotted(place)}: {message}") from error


IMPORTER = Importer("lerobot", "LeRobot, v2.0 to v3.0: meta/info.json and videos/", recognises, read)
