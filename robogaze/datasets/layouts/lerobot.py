"""LeRobot data sets, v2.0, v2.1 and v3.0, read without the `lerobot` package.

A clip is an episode seen by one camera; every feature of type video is a camera. The instruction is the episode's first
task. v3.0 stores many episodes in one file; `meta/episodes` gives each episode's part of the file.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import PurePosixPath
from typing import Any, TypeVar

from pydantic import ConfigDict, ValidationError

from robogaze.core.data import Data, fault_of
from robogaze.datasets.documents import json_object, text_of
from robogaze.datasets.layouts.base import FolderLayout, ImportSource, ImportState, make_entry
from robogaze.datasets.layouts.table import read_rows
from robogaze.datasets.manifest import ManifestEntry
from robogaze.datasets.parquet_files import read_parquet
from robogaze.errors import InputError

INFO, _EPISODES, _MODALITY = "meta/info.json", "meta/episodes", "meta/modality.json"
_VALIDITY = "valid"
"""An entry in the list of tasks of GR00T's variant (with `modality.json`) that is not a task."""


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
    """An episode seen by one camera. `video` is its file, and `start_s` and `end_s` say where the episode starts and
    ends in this file, in seconds; both are None for the whole file.
    """

    episode: int
    camera: str
    tasks: Sequence[str]
    video: PurePosixPath
    start_s: float | None
    end_s: float | None


def recognises(source: ImportSource) -> bool:
    """`meta/info.json` with a version."""
    return source.has(INFO) and "codebase_version" in _description(source)


def read(source: ImportSource, state: ImportState) -> None:
    """One clip per episode and camera."""
    description = _description(source)
    info = _parse(_Info, description, f"{source.at(INFO)}")
    for episode in episode_videos(source):
        if not source.has(episode.video):
            state.ignore(episode.video, "is named by meta/episodes, but does not exist")
        else:
            state.add(_entry(source, episode, info, description, state), episode.video)
    if images := [name for name, feature in info.features.items() if feature.dtype == "image"]:
        state.remark(f"cameras with single images instead of videos are left out: {', '.join(images)}")
    state.use(*source.within("meta"))


def episode_videos(source: ImportSource) -> list[EpisodeVideo]:
    """The file of every episode and camera. If a file contains only one episode, and this episode starts at 0,
    `start_s` and `end_s` are None.

    Raises InputError if the description contradicts itself, or does not say where an episode starts and ends in a
    shared file.
    """
    info = _parse(_Info, _description(source), f"{source.at(INFO)}")
    if not info.cameras or info.video_path is None:
        raise InputError(
            f"{source.at(INFO)} describes no videos; data sets with single images instead of videos cannot be read"
        )
    episodes = list(_videos(source, info))
    shared = Counter(episode.video for episode in episodes)
    for episode in episodes:
        if shared[episode.video] > 1 and (episode.start_s is None or episode.end_s is None):
            file = source.at(episode.video)
            raise InputError(f"{file} contains several episodes, but {_EPISODES} gives no timestamps for them")
    return [
        episode if shared[episode.video] > 1 or episode.start_s else replace(episode, start_s=None, end_s=None)
        for episode in episodes
    ]


def _description(source: ImportSource) -> Mapping[str, Any]:
    if not source.has(INFO):
        raise InputError(f"{source.at(INFO)} does not exist; this file describes the data set")
    return json_object(text_of(source.at(INFO)), f"{source.at(INFO)}")


def _videos(source: ImportSource, info: _Info) -> Iterator[EpisodeVideo]:
    if info.codebase_version.startswith("v2"):
        path = source.at(f"{_EPISODES}.jsonl")
        rows = [(row.source, row.cells) for row in read_rows(path)]
    elif info.codebase_version.startswith("v3"):
        tables = [file for file in source.within(_EPISODES) if file.suffix == ".parquet"]
        rows = [
            (f"{source.at(table)}", cells) for table in tables for cells in read_parquet(source.at(table), "stats/")
        ]
    else:
        raise InputError(f"{source.at(INFO)}: codebase_version: {info.codebase_version!r} is not v2.0, v2.1 or v3.0")
    for place, cells in rows:
        episode = _parse(_Episode, cells, place)
        for camera in info.cameras:
            span = (_seconds(cells.get(f"videos/{camera}/{name}_timestamp"), place) for name in ("from", "to"))
            video = _video(info, episode, camera, cells, place)
            yield EpisodeVideo(episode.episode_index, camera, episode.tasks, video, *span)


def _seconds(value: Any, place: str) -> float | None:
    """A timestamp, rounded to microseconds."""
    if value is None:
        return None
    if not isinstance(value, int | float) or not isfinite(value):
        raise InputError(f"{place}: a timestamp must be a number of seconds, not {value!r}")
    return round(float(value), 6)


def _video(info: _Info, episode: _Episode, camera: str, cells: Mapping[str, Any], place: str) -> PurePosixPath:
    """The file of an episode and camera. The template may use the fields of v2 or v3."""
    chunk = cells.get(f"videos/{camera}/chunk_index", episode.episode_index // info.chunks_size)
    file = cells.get(f"videos/{camera}/file_index", episode.episode_index)
    numbers = {"episode_chunk": chunk, "chunk_index": chunk, "episode_file": file, "file_index": file}
    try:
        name = (info.video_path or "").format(video_key=camera, episode_index=episode.episode_index, **numbers)
    except (KeyError, IndexError, ValueError, AttributeError) as error:
        raise InputError(
            f"{place}: the placeholders in the video_path {info.video_path!r} of {INFO} cannot be filled in"
        ) from error
    return PurePosixPath(name)


def _entry(
    source: ImportSource, episode: EpisodeVideo, info: _Info, description: Mapping[str, Any], state: ImportState
) -> ManifestEntry:
    tasks = [task for task in episode.tasks if not (task == _VALIDITY and source.has(_MODALITY))]
    if len(tasks) > 1:
        state.remark("some episodes have several tasks; their first task is used as the instruction")
    path = source.at(episode.video)
    return make_entry(
        f"{path}",
        path=path,
        start_s=episode.start_s,
        end_s=episode.end_s,
        instruction=tasks[0] if tasks else None,
        split=_split(info, episode.episode),
        embodiment=_embodiment(description),
    )


def _split(info: _Info, episode: int) -> str | None:
    """The split whose range, `first:end`, contains an episode."""
    for name, episodes in info.splits.items():
        first, _, end = episodes.partition(":")
        if first.isdecimal() and end.isdecimal() and int(first) <= episode < int(end):
            return name
    return None


def _embodiment(description: Mapping[str, Any]) -> str | None:
    """The only string of the description whose key ends with `_type`."""
    values = [value for key, value in description.items() if key.endswith("_type") and isinstance(value, str)]
    return values[0] if len(values) == 1 else None


Record = TypeVar("Record", bound=Data)


def _parse(kind: type[Record], cells: Mapping[str, Any], place: str) -> Record:
    try:
        return kind.model_validate(dict(cells))
    except ValidationError as error:
        raise InputError(f"{place}: {fault_of(error)}") from error


LAYOUT = FolderLayout("lerobot", "LeRobot, v2.0 to v3.0: meta/info.json and videos/", recognises, read)
