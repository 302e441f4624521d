"""Cosmos-Predict's data: `videos/<name>.mp4` with the instruction in `metas/<name>.txt`.

GR00T-Dreams and Cosmos-Curate also write this layout. Other files (`t5_xxl/`, `metadata.csv`) are ignored.
"""

from pathlib import PurePosixPath

from robogaze.datasets.documents import text_of
from robogaze.datasets.layouts.base import VIDEOS, FolderLayout, ImportSource, ImportState, make_entry

_VIDEOS, _METAS = "videos", "metas"


def recognises(source: ImportSource) -> bool:
    """Videos in `videos/`, and a text in `metas/` for at least one of them."""
    return any(source.has(_meta(video)) for video in _videos(source))


def read(source: ImportSource, state: ImportState) -> None:
    """One clip per video."""
    for video in _videos(source):
        meta = _meta(video)
        text = text_of(source.at(meta)) if source.has(meta) else None
        entry = make_entry(f"{source.at(video)}", path=source.at(video), instruction=text)
        state.add(entry, video, *([meta] if text is not None else []))
    for file in source.within(_METAS):
        if file.suffix == ".txt":
            state.ignore(file, "a text without a video")


def _videos(source: ImportSource) -> list[PurePosixPath]:
    return [file for file in source.within(_VIDEOS) if file.suffix.lower() in VIDEOS]


def _meta(video: PurePosixPath) -> PurePosixPath:
    return PurePosixPath(_METAS, *video.parts[1:]).with_suffix(".txt")


LAYOUT = FolderLayout("cosmos", "videos/, and metas/ with a text of the same name for each video", recognises, read)
