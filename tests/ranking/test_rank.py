"""`rank` as a library function: runs, prompts, labels and weights from files or values."""

import json
from pathlib import Path

import pytest
from checkpoints import unscored, write_reports

import robogaze
from robogaze.core.report import Unreadable
from robogaze.datasets.manifest import read_manifest
from robogaze.errors import DomainError, InputError, OptionError
from robogaze.ranking import Ranking, rank, read_weights
from robogaze.reports import load_reports
from robogaze.run.score import RunResult
from robogaze.store import ManifestLine

from .making import made

REPORTS = [
    made("p1-a", {"shape_hole": 5}),
    made("p1-b"),
    made("p2-a", {"colour_shift": 2}),
    made("p2-b", {"colour_shift": 4}),
]


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    """Two prompts with two candidates each."""
    return write_reports(tmp_path / "run.jsonl", REPORTS)


def order(result: Ranking) -> dict[str, list[str]]:
    return {prompt.prompt: [ranked.candidate.id for ranked in prompt.ranked] for prompt in result.prompts}


def test_candidates_of_a_prompt_are_ranked_best_first(reports: Path) -> None:
    result = robogaze.rank(reports)
    assert result.key == "prompt_id"
    assert order(result) == {"p1": ["p1-b", "p1-a"], "p2": ["p2-a", "p2-b"]}
    assert [candidate.id for candidate in result.kept] == ["p1-b", "p2-a"]
    assert order(rank({"x": load_reports(reports)})) == order(result)


def test_without_prompt_ids_candidates_share_instruction_and_first_frame_or_the_instruction(tmp_path: Path) -> None:
    with_frames = [
        made(name, prompt_id=None, initial_frame=frame)
        for name, frame in (("a", "1.png"), ("b", "1.png"), ("c", "2.png"))
    ]
    result = rank(write_reports(tmp_path / "frames.jsonl", with_frames))
    assert result.key == "instruction and initial frame"
    assert sorted(map(len, order(result).values())) == [1, 2]
    without = [made(name, prompt_id=None) for name in "ab"]
    assert rank(write_reports(tmp_path / "plain.jsonl", without)).key == "instruction"


def test_prompts_can_be_given_in_a_table_or_as_a_manifest(reports: Path, tmp_path: Path) -> None:
    table = tmp_path / "prompts.csv"
    table.write_text("clip_id,prompt_id\np1-a,x\np1-b,y\np2-a,x\np2-b,y\n")
    assert order(rank(reports, prompts=table)) == {"x": ["p2-a", "p1-a"], "y": ["p1-b", "p2-b"]}
    manifest = tmp_path / "prompts.jsonl"
    manifest.write_text("".join(json.dumps({"path": f"{name}.mp4", "prompt_id": "x"}) + "\n" for name in
                                ("p1-a", "p1-b", "p2-a", "p2-b", "p2-c")))  # fmt: skip
    (prompt,) = rank(reports, prompts=manifest).prompts
    assert prompt.ids == ("p1-b", "p2-a", "p2-b", "p1-a", "p2-c")
    assert [clip.reason for clip in prompt.unranked] == ["it has no report"]
    table.write_text("clip_id,prompt_id\np1-a,x\n")
    with pytest.raises(InputError, match="do not name the prompt of p1-b"):
        rank(reports, prompts=table)


def test_unscored_clips_are_named_count_in_their_prompt_and_are_never_kept(tmp_path: Path) -> None:
    lost = [unscored(f"p1-{name}", prompt_id="p1") for name in "xyz"]
    result = rank(write_reports(tmp_path / "run.jsonl", [*REPORTS[:2], *lost]), keep=1.0)
    (prompt,) = result.prompts
    assert prompt.wanted == 5
    assert [clip.id for clip in result.unranked] == ["p1-x", "p1-y", "p1-z"]
    assert [candidate.id for candidate in result.kept] == ["p1-b", "p1-a"]


def test_clips_of_a_run_folder_without_a_report_are_named(tmp_path: Path) -> None:
    folder = write_reports(tmp_path / "run", REPORTS[:2])
    (folder / "run.json").write_text("{}")
    lines = [
        ManifestLine(clip_id=name, path=f"../clips/{name}.mp4", sha256="0" * 64, prompt_id="p1")
        for name in ("p1-a", "p1-b", "p1-c", "p1-e")
    ]
    (folder / "manifest.jsonl").write_text("".join(f"{line.model_dump_json()}\n" for line in lines))
    unreadable = [{"uri": uri, "reason": "it is empty"} for uri in ("d.mp4", "../clips/p1-e.mp4", "more/p1-a.mp4")]
    (folder / "unreadable.json").write_text(json.dumps(unreadable))
    result = rank(folder)
    assert [(clip.id, clip.prompt, clip.reason) for clip in result.unranked] == [
        ("p1-c", "p1", "it has no report"),
        ("p1-e", "p1", "it cannot be read: it is empty"),
        ("d", None, "it cannot be read: it is empty"),
        ("more/p1-a.mp4", None, "it cannot be read: it is empty"),
    ]
    assert rank({"run": load_reports(folder)}).unranked == result.unranked
    scored = RunResult(load_reports(folder), (Unreadable(uri="d.mp4", reason="it is empty"),), None, None)
    assert [clip.id for clip in rank({"run": scored}).unranked] == ["d"]


def test_several_runs_give_candidates_and_equal_ids_get_the_name_of_their_run(tmp_path: Path) -> None:
    paths = [
        write_reports(tmp_path / f"{name}.jsonl", [made("p1", {"shape_hole": severity})])
        for name, severity in (("old", 5), ("new", 2))
    ]
    assert order(rank(paths)) == {"p1": ["new/p1", "old/p1"]}


def test_reports_that_cannot_be_ranked_together_are_refused(reports: Path, tmp_path: Path) -> None:
    other = write_reports(tmp_path / "other.jsonl", [made("p1-c", pipeline="other")])
    with pytest.raises(InputError, match="different pipelines"):
        rank([reports, other])
    assert len(rank([reports, other], mixed=True).prompts) == 2
    with pytest.raises(InputError, match="two reports on p1-a"):
        rank(write_reports(tmp_path / "twice.jsonl", [REPORTS[0], REPORTS[0]]))
    with pytest.raises(InputError, match="no prompt has two candidates"):
        rank(write_reports(tmp_path / "single.jsonl", [REPORTS[0], REPORTS[2]]))
    with pytest.raises(InputError, match=r"the prompt of b is not known.*`prompts`"):
        rank(write_reports(tmp_path / "none.jsonl", [made("b", prompt_id=None, instruction=None)]))
    with pytest.raises(InputError, match="no clip has a report with any judged dimension"):
        rank(write_reports(tmp_path / "unscored.jsonl", [unscored("a")]))


def test_kept_entries_are_a_manifest_that_can_be_scored(reports: Path, tmp_path: Path) -> None:
    from robogaze.datasets.manifest import manifest_text

    result = rank(reports, prompts={report.clip.id: "all" for report in REPORTS}, keep=2)
    path = tmp_path / "kept.jsonl"
    path.write_text(manifest_text(result.kept_entries(), tmp_path))
    entries = read_manifest(path)
    assert [(entry.clip_id, entry.prompt_id, entry.instruction) for entry in entries] == [
        ("p1-b", "all", "Lift it."), ("p2-a", "all", "Lift it.")
    ]  # fmt: skip
    assert entries[0].sha256 == REPORTS[1].clip.sha256


def test_labels_and_scores_measure_the_kept_part(reports: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("clip_id,usable,severe\np1-a,no,yes\np1-b,yes,no\np2-a,1,0\np2-b,false,true\np2-b,true,false\n")
    scores = tmp_path / "scores.jsonl"
    scores.write_text("".join(json.dumps({"clip_id": report.clip.id, "learned": at}) + "\n"
                              for at, report in enumerate(REPORTS)))  # fmt: skip
    screening = rank(reports, labels=labels, scores=scores).screening
    assert screening is not None
    found = {measure.name: measure.precision.value for measure in screening.measures}
    # Usable by a half of its labels is not usable.
    assert found["usability"] == found["oracle"] == 1.0
    assert (found["random"], found["learned"]) == (0.5, 0.5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("clip_id,usable\na,perhaps\n", r"labels.csv:2: usable: 'perhaps' is not allowed; allowed values: true, yes"),
        (
            "clip,usable\na,yes\n",
            r"labels.csv:2: clip_id: Field required; the columns of a row are: clip_id, usable, severe",
        ),
        ("", "is empty"),
    ],
    ids=["value", "column", "empty"],
)
def test_labels_that_do_not_fit_are_an_error_with_file_line_and_key(
    text: str, message: str, reports: Path, tmp_path: Path
) -> None:
    (tmp_path / "labels.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        rank(reports, labels=tmp_path / "labels.csv")


def test_scores_are_finite_numbers_once_a_clip(reports: Path, tmp_path: Path) -> None:
    labels, scores = tmp_path / "labels.csv", tmp_path / "scores.csv"
    labels.write_text("clip_id,usable\np1-a,no\n")
    scores.write_text("clip_id,learned\np1-a,nan\n")
    with pytest.raises(InputError, match=r"scores.csv:2: learned: a score must be a finite number"):
        rank(reports, labels=labels, scores=scores)
    scores.write_text("clip_id,learned\np1-a,1\np1-a,2\n")
    with pytest.raises(InputError, match=r"scores.csv:3: p1-a has two rows"):
        rank(reports, labels=labels, scores=scores)
    with pytest.raises(OptionError, match="need `labels`"):
        rank(reports, scores=scores)


def test_weights_are_a_name_or_a_file_and_are_checked(reports: Path, tmp_path: Path) -> None:
    default = read_weights("default")
    lenient = default.with_(severity=dict.fromkeys(default.severity, 0.01))
    assert rank(reports, weights=lenient).prompts[0].ranked[1].usability > 0.98
    with pytest.raises(InputError, match="neither a name of weights \\(default\\) nor a YAML file"):
        read_weights("none")
    path = tmp_path / "weights.yaml"
    text = (Path(robogaze.__file__).parents[1] / "judges" / "ranking" / "default.yaml").read_text()
    path.write_text(text)
    assert read_weights(path) == default
    path.write_text(text.replace("4: 0.90", "4: 0.10"))
    with pytest.raises(DomainError, match="a higher level must not have a lower weight"):
        read_weights(path)
    path.write_text(text + "luck: 1\n")
    with pytest.raises(DomainError, match="luck: unknown key"):
        read_weights(path)


def test_data_frame_has_a_row_for_every_ranked_candidate(reports: Path) -> None:
    pytest.importorskip("pandas")
    frame = rank(reports).to_dataframe()
    assert list(frame["clip_id"]) == ["p1-b", "p1-a", "p2-a", "p2-b"]
    assert list(frame["kept"]) == [True, False, True, False]
