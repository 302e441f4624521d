"""Images of frames, as shown to models and readers."""

from dataclasses import dataclass
from typing import Protocol

from pydantic import Field

from robogaze.core.data import Data


class PictureSettings(Data):
    """The maximum length of the longer side of each view, in pixels, and the JPEG quality."""

    max_side_px: int = Field(default=1024, ge=32)
    quality: int = Field(default=90, ge=1, le=100)


class Picture(Data):
    """An image that a model was shown.

    `frames` are the numbers of the frames in the image, and `times_s` are their times in seconds. `views` names the
    views in the image. `width` and `height` are in pixels. `frames` is empty for an image that is not from the clip but
    shows the scene before the clip starts.
    """

    id: str
    frames: tuple[int, ...]
    times_s: tuple[float, ...]
    views: tuple[str, ...]
    width: int
    height: int
    sha256: str


class Content(Protocol):
    """The bytes of a picture. They are kept in memory, or are read when `bytes(content)` is called."""

    def __bytes__(self) -> bytes: ...

    def __len__(self) -> int: ...


@dataclass(frozen=True)
class FrameImage:
    """An image as JPEG, with the caption that the model gets before it."""

    picture: Picture
    label: str
    content: Content

    @property
    def jpeg(self) -> bytes:
        """The bytes of the image, which are read at each call."""
        return bytes(self.content)
