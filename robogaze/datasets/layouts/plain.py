"""A folder of videos at any depth, each with an optional sidecar: `cup.mp4` with `cup.txt` or `cup.json`.

Sidecars are read by `robogaze.datasets.manifest`: a text file contains the instruction; a JSON file contains fields of
an entry, and may contain `prompt`. This layout includes the output of Cosmos-Predict2.5.
"""

from robogaze.datasets.layouts.base import FolderLayout, ImportSource, ImportState
from robogaze.datasets.manifest import find_entries

_SIDECARS = (".json", ".txt")


def recognises(source: ImportSource) -> bool:
    """A folder with a video in it."""
    return bool(source.videos)


def read(source: ImportSource, state: ImportState) -> None:
    """One clip per video."""
    for video in source.videos:
        (entry,) = find_entries([source.at(video)])
        sidecars = (video.with_name(f"{video.stem}{suffix}") for suffix in _SIDECARS)
        state.add(entry, video, *(file for file in sidecars if source.has(file)))


LAYOUT = FolderLayout("plain", "videos, each with an optional .txt or .json of the same name", recognises, read)
