"""A decoded clip: decoded once, with its frames stored as the pictures that a model is shown.

Each frame is passed to the observers, which measure it, and is stored as JPEG. A report's evidence therefore has
exactly the bytes that the model saw. If only few frames are to be shown, only frames at a given rate are stored during
decoding. The other frames are read from the video again when they are shown. Pictures are in a temporary file, so that
memory does not grow with the clip.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from hashlib import sha256
from itertools import chain, pairwise
from pathlib import Path
from threading import Lock

from robogaze.core.clip import Layout
from robogaze.core.pictures import Content, FrameImage, Picture, PictureSettings
from robogaze.core.view_boxes import Size, fitted_size
from robogaze.errors import VideoError
from robogaze.media.compose import (
    FrameCanvas,
    SheetForm,
    arranged,
    decode_image,
    encode_jpeg,
    fit,
    largest_form,
    sheet,
    split,
)
from robogaze.media.decode import Frame, Image, read_frames
from robogaze.media.grid import detect_layout, fillers_are_black
from robogaze.media.picture_files import open_picture
from robogaze.media.picture_store import PictureStore, StoredPicture
from robogaze.threads import check

_THUMBNAIL_QUALITY = 80
_LEAST_VIEW_PX = 32
_EVIDENCE_PX = 1200
"""The longer side of a picture that is evidence, as readers see it."""
_INITIAL = "initial frame, before the clip"
_APART_S = 8.0
"""Frames that are further apart are read from the video in separate parts. Decoding a part starts at a key frame, and
many videos have a key frame only every 250 frames."""

Observer = Callable[[int, float, tuple[Image, ...]], None]
"""Called for every frame with its number, its time in seconds, and its views."""


class DecodedClip:
    """The pictures of one clip; close it to free them. Made by `decode_clip`.

    `start_s` is the time of the clip's first frame in its file; it is above 0 only for a part of a file. `source` is
    the file of the clip, which `decoder` reads; it is None if the clip is not from a file. `store` holds the pictures
    of the clip. `evidence_pictures` are JPEG copies, for readers, of the pictures that a stage made and uses as
    evidence. They are keyed by picture id (see `keep_evidence`).
    """

    def __init__(
        self, layout: Layout, settings: PictureSettings, source: Path | None = None, decoder: str = "pyav"
    ) -> None:
        self.layout = layout
        self.settings = settings
        self.source = source
        self.decoder = decoder
        self.times_s: list[float] = []
        self.duration_s = self.start_s = 0.0
        self.width = self.height = 0
        self.initial: FrameImage | None = None
        self.evidence_pictures: dict[str, Content] = {}
        self.store = PictureStore()
        self._frames: dict[int, StoredPicture] = {}
        self._reading_again = Lock()
        self._has_read_again = False
        self._images: dict[int, FrameImage] = {}
        self._sheets: dict[str, FrameImage] = {}
        self._canvas: FrameCanvas | None = None
        self._scaled_down = False

    def close(self) -> None:
        """Free the pictures."""
        self.store.close()

    def add_frame(self, time_s: float, views: Sequence[Image], *, encode: bool = True) -> None:
        """Add the next frame; all frames have one size. Without `encode`, the picture of the frame is made when it is
        shown.
        """
        self.times_s.append(time_s)
        if self._canvas is None:
            self._canvas, self._scaled_down = self._begin(views[0])
        if encode:
            self._add_picture(self._canvas, len(self.times_s) - 1, views)

    def make_pictures(self, numbers: Iterable[int]) -> None:
        """Make the pictures of those frames that have none yet. They are made together, because each new reading of the
        video has to start at a key frame.

        From the second reading on, all missing pictures are made. Raises VideoError as `originals` does.
        """
        with self._reading_again:
            missing = sorted(set(numbers) - self._frames.keys())
            if not missing or self._canvas is None:
                return
            assert self.source is not None, "without a source, every frame is encoded"
            if self._has_read_again:
                missing = sorted(set(range(len(self.times_s))) - self._frames.keys())
            self._has_read_again = True
            canvas = FrameCanvas(self.layout.active, self._canvas.view_size)
            for number, image in self._read_again(self.source, missing):
                self._add_picture(canvas, number, split(image, self.layout))

    def add_initial_frame(self, path: Path, first: Image) -> None:
        """Add a picture of the scene before the clip. It must have the same layout as `first`, the first frame of the
        clip, but may have another size.

        Raises VideoError if the file is not a picture, or if the picture has another layout.
        """
        image = open_picture(path, f"the initial frame {path}")
        message = f"the initial frame {path} does not have the layout of the clip"
        try:
            same_layout = fillers_are_black(image, self.layout) == fillers_are_black(first, self.layout)
        except ValueError as error:
            raise VideoError(f"{message}: {error}") from error
        if not same_layout:
            raise VideoError(f"{message}: a panel is black in only one of the two pictures")
        views = split(image, self.layout)
        canvas, _ = self._begin(views[0])
        jpeg = self._encode(canvas, views, _INITIAL)
        self.initial = FrameImage(self.describe("I0", (), canvas.size, jpeg), _INITIAL, self.store.add(jpeg))

    def frame_image(self, number: int) -> FrameImage:
        """The picture of a frame, as every backend and every report shows it."""
        if number not in self._images:
            stored = self._stored(number)
            picture = self.describe(f"F{number}", (number,), self.picture_size, bytes(stored))
            self._images[number] = FrameImage(picture, self.label(number), stored)
        return self._images[number]

    def views(self, number: int, least_side_px: int | None = None) -> tuple[Image, ...]:
        """The views of a frame as its picture shows them, in reading order.

        With `least_side_px`, the views may be reduced to a half or a quarter of their size, which takes less time.
        Their longer side then still has at least this many pixels.
        """
        assert self._canvas is not None, "a clip has frames"
        divisor = 1 if least_side_px is None else self._canvas.divisor(least_side_px)
        return self._canvas.views(decode_image(bytes(self._stored(number)), self.label(number), divisor), divisor)

    def originals(self, numbers: Iterable[int]) -> Mapping[int, tuple[Image, ...]]:
        """The views of frames at the size of the video, by frame number; see `each_original`."""
        return dict(self.each_original(numbers))

    def each_original(self, numbers: Iterable[int]) -> Iterator[tuple[int, tuple[Image, ...]]]:
        """Yield the number of each frame and its views at the size of the video, in ascending order of the numbers.

        If the stored pictures are smaller than the video, the frames are read from the video again. For a clip without
        a source, only the stored pictures are used. Raises VideoError if the video has changed since it was decoded.
        """
        wanted = sorted(set(numbers))
        if self.source is None or not self._scaled_down:
            self.make_pictures(wanted)
            yield from ((number, self.views(number)) for number in wanted)
        else:
            yield from ((number, split(image, self.layout)) for number, image in self._read_again(self.source, wanted))

    def _read_again(self, source: Path, wanted: Sequence[int]) -> Iterator[tuple[int, Image]]:
        """The whole pictures of some frames, by number, from parts of the video that contain them."""
        ends = (*self.times_s[1:], self.duration_s)
        for part in _near(wanted, self.times_s):
            start_s, end_s = self.start_s + self.times_s[part[0]], self.start_s + ends[part[-1]]
            found = 0
            for frame in read_frames(source, self.decoder, start_s, end_s):
                check()
                if part[0] + frame.number in part:
                    found += 1
                    yield part[0] + frame.number, frame.image
            if found < len(part):
                raise VideoError(f"{source} has changed since it was decoded: frames are missing")

    def label(self, number: int) -> str:
        """The label of a frame: its number and its time."""
        return f"frame {number} at {self.times_s[number]:.2f} s"

    def stamp(self, number: int) -> str:
        """What is written above the picture of a frame: its number and its time."""
        return f"frame {number}, {self.times_s[number]:.2f} s"

    def sheet(
        self, numbers: Sequence[int], columns: int, max_side_px: int | None = None, rows: int | None = None
    ) -> FrameImage:
        """Several frames on one contact sheet, numbered outside the pictures.

        The frames are scaled down, so that a sheet with `rows` rows is no larger than `max_side_px`. If `rows` is None,
        the sheet has as many rows as columns. If `max_side_px` is None, the limit is the largest size of a picture. If
        there are several views, no view is made smaller than _LEAST_VIEW_PX.
        """
        grid = columns, rows or columns
        name = "S" + "-".join(str(number) for number in numbers) + ("" if max_side_px is None else f"@{max_side_px}")
        key = f"{name} {grid}"
        if key not in self._sheets:
            self._sheets[key] = self._sheet(name, numbers, grid, max_side_px)
        return self._sheets[key]

    def _sheet(self, name: str, numbers: Sequence[int], grid: tuple[int, int], max_side_px: int | None) -> FrameImage:
        self.make_pictures(numbers)
        names = self.layout.active
        form = self._form_of_sheet(grid, max_side_px)
        side = max(int(form.zoom * max(self.view_size)), 1 if len(names) == 1 else _LEAST_VIEW_PX)
        cells = [arranged([fit(view, side) for view in self.views(n)], names, form.across) for n in numbers]
        whole = sheet(cells, [self.stamp(number) for number in numbers], grid[0])
        jpeg = encode_jpeg(whole, self.settings.quality)
        first, last = numbers[0], numbers[-1]
        label = f"frames {first} to {last}, {self.times_s[first]:.2f} s to {self.times_s[last]:.2f} s"
        picture = self.describe(name, numbers, (whole.shape[1], whole.shape[0]), jpeg)
        return FrameImage(picture, label, self.store.add(jpeg))

    def largest_grid(self, grids: Sequence[tuple[int, int]], max_side_px: int) -> tuple[int, int]:
        """The columns and rows, chosen from `grids`, with which the views on a sheet are largest. If several choices
        are equal, the first one is returned.
        """
        return max(grids, key=lambda grid: self._form_of_sheet(grid, max_side_px).zoom)

    def _form_of_sheet(self, grid: tuple[int, int], max_side_px: int | None) -> SheetForm:
        count, largest = len(self.layout.active), self.settings.max_side_px
        # Several views may make a picture that is larger than one view may be; then a sheet may be as large.
        side_px = max_side_px or (largest if count == 1 else max(largest, *self.picture_size))
        return largest_form([grid], count, self.view_size, side_px, max_zoom=1.0)

    def thumbnail(self, number: int, max_view_px: int) -> bytes:
        """A small JPEG of one frame, in which the longer side of each view is at most `max_view_px`."""
        image = decode_image(bytes(self._stored(number)), self.label(number))
        side = int(max_view_px / max(self.view_size) * max(self.picture_size))
        return encode_jpeg(fit(image, side), _THUMBNAIL_QUALITY)

    def describe(
        self, name: str, frames: Sequence[int], size: Size, jpeg: bytes, views: tuple[str, ...] | None = None
    ) -> Picture:
        """The record of a picture: which frames and views it shows, its size and its hash. By default, it shows all
        views.
        """
        return Picture(
            id=name,
            frames=tuple(frames),
            times_s=tuple(self.times_s[number] for number in frames),
            views=views or self.layout.active,
            width=size[0],
            height=size[1],
            sha256=sha256(jpeg).hexdigest(),
        )

    def keep_evidence(self, name: str, image: Image) -> None:
        """Keep a copy of a picture that is used as evidence, for readers. Large pictures are scaled down."""
        self.evidence_pictures[name] = self.store.add(encode_jpeg(fit(image, _EVIDENCE_PX), _THUMBNAIL_QUALITY))

    @property
    def view_size(self) -> Size:
        """Width and height of each view in the picture of a frame, in pixels."""
        assert self._canvas is not None, "a clip has frames"
        return self._canvas.view_size

    @property
    def picture_size(self) -> Size:
        """Width and height of the picture of a frame, in pixels."""
        assert self._canvas is not None, "a clip has frames"
        return self._canvas.size

    def _begin(self, view: Image) -> tuple[FrameCanvas, bool]:
        """A canvas for views of the size of this view, and whether views are scaled down on the canvas."""
        size = view.shape[1], view.shape[0]
        fitted = fitted_size(size, self.settings.max_side_px)
        return FrameCanvas(self.layout.active, fitted), fitted != size

    def _stored(self, number: int) -> StoredPicture:
        if number not in self._frames:
            self.make_pictures((number,))
        return self._frames[number]

    def _add_picture(self, canvas: FrameCanvas, number: int, views: Sequence[Image]) -> None:
        self._frames[number] = self.store.add(self._encode(canvas, views, self.stamp(number)))

    def _encode(self, canvas: FrameCanvas, views: Sequence[Image], stamp: str) -> bytes:
        fitted = [fit(view, self.settings.max_side_px) for view in views]
        return encode_jpeg(canvas.draw(fitted, stamp), self.settings.quality)


def decode_clip(
    path: Path,
    *,
    layout: Layout | None = None,
    initial_frame: Path | None = None,
    settings: PictureSettings | None = None,
    decoder: str = "pyav",
    observers: Sequence[Observer] = (),
    start_s: float | None = None,
    end_s: float | None = None,
    pictures_fps: float | None = None,
) -> DecodedClip:
    """Decode a clip once, to its end. If `start_s` or `end_s` is given, the clip is only this part of the file.

    If `pictures_fps` (0 or more) is given, the picture of the first frame is made while decoding, and after it at most
    this many pictures per second. The other pictures are made when they are shown.

    Without a layout, a 2x2 grid with one black panel is detected and anything else is a single view. Raises VideoError
    as `robogaze.media.decode.read_frames` does, and if the picture or the initial frame does not fit the layout.
    """
    frames = read_frames(path, decoder, start_s, end_s)
    first = next(frames)
    used_layout = layout or detect_layout(first.image) or Layout()
    clip = DecodedClip(used_layout, settings or PictureSettings(), path, decoder)
    with ExitStack() as on_failure:
        on_failure.callback(clip.close)
        clip.height, clip.width = first.image.shape[:2]
        clip.start_s = first.file_s
        reached = -1
        for frame in chain((first,), frames):
            check()
            views = _views(path, frame, used_layout, detected=layout is None)
            before, middle_s = reached, frame.time_s + frame.duration_s / 2
            reached = frame.number if pictures_fps is None else math.floor(pictures_fps * middle_s)
            clip.add_frame(frame.time_s, views, encode=reached > before)
            clip.duration_s = frame.time_s + frame.duration_s
            for observe in observers:
                observe(frame.number, frame.time_s, views)
        if initial_frame is not None:
            clip.add_initial_frame(initial_frame, first.image)
        on_failure.pop_all()
    return clip


def _views(path: Path, frame: Frame, layout: Layout, *, detected: bool) -> tuple[Image, ...]:
    """The views of a frame. Raises VideoError if the layout does not fit."""
    try:
        views = split(frame.image, layout)
    except ValueError as error:
        raise VideoError(f"{path}: {error}; name another layout (--layout)") from error
    if detected and not fillers_are_black(frame.image, layout):
        raise VideoError(
            f"{path} starts like a 2x2 grid with a black panel, but the panel is not black at frame {frame.number}; "
            "name the layout (--layout single, or 2x2:NAME,NAME,NAME,NAME with - for a panel that should be dropped)"
        )
    return views


def _near(numbers: Sequence[int], times_s: Sequence[float]) -> Iterator[Sequence[int]]:
    """Groups of ascending frame numbers; consecutive groups are more than _APART_S apart in time."""
    starts = [0, *(place for place, (a, b) in enumerate(pairwise(numbers), 1) if times_s[b] - times_s[a] > _APART_S)]
    yield from (numbers[start:end] for start, end in pairwise([*starts, len(numbers)]) if start < end)
