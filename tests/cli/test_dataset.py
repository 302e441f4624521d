"""`robogaze dataset`: from a folder of clips to a manifest, its check, and what others read of a run."""

import json
import os
import shutil
import tarfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from lerobot_set import LENGTHS, v3
from making import coverage
from synthetic import write_clip

from cli.running import Shell
from robogaze.core.events import Event
from robogaze.core.report import Failure, Report
from robogaze.core.time import Span
from robogaze.datasets.formats.read import read_annotations
from robogaze.datasets.layouts.importer import import_clips
from robogaze.datasets.manifest import manifest_text, read_manifest
from robogaze.domains import load_domain
from robogaze.reporting.wording import listed
from robogaze.run.score import score
from robogaze.store import StoredRun


@pytest.fixture
def clips(tmp_path: Path, video: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with two clips in it, of which one says what it was made for."""
    monkeypatch.chdir(tmp_path)
    return filled(tmp_path / "clips", video)


def filled(folder: Path, video: Path) -> Path:
    folder.mkdir()
    shutil.copy(video, folder / "cup.mp4")
    (folder / "cup.txt").write_text("Put the cup into the pot\n", encoding="utf-8")
    write_clip(folder / "pot.mp4", frames=16, width=64, height=48, seed=1)
    (folder / "notes.md").write_text("x", encoding="utf-8")
    return folder


# Import.


def test_dry_run_prints_clips_and_ignored_files_and_writes_nothing(robogaze: Shell, clips: Path) -> None:
    before = sorted(Path().rglob("*"))
    ran = robogaze("dataset", "import", "clips", "--dry-run")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "plain: 2 clips",
        "  without an instruction: 1",
        "ignored: 1 file",
        "  1 neither a video nor the description of a clip: notes.md",
    ]
    assert sorted(Path().rglob("*")) == before


def test_import_writes_a_manifest_that_can_be_read(robogaze: Shell, clips: Path) -> None:
    ran = robogaze("dataset", "import", clips)
    assert (ran.code, ran.err) == (0, "manifest: manifest.jsonl\n")
    assert Path("manifest.jsonl").read_text() == (
        '{"path":"clips/cup.mp4","instruction":"Put the cup into the pot"}\n{"path":"clips/pot.mp4"}\n'
    )
    assert [entry.path.name for entry in read_manifest(Path("manifest.jsonl"))] == ["cup.mp4", "pot.mp4"]


def test_json_output_equals_the_written_manifest(robogaze: Shell, clips: Path) -> None:
    output = json.loads(robogaze("dataset", "import", clips, "--json", "--out", "lists/all.jsonl").out)
    assert output["schema_version"] == 1
    assert output["layout"] == "plain"
    assert output["ignored"] == [{"file": "notes.md", "reason": "neither a video nor the description of a clip"}]
    assert output["clips"] == [json.loads(line) for line in Path("lists/all.jsonl").read_text().splitlines()]
    assert output["clips"][1] == {"path": "../clips/pot.mp4"}


def test_control_characters_in_names_are_escaped(robogaze: Shell, clips: Path) -> None:
    (clips / "red\x1b[31m\nfile.md").touch()
    out = robogaze("dataset", "import", clips, "--dry-run").out
    assert "\x1b" not in out
    assert "red\\x1b[31m\\nfile.md" in out


def test_video_with_a_non_utf8_name_is_ignored(robogaze: Shell, clips: Path) -> None:
    os.rename(clips / "pot.mp4", os.fsencode(clips) + b"/p\xff.mp4")
    ran = robogaze("dataset", "import", clips)
    assert ran.code == 0
    assert "plain: 1 clip\n" in ran.out
    assert "  1 its name is not UTF-8; rename it: p\\udcff.mp4\n" in ran.out


def test_ignored_files_of_one_kind_are_one_line(robogaze: Shell, clips: Path) -> None:
    for number in range(5):
        (clips / f"{number}.npy").touch()
    out = robogaze("dataset", "import", clips, "--dry-run").out
    assert "  6 neither a video nor the description of a clip: 0.npy, 1.npy, 2.npy, and 3 more\n" in out


def test_checkpoints_and_splits_are_counted(robogaze: Shell, clips: Path) -> None:
    for name, checkpoint in (("cup", "wm/1000"), ("pot", "wm/2000")):
        shutil.move(clips / f"{name}.mp4", (clips / checkpoint).mkdir(parents=True) or clips / checkpoint / "0_A_b.mp4")
    out = robogaze("dataset", "import", clips, "--dry-run").out
    assert out.startswith("dreamgen: 2 clips\n  checkpoint: wm/1000 (1), wm/2000 (1)\n")


def test_imported_file_is_not_overwritten(robogaze: Shell, clips: Path) -> None:
    robogaze("dataset", "import", clips)
    before = Path("manifest.jsonl").read_bytes()
    ran = robogaze("dataset", "import", "manifest.jsonl")
    assert ran.code == 2
    assert "manifest.jsonl is the file to import and would be overwritten; give another file" in ran.err
    assert Path("manifest.jsonl").read_bytes() == before
    assert robogaze("dataset", "import", "manifest.jsonl", "--out", "again.jsonl").code == 0
    assert Path("again.jsonl").read_bytes() == before


def test_unknown_layout_and_empty_folder_are_errors(robogaze: Shell, clips: Path) -> None:
    ran = robogaze("dataset", "import", clips, "--format", "zip")
    assert (ran.code, "there is no layout 'zip'; the layouts are: auto, table" in ran.err) == (1, True)
    Path("empty").mkdir()
    ran = robogaze("dataset", "import", "empty")
    assert (ran.code, "empty has no video" in ran.err) == (1, True)


def test_clips_in_tar_files_are_unpacked_next_to_the_manifest(robogaze: Shell, clips: Path) -> None:
    with tarfile.open("a.tar", "w") as tar:
        for path in clips.iterdir():
            tar.add(path, path.name)
    shutil.rmtree(clips)
    dry = robogaze("dataset", "import", ".", "--dry-run", "--json")
    assert [path.name for path in Path().iterdir()] == ["a.tar"]
    for _ in range(2):
        ran = robogaze("dataset", "import", ".", "--json")
        assert json.loads(ran.out)["clips"] == json.loads(dry.out)["clips"]
        assert "manifest.clips/a/cup.mp4" in Path("manifest.jsonl").read_text()
    assert checked(robogaze) == (1, {"no instruction": ["pot.mp4"]})


def test_hash_option_records_sha256(robogaze: Shell, clips: Path) -> None:
    ran = robogaze("dataset", "import", clips, "--hash", "--json")
    hashes = {row["path"]: row["sha256"] for row in json.loads(ran.out)["clips"]}
    assert hashes == {
        f"clips/{name}": sha256((clips / name).read_bytes()).hexdigest() for name in ("cup.mp4", "pot.mp4")
    }
    assert [entry.sha256 for entry in read_manifest(Path("manifest.jsonl"))] == list(hashes.values())
    assert robogaze("dataset", "import", clips, "--hash", "--dry-run").code == 2


# Check.


def checked(robogaze: Shell, *options: str) -> tuple[int, dict[str, list[str]]]:
    """The exit code, and which files have which problem."""
    ran = robogaze("dataset", "check", "manifest.jsonl", "--json", *options)
    output = json.loads(ran.out)
    assert (output["schema_version"], output["manifest"]) == (1, "manifest.jsonl")
    kinds: dict[str, list[str]] = {}
    for problem in output["problems"]:
        kinds.setdefault(problem["kind"], []).append(Path(problem["file"]).name)
    assert output["counts"] == {kind: len(files) for kind, files in kinds.items()}
    return ran.code, kinds


def test_check_passes_without_problems(robogaze: Shell, clips: Path) -> None:
    (clips / "pot.txt").write_text("Stir", encoding="utf-8")
    robogaze("dataset", "import", clips)
    assert checked(robogaze) == (0, {})
    ran = robogaze("dataset", "check", "manifest.jsonl")
    assert (ran.code, ran.out) == (0, "2 clips: no problems\n")


def test_check_reports_all_problems_at_once(robogaze: Shell, clips: Path) -> None:
    whole = (clips / "cup.mp4").read_bytes()
    (clips / "cut.mp4").write_bytes(whole[: len(whole) // 2])
    shutil.copy(clips / "cup.mp4", clips / "copy.mp4")
    write_clip(clips / "fast.mp4", frames=16, width=64, height=48, fps=24, seed=2)
    for name in ("cut", "copy", "fast", "gone"):
        (clips / f"{name}.txt").write_text("Stir", encoding="utf-8")
    shutil.copy(clips / "cup.mp4", clips / "gone.mp4")
    robogaze("dataset", "import", clips)
    (clips / "gone.mp4").unlink()
    later_s = Path("manifest.jsonl").stat().st_mtime + 60
    os.utime(clips / "fast.mp4", (later_s, later_s))
    assert checked(robogaze) == (
        1,
        {
            "duplicate": ["cup.mp4"],
            "unreadable": ["cut.mp4", "gone.mp4"],
            "stale": ["fast.mp4"],
            "odd rate": ["fast.mp4"],
            "no instruction": ["pot.mp4"],
        },
    )


def test_same_pictures_in_another_file_are_a_duplicate(robogaze: Shell, clips: Path) -> None:
    """The bytes differ: an MP4 may carry any number of boxes that nobody reads."""
    free = (16).to_bytes(4, "big") + b"free" + bytes(8)
    (clips / "twin.mp4").write_bytes((clips / "cup.mp4").read_bytes() + free)
    robogaze("dataset", "import", clips)
    assert checked(robogaze)[1]["duplicate"] == ["twin.mp4"]


def test_replaced_file_is_stale_whatever_its_mtime_and_is_not_scored(robogaze: Shell, clips: Path) -> None:
    robogaze("dataset", "import", clips, "--hash")
    before = (clips / "cup.mp4").stat()
    write_clip(clips / "cup.mp4", frames=16, width=64, height=48, seed=9)
    os.utime(clips / "cup.mp4", ns=(before.st_atime_ns, before.st_mtime_ns))
    os.utime(clips / "pot.mp4")  # changed later, and yet the same
    assert checked(robogaze) == (1, {"stale": ["cup.mp4"], "no instruction": ["pot.mp4"]})
    ran = robogaze("score", "manifest.jsonl", "--json")
    assert len(json.loads(ran.out)["reports"]) == 1
    (unreadable,) = json.loads(ran.out)["unreadable"]
    assert unreadable["reason"].startswith("clips/cup.mp4 was replaced after the manifest was written: its sha256 is ")


def test_invalid_initial_frame_makes_the_clip_unreadable(robogaze: Shell, clips: Path) -> None:
    (clips / "first.png").write_bytes(b"no picture")
    lines = [{"path": "clips/cup.mp4", "instruction": "Stir", "initial_frame": f"clips/{name}.png"}
             for name in ("first", "gone")]  # fmt: skip
    lines[1]["path"] = "clips/pot.mp4"
    Path("manifest.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    ran = robogaze("dataset", "check", "manifest.jsonl")
    assert ran.code == 1
    assert "unreadable: the initial frame clips/first.png is not a PNG, JPEG, WebP or BMP picture" in ran.out
    assert "unreadable: the initial frame clips/gone.png cannot be read: No such file or directory" in ran.out
    assert ran.out.endswith("2 clips: unreadable 2\n")


# Export.


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory, video: Path) -> Path:
    """A folder with clips, of which one cannot be read, and a run over them."""
    folder = tmp_path_factory.mktemp("scored")
    clips = filled(folder / "clips", video)
    (clips / "cut.mp4").write_bytes(video.read_bytes()[:999])
    manifest = folder / "manifest.jsonl"
    manifest.write_text(manifest_text(import_clips(clips).entries, folder))
    score(manifest, out=folder / "run")
    return folder


@pytest.fixture
def run(scored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the run in the working folder."""
    shutil.copytree(scored, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return Path("run")


def test_exported_run_can_be_read_back(robogaze: Shell, run: Path) -> None:
    ran = robogaze("dataset", "export", run, "--to", "csv", "--out", "exports")
    assert (ran.code, ran.out) == (0, "exports/events.csv\n")
    assert ran.err == "csv: 2 clips\nleft out: 1 clip that could not be read\n"
    there = {
        annotation.clip_id: annotation.status for annotation in read_annotations(Path("exports/events.csv")).annotations
    }
    assert there == {annotation.clip_id: annotation.status for annotation in read_annotations(run).annotations}


def rewrite(run: Path, *changes: dict[str, Any]) -> list[Report]:
    """Change the reports of a run, one after the other, as another pipeline would have written them."""
    paths = sorted(run.glob("reports/*.json"))
    found = [
        Report.model_validate_json(path.read_bytes()).with_(**change)
        for path, change in zip(paths, changes, strict=True)
    ]
    for path, report in zip(paths, found, strict=True):
        path.write_text(report.model_dump_json())
    return found


def everything(**states: Sequence[str]) -> dict[str, Any]:
    """The fields of a report in which all dimensions of `robot` were examined but for some, and nothing was found."""
    others = {name for names in states.values() for name in names}
    examined = [name for name in load_domain("robot").dimensions if name not in others]
    return {"coverage": coverage(*examined, **states), "events": (), "hypotheses": (), "failures": ()}


def test_clean_clips_are_a_manifest_that_can_be_checked(robogaze: Shell, run: Path) -> None:
    clean, other = rewrite(run, everything(ruled_out=["physical_plausibility"]), everything(partial=["visual_quality"]))
    ran = robogaze("dataset", "export", run, "--keep", "clean", "--out", "kept")
    assert (ran.code, ran.out) == (0, "kept/clean.jsonl\n")
    entries = read_manifest(Path("kept/clean.jsonl"))
    assert [entry.clip_id for entry in entries] == [clean.clip.id]
    assert all(entry.path.is_file() for entry in entries)
    assert (clean.verdict, other.verdict) == ("clean", "undecided")
    names = ", ".join(clean.coverage)
    assert f"clean in 6 dimensions ({names}): 1 of 2 clips; other clips: 0 faulty, 1 undecided" in ran.err


def test_without_a_model_no_clip_is_clean_in_every_dimension(robogaze: Shell, run: Path) -> None:
    ran = robogaze("dataset", "export", run, "--keep", "clean", "--out", "kept")
    assert ran.code == 1
    assert ran.err.startswith("error: no clip of run is clean in 6 dimensions (")
    assert ran.err.endswith(
        "2 undecided; use --dimension to check fewer dimensions (examined in at least one clip: visual_quality)\n"
    )
    assert not Path("kept").exists()


def test_dimension_option_keeps_clips_clean_in_those_dimensions(robogaze: Shell, run: Path) -> None:
    asked = ("--keep", "clean", "--dimension", "visual_quality", "--out", "kept")
    kept = {report.clip.id for report in StoredRun(run).reports if report.clean_in(["visual_quality"])}
    assert kept
    ran = robogaze("dataset", "export", run, *asked)
    assert ran.code == 0
    assert {entry.clip_id for entry in read_manifest(Path("kept/clean.jsonl"))} == kept
    assert f"clean in 1 dimension (visual_quality): {len(kept)} of 2 clips;" in ran.err
    more = robogaze("dataset", "export", run, *asked, "--dimension", "physical_plausibility")
    assert more.code == 1
    assert "no clip of run is clean in 2 dimensions (visual_quality, physical_plausibility): " in more.err
    assert "use --dimension to check fewer" not in more.err


def test_event_in_another_dimension_does_not_exclude_a_clip(robogaze: Shell, run: Path) -> None:
    whole = everything()
    event = Event(
        id="E1", dimension="visual_quality", type="blur", spans=(Span(0.0, 0.5),), severity=3, confidence=None,
        description="It is blurred.", evidence=(),
    )  # fmt: skip
    rewrite(run, {**whole, "events": (event,)}, {**whole, "events": (event,)})
    ran = robogaze("dataset", "export", run, "--keep", "clean", "--dimension", "physical_plausibility", "--out", "kept")
    assert ran.code == 0
    assert "clean in 1 dimension (physical_plausibility): 2 of 2 clips; no other clips" in ran.err
    ran = robogaze("dataset", "export", run, "--keep", "clean", "--out", "other")
    assert ran.code == 1
    dimensions = listed(list(load_domain("robot").dimensions))
    way_out = f"use --dimension to check fewer dimensions (examined in at least one clip: {dimensions})"
    assert ran.err.endswith(f"): 2 faulty, 0 undecided; {way_out}\n")


def test_unknown_dimension_is_an_error(robogaze: Shell, run: Path) -> None:
    ran = robogaze("dataset", "export", run, "--keep", "clean", "--dimension", "colour", "--out", "kept")
    assert ran.code == 1
    assert (
        ran.err
        == f"error: run has no dimension colour; its dimensions are: {', '.join(load_domain('robot').dimensions)}\n"
    )
    assert not Path("kept").exists()
    ran = robogaze("dataset", "export", run, "--to", "csv", "--dimension", "visual_quality", "--out", "kept")
    assert (ran.code, "--dimension needs --keep clean" in ran.err) == (2, True)


def test_undecided_clip_stays_undecided_in_csv(robogaze: Shell, run: Path) -> None:
    rewrite(run, everything(not_examined=["physical_plausibility"]), everything(partial=["visual_quality"]))
    assert robogaze("dataset", "export", run, "--to", "csv", "--out", "exports").code == 0
    assert [annotation.verdict for annotation in read_annotations(Path("exports/events.csv")).annotations] == [
        "undecided",
        "undecided",
    ]
    ran = robogaze("dataset", "export", run, "--to", "activitynet", "--out", "exports")
    assert "left out: 2 clips with the state undecided, which the format cannot express" in ran.err


def test_clean_episodes_of_a_lerobot_data_set_are_listed(
    robogaze: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    v3(Path("set"))
    robogaze("dataset", "import", "set", "--hash")
    assert checked(robogaze) == (0, {})
    robogaze("score", "manifest.jsonl", "--out", "run")
    run = StoredRun(Path("run"))
    assert [report.clip.frame_count for report in run.reports] == list(LENGTHS.values())
    for report, faulty in zip(run.reports, (False, True, True, False, True), strict=True):
        if not faulty:  # pictures of numbers jump; what is exported is what a report says, whatever it rests on
            run.report_path(report.clip.id).write_text(report.with_(**everything()).model_dump_json())
    ran = robogaze("dataset", "export", "run", "--keep", "clean", "--out", "kept")
    reports = StoredRun(Path("run")).reports
    clean = [number for number, report in zip(LENGTHS, reports, strict=True) if report.clean]
    assert {0, 3} <= set(clean)
    assert 1 not in clean
    assert json.loads(Path("kept/episodes.json").read_text()) == clean
    assert f"clean: {len(clean)} of 5 episodes of {tmp_path}/set, in 1 camera" in ran.err
    assert ran.out.splitlines() == ["kept/clean.jsonl", "kept/episodes.json"]
    parts = {entry.clip_id: (entry.start_s, entry.end_s) for entry in read_manifest(Path("kept/clean.jsonl"))}
    assert parts == {report.clip.id: (report.clip.start_s, report.clip.end_s) for report in reports if report.clean}


def test_run_without_a_clean_clip_is_an_error_with_counts(robogaze: Shell, run: Path) -> None:
    failure = Failure(stage="observe", kind="server_fault", message="no answer")
    unscored = everything(not_examined=list(load_domain("robot").dimensions)) | {"failures": (failure,)}
    rewrite(run, unscored, unscored)
    ran = robogaze("dataset", "export", run, "--keep", "clean", "--out", "kept")
    assert ran.code == 1
    assert "no clip of run is clean in 6 dimensions (" in ran.err
    assert (
        "): 0 faulty, 2 undecided; use --dimension to check fewer dimensions (examined in at least one clip: none)"
        in ran.err
    )
    assert not Path("kept").exists()


def test_export_errors_are_explained(robogaze: Shell, run: Path) -> None:
    assert robogaze("dataset", "export", run, "--out", "x").code == 2
    assert robogaze("dataset", "export", run, "--to", "csv", "--keep", "clean", "--out", "x").code == 2
    ran = robogaze("dataset", "export", run, "--to", "coco", "--out", "x")
    assert (ran.code, "the formats are: jsonl, csv" in ran.err) == (1, True)
    ran = robogaze("dataset", "export", "clips", "--to", "csv", "--out", "x")
    assert (ran.code, "clips has no report" in ran.err) == (1, True)
    assert not Path("x").exists()


def test_help_names_every_export_format(robogaze: Shell) -> None:
    from robogaze.datasets.formats.export import export_writers

    text = " ".join(robogaze("dataset", "export", "--help").out.split())
    assert all(name in text for name in export_writers())
