"""What holds for every layout."""

import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from layouts.samples import SAMPLES, Sample, write
from robogaze.datasets.layouts import LAYOUTS
from robogaze.datasets.layouts.base import ImportSource
from robogaze.datasets.layouts.importer import Imported, import_clips, unpack
from robogaze.datasets.manifest import ManifestEntry, manifest_text, read_manifest
from robogaze.errors import InputError

each_layout = pytest.mark.parametrize("name", sorted(LAYOUTS.names()))


@pytest.fixture
def sample(name: str) -> Sample:
    return SAMPLES[name]


@pytest.fixture
def root(sample: Sample, tmp_path: Path) -> Path:
    sample.make(tmp_path / "source")
    return tmp_path / "source"


@pytest.fixture
def path(sample: Sample, root: Path) -> Path:
    return root / sample.path


@pytest.fixture
def found(path: Path) -> Imported:
    return import_clips(path)


def test_no_layout_is_forgotten() -> None:
    assert set(SAMPLES) == set(LAYOUTS.names())


@each_layout
def test_a_layout_is_recognised_by_itself(name: str, found: Imported) -> None:
    assert found.layout == name


@each_layout
def test_reading_by_name_and_by_recognition_is_the_same_and_so_is_reading_twice(
    name: str, path: Path, found: Imported
) -> None:
    assert import_clips(path, name) == import_clips(path) == found


@each_layout
def test_the_clips_are_there_with_all_that_is_said_of_them(
    name: str, sample: Sample, root: Path, found: Imported
) -> None:
    wanted = [ManifestEntry(path=root / path, **_placed(fields, root)) for path, fields in sample.clips.items()]
    assert sorted(found.entries, key=lambda one: one.path) == sorted(wanted, key=lambda one: one.path)


def _placed(fields: dict[str, str], root: Path) -> dict[str, object]:
    return {key: root / value if key == "initial_frame" else value for key, value in fields.items()}


@each_layout
def test_what_is_ignored_is_named_with_its_reason(name: str, sample: Sample, found: Imported) -> None:
    assert {one.file: one.reason for one in found.ignored} == sample.ignored
    assert len(found.ignored) == len(sample.ignored)


@each_layout
def test_no_video_falls_out_unseen(name: str, path: Path, found: Imported) -> None:
    source = ImportSource.of(path)
    clips = {entry.path for entry in found.entries}
    ignored = {source.at(one.file) for one in found.ignored}
    assert {source.at(video) for video in source.videos} <= clips | ignored
    assert not clips & ignored


@each_layout
def test_the_manifest_names_the_same_clips_from_wherever_it_lies(
    name: str, root: Path, found: Imported, tmp_path: Path
) -> None:
    for folder in (root, tmp_path / "else" / "where"):
        text = manifest_text(found.entries, folder)
        assert str(tmp_path) not in text
        read = read_manifest(write(folder / "all.jsonl", text))
        assert [entry.path.resolve() for entry in read] == [entry.path.resolve() for entry in found.entries]
        assert all(entry.initial_frame is None or entry.initial_frame.is_file() for entry in read)
        assert [_told(entry) for entry in read] == [_told(entry) for entry in found.entries]


def _told(entry: ManifestEntry) -> ManifestEntry:
    return entry.with_(path=Path("x"), initial_frame=None)


@each_layout
def test_ids_never_collide(name: str, found: Imported, tmp_path: Path) -> None:
    found = unpack(found, tmp_path / "unpacked")
    ids = {entry.id_for(sha256(entry.path.read_bytes()).hexdigest()) for entry in found.entries}
    assert len(ids) == len(found.entries)


@each_layout
def test_a_layout_whose_videos_are_gone_is_refused_by_name(name: str, root: Path, path: Path) -> None:
    for video in [one for one in root.rglob("*") if one.suffix in (".mp4", ".mkv", ".avi", ".tar")]:
        video.unlink()
    with pytest.raises(InputError, match=f"has no clip in the layout {name}"):
        import_clips(path, name)


@each_layout
def test_an_empty_folder_is_in_no_layout(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no video"):
        import_clips(tmp_path)
    with pytest.raises(InputError):
        import_clips(tmp_path, name)


@each_layout
def test_a_link_to_the_data_is_as_good_as_the_data(name: str, sample: Sample, root: Path, tmp_path: Path) -> None:
    """Caches keep files elsewhere and link to them."""
    linked = tmp_path / "linked"
    shutil.copytree(root, linked, copy_function=lambda src, to: Path(to).symlink_to(src))
    assert len(import_clips(linked / sample.path).entries) == len(sample.clips)


def test_a_manifest_in_a_linked_folder_finds_its_clips(tmp_path: Path) -> None:
    SAMPLES["plain"].make(tmp_path / "deep" / "down" / "clips")
    (tmp_path / "deep" / "down" / "lists").mkdir()
    linked = tmp_path / "lists"
    linked.symlink_to(tmp_path / "deep" / "down" / "lists")
    text = manifest_text(import_clips(tmp_path / "deep" / "down" / "clips").entries, linked)
    assert all(entry.path.is_file() for entry in read_manifest(write(linked / "all.jsonl", text)))


def test_a_manifest_of_clips_seen_through_a_link_can_be_moved_with_them(tmp_path: Path) -> None:
    SAMPLES["plain"].make(tmp_path / "data" / "clips")
    linked = tmp_path / "link"
    linked.symlink_to(tmp_path / "data")
    text = manifest_text(import_clips(linked / "clips").entries, tmp_path / "data")
    write(tmp_path / "data" / "all.jsonl", text)
    shutil.move(tmp_path / "data", tmp_path / "moved")
    assert all(entry.path.is_file() for entry in read_manifest(tmp_path / "moved" / "all.jsonl"))


def test_a_layout_that_is_not_known_is_told_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no layout 'dreamgem'; the layouts are: auto, table, lerobot"):
        import_clips(tmp_path, "dreamgem")


def test_a_path_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        import_clips(tmp_path / "gone")
