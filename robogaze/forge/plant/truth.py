"""Making a planted clip, and saying what is true of it.

The span of a glitch is not what was planned but what can be seen: from the first to the last planned frame that a
viewer can tell from the untouched clip (`scene.differ`, before encoding). A glitch that too few frames between show
is refused. Where it lies in what is left out, it is the frame beside the gap; where it lies in the instruction, it is
the whole clip.
"""

from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from robogaze.core.clip import Clip
from robogaze.core.coverage import all_examined
from robogaze.core.events import Event, Evidence
from robogaze.core.report import Provenance, Report
from robogaze.core.sampling import evenly
from robogaze.core.time import Span
from robogaze.datasets.manifest import ManifestEntry, file_sha256
from robogaze.domains import Domain
from robogaze.forge.plant.edit import GlitchEdit, Refused
from robogaze.forge.plant.frame_array import FrameArray
from robogaze.forge.plant.recipe import Plant, filled
from robogaze.forge.plant.scene import differ
from robogaze.media.decode import Image, read_frames
from robogaze.media.encode import write_video

AUTHOR = "forge"

LEAST_SHOWN = 0.75
"""The share of the frames of a span, its ends among them, in which a glitch must be to be seen."""

_LEAST_FRAMES = 2
_LIBRARIES = ("robogaze", "av", "numpy", "opencv-python-headless")


def make(path: Path, reel: FrameArray, edit: GlitchEdit) -> tuple[int, int]:
    """Write a clip with a glitch in it, and say in which frames that is to be seen.

    Raises Refused, and leaves no file, when it can hardly be.
    """
    seen: dict[int, bool] = {}
    count = len(edit.sources)
    # Where frames are left out or change places, the moments of the clip go on as they were.
    duration_s = reel.duration_s if count == len(reel.times_s) else reel.times_s[count]
    write_video(path, _frames(reel, edit, seen), reel.times_s[:count], duration_s)
    try:
        return _span(seen) if edit.seen else (edit.first, edit.end)
    except Refused:
        path.unlink()
        raise


def untouched(reel: FrameArray) -> GlitchEdit:
    """The edit that changes nothing."""
    count = len(reel.times_s)
    return GlitchEdit(tuple(range(count)), 0, count, 0.0, "", "", seen=False)


def _frames(reel: FrameArray, edit: GlitchEdit, seen: dict[int, bool]) -> Iterator[Image]:
    """The frames with the glitch; `seen` is filled with whether each planned one can be told from the clip's."""
    views = range(len(reel.layout.active))
    for number, source in enumerate(edit.sources):
        image = reel.images[source]
        if edit.first <= number < edit.end:
            if edit.change is not None and edit.view is not None:
                window, image = reel.window(edit.view), image.copy()
                image[window] = edit.change(number, image[window])
            if edit.seen:
                seen[number] = any(differ(image[reel.window(view)], reel.view(number, view)) for view in views)
        yield image


def _span(seen: dict[int, bool]) -> tuple[int, int]:
    shown = [number for number, visible in seen.items() if visible]
    if len(shown) < _LEAST_FRAMES or len(shown) < LEAST_SHOWN * (shown[-1] + 1 - shown[0]):
        raise Refused("it can hardly be seen")
    return shown[0], shown[-1] + 1


def report(clip: Clip, domain: Domain, events: Sequence[Event], planted: dict[str, Any]) -> Report:
    """What is true of a clip as far as the forge knows; `planted` says how it was made."""
    return Report(
        clip=clip,
        domain=domain.ref,
        pipeline="planted",
        author=AUTHOR,
        coverage=all_examined(domain.dimensions, "what was planted is known"),
        events=tuple(events),
        notes=("What was planted, and nothing else: what was wrong with the clip before is not said here.",),
        provenance=Provenance(versions={name: version(name) for name in _LIBRARIES}, media={"planted": planted}),
    )


def event(clip: Clip, plant: Plant, edit: GlitchEdit, frames: tuple[int, int], domain: Domain) -> Event:
    """The glitch that was planted in the half-open run of frames."""
    first, end = frames
    span = Span(clip.frame_span(first).start, clip.frame_span(end - 1).end)
    _, old, new = edit.instruction or ("", "", "")
    told = {"start": f"{span.start:.2f} s", "end": f"{span.end:.2f} s", "length": f"{span.length:.2f} s",
            "where": edit.where, "amount": edit.amount, "old": old, "new": new}  # fmt: skip
    evidence = Evidence(
        text=f"{plant.planter} of strength {edit.strength:.2f}: {edit.amount}",
        frames=evenly(range(first, end), 3),
        view=None if edit.view is None else clip.layout.active[edit.view],
        box=edit.box,
        source=AUTHOR,
    )
    return Event(
        id=f"{clip.id}-1",
        dimension=domain.dimension_of[plant.type],
        type=plant.type,
        secondary=plant.secondary,
        spans=(span,),
        severity=plant.level(edit.strength),
        confidence=None,
        description=filled(plant.describe, told),
        evidence=(evidence,),
    )


def clip_of(path: Path, folder: Path, clip_id: str, reel: FrameArray, entry: ManifestEntry) -> Clip:
    """The record of a file that was written, from what it decodes to."""
    times_s, end_s, size = [], 0.0, (0, 0)
    for frame in read_frames(path):
        times_s.append(frame.time_s)
        end_s = round(frame.time_s + frame.duration_s, 6)
        size = frame.image.shape[:2]
    given = ("instruction", "checkpoint", "split", "task_family", "embodiment")
    return Clip(
        id=clip_id,
        uri=path.relative_to(folder).as_posix(),
        sha256=file_sha256(path),
        frame_count=len(times_s),
        frame_times_s=tuple(times_s),
        duration_s=end_s,
        fps=round(len(times_s) / end_s, 6),
        height=size[0],
        width=size[1],
        initial_frame=None if entry.initial_frame is None else entry.initial_frame.as_posix(),
        layout=reel.layout,
        **{name: getattr(entry, name) for name in given},
    )
