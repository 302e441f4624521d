"""A package that adds a format or a layout as the documentation describes."""

import json
import re
import shutil
from pathlib import Path

import pytest
from formats.samples import make_event, make_report
from synthetic import write_clip

from robogaze.core.time import Span
from robogaze.datasets.formats.export import export_reports
from robogaze.datasets.formats.read import format_readers, read_annotations
from robogaze.datasets.layouts.importer import import_clips
from robogaze.errors import InputError

DOCS = Path(__file__).parents[2] / "docs"


def section(page: str, heading: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8").partition(f"## {heading}\n")[2]


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, page: str, heading: str) -> None:
    """Install a package with the module and the entry point of a section."""
    text = section(page, heading)
    (toml,) = blocks(text, "toml")
    match = re.fullmatch(r'\[project\.entry-points\."([\w.]+)"\]\n((\w+) = "(\w+):(\w+)")\n', toml)
    assert match is not None
    (folder / f"{match[4]}.py").write_text("\n".join(blocks(text, "py")), encoding="utf-8")
    metadata = folder / "example-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: example\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[{match[1]}]\n{match[3]} = {match[4]}:{match[5]}\n")
    monkeypatch.syspath_prepend(str(folder))


@pytest.fixture
def spotter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The file of the documentation, with the package that reads it installed."""
    install(tmp_path, monkeypatch, "formats.md", "Add a format")
    monkeypatch.setattr("robogaze.datasets.formats.read.format_readers", format_readers.__wrapped__)
    (text,) = blocks(section("formats.md", "Add a format"), "text")
    return text


def test_added_format_is_recognised_and_read(spotter: str, tmp_path: Path) -> None:
    path = tmp_path / "spots.json"
    path.write_text(spotter)
    read = read_annotations(path)
    assert read.format == "spotter"
    (annotation,) = read.annotations
    assert annotation.clip_id == "cup"
    assert [(event.spans, event.type) for event in annotation.findings] == [((Span(1.0, 2.5),), "object floating")]


def test_added_format_reports_file_line_and_key(spotter: str, tmp_path: Path) -> None:
    path = tmp_path / "spots.json"
    path.write_text(json.dumps(json.loads(spotter), indent=1).replace("2.5", '"late"'))
    with pytest.raises(InputError, match=r"spots\.json:8: clips\.cup\.spots\.0\.end: Input should be a valid number"):
        read_annotations(path)


@pytest.mark.usefixtures("spotter")
def test_added_format_is_written_and_read_again(tmp_path: Path) -> None:
    report = make_report("cup", make_event(spans=(Span(1.0, 1.5), Span(2.0, 3.0))))
    files = export_reports([report], {"cup": tmp_path / "cup.mp4"}, "spotter", tmp_path).files
    (tmp_path / "spotter.json").write_text(str(files["spotter.json"]))
    (annotation,) = read_annotations(tmp_path / "spotter.json").annotations
    assert [event.spans for event in annotation.findings] == [(Span(1.0, 1.5),), (Span(2.0, 3.0),)]


def test_added_layout_is_recognised_before_plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    take = tmp_path / "clips" / "take_0001"
    take.mkdir(parents=True)
    shutil.copy(write_clip(tmp_path / "made.mp4", frames=4, width=64, height=48), take / "clip.mp4")
    (take / "task.txt").write_text("Put the cup into the pot")
    assert import_clips(tmp_path / "clips").layout == "plain"
    install(tmp_path, monkeypatch, "datasets.md", "Add a layout")
    imported = import_clips(tmp_path / "clips")
    assert imported.layout == "takes"
    (entry,) = imported.entries
    assert (entry.clip_id, entry.instruction) == ("take_0001", "Put the cup into the pot")
    assert imported.ignored == ()
