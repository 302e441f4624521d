"""Encodes frames in another process, because an encoder in the process of the training would block the training's
threads.

On stdin, the process gets a line of JSON (`path`, `shape`, `fps`) and then the bytes of the frames. On stdout, it
answers with a line of JSON. The answer is null if the video was written; otherwise it says why not.
"""

import json
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import numpy as np

from robogaze.errors import RobogazeError
from robogaze.media.encode import write_video
from robogaze.run.scoring_process import lower_priority


@dataclass
class FrameWriter:
    """Writes videos. The process is started with the first video."""

    process: subprocess.Popen[bytes] | None = None

    def write(self, path: Path, frames: Any, fps: float) -> None:
        """Write frames (RGB of uint8) as an MP4 file. Raises RobogazeError if the video cannot be written."""
        if self.process is None:
            command = [sys.executable, "-m", "robogaze.run.frame_writer"]
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0, stderr=subprocess.DEVNULL
            )
            lower_priority(self.process.pid)
        reply = self._ask({"path": str(path), "shape": frames.shape, "fps": fps}, frames)
        if not reply:
            self.close()
            raise RobogazeError("the process that encodes frames has died")
        if (fault := json.loads(reply)) is not None:
            raise RobogazeError(fault)

    def close(self) -> None:
        """End the process."""
        if self.process is None:
            return
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with suppress(OSError):  # the process may have died
            self.process.stdin.close()
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process = None

    def _ask(self, header: Any, frames: Any) -> bytes:
        """The answer of the process; empty if it has died."""
        assert self.process is not None
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with suppress(OSError):
            self.process.stdin.write(json.dumps(header).encode() + b"\n")
            self.process.stdin.write(np.ascontiguousarray(frames).data.cast("B"))
            self.process.stdin.flush()
            return self.process.stdout.readline()
        return b""


def encode() -> None:
    """Write the videos that arrive on stdin, until stdin ends."""
    with open(0, "rb") as given, open(1, "wb", buffering=0) as answers:
        while line := given.readline():
            header = json.loads(line)
            shape, fps = header["shape"], header["fps"]
            data = given.read(int(np.prod(shape)))
            fault = None
            try:
                frames = np.frombuffer(data, np.uint8).reshape(shape)
                times_s = [number / fps for number in range(len(frames))]
                write_video(Path(header["path"]), frames, times_s, len(frames) / fps)
            except (ValueError, RuntimeError, MemoryError, OSError, av.FFmpegError) as error:
                fault = str(error)
            answers.write(json.dumps(fault).encode() + b"\n")


if __name__ == "__main__":
    encode()
