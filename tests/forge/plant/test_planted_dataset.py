"""The data set of planted clips: complete, reproducible and resumable; its names reveal nothing."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from robogaze.core.report import Report
from robogaze.datasets.manifest import ManifestEntry, read_manifest
from robogaze.forge.plant.planted_dataset import PlantedSource, PlantingOptions, plant_clips
from robogaze.forge.plant.planting_config import PlantingConfig

from .sample_clips import FRAMES, scenery, write

FEW = ("smear", "hold", "erase", "other_hand")


def reports(folder: Path) -> dict[str, Report]:
    lines = (folder / "annotations.jsonl").read_text(encoding="utf-8").splitlines()
    return {report.clip.id: report for report in map(Report.model_validate_json, lines)}


def planted_fields(report: Report) -> Any:
    return report.provenance.media["planted"]


def few(config: PlantingConfig, **changes: Any) -> PlantingOptions:
    return replace(PlantingOptions(config, config.select(FEW), 1, 0), **changes)


def test_every_glitch_is_planted_in_each_clip_or_left_out_with_a_reason(folder: Path, config: PlantingConfig) -> None:
    made = Counter(planted_fields(report)["plant"] for report in reports(folder).values())
    assert made.pop("") == 2
    summary = json.loads((folder / "planted.json").read_text())
    for name, counts in summary["glitches"].items():
        assert counts["planted"] == made[name] > 0
        assert counts["planted"] + counts["left_out"] == 2
    assert all(skipped["reason"] for skipped in summary["left_out"])
    assert summary["glitches"].keys() == config.glitches.keys()


def test_manifest_annotations_and_files_are_about_the_same_clips(folder: Path) -> None:
    entries = read_manifest(folder / "clips.jsonl")
    known = reports(folder)
    assert [entry.clip_id for entry in entries] == list(known)
    assert {entry.path.name for entry in entries} == {path.name for path in (folder / "clips").iterdir()}
    for entry in entries:
        clip = known[str(entry.clip_id)].clip
        assert (entry.path.resolve(), entry.instruction) == ((folder / clip.uri).resolve(), clip.instruction)


def test_an_untouched_clip_has_no_event_and_a_planted_one_has_one(folder: Path) -> None:
    for report in reports(folder).values():
        assert len(report.events) == (planted_fields(report)["plant"] != "")
        assert report.status == "complete"
        assert planted_fields(reports(folder)[planted_fields(report)["untouched"]])["plant"] == ""


def test_severity_follows_strength_by_the_rule_of_the_domain(folder: Path, config: PlantingConfig) -> None:
    for report in reports(folder).values():
        for event in report.events:
            glitch = config.glitches[planted_fields(report)["plant"]]
            assert event.severity == glitch.level(planted_fields(report)["strength"])
            assert (event.type, event.dimension) == (glitch.type, config.domain.dimension_of[glitch.type])


def test_names_and_order_do_not_reveal_what_was_planted(folder: Path, config: PlantingConfig) -> None:
    names = "".join(reports(folder))
    assert not [name for name in config.glitches if name in names]
    assert list(reports(folder)) == sorted(reports(folder))


def test_only_a_reworded_clip_has_another_instruction(folder: Path, config: PlantingConfig) -> None:
    known = reports(folder)
    for report in known.values():
        other = report.clip.instruction != known[planted_fields(report)["untouched"]].clip.instruction
        glitch = config.glitches.get(planted_fields(report)["plant"])
        assert other == (glitch is not None and glitch.instruction_change is not None)


def test_equal_seeds_give_equal_bytes_and_other_seeds_do_not(
    tmp_path: Path, sources: tuple[ManifestEntry, ...], config: PlantingConfig
) -> None:
    def made(name: str, seed: int) -> dict[str, bytes]:
        plant_clips(sources[:1], few(config, seed=seed), tmp_path / name)
        paths = (path for path in (tmp_path / name).rglob("*") if path.is_file() and ".planted" not in path.parts)
        return {path.relative_to(tmp_path / name).as_posix(): path.read_bytes() for path in paths}

    assert made("a", 3) == made("b", 3)
    assert not made("c", 4).keys() & {name for name in made("a", 3) if name.startswith("clips/")}


def test_a_killed_run_is_resumed(tmp_path: Path, sources: tuple[ManifestEntry, ...], config: PlantingConfig) -> None:
    def killed(source: PlantedSource | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        plant_clips(sources, few(config), tmp_path / "a", killed)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "a" / "clips").iterdir()}
    plant_clips(sources, few(config), tmp_path / "a")
    plant_clips(sources, few(config), tmp_path / "b")
    assert before
    assert all(path.stat().st_mtime_ns == when for path, when in before.items())
    for name in ("annotations.jsonl", "clips.jsonl", "planted.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_without_motion_and_objects_only_pictures_are_changed(tmp_path: Path, config: PlantingConfig) -> None:
    still = write(tmp_path / "still.mp4", [scenery(1)[0][:90]] * FRAMES)
    found = plant_clips(
        [ManifestEntry(path=still, instruction="wait")],
        PlantingOptions(config, config.select(()), 1, 0),
        tmp_path / "o",
    )
    reasons = {skipped.glitch: skipped.reason for skipped in found.sources[0].left_out}
    for name in ("hold", "skip", "reverse"):
        assert reasons[name] in ("too little moves", "no frames follow")
    assert reasons["cover"] == "too little moves, so there is nothing to hide"
    assert reasons["cut"] == "nothing moves at the time when the clip would end"
    assert reasons["erase"] == reasons["paste"] == reasons["tint"] == "no compact object differs from its surroundings"
    assert reasons["other_hand"] == "the glitch's pattern matches no words of the instruction"
    assert not reasons.keys() & {"smear", "darken", "shake", "blocks", "tear"}


def test_a_clip_without_an_instruction_gets_no_glitch_that_needs_one(
    tmp_path: Path, sources: tuple[ManifestEntry, ...], config: PlantingConfig
) -> None:
    options = few(config, glitches=config.select(("cut", "other_hand", "smear")))
    found = plant_clips([sources[0].with_(instruction=None)], options, tmp_path)
    reasons = {skipped.glitch: skipped.reason for skipped in found.sources[0].left_out}
    assert reasons == {"cut": "the clip has no instruction", "other_hand": "the clip has no instruction"}


def test_the_same_instruction_is_not_planted_twice(
    tmp_path: Path, sources: tuple[ManifestEntry, ...], config: PlantingConfig
) -> None:
    options = few(config, glitches=config.select(("other_hand",)), each=2)
    found = plant_clips(sources[:1], options, tmp_path)
    assert [skipped.reason for skipped in found.sources[0].left_out] == ["the same instruction is already planted"]


def test_the_initial_frame_is_copied(
    tmp_path: Path, sources: tuple[ManifestEntry, ...], config: PlantingConfig
) -> None:
    picture = tmp_path / "before.png"
    picture.write_bytes(b"a picture")
    options = few(config, glitches=config.select(("smear",)))
    plant_clips([sources[0].with_(initial_frame=picture)], options, tmp_path / "out")
    for entry in read_manifest(tmp_path / "out" / "clips.jsonl"):
        assert entry.initial_frame is not None
        assert entry.initial_frame.read_bytes() == b"a picture"
