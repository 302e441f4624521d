"""The only code that opens a video or makes an image."""

from robogaze.media.decode import DECODERS
from robogaze.media.footage import Footage, film
from robogaze.media.whole import check_whole

__all__ = ["DECODERS", "Footage", "check_whole", "film"]
