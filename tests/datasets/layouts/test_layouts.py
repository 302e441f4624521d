"""Details of single layouts."""

import sys
import tarfile
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from layouts.samples import SAMPLES, SAY, lines, tar, video, write
from robogaze.datasets.layouts.importer import import_clips, unpack, with_unpacked_paths
from robogaze.errors import InputError, MissingExtra

# Tables.


def test_csv_tsv_and_json_tables_are_equal(tmp_path: Path) -> None:
    video(tmp_path / "a/cup.mp4")
    write(tmp_path / "clips.csv", f'file_name,prompt,checkpoint\na/cup.mp4,"{SAY}, then stop",4000\n')
    write(tmp_path / "clips.tsv", f"path\ttext\tcheckpoint\na/cup.mp4\t{SAY}, then stop\t4000\n")
    write(tmp_path / "clips.json", [{"video": "a/cup.mp4", "caption": f"{SAY}, then stop", "checkpoint": 4000}])
    found = [import_clips(tmp_path / f"clips.{kind}") for kind in ("csv", "tsv", "json")]
    assert found[0] == found[1] == found[2]
    assert found[0].entries[0].checkpoint == "4000"


def test_parquet_table_equals_jsonl(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    video(tmp_path / "cup.mp4")
    rows = [{"path": "cup.mp4", "prompt": SAY, "checkpoint": 4000, "layout": None}]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "clips.parquet")
    write(tmp_path / "clips.jsonl", lines(*rows))
    assert import_clips(tmp_path / "clips.parquet") == import_clips(tmp_path / "clips.jsonl")
    write(tmp_path / "broken.parquet", b"PAR1")
    with pytest.raises(InputError, match=r"broken\.parquet is not a readable Parquet file"):
        import_clips(tmp_path / "broken.parquet")


def test_parquet_without_pyarrow_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        MissingExtra, match=r"pyarrow is not installed; install it with: pip install 'robogaze\[lerobot\]'"
    ):
        import_clips(write(tmp_path / "clips.parquet", b"PAR1"))


def test_unknown_columns_are_named_in_a_remark(tmp_path: Path) -> None:
    SAMPLES["table"].make(tmp_path)
    (remark,) = import_clips(tmp_path / "clips.jsonl").remarks
    assert remark == "clips.jsonl: columns that were left out, because a manifest does not have them: seed"


def test_table_gives_layout_and_initial_frame(tmp_path: Path) -> None:
    video(tmp_path / "cup.mp4")
    row = {"path": "cup.mp4", "layout": "1x2:left,right", "initial_frame": "first.png"}
    (entry,) = import_clips(write(tmp_path / "clips.jsonl", lines(row))).entries
    assert entry.layout is not None
    assert entry.layout.active == ("left", "right")
    assert entry.initial_frame == tmp_path / "first.png"


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_table_row_can_be_a_part_of_a_video(kind: str, tmp_path: Path) -> None:
    content = sha256(video(tmp_path / "all.mp4").read_bytes()).hexdigest()
    rows = [{"path": "all.mp4", "start_s": 2, "end_s": 3.5, "prompt_id": 7, "sha256": content},
            {"path": "all.mp4", "start_s": 3.5, "end_s": 4, "prompt_id": 8, "sha256": content}]  # fmt: skip
    header, *cells = (",".join(map(str, line)) for line in (rows[0], *(row.values() for row in rows)))
    text = lines(*rows) if kind == "jsonl" else "\n".join([header, *cells])
    found = import_clips(write(tmp_path / f"clips.{kind}", text))
    assert [(entry.address, entry.prompt_id, entry.sha256) for entry in found.entries] == [
        (f"{tmp_path}/all.mp4#t=2.0,3.5", "7", content),
        (f"{tmp_path}/all.mp4#t=3.5,4.0", "8", content),
    ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"path": 3}, "path or file_name or video or video_path must be the path of a video"),
        ({"prompt": "Stir"}, "no column contains the paths of the videos"),
        ({"path": "cup.mp4", "prompt": ["Stir"]}, "instruction: "),
        ({"path": "cup.mp4", "layout": "2x2"}, "layout: "),
    ],
)
def test_invalid_row_is_refused_with_its_place(row: dict[str, Any], message: str, tmp_path: Path) -> None:
    video(tmp_path / "cup.mp4")
    with pytest.raises(InputError, match=rf"clips\.jsonl.*: {message}"):
        import_clips(write(tmp_path / "clips.jsonl", lines(row)))


# Folders.


def test_broken_sidecar_stops_the_import(tmp_path: Path) -> None:
    video(tmp_path / "cup.mp4")
    write(tmp_path / "cup.json", "{")
    with pytest.raises(InputError, match=r"cup\.json is not JSON"):
        import_clips(tmp_path)


def test_single_word_name_is_an_instruction_only_if_dreamgen_is_asked_for(tmp_path: Path) -> None:
    video(tmp_path / "0001_take.mp4")
    assert import_clips(tmp_path).layout == "plain"
    assert import_clips(tmp_path, "dreamgen").entries[0].instruction == "take"


def test_video_without_an_instruction_in_its_name_is_ignored(tmp_path: Path) -> None:
    video(tmp_path / "0_Stir_the_pot.mp4")
    video(tmp_path / "preview.mp4", 1)
    assert import_clips(tmp_path).layout == "plain"
    (ignored,) = import_clips(tmp_path, "dreamgen").ignored
    assert ignored.file == "preview.mp4"


def test_single_iteration_folder_is_the_checkpoint(tmp_path: Path) -> None:
    for folder in ("iter_000140000", "results"):
        video(tmp_path / folder / "0000_pred.mp4")
        video(tmp_path / folder / "0000_gt.mp4", 1)
    checkpoints = {
        folder: [entry.checkpoint for entry in import_clips(tmp_path / folder).entries]
        for folder in ("iter_000140000", "results")
    }
    assert checkpoints == {"iter_000140000": [None, "iter_000140000"], "results": [None, None]}


def test_different_real_clips_of_one_number_are_separate_controls(tmp_path: Path) -> None:
    for seed, folder in enumerate(("iter_1", "iter_2")):
        video(tmp_path / folder / "0000_pred.mp4", seed)
        video(tmp_path / folder / "0000_gt.mp4", 2 + seed)
    assert sum(entry.split == "control" for entry in import_clips(tmp_path).entries) == 2


def test_titles_keep_clip_ids_apart_and_duplicates_are_refused(tmp_path: Path) -> None:
    SAMPLES["videoglitchbench"].make(tmp_path)
    assert len(import_clips(tmp_path).entries) == 2
    video(tmp_path / "Kitchen/cup.mkv", 3)
    with pytest.raises(InputError, match="clip_id 'Kitchen/cup' is used for both"):
        import_clips(tmp_path)


def test_videofolder_with_parquet_is_read(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    video(tmp_path / "cup.mp4")
    parquet.write_table(pyarrow.table({"file_name": ["cup.mp4"], "text": [SAY]}), tmp_path / "metadata.parquet")
    found = import_clips(tmp_path)
    assert (found.layout, found.entries[0].instruction) == ("videofolder", SAY)


# WebDataset.


def test_archived_clips_are_unpacked_to_their_entry_paths(tmp_path: Path) -> None:
    SAMPLES["webdataset"].make(tmp_path / "source")
    found = import_clips(tmp_path / "source")
    there = unpack(found, tmp_path / "clips")
    assert [entry.path.relative_to(tmp_path).as_posix() for entry in there.entries] == [
        "clips/more/shard-000000/c0.mp4",
        "clips/shard-000000/c0.mp4",
        "clips/shard-000000/c1.mp4",
    ]
    assert there == with_unpacked_paths(found, tmp_path / "clips")
    plain = import_clips(tmp_path / "clips", "plain").entries
    assert [entry.path for entry in plain] == [entry.path for entry in there.entries]
    assert len({entry.path.read_bytes() for entry in plain}) == 3


def test_one_archive_equals_a_folder_of_one(tmp_path: Path) -> None:
    path = tar(tmp_path / "source/a.tar", c0__mp4=b"x", c0__txt=b"Stir")
    single, folder = import_clips(path), import_clips(tmp_path / "source")
    assert single.entries == folder.entries
    assert unpack(single, tmp_path / "clips").entries == with_unpacked_paths(folder, tmp_path / "clips").entries


def test_texts_in_an_archive_that_are_not_read_are_listed(tmp_path: Path) -> None:
    members = {"c0__mp4": b"x", "c0__caption__txt": b"Stir", "c0__meta__json": b"{}", "c0__txt": b"Pour"}
    found = import_clips(tar(tmp_path / "a.tar", **members))
    assert [entry.instruction for entry in found.entries] == ["Pour"]
    assert [ignored.file for ignored in found.ignored] == ["a.tar/c0.caption.txt", "a.tar/c0.meta.json"]


def test_initial_frame_of_an_archived_clip_is_left_out_with_a_remark(tmp_path: Path) -> None:
    members = {"c0__mp4": b"x", "c0__json": b'{"prompt": "Stir", "initial_frame": "c0.png"}', "c0__png": b"x"}
    found = import_clips(tar(tmp_path / "a.tar", **members))
    assert [(entry.instruction, entry.initial_frame) for entry in found.entries] == [("Stir", None)]
    assert found.remarks == (
        "the initial frames that the JSON files name are left out; images in archives are not unpacked",
    )


def test_nothing_is_unpacked_outside_the_folder(tmp_path: Path) -> None:
    path = tar(tmp_path / "a.tar", **{"../../evil__mp4": b"x", "/abs__mp4": b"x", "good__mp4": b"x"})
    found = import_clips(path)
    assert [ignored.reason for ignored in found.ignored] == ["its name is a path outside the archive"] * 2
    unpack(found, tmp_path / "deep/clips")
    assert [path.name for path in (tmp_path / "deep").rglob("*.mp4")] == ["good.mp4"]
    assert not list(tmp_path.glob("*.mp4"))


def test_last_of_two_members_with_one_name_counts(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for content in (b"first", b"second"):
            info = tarfile.TarInfo("c0.mp4")
            info.size = len(content)
            archive.addfile(info, BytesIO(content))
    (entry,) = unpack(import_clips(tmp_path / "a.tar"), tmp_path / "clips").entries
    assert entry.path.read_bytes() == b"second"


def test_truncated_archive_or_invalid_json_is_refused(tmp_path: Path) -> None:
    path = tar(tmp_path / "a.tar", c0__mp4=bytes(4096), c0__json=b"{")
    with pytest.raises(InputError, match=r"a\.tar/c0: the text or the JSON of the clip cannot be read"):
        import_clips(path)
    path.write_bytes(tar(path, c0__mp4=bytes(4096)).read_bytes()[:2000])
    with pytest.raises(InputError, match=r"a\.tar cannot be read to its end as a tar file"):
        import_clips(path)
