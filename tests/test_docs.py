"""What the documentation shows, works."""

import re
import shlex
from pathlib import Path

import click
import pytest
import yaml
from examples import EXAMPLE, checkout, model_server, with_outputs

from robogaze.backends import ModelsConfig
from robogaze.cli import cli
from robogaze.datasets.manifest import ManifestEntry
from robogaze.domains import load_domain
from robogaze.domains.contract import record
from robogaze.stages.measure import Measure

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])


def blocks(language: str) -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        for text in re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL):
            found.append((page.name, text))
    return found


def commands() -> list[str]:
    lines = [text.replace("\\\n", " ") for _, text in blocks("sh")]
    found = [line.partition("#")[0].strip() for text in lines for line in text.splitlines()]
    return [line for line in found if line.startswith("robogaze ")]


def test_there_is_something_to_check() -> None:
    assert len(commands()) >= 7
    assert blocks("python")
    assert blocks("yaml")


@pytest.mark.parametrize("line", commands())
def test_a_command_in_the_docs_has_these_options(line: str) -> None:
    words = shlex.split(line)[1:]
    command: click.Command = cli
    while isinstance(command, click.Group):
        found = command.get_command(click.Context(command), words[0])
        assert found is not None, words[0]
        command, words = found, words[1:]
    command.make_context("robogaze", words)


def test_the_readme_shows_what_its_commands_print() -> None:
    readme = (ROOT / "README.md").read_text()
    assert len(EXAMPLE.findall(readme)) == 3
    with checkout() as folder, model_server() as server:
        assert with_outputs(readme, folder, server) == readme, "python scripts/examples.py updates README.md"


@pytest.mark.parametrize(("page", "code"), blocks("python"))
def test_python_in_the_docs_runs(
    page: str, code: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    exec(compile(code, page, "exec"), {})
    assert "Span(start=2.25" in capsys.readouterr().out


@pytest.mark.parametrize(("page", "text"), blocks("yaml"))
def test_yaml_in_the_docs_is_what_it_says(page: str, text: str) -> None:
    content = yaml.safe_load(text)
    if "models" in content:
        ModelsConfig.model_validate(content)
    elif "measure" in content:
        Measure.model_validate(content["measure"]).check(load_domain("robot"))
    else:
        record("Answer", content["answer"])


@pytest.mark.parametrize(("page", "text"), blocks("json"))
def test_json_in_the_docs_is_a_manifest_line(page: str, text: str) -> None:
    assert ManifestEntry.model_validate_json(text).instruction


def test_links_lead_somewhere() -> None:
    """In README.md and CONTRIBUTING.md, too; scripts/docs checks the links and anchors of the site."""
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)[^):]*\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_script_in_the_docs_exists() -> None:
    for page in PAGES:
        for name in re.findall(r"scripts/[a-z_/-]+(?:\.py)?", page.read_text()):
            assert (ROOT / name).exists(), f"{page.name} names {name}"


def test_the_core_does_not_lean_on_heavy_packages() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {re.split(r"[<>=!\[; ]", line)[0] for line in project["dependencies"]}
    assert not names & {"torch", "torchvision", "vllm", "transformers", "decord"}
    assert project["optional-dependencies"]["vllm"] == ["vllm>=0.32"]
