"""What the documentation shows, works."""

import json
import re
import shlex
from pathlib import Path

import click
import examples
import pytest
import yaml

from robogaze.backends import ModelsConfig
from robogaze.cli import cli
from robogaze.datasets.manifest import ManifestEntry
from robogaze.domains import load_domain
from robogaze.domains.contract import record
from robogaze.domains.model import Taxonomy
from robogaze.domains.yaml_files import parse_yaml
from robogaze.evidence import Classifier
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


@pytest.mark.parametrize("page", examples.PAGES, ids=lambda page: page.name)
def test_a_page_shows_what_its_examples_print(page: Path) -> None:
    text = page.read_text()
    assert examples.EXAMPLE.search(text)
    with examples.checkout() as folder, examples.model_server() as server:
        assert examples.with_outputs(text, folder, server) == text, "python scripts/examples.py updates the page"


def test_all_python_in_the_docs_is_run() -> None:
    """Blocks of `py` are parts of a program, and other tests run what can be run of them."""
    run = sum(example["language"] == "python" for page in examples.PAGES for example in found_in(page))
    assert run == len(blocks("python")) > 0


def found_in(page: Path) -> list[re.Match[str]]:
    return list(examples.EXAMPLE.finditer(page.read_text()))


@pytest.mark.parametrize(("page", "text"), blocks("yaml"))
def test_yaml_in_the_docs_is_what_it_says(page: str, text: str) -> None:
    content = yaml.safe_load(text)
    if "models" in content:
        ModelsConfig.model_validate(content)
    elif "classifies" in content:
        Classifier.model_validate(content)
    elif "measure" in content:
        Measure.model_validate(content["measure"]).check(load_domain("robot"))
    elif "cascade" in content:
        severity = load_domain("robot").taxonomy.model_dump(mode="json")["severity"]
        parse_yaml(f"schema_version: 1\nseverity: {json.dumps(severity)}\n{text}", Path(page)).parse(Taxonomy)
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
        for name in re.findall(r"(?:tests/)?scripts/[a-z_/-]+(?:\.py|\.yaml)?", page.read_text()):
            assert (ROOT / name).exists(), f"{page.name} names {name}"


def test_the_core_does_not_lean_on_heavy_packages() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {re.split(r"[<>=!\[; ]", line)[0] for line in project["dependencies"]}
    assert not names & {"torch", "torchvision", "vllm", "transformers", "decord"}
    assert project["optional-dependencies"]["vllm"] == ["vllm>=0.32"]


def test_every_path_in_the_table_of_changes_exists() -> None:
    """NAME stands for the new part, whose folder exists; DOMAIN for any domain."""
    rows = [line for line in (ROOT / "CONTRIBUTING.md").read_text().splitlines() if line.startswith("|")]
    named = {path for row in rows for path in re.findall(r"`((?:robogaze|prompts|taxonomy|tests|docs)/[^`]*)`", row)}
    assert len(named) >= 15
    for path in named:
        place = ROOT / path.replace("DOMAIN", "robot")
        assert (place.parent if place.name.startswith("NAME") else place).exists(), path
