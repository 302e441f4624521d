"""A sample of every layout, with its clips and ignored files."""

import json
import shutil
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from synthetic import write_clip

_TOP = "observation.image.top"
SAY = "Put the cup into the pot"


@cache
def _made(seed: int) -> Path:
    """A real video, made once."""
    return write_clip(Path(mkdtemp()) / f"{seed}.mp4", frames=4, width=64, height=48, seed=seed)


def video(path: Path, seed: int = 0) -> Path:
    """A real video at a path; each seed gives another video."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(_made(seed), path))


def write(path: Path, content: Any) -> Path:
    """A file with bytes, a text, or a value as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str | bytes) else json.dumps(content)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def lines(*rows: Mapping[str, Any]) -> str:
    """Rows as JSONL."""
    return "".join(json.dumps(row) + "\n" for row in rows)


@dataclass(frozen=True)
class Sample:
    """A layout: how it is made in a folder, the path to import there, the clips by path, and the files ignored."""

    make: Callable[[Path], None]
    clips: Mapping[str, Mapping[str, Any]]
    ignored: Mapping[str, str] = field(default_factory=dict)
    path: str = "."


def table(root: Path) -> None:
    video(root / "a/cup.mp4")
    video(root / "pot.mp4", 1)
    row = {"video_path": "a/cup.mp4", "prompt": SAY, "model": "wm", "checkpoint": 4000, "clip_id": 7, "seed": 3}
    gone = {"path": "gone.mp4"}
    write(root / "clips.jsonl", lines(row, {"path": "pot.mp4", "instruction": "Stir", "split": "test"}, gone))


def plain(root: Path) -> None:
    video(root / "cup.mp4")
    write(root / "cup.txt", f"{SAY}\n")
    # Cosmos-Predict2.5 dumps the parameters of a sample.
    video(root / "later/pot.mp4", 1)
    write(root / "later/pot.json", {"name": "pot", "prompt": "Stir", "seed": 0, "guidance": 7, "num_steps": 35})
    video(root / "bare.mkv", 2)
    write(root / "old.avi", b"RIFF")
    write(root / "config.yaml", "a: 1")
    write(root / ".cache/cup.mp4", b"")
    write(root / "._cup.mp4", b"")


def cosmos(root: Path) -> None:
    video(root / "videos/cup.mp4")
    write(root / "metas/cup.txt", SAY)
    video(root / "videos/pot.mp4", 1)
    write(root / "metas/lid.txt", "Lift the lid")
    write(root / "t5_xxl/cup.pickle", b"\x80")


def dreamgen(root: Path) -> None:
    video(root / "cosmos/0_Put_the_cup_into_the_pot.mp4")
    video(root / "wan/0_Put_the_cup_into_the_pot.mp4", 1)
    video(root / "wan/12_Stir.mp4", 2)


def dreamdojo(root: Path) -> None:
    for seed, iteration in enumerate(("iter_000140000", "iter_000150000")):
        video(root / iteration / "0000_pred.mp4", seed)
        video(root / iteration / "0000_gt.mp4", 2)
        video(root / iteration / "0000_merged.mp4", 3)
        write(root / iteration / "0000_actions.npy", b"\x93NUMPY")
        write(root / iteration / "0000_metrics.json", {"psnr": 20.0, "ssim": 0.8, "lpips": 0.1})
    write(root / "iter_000150000/all_summary.json", {"psnr": "20.0"})


def robogaze(root: Path) -> None:
    write(root / "metadata.csv", f'file_name,text\n1.mp4,"{SAY}, then stop"\nvideos/2.mp4,Stir\n3.mp4,Lift\n')
    video(root / "videos/1.mp4")
    video(root / "videos/2.mp4", 1)
    video(root / "videos/4.mp4", 2)
    write(root / "conditioning_frame/1.png", b"\x89PNG")
    write(root / "video_layout.txt", "Top left is the left view.")


def videofolder(root: Path) -> None:
    video(root / "train/cup.mp4")
    video(root / "train/unlisted.mp4", 2)
    write(root / "train/metadata.csv", f"file_name,text,label\ncup.mp4,{SAY},3\n")
    video(root / "test/deep/pot.mp4", 1)
    write(root / "test/metadata.jsonl", lines({"file_name": "deep/pot.mp4", "caption": "Stir"}))


def videoglitchbench(root: Path) -> None:
    video(root / "Kitchen/cup.mp4")
    video(root / "Cellar/cup.mp4", 1)
    video(root / "stray.mp4", 2)
    record = {"video_name": "cup.mp4", "game_name": "Kitchen", "no_bugs": True, "bugs": [], "time_nodes": []}
    write(root / "groundtruth.json", [record])


def lerobot(root: Path) -> None:
    """v2.1, in GR00T's flavour: a modality file, a pseudo-task, and a rate that is no whole number."""
    features = {
        _TOP: {"dtype": "video", "shape": [48, 64, 3], "names": None},
        "observation.images.map": {"dtype": "image", "shape": [48, 64, 3], "names": None},
        "action": {"dtype": "float32", "shape": [7], "names": None},
    }
    info = {
        "codebase_version": "v2.1",
        "robot_type": "so100",
        "fps": 20.0,
        "chunks_size": 2,
        "features": features,
        "splits": {"train": "0:2", "test": "2:4"},
        "data_path": "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
        "video_path": "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4",
    }
    write(root / "meta/info.json", info)
    write(root / "meta/modality.json", {})
    write(root / "meta/tasks.jsonl", lines({"task_index": 0, "task": SAY}, {"task_index": 1, "task": "valid"}))
    episodes = [
        {"episode_index": 0, "tasks": ["valid", SAY], "length": 4},
        {"episode_index": 2, "tasks": ["Stir", "Stir the pot"], "length": 4},
        {"episode_index": 3, "tasks": ["Lift"], "length": 4},
    ]
    write(root / "meta/episodes.jsonl", lines(*episodes))
    video(root / f"videos/chunk-000/{_TOP}/episode_000000.mp4")
    video(root / f"videos/chunk-001/{_TOP}/episode_000002.mp4", 1)
    write(root / "data/chunk-000/episode_000000.parquet", b"PAR1")


def tar(path: Path, **members: bytes) -> Path:
    """A tar file; `__` in a name becomes its first dot."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name.replace("__", "."))
            info.size = len(content)
            archive.addfile(info, BytesIO(content))
    return path


def webdataset(root: Path) -> None:
    cup, pot = (_made(seed).read_bytes() for seed in (0, 1))
    record = json.dumps({"caption": SAY, "checkpoint": 4000, "width": 64}).encode()
    tar(root / "shard-000000.tar", c0__mp4=cup, c0__json=record, c0__npy=b"", c1__mp4=pot, c1__txt=b"Stir\n")
    tar(root / "more/shard-000000.tar", c0__mp4=_made(2).read_bytes(), c9__txt=b"Lift")


_UNREAD = "neither a video nor the description of a clip"

SAMPLES: Mapping[str, Sample] = {
    "table": Sample(
        table,
        {
            "a/cup.mp4": {"instruction": SAY, "checkpoint": "wm/4000", "clip_id": "7"},
            "pot.mp4": {"instruction": "Stir", "split": "test"},
        },
        {"gone.mp4": "is listed in clips.jsonl, but does not exist"},
        "clips.jsonl",
    ),
    "plain": Sample(
        plain,
        {"bare.mkv": {}, "cup.mp4": {"instruction": SAY}, "later/pot.mp4": {"instruction": "Stir"}},
        {"old.avi": "a video of an unsupported kind; convert it to MP4", "config.yaml": _UNREAD},
    ),
    "cosmos": Sample(
        cosmos,
        {"videos/cup.mp4": {"instruction": SAY}, "videos/pot.mp4": {}},
        {"metas/lid.txt": "a text without a video", "t5_xxl/cup.pickle": _UNREAD},
    ),
    "dreamgen": Sample(
        dreamgen,
        {
            "cosmos/0_Put_the_cup_into_the_pot.mp4": {"instruction": SAY, "checkpoint": "cosmos"},
            "wan/0_Put_the_cup_into_the_pot.mp4": {"instruction": SAY, "checkpoint": "wan"},
            "wan/12_Stir.mp4": {"instruction": "Stir", "checkpoint": "wan"},
        },
    ),
    "dreamdojo": Sample(
        dreamdojo,
        {
            "iter_000140000/0000_gt.mp4": {"split": "control"},
            "iter_000140000/0000_pred.mp4": {"checkpoint": "iter_000140000", "prompt_id": "0000"},
            "iter_000150000/0000_pred.mp4": {"checkpoint": "iter_000150000", "prompt_id": "0000"},
        },
        {
            "iter_000150000/0000_gt.mp4": "the same real clip as in another iteration",
            **{
                f"{iteration}/{name}": reason
                for iteration in ("iter_000140000", "iter_000150000")
                for name, reason in {
                    "0000_merged.mp4": "shows the prediction and the real clip side by side",
                    "0000_actions.npy": _UNREAD,
                    "0000_metrics.json": _UNREAD,
                }.items()
            },
            "iter_000150000/all_summary.json": _UNREAD,
        },
    ),
    "robogaze": Sample(
        robogaze,
        {
            "videos/1.mp4": {"instruction": f"{SAY}, then stop", "initial_frame": "conditioning_frame/1.png"},
            "videos/2.mp4": {"instruction": "Stir"},
        },
        {
            "videos/3.mp4": "is listed in metadata.csv, but does not exist",
            "videos/4.mp4": "is not listed in metadata.csv",
            "video_layout.txt": "text about the views (this text is not read; give the layout in the manifest)",
        },
    ),
    "videofolder": Sample(
        videofolder,
        {
            "test/deep/pot.mp4": {"instruction": "Stir", "split": "test"},
            "train/cup.mp4": {"instruction": SAY, "split": "train"},
        },
        {"train/unlisted.mp4": "is not listed in the metadata"},
    ),
    "webdataset": Sample(
        webdataset,
        {
            "shard-000000.tar/c0.mp4": {"instruction": SAY, "checkpoint": "4000"},
            "shard-000000.tar/c1.mp4": {"instruction": "Stir"},
            "more/shard-000000.tar/c0.mp4": {},
        },
        {"shard-000000.tar/c0.npy": _UNREAD, "more/shard-000000.tar/c9.txt": _UNREAD},
    ),
    "videoglitchbench": Sample(
        videoglitchbench,
        {
            "Cellar/cup.mp4": {"clip_id": "Cellar/cup", "instruction": "Cellar", "task_family": "Cellar"},
            "Kitchen/cup.mp4": {"clip_id": "Kitchen/cup", "instruction": "Kitchen", "task_family": "Kitchen"},
        },
        {
            "stray.mp4": "is not directly in a folder that is named after a title",
            "groundtruth.json": "annotations; use them with robogaze evaluate --reference",
        },
    ),
    "lerobot": Sample(
        lerobot,
        {
            f"videos/chunk-000/{_TOP}/episode_000000.mp4": {
                "instruction": SAY,
                "split": "train",
                "embodiment": "so100",
            },
            f"videos/chunk-001/{_TOP}/episode_000002.mp4": {
                "instruction": "Stir",
                "split": "test",
                "embodiment": "so100",
            },
        },
        {
            f"videos/chunk-001/{_TOP}/episode_000003.mp4": "is named by meta/episodes, but does not exist",
            "data/chunk-000/episode_000000.parquet": _UNREAD,
        },
    ),
}
