"""Manifest entries: videos with sidecars, and manifests."""

import json
import os
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from robogaze.core.clip import Layout
from robogaze.datasets import ManifestEntry, UnusableEntry, find_entries, with_ids
from robogaze.datasets.manifest import read_manifest
from robogaze.errors import InputError, VideoError

RED, BLUE = (sha256(colour).hexdigest() for colour in (b"red", b"blue"))


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    """A video; nothing here opens it."""
    return tmp_path / "cup.mp4"


def manifest(folder: Path, *lines: dict[str, Any] | str) -> Path:
    path = folder / "clips.jsonl"
    text = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines]
    path.write_text("\n".join(text), encoding="utf-8")
    return path


# Ids.


def test_id_is_the_stem_with_12_hex_digits() -> None:
    name = ManifestEntry(path=Path("some/where/tasse à café #1.mp4")).id_for(RED)
    stem, digest = name.rsplit("-", 1)
    assert stem == "tasse_a_cafe_1"
    assert len(digest) == 12
    assert set(digest) <= set("0123456789abcdef")


def test_id_depends_on_content_instruction_checkpoint_split_and_part() -> None:
    fields: list[dict[str, Any]] = [
        {},
        {"instruction": "Lift"},
        {"checkpoint": "x"},
        {"split": "x"},
        {"start_s": 0.0},
        {"end_s": 2.0},
        {"start_s": 0.0, "end_s": 2.0},
        {"start_s": 2.0, "end_s": 4.0},
        {"start_s": 2.0, "end_s": 4.000001},
    ]
    ids = {ManifestEntry(path=Path("a/cup.mp4"), **given).id_for(RED) for given in fields}
    assert len(ids) == len(fields)
    assert ids == {ManifestEntry(path=Path("b/cup.mp4"), **given).id_for(RED) for given in fields}
    assert ManifestEntry(path=Path("a/cup.mp4")).id_for(BLUE) not in ids


def test_id_of_a_whole_file_is_stable() -> None:
    """A run that is resumed finds its clips."""
    entry = ManifestEntry(path=Path("cup.mp4"), instruction="Lift", checkpoint="a")
    assert entry.id_for(RED) == "cup-" + sha256(f"{RED}\0Lift\0a\0".encode()).hexdigest()[:12]
    assert entry.with_(prompt_id="7", sha256=RED).id_for(RED) == entry.id_for(RED)


def test_given_id_is_kept() -> None:
    assert ManifestEntry(path=Path("cup.mp4"), clip_id="the red one").id_for(RED) == "the red one"


def test_long_name_gives_a_valid_id() -> None:
    assert len(ManifestEntry(path=Path("x" * 250 + ".mp4")).id_for(RED)) <= 200


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("real_bad1.mp4", "real_bad1"),
        ("clip with space & ümlaut.mp4", "clip_with_space_umlaut"),
        ("../杯子.mp4", "杯子"),
        ("???.mp4", "clip"),
        ("v1.2-final.mp4", "v1.2-final"),
    ],
)
def test_default_id_is_the_stem(name: str, stem: str) -> None:
    (entry,) = with_ids([ManifestEntry(path=Path(name))])
    assert (entry.clip_id, entry.id_for(RED)) == (stem, stem)


def test_only_repeated_stems_get_a_suffix() -> None:
    paths = ("a/cup.mp4", "b/Cup.mp4", "b/pot.mp4", "b/pot.mp4")
    named = with_ids([ManifestEntry(path=Path(path)) for path in paths])
    assert [entry.clip_id for entry in named] == [None, None, "pot", "pot"]
    assert named[0].id_for(RED).startswith("cup-")
    taken = with_ids([ManifestEntry(path=Path("cup.mp4")), ManifestEntry(path=Path("x.mp4"), clip_id="cup")])
    assert [entry.clip_id for entry in taken] == [None, "cup"]


# Parts and content.


@pytest.mark.parametrize(
    ("part", "address"),
    [
        ({}, "a/all.mp4"),
        ({"start_s": 5.2, "end_s": 10.1}, "a/all.mp4#t=5.2,10.1"),
        ({"start_s": 5.2}, "a/all.mp4#t=5.2"),
        ({"end_s": 10}, "a/all.mp4#t=,10.0"),
    ],
)
def test_address_of_a_part_is_a_media_fragment(part: dict[str, float], address: str) -> None:
    assert ManifestEntry(path=Path("a/all.mp4"), **part).address == address


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"start_s": 2.0, "end_s": 2.0}, "end_s must be after start_s; 2.0 is not after 2.0"),
        ({"start_s": 2.0, "end_s": 1.0}, "end_s must be after start_s; 1.0 is not after 2.0"),
        ({"end_s": 0}, "end_s: Input should be greater than 0"),
        ({"start_s": -1}, "start_s: Input should be greater than or equal to 0"),
        ({"start_s": "early"}, "start_s: Input should be a valid number"),
        ({"sha256": "abc"}, "sha256: String should match pattern"),
        ({"prompt_id": 7}, "prompt_id: Input should be a valid string"),
    ],
)
def test_invalid_part_or_sha256_is_refused(tmp_path: Path, line: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_manifest(manifest(tmp_path, {"path": "all.mp4", **line}))
    assert message in str(caught.value)


def test_changed_content_is_refused(cup: Path) -> None:
    entry = ManifestEntry(path=cup, sha256=RED)
    entry.check_content(RED)
    ManifestEntry(path=cup).check_content(BLUE)
    with pytest.raises(VideoError, match=r"cup\.mp4 was replaced after the manifest was written: its sha256 is "):
        entry.check_content(BLUE)


# Sidecars.


def test_video_without_a_sidecar_has_only_a_path(cup: Path) -> None:
    assert find_entries([cup]) == (ManifestEntry(path=cup),)


def test_sidecar_that_is_a_link_to_nothing_is_no_sidecar(cup: Path) -> None:
    cup.with_suffix(".txt").symlink_to("not_fetched")
    (entry,) = find_entries([cup])
    assert entry.instruction is None


@pytest.mark.parametrize(
    ("suffix", "written", "instruction"),
    [
        (".txt", "Lift the cup\n", "Lift the cup"),
        (".txt", "\ufeff  Lift the cup.\r\nThen stop.\r\n", "Lift the cup.\nThen stop."),
        (".txt", "", None),
        (".txt", " \n", None),
        (".json", '{"prompt": "  "}', None),
    ],
)
def test_sidecar_gives_the_instruction_without_surrounding_space(
    cup: Path, suffix: str, written: str, instruction: str | None
) -> None:
    cup.with_suffix(suffix).write_text(written, encoding="utf-8")
    assert find_entries([cup]) == (ManifestEntry(path=cup, instruction=instruction),)
    assert find_entries([cup], instruction="")[0].instruction is None


def test_json_sidecar_can_give_any_field(cup: Path) -> None:
    fields = {
        "clip_id": "the red one",
        "instruction": "Lift the cup",
        "initial_frame": "first/cup.png",
        "checkpoint": "step-1000",
        "split": "test",
        "task_family": "lifting",
        "embodiment": "two arms",
        "layout": "1x2:left,right",
    }
    cup.with_suffix(".json").write_text(json.dumps(fields), encoding="utf-8")
    (entry,) = find_entries([cup])
    assert entry.path == cup
    assert entry.initial_frame == cup.parent / "first" / "cup.png"
    assert entry.layout == Layout(rows=1, columns=2, views=("left", "right"))
    assert entry.model_dump(include=set(fields) - {"initial_frame", "layout"}) == {
        key: value for key, value in fields.items() if key not in ("initial_frame", "layout")
    }


def test_output_of_a_generator_is_a_sidecar(cup: Path) -> None:
    written = {
        "inference_type": "image2world",
        "name": "cup",
        "prompt": "Lift the cup",
        "negative_prompt": None,
        "input_path": "cup.jpg",
        "num_output_frames": 93,
        "seed": 0,
        "guidance": 7.0,
        "path": "/nowhere/else.mp4",
    }
    cup.with_suffix(".json").write_text(json.dumps(written), encoding="utf-8")
    assert find_entries([cup]) == (ManifestEntry(path=cup, instruction="Lift the cup"),)


def test_instruction_precedes_prompt_and_json_precedes_text(cup: Path) -> None:
    cup.with_suffix(".json").write_text('{"prompt": "a long prompt", "instruction": "Lift the cup"}', encoding="utf-8")
    cup.with_suffix(".txt").write_text("Drop the cup", encoding="utf-8")
    assert find_entries([cup])[0].instruction == "Lift the cup"


@pytest.mark.parametrize(
    ("as_json", "as_text", "instruction"),
    [
        ('{"instruction": null, "prompt": "Lift"}', "Drop", "Lift"),
        ('{"instruction": "  ", "prompt": "Lift"}', "Drop", "Lift"),
        ('{"seed": 3}', "Drop", "Drop"),
        ('{"instruction": null, "prompt": ""}', "Drop", "Drop"),
        ('{"split": "test"}', None, None),
    ],
)
def test_empty_sidecar_value_falls_back_to_the_next(
    cup: Path, as_json: str, as_text: str | None, instruction: str | None
) -> None:
    cup.with_suffix(".json").write_text(as_json, encoding="utf-8")
    if as_text is not None:
        cup.with_suffix(".txt").write_text(as_text, encoding="utf-8")
    assert find_entries([cup])[0].instruction == instruction


def test_given_fields_override_a_sidecar(cup: Path) -> None:
    cup.with_suffix(".json").write_text('{"prompt": "Lift", "split": "test"}', encoding="utf-8")
    (entry,) = find_entries([cup], instruction="Drop", layout=None, initial_frame=Path("here.png"))
    assert (entry.instruction, entry.split) == ("Drop", "test")
    assert entry.initial_frame == Path("here.png")  # as it was given, from the working directory


@pytest.mark.parametrize(
    ("suffix", "content", "message"),
    [
        (".json", b"{", "is not JSON"),
        (".json", b"[]", "must be a JSON object, not list"),
        (".json", b'"Lift"', "must be a JSON object, not str"),
        (".json", b'{"prompt": ["Lift"]}', "instruction: Input should be a valid string"),
        (".json", b'{"instruction": 3}', "instruction: Input should be a valid string"),
        (".json", b'{"instruction": 0, "prompt": "Lift"}', "instruction: Input should be a valid string"),
        (".json", b'{"initial_frame": 3}', "initial_frame: Input is not a valid path"),
        (".json", b'{"layout": "2x2"}', "layout: a layout is 'single' or"),
        (".json", b'{"layout": {"rows": 0}}', "layout.rows"),
        (".json", b'{"clip_id": ""}', "clip_id"),
    ],
)
def test_invalid_sidecar_is_refused_by_name(cup: Path, suffix: str, content: bytes, message: str) -> None:
    sidecar = cup.with_suffix(suffix)
    sidecar.write_bytes(content)
    with pytest.raises(InputError) as caught:
        find_entries([cup])
    assert str(caught.value).startswith(f"{sidecar}")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_folder_is_an_entry_that_fails_when_opened(tmp_path: Path) -> None:
    for path in (Path(), Path(".."), Path("/"), tmp_path):
        assert find_entries([path]) == (ManifestEntry(path=path),)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are always text")
def test_file_with_a_non_utf8_name_is_refused(tmp_path: Path) -> None:
    """It cannot be written into a report; the other clips are scored."""
    (entry,) = find_entries([tmp_path / os.fsdecode(b"caf\xe9.mp4")])
    assert isinstance(entry, UnusableEntry)
    assert entry.path == tmp_path / r"caf\xe9.mp4"
    assert entry.fault == f"{entry.path}: the name is not UTF-8; rename the file"


@pytest.mark.parametrize(("suffix", "content"), [(".json", b'{"prompt": "\xfc"}'), (".txt", b"gr\xfcn")])
def test_unreadable_sidecar_makes_its_clip_unusable(cup: Path, suffix: str, content: bytes) -> None:
    cup.with_suffix(suffix).write_bytes(content)
    other = cup.with_name("other.mp4")
    unusable, usable = find_entries([cup, other])
    assert isinstance(unusable, UnusableEntry)
    assert f"{cup.with_suffix(suffix)} is not UTF-8 text" in unusable.fault
    with pytest.raises(VideoError, match="is not UTF-8 text"):
        unusable.check_content("0" * 64)
    assert usable.path == other
    assert not isinstance(usable, UnusableEntry)


# Manifests.


def test_manifest_paths_are_relative_to_the_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "set").mkdir()
    path = manifest(
        tmp_path / "set",
        {"path": "videos/cup.mp4", "initial_frame": "first/cup.png"},
        {"path": "../pot.mp4"},
        {"path": "/videos/pan.mp4"},
    )
    cup, pot, pan = read_manifest(path)
    assert (cup.path, cup.initial_frame) == (tmp_path / "set/videos/cup.mp4", tmp_path / "set/first/cup.png")
    assert pot.path == tmp_path / "pot.mp4"
    assert pan.path == Path("/videos/pan.mp4")
    monkeypatch.chdir(tmp_path)
    assert read_manifest(Path("set/clips.jsonl"))[0].path == Path("set/videos/cup.mp4")


def test_path_that_leads_out_of_a_linked_folder_is_kept(tmp_path: Path) -> None:
    (tmp_path / "disk" / "set").mkdir(parents=True)
    (tmp_path / "set").symlink_to(tmp_path / "disk" / "set")
    (cup,) = read_manifest(manifest(tmp_path / "set", {"path": "../cup.mp4"}))
    assert cup.path == tmp_path / "set/../cup.mp4"


def test_manifest_line_can_have_every_field(tmp_path: Path) -> None:
    line = {
        "path": "cup.mp4",
        "clip_id": "the red one",
        "instruction": "Lift the cup",
        "checkpoint": "step-1000",
        "split": "test",
        "task_family": "lifting",
        "embodiment": "two arms",
        "prompt_id": "17",
        "start_s": 5.2,
        "end_s": 10.1,
        "sha256": RED,
        "layout": "2x2:a,b,c,-",
    }
    (entry,) = read_manifest(manifest(tmp_path, line))
    assert entry == ManifestEntry(**{**line, "path": tmp_path / "cup.mp4"})
    assert entry.layout is not None
    assert entry.layout.active == ("a", "b", "c")


def test_blank_lines_and_byte_order_mark_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "clips.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"path": "a.mp4"}\r\n\r\n  \n{"path": "b.mp4"}\n')
    assert [entry.path.name for entry in read_manifest(path)] == ["a.mp4", "b.mp4"]


def test_instruction_may_have_any_character(tmp_path: Path) -> None:
    text = 'one\u2028two\x85three "four" 杯子'
    (entry,) = read_manifest(manifest(tmp_path, {"path": "a.mp4", "instruction": text}))
    assert entry.instruction == text


def test_given_fields_apply_to_a_manifest(tmp_path: Path) -> None:
    path = manifest(tmp_path, {"path": "a.mp4", "split": "test"}, {"path": "b.mp4", "instruction": "Lift"})
    entries = find_entries([path], instruction="Drop")
    assert [(entry.instruction, entry.split) for entry in entries] == [("Drop", "test"), ("Drop", None)]


def test_videos_and_manifests_can_be_mixed_in_order(tmp_path: Path) -> None:
    path = manifest(tmp_path, {"path": "b.mp4"}, {"path": "a.mp4"})
    entries = find_entries([tmp_path / "z.mp4", path, tmp_path / "c.mp4"])
    assert [entry.path.name for entry in entries] == ["z.mp4", "b.mp4", "a.mp4", "c.mp4"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            {"path": "b.mp4", "promt": "Lift"},
            "promt: unknown key; the keys of an entry are: path, clip_id, instruction",
        ),
        ({"path": "b.mp4", "prompt": "Lift"}, "prompt: unknown key"),  # a manifest is ours, a sidecar need not be
        ({"pth": "b.mp4"}, "pth: unknown key"),
        ({"instruction": "Lift"}, "path: Field required"),
        ({"path": 3}, "path: Input is not a valid path"),
        ({"path": "b.mp4", "instruction": ["Lift"]}, "instruction: Input should be a valid string"),
        ({"path": "b.mp4", "layout": "3"}, "layout: a layout is 'single' or"),
        ({"path": "b.mp4", "clip_id": "a\nb"}, "clip_id: String should match pattern"),
        ('{"path": "b.mp4", "instruction": "\\ud800"}', "is not JSON"),
        ('{"path": "b.mp4"', "is not JSON"),
        ("b.mp4", "is not JSON"),
        ('["b.mp4"]', "must be a JSON object, not list"),
    ],
)
def test_invalid_line_is_refused_with_file_line_and_key(tmp_path: Path, line: Any, message: str) -> None:
    path = manifest(tmp_path, {"path": "a.mp4"}, "", line)
    with pytest.raises(InputError) as caught:
        find_entries([path])
    assert str(caught.value).startswith(f"{path}:3")
    assert message in str(caught.value)


def test_repeated_id_in_a_manifest_is_refused(tmp_path: Path) -> None:
    lines = [
        {"path": "a.mp4", "clip_id": "one"},
        {"path": "b.mp4", "clip_id": "two"},
        "",
        {"path": "c.mp4", "clip_id": "two"},
    ]
    message = r"clips\.jsonl:4: clip_id: 'two' is also used in line 2; ids must be unique"
    with pytest.raises(InputError, match=message):
        read_manifest(manifest(tmp_path, *lines))


def test_repeated_id_across_sources_is_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_text('{"clip_id": "one"}', encoding="utf-8")
    with pytest.raises(InputError, match=r"clip_id 'one' is used for both .*a\.mp4 and .*b\.mp4; ids must be unique"):
        find_entries([tmp_path / "a.mp4", tmp_path / "b.mp4"])


def test_a_line_is_validated_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A manifest may have hundreds of thousands of lines, also if only a few of them are scored."""
    path = manifest(tmp_path, *({"path": f"../clips/{number}.mp4"} for number in range(3)))
    made, init = [], ManifestEntry.__init__

    def counted(entry: ManifestEntry, **fields: Any) -> None:
        made.append(fields)
        init(entry, **fields)

    monkeypatch.setattr(ManifestEntry, "__init__", counted)
    assert [entry.clip_id for entry in with_ids(find_entries([path]))] == ["0", "1", "2"]
    assert len(made) == 3


def test_same_clip_twice_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"clip_id": "one"}', encoding="utf-8")
    assert len(find_entries([tmp_path / "a.mp4", tmp_path / "a.mp4"])) == 2


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_manifest_without_a_clip_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "clips.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"the manifest .*clips\.jsonl lists no clip"):
        read_manifest(path)


@pytest.mark.parametrize(
    ("content", "message"), [(None, "cannot be read: No such file"), (b"\xff", "is not UTF-8 text")]
)
def test_unreadable_manifest_is_refused(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "clips.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=rf"clips\.jsonl {message}"):
        read_manifest(path)
