"""The layout of every prompt that the built-in pipelines render: what is a line of its own is one."""

import re
from collections.abc import Iterator

import pytest

from robogaze.backends import ModelConfig, Models, ModelsConfig
from robogaze.backends.base import Completion, Request
from robogaze.backends.rehearsal import RehearsalBackend
from robogaze.domains import domain_folders, load_domain
from robogaze.rehearse import noise_clip
from robogaze.stages.client import ModelClient
from robogaze.stages.pipeline import Pipeline

PIPELINES = [(name, pipeline) for name in sorted(domain_folders()) for pipeline in load_domain(name).pipelines]

FIELD = re.compile(r"- [a-z_]+(?:, [a-z_]+)*: ")
"""The start of the line that explains a field of the answer."""


class RecordingBackend(RehearsalBackend):
    """Answers like a rehearsal and keeps the texts that it was sent."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def complete(self, request: Request) -> Completion:
        self.texts += [part for part in request.parts if isinstance(part, str)]
        return await super().complete(request)


async def texts_of(domain: str, pipeline: str) -> list[str]:
    built = Pipeline.build(load_domain(domain), pipeline)
    backend = RecordingBackend()
    config = ModelsConfig(models={"rehearsal": ModelConfig(kind="scripted")}, roles={"vlm": "rehearsal"})
    clip, decoded, signals = noise_clip(built.measures)
    try:
        client = ModelClient(built.domain, clip, decoded, Models(config, {"rehearsal": backend}))
        await built.run(built.start(clip, signals), client)
    finally:
        decoded.close()
    return backend.texts


def lines(texts: list[str]) -> Iterator[str]:
    for text in texts:
        yield from text.splitlines()


@pytest.mark.parametrize(("domain", "pipeline"), PIPELINES)
async def test_each_field_has_a_line_of_its_own_and_there_are_no_runs_of_empty_lines(
    domain: str, pipeline: str
) -> None:
    texts = await texts_of(domain, pipeline)
    assert texts or pipeline == "pixels"
    for line in lines(texts):
        assert all(not line[: found.start()].strip() for found in FIELD.finditer(line)), line
    assert [text for text in texts if "\n\n\n" in text] == []
