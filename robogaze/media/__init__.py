"""The only code that opens a video or makes an image."""

from robogaze.media.decode import DECODERS
from robogaze.media.decoded_clip import DecodedClip, decode_clip
from robogaze.media.whole import check_whole

__all__ = ["DECODERS", "DecodedClip", "check_whole", "decode_clip"]
