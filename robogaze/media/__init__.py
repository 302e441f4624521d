"""The only code that opens a video or makes an image.

file_check     checks that a video file is complete
decode         reads the frames of a video or of a part of it, with a decoder from DECODERS
decode_pyav    the default decoder
decode_decord  a second decoder
decoded_clip   decodes a clip once and stores its frames as JPEG
grid           detects that a picture is a grid of views
compose        cuts views out of a grid, puts views side by side, makes contact sheets
crop           makes a picture of one view of a frame, or of a magnified part of a view
crop_sheet     puts crops of one place in several frames on a sheet
claim_sheet    puts the frames of a claim on a sheet
object_strip   puts crops of an object over time on a sheet
picture_files  reads pictures from files
picture_store  keeps the pictures of a clip in a temporary file
encode         writes a video

Another package adds a decoder as an entry point in the group `robogaze.decoders`: a function that takes a path and a
time in seconds and yields `decode.DecodedFrame`s.
"""

from robogaze.media.decode import DECODERS
from robogaze.media.decoded_clip import DecodedClip, decode_clip
from robogaze.media.file_check import check_whole

__all__ = ["DECODERS", "DecodedClip", "check_whole", "decode_clip"]
