"""Pictures as models and readers see them."""

from dataclasses import dataclass

from pydantic import Field

from robogaze.core.data import Data


class PictureSettings(Data):
    """How frames become pictures: the longer side in pixels (of each view) and the JPEG quality."""

    max_side_px: int = Field(default=1024, ge=32)
    quality: int = Field(default=90, ge=1, le=100)


class Picture(Data):
    """A picture a model was shown: which frames of the clip it holds, at which times, and its size in pixels.

    `frames` is empty for a picture that is not of the clip: the scene before it starts.
    """

    id: str
    frames: tuple[int, ...]
    times_s: tuple[float, ...]
    views: tuple[str, ...]
    width: int
    height: int
    sha256: str


@dataclass(frozen=True)
class FrameImage:
    """A picture with its bytes (JPEG) and the label that is said beside it."""

    picture: Picture
    label: str
    jpeg: bytes
