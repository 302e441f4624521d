"""JSON, JSONL and tables, with the line of every value."""

import json
from pathlib import Path

import pytest

from robogaze.datasets.documents import Document, FormatError, JsonLines, Place, Table, TableRow, documents


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "thing"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(folder: Path, content: str | bytes) -> list[Document]:
    return list(documents(written(folder, content)))


# One document or many.


@pytest.mark.parametrize("text", ['{"a": 1}', '{"a":\n1}', "[1]", "[\n1\n]", '[\n{"a": 1}\n]', '\n\n  {"a": 1}\n\n'])
def test_json_file_is_one_document(text: str, tmp_path: Path) -> None:
    (document,) = read(tmp_path, text)
    assert document.value == json.loads(text)
    assert document.line is None


def test_jsonl_has_a_document_per_line(tmp_path: Path) -> None:
    found = read(tmp_path, '{"a": 1}\n\n{"a": 2}\r\n   \n{"a": 3}')
    assert [(document.line, document.value) for document in found] == [(1, {"a": 1}), (3, {"a": 2}), (5, {"a": 3})]


def test_unicode_line_separators_do_not_end_a_line(tmp_path: Path) -> None:
    found = read(tmp_path, '{"a": "x\u2028y\x85z"}\n{"a": 2}')
    assert [document.value["a"] for document in found] == ["x\u2028y\x85z", 2]


def test_damaged_first_line_keeps_a_file_jsonl(tmp_path: Path) -> None:
    first, second = read(tmp_path, '{"a": \n{"a": 2}\n')
    assert second.value == {"a": 2}
    with pytest.raises(FormatError, match="is not JSON"):
        _ = first.value


def test_object_over_several_lines_is_one_document(tmp_path: Path) -> None:
    (document,) = read(tmp_path, '{"a":\n{"b": 1}\n}')
    assert document.value == {"a": {"b": 1}}


def test_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    for text in ('{"a": 1}', '{"a": 1}\n{"a": 2}'):
        assert read(tmp_path, b"\xef\xbb\xbf" + text.encode())[0].value == {"a": 1}
    assert read(tmp_path, b"\xef\xbb\xbfclip_id,type\na,b\n")[0].value.columns == ("clip_id", "type")


@pytest.mark.parametrize("content", ["", "\n \n", "\ufeff"])
def test_file_without_content_is_refused(content: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="is empty"):
        read(tmp_path, content)


def test_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="cannot be read: Is a directory"):
        list(documents(tmp_path))


# JSON.


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1', "is not JSON: EOF while parsing an object at line 1 column 7"),
        ('{"a": 1,}', "is not JSON: trailing comma"),
        ('{"a": "\\ud800"}', "is not JSON: unexpected end of hex escape"),
        ('[{"a": 1, "b": 2, "a": 1}]', "the key 'a' appears twice in one object"),
        ("[" * 5000, "is not JSON: recursion limit exceeded"),
    ],
)
def test_invalid_json_is_refused_with_a_reason(text: str, why: str, tmp_path: Path) -> None:
    (document,) = read(tmp_path, text)
    with pytest.raises(FormatError) as refused:
        _ = document.value
    assert refused.value.message.startswith(why)


def test_place_has_a_line_and_a_key(tmp_path: Path) -> None:
    (document,) = read(tmp_path, '{\n"clips": [\n{"a": 1},\n{"a": 2}]}')
    assert document.where(("clips", 1, "a")) == (4, "clips.1.a")
    assert document.where(()) == (None, "")
    assert document.source(("clips", 1)) == f"{document.path}: clips.1"
    assert document.source(()) == f"{document.path}"


def test_place_in_jsonl_is_on_its_line(tmp_path: Path) -> None:
    _, second = read(tmp_path, '{"a": 1}\n{"a": 2}')
    assert second.where(("a",)) == (2, "a")
    assert second.source(("a",)) == f"{second.path}:2"


# Tables.


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_table_has_columns_and_rows_without_empty_cells(delimiter: str, tmp_path: Path) -> None:
    text = 'clip_id,type,text\na, x ,"one\ntwo"\n\nb,,\n'.replace(",", delimiter)
    (document,) = read(tmp_path, text)
    rows = (TableRow(2, {"clip_id": "a", "type": "x", "text": "one\ntwo"}), TableRow(5, {"clip_id": "b"}))
    assert document.value == Table(("clip_id", "type", "text"), rows)
    assert document.where((0, 1, "type")) == (5, "type")
    assert document.source((1,)) == f"{document.path}:5"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a,b\n1\n", "line 2 has 1 cells, but the header has 2 columns"),
        ("a,b\n1,2\n1,2,3\n", "line 3 has 3 cells, but the header has 2 columns"),
        ("a,b,a\n1,2,3\n", "a column appears twice in the header: a, b, a"),
        ('a,b\n"1,2\n', "is not a table: line 2: unexpected end of data"),
        (b"a,b\n\xff,2\n", "is not UTF-8 text"),
    ],
)
def test_invalid_table_is_refused_with_a_reason(text: str | bytes, why: str, tmp_path: Path) -> None:
    (document,) = read(tmp_path, text)
    with pytest.raises(FormatError) as refused:
        _ = document.value
    assert refused.value.message.startswith(why)


# Lines of values in JSON.

TEXT = """{
  "a, [": "one } \\" {",
  "clips": [
    {"id": 1, "events": []},

    {
      "id": 2,
      "events": [{"x": [[1, 2],
                        [3, 4]]}]
    }
  ]
}"""


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ((), 1),
        (("a, [",), 2),
        (("clips",), 3),
        (("clips", 0), 4),
        (("clips", 0, "events"), 4),
        (("clips", 1), 6),
        (("clips", 1, "id"), 7),
        (("clips", 1, "events", 0, "x", 0, 1), 8),
        (("clips", 1, "events", 0, "x", 1), 9),
    ],
)
def test_line_is_where_the_value_starts(place: Place, line: int) -> None:
    assert JsonLines(TEXT).line_of(place) == line


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (("clips", 1, "severity"), 6),
        (("clips", 0, "events", 0), 4),
        (("clips", 7), 3),
        (("clips", "id"), 3),
        (("id", 1), 1),
        (("clips", 1, "id", "x"), 7),
    ],
)
def test_line_of_a_missing_value_is_that_of_its_parent(place: Place, line: int) -> None:
    assert JsonLines(TEXT).line_of(place) == line
