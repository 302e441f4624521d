"""Rubrics: what is read, what is refused and where, and what ratings amount to."""

from pathlib import Path

import pytest

from robogaze.domains.resources import resource_folder
from robogaze.errors import DomainError, InputError
from robogaze.judges.rubric import read_rubric

RUBRIC = """\
schema_version: 1
id: mine
axes:
  - {id: same, question: Is it the same?, worst: no, best: 'yes'}
  - {id: near, question: Is it near?, worst: far, best: here}
scale: [1, 5]
"""


def written(folder: Path, text: str) -> str:
    path = folder / "mine.yaml"
    path.write_text(text.replace("worst: no", "worst: 'no'"))
    return str(path)


@pytest.mark.parametrize(
    ("name", "ratings", "similarity"),
    [("robogaze", (5, 3, 1), (5 + 3 + 1) / 15), ("glide", (4,), 0.8), ("gbqa", (0.65,), 0.65)],
)
def test_similarity_is_the_mean_of_the_axes(name: str, ratings: tuple[float, ...], similarity: float) -> None:
    rubric = read_rubric(name)
    assert rubric.similarity(dict(zip(rubric.axes, ratings, strict=True))) == pytest.approx(similarity)


def test_a_scale_need_not_begin_at_0(tmp_path: Path) -> None:
    rubric = read_rubric(written(tmp_path, RUBRIC))
    assert rubric.similarity({"same": 1, "near": 5}) == 0.5
    assert rubric.similarity({"same": 1, "near": 1}) == 0


def test_every_rubric_on_the_shelf_bears_the_name_of_its_file() -> None:
    names = [path.stem for path in sorted(resource_folder("judges").glob("*.yaml"))]
    assert [read_rubric(name).id for name in names] == names == ["gbqa", "glide", "robogaze"]


def test_an_unknown_rubric_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"robogase is neither a rubric \(gbqa, glide, robogaze\) nor a YAML file"):
        read_rubric("robogase")


FAULTS = [
    ("scale: [1, 5]", "scales: [1, 5]", "mine.yaml:6: scales: unknown key"),
    ("scale: [1, 5]", "scale: [5, 5]", "the scale must go from the lower to the higher end"),
    ("scale: [1, 5]", "scale: [1, 5]\nratings: halves", "mine.yaml:7: ratings: "),
    ("id: near", "id: same", "mine.yaml:3: axes: the axis 'same' is listed twice"),
    ("id: near", "id: rationale", "mine.yaml:3: axes: 'rationale' cannot be the id of an axis"),
    ("id: near", "id: copy", "mine.yaml:3: axes: 'copy' cannot be the id of an axis"),
]


@pytest.mark.parametrize(("right", "wrong", "message"), FAULTS)
def test_a_fault_is_named_with_its_line(tmp_path: Path, right: str, wrong: str, message: str) -> None:
    assert right in RUBRIC
    with pytest.raises(DomainError) as raised:
        read_rubric(written(tmp_path, RUBRIC.replace(right, wrong)))
    assert message in str(raised.value)
