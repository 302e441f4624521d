"""LeRobot data sets: one file per episode, and many episodes in one file as in v3.0."""

from contextlib import closing
from pathlib import Path

import pytest
from lerobot_set import FPS, LENGTHS, TOP, WRIST, first_numbers, v3
from media.videos import number_in

from layouts.samples import SAMPLES, write
from robogaze.datasets.layouts.importer import import_clips
from robogaze.datasets.manifest import ManifestEntry, manifest_text, read_manifest
from robogaze.errors import InputError
from robogaze.media import decode_clip


def shown(entry: ManifestEntry) -> tuple[list[int], list[float], float]:
    """The numbers in an entry's pictures, their times, and the length of it all."""
    where = {"start_s": entry.start_s, "end_s": entry.end_s}
    with closing(decode_clip(entry.path, **where)) as footage:
        pictures = [footage.views(number)[0] for number in range(len(footage.times_s))]
        return [number_in(picture) for picture in pictures], footage.times_s, footage.duration_s


def episode_of(entry: ManifestEntry) -> int:
    """The episode of an entry, by its instruction."""
    return int((entry.instruction or "").rsplit(" ", 1)[1])


# v3.0.


@pytest.mark.parametrize("camera", [TOP, WRIST])
def test_episode_shows_exactly_its_own_frames(camera: str, tmp_path: Path) -> None:
    found = import_clips(v3(tmp_path, cameras=[camera]))
    assert [episode_of(entry) for entry in found.entries] == list(LENGTHS)
    for entry in found.entries:
        numbers, times_s, duration_s = shown(entry)
        first, length = first_numbers()[episode_of(entry)], LENGTHS[episode_of(entry)]
        assert len(numbers) == length
        assert numbers == list(range(first, first + length))
        assert times_s == pytest.approx([number / FPS for number in range(length)], abs=2e-6)
        assert duration_s == pytest.approx(length / FPS, abs=0.001)  # an MP4 may tell its length in milliseconds


def test_episode_of_a_shared_file_is_a_part(tmp_path: Path) -> None:
    found = import_clips(v3(tmp_path))
    parts = [(entry.path.name, entry.start_s, entry.end_s) for entry in found.entries]
    assert parts == [
        ("file-000.mp4", 0.0, pytest.approx(7 / FPS, abs=1e-6)),
        ("file-000.mp4", pytest.approx(7 / FPS, abs=1e-6), pytest.approx(19 / FPS, abs=1e-6)),
        ("file-000.mp4", pytest.approx(19 / FPS, abs=1e-6), pytest.approx(24 / FPS, abs=1e-6)),
        ("file-001.mp4", None, None),
        ("file-002.mp4", None, None),
    ]
    assert {(entry.split, entry.embodiment) for entry in found.entries} == {("train", "so101_follower")}
    assert not found.ignored


def test_each_camera_is_a_clip(tmp_path: Path) -> None:
    found = import_clips(v3(tmp_path, {0: 0, 1: 0}, [TOP, WRIST]))
    assert [(episode_of(entry), entry.path.parts[-3]) for entry in found.entries] == [
        (0, TOP),
        (0, WRIST),
        (1, TOP),
        (1, WRIST),
    ]
    assert [shown(entry)[0] for entry in found.entries[2:]] == [list(range(7, 19))] * 2


def test_parts_are_kept_in_the_manifest_with_unique_ids(tmp_path: Path) -> None:
    found = import_clips(v3(tmp_path))
    read = read_manifest(write(tmp_path / "all.jsonl", manifest_text(found.entries, tmp_path)))
    assert [(entry.start_s, entry.end_s) for entry in read] == [(entry.start_s, entry.end_s) for entry in found.entries]
    same = [entry.with_(instruction=None) for entry in found.entries[:3]]
    assert len({entry.id_for("0" * 64) for entry in same}) == 3


def test_shared_file_without_timestamps_is_refused(tmp_path: Path) -> None:
    v3(tmp_path, {0: 0, 1: 0}, timed=False)
    with pytest.raises(
        InputError, match=r"file-000\.mp4 contains several episodes, but meta/episodes gives no timestamps"
    ):
        import_clips(tmp_path)


def test_timestamps_are_optional_with_one_file_per_episode(tmp_path: Path) -> None:
    assert len(import_clips(v3(tmp_path, {0: 0, 1: 1}, timed=False)).entries) == 2


def test_only_listed_episode_of_a_file_is_a_part_if_it_starts_later(tmp_path: Path) -> None:
    """The other episodes of the file were deleted from `meta/episodes`, but their frames are still in the file."""
    parquet = pytest.importorskip("pyarrow.parquet")
    (table,) = v3(tmp_path).glob("meta/episodes/**/*.parquet")
    rows = parquet.read_table(table)
    parquet.write_table(rows.slice(2, 1), table)
    (entry,) = import_clips(tmp_path).entries
    assert episode_of(entry) == 2
    assert shown(entry)[0] == list(range(19, 24))


def test_missing_file_is_ignored_once(tmp_path: Path) -> None:
    v3(tmp_path)
    (tmp_path / f"videos/{TOP}/chunk-000/file-000.mp4").unlink()
    found = import_clips(tmp_path)
    assert [episode_of(entry) for entry in found.entries] == [3, 4]
    assert [ignored.reason for ignored in found.ignored] == ["is named by meta/episodes, but does not exist"]


def test_template_with_fields_of_another_version_is_filled_in(tmp_path: Path) -> None:
    """One public v3.0 data set says `episode_chunk` and `episode_file`."""
    v3(tmp_path, {3: 0, 4: 1})
    info = tmp_path / "meta/info.json"
    text = info.read_text().replace("chunk-{chunk_index", "chunk-{episode_chunk").replace("{file_", "{episode_file_")
    info.write_text(text.replace("{episode_file_index", "{episode_file"))
    assert "{episode_file:03d}" in info.read_text()
    assert len(import_clips(tmp_path).entries) == 2


# All versions.


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("v2.1", "v4.0", "'v4.0' is not v2.0, v2.1 or v3.0"),
        ("{video_key}", "{camera}", "cannot be filled in"),
        ('"dtype": "video"', '"dtype": "image"', "describes no videos"),
        ('"features"', '"feature"', "features: Field required"),
    ],
)
def test_invalid_description_is_refused_by_name(old: str, new: str, message: str, tmp_path: Path) -> None:
    SAMPLES["lerobot"].make(tmp_path)
    info = tmp_path / "meta/info.json"
    info.write_text(info.read_text().replace(old, new))
    with pytest.raises(InputError, match=message):
        import_clips(tmp_path)


def test_camera_with_images_is_left_out_with_a_remark(tmp_path: Path) -> None:
    SAMPLES["lerobot"].make(tmp_path)
    remark = "cameras with single images instead of videos are left out: observation.images.map"
    assert import_clips(tmp_path).remarks[-1] == remark
    assert not import_clips(v3(tmp_path / "v3", {0: 0})).remarks


def test_several_tasks_of_an_episode_give_a_remark(tmp_path: Path) -> None:
    SAMPLES["lerobot"].make(tmp_path)
    remark = "some episodes have several tasks; their first task is used as the instruction"
    assert remark in import_clips(tmp_path).remarks
