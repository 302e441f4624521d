"""What a run is, and which runs can be compared."""

import json
from pathlib import Path

import pytest
from checkpoints import annotation, clean_and_faulty, metadata, report, run, write_reports

from robogaze.comparison import ComparisonConfig, Run, compare_runs
from robogaze.comparison.prompt_pairing import by_prompt
from robogaze.comparison.runs import ManifestClip, check_comparable
from robogaze.core.report import Provenance, Usage
from robogaze.datasets.formats.read import read_annotations
from robogaze.errors import InputError


def read(path: Path) -> Run:
    return Run.of("run", read_annotations(path).annotations, path)


@pytest.mark.parametrize("name", ["run", "run.jsonl"])
def test_reports_say_what_they_cost_and_who_made_them(tmp_path: Path, name: str) -> None:
    models = {"vlm": {"model": "big", "identity": {"name": "big", "url": "http://a"}}}
    reports = [
        report("a-p0", usage=Usage(cost_usd=0.25), provenance=Provenance(models=models)),
        report("a-p1", usage=Usage(cost_usd=None), initial_frame="p1.png"),
    ]
    found = read(write_reports(tmp_path / name, reports)).metadata
    assert (found["a-p0"].cost_usd, found["a-p1"].cost_usd) == (0.25, None)
    assert (found["a-p0"].pipeline, found["a-p1"].initial_frame) == ("plain", "p1.png")
    assert "big" in found["a-p0"].models
    assert "http" not in found["a-p0"].models


def test_clips_that_carry_a_prompt_id_are_paired_by_it(tmp_path: Path) -> None:
    runs = [
        read(write_reports(tmp_path / name, [report(f"{name}-{at}", prompt_id=f"{at}", instruction=f"{name} lifts")
                                             for at in range(3)]))
        for name in "ab"
    ]  # fmt: skip
    found = by_prompt(runs)
    assert (found.key, found.shared(0, 1), found.passed_over) == ("prompt_id", ("0", "1", "2"), ())


def test_a_foreign_format_has_no_metadata(tmp_path: Path) -> None:
    table = tmp_path / "run.csv"
    table.write_text("clip_id,type,dimension,start_s,end_s,description\nc1,hole,shape,0,1,a hole\n")
    assert read(table).metadata == {}


def test_a_run_folder_counts_missing_and_unreadable_clips(tmp_path: Path) -> None:
    folder = write_reports(tmp_path / "run", [report("a-p0")])
    (folder / "run.json").write_text("{}")
    line = {"clip_id": "a-p0", "instruction": "p0", "path": "../cup.mp4", "split": None, "sha256": "0"}
    part = {"clip_id": "a-p1", "path": "../all.mp4", "sha256": "0", "start_s": 2.0, "end_s": 3.5}
    part |= {"checkpoint": "a", "prompt_id": "7"}
    (folder / "manifest.jsonl").write_text("".join(f"{json.dumps(entry)}\n" for entry in (line, part)))
    (folder / "unreadable.json").write_text('[{"uri": "x.mp4", "reason": "no video"}]')
    found = read(folder)
    assert found.listed == {
        "a-p0": ManifestClip("p0", {}, "../cup.mp4"),
        "a-p1": ManifestClip(None, {"checkpoint": "a", "prompt_id": "7"}, "../all.mp4#t=2.0,3.5"),
    }
    assert (found.unreadable, found.at) == (1, ("x.mp4",))


def test_a_damaged_list_is_named_with_its_line(tmp_path: Path) -> None:
    folder = write_reports(tmp_path / "run", [report("a-p0")])
    (folder / "run.json").write_text("{}")
    (folder / "manifest.jsonl").write_text('{"clip_id": "a-p0"}\n{"clip')
    with pytest.raises(InputError, match=r"manifest\.jsonl:2 is damaged"):
        read(folder)


def test_a_run_of_several_checkpoints_is_split() -> None:
    both = run("run", *(annotation(f"{name}-p", fields={"checkpoint": name}) for name in ("b", "a")))
    with pytest.raises(InputError, match=r"2 checkpoints \(a, b\); use --by checkpoint to compare them"):
        check_comparable([both], mixed=True)
    parts = list(both.split_by("checkpoint"))
    assert [(part.name, list(part.annotations)) for part in parts] == [("a", ["a-p"]), ("b", ["b-p"])]
    check_comparable(parts, mixed=False)


def test_clips_without_a_report_are_assigned_by_the_manifest_if_a_run_is_split() -> None:
    said = {"a-1": "a", "a-2": "a", "b-1": "b", "c-1": "c"}
    both = run(
        "run",
        *(annotation(name, fields={"checkpoint": said[name]}) for name in ("a-1", "b-1")),
        listed={name: ManifestClip(None, {"checkpoint": value}, f"{name}.mp4") for name, value in said.items()},
        unreadable=3,
        at=("a-2.mp4", "c-1.mp4", "nobody-knows.mp4"),
    )
    parts = list(both.split_by("checkpoint"))
    assert [(part.name, len(part.annotations), part.unreadable, list(part.listed)) for part in parts] == [
        ("a", 1, 1, ["a-1", "a-2"]),
        ("b", 1, 0, ["b-1"]),
        ("c", 0, 1, ["c-1"]),
    ]
    assert [part.unplaced for part in parts] == [1, 1, 1]  # of the whole run, and in no part's own count


def test_a_checkpoint_of_which_nothing_could_be_read_is_compared_as_such() -> None:
    both = run(
        "run",
        annotation("a-1", fields={"checkpoint": "a"}),
        listed={"b-1": ManifestClip("1", {"checkpoint": "b"}, "b-1.mp4")},
        unreadable=1,
        at=("b-1.mp4",),
    )
    result = compare_runs(list(both.split_by("checkpoint")), ComparisonConfig(resamples=20))
    assert result.leaderboard[1].clips == {"complete": 0, "partial": 0, "unscored": 0, "unreadable": 1, "missing": 0}
    assert result.leaderboard[1].clean_rate.value == 0.0


def test_a_clip_without_the_field_cannot_be_split() -> None:
    with pytest.raises(InputError, match="a-p has no checkpoint"):
        list(run("run", annotation("a-p")).split_by("checkpoint"))


def test_a_clip_has_one_annotation() -> None:
    with pytest.raises(InputError, match="two annotations"):
        run("run", annotation("a-p"), annotation("a-p", author="other"))


def test_two_runs_need_two_names() -> None:
    with pytest.raises(InputError, match="NAME=PATH"):
        check_comparable([clean_and_faulty("a", "+"), clean_and_faulty("a", "-")], mixed=True)


@pytest.mark.parametrize(
    ("what", "one", "other"),
    [
        ("taxonomies", {"taxonomy": "x"}, {"taxonomy": "y"}),
        ("versions of the domain's files", {"fingerprint": "x"}, {"fingerprint": "y"}),
        ("pipelines", {"pipeline": "full"}, {"pipeline": "plain"}),
        ("models", {"models": "big"}, {"models": "small"}),
    ],
)
def test_runs_that_differ_in_more_than_their_clips_are_refused(
    what: str, one: dict[str, str], other: dict[str, str]
) -> None:
    runs = []
    for name, said in (("a", one), ("b", other)):
        in_facts = {key: value for key, value in said.items() if key in ("pipeline", "models")}
        clip = annotation(f"{name}-p", **{key: value for key, value in said.items() if key not in in_facts})
        runs.append(run(name, clip, metadata={clip.clip_id: metadata(**in_facts)}))
    with pytest.raises(InputError, match=f"a .* and b .* made with different {what}; use --mixed"):
        check_comparable(runs, mixed=False)
    check_comparable(runs, mixed=True)
