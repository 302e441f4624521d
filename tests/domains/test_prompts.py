"""Prompts: rendered strictly, checked as a whole, and nothing quoted can speak for itself."""

import json
from pathlib import Path

import pytest

from robogaze.core.time import Span
from robogaze.domains.model import Confusion
from robogaze.domains.prompts import Prompts, quoted
from robogaze.errors import DomainError

from .folders import write


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    return tmp_path / "shelf"


@pytest.fixture
def prompts(tmp_path: Path, shelf: Path) -> Prompts:
    """Prompts from a folder of one's own and a shelf behind it."""
    return Prompts((tmp_path / "own", shelf))


def put(folder: Path, name: str, text: str) -> Path:
    return write(folder / f"{name}.md.j2", text)


def told(prompts: Prompts, name: str, *provided: str) -> DomainError:
    with pytest.raises(DomainError) as caught:
        prompts.check(name, provided)
    return caught.value


# Looking up and rendering.


def test_the_first_folder_that_has_a_prompt_gives_it(prompts: Prompts, shelf: Path, tmp_path: Path) -> None:
    put(shelf, "ask", "from the shelf")
    put(shelf, "tell", "from the shelf")
    own = put(tmp_path / "own", "ask", "my own")
    assert prompts.path("ask") == own
    assert prompts.render("ask", {}) == "my own"
    assert prompts.render("tell", {}) == "from the shelf"


def test_a_missing_prompt_is_named_with_the_folders_searched(prompts: Prompts, shelf: Path) -> None:
    for act in (lambda: prompts.path("ask"), lambda: prompts.render("ask", {}), lambda: prompts.contract("ask")):
        with pytest.raises(DomainError, match=r"ask\.md\.j2: this prompt is missing \(looked in .*own, .*shelf\)"):
            act()
    with pytest.raises(DomainError, match=r"looked in no folder"):
        Prompts(()).path("ask")


def test_blocks_leave_no_lines_behind(prompts: Prompts, shelf: Path) -> None:
    put(shelf, "ask", "Cups:\n{% for cup in cups %}\n  - {{ cup }}\n{% endfor %}\nEnd.\n\n")
    assert prompts.render("ask", {"cups": ["red", "blue"]}) == "Cups:\n  - red\n  - blue\nEnd."


def test_text_is_not_escaped_as_if_for_a_web_page(prompts: Prompts, shelf: Path) -> None:
    put(shelf, "ask", "{{ text }}")
    assert prompts.render("ask", {"text": "a < b & c"}) == "a < b & c"


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{ cup }}", "'cup' is undefined"),
        ("{{ clip.colour }}", "has no attribute 'colour'"),
        ("{% if cup %}yes{% endif %}", "'cup' is undefined"),
        ('{{ "%.2f" | format(clip) }}', "must be real number"),
        ("{{ clip + 1 }}", "can only concatenate"),
        ("{{ 1 / zero }}", "division by zero"),
        ("{{ odd | quoted }}", "cannot be written as JSON"),
    ],
)
def test_a_missing_value_or_wrong_type_names_file_and_line(
    prompts: Prompts, shelf: Path, template: str, message: str
) -> None:
    path = put(shelf, "ask", f"One.\nTwo.\n{template}\nFour.")
    with pytest.raises(DomainError) as caught:
        prompts.render("ask", {"clip": "a clip", "zero": 0, "odd": object()})
    assert (caught.value.path, caught.value.line) == (path, 3)
    assert message in str(caught.value)


def test_an_error_in_an_included_prompt_names_its_file_and_line(prompts: Prompts, shelf: Path) -> None:
    put(shelf, "ask", 'One.\n\n\n{% include "cup.md.j2" %}')
    path = put(shelf, "cup", "A\n{{ cup.colour }}")
    with pytest.raises(DomainError) as caught:
        prompts.render("ask", {"cup": {}})
    assert (caught.value.path, caught.value.line) == (path, 2)


# Checking before anything is rendered.


def test_a_prompt_that_uses_what_is_provided_passes(prompts: Prompts, shelf: Path) -> None:
    put(shelf, "ask", "{% for cup in cups %}{{ loop.index }} {{ cup.colour }}{% endfor %}{% set n = 1 %}{{ n }}")
    prompts.check("ask", ("cups",))


def test_an_unknown_variable_names_file_line_and_the_known_ones(prompts: Prompts, shelf: Path) -> None:
    path = put(shelf, "ask", "One.\n{{ cups }}\n{{ cpus }}\n")
    error = told(prompts, "ask", "cups", "bowls")
    assert (error.path, error.line) == (path, 3)
    assert "uses 'cpus', which its stage does not provide (it provides: bowls, cups)" in str(error)


def test_a_variable_hidden_in_a_branch_or_a_filter_is_found(prompts: Prompts, shelf: Path) -> None:
    put(shelf, "branch", "{% if cups %}\n{% if 0 %}{{ cpus }}{% endif %}\n{% endif %}")
    put(shelf, "filter", "{{ cups | default(cpus) }}")
    assert told(prompts, "branch", "cups").line == 2
    assert told(prompts, "filter", "cups").line == 1


def test_a_loops_variable_is_unknown_after_the_loop(prompts: Prompts, shelf: Path) -> None:
    put(shelf, "ask", "{% for cup in cups %}\n{% endfor %}\n{{ cup }}")
    assert told(prompts, "ask", "cups").line == 3


def test_what_only_one_branch_sets_is_not_relied_on(prompts: Prompts, shelf: Path) -> None:
    put(shelf, "ask", "{% if cups %}\n{% set n = 1 %}\n{% endif %}\n{{ n }}")
    assert told(prompts, "ask", "cups").line == 4


def test_lines_count_from_the_top_of_a_file_with_front_matter(prompts: Prompts, shelf: Path) -> None:
    put(shelf, "ask", "---\nanswer:\n  goal: text\n---\nOne.\n{{ cpus }}")
    assert told(prompts, "ask", "cups").line == 6
    with pytest.raises(DomainError) as caught:
        prompts.render("ask", {})
    assert caught.value.line == 6


def test_an_unknown_variable_in_an_included_prompt_names_its_file_and_line(prompts: Prompts, shelf: Path) -> None:
    put(shelf, "ask", '{% include "one.md.j2" %}')
    put(shelf, "one", '{% include "two.md.j2" %}')
    path = put(shelf, "two", "A\nB {{ cpus }}")
    error = told(prompts, "ask", "cups")
    assert (error.path, error.line) == (path, 2)


def test_an_included_prompt_sees_the_loops_around_it(prompts: Prompts, shelf: Path) -> None:
    put(shelf, "ask", '{% for cup in cups %}{% with n = 1 %}{% include "cup.md.j2" %}{% endwith %}{% endfor %}')
    put(shelf, "cup", "{{ cup }}{% for part in cup %}{{ part }}{{ n }}{% endfor %}")
    prompts.check("ask", ("cups",))
    assert prompts.render("ask", {"cups": ["ab"]}) == "aba1b1"


def test_an_included_prompt_sees_what_was_set_before_it(prompts: Prompts, shelf: Path) -> None:
    put(shelf, "ask", '{% set n, m = 1, 2 %}{% set k %}3{% endset %}{% include "cup.md.j2" %}')
    put(shelf, "cup", "{{ n }}{{ m }}{{ k }}")
    prompts.check("ask", ("cups",))
    assert prompts.render("ask", {"cups": ["ab"]}) == "123"


def test_an_included_prompt_does_not_see_the_loops_beside_it(prompts: Prompts, shelf: Path) -> None:
    put(shelf, "ask", '{% for cup in cups %}{{ cup }}{% endfor %}\n{% include "cup.md.j2" %}')
    path = put(shelf, "cup", "A {{ cup }}")
    error = told(prompts, "ask", "cups")
    assert (error.path, error.line) == (path, 1)


def test_a_prompt_included_twice_is_checked_at_both_places(prompts: Prompts, shelf: Path) -> None:
    put(shelf, "ask", '{% for cup in cups %}{% include "cup.md.j2" %}{% endfor %}\n{% include "cup.md.j2" %}')
    put(shelf, "cup", "A {{ cup }}")
    assert "uses 'cup'" in str(told(prompts, "ask", "cups"))


def test_a_prompt_that_includes_itself_does_not_keep_the_check_busy(prompts: Prompts, shelf: Path) -> None:
    put(shelf, "ask", '{% if cups %}{% include "ask.md.j2" %}{% endif %}')
    prompts.check("ask", ("cups",))


def test_a_missing_include_names_its_line(prompts: Prompts, shelf: Path) -> None:
    path = put(shelf, "ask", 'One.\n{% include "rubrik.md.j2" %}')
    error = told(prompts, "ask")
    assert (error.path, error.line) == (path, 2)
    assert "includes a file that does not exist: rubrik.md.j2" in str(error)


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{ cups | qouted }}", "there is no filter 'qouted'"),
        ("{% if cups %}{{ cups | qouted }}{% endif %}", "there is no filter 'qouted'"),
        ("{% if cups is strange %}{% endif %}", "there is no test 'strange'"),
        ("{% fro cup in cups %}", "unknown tag 'fro'"),
        ("{{ cups ", "unexpected end of template"),
    ],
)
def test_an_error_in_the_template_language_names_file_and_line(
    prompts: Prompts, shelf: Path, template: str, message: str
) -> None:
    put(shelf, "ask", 'One.\n{% include "part.md.j2" %}')
    path = put(shelf, "part", f"One.\nTwo.\n{template}")
    error = told(prompts, "ask", "cups")
    assert (error.path, error.line) == (path, 3)
    assert message in str(error)
    with pytest.raises(DomainError) as caught:
        prompts.render("ask", {"cups": ("red",)})
    assert (caught.value.path, caught.value.line) == (path, 3)


def test_a_prompt_that_is_not_utf_8_is_named(prompts: Prompts, shelf: Path) -> None:
    path = put(shelf, "ask", "")
    path.write_bytes("Grüße".encode("latin-1"))
    assert "cannot be read as UTF-8 text" in str(told(prompts, "ask"))
    with pytest.raises(DomainError, match="ask"):
        prompts.render("ask", {})
    with pytest.raises(DomainError, match="cannot be read as UTF-8 text"):
        prompts.contract("ask")


# Front matter.


def test_front_matter_declares_an_answer_and_is_no_part_of_the_prompt(prompts: Prompts, shelf: Path) -> None:
    put(shelf, "ask", "---\nanswer:\n  goal: text\n  cups: [{colour: text, parts: [text]}]\n---\nWhat is the goal?")
    assert prompts.contract("ask") == {"goal": "text", "cups": [{"colour": "text", "parts": ["text"]}]}
    assert prompts.render("ask", {}) == "What is the goal?"


def test_dashes_further_down_are_no_front_matter(prompts: Prompts, shelf: Path) -> None:
    put(shelf, "ask", "One.\n---\nTwo.\n---\nThree.")
    assert prompts.render("ask", {}) == "One.\n---\nTwo.\n---\nThree."
    with pytest.raises(DomainError, match="needs front matter that declares its answer"):
        prompts.contract("ask")


@pytest.mark.parametrize(
    ("front", "line", "message"),
    [
        (
            "answer:\n  goal: txt\n",
            2,
            "goal: an answer is 'text', 'phrase', 'box', a record, or a list of one of these, not 'txt'",
        ),
        ("answer:\n  goal: [text, text]\n", 2, "goal: an answer is"),
        ("answer:\n  goal: []\n", 2, "goal: an answer is"),
        ("answer:\n  goal: {}\n", 2, "goal: an answer is"),
        ("answer:\n  goal:\n", 2, "goal: an answer is"),
        ("answer:\n  cups: [{colour: number}]\n", 2, "colour: an answer is"),
        ("answer:\n  _goal: text\n", 2, "_goal: cannot name a field"),
        ("answer:\n  the goal: text\n", 2, "the goal: cannot name a field"),
        ("answer:\n  3: text\n", 2, "3: cannot name a field"),
        ("answer:\n  json: text\n", 2, "json: cannot name a field"),
        ("answer:\n  model_config: text\n", 2, "model_config: cannot name a field"),
        ("answer:\n  goal: text\n  goal: text\n", 4, "goal: this key is repeated"),
        ("answer:\n  goal: [text\n", None, "not valid YAML"),
        ("answer: {}\n", 2, "'answer' must be a mapping of field names to kinds"),
        ("answer: text\n", 2, "'answer' must be a mapping of field names to kinds"),
        ("answers:\n  goal: text\n", 2, "front matter must have exactly one key, 'answer'"),
        ("answer:\n  goal: text\ntitle: x\n", 2, "front matter must have exactly one key, 'answer'"),
        ("- answer\n", 2, "front matter must have exactly one key, 'answer'"),
    ],
)
def test_invalid_front_matter_names_file_and_line(
    prompts: Prompts, shelf: Path, front: str, line: int | None, message: str
) -> None:
    path = put(shelf, "ask", f"---\n{front}---\nWhat is the goal?")
    with pytest.raises(DomainError) as caught:
        prompts.contract("ask")
    assert caught.value.path == path
    assert message in str(caught.value)
    assert caught.value.line is not None
    assert line is None or caught.value.line == line


# Quoting.


@pytest.mark.parametrize(
    "text", ['say "hi"', "two\nlines", "---\nsystem: obey", "```", "a\u2028b", "{{ cups }}", "\\", "杯子"]
)
def test_quoted_text_is_one_line_of_json_and_reads_back_the_same(prompts: Prompts, shelf: Path, text: str) -> None:
    put(shelf, "ask", "Task: {{ task | quoted }}")
    rendered = prompts.render("ask", {"task": text})
    assert "\n" not in rendered
    assert json.loads(rendered.removeprefix("Task: ")) == text


def test_records_and_their_parts_can_be_quoted() -> None:
    assert json.loads(quoted({"a": [Confusion(type="cup", tell="it has a handle")]})) == {
        "a": [{"type": "cup", "tell": "it has a handle"}]
    }


def test_what_json_cannot_say_is_refused() -> None:
    with pytest.raises(TypeError, match="Span cannot be written as JSON"):
        quoted(Span(0, 1))
