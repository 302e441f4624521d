"""The tree of errors is drawn as it is, and an error survives the way out of a worker process."""

import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from robogaze import errors
from robogaze.errors import BackendError, DomainError, MissingExtra, RateLimited, RobogazeError

SAMPLES = {
    DomainError: DomainError("colour: unknown key", Path("cups/domain.yaml"), 7),
    MissingExtra: MissingExtra("torch", "transformers"),
    RateLimited: RateLimited("the server asks for patience", retry_after_s=3.0),
}


def tree(kind: type[BaseException], depth: int = 0) -> Iterator[tuple[str, int]]:
    yield kind.__name__, depth
    for below in sorted(kind.__subclasses__(), key=lambda one: one.__name__):
        if below.__module__ == errors.__name__:
            yield from tree(below, depth + 1)


KINDS = [getattr(errors, name) for name, _ in tree(RobogazeError)]


def test_the_tree_that_is_drawn_is_the_tree_that_is() -> None:
    drawn = re.findall(r"^    ([│├└─ ]*)(\w+)  ", errors.__doc__ or "", re.MULTILINE)
    depths = {name: len(branches) // 4 for branches, name in drawn}
    assert depths == dict(tree(RobogazeError))


def test_the_drawing_says_which_errors_may_be_retried() -> None:
    lines = {found[1]: found[2] for found in re.finditer(r"(\w+)  +(.+)$", errors.__doc__ or "", re.MULTILINE)}
    for kind in BackendError.__subclasses__():
        assert lines[kind.__name__].startswith("retryable" if kind.retryable else "permanent")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_error_is_the_same_after_pickling(kind: type[RobogazeError]) -> None:
    error = SAMPLES.get(kind) or kind("a sentence")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_an_error_of_a_domain_says_where() -> None:
    assert str(SAMPLES[DomainError]) == "cups/domain.yaml:7: colour: unknown key"
    assert str(DomainError("is missing", Path("a.yaml"))) == "a.yaml: is missing"


def test_a_missing_extra_says_how_to_install_it() -> None:
    assert str(SAMPLES[MissingExtra]) == (
        "torch is not installed; install it with: pip install 'robogaze[transformers]', or in a checkout: "
        "pip install -e '.[transformers]'"
    )
