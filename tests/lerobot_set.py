"""A LeRobot data set of version 3.0 as the library writes it: many episodes in one file."""

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import count
from pathlib import Path

import av
import pytest
from media.videos import numbered, write

FPS = 30
TASK = "Put the cup into the pot"
TOP, WRIST = "observation.images.top", "observation.image.wrist"
CODECS = {
    TOP: {"codec": "libsvtav1", "codec_options": {"g": "2", "crf": "30"}},  # what the library writes by default
    WRIST: {"codec": "libx264", "codec_options": {"bf": "2"}},
}
LENGTHS = {0: 7, 1: 12, 2: 5, 3: 9, 4: 1}
"""Episodes and their numbers of frames."""

FILES = {0: 0, 1: 0, 2: 0, 3: 1, 4: 2}
"""Episodes and the number of the file that holds each."""


def first_numbers() -> Mapping[int, int]:
    """The number in the first picture of each episode; they run through all of them."""
    found, total = {}, 0
    for episode, length in LENGTHS.items():
        found[episode] = total
        total += length
    return found


def join(parts: Sequence[Path], into: Path) -> list[tuple[float, float]]:
    """Videos one after the other in one file, not encoded again, as the library does; where each is in it."""
    into.parent.mkdir(parents=True, exist_ok=True)
    spans, shift_s = [], Fraction(0)
    with av.open(str(into), "w") as out:
        stream = None
        for part in parts:
            with av.open(str(part)) as source:
                video = source.streams.video[0]
                stream = stream or out.add_stream_from_template(video, opaque=True)
                for packet in source.demux(video):
                    if packet.size and packet.pts is not None and packet.dts is not None:
                        shift = round(shift_s / packet.time_base)
                        packet.pts, packet.dts, packet.stream = packet.pts + shift, packet.dts + shift, stream
                        out.mux(packet)
                end_s = shift_s + Fraction(video.duration or 0) * (video.time_base or 0)
                spans.append((float(shift_s), float(end_s)))
                shift_s = end_s
    return spans


def v3(root: Path, files: Mapping[int, int] = FILES, cameras: Sequence[str] = (TOP,), timed: bool = True) -> Path:
    """A v3.0 data set as the library writes it. Of each camera the pictures carry the same numbers."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    features = {name: {"dtype": "video", "shape": [72, 96, 3], "names": None} for name in cameras}
    info = {
        "codebase_version": "v3.0",
        "robot_type": "so101_follower",
        "fps": FPS,
        "chunks_size": 1000,
        "data_files_size_in_mb": 100,
        "video_files_size_in_mb": 200,
        "total_episodes": len(files),
        "splits": {"train": f"0:{len(files)}"},
        "features": {**features, "action": {"dtype": "float32", "shape": [7], "names": None}},
        "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
        "video_path": "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4",
    }
    (root / "meta").mkdir(parents=True)
    (root / "meta/info.json").write_text(json.dumps(info))
    rows: list[dict[str, object]] = [
        {
            "episode_index": episode,
            "tasks": [f"{TASK} {episode}"],
            "length": LENGTHS[episode],
            "stats/action/min": [0.0],
        }
        for episode in files
    ]
    for camera in cameras:
        for file in dict.fromkeys(files.values()):
            held = [episode for episode in files if files[episode] == file]
            parts = [episode_video(root / f"of-{camera}-{episode}.mp4", episode, camera) for episode in held]
            spans = join(parts, root / f"videos/{camera}/chunk-000/file-{file:03d}.mp4")
            for episode, span in zip(held, spans, strict=True):
                row = rows[list(files).index(episode)]
                row |= {f"videos/{camera}/chunk_index": 0, f"videos/{camera}/file_index": file}
                if timed:
                    row |= {
                        f"videos/{camera}/{end}_timestamp": at for end, at in zip(("from", "to"), span, strict=True)
                    }
            for part in parts:
                part.unlink()
    (root / "meta/episodes/chunk-000").mkdir(parents=True)
    parquet.write_table(pyarrow.Table.from_pylist(rows), root / "meta/episodes/chunk-000/file-000.parquet")
    tasks = {"task_index": list(range(len(rows))), "__index_level_0__": [f"{TASK} {episode}" for episode in files]}
    parquet.write_table(pyarrow.table(tasks), root / "meta/tasks.parquet")
    return root


def episode_video(path: Path, episode: int, camera: str) -> Path:
    """The video of one episode."""
    numbers = count(first_numbers()[episode])
    path.parent.mkdir(parents=True, exist_ok=True)
    return write(path, LENGTHS[episode], rate=FPS, draw=lambda _: numbered(next(numbers)), **CODECS[camera])
