"""DreamDojo's evaluation: `<iteration>/<number>_pred.mp4`, with the real clip as `_gt` and both together as `_merged`.

The iteration is the checkpoint. A real clip is a control: an event reported in it is a false alarm. A real clip has the
split "control" and no checkpoint. Every iteration contains the same real clips; one copy of each is kept. There are no
instructions, because the clips are generated from actions.
"""

import re
from hashlib import sha256
from pathlib import PurePosixPath

from robogaze.datasets.layouts.base import FolderLayout, ImportSource, ImportState, make_entry

CONTROL = "control"
"""The split of real clips."""

_NAME = re.compile(r"\d+_(?P<kind>pred|gt|merged)")
_ITERATION = re.compile(r"iter_\d+")


def recognises(source: ImportSource) -> bool:
    """Every video is a prediction, a real clip or a merged clip. There must be at least one prediction, and at least
    one video of another kind.
    """
    kinds = {_kind(video) for video in source.videos}
    return "pred" in kinds and len(kinds) > 1 and None not in kinds


def read(source: ImportSource, state: ImportState) -> None:
    """One clip per prediction and per real clip."""
    controls: dict[str, PurePosixPath] = {}
    for video in source.videos:
        kind, path = _kind(video), source.at(video)
        if kind == "pred":
            # Iterations predict the same samples; only the number says which of their clips belong together.
            number = video.stem.removesuffix("_pred")
            state.add(make_entry(f"{path}", path=path, prompt_id=number, checkpoint=_iteration(source, video)), video)
        elif kind == "merged":
            state.ignore(video, "shows the prediction and the real clip side by side")
        elif kind == "gt":
            first = controls.setdefault(sha256(path.read_bytes()).hexdigest(), video)
            if first is video:
                state.add(make_entry(f"{path}", path=path, split=CONTROL), video)
            else:
                state.ignore(video, "the same real clip as in another iteration")


def _kind(video: PurePosixPath) -> str | None:
    match = _NAME.fullmatch(video.stem)
    return None if match is None else match["kind"]


def _iteration(source: ImportSource, video: PurePosixPath) -> str | None:
    """The folder of a prediction, or the source itself if it is the folder of an iteration."""
    if video.parent.parts:
        return video.parent.as_posix()
    name = source.path.resolve().name
    return name if _ITERATION.fullmatch(name) else None


LAYOUT = FolderLayout("dreamdojo", "<iteration>/<number>_pred.mp4, _gt.mp4 and _merged.mp4", recognises, read)
