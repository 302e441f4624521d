"""`robogaze report`."""

from hashlib import sha256
from pathlib import Path

import pytest
from checkpoints import report, write_reports
from making import coverage

from cli.running import Shell
from robogaze.domains import load_domain
from robogaze.reporting.pages import bundles
from robogaze.store import ManifestLine

FEW = ("--resamples", 50)


def run_folder(root: Path, faulty: int, **said: object) -> Path:
    """A run folder of six clips, of which so many have an event; their video is no real one."""
    events = {"colour_shift": 3}
    reports = [report(f"{root.name}-p{at}", events if at < faulty else {}, **said) for at in range(6)]
    write_reports(root, reports)
    (root / "run.json").write_text("{}")
    (root / "clip.mp4").write_bytes(b"video")
    content = sha256(b"video").hexdigest()
    lines = [ManifestLine(clip_id=report.clip.id, path="clip.mp4", sha256=content) for report in reports]
    (root / "manifest.jsonl").write_text("".join(f"{line.model_dump_json()}\n" for line in lines))
    return root


@pytest.fixture
def comparison(robogaze: Shell, tmp_path: Path) -> Path:
    """A comparison of two run folders."""
    runs = [run_folder(tmp_path / "runs" / "base", 4), run_folder(tmp_path / "runs" / "new", 1)]
    assert robogaze("compare", *runs, *FEW, "--out", tmp_path / "out").code == 0
    return tmp_path / "out"


def test_a_large_run_has_data_files_and_a_small_one_removes_them(
    robogaze: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = run_folder(tmp_path / "run", 3)
    with monkeypatch.context() as patch:
        patch.setattr(bundles, "IN_PAGE_CHARACTERS", 1000)
        patch.setattr(bundles, "BUNDLE_CHARACTERS", 5000)
        assert robogaze("report", root, "--domain", "robot").code == 0
    files = sorted((root / "page").iterdir())
    assert len(files) >= 3
    assert all(path.read_text().startswith(f'bundleArrived("page/{path.name}", "') for path in files)
    assert robogaze("report", root, "--domain", "robot").code == 0
    assert list((root / "page").iterdir()) == []


def test_the_page_of_a_comparison_shows_the_videos_of_its_runs(comparison: Path) -> None:
    assert "data:video/mp4;base64,dmlkZW8=" in (comparison / "index.html").read_text()


def test_the_page_of_a_foreign_run_folder_carries_no_file_of_this_machine(robogaze: Shell, tmp_path: Path) -> None:
    root = run_folder(tmp_path / "runs" / "sent", 3)
    (tmp_path / "private.mp4").write_bytes(b"private")
    lines = (root / "manifest.jsonl").read_text()
    (root / "manifest.jsonl").write_text(lines.replace('"clip.mp4"', '"../../private.mp4"'))
    ran = robogaze("report", root, "--domain", "robot")
    assert (ran.code, "no video of 6 clips" in ran.err) == (0, True)
    assert "cHJpdmF0ZQ==" not in (root / "index.html").read_text()


def test_a_comparison_never_overwrites_the_page_of_a_run(robogaze: Shell, comparison: Path) -> None:
    run = comparison.parent / "runs" / "base"
    ran = robogaze("compare", run, *FEW, "--out", run)
    assert ran.code == 2
    assert f"{run} is a run folder" in ran.err
    assert not (run / "comparison.json").exists()


def test_types_have_the_names_of_a_domain_with_their_taxonomy(robogaze: Shell, tmp_path: Path) -> None:
    domain = load_domain("robot")
    kind = next(iter(domain.types))
    found = report("x", {"colour_cast": 3}).events[0].with_(dimension=domain.dimension_of[kind], type=kind)
    every = {"coverage": coverage(*domain.dimensions), "domain": domain.ref}
    runs = [
        write_reports(tmp_path / f"{name}.jsonl", [report(f"{name}-p", events=events, **every)])
        for name, events in (("base", (found,)), ("new", ()))
    ]
    assert robogaze("compare", *runs, *FEW, "--out", tmp_path / "out").code == 0
    assert domain.types[kind].definition in (tmp_path / "out" / "index.html").read_text()


def test_a_folder_without_a_report_says_what_is_missing(robogaze: Shell, tmp_path: Path) -> None:
    ran = robogaze("report", tmp_path)
    assert ran.code == 1
    assert "has no report; give the --out folder of `robogaze score`" in ran.err
