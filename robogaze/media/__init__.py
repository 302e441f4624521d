"""The only code that opens a video or makes an image.

file_check     is a video file complete
decode         the frames of a video, or of a part of it; DECODERS by name: decode_pyav, decode_decord
decoded_clip   a clip, decoded once, with every frame as JPEG
grid           is a picture a grid of views
compose        views out of a grid, views side by side, contact sheets
crop           a view of a frame, and a magnified part of it
crop_sheet     crops of one place in several frames
claim_sheet    the place and the frames of a claim
object_strip   an object over time
picture_files  pictures in files
picture_store  the pictures of a clip, in a temporary file
encode         write a video

Another package adds a decoder as an entry point in the group `robogaze.decoders`: a function that takes a path and a
time in seconds and yields `decode.DecodedFrame`s.
"""

from robogaze.media.decode import DECODERS
from robogaze.media.decoded_clip import DecodedClip, decode_clip
from robogaze.media.file_check import check_whole

__all__ = ["DECODERS", "DecodedClip", "check_whole", "decode_clip"]
