"""What measuring costs: processor time per second of video and peak memory, compared with decoding alone, on one core.

    python scripts/bench/evidence.py [CLIP ...]

Without clips, the three lengths of the paper's benchmark are drawn at 1280x800 and 16 frames a second. Each figure
comes from a process of its own. docs/pixels.md has the table.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from synthetic import BENCHMARK_CLIPS, write_clip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", nargs="*", type=Path)
    parser.add_argument("--only", choices=["decode", "measure"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        print(json.dumps(_cost(options.clips[0], measuring=options.only == "measure")))
        return
    with tempfile.TemporaryDirectory() as folder:
        for clip in options.clips or _drawn(Path(folder)):
            decoded, measured = (_in_own_process(clip, only) for only in ("decode", "measure"))
            print(f"{clip.stem}: measuring {_as_text(measured)}; decoding alone {_as_text(decoded)}")


def _as_text(cost: dict[str, float]) -> str:
    return f"{cost['cpu_s'] / cost['video_s']:.2f} s per second of video, {cost['peak_mib']:.0f} MiB"


def _drawn(folder: Path) -> list[Path]:
    return [
        write_clip(folder / f"{name.replace(' ', '_')}.mp4", frames, 1280, 800)
        for name, (frames, *_) in BENCHMARK_CLIPS.items()
    ]


def _in_own_process(clip: Path, only: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--only", only, clip]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    cost: dict[str, float] = json.loads(printed)
    return cost


def _cost(clip: Path, measuring: bool) -> dict[str, float]:
    """The cost of decoding a clip once, with or without measuring."""
    import cv2

    from robogaze.evidence import SignalRecorder, load_extractors
    from robogaze.media import decode_clip

    cv2.setNumThreads(1)
    observers = (SignalRecorder(load_extractors()),) if measuring else ()
    start = time.process_time()
    with closing(decode_clip(clip, observers=observers)) as decoded:
        spent = time.process_time() - start
        video_s = decoded.duration_s
    return {"cpu_s": spent, "video_s": video_s, "peak_mib": _peak_mib()}


def _peak_mib() -> float:
    """The peak memory of this process; getrusage would include the parent's."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s*(\d+)", status)[1]) / 1024  # type: ignore[index]


if __name__ == "__main__":
    main()
