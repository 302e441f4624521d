"""A domain folder is data: its templates do nothing but make a text of bounded size in bounded time."""

import os
import time
from pathlib import Path

import pytest

from robogaze.domains import load_domain
from robogaze.domains.prompts import Prompts
from robogaze.domains.render_limits import LIMITS, RenderLimits
from robogaze.errors import DomainError

from .folders import make_folder, write

SECONDS = 5.0
_DOUBLED = "{% set a0 = 'xxxxxxxxxx' %}" + "".join(f"{{% set a{n + 1} = a{n} OP a{n} %}}" for n in range(45))
_LISTS = "{% set a0 = [1, 1] %}" + "".join(f"{{% set a{n + 1} = [a{n}, a{n}] %}}" for n in range(45))
_TUPLES = "{% set b0 = (1, 1) %}" + "".join(f"{{% set b{n + 1} = (b{n}, b{n}) %}}" for n in range(45))
_LOOPS = "{% for a in range(9999) %}{% for b in range(9999) %}{% for c in range(9999) %}.{% endfor %}{% endfor %}"

REACHES_OUT = {
    "class walk": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "class by item": "{{ ''['__class__'] }}",
    "class by map": "{{ [''] | map(attribute='__class__') | list | quoted }}",
    "class by attr filter": "{{ '' | attr('__class__') }}",
    "globals of a macro": "{% macro m() %}{% endmacro %}{{ m.__globals__ }}",
    "globals of cycle": "{% for x in [1] %}{{ loop.cycle.__globals__ }}{% endfor %}",
    "self": "{{ self.__init__ }}",
    "lipsum": "{{ lipsum.__globals__['os'].popen('id').read() }}",
    "cycler": "{{ cycler.__init__.__globals__ }}",
    "format reads attributes": "{{ '{0.__class__}'.format(clip) }}",
    "format_map reads attributes": "{{ '{a.__class__}'.format_map({'a': clip}) }}",
    "format filter of an object": "{{ '%s' | format(clip.resolve) }}",
    "method of a value": "{{ clip.read_text() }}",
    "method of a value, by item": "{{ clip['read_text']() }}",
    "a list is changed": "{{ cups.append(1) }}",
    "a mapping is changed": "{% set d = {} %}{{ d.update({'a': 1}) }}",
    "import": "{% import 'ask.md.j2' as x %}",
    "extends": "{% extends 'ask.md.j2' %}",
    "include out of the folder": "{% include '../secret.md.j2' %}",
    "include of an absolute path": "{% include '/etc/hostname' %}",
    "include by a value": "{% include cups[0] %}",
    "a filter of the sandbox": "{{ cups | _counted(1) }}",
}
RUNS_AWAY = {
    "range": "{% for x in range(10 ** 9) %}{% endfor %}",
    "long range": "{% for x in range(1000000000) %}{% endfor %}",
    "nested ranges": _LOOPS + "{% endfor %}",
    "loops that print nothing": _LOOPS.replace(".", "{% set x = 1 %}") + "{% endfor %}",
    "loops in a macro": "{% macro m() %}" + _LOOPS + "{% endfor %}{% endmacro %}{{ m() }}",
    "long text": "{{ 'x' * 10 ** 10 }}",
    "long text of a constant": "{{ 'x' * 10000000000 }}",
    "long list": "{{ ([1] * 10000000000) | length }}",
    "large power": "{{ 9 ** 9 ** 9 }}",
    "large product": "{% set a = 9999999999999 %}{{ a * a * a * a }}",
    "doubled with ~": _DOUBLED.replace("OP", "~") + "{{ a45 | length }}",
    "doubled with +": _DOUBLED.replace("OP", "+") + "{{ a45 | length }}",
    "doubled by a block": "{% set a0 = 'xxxxxxxxxx' %}"
    + "".join(f"{{% set a{n + 1} %}}{{{{ a{n} }}}}{{{{ a{n} }}}}{{% endset %}}" for n in range(45)),
    "doubled by replace": "{% set a = 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' %}"
    + "{% set a = a | replace('x', a) %}" * 9
    + "{{ a | length }}",
    "doubled by join": "{% set a = 'xxxxxxxxxx' %}" + "{% set a = [a, a, a, a, a, a, a, a] | join(a) %}" * 9,
    "doubled list is printed": _LISTS + "{{ a45 }}",
    "doubled list is quoted": _LISTS + "{{ a45 | quoted }}",
    "doubled list is joined": _LISTS + "{{ a45 | join }}",
    "doubled list is formatted": _LISTS + "{{ '%s' | format(a45) }}",
    "doubled lists are compared": _LISTS + _LISTS.replace("a", "c").replace("set c", "set c") + "{{ a45 == a44 }}",
    "doubled lists are searched": _LISTS + "{{ a45 in [a44] }}",
    "a doubled tuple is a key": _TUPLES + "{{ {b45: 1} | length }}",
    "a doubled tuple is looked up": _TUPLES + "{% set d = {1: 1} %}{{ d[b45] }}",
    "doubled tuples are unique": _TUPLES + "{{ [b45, b45] | unique | list | length }}",
    "wide format": "{{ '%1000000000d' | format(1) }}",
    "format with a width of its own": "{{ '%*d' | format(1000000000, 1) }}",
    "exact format": "{{ '%.1000000000f' | format(1.0) }}",
    "percent": "{{ '%1000000000d' % 1 }}",
    "justified": "{{ 'x'.ljust(10000000000) }}",
    "centred": "{{ 'x' | center(10000000000) }}",
    "indented": "{{ 'x' | indent(10000000000, true) }}",
    "rounded far": "{{ 5 | round(-1000000000) }}",
    "includes itself": "{% include 'ask.md.j2' %}",
    "includes itself twice": "{% include 'ask.md.j2' %}{% include 'ask.md.j2' %}",
    "calls itself": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "calls itself twice": "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}",
    "recursive loop": "{% for x in [[1]] recursive %}{{ loop([x, x]) }}{% endfor %}",
    "deep parentheses": "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}",
    "deep list": "{{ " + "[" * 500 + "]" * 500 + " }}",
    "long sum": "{{ 1" + " + 1" * 20_000 + " }}",
    "deep ifs": "{% if cups %}" * 400 + "{% endif %}" * 400,
    "large number": "{{ " + "9" * 5000 + " }}",
    "large template": "{{ cups[0] }}" * 100_000,
    "an odd key": "{{ cups[[]] }}",
}


def prompts(tmp_path: Path, template: str, limits: RenderLimits = LIMITS) -> Prompts:
    write(tmp_path / "prompts" / "ask.md.j2", f"One.\nTwo.\n{template}\nFour.")
    write(tmp_path / "secret.md.j2", "the secret")
    return Prompts((tmp_path / "prompts",), domain_path=tmp_path / "prompts", limits=limits)


def check_and_render(asked: Prompts, variables: dict[str, object]) -> str:
    asked.check("ask", tuple(variables))
    return asked.render("ask", variables)


@pytest.mark.parametrize("name", [*REACHES_OUT, *RUNS_AWAY])
def test_a_hostile_template_is_refused_with_its_line_within_seconds(tmp_path: Path, name: str) -> None:
    hostile = prompts(tmp_path, (REACHES_OUT | RUNS_AWAY)[name])
    started = time.process_time()
    with pytest.raises(DomainError) as caught:
        check_and_render(hostile, {"clip": tmp_path, "cups": ["red", "blue"]})
    assert time.process_time() - started < SECONDS
    assert caught.value.path.name == "ask.md.j2" or "include" in name
    assert caught.value.line == 3 or "large template" in name
    assert 0 < len(caught.value.message) < 1000


def test_a_template_that_prints_much_ends_at_the_limit(tmp_path: Path) -> None:
    long = prompts(tmp_path, "{% for x in range(9999) %}" + "y" * 1000 + "{% endfor %}")
    with pytest.raises(DomainError, match=r"ask\.md\.j2:3: rendering makes a text of more than 2,000,000 characters"):
        long.render("ask", {})


def test_a_template_that_takes_long_ends_at_the_limit(tmp_path: Path) -> None:
    slow = prompts(tmp_path, _LOOPS + "{% endfor %}", RenderLimits(steps=10**12, characters=10**12, seconds=0.2))
    started = time.process_time()
    with pytest.raises(DomainError, match=r"takes more than 0\.2 s"):
        slow.render("ask", {})
    assert time.process_time() - started < 2


def test_what_prompts_are_made_of_works(tmp_path: Path) -> None:
    text = (
        "{% macro both(a, b='z') %}{{ a ~ '-' ~ b }}{% endmacro %}{{ both('x') }} "
        "{% for name, sizes in cups.items() %}{{ loop.index }}{{ name | upper }}{{ sizes | join('+') }}"
        "{{ loop.cycle(';', '.') }}{% else %}none{% endfor %} "
        "{{ cups | length }} {{ 7 // 2 + 1.5 }} {{ '%5.1f|%s' | format(2.25, 'a') }} "
        "{% if 'red' in cups and cups['red'][0] == 1 and cups.get('x') is none %}yes{% endif %} "
        "{{ [3, 1, 2] | sort | join }} {{ names | map(attribute='n') | sum }} "
        "{{ names | sort(attribute='n') | quoted }} "
        "{% set s %}{{ 1 }}{% endset %}{{ s }} {% with t = 2 %}{{ t }}{% endwith %} "
        "{{ 'abc'[1:] }} {{ none }} {{ true }} {{ [1, 2.5] }}"
    )
    variables = {"cups": {"red": [1, 2], "blue": [3]}, "names": [{"n": 2}, {"n": 1}]}
    assert prompts(tmp_path, text).render("ask", variables).splitlines()[2] == (
        'x-z 1RED1+2;2BLUE3. 2 4.5   2.2|a yes 123 3 [{"n": 1}, {"n": 2}] 1 2 bc None True [1, 2.5]'
    )


def test_the_check_of_a_domain_finds_what_reaches_out_of_a_template(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    write(folder / "prompts" / "vanilla.md.j2", "{% import 'os' as os %}")
    with pytest.raises(DomainError, match=r"vanilla\.md\.j2:1: 'import' is not allowed"):
        load_domain(folder).prompts.check("vanilla", ())


# Links.


@pytest.mark.parametrize(
    "place", ["prompts/vanilla.md.j2", "taxonomy.yaml", "pipelines/extra.yaml", "judges/mine.yaml", "aliases.yaml", "x"]
)
def test_a_link_out_of_the_domains_folder_is_refused(tmp_path: Path, place: str) -> None:
    folder, secret = make_folder(tmp_path), write(tmp_path / "secret", "the secret")
    (folder / place).unlink(missing_ok=True)
    (folder / place).parent.mkdir(exist_ok=True)
    (folder / place).symlink_to(os.path.relpath(secret, (folder / place).parent))
    with pytest.raises(DomainError, match="leads out of the domain's folder") as caught:
        load_domain(folder)
    assert caught.value.path == folder / place


def test_a_folder_that_is_a_link_out_of_the_domains_folder_is_refused(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    write(tmp_path / "elsewhere" / "vanilla.md.j2", "the secret")
    (folder / "prompts").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DomainError, match="leads out of the domain's folder"):
        load_domain(folder)


def test_links_that_go_in_a_circle_are_refused(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    (folder / "a").symlink_to("b")
    (folder / "b").symlink_to("a")
    with pytest.raises(DomainError, match="cannot be followed"):
        load_domain(folder)


def test_a_link_put_there_after_the_domain_was_loaded_is_refused(tmp_path: Path) -> None:
    folder, secret = make_folder(tmp_path), write(tmp_path / "secret", "the secret")
    write(folder / "prompts" / "other.md.j2", "Look.")
    domain = load_domain(folder)
    (folder / "prompts" / "vanilla.md.j2").symlink_to(secret)
    with pytest.raises(DomainError, match="leads out of the domain's folder"):
        domain.prompts.render("vanilla", {})


def test_a_link_within_the_domains_folder_and_a_linked_folder_work(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    write(folder / "prompts" / "other.md.j2", "Look well.")
    (folder / "prompts" / "vanilla.md.j2").symlink_to("other.md.j2")
    (tmp_path / "linked").symlink_to(folder)
    for path in (folder, tmp_path / "linked"):
        assert load_domain(path).prompts.render("vanilla", {}) == "Look well."
