"""A clip: one video with the task it was generated for."""

from bisect import bisect_right
from operator import ge
from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from robogaze.core.data import Data
from robogaze.core.time import RESOLUTION, Span

ClipId = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f]{1,200}$")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Layout(Data):
    """How the picture is divided into views: one view, or a grid of panels read row by row.

    `views` names each panel; None marks a panel that shows nothing (a black filler) and is dropped.
    """

    rows: int = Field(default=1, ge=1)
    columns: int = Field(default=1, ge=1)
    views: tuple[str | None, ...] = ("main",)

    @model_validator(mode="after")
    def _one_name_a_panel(self) -> Self:
        if len(self.views) != self.rows * self.columns:
            panels = self.rows * self.columns
            raise ValueError(f"a {self.rows}x{self.columns} layout has {panels} panels, not {len(self.views)}")
        names = self.active
        if not names:
            raise ValueError("a layout needs at least one view that shows something")
        if not all(names):
            raise ValueError("a view of a layout needs a name; - marks a panel that shows nothing")
        if len(set(names)) != len(names):
            raise ValueError(f"the views of a layout need different names, not {', '.join(names)}")
        return self

    @property
    def active(self) -> tuple[str, ...]:
        """The names of the views that show something, in reading order."""
        return tuple(name for name in self.views if name is not None)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `single`, or `ROWSxCOLUMNS:name,name,...` where `-` marks a panel that shows nothing.

        ValueError when the text has another form.
        """
        if text == "single":
            return cls()
        shape, _, names = text.partition(":")
        rows, _, columns = shape.partition("x")
        if not (rows.isdecimal() and columns.isdecimal() and names):
            raise ValueError(f"a layout is 'single' or 'ROWSxCOLUMNS:name,name,...' with - for none, not {text!r}")
        views = tuple(None if name.strip() == "-" else name.strip() for name in names.split(","))
        return cls(rows=int(rows), columns=int(columns), views=views)


def address(path: str, start_s: float | None, end_s: float | None) -> str:
    """A clip's file with the part of it that the clip is, if it is one, as a media fragment: `file.mp4#t=5.2,10.1`."""
    if start_s is None and end_s is None:
        return path
    start, end = ("" if time_s is None else f"{round(time_s, 6)}" for time_s in (start_s, end_s))
    return f"{path}#t={start},{end}" if end else f"{path}#t={start}"


class Clip(Data):
    """One decoded video, or a part of one, with its task.

    `sha256` is of the whole file. `start_s` and `end_s` say where in it the clip's first frame begins to be shown and
    where its last one ends to be, None for a clip that is the whole file. `frame_times_s` are the presentation times of
    the frames that could be decoded, ascending, the first at 0. `fps` is their mean rate. `initial_frame` is the
    address of a picture of the scene before the clip starts; without one the clip's first frame serves. Clips of
    different checkpoints with one `prompt_id` were made from the same prompt.
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
    def _times_are_an_axis(self) -> Self:
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
    def _a_part_has_both_ends(self) -> Self:
        if (self.start_s is None) != (self.end_s is None):
            raise ValueError("start_s and end_s go together: a clip is a part of its file, or the whole of it")
        if self.start_s is not None and self.end_s is not None and self.end_s <= self.start_s:
            raise ValueError("end_s must be after start_s")
        return self

    @property
    def address(self) -> str:
        """Where it lies: its file, with the part of it that it is."""
        return address(self.uri, self.start_s, self.end_s)

    @property
    def span(self) -> Span:
        """The whole clip."""
        return Span(0.0, self.duration_s)

    def frame_at(self, time_s: float) -> int:
        """The number of the frame shown at a time; the nearest end for a time outside the clip."""
        return max(bisect_right(self.frame_times_s, time_s + RESOLUTION) - 1, 0)

    def frame_span(self, frame: int) -> Span:
        """How long one frame is shown: until the next one, or the clip's end."""
        end = self.frame_times_s[frame + 1] if frame + 1 < self.frame_count else self.duration_s
        return Span(self.frame_times_s[frame], end)

    def clamp(self, span: Span) -> Span:
        """A span cut to the clip; the nearest frame's when it lies outside."""
        start = min(max(span.start, 0.0), self.frame_times_s[-1])
        end = min(span.end, self.duration_s)
        return Span(start, end) if end > start else self.frame_span(self.frame_at(start))
