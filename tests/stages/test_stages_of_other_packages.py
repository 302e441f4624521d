"""A stage of another package: the example in docs/how-it-works.md, registered as an entry point and run."""

import re
from pathlib import Path

import pytest
from making import make_clip, make_footage, scripted

from robogaze.domains import Domain, load_domain
from robogaze.domains.scaffold import scaffold
from robogaze.stages import STAGES
from robogaze.stages.client import ModelClient
from robogaze.stages.pipeline import Pipeline

PAGE = Path(__file__).parent.parent.parent / "docs" / "how-it-works.md"


@pytest.fixture
def domain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Domain:
    """A domain whose pipeline uses the stage of an installed package."""
    (code,) = re.findall(r"```py\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "caption_package.py").write_text(code, encoding="utf-8")
    metadata = tmp_path / "caption_package-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: caption-package\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[robogaze.stages]\ncaption = caption_package:Caption\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    folder = tmp_path / "kitchen"
    scaffold(folder)
    (folder / "prompts").mkdir()
    (folder / "prompts" / "caption.md.j2").write_text("Describe the clip in {{ words }} words.")
    stages = "[{caption: {words: 12}}, {direct: {prompt: vanilla}}, {compose: {accept_unverified: true}}]"
    (folder / "pipelines" / "captioned.yaml").write_text(f"description: With a caption.\nstages: {stages}\n")
    return load_domain(folder)


async def test_it_is_used_like_a_stage_of_the_package(domain: Domain) -> None:
    assert STAGES.names()[-1] == "caption"
    pipeline = Pipeline.build(domain, "captioned")
    models, backend = scripted({"reply": {"caption": "a pot boils over"}}, {"reply": {"events": []}})
    clip = make_clip()
    decoded = make_footage(clip)
    await pipeline.run(pipeline.start(clip), ModelClient(domain, clip, decoded, models))
    decoded.close()
    first, second = backend.asked
    assert first.parts[-1] == "Describe the clip in 12 words."
    assert 'Memory of the whole clip: {"caption": "a pot boils over"}' in str(second.parts)
