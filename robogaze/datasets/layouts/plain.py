"""A folder of videos, each with its sidecar or none: `cup.mp4` beside `cup.txt` or `cup.json`, at any depth.

The sidecar is read as `robogaze.datasets.manifest` does: the text is the instruction; of the JSON, the fields of an
entry, and `prompt`. So this is Cosmos-Predict2.5's output, too.
"""

from robogaze.datasets.layouts.base import Importer, ImportState
from robogaze.datasets.layouts.source import ImportSource
from robogaze.datasets.manifest import find_entries

SIDECARS = (".json", ".txt")


def recognises(source: ImportSource) -> bool:
    """A folder with a video in it."""
    return bool(source.videos)


def read(source: ImportSource, found: ImportState) -> None:
    """A clip a video."""
    for video in source.videos:
        (entry,) = find_entries([source.at(video)])
        beside = (video.with_name(f"{video.stem}{suffix}") for suffix in SIDECARS)
        found.add(entry, video, *(file for file in beside if source.has(file)))


IMPORTER = Importer("plain", "videos, each with a .txt or .json of the same name or none", recognises, read)
