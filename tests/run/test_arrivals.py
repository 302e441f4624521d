"""Which clips have arrived: complete files, by checkpoint. The clock is given; the files are real."""

import json
import os
from pathlib import Path, PurePosixPath

import pytest
from synthetic import write_clip

from robogaze.run.arrivals import Arrivals, place_of

SETTLED_S, BROKEN_S = 2.0, 60.0


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return write_clip(tmp_path_factory.mktemp("video") / "bar.mp4", frames=8, width=64, height=48).read_bytes()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "clips" / "step_1000").mkdir(parents=True)
    return tmp_path / "clips"


def watching(path: Path) -> Arrivals:
    return Arrivals([path], SETTLED_S, BROKEN_S)


def ids(arrivals: Arrivals, now_s: float, *, ending: bool = False) -> list[str]:
    """The complete clips, as CHECKPOINT/ID."""
    return [f"{arrival.checkpoint}/{arrival.entry.clip_id}" for arrival in arrivals.look(now_s, ending=ending).complete]


@pytest.mark.parametrize(
    ("path", "checkpoint", "clip_id"),
    [
        ("step_001000/cup.mp4", "step_001000", "cup"),
        ("checkpoint-1000/val/cup.mp4", "checkpoint-1000", "val/cup"),
        ("val/step_1000/cup.mp4", "step_1000", "val/cup"),
        ("epoch100_run/global_step20/cup.mp4", "global_step20", "epoch100_run/cup"),
        ("epoch=3-step=1000/cup.mp4", "epoch=3-step=1000", "cup"),
        ("checkpoints/010000/cup.mp4", "010000", "cup"),
        ("ckpt_14k/step_2.mp4", "ckpt_14k", "step_2"),
        ("cup_step_1000.mp4", "step_1000", "cup"),
        ("step-1000-cup.mp4", "step-1000", "cup"),
        ("footstep_3/cup.mp4", "clips", "footstep_3/cup"),
        ("0001/cup 2.mp4", "clips", "0001/cup_2"),
    ],
)
def test_a_path_gives_the_checkpoint_and_the_id_within_it(path: str, checkpoint: str, clip_id: str) -> None:
    place = place_of(PurePosixPath(path), "clips")
    assert (place.checkpoint, place.clip_id) == (checkpoint, clip_id)


def test_a_file_is_complete_once_it_has_not_changed_for_a_while(folder: Path, video: bytes) -> None:
    arrivals, path = watching(folder), folder / "step_1000" / "cup.mp4"
    path.write_bytes(video)
    assert ids(arrivals, 0) == []
    assert arrivals.look(1.9).writing == {"step_1000"}
    assert ids(arrivals, 2) == ["step_1000/cup"]
    os.utime(path, ns=(1, 1))
    assert ids(arrivals, 3) == []
    assert ids(arrivals, 5) == ["step_1000/cup"]
    assert arrivals.changed_s == 3


def test_a_half_written_file_is_never_complete(folder: Path, video: bytes) -> None:
    arrivals, path = watching(folder), folder / "step_1000" / "cup.mp4"
    path.write_bytes(video[: len(video) // 2])
    assert ids(arrivals, 0) == ids(arrivals, 59) == []
    path.write_bytes(video)
    assert ids(arrivals, 60) == []
    assert ids(arrivals, 62) == ["step_1000/cup"]


@pytest.mark.parametrize(("ending", "after_s"), [(False, BROKEN_S), (True, SETTLED_S)])
def test_a_file_that_stays_half_written_is_counted(folder: Path, video: bytes, ending: bool, after_s: float) -> None:
    arrivals = watching(folder)
    (folder / "step_1000" / "cup.mp4").write_bytes(video[: len(video) // 2])
    assert ids(arrivals, 0, ending=ending) == ids(arrivals, after_s - 0.1, ending=ending) == []
    assert ids(arrivals, after_s, ending=ending) == ["step_1000/cup"]


@pytest.mark.parametrize("name", [".cup.mp4", "~cup.mp4", "cup.mp4.tmp", "cup.part.mp4", "cup.mp4.part", "cup.TMP.mp4"])
def test_the_file_of_a_writer_is_ignored(folder: Path, video: bytes, name: str) -> None:
    arrivals = watching(folder)
    (folder / "step_1000" / name).write_bytes(video)
    found = arrivals.look(0), arrivals.look(100)
    assert all(not arrived.complete and not arrived.writing for arrived in found)


def test_a_file_that_is_renamed_has_not_disappeared(folder: Path, video: bytes) -> None:
    arrivals, path = watching(folder), folder / "step_1000" / "cup.mp4"
    path.write_bytes(video)
    arrivals.look(0)
    assert ids(arrivals, 2) == ["step_1000/cup"]
    path.rename(path.with_name("mug.mp4"))
    arrived = arrivals.look(3)
    assert (arrived.gone, arrived.writing) == ((), {"step_1000"})
    assert ids(arrivals, 5) == ["step_1000/mug"]


def test_a_deleted_clip_is_reported_only_if_it_was_complete(folder: Path, video: bytes) -> None:
    arrivals, cup, mug = watching(folder), folder / "step_1000" / "cup.mp4", folder / "step_1000" / "mug.mp4"
    cup.write_bytes(video)
    mug.write_bytes(video[:1000])
    arrivals.look(0)
    arrivals.look(2)
    cup.unlink()
    mug.unlink()
    assert [arrival.entry.path for arrival in arrivals.look(3).gone] == [cup]
    assert arrivals.look(4).gone == ()


def test_a_changed_sidecar_changes_the_clip(folder: Path, video: bytes) -> None:
    arrivals, path = watching(folder), folder / "step_1000" / "cup.mp4"
    path.write_bytes(video)
    arrivals.look(0)
    assert arrivals.look(2).complete[0].entry.instruction is None
    path.with_suffix(".txt").write_text("Lift the cup")
    assert ids(arrivals, 3) == []
    assert arrivals.look(5).complete[0].entry.instruction == "Lift the cup"


def test_a_sidecar_names_the_checkpoint_and_a_damaged_one_is_a_clip_that_cannot_be_scored(
    folder: Path, video: bytes
) -> None:
    arrivals = watching(folder)
    for name, sidecar in (("cup", '{"checkpoint": "base"}'), ("mug", '{"instruction"')):
        (folder / "step_1000" / f"{name}.mp4").write_bytes(video)
        (folder / "step_1000" / f"{name}.json").write_text(sidecar)
    arrivals.look(0)
    cup, mug = arrivals.look(2).complete
    assert (cup.checkpoint, mug.checkpoint) == ("base", "step_1000")
    assert "mug.json" in getattr(mug.entry, "fault", "")


def test_a_manifest_grows_line_by_line(tmp_path: Path, video: bytes) -> None:
    manifest = tmp_path / "clips.jsonl"
    (tmp_path / "a.mp4").write_bytes(video)
    first = json.dumps({"path": "a.mp4", "checkpoint": "step_10", "instruction": "Lift"}) + "\n"
    second = json.dumps({"path": "b.mp4", "checkpoint": "step_20", "clip_id": "a"}) + "\n"
    manifest.write_text(first + second[:20])
    arrivals = watching(manifest)
    arrivals.look(0)
    assert ids(arrivals, 2) == ["step_10/a"]
    manifest.write_text(first + second)
    assert ids(arrivals, 3) == ["step_10/a"]
    assert arrivals.look(50).writing == {"step_20"}, "its file does not exist yet"
    (tmp_path / "b.mp4").write_bytes(video)
    arrivals.look(51)
    assert ids(arrivals, 53) == ["step_10/a", "step_20/a"]


def test_a_listed_clip_that_never_arrived_is_counted_at_the_end(tmp_path: Path) -> None:
    manifest = tmp_path / "clips.jsonl"
    manifest.write_text('{"path": "a.mp4", "checkpoint": "step_10"}\n')
    arrivals = watching(manifest)
    assert ids(arrivals, 0) == ids(arrivals, 1000) == []
    assert ids(arrivals, 1001, ending=True) == ["step_10/a"]


def test_a_listed_clip_that_is_deleted_is_gone_once_and_may_come_back(tmp_path: Path, video: bytes) -> None:
    manifest, path = tmp_path / "clips.jsonl", tmp_path / "a.mp4"
    path.write_bytes(video)
    manifest.write_text('{"path": "a.mp4", "checkpoint": "step_10"}\n')
    arrivals = watching(manifest)
    arrivals.look(0)
    arrivals.look(2)
    path.unlink()
    assert len(arrivals.look(3).gone) == 1
    later = arrivals.look(4, ending=True)
    assert (later.complete, later.gone, later.writing) == ((), (), frozenset())
    path.write_bytes(video)
    arrivals.look(5)
    assert ids(arrivals, 7) == ["step_10/a"]


def test_an_unreadable_path_is_reported_and_read_again(tmp_path: Path, video: bytes) -> None:
    manifest = tmp_path / "clips.jsonl"
    (tmp_path / "a.mp4").write_bytes(video)
    manifest.write_text('{"path": "a.mp4", "checkpoint": "step_10"}\n')
    arrivals = watching(manifest)
    arrivals.look(0)
    good = manifest.read_text()
    manifest.write_text(good + '{"path": 3}\n')
    assert ids(arrivals, 2) == ["step_10/a"], "the clips that were listed remain"
    assert "clips.jsonl:2" in arrivals.faults[0]
    manifest.write_text(good + '{"path": "b.mp4", "checkpoint": "step_10"}\n')
    arrivals.look(3)
    assert arrivals.faults == ()
