"""DreamDojo's evaluation: `<iteration>/<number>_pred.mp4`, with the real clip as `_gt` and both together as `_merged`.

The iteration is the checkpoint. A real clip is a control: what is found in it is a false alarm; its split says so, and
it belongs to no checkpoint. Each iteration holds the same real clips again; the first copy of each is kept. There are
no instructions: the clips are made from actions.
"""

import re
from hashlib import sha256
from pathlib import PurePosixPath

from robogaze.datasets.layouts.base import Importer, ImportState, make_entry
from robogaze.datasets.layouts.source import ImportSource

CONTROL = "control"
"""The split of real clips."""

_NAME = re.compile(r"\d+_(?P<kind>pred|gt|merged)")
_ITERATION = re.compile(r"iter_\d+")


def recognises(source: ImportSource) -> bool:
    """Every video is of one of the kinds, and some are predictions that lie beside another kind."""
    kinds = {_kind(video) for video in source.videos}
    return "pred" in kinds and len(kinds) > 1 and None not in kinds


def read(source: ImportSource, found: ImportState) -> None:
    """A clip a prediction, and one a real clip."""
    controls: dict[str, PurePosixPath] = {}
    for video in source.videos:
        kind, path = _kind(video), source.at(video)
        if kind == "pred":
            # Iterations predict the same samples, and nothing else tells which of their clips belong together.
            number = video.stem.removesuffix("_pred")
            found.add(make_entry(f"{path}", path=path, prompt_id=number, checkpoint=_iteration(source, video)), video)
        elif kind == "merged":
            found.ignore(video, "shows the prediction and the real clip side by side")
        elif kind == "gt":
            first = controls.setdefault(sha256(path.read_bytes()).hexdigest(), video)
            if first is video:
                found.add(make_entry(f"{path}", path=path, split=CONTROL), video)
            else:
                found.ignore(video, "the same real clip as in another iteration")


def _kind(video: PurePosixPath) -> str | None:
    named = _NAME.fullmatch(video.stem)
    return None if named is None else named["kind"]


def _iteration(source: ImportSource, video: PurePosixPath) -> str | None:
    """The folder of a prediction; the source's own where it is itself one iteration."""
    if video.parent.parts:
        return video.parent.as_posix()
    own = source.path.resolve().name
    return own if _ITERATION.fullmatch(own) else None


IMPORTER = Importer("dreamdojo", "<iteration>/<number>_pred.mp4, _gt.mp4 and _merged.mp4", recognises, read)
