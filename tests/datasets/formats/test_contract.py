"""The contract of every format that is read."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from formats.samples import SAMPLES, Sample, write
from robogaze.core.time import Span, union
from robogaze.datasets.documents import documents
from robogaze.datasets.formats.read import ReadAnnotations, format_readers, read_annotations
from robogaze.errors import InputError

each_format = pytest.mark.parametrize("name", sorted(format_readers()))
each_structured_format = pytest.mark.parametrize("name", sorted(set(format_readers()) - {"gbqa_markdown"}))


@pytest.fixture
def sample(name: str) -> Sample:
    return SAMPLES[name]


@pytest.fixture
def path(sample: Sample, tmp_path: Path) -> Path:
    return sample.write(tmp_path / "source")


@pytest.fixture
def read(sample: Sample, path: Path) -> ReadAnnotations:
    return read_annotations(path, **sample.options)


def test_every_format_has_a_sample() -> None:
    assert set(SAMPLES) == set(format_readers())


@each_format
def test_format_is_recognised_by_content_alone(name: str, path: Path, sample: Sample, tmp_path: Path) -> None:
    assert read_annotations(path, **sample.options).format == name
    for file in path.rglob("*.*") if path.is_dir() else [path]:
        renamed = write(tmp_path / "renamed" / "thing.data", file.read_text(encoding="utf-8"))
        assert read_annotations(renamed, **sample.options).format == name


@each_format
def test_only_one_format_recognises_a_document(name: str, path: Path) -> None:
    for file in path.rglob("*.json") if path.is_dir() else [path]:
        for document in documents(file):
            assert [other for other, reader in format_readers().items() if reader.recognises(document.value)] == [name]


@each_format
def test_reading_by_name_equals_reading_by_recognition(
    name: str, path: Path, sample: Sample, read: ReadAnnotations
) -> None:
    assert read_annotations(path, format=name, **sample.options) == read


@each_format
def test_sample_has_a_faulty_and_a_clean_clip(name: str, sample: Sample, read: ReadAnnotations) -> None:
    cup, pot = read.annotations
    assert (cup.clip_id, pot.clip_id) == sample.clip_ids
    assert pot.clean
    assert not cup.clean
    (event,) = cup.findings
    assert event.spans == ((Span(1.0, 2.5),) if sample.timed else ())
    assert event.type == ("passing_through" if sample.typed else None)
    assert event.description
    assert read.skipped == ()


@each_format
def test_every_annotation_has_a_source_and_an_author(name: str, path: Path, read: ReadAnnotations) -> None:
    assert all(annotation.source.startswith(f"{path}") for annotation in read.annotations)
    assert len({annotation.source for annotation in read.annotations}) == 2
    assert all(annotation.author for annotation in read.annotations)


@each_format
def test_duplicate_annotation_is_refused_with_both_sources(
    name: str, path: Path, sample: Sample, tmp_path: Path
) -> None:
    file = min(path.rglob("*.*")) if path.is_dir() else path
    names = ["a/report.md", "b/report.md"] if file.suffix == ".md" else [f"{copy}{file.suffix}" for copy in "ab"]
    copies = [write(tmp_path / "both" / copy, file.read_text(encoding="utf-8")) for copy in names]
    with pytest.raises(InputError, match=r"has two annotations of .*; keep one") as refused:
        read_annotations(tmp_path / "both", lenient=True, **sample.options)
    assert all(f"in {copy}" in str(refused.value) for copy in copies)


@each_structured_format
def test_truncated_file_is_refused_or_skipped_when_lenient(name: str, path: Path, sample: Sample) -> None:
    file = min(path.rglob("*.json")) if path.is_dir() else path
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(",", ',"', 1) if sample.table else text[:-3], encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read_annotations(path, **sample.options)
    assert str(refused.value).startswith(f"{file}: is no")
    left = read_annotations(path, lenient=True, **sample.options)
    assert [skipped.partition(": ")[0] for skipped in left.skipped] == [f"{file}"]
    assert [annotation.clip_id for annotation in left.annotations] == ([sample.clip_ids[1]] if path.is_dir() else [])


@each_format
def test_empty_file_is_refused(name: str, tmp_path: Path) -> None:
    empty = write(tmp_path / "empty.json", "")
    with pytest.raises(InputError, match="is empty"):
        read_annotations(empty, format=name)


@each_format
def test_other_content_is_refused_and_not_read_as_empty(name: str, tmp_path: Path) -> None:
    for value in ([], {}, 1, "text", None, [1], {"a": 1}, [[]], {"clips": 1}, {"bugs": 1}, "a,b\n1,2\n"):
        path = write(tmp_path / "other.json", value)
        with pytest.raises(InputError, match=r"other\.json"):
            read_annotations(path, format=name, fps=16.0, first_frame=1)
        with pytest.raises(InputError, match="is in no known format"):
            read_annotations(path)


# Any content is read, or refused with the file's name.

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 70)
    | st.sampled_from([10**17, 10**400, -(10**17)])
    | st.floats()
    | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=4,
)


def places(value: Any, above: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The ways to all values within a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in inner:
        yield (*above, key)
        yield from places(member, (*above, key))


def put(value: Any, place: tuple[str | int, ...], new: Any) -> None:
    for step in place[:-1]:
        value = value[step]
    value[place[-1]] = new


def _left_out(path: Path, name: str, sample: Sample) -> str:
    """What a lenient reading leaves out, or why it refuses even so: nothing is there, or something twice."""
    try:
        return "\n".join(read_annotations(path, format=name, lenient=True, **sample.options).skipped)
    except InputError as error:
        return str(error)


@each_structured_format
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_any_value_is_read_or_refused_with_the_file(name: str, data: st.DataObject, tmp_path: Path) -> None:
    sample = SAMPLES[name]
    if sample.table:
        ((file, text),) = sample.files.items()
        cells = re.split(r"[,\t\n]", text)
        old = data.draw(st.sampled_from([cell for cell in cells if cell]))
        new = data.draw(st.text(max_size=4) | st.sampled_from(["nan", "-1", "1e999", '"', "12.0", "١"]))
        files: dict[str, Any] = {file: text.replace(old, new)}
    else:
        files = json.loads(json.dumps(sample.files))
        first = next(iter(files.values()))
        put(first, data.draw(st.sampled_from(list(places(first)))), data.draw(JSON))
    folder = tmp_path / data.draw(st.uuids().map(str))
    path = Sample({key: value if sample.table else json.dumps(value) for key, value in files.items()}).write(folder)
    try:
        strict = read_annotations(path, format=name, **sample.options)
    except InputError as error:
        refused = str(error)
    else:
        refused = None
    if refused is not None:
        assert f"{folder}" in refused
        assert f"{folder}" in _left_out(path, name, sample)
        return
    assert read_annotations(path, format=name, lenient=True, **sample.options) == strict
    for annotation in strict.annotations:
        for event in annotation.findings:
            assert union(event.spans) == event.spans
            assert event.severity in (None, 1, 2, 3, 4, 5)
            assert event.confidence is None or 0 <= event.confidence <= 1
