"""The contract of every layout."""

import shutil
from pathlib import Path

import pytest

from layouts.samples import SAMPLES, Sample, write
from robogaze.datasets.layouts import LAYOUTS
from robogaze.datasets.layouts.importer import Imported, import_clips
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


def test_every_layout_has_a_sample() -> None:
    assert set(SAMPLES) == set(LAYOUTS.names())


@each_layout
def test_layout_is_recognised_and_import_by_name_gives_the_same(name: str, path: Path, found: Imported) -> None:
    assert found.layout == name
    assert import_clips(path, name) == found


@each_layout
def test_clips_have_all_fields_that_the_layout_gives(name: str, sample: Sample, root: Path, found: Imported) -> None:
    wanted = [ManifestEntry(path=root / path, **_placed(fields, root)) for path, fields in sample.clips.items()]
    assert sorted(found.entries, key=lambda entry: entry.path) == sorted(wanted, key=lambda entry: entry.path)


def _placed(fields: dict[str, str], root: Path) -> dict[str, object]:
    return {key: root / value if key == "initial_frame" else value for key, value in fields.items()}


@each_layout
def test_ignored_files_have_a_reason(name: str, sample: Sample, found: Imported) -> None:
    assert {ignored.file: ignored.reason for ignored in found.ignored} == sample.ignored
    assert len(found.ignored) == len(sample.ignored)


@each_layout
def test_manifest_paths_are_relative_to_its_folder(name: str, root: Path, found: Imported, tmp_path: Path) -> None:
    for folder in (root, tmp_path / "else" / "where"):
        text = manifest_text(found.entries, folder)
        assert str(tmp_path) not in text
        read = read_manifest(write(folder / "all.jsonl", text))
        assert [entry.path.resolve() for entry in read] == [entry.path.resolve() for entry in found.entries]
        assert all(entry.initial_frame is None or entry.initial_frame.is_file() for entry in read)
        assert [_without_paths(entry) for entry in read] == [_without_paths(entry) for entry in found.entries]


def _without_paths(entry: ManifestEntry) -> ManifestEntry:
    return entry.with_(path=Path("x"), initial_frame=None)


@each_layout
def test_layout_without_videos_is_refused_by_name(name: str, root: Path, path: Path) -> None:
    for video in [path for path in root.rglob("*") if path.suffix in (".mp4", ".mkv", ".avi", ".tar")]:
        video.unlink()
    with pytest.raises(InputError, match=f"the layout {name} .* finds no clip in"):
        import_clips(path, name)


@each_layout
def test_empty_folder_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no video"):
        import_clips(tmp_path)
    with pytest.raises(InputError):
        import_clips(tmp_path, name)


@each_layout
def test_links_to_files_are_read(name: str, sample: Sample, root: Path, tmp_path: Path) -> None:
    """Caches keep files elsewhere and link to them."""
    linked = tmp_path / "linked"
    shutil.copytree(root, linked, copy_function=lambda src, to: Path(to).symlink_to(src))
    assert len(import_clips(linked / sample.path).entries) == len(sample.clips)


def test_manifest_in_a_linked_folder_finds_its_clips(tmp_path: Path) -> None:
    SAMPLES["plain"].make(tmp_path / "deep" / "down" / "clips")
    (tmp_path / "deep" / "down" / "lists").mkdir()
    linked = tmp_path / "lists"
    linked.symlink_to(tmp_path / "deep" / "down" / "lists")
    text = manifest_text(import_clips(tmp_path / "deep" / "down" / "clips").entries, linked)
    assert all(entry.path.is_file() for entry in read_manifest(write(linked / "all.jsonl", text)))


def test_manifest_of_linked_clips_can_be_moved_with_them(tmp_path: Path) -> None:
    SAMPLES["plain"].make(tmp_path / "data" / "clips")
    linked = tmp_path / "link"
    linked.symlink_to(tmp_path / "data")
    text = manifest_text(import_clips(linked / "clips").entries, tmp_path / "data")
    write(tmp_path / "data" / "all.jsonl", text)
    shutil.move(tmp_path / "data", tmp_path / "moved")
    assert all(entry.path.is_file() for entry in read_manifest(tmp_path / "moved" / "all.jsonl"))


def test_unknown_layout_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no layout 'dreamgem'; the layouts are: auto, table, lerobot"):
        import_clips(tmp_path, "dreamgem")


def test_missing_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        import_clips(tmp_path / "gone")
