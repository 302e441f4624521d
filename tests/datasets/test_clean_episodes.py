"""The episodes of LeRobot data sets that are clean."""

import json
from pathlib import Path

import pytest
from formats.samples import make_event, make_report
from layouts.samples import SAMPLES, lines, video, write
from lerobot_set import TOP, WRIST, v3
from making import coverage, make_clip

from robogaze.core.report import Report
from robogaze.datasets.clean_clips import ChosenEpisodes, chosen_episodes
from robogaze.datasets.layouts.importer import import_clips
from robogaze.datasets.manifest import ManifestEntry


def scored(entries: list[ManifestEntry], faulty: set[int]) -> tuple[list[Report], dict[str, Path]]:
    """Reports of clips, of which some have an event, by place; and where the clips lie."""
    reports, videos = [], {}
    for place, entry in enumerate(entries):
        part = {} if entry.start_s is None else {"start_s": entry.start_s, "end_s": entry.end_s}
        clip = make_clip(id=f"c{place}", uri=f"{entry.path}", **part)
        reports.append(make_report(clip.id, *([make_event()] if place in faulty else []), clip=clip))
        videos[clip.id] = entry.path
    return reports, videos


def kept(entries: list[ManifestEntry], faulty: set[int]) -> ChosenEpisodes:
    (found,) = clean_episodes(*scored(entries, faulty), ["matter"])
    return found


def clean_episodes(reports: list[Report], videos: dict[str, Path], dimensions: list[str]) -> tuple[ChosenEpisodes, ...]:
    return chosen_episodes((report.clip, videos[report.clip.id], report.clean_in(dimensions)) for report in reports)


def test_episode_is_clean_if_its_clip_is(tmp_path: Path) -> None:
    entries = list(import_clips(v3(tmp_path)).entries)
    assert kept(entries, {1, 3}) == ChosenEpisodes(tmp_path, (0, 2, 4), 5, 1, 0)


def test_episode_must_be_clean_in_every_camera(tmp_path: Path) -> None:
    entries = list(import_clips(v3(tmp_path, {0: 0, 1: 0, 4: 1}, [TOP, WRIST])).entries)
    assert kept(entries, {1}) == ChosenEpisodes(tmp_path, (1, 4), 3, 2, 0)
    assert kept(entries[:-1], {1}).chosen == (1,)  # of the last episode one camera was not scored
    assert kept([entry for entry in entries if TOP in entry.path.parts], set()).cameras == 1


def test_episode_must_be_clean_in_every_dimension_asked_for(tmp_path: Path) -> None:
    reports, videos = scored(list(import_clips(v3(tmp_path)).entries), {4})
    reports = [report.with_(coverage=coverage("matter", "light")) for report in reports]
    reports[0] = reports[0].with_(coverage=coverage(not_examined=["matter", "light"]))
    reports[1] = reports[1].with_(coverage=coverage("matter", partial=["light"]))
    reports[2] = reports[2].with_(coverage=coverage("light", ruled_out=["matter"]))
    for dimensions, clean in ((["matter", "light"], (2, 3)), (["matter"], (1, 2, 3)), (["light"], (2, 3, 4))):
        (found,) = clean_episodes(reports, videos, dimensions)
        assert (found.chosen, found.scored) == (clean, 5)


def test_versions_with_one_file_per_episode_are_read(tmp_path: Path) -> None:
    SAMPLES["lerobot"].make(tmp_path)
    assert kept(list(import_clips(tmp_path).entries), {0}) == ChosenEpisodes(tmp_path, (2,), 2, 1, 0)


def test_part_that_is_not_an_episode_is_counted(tmp_path: Path) -> None:
    entries = list(import_clips(v3(tmp_path)).entries)
    cut = [entries[1].with_(end_s=(entries[1].end_s or 0) - 0.2), entries[0].with_(start_s=None, end_s=None)]
    assert kept([*cut, entries[2]], set()) == ChosenEpisodes(tmp_path, (2,), 1, 1, 2)


def test_linked_files_are_matched_by_their_own_names(tmp_path: Path) -> None:
    """Caches keep files elsewhere, under other names."""
    v3(tmp_path / "set", {3: 0, 4: 1})
    for number, file in enumerate(sorted((tmp_path / "set").rglob("*.mp4"))):
        blob = file.rename(tmp_path / f"blob{number}")
        file.symlink_to(blob)
    assert kept(list(import_clips(tmp_path / "set").entries), {0}).chosen == (4,)


def test_clips_outside_a_data_set_are_not_episodes(tmp_path: Path) -> None:
    video(tmp_path / "cup.mp4")
    write(tmp_path / "all.jsonl", lines({"path": "cup.mp4"}))
    assert clean_episodes(*scored(list(import_clips(tmp_path / "all.jsonl").entries), set()), ["matter"]) == ()


def test_each_data_set_has_its_own_episodes(tmp_path: Path) -> None:
    entries = [entry for name in "ab" for entry in import_clips(v3(tmp_path / name, {3: 0, 4: 1})).entries]
    found = clean_episodes(*scored(entries, {0}), ["matter"])
    assert [(data_set.root.name, data_set.chosen) for data_set in found] == [("a", (4,)), ("b", (3, 4))]
    assert json.dumps(found[1].chosen) == "[3, 4]"


@pytest.fixture(autouse=True)
def _needs_pyarrow() -> None:
    pytest.importorskip("pyarrow")
