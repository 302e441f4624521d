"""A run folder: whole files or none, one process at a time, and every clip in a folder of its own."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from making import coverage, make_clip

from robogaze.core.clip import Layout
from robogaze.core.report import DomainRef, Report, Unreadable
from robogaze.errors import InputError, RunError
from robogaze.store import ManifestLine, RunFolder, StoredRun, file_name, write_whole

CONFIGURATION = {
    "schema_version": 1,
    "views": ("left", "right"),
    "pipeline": "full",
    "models": {"vlm": {"temperature": 0.0}},
    "decoder": None,
}


def make_report(clip_id: str = "cup", **changes: Any) -> Report:
    known: dict[str, Any] = {
        "clip": make_clip(id=clip_id),
        "domain": DomainRef(id="cups", version="1", taxonomy="e" * 64, fingerprint="f" * 64),
        "pipeline": "full",
        "author": "robogaze",
        "coverage": coverage("colour"),
        "events": (),
    }
    return Report(**{**known, **changes})


def make_line(clip_id: str = "cup", **changes: Any) -> ManifestLine:
    known = {"clip_id": clip_id, "path": f"clips/{clip_id}.mp4", "sha256": "a" * 64, "instruction": None}
    return ManifestLine(**{**known, **changes})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "run"


def begin(root: Path, configuration: Any = CONFIGURATION) -> None:
    """A run with one finished clip."""
    with RunFolder(root, configuration) as run:
        run.add(make_line())
        run.write(make_report(), {})


def everything(root: Path) -> set[str]:
    """The files below a folder."""
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


# What stands where.


def test_a_run_is_written_where_the_documentation_says(root: Path) -> None:
    with RunFolder(root, CONFIGURATION) as run:
        run.add(make_line())
        run.write(make_report(), {3: b"jpeg 3", 12: b"jpeg 12"})
        run.write_unreadable([Unreadable(uri="bad.mp4", reason="bad.mp4 is empty (0 bytes)")])
    assert everything(root) == {
        "run.json",
        "run.lock",
        "manifest.jsonl",
        "unreadable.json",
        "reports/cup.json",
        "frames/cup/000003.jpg",
        "frames/cup/000012.jpg",
    }
    assert json.loads((root / "run.json").read_text(encoding="utf-8"))["models"] == CONFIGURATION["models"]


def test_what_was_written_can_be_read_back(root: Path) -> None:
    bad = Unreadable(uri="bad.mp4", reason="bad.mp4 is empty (0 bytes)")
    with RunFolder(root, CONFIGURATION) as run:
        for name in ("zebra", "ant"):
            run.add(make_line(name))
        for name in ("ant", "zebra"):  # they need not come in the manifest's order
            run.write(make_report(name), {7: name.encode()})
        run.write_unreadable([bad])
        assert run.stored.report("ant") == make_report("ant")
        assert run.stored.report("bee") is None
    finished = StoredRun(root)
    assert finished.reports == (make_report("zebra"), make_report("ant"))
    assert finished.unreadable == (bad,)
    assert finished.frames("ant") == {7: b"ant"}
    assert finished.frames("bee") == {}


def test_a_folder_without_a_run_holds_nothing(tmp_path: Path) -> None:
    finished = StoredRun(tmp_path)
    assert (finished.reports, finished.unreadable) == ((), ())


def test_a_report_takes_the_place_of_an_earlier_one_with_its_frames(root: Path) -> None:
    unscored = make_report(coverage=coverage(not_examined=["colour"]))
    with RunFolder(root, CONFIGURATION) as run:
        run.add(make_line())
        run.write(unscored, {1: b"jpeg 1", 2: b"jpeg 2"})
        run.write(make_report(), {2: b"jpeg 2", 7: b"jpeg 7"})
        assert run.stored.report("cup") == make_report()
    assert StoredRun(root).frames("cup") == {2: b"jpeg 2", 7: b"jpeg 7"}


def test_pictures_that_are_evidence_are_kept_with_the_frames(root: Path) -> None:
    with RunFolder(root, CONFIGURATION) as run:
        run.add(make_line())
        run.write(make_report(), {2: b"jpeg 2"}, {"K_H1_0a": b"old"})
        run.write(make_report(), {2: b"jpeg 2"}, {"K_H1_1b": b"sheet 1", "12 %/": b"sheet 2"})
        assert run.stored.pictures("cup") == {"K_H1_1b": b"sheet 1", "12 %/": b"sheet 2"}
        assert run.stored.picture_path("cup", "K_H1_1b").read_bytes() == b"sheet 1"
        assert not run.stored.picture_path("cup", "K_H1_0a").exists()
    assert StoredRun(root).frames("cup") == {2: b"jpeg 2"}


def test_what_could_not_be_read_in_an_earlier_start_stays_in_the_list_until_it_can_be(root: Path) -> None:
    bad, worse = (Unreadable(uri=f"../{name}.mp4", reason=f"{name}.mp4 is empty") for name in ("bad", "worse"))
    again = Unreadable(uri="../bad.mp4", reason="bad.mp4 is cut short")
    for now, read, left in (
        ([bad, worse], [], (bad, worse)),
        ([], ["../other.mp4"], (bad, worse)),
        ([again], [], (worse, again)),
        ([], ["../bad.mp4"], (worse,)),
    ):
        with RunFolder(root, CONFIGURATION) as run:
            run.write_unreadable(now, read)
        assert StoredRun(root).unreadable == left


def test_a_file_outside_is_named_as_seen_from_the_folder(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "clips").mkdir()
    monkeypatch.chdir(tmp_path / "clips")
    with RunFolder(Path("../run"), CONFIGURATION) as run:
        assert run.address(Path("cup.mp4")) == run.address(tmp_path / "clips" / "cup.mp4") == "../clips/cup.mp4"
        run.add(make_line(path=run.address(Path("cup.mp4"))))
    monkeypatch.chdir(tmp_path)
    (video,) = StoredRun(Path("run")).videos.values()
    assert os.path.normpath(video) == str(tmp_path / "clips" / "cup.mp4")


def test_a_folder_behind_a_link_finds_its_videos(root: Path, tmp_path: Path) -> None:
    (tmp_path / "far" / "away").mkdir(parents=True)
    (tmp_path / "cup.mp4").touch()
    (tmp_path / "link").symlink_to(tmp_path / "far" / "away")
    with RunFolder(tmp_path / "link", CONFIGURATION) as run:
        run.add(make_line(path=run.address(tmp_path / "cup.mp4")))
    assert StoredRun(tmp_path / "link").videos["cup"].is_file()


def test_files_can_be_read_by_whom_the_user_lets(root: Path) -> None:
    before = os.umask(0o027)
    try:
        with RunFolder(root, CONFIGURATION) as run:
            run.write(make_report(), {})
    finally:
        os.umask(before)
    assert (root / "reports" / "cup.json").stat().st_mode & 0o777 == 0o640


# A run is taken up where it was.


def test_the_same_run_is_taken_up_again(root: Path) -> None:
    with RunFolder(root, CONFIGURATION) as run:
        run.add(make_line())
        run.write(make_report(), {})
    before = {name: (root / name).read_bytes() for name in everything(root)}
    with RunFolder(root, CONFIGURATION) as run:
        run.add(make_line())
        assert run.stored.report("cup") == make_report()
    assert {name: (root / name).read_bytes() for name in everything(root)} == before


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pipeline": "vanilla"}, "pipeline was full and is now vanilla"),
        ({"models": {"vlm": {"temperature": 0.7}}}, r"models\.vlm\.temperature was 0\.0 and is now 0\.7"),
        ({"models": None}, r"models was set \(vlm\) and is now none"),
        ({"budget": 5}, "budget was none and is now 5"),
        (
            {"models": {"models": {"eyes": {"kind": "openai", "name": "big", "url": None}}, "roles": {"vlm": "eyes"}}},
            r"models\.models was none and is now openai:big",
        ),
        ({"pipeline": None}, "pipeline was full and is now none"),
    ],
)
def test_another_configuration_is_refused_and_the_key_is_named(
    root: Path, changes: dict[str, Any], message: str
) -> None:
    begin(root)
    with pytest.raises(RunError, match=f"holds a run with other settings: {message}; choose another `out`"):
        RunFolder(root, {**CONFIGURATION, **changes})
    assert everything(root) == {"run.json", "run.lock", "manifest.jsonl", "reports/cup.json"}
    RunFolder(root, CONFIGURATION).close()  # the refused one has let go of the folder


def test_another_model_is_named_and_not_what_differs_in_it_first(root: Path) -> None:
    def models(kind: str, name: str) -> dict[str, Any]:
        return {"models": {"models": {"eyes": {"kind": kind, "name": name, "price": None}}, "roles": {"vlm": "eyes"}}}

    begin(root, models("scripted", "s.yaml"))
    with pytest.raises(RunError, match=r"models\.models\.eyes was scripted:s\.yaml and is now openai:big; choose"):
        RunFolder(root, models("openai", "big"))
    with pytest.raises(RunError, match=r"models was scripted:s\.yaml and is now none; choose"):
        RunFolder(root, {"models": None})


def test_a_folder_in_which_nothing_was_done_is_free_for_another_run(root: Path) -> None:
    with RunFolder(root, {**CONFIGURATION, "models": "a server that was not there"}) as run:
        run.add()  # no clip could be read
        run.write_unreadable([Unreadable(uri="bad.mp4", reason="bad.mp4 is empty")])
    begin(root)
    assert json.loads((root / "run.json").read_text(encoding="utf-8"))["models"] == CONFIGURATION["models"]


def test_a_clip_that_was_replaced_is_refused(root: Path) -> None:
    begin(root)
    with (
        RunFolder(root, CONFIGURATION) as run,
        pytest.raises(RunError, match=r"clips/cup\.mp4 was replaced after .*run stored a report for cup"),
    ):
        run.add(make_line(sha256="b" * 64))


SHAPING = {
    "start_s": 2.0,
    "end_s": 4.0,
    "instruction": "Drop the cup",
    "prompt_id": "7",
    "layout": Layout.parse("1x2:left,right"),
    "initial_frame_sha256": "c" * 64,
    "checkpoint": "step_2",
    "split": "test",
    "task_family": "stacking",
    "embodiment": "two arms",
}


def test_every_field_of_a_manifest_line_but_where_it_lies_shapes_the_report() -> None:
    assert set(ManifestLine.model_fields) == {"clip_id", "path", "sha256", "size_bytes", "modified_ns", *SHAPING}


@pytest.mark.parametrize("field", SHAPING)
def test_a_clip_of_which_something_else_is_said_now_is_refused(root: Path, field: str) -> None:
    begin(root)
    named = field.removesuffix("_sha256")
    message = (
        rf"the {named} of .*clips/cup\.mp4 changed after .*run stored a report for cup; choose another `out`, or give"
    )
    with RunFolder(root, CONFIGURATION) as run:
        with pytest.raises(RunError, match=message):
            run.add(make_line(**{field: SHAPING[field]}))
        run.add(make_line(path="moved/cup.mp4"))  # where it lies does not matter
    assert StoredRun(root).videos["cup"] == root / "moved/cup.mp4"


@pytest.mark.parametrize("changes", [{"sha256": "b" * 64}, {"layout": Layout()}, {"instruction": "Drop the cup"}])
def test_a_clip_without_a_report_may_be_replaced(root: Path, changes: dict[str, Any]) -> None:
    with RunFolder(root, CONFIGURATION) as run:
        run.add(make_line(), make_line("pot"))
    with RunFolder(root, CONFIGURATION) as run:
        run.add(make_line(**changes))
    lines = (root / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
    assert [ManifestLine.model_validate_json(line) for line in lines] == [make_line(**changes), make_line("pot")]


def test_a_content_without_a_report_goes_when_another_stands_in_its_place(root: Path) -> None:
    with RunFolder(root, CONFIGURATION) as run:
        run.add(make_line("cup-damaged", path="cup.mp4"), make_line("pot-damaged", path="pot.mp4"))
        run.write(make_report("pot-damaged"), {})
    with RunFolder(root, CONFIGURATION) as run:
        run.add(*(make_line(f"{name}-mended", path=f"{name}.mp4", sha256="b" * 64) for name in ("cup", "pot")))
    assert list(StoredRun(root).videos) == ["pot-damaged", "cup-mended", "pot-mended"]


@pytest.mark.parametrize(
    "instruction", ["two\nlines", "a\u2028b\u2029c\x85d\x0be", 'say "hi" \\', "杯子 \U0001f916", "\r"]
)
def test_any_instruction_is_taken_up_again(root: Path, instruction: str) -> None:
    with RunFolder(root, CONFIGURATION) as run:
        run.add(make_line("first", instruction=instruction))
        run.add(make_line("second"))
        run.write(make_report("first"), {})
        run.write(make_report("second"), {})
    with RunFolder(root, CONFIGURATION) as run:
        run.add(make_line("first", instruction=instruction))
    assert [report.clip.id for report in StoredRun(root).reports] == ["first", "second"]


# One process at a time.

_HOLD = """
import sys
from pathlib import Path
from robogaze.store import RunFolder
with RunFolder(Path(sys.argv[1]), {"pipeline": "full"}):
    print("held", flush=True)
    sys.stdin.read()
"""


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    """A process of its own, once it has said its first line."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline()
    return process


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_a_second_process_is_refused_by_name_until_the_first_is_gone(root: Path) -> None:
    first = start(_HOLD, root)
    try:
        with pytest.raises(RunError, match=f"run is in use by process {first.pid}; wait for it, or choose another"):
            RunFolder(root, {"pipeline": "full"})
        assert StoredRun(root).reports == ()  # reading needs no lock
    finally:
        kill(first)
    RunFolder(root, {"pipeline": "full"}).close()  # a killed process holds nothing


def test_a_place_that_cannot_hold_a_run_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match=r"file/run cannot be written \(Not a directory\); choose another `out`"):
        RunFolder(tmp_path / "file" / "run", CONFIGURATION)


# Killed at any moment.

_DIES_BEFORE_THE_FILE_IS_IN_PLACE = """
import os, signal, sys
from pathlib import Path
from robogaze.core.report import Report
from robogaze.store import ManifestLine, RunFolder
run = RunFolder(Path(sys.argv[1]), {"pipeline": "full"})
run.add(ManifestLine(clip_id="cup", path="cup.mp4", sha256="a" * 64))
report = Report.model_validate_json(Path(sys.argv[2]).read_bytes())
replace = Path.replace
def die(part, target):
    if str(target).endswith(sys.argv[3]):
        print("dying", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    return replace(part, target)
Path.replace = die
run.write(report, {1: b"jpeg"})
"""


@pytest.mark.parametrize("moment", ["000001.jpg", "cup.json"])
def test_a_run_killed_while_it_writes_is_taken_up_where_it_was(root: Path, tmp_path: Path, moment: str) -> None:
    (tmp_path / "report.json").write_text(make_report().model_dump_json(), encoding="utf-8")
    process = start(_DIES_BEFORE_THE_FILE_IS_IN_PLACE, root, tmp_path / "report.json", moment)
    assert process.wait() == -signal.SIGKILL
    process.communicate()
    with RunFolder(root, {"pipeline": "full"}) as run:
        assert run.stored.report("cup") is None
        run.write(make_report(), {1: b"jpeg"})
        assert run.stored.report("cup") == make_report()
    assert everything(root) == {
        "run.json", "run.lock", "manifest.jsonl", "reports/cup.json", "frames/cup/000001.jpg"
    }  # fmt: skip


_DISK_OF_64_KIB = """
import resource, sys
from pathlib import Path
from robogaze.errors import RunError
from robogaze.store import write_whole
print("ready", flush=True)
resource.setrlimit(resource.RLIMIT_FSIZE, (2**16, 2**16))
path = Path(sys.argv[1])
write_whole(path, b"old")
try:
    write_whole(path, b"x" * 2**17)
except RunError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_a_disk_that_refuses_is_told_in_a_sentence_and_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with start(_DISK_OF_64_KIB, path) as process:
        assert process.stdout is not None
        printed = process.stdout.read()  # `communicate` would leave out what came together with the first line
    way_out = "free space, or choose another folder, and run the command again"
    assert printed == f"{path} cannot be written (File too large); {way_out}\n"
    assert path.read_bytes() == b"old"
    assert everything(tmp_path) == {"file"}


# Every clip has a folder of its own.

AWKWARD = [
    "plain",
    "with space",
    " with space ",
    "trailing.",
    "trailing",
    "a/b",
    "a%2Fb",
    "a\\b",
    "../../etc/passwd",
    "..",
    ".",
    "%2E",
    ".hidden",
    "con:aux*?<>|",
    "tasse à café",
    "tasse a\u0300 cafe\u0301",  # the same word in other signs
    "杯子",
    "x" * 200,
    "é" * 200,
    "é" * 199 + "e",
    "\U0001f916" * 200,
    "a\u2028b",
    "run.json",
    "Run.JSON",
    "manifest.jsonl",
    "calls.sqlite",
    "calls.sqlite-wal",
    "index.html",
    "unreadable.json",
    "run.lock",
    "frames",
    "+",
]


def test_no_two_ids_share_a_folder(root: Path) -> None:
    with RunFolder(root, CONFIGURATION) as run:
        for name in AWKWARD:
            run.add(make_line(name))
            run.write(make_report(name), {1: name.encode()})
        for name in AWKWARD:
            assert run.stored.report(name) == make_report(name)
    finished = StoredRun(root)
    assert [report.clip.id for report in finished.reports] == AWKWARD
    assert [finished.frames(name) for name in AWKWARD] == [{1: name.encode()} for name in AWKWARD]
    assert len([*(root / "reports").iterdir()]) == len([*(root / "frames").iterdir()]) == len(AWKWARD)
    assert {path.name for path in root.iterdir() if path.is_file()} == {"run.json", "run.lock", "manifest.jsonl"}


def test_an_ordinary_id_is_the_name_of_its_folder() -> None:
    for name in ("cup-0a1b2c3d4e5f", "GR1_0042_left.v2", "plate 3"):
        assert file_name(name) == name


signs = st.characters(codec="utf-8", min_codepoint=32)
ids = st.text(signs, min_size=1, max_size=200)


@given(ids, ids)
@example("é" * 199 + "a", "é" * 199 + "b")
@example("%2Ea", ".a")
@example("a.", "a%2E")
@example("run.json", "%72un.json")
def test_a_folders_name_is_safe_and_no_other_ids(one: str, other: str) -> None:
    name = file_name(one)
    assert len(name.encode()) <= 200
    assert name.isascii()
    assert not set(name) & set('/\\:*?"<>|\0')
    assert name[0] != "."
    assert name[-1] not in ". "
    assert (name == file_name(other)) == (one == other)


def test_ids_that_differ_only_in_case_are_dropped_together(root: Path) -> None:
    with RunFolder(root, CONFIGURATION) as run:
        if (root / "RUN.HOLDER").exists():
            pytest.skip("the disk ignores case")
        run.add(make_line("Cup"), make_line("cup"), make_line("pot"))
        run.drop(["Cup", "cup"])
        assert [line.clip_id for line in run.lines] == ["pot"]


def test_ids_that_differ_only_in_case_are_refused_where_the_disk_does_not_tell_them_apart(root: Path) -> None:
    with RunFolder(root, CONFIGURATION) as run:
        run.add(make_line("plate"))
    (root / "RUN.HOLDER").touch()  # as such a disk would answer
    with RunFolder(root, CONFIGURATION) as run:
        run.add(make_line("Cup"))
        run.add(make_line("Cup"))
        with pytest.raises(RunError, match="the clip ids pan and Pan"):
            run.add(make_line("pan"), make_line("Pan"))
        run.add(make_line("pot"))
        with pytest.raises(RunError, match=r"the clip ids Cup and cup differ only in case.*another clip_id"):
            run.add(make_line("cup"))
    with RunFolder(root, CONFIGURATION) as run, pytest.raises(RunError, match="the clip ids pot and POT"):
        run.add(make_line("POT"))


# Damage from outside.


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text[: len(text) // 2], "Invalid JSON: EOF"),
        (lambda text: "", "Invalid JSON"),
        (lambda text: "[]", "Input should be an object"),
        (lambda text: text.replace('"pipeline"', '"pipelein"'), "pipelein: unknown key"),
        (lambda text: text.replace('"status": "complete"', '"status": "fine"'), "status: Input should be 'complete'"),
        (lambda text: text.replace('"width": 64', '"width": 0'), r"clip\.width: Input should be greater"),
        (lambda text: text.replace('"status": "complete"', '"status": "partial"'), "status is 'partial', but coverage"),
        (
            lambda text: text.replace('"schema_version": 2', '"schema_version": 1'),
            "schema_version: this report has schema 1",
        ),
    ],
)
def test_a_damaged_report_is_told_with_file_and_key(root: Path, damage: Any, message: str) -> None:
    with RunFolder(root, CONFIGURATION) as run:
        run.add(make_line())
        run.write(make_report(), {})
        path = root / "reports" / "cup.json"
        damaged = damage(path.read_text(encoding="utf-8"))
        assert damaged != path.read_text(encoding="utf-8")
        path.write_text(damaged, encoding="utf-8")
        with pytest.raises(InputError, match=rf"reports/cup\.json is not a report: {message}"):
            run.stored.report("cup")
    with pytest.raises(InputError, match=rf"reports/cup\.json is not a report: {message}"):
        _ = StoredRun(root).reports


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"3", b'{"pipeline": "f\xfcll"}'])
def test_a_damaged_configuration_is_refused(root: Path, content: bytes) -> None:
    begin(root)
    (root / "run.json").write_bytes(content)
    with pytest.raises(RunError, match=r"run\.json is damaged \(.+\); choose another `out`"):
        RunFolder(root, CONFIGURATION)


@pytest.mark.parametrize("line", [b"{", b'{"clip_id": "pot"}', b"\xff", b'{"clip_id": "pot", "size": 3}'])
def test_a_damaged_manifest_is_told_with_its_line(root: Path, line: bytes) -> None:
    with RunFolder(root, CONFIGURATION) as run:
        run.add(make_line())
    with (root / "manifest.jsonl").open("ab") as file:
        file.write(line + b"\n")
    for act in (lambda: StoredRun(root).lines, lambda: RunFolder(root, CONFIGURATION)):
        with pytest.raises(InputError, match=r"manifest\.jsonl:2 is damaged \(.+\); choose another `out`"):
            act()


@pytest.mark.parametrize("content", ["", "{}", '[{"uri": "a.mp4"}]', '[{"uri": "a.mp4", "reason": "x", "size": 3}]'])
def test_a_damaged_list_of_unreadable_clips_is_named(root: Path, content: str) -> None:
    RunFolder(root, CONFIGURATION).close()
    (root / "unreadable.json").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"unreadable\.json is damaged \(.+\); remove it"):
        _ = StoredRun(root).unreadable


# A single file.


def test_a_file_is_written_with_its_folders_and_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "page.html"
    write_whole(path, "<p>Grüße")
    assert path.read_bytes() == "<p>Grüße".encode()
    write_whole(path, b"x")
    assert path.read_bytes() == b"x"
    assert everything(tmp_path) == {"a/b/page.html"}
