"""The data set of planted clips: complete, reproducible, resumable, and telling nothing by its names."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from robogaze.core.report import Report
from robogaze.datasets.manifest import ManifestEntry, read_manifest
from robogaze.errors import RunError
from robogaze.forge.plant.folder import Planted, PlantedSource, PlantingOrder, plant_clips
from robogaze.forge.plant.recipe import PlantingConfig

from .takes import FRAMES, scenery, write

FEW = ("smear", "hold", "erase", "other_hand")


def reports(folder: Path) -> dict[str, Report]:
    lines = (folder / "annotations.jsonl").read_text(encoding="utf-8").splitlines()
    return {one.clip.id: one for one in map(Report.model_validate_json, lines)}


def told(one: Report) -> Any:
    return one.provenance.media["planted"]


def few(recipe: PlantingConfig, **changes: Any) -> PlantingOrder:
    return replace(PlantingOrder(recipe, recipe.chosen(FEW), 1, 0), **changes)


def test_everything_is_planted_once_in_each_clip_or_left_out_with_a_reason(
    planted: Planted, recipe: PlantingConfig, folder: Path
) -> None:
    made = Counter(told(one)["plant"] for one in reports(folder).values())
    assert made.pop("") == 2
    for name, counts in planted.by_plant.items():
        assert counts["planted"] == made[name]
        assert counts["planted"] + counts["left_out"] == 2
    assert all(one.reason for source in planted.sources for one in source.left_out)
    assert {name for name in recipe.plants if not made[name]} == set()


def test_manifest_annotations_and_files_are_about_the_same_clips(planted: Planted, folder: Path) -> None:
    entries = read_manifest(folder / "clips.jsonl")
    known = reports(folder)
    assert [entry.clip_id for entry in entries] == list(known)
    assert {entry.path.name for entry in entries} == {path.name for path in (folder / "clips").iterdir()}
    for entry in entries:
        clip = known[str(entry.clip_id)].clip
        assert (entry.path.resolve(), entry.instruction) == ((folder / clip.uri).resolve(), clip.instruction)


def test_an_untouched_clip_has_no_event_and_a_planted_one_has_one(planted: Planted, folder: Path) -> None:
    for one in reports(folder).values():
        assert len(one.events) == (told(one)["plant"] != "")
        assert one.status == "complete"
        assert told(reports(folder)[told(one)["untouched"]])["plant"] == ""


def test_severity_follows_strength_by_the_domain_s_rule(planted: Planted, folder: Path, recipe: PlantingConfig) -> None:
    for one in reports(folder).values():
        for event in one.events:
            plant = recipe.plants[told(one)["plant"]]
            assert event.severity == plant.level(told(one)["strength"])
            assert (event.type, event.dimension) == (plant.type, recipe.domain.dimension_of[plant.type])


def test_no_name_and_no_order_tells_what_was_planted(planted: Planted, folder: Path, recipe: PlantingConfig) -> None:
    names = "".join(reports(folder))
    assert not [name for name in recipe.plants if name in names]
    assert list(reports(folder)) == sorted(reports(folder))


def test_only_a_reworded_clip_has_another_instruction(planted: Planted, folder: Path, recipe: PlantingConfig) -> None:
    known = reports(folder)
    for one in known.values():
        other = one.clip.instruction != known[told(one)["untouched"]].clip.instruction
        assert other == (told(one)["plant"] in recipe.plants and recipe.plants[told(one)["plant"]].words is not None)


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(
    tmp_path: Path, sources: tuple[ManifestEntry, ...], recipe: PlantingConfig
) -> None:
    def made(name: str, seed: int) -> dict[str, bytes]:
        plant_clips(sources[:1], few(recipe, seed=seed), tmp_path / name)
        paths = (path for path in (tmp_path / name).rglob("*") if path.is_file() and ".planted" not in path.parts)
        return {path.relative_to(tmp_path / name).as_posix(): path.read_bytes() for path in paths}

    assert made("a", 3) == made("b", 3)
    assert not made("c", 4).keys() & {name for name in made("a", 3) if name.startswith("clips/")}


def test_a_start_goes_on_where_another_one_was_killed(
    tmp_path: Path, sources: tuple[ManifestEntry, ...], recipe: PlantingConfig
) -> None:
    def killed(source: PlantedSource | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        plant_clips(sources, few(recipe), tmp_path / "a", killed)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "a" / "clips").iterdir()}
    plant_clips(sources, few(recipe), tmp_path / "a")
    plant_clips(sources, few(recipe), tmp_path / "b")
    assert before
    assert all(path.stat().st_mtime_ns == when for path, when in before.items())
    for name in ("annotations.jsonl", "clips.jsonl", "planted.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_other_settings_in_the_same_folder_are_refused(
    tmp_path: Path, sources: tuple[ManifestEntry, ...], recipe: PlantingConfig
) -> None:
    plant_clips(sources[:1], few(recipe, plants=recipe.chosen(("smear",))), tmp_path)
    with pytest.raises(RunError, match="other settings"):
        plant_clips(sources[:1], few(recipe), tmp_path)


def test_a_second_process_is_refused(
    tmp_path: Path, sources: tuple[ManifestEntry, ...], recipe: PlantingConfig
) -> None:
    (tmp_path / ".planted").mkdir()
    with FileLock(tmp_path / ".planted" / "lock"), pytest.raises(RunError, match="in use by another process"):
        plant_clips(sources[:1], few(recipe), tmp_path)


def test_a_clip_that_cannot_be_read_is_listed_and_the_others_go_on(
    tmp_path: Path, sources: tuple[ManifestEntry, ...], recipe: PlantingConfig
) -> None:
    order = few(recipe, plants=recipe.chosen(("smear",)))
    found = plant_clips([ManifestEntry(path=tmp_path / "none.mp4"), sources[0]], order, tmp_path / "out")
    assert len(found.sources) == 1
    assert found.unreadable == (f"{tmp_path / 'none.mp4'} does not exist",)
    assert json.loads((tmp_path / "out" / "planted.json").read_text())["unreadable"] == list(found.unreadable)


def test_where_nothing_moves_or_stands_out_only_pictures_are_changed(tmp_path: Path, recipe: PlantingConfig) -> None:
    still = write(tmp_path / "still.mp4", [scenery(1)[0][:90]] * FRAMES)
    found = plant_clips(
        [ManifestEntry(path=still, instruction="wait")], PlantingOrder(recipe, recipe.chosen(()), 1, 0), tmp_path / "o"
    )
    reasons = {one.plant: one.reason for one in found.sources[0].left_out}
    for name in ("hold", "skip", "reverse"):
        assert reasons[name] in ("too little moves there", "nothing follows there")
    assert reasons["cover"] == "too little moves there to be hidden"
    assert reasons["cut"] == "nothing moves where the clip would end"
    assert reasons["erase"] == reasons["paste"] == reasons["tint"] == "nothing compact stands out there"
    assert reasons["other_hand"] == "its instruction has no such words"
    assert not reasons.keys() & {"smear", "darken", "shake", "blocks", "tear"}


def test_without_an_instruction_nothing_is_planted_that_one_is_needed_for(
    tmp_path: Path, sources: tuple[ManifestEntry, ...], recipe: PlantingConfig
) -> None:
    order = few(recipe, plants=recipe.chosen(("cut", "other_hand", "smear")))
    found = plant_clips([sources[0].with_(instruction=None)], order, tmp_path)
    reasons = {one.plant: one.reason for one in found.sources[0].left_out}
    assert reasons == {"cut": "the clip has no instruction", "other_hand": "the clip has no instruction"}


def test_the_same_instruction_is_not_planted_twice(
    tmp_path: Path, sources: tuple[ManifestEntry, ...], recipe: PlantingConfig
) -> None:
    order = few(recipe, plants=recipe.chosen(("other_hand",)), each=2)
    found = plant_clips(sources[:1], order, tmp_path)
    assert [one.reason for one in found.sources[0].left_out] == ["the same instruction was planted already"]


def test_the_picture_before_a_clip_goes_along(
    tmp_path: Path, sources: tuple[ManifestEntry, ...], recipe: PlantingConfig
) -> None:
    picture = tmp_path / "before.png"
    picture.write_bytes(b"a picture")
    order = few(recipe, plants=recipe.chosen(("smear",)))
    plant_clips([sources[0].with_(initial_frame=picture)], order, tmp_path / "out")
    for entry in read_manifest(tmp_path / "out" / "clips.jsonl"):
        assert entry.initial_frame is not None
        assert entry.initial_frame.read_bytes() == b"a picture"
