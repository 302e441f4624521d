"""What a model gets from a stage: every stage of the shipped pipelines is rendered without a model."""

import asyncio
import json
import re
from functools import cache

import pytest

from robogaze.core.pictures import FrameImage
from robogaze.domains import domain_folders, load_domain
from robogaze.render import RenderedStage, as_json, as_page, as_text, render_noise
from robogaze.stages.pipeline import Pipeline

_STAGES = {
    (domain, stage.name, repr(stage.parameters)): (domain, pipeline.name, stage.name)
    for domain in domain_folders()
    for pipeline in load_domain(domain).pipelines.values()
    for stage in pipeline.stages
}.values()
"""Every stage of the shipped pipelines with each set of its parameters, in one of the pipelines that give it these."""


@cache
def built(domain: str, pipeline: str) -> Pipeline:
    return Pipeline.build(load_domain(domain), pipeline)


@cache
def rendered(domain: str, pipeline: str, stage: str) -> RenderedStage:
    return asyncio.run(render_noise(built(domain, pipeline), stage))


@pytest.mark.parametrize(("domain", "pipeline", "stage"), _STAGES)
def test_every_stage_of_the_shipped_pipelines_is_rendered(domain: str, pipeline: str, stage: str) -> None:
    found = rendered(domain, pipeline, stage)
    stages = dict(built(domain, pipeline).stages)
    if stages[stage].role() is None:
        assert (found.requests, found.note) == ((), f"{stage} queries no model")
        return
    prompts = {request.query.prompt for request in found.requests}
    assert prompts, found.note
    assert prompts <= set(stages[stage].templates())
    for request in found.requests:
        assert request.prompt_file.is_file()
        assert request.request.system.startswith("You examine ")
        assert any(isinstance(part, str) and part for part in request.request.parts)


def test_every_prompt_of_an_investigation_is_rendered() -> None:
    prompts = [request.query.prompt for request in rendered("game", "glide", "investigate").one_per_prompt().requests]
    assert prompts == ["investigate_judge", "investigate_advocate", "investigate_skeptic"]


def test_the_text_holds_system_captions_prompt_and_schema_in_the_order_they_are_sent() -> None:
    found = rendered("robot", "full", "verify")
    text = as_text(found)
    parts = ["--- system ---", "--- user ---", "frame 0 at 0.00 s [image, 64 x 88 px]", "Task instruction:",
             "of H2 in view main", "You are the critic.", "--- schema ---", '"verified_evidence"']  # fmt: skip
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    for part in found.requests[0].request.parts:
        assert (part.label if isinstance(part, FrameImage) else part) in text


def test_json_holds_the_same() -> None:
    found = rendered("robot", "full", "propose")
    written = json.loads(json.dumps(as_json(found)))
    assert [request["subject"] for request in written["requests"]] == list(load_domain("robot").dimensions)[:5]
    request = written["requests"][0]
    assert request["prompt"] == "propose"
    assert request["prompt_file"].endswith("prompts/_shared/robogaze/propose.md.j2")
    assert [part["caption"] for part in request["content"] if "caption" in part][:2] == [
        "frame 0 at 0.00 s", "frame 31 at 3.88 s"
    ]  # fmt: skip
    assert request["schema"]["properties"]["hypotheses"]["maxItems"] == 6


def test_a_page_embeds_each_picture_once_and_loads_nothing() -> None:
    found = rendered("robot", "full-2026-06", "propose")
    page = as_page(found)
    pictures = {image.picture.sha256 for image in found.requests[0].request.images}
    assert page.count("data:image/jpeg;base64,") == len(pictures)
    assert page.count("shown above") == 5 * len(pictures), "five more specialists see the same pictures"
    assert "http" not in page.replace("http-equiv", "")


@pytest.mark.parametrize(("domain", "pipeline", "stage"), _STAGES)
def test_each_field_has_a_line_of_its_own_and_there_are_no_runs_of_empty_lines(
    domain: str, pipeline: str, stage: str
) -> None:
    """An include drops the newline at its end, which once joined the last field of an event to the next one."""
    joined = re.compile(r"\S *- [a-z_]+(?:, [a-z_]+)*: ")
    parts = [part for request in rendered(domain, pipeline, stage).requests for part in request.request.parts]
    for text in parts:
        if isinstance(text, str):
            assert joined.findall(text) == []
            assert "\n\n\n" not in text
