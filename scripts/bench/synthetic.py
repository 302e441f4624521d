"""Clips for benchmarks and tests: a bar that crosses a textured background."""

from pathlib import Path

import av
import numpy as np


def write_clip(path: Path, frames: int, width: int, height: int, fps: int = 16, seed: int = 0) -> Path:
    """Write an H.264 clip; equal arguments give equal pixels."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(60, 200, (height // 16, width // 16, 3), dtype=np.uint8)
    background = np.kron(coarse, np.ones((16, 16, 1), dtype=np.uint8))
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=fps, options={"mbtree": "0"})  # equal bytes (media/encode.py)
        stream.width, stream.height, stream.pix_fmt = background.shape[1], background.shape[0], "yuv420p"
        for number in range(frames):
            image = background.copy()
            left = number * (width - 40) // frames
            image[height // 3 : 2 * height // 3, left : left + 40] = (220, 40, 40)
            for packet in stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
    return path
