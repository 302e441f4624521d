"""Write a video: H.264 that every player and browser shows.

Frame times are kept, even at a variable frame rate. The encoder runs on one thread and without B-frames, so that equal
frames give equal bytes and no edit list is needed. A picture of odd width or height loses its last column or row, which
4:2:0 cannot store.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

from robogaze.media.decode import Image

_CLOCK = Fraction(1, 90_000)  # seconds; 15, 16, 24, 25, 29.97 and 30 frames per second are whole numbers of ticks
# At this quality, the luma of fewer than one pixel in 10,000 of the demo clips changes by more than 20 of 256 levels.
# With "mbtree", x264 reads memory that it has not written, and equal frames now and then give different bytes.
_ENCODING = {"crf": "18", "preset": "veryfast", "bf": "0", "mbtree": "0", "threads": "1"}


def write_video(
    path: Path,
    frames: Iterable[Image],
    times_s: Sequence[float],
    duration_s: float,
    key_frame_every: int | None = None,
) -> None:
    """Write frames to an MP4 file. All frames are RGB and have the same size. `times_s` has the time of each frame, in
    ascending order.

    With `key_frame_every`, a number of frames, a player can seek to any frame fast; without it the encoder decides.
    `duration_s` is the end of the last frame. If the frames are not evenly spaced, programs that read the file derive
    this time from the mean frame rate. The file is complete or does not exist. Raises ValueError if there are more or
    fewer frames than times.
    """
    ticks = [round(time_s / _CLOCK) for time_s in (*times_s, duration_s)]
    rate = Fraction(len(times_s) / duration_s).limit_denominator(1001)
    part = path.with_name(f".part-{path.name}")
    options = _ENCODING if key_frame_every is None else {**_ENCODING, "g": str(key_frame_every)}
    try:
        with av.open(str(part), "w", format="mp4", options={"movflags": "+faststart"}) as container:
            stream = container.add_stream("libx264", rate=rate, options=options)
            stream.pix_fmt, stream.codec_context.time_base, stream.time_base = "yuv420p", _CLOCK, _CLOCK
            for image, start, end in zip(frames, ticks[:-1], ticks[1:], strict=True):
                even = np.ascontiguousarray(image[: image.shape[0] // 2 * 2, : image.shape[1] // 2 * 2])
                if start == ticks[0]:
                    stream.height, stream.width = even.shape[:2]
                frame = av.VideoFrame.from_ndarray(even, format="rgb24")
                frame.pts, frame.duration, frame.time_base = start, end - start, _CLOCK
                container.mux(stream.encode(frame))
            container.mux(stream.encode(None))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
