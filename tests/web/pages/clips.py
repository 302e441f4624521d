"""Clips whose frames show their own number, and how a browser reads it."""

from fractions import Fraction
from pathlib import Path

import av
import numpy as np

BITS = 8
SIZE = (256, 160)

READ_NUMBER = f"""() => {{
  const video = document.querySelector("video");
  if (video.readyState < 2) throw new Error(`the video is not decoded: readyState ${{video.readyState}}`);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [{SIZE[0]}, {SIZE[1]}];
  const brush = canvas.getContext("2d", {{ willReadFrequently: true }});
  brush.drawImage(video, 0, 0);
  const light = (bit) => brush.getImageData({SIZE[0] // BITS} * bit + {SIZE[0] // BITS // 2}, 120, 1, 1).data[0];
  return Array.from({{ length: {BITS} }}, (_, bit) => (light(bit) > 127 ? 2 ** bit : 0)).reduce((a, b) => a + b);
}}"""
"""The number that the frame on the screen shows, as JavaScript; it fails if the video is not decoded."""


def picture(number: int) -> np.ndarray:
    """A frame: the bits of its number as bars, the lowest at the left, over a bar that moves."""
    image = np.full((SIZE[1], SIZE[0], 3), 90, dtype=np.uint8)
    image[:60, number % SIZE[0] : number % SIZE[0] + 30] = (200, 60, 60)
    for bit in range(BITS):
        left = bit * SIZE[0] // BITS
        image[80:, left : left + SIZE[0] // BITS] = 235 if number >> bit & 1 else 16
    return image


def write_numbered(path: Path, times_ms: list[int]) -> Path:
    """H.264 with B-frames and one keyframe; frame `n` is shown from `times_ms[n]` on."""
    with av.open(str(path), "w") as container:
        options = {"bf": "3", "g": "250", "crf": "18", "b-adapt": "0"}
        stream = container.add_stream("libx264", rate=1000, options=options)
        stream.width, stream.height, stream.pix_fmt = *SIZE, "yuv420p"
        stream.time_base = stream.codec_context.time_base = Fraction(1, 1000)
        for number, time in enumerate(times_ms):
            frame = av.VideoFrame.from_ndarray(picture(number), format="rgb24")
            frame.pts, frame.time_base = time, Fraction(1, 1000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def has_b_frames(path: Path) -> bool:
    with av.open(str(path)) as container:
        packets = [packet for packet in container.demux(video=0) if packet.pts is not None]
    return [packet.pts for packet in packets] != sorted(packet.pts for packet in packets)


STEADY_MS = [round(number * 1000 / 24) for number in range(75)]
UNEVEN_MS = [0, *np.cumsum([20 + 37 * number % 110 for number in range(90)]).tolist()]
