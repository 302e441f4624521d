"""prompts/README.md names the values that each prompt gets, and the folders there are."""

import re

from robogaze.domains import domain_folders, load_domain
from robogaze.domains.resources import resource_folder
from robogaze.interactive.play_client import PLAY_PROMPTS
from robogaze.stages.client import PROMPTS
from robogaze.stages.pipeline import Pipeline
from robogaze.stages.robogaze.propose import Propose
from robogaze.stages.robogaze.verify import Verify
from robogaze.stages.tools import TOOLS

README = (resource_folder("prompts") / "README.md").read_text(encoding="utf-8")


def templates() -> dict[str, set[str]]:
    """Every prompt that a stage of a shipped pipeline renders, with its variables."""
    rendered: dict[str, type] = dict(PROMPTS)
    for name in domain_folders():
        domain = load_domain(name)
        for pipeline in domain.pipelines:
            for _, stage in Pipeline.build(domain, pipeline).stages:
                rendered |= {prompt: kind for prompt, kind in stage.templates().items() if "/" not in prompt}
    for stage_with_tools in (Propose(tools=TOOLS.names()), Verify(tools=TOOLS.names())):
        rendered |= stage_with_tools.templates()
    played = {prompt: set(names) for prompt, names in PLAY_PROMPTS.items()}
    return played | {prompt: set(variables.__annotations__) for prompt, variables in rendered.items()}


def test_every_prompt_is_listed_with_exactly_its_values() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ((?:`\w+`(?:, )?)+) \|$", README.partition("| value |")[0], flags=re.MULTILINE)
    assert {prompt: set(re.findall(r"`(\w+)`", values)) for prompt, values in rows} == templates()


def test_every_shared_folder_is_listed() -> None:
    shared = resource_folder("prompts") / "_shared"
    folders = {f"_shared/{path.name}/" for path in shared.iterdir() if path.is_dir()} | {"_shared/", "_judge/"}
    assert folders <= set(re.findall(r"^\| `([\w/]+)` \|", README, flags=re.MULTILINE))


def test_every_prompt_that_must_declare_its_answer_is_listed() -> None:
    declaring = {path.name.removesuffix(".md.j2") for path in resource_folder("prompts").rglob("*.j2")
                 if path.read_text(encoding="utf-8").startswith("---\n")}  # fmt: skip
    listed = re.search(r"the prompt declares it in front matter\. This applies to (.*?)\.", README, flags=re.DOTALL)
    assert listed is not None
    assert set(re.findall(r"`(\w+)`", listed[1])) == declaring
