"""Writing a planted clip and its report.

The span of a glitch is its visible part: from the first to the last frame that differs visibly from the untouched clip
before encoding. A glitch that is visible in too few of the frames of its span is refused. For frames that are left out,
the span is the frame next to the gap; for a changed instruction, the span is the whole clip.
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
from robogaze.forge.plant.planting_config import Glitch
from robogaze.forge.plant.planting_scene import DrawRefused, FrameArray, GlitchEdit, differ
from robogaze.media.decode import Image, read_frames
from robogaze.media.encode import write_video

AUTHOR = "forge"

LEAST_SHOWN = 0.75
"""The least share of the frames of a span in which a glitch must be visible."""

_LEAST_FRAMES = 2
_LIBRARIES = ("robogaze", "av", "numpy", "opencv-python-headless")


def write_clip(path: Path, frames: FrameArray, edit: GlitchEdit) -> tuple[int, int]:
    """Write a clip with a glitch and return the frames (first, end) in which it is visible.

    Raises DrawRefused, and leaves no file, if the glitch is barely visible.
    """
    seen: dict[int, bool] = {}
    count = len(edit.sources)
    # If frames are left out or exchanged, the times of the frames stay.
    duration_s = frames.duration_s if count == len(frames.times_s) else frames.times_s[count]
    write_video(path, _frames(frames, edit, seen), frames.times_s[:count], duration_s)
    try:
        return _span(seen) if edit.seen else (edit.first, edit.end)
    except DrawRefused:
        path.unlink()
        raise


def untouched(frames: FrameArray) -> GlitchEdit:
    count = len(frames.times_s)
    return GlitchEdit(tuple(range(count)), 0, count, 0.0, "", "", seen=False)


def _frames(frames: FrameArray, edit: GlitchEdit, seen: dict[int, bool]) -> Iterator[Image]:
    """The edited frames; `seen` is filled with whether each edited frame differs visibly from the original."""
    views = range(len(frames.layout.active))
    for number, source in enumerate(edit.sources):
        image = frames.images[source]
        if edit.first <= number < edit.end:
            if edit.change is not None and edit.view is not None:
                window, image = frames.window(edit.view), image.copy()
                image[window] = edit.change(number, image[window])
            if edit.seen:
                seen[number] = any(differ(image[frames.window(view)], frames.view(number, view)) for view in views)
        yield image


def _span(seen: dict[int, bool]) -> tuple[int, int]:
    shown = [number for number, visible in seen.items() if visible]
    if len(shown) < _LEAST_FRAMES or len(shown) < LEAST_SHOWN * (shown[-1] + 1 - shown[0]):
        raise DrawRefused("it is barely visible")
    return shown[0], shown[-1] + 1


def report_of(clip: Clip, domain: Domain, events: Sequence[Event], planted: dict[str, Any]) -> Report:
    """The report of a clip; `planted` describes how the clip was made."""
    return Report(
        clip=clip,
        domain=domain.ref,
        pipeline="planted",
        author=AUTHOR,
        coverage=all_examined(domain.dimensions, "the planted glitch is known"),
        events=tuple(events),
        notes=("Only the planted glitch is annotated, not the faults that the clip had before.",),
        provenance=Provenance(versions={name: version(name) for name in _LIBRARIES}, media={"planted": planted}),
    )


def event_of(clip: Clip, glitch: Glitch, edit: GlitchEdit, frames: tuple[int, int], domain: Domain) -> Event:
    """The event of a glitch in the frames (first, end)."""
    first, end = frames
    span = Span(clip.frame_span(first).start, clip.frame_span(end - 1).end)
    _, old, new = edit.instruction or ("", "", "")
    fields = {"start": f"{span.start:.2f} s", "end": f"{span.end:.2f} s", "length": f"{span.length:.2f} s",
              "where": edit.where, "amount": edit.amount, "old": old, "new": new}  # fmt: skip
    description = glitch.description.format_map(fields)
    evidence = Evidence(
        text=f"{glitch.planter} of strength {edit.strength:.2f}: {edit.amount}",
        frames=evenly(range(first, end), 3),
        view=None if edit.view is None else clip.layout.active[edit.view],
        box=edit.box,
        source=AUTHOR,
    )
    return Event(
        id=f"{clip.id}-1",
        dimension=domain.dimension_of[glitch.type],
        type=glitch.type,
        secondary=glitch.secondary,
        spans=(span,),
        severity=glitch.level(edit.strength),
        confidence=None,
        description=description[0].upper() + description[1:],
        evidence=(evidence,),
    )


def clip_of(path: Path, folder: Path, clip_id: str, frames: FrameArray, entry: ManifestEntry) -> Clip:
    """The clip record of a written file. The file is decoded again for its frame times and its size."""
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
        layout=frames.layout,
        **{name: getattr(entry, name) for name in given},
    )
