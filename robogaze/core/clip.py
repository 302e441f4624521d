"""A clip: one video, or a part of one, and what it was generated from."""

from bisect import bisect_right
from operator import ge
from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from robogaze.core.data import Data
from robogaze.core.time import RESOLUTION, Span

ID_LENGTH = 200
"""The length of the longest clip id."""

ClipId = Annotated[str, StringConstraints(pattern=rf"^[^\x00-\x1f]{{1,{ID_LENGTH}}}$")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Layout(Data):
    """The views in a frame: one view, or a grid of panels in reading order.

    `views` names each panel; None marks an empty (black) panel, which is dropped.
    """

    rows: int = Field(default=1, ge=1)
    columns: int = Field(default=1, ge=1)
    views: tuple[str | None, ...] = ("main",)

    @model_validator(mode="after")
    def _names_fit_the_grid(self) -> Self:
        if len(self.views) != self.rows * self.columns:
            panels = self.rows * self.columns
            raise ValueError(f"a {self.rows}x{self.columns} layout has {panels} panels, not {len(self.views)}")
        names = self.active
        if not names:
            raise ValueError("a layout needs at least one view that is not empty")
        if not all(names):
            raise ValueError("each view of a layout needs a name; - marks an empty panel")
        if len(set(names)) != len(names):
            raise ValueError(f"the views of a layout need different names; found: {', '.join(names)}")
        return self

    @property
    def active(self) -> tuple[str, ...]:
        """The names of the views, without empty panels, in reading order."""
        return tuple(name for name in self.views if name is not None)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse `single`, or `ROWSxCOLUMNS:name,name,...` where `-` marks an empty panel.

        Raises ValueError for any other text.
        """
        if text == "single":
            return cls()
        shape, _, names = text.partition(":")
        rows, _, columns = shape.partition("x")
        if not (rows.isdecimal() and columns.isdecimal() and int(rows) and int(columns) and names):
            raise ValueError(
                "a layout is 'single' or 'ROWSxCOLUMNS:name,name,...' with at least one row and column, and - for an "
                f"empty panel; found: {text!r}"
            )
        views = tuple(None if name.strip() == "-" else name.strip() for name in names.split(","))
        return cls(rows=int(rows), columns=int(columns), views=views)


def address(path: str, start_s: float | None, end_s: float | None) -> str:
    """The path of a file. For a part of the file, a media fragment gives the part in seconds: `file.mp4#t=5.2,10.1`."""
    if start_s is None and end_s is None:
        return path
    start, end = ("" if time_s is None else f"{round(time_s, 6)}" for time_s in (start_s, end_s))
    return f"{path}#t={start},{end}" if end else f"{path}#t={start}"


class Clip(Data):
    """A decoded video, or a part of one.

    `uri` is the file and `sha256` the hash of the whole file. `start_s` and `end_s` say where the part starts and ends
    in the file, in seconds; both are None for the whole file. `frame_times_s` are the presentation times of the frames
    that could be decoded, in seconds; they start at 0 and ascend. `frame_count` is the number of these frames, and
    `fps` is their mean rate. `duration_s` is greater than the last frame time. `width` and `height` are the size of a
    whole frame, in pixels. `instruction` is the task. `initial_frame` is the path of an image of the scene before the
    clip; without it the first frame is used. Clips of different checkpoints with the same `prompt_id` were generated
    from the same prompt. Fields that are not known are None.
    """

    id: ClipId
    uri: str
    sha256: Sha256
    start_s: float | None = Field(default=None, ge=0)
    end_s: float | None = Field(default=None, gt=0)
    frame_count: int = Field(ge=1)
    frame_times_s: tuple[float, ...] = Field(min_length=1)
    duration_s: float = Field(gt=0)
    fps: float = Field(gt=0)
    width: int = Field(ge=1)
    height: int = Field(ge=1)
    instruction: str | None = None
    prompt_id: str | None = None
    initial_frame: str | None = None
    checkpoint: str | None = None
    split: str | None = None
    task_family: str | None = None
    embodiment: str | None = None
    layout: Layout = Layout()

    @model_validator(mode="after")
    def _frame_times_are_valid(self) -> Self:
        times = self.frame_times_s
        if len(times) != self.frame_count:
            raise ValueError(f"frame_count is {self.frame_count} but there are {len(times)} frame times")
        if times[0] != 0:
            raise ValueError(f"frame_times_s must start at 0, not {times[0]}")
        if any(map(ge, times, times[1:])):
            raise ValueError("frame_times_s must ascend")
        if times[-1] >= self.duration_s:
            raise ValueError("duration_s must be after the last frame's time")
        return self

    @model_validator(mode="after")
    def _start_and_end_go_together(self) -> Self:
        if (self.start_s is None) != (self.end_s is None):
            raise ValueError(
                "only one of start_s and end_s is given; give both for a part of the file, or neither for the whole "
                "file"
            )
        if self.start_s is not None and self.end_s is not None and self.end_s <= self.start_s:
            raise ValueError("end_s must be after start_s")
        return self

    @property
    def address(self) -> str:
        """The clip's file and, unless the clip is the whole file, the part of the file in seconds."""
        return address(self.uri, self.start_s, self.end_s)

    @property
    def span(self) -> Span:
        """The whole clip."""
        return Span(0.0, self.duration_s)

    def frame_at(self, time_s: float) -> int:
        """The number of the frame visible at `time_s`. Times outside the clip give the first or the last frame."""
        return max(bisect_right(self.frame_times_s, time_s + RESOLUTION) - 1, 0)

    def frame_span(self, frame: int) -> Span:
        """The time for which a frame is shown: until the next frame or the end of the clip."""
        end = self.frame_times_s[frame + 1] if frame + 1 < self.frame_count else self.duration_s
        return Span(self.frame_times_s[frame], end)

    def clamp(self, span: Span) -> Span:
        """A span cut to the clip. A span that lies outside the clip is replaced by the span of the nearest frame."""
        start = min(max(span.start, 0.0), self.frame_times_s[-1])
        end = min(span.end, self.duration_s)
        return Span(start, end) if end > start else self.frame_span(self.frame_at(start))
