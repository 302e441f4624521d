"""A model in this process, through transformers, under a grammar."""

import json
import os
from pathlib import Path

import pytest
from backends.samples import image, request
from making import reports_of

from robogaze.backends import Decoding, Models, ModelsConfig
from robogaze.backends.transformers import TransformersBackend
from robogaze.datasets import find_entries
from robogaze.domains import load_domain
from robogaze.domains.scaffold import scaffold
from robogaze.errors import RequestRefused
from robogaze.stages.pipeline import Pipeline

pytestmark = pytest.mark.server

DEMO = Path(__file__).parents[2] / "datasets" / "demo" / "clips.jsonl"
SAMPLED = Decoding(temperature=1.0, seed=5, max_tokens=2000)


@pytest.fixture(scope="module")
def backend(tiny_model: Path) -> TransformersBackend:
    return TransformersBackend(str(tiny_model))


async def test_every_answer_keeps_its_schema(backend: TransformersBackend) -> None:
    await backend.ready()
    for sample in range(10):
        completion = await backend.complete(request(decoding=SAMPLED, sample=sample))
        said = json.loads(completion.text)
        assert set(said) == {"cup", "word"}
        assert isinstance(said["cup"], bool)
        assert said["word"].isalpha()
        assert completion.finish_reason == "stop"


async def test_a_seed_and_a_sample_fix_the_answer(backend: TransformersBackend) -> None:
    first = await backend.complete(request(decoding=SAMPLED))
    again = await backend.complete(request(decoding=SAMPLED))
    others = [(await backend.complete(request(decoding=SAMPLED, sample=n))).text for n in range(1, 6)]
    assert first.text == again.text
    assert set(others) != {first.text}


async def test_pictures_cost_tokens(backend: TransformersBackend) -> None:
    few = await backend.complete(request(image(0), "?", decoding=SAMPLED))
    many = await backend.complete(request(image(0), image(4), image(8), "?", decoding=SAMPLED))
    assert (many.prompt_tokens or 0) > (few.prompt_tokens or 0) + 2


async def test_an_answer_cut_at_the_limit_says_so(backend: TransformersBackend) -> None:
    completion = await backend.complete(request(decoding=Decoding(max_tokens=3)))
    assert (completion.finish_reason, completion.completion_tokens) == ("length", 3)


async def test_a_model_that_cannot_be_loaded_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestRefused, match="transformers cannot load"):
        await TransformersBackend(str(tmp_path)).ready()


async def test_a_pipeline_runs_in_one_process(tiny_model: Path, tmp_path: Path) -> None:
    """A small domain, so that a model without a GPU is done in seconds; the full pipeline runs against vLLM."""
    scaffold(tmp_path / "kitchen")
    decoding = {"temperature": 1.0, "seed": 1, "max_tokens": 700}
    model = {"kind": "transformers", "name": str(tiny_model), "frames": "uniform 2", "decoding": decoding}
    config = ModelsConfig.model_validate({"models": {"tiny": model}, "roles": {"vlm": "tiny"}})
    models = Models.open(config, None, os.environ)
    (entry,) = (clip for clip in find_entries([DEMO]) if clip.clip_id == "cube_teleports")
    pipeline = Pipeline.build(load_domain(tmp_path / "kitchen"), "specialists")
    (report,) = await reports_of([entry], pipeline, models)
    await models.close()
    assert report.provenance.calls
    assert all(call.outcome != "failed" for call in report.provenance.calls)
    assert all(call.completion_tokens for call in report.provenance.calls)
