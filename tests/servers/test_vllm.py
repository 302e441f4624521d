"""The real thing: vLLM on CPU with a model of random weights.

What the model says means nothing; that every answer keeps its schema, that every report loads and that the ledger lists
what was shown does not depend on it. Answers are sampled at temperature 1: greedy random weights loop.
"""

import json
import os
import random
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from backends.samples import image, request
from making import reports_of
from vllm_server import VllmServer

from robogaze.backends import Decoding, ModelConfig, Models, ModelsConfig
from robogaze.backends.http import HttpClient, HttpReply
from robogaze.backends.openai import OpenAIBackend
from robogaze.core.pictures import FrameImage
from robogaze.core.report import Report
from robogaze.datasets import find_entries
from robogaze.doctor import examine
from robogaze.domains import Domain
from robogaze.domains.model import PipelineSpec, StageSpec
from robogaze.judges.base import DescriptionPair
from robogaze.judges.llm import ModelJudge
from robogaze.judges.rubric import read_rubric
from robogaze.media.compose import encode_jpeg
from robogaze.stages.pipeline import Pipeline

pytestmark = pytest.mark.server

DEMO = Path(__file__).parents[2] / "datasets" / "demo" / "clips.jsonl"
BEYOND_A_GRAMMAR = (
    "a span must end after it starts",
    "is before start_s",
    "segments do not overlap",
    "give things that differ different names",
    "a box needs",
    "box and box_frame go together",
    "box needs box_view",
    "ACCEPT needs frames",
    "REJECT says",
    "share no time",
    "MERGE needs merge_with",
    "cannot be merged with itself",
    "needs both type and primary_dimension",
    "is not a type of",
)
"""What a schema cannot say and answers are checked for besides."""


def tiny(url: str, **fields: Any) -> ModelsConfig:
    model = {
        "kind": "openai",
        "name": "tiny",
        "url": url,
        "frames": "uniform 8",
        "decoding": {"temperature": 1.0, "seed": 1, "max_tokens": 16000},
        "limits": {"concurrency": 4},
        "timeout_s": 300,
    }
    return ModelsConfig.model_validate({"models": {"tiny": {**model, **fields}}, "roles": {"vlm": "tiny"}})


async def score(robot: Domain, config: ModelsConfig, pipeline: str, names: set[str]) -> list[Report]:
    models = Models.open(config, None, os.environ)
    entries = [entry for entry in find_entries([DEMO]) if entry.clip_id in names]
    try:
        return await reports_of(entries, Pipeline.build(robot, pipeline), models)
    finally:
        await models.close()


async def test_every_answer_keeps_its_schema_and_every_report_loads(robot: Domain, vllm_url: str) -> None:
    reports = await score(robot, tiny(vllm_url), "full", {"cube_teleports", "multi_view"})
    assert len(reports) == 2
    for report in reports:
        again = Report.model_validate_json(report.model_dump_json())
        assert again == report
        for call in report.provenance.calls:
            assert call.outcome == "answered" or any(words in (call.error or "") for words in BEYOND_A_GRAMMAR), call
            assert call.prompt_tokens
            assert call.answered_by == "tiny"
        shown = {picture.id for picture in report.provenance.pictures}
        assert all(set(call.pictures) <= shown for call in report.provenance.calls)
        stages = {call.stage for call in report.provenance.calls}
        assert stages >= {"ground", "observe", "segment"}


async def test_specialists_reuse_the_prefix_they_share(robot: Domain, vllm_url: str) -> None:
    stages = {"route": {"examine": "all"}, "propose": {"show": "clip"}, "compose": {"accept_unverified": True}}
    specs = tuple(StageSpec(name=name, parameters=parameters, line=None) for name, parameters in stages.items())
    whole = PipelineSpec(name="whole", path=Path("whole.yaml"), description="Specialists see the clip.", stages=specs)
    domain = robot.with_(pipelines={"whole": whole})
    (report,) = await score(domain, tiny(vllm_url), "whole", {"cube_disappears"})
    specialists = [call for call in report.provenance.calls if call.stage == "propose"]
    assert len(specialists) >= 6
    reused = [(call.cached_tokens or 0) / (call.prompt_tokens or 1) for call in specialists]
    assert sum(share > 0.1 for share in reused) >= 4, "pictures and what is known about the clip come first"


async def test_doctor_sees_through_a_model_that_cannot_see(vllm_url: str) -> None:
    models = Models.open(tiny(vllm_url), None, os.environ)
    found = {check.what: check for check in await examine(models, random.Random(1))}
    await models.close()
    assert found["tiny: server"].ok
    assert found["tiny: follows a JSON schema"].ok
    assert found["tiny: counts tokens"].ok
    assert not found["tiny: reads images"].ok


async def test_frames_travel_as_one_video(robot: Domain, vllm_url: str) -> None:
    as_video = await score(robot, tiny(vllm_url, send="video"), "vanilla", {"cube_teleports"})
    (call, *_) = as_video[0].provenance.calls
    assert call.outcome != "failed", call.error
    assert call.prompt_tokens
    assert len(call.pictures) == 8


async def test_too_many_pictures_are_refused_once_and_for_all(robot: Domain, vllm_url: str) -> None:
    (report,) = await score(robot, tiny(vllm_url, frames="every frame", max_pictures=80), "vanilla", {"cube_teleports"})
    assert report.status == "unscored"
    (failure,) = report.failures
    assert failure.kind == "refused"
    assert "400" in failure.message
    assert len(report.provenance.calls) == 1


async def test_an_unknown_model_is_refused_with_a_hint(robot: Domain, vllm_url: str) -> None:
    (report,) = await score(robot, tiny(vllm_url, name="nobody"), "vanilla", {"cube_teleports"})
    assert "check the model's name" in report.failures[0].message


def test_a_batch_goes_through_vllms_own_batch_runner(tiny_model: Path, vllm: Path, tmp_path: Path) -> None:
    import sys

    models = tmp_path / "models.yaml"
    post = tmp_path / "post"
    models.write_text(
        f"models:\n  tiny: {{kind: batch, name: tiny, url: {post}, frames: uniform 4,"
        " decoding: {temperature: 1.0, max_tokens: 8000}}\nroles: {vlm: tiny}\n"
    )
    rows = DEMO.read_text().splitlines()[:2]
    clips = [json.loads(row) for row in rows]
    manifest = tmp_path / "clips.jsonl"
    manifest.write_text("".join(json.dumps({**row, "path": str(DEMO.parent / row["path"])}) + "\n" for row in clips))
    command = [sys.executable, "-m", "robogaze", "score", str(manifest), "--pipeline", "vanilla"]
    command += ["--model", str(models), "--out", str(tmp_path / "out")]
    first = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (first.returncode, "2 requests are pending" in first.stderr) == (4, True), first.stderr
    batch = [str(vllm), "run-batch", "-i", str(post / "requests-001.jsonl"), "-o", str(post / "answers.jsonl")]
    serve = ["--dtype=float32", "--enforce-eager", "--max-model-len=16384", "--max-num-batched-tokens=65536"]
    serve += ["--served-model-name=tiny", "--max-num-seqs=4", '--limit-mm-per-prompt={"image": 16}']
    serve += ['--structured-outputs-config={"backend": "guidance", "disable_any_whitespace": true}']
    environ = {**os.environ, "HF_HUB_OFFLINE": "1", "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1"}
    done = subprocess.run(
        [*batch, "--model", str(tiny_model), *serve], capture_output=True, text=True, env=environ, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    answered = [json.loads(line) for line in (post / "answers.jsonl").read_text().splitlines()]
    assert [line["response"]["status_code"] for line in answered] == [200, 200]
    second = subprocess.run(command, capture_output=True, text=True, check=False)
    # Random weights may write spans that end before they start; those questions wait for another batch.
    assert second.returncode in (0, 4), second.stderr
    reports = list((tmp_path / "out").glob("reports/*.json"))
    assert reports or "pending" in second.stderr


async def test_a_model_judges_descriptions_by_the_rubric(vllm_url: str, tmp_path: Path) -> None:
    config = tiny(vllm_url).model_copy(update={"roles": {"judge": "tiny"}})
    rubric = read_rubric("robogaze")
    judge = ModelJudge(rubric, config, tmp_path / "answers.sqlite", os.environ)
    texts = ("The cup falls over.", "The arm passes through the cup.")
    pairs = [DescriptionPair("a", "1", str(number), "The cup tips over.", text) for number, text in enumerate(texts)]
    judged = await judge.rate(pairs)
    for judgement in judged:
        assert judgement.similarity is not None, judgement.rationale
        assert 0 <= judgement.similarity <= 1
        assert set(judgement.axes) == set(rubric.axes)


# Pictures that are files, or named.


def picture(number: int) -> FrameImage:
    """A picture of coloured squares, different for each number."""
    colours = np.random.default_rng(number).integers(0, 256, (4, 4, 3), dtype=np.uint8)
    jpeg = encode_jpeg(np.kron(colours, np.ones((32, 32, 1), dtype=np.uint8)), 90)
    known = image(number).picture.with_(sha256=sha256(jpeg).hexdigest(), width=128, height=128)
    return FrameImage(known, f"frame {number}", jpeg)


SHOWN = [[picture(number) for number in numbers] for numbers in ((0, 1), (2, 3), (1, 2), (4, 5))]
"""What is shown in a request."""


class RecordingHttp(HttpClient):
    """An HTTP client that keeps the replies."""

    def __init__(self, url: str) -> None:
        super().__init__(url, None, timeout_s=300)
        self.replies: list[HttpReply] = []

    async def send(self, *args: Any, **kwargs: Any) -> HttpReply:
        self.replies.append(await super().send(*args, **kwargs))
        return self.replies[-1]


class Sender:
    """Sends pictures to a server with some settings of the model."""

    def __init__(self, url: str, **settings: Any) -> None:
        config = ModelConfig(kind="openai", name="tiny", url=url, extra_body={"logprobs": True}, **settings)
        self.backend = OpenAIBackend(config, url)
        self.backend.http = self._http = RecordingHttp(url)

    @property
    def statuses(self) -> list[int]:
        return [reply.status for reply in self._http.replies]

    async def ask(self, pictures: Sequence[FrameImage]) -> float:
        """The log probability of an answer's first token: it depends on what is shown, and the token does not."""
        asked = request(*pictures, "Is there a cup?")
        await self.backend.complete(replace(asked, schema=None, decoding=Decoding(max_tokens=1)))
        (choice,) = json.loads(self._http.replies[-1].content)["choices"]
        return float(choice["logprobs"]["content"][0]["logprob"])


def nearest(answer: float, answers: Sequence[float]) -> int:
    """Which of several answers an answer is nearest to; computations of the same one differ a little."""
    return min(range(len(answers)), key=lambda number: abs(answers[number] - answer))


@pytest.mark.parametrize(("send", "reuse_pictures"), [("images", True), ("file", False), ("file", True)])
async def test_answers_are_the_same_however_pictures_are_sent(
    vllm_url: str, media_path: Path, send: str, reuse_pictures: bool
) -> None:
    by_file = {"send": "file", "media_path": media_path} if send == "file" else {}
    data, other = Sender(vllm_url), Sender(vllm_url, reuse_pictures=reuse_pictures, **by_file)
    by_data = [await data.ask(pictures) for pictures in SHOWN]
    for _ in range(2):
        assert [nearest(await other.ask(pictures), by_data) for pictures in SHOWN] == [0, 1, 2, 3]
    assert other.statuses == [200] * 8
    await data.backend.close()
    await other.backend.close()
    assert os.listdir(media_path) == [], "the files are deleted at the end"


async def test_file_outside_the_allowed_folder_is_refused(robot: Domain, vllm_url: str, tmp_path: Path) -> None:
    config = tiny(vllm_url, send="file", media_path=str(tmp_path))
    (report,) = await score(robot, config, "vanilla", {"cube_teleports"})
    (failure,) = report.failures
    assert failure.kind == "refused"
    assert f"start the server with --allowed-local-media-path {tmp_path}" in failure.message
    assert len(report.provenance.calls) == 1, "no retry would help"


async def test_picture_that_a_restarted_server_does_not_have_is_sent_again(vllm_server: VllmServer) -> None:
    data, reused = Sender(vllm_server.url), Sender(vllm_server.url, reuse_pictures=True)
    by_data = [await data.ask(pictures) for pictures in SHOWN]
    before = [nearest(await reused.ask(pictures), by_data) for pictures in SHOWN]
    vllm_server.stop()
    vllm_server.start()
    after = [nearest(await reused.ask(pictures), by_data) for pictures in SHOWN]
    assert before == after == [0, 1, 2, 3]
    assert reused.statuses[4:] == [400, 200, 400, 200, 200, 400, 200], "the third request shows pictures sent again"
    await data.backend.close()
    await reused.backend.close()
