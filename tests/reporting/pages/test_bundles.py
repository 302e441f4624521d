"""Where the data of a page lies."""

import json
from collections.abc import Iterator

import pytest

from robogaze.reporting.pages import bundles as module
from robogaze.reporting.pages.bundles import Bundle, bundles


@pytest.fixture(autouse=True)
def limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "IN_PAGE_CHARACTERS", 20)
    monkeypatch.setattr(module, "BUNDLE_CHARACTERS", 15)


def texts(*lengths: int) -> Iterator[tuple[str, str]]:
    """JSON texts so long, by letters."""
    return ((name, json.dumps("x" * (length - 2))) for name, length in zip("abcdef", lengths, strict=False))


def laid(*lengths: int) -> list[tuple[str | None, str]]:
    return [(bundle.file, "".join(bundle.data)) for bundle in bundles(texts(*lengths))]


def test_up_to_the_limit_all_stays_in_the_page() -> None:
    assert laid(10, 10) == [(None, "ab")]
    assert laid() == [(None, "")]


def test_beyond_it_nothing_does() -> None:
    assert laid(10, 5, 6) == [("page/000.js", "ab"), ("page/001.js", "c")]


def test_a_text_is_never_cut() -> None:
    assert laid(5, 40, 5) == [("page/000.js", "a"), ("page/001.js", "b"), ("page/002.js", "c")]


def test_what_comes_is_not_all_held_at_once() -> None:
    taken = []

    def counted() -> Iterator[tuple[str, str]]:
        for key, text in texts(12, 12, 12, 12, 12, 12):
            taken.append(key)
            yield key, text

    next(bundles(counted()))
    assert taken == ["a", "b"]


def test_a_file_is_one_call_with_its_data_as_one_text() -> None:
    text = Bundle("page/000.js", {"__proto__": '{"a": "</script>\\u2028"}', "b": "1"}).text
    assert text.startswith('bundleArrived("page/000.js", "')
    assert text.endswith('");\n')
    inner = json.loads(text.removeprefix('bundleArrived("page/000.js", ').removesuffix(");\n"))
    assert json.loads(inner) == {"__proto__": {"a": "</script>\u2028"}, "b": 1}
