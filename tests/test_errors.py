"""The documented tree of errors, the kinds of failure, and pickling."""

import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from robogaze import errors
from robogaze.errors import (
    AnswersPending,
    BackendError,
    DomainError,
    EnvironmentFault,
    FailureKind,
    MissingExtra,
    RateLimited,
    RobogazeError,
)

SAMPLES = {
    AnswersPending: AnswersPending(Path("batch"), {"a", "b"}),
    DomainError: DomainError("colour: unknown key", Path("cups/domain.yaml"), 7),
    EnvironmentFault: EnvironmentFault("no reply within 30 s", "timeout"),
    MissingExtra: MissingExtra("torch", "transformers"),
    RateLimited: RateLimited("too many requests", retry_after_s=3.0),
}


def tree(kind: type[BaseException], depth: int = 0) -> Iterator[tuple[str, int]]:
    yield kind.__name__, depth
    for subclass in sorted(kind.__subclasses__(), key=lambda subclass: subclass.__name__):
        if subclass.__module__ == errors.__name__:
            yield from tree(subclass, depth + 1)


ERRORS = [getattr(errors, name) for name, _ in tree(RobogazeError)]


def test_docstring_draws_the_tree_of_errors() -> None:
    drawn = re.findall(r"^    ([│├└─ ]*)(\w+)  ", errors.__doc__ or "", re.MULTILINE)
    depths = {name: len(branches) // 4 for branches, name in drawn}
    assert depths == dict(tree(RobogazeError))


def test_docstring_marks_the_retryable_errors() -> None:
    lines = {found[1]: found[2] for found in re.finditer(r"(\w+)  +(.+)$", errors.__doc__ or "", re.MULTILINE)}
    for error in BackendError.__subclasses__():
        assert lines[error.__name__].startswith("retryable" if error.kind.unanswered else "permanent")


def test_every_backend_error_has_a_kind_of_its_own() -> None:
    subclasses = BackendError.__subclasses__()
    assert len({error.kind for error in subclasses}) == len(subclasses)


def test_every_kind_of_failure_is_documented() -> None:
    documented = re.findall(r"^    (\w+)  +\w", FailureKind.__doc__ or "", re.MULTILINE)
    assert documented == list(FailureKind)


def test_unanswered_requests_are_retried_and_unusable_answers_only_on_request() -> None:
    assert {kind for kind in FailureKind if kind.unanswered} == {
        "unreachable",
        "rate_limited",
        "server_fault",
        "stalled",
    }
    assert {kind for kind in FailureKind if kind.retried_on_request} == {"refused", "invalid_answer", "undecided"}


def test_docs_say_what_is_retried_for_every_kind_of_failure() -> None:
    page = (Path(__file__).parents[1] / "docs" / "models.md").read_text()
    documented = dict(re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|$", page, re.MULTILINE))
    assert documented.pop("kind") == "is retried"
    assert list(documented) == list(FailureKind)
    for kind in FailureKind:
        assert (documented[kind] == "by the same command") == kind.unanswered
        assert (documented[kind] == "with `--retry-failed`") == kind.retried_on_request


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_errors_can_be_pickled(kind: type[RobogazeError]) -> None:
    error = SAMPLES.get(kind) or kind("a sentence")
    loaded = pickle.loads(pickle.dumps(error))
    assert type(loaded) is kind
    assert str(loaded) == str(error)
    assert vars(loaded) == vars(error)


def test_domain_error_names_file_and_line() -> None:
    assert str(SAMPLES[DomainError]) == "cups/domain.yaml:7: colour: unknown key"
    assert str(DomainError("is missing", Path("a.yaml"))) == "a.yaml: is missing"


def test_missing_extra_says_how_to_install_it() -> None:
    assert str(SAMPLES[MissingExtra]) == (
        "torch is not installed; install it with: pip install 'robogaze[transformers]', or in a checkout: "
        "pip install -e '.[transformers]'"
    )
