"""The real thing: vLLM on CPU with a model of random weights.

What the model says means nothing; that every answer keeps its schema, that every report loads and that the ledger lists
what was shown does not depend on it. Answers are sampled at temperature 1: greedy random weights loop.
"""

import asyncio
import json
import os
import random
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from backends.samples import image, request
from making import models_of, reports_of
from references import Exchange, backend_of, one_token, stub_answer
from vllm_server import VllmServer

from robogaze.backends import Completion, Models, ModelsConfig, Request
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
    found = {one.what: one for one in await examine(models, random.Random(1))}
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
    for one in judged:
        assert one.similarity is not None, one.rationale
        assert 0 <= one.similarity <= 1
        assert set(one.axes) == set(rubric.axes)


# Pictures that are named and not sent.
#
# Greedy answers of random weights are the same whatever is shown, and the log probability of their first token is not:
# it differs by more than 0.0001 from pictures to others, and by less from one computation to the next.

SAME = 0.0001


def picture(number: int) -> FrameImage:
    """A picture of coloured squares, different for each number."""
    colours = np.random.default_rng(number).integers(0, 256, (4, 4, 3), dtype=np.uint8)
    jpeg = encode_jpeg(np.kron(colours, np.ones((32, 32, 1), dtype=np.uint8)), 90)
    known = image(number).picture.with_(sha256=sha256(jpeg).hexdigest(), width=128, height=128)
    return FrameImage(known, f"frame {number}", jpeg)


def log_probability(exchange: Exchange) -> float:
    """That of the first token of an answer."""
    choice = json.loads(exchange.reply.content)["choices"][0]
    return float(choice["logprobs"]["content"][0]["logprob"])


def base64_bytes(pictures: Iterable[FrameImage]) -> int:
    return sum(len(shown.content) for shown in pictures) * 4 // 3


def files_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


class Sender:
    """Sends pictures to a server in one way, one greedy token for each request."""

    def __init__(self, url: str, way: str, media_path: Path = Path()) -> None:
        self.backend, self._http = backend_of(way, "tiny", url, media_path, logprobs=True)

    @property
    def statuses(self) -> list[int]:
        return [exchange.reply.status for exchange in self._http.exchanges]

    @property
    def body_bytes(self) -> int:
        return sum(exchange.body_bytes for exchange in self._http.exchanges)

    async def ask(self, *pictures: FrameImage) -> float:
        return await self.send(request(*pictures, "Is there a cup?"))

    async def send(self, asked: Request) -> float:
        """What the model answers, as a number."""
        await self.backend.complete(one_token(asked))
        task = asyncio.current_task()
        return log_probability([exchange for exchange in self._http.exchanges if exchange.task is task][-1])


@dataclass
class InEveryWay:
    """Sends every request of a pipeline in several ways; the pipeline goes on with the answers of the stub server."""

    senders: Mapping[str, Sender]
    answers: list[list[float]] = field(default_factory=list)
    pictures: list[FrameImage] = field(default_factory=list)
    identity: Mapping[str, Any] = field(default_factory=lambda: {"kind": "test"})
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def complete(self, request: Request) -> Completion:
        async with self._turn:
            self.answers.append([await sender.send(request) for sender in self.senders.values()])
            self.pictures += request.images
        return stub_answer(request)

    async def ready(self) -> str | None:
        return None

    async def close(self) -> None:
        for sender in self.senders.values():
            await sender.backend.close()


async def test_pictures_as_files_and_by_name_are_the_same_pictures(
    robot: Domain, vllm_url: str, media_path: Path
) -> None:
    ways = ("data", "data, reused", "files", "files, reused")
    asked = InEveryWay({way: Sender(vllm_url, way, media_path) for way in ways})
    entries = [entry for entry in find_entries([DEMO]) if entry.clip_id == "cube_teleports"]
    await reports_of(entries, Pipeline.build(robot, "full"), models_of(asked))
    await asked.close()
    assert len(asked.answers) >= 7
    for data, *others in asked.answers:
        assert others == [pytest.approx(data, abs=SAME)] * 3
    assert len({round(data, 4) for data, *_ in asked.answers}) > 1, "the answers depend on what is shown"
    assert {way: set(asked.senders[way].statuses) for way in ways} == {way: {200} for way in ways}
    data, data_reused, files, files_reused = (sender.body_bytes for sender in asked.senders.values())
    distinct = {shown.picture.sha256: shown for shown in asked.pictures}
    assert len(asked.pictures) > 1.5 * len(distinct)
    assert data - data_reused > 0.9 * (base64_bytes(asked.pictures) - base64_bytes(distinct.values()))
    assert data - max(files, files_reused) > 0.9 * base64_bytes(asked.pictures)
    assert files_in(media_path) == [], "the files are deleted at the end"


FEW_PICTURES, NO_PICTURES = "--mm-processor-cache-gb=0.001", "--mm-processor-cache-gb=0"
"""Options of a server that keeps five pictures, and of one that keeps none."""


async def test_picture_that_the_server_dropped_is_sent_again(another_vllm: VllmServer) -> None:
    another_vllm.start(FEW_PICTURES)
    pictures = [picture(number) for number in range(10)]
    data, reused = Sender(another_vllm.url, "data"), Sender(another_vllm.url, "data, reused")
    for asked in (pictures[:4], pictures[:4], pictures[4:8], pictures[:4], pictures, pictures):
        assert await reused.ask(*asked) == pytest.approx(await data.ask(*asked), abs=SAME)
    assert reused.statuses[:5] == [200, 200, 200, 400, 200]
    await data.backend.close()
    await reused.backend.close()


async def test_nothing_is_lost_while_requests_drop_the_pictures_of_others(another_vllm: VllmServer) -> None:
    another_vllm.start(FEW_PICTURES)
    pictures = [picture(number) for number in range(10)]
    data, reused = Sender(another_vllm.url, "data"), Sender(another_vllm.url, "data, reused")
    chance = random.Random(1)
    requests = [chance.sample(pictures, 4) for _ in range(40)]
    expected = [await data.ask(*asked) for asked in requests]
    assert await asyncio.gather(*(reused.ask(*asked) for asked in requests)) == pytest.approx(expected, abs=SAME)
    assert len({round(number, 4) for number in expected}) > 20, "a wrong picture would be seen"
    await data.backend.close()
    await reused.backend.close()


async def test_server_that_was_started_again_without_a_cache_gets_every_picture(another_vllm: VllmServer) -> None:
    another_vllm.start(FEW_PICTURES)
    pictures = [picture(number) for number in range(4)]
    reused = Sender(another_vllm.url, "data, reused")
    answered = await reused.ask(*pictures)
    another_vllm.start(NO_PICTURES)
    assert [await reused.ask(*pictures), await reused.ask(*pictures)] == [pytest.approx(answered, abs=SAME)] * 2
    assert reused.statuses == [200, 400, 200, 400, 200]
    await reused.backend.close()


# Files that the server does not read.


async def refusal(url: str, robot: Domain, media_path: Path) -> str:
    """The message of a clip's only failure, which no retry would cure."""
    config = tiny(url, send="file", media_path=str(media_path))
    (report,) = await score(robot, config, "vanilla", {"cube_teleports"})
    (failure,) = report.failures
    assert failure.kind == "refused"
    assert len(report.provenance.calls) == 1
    assert files_in(media_path) == []
    return failure.message


async def test_file_outside_the_allowed_folder_is_refused(robot: Domain, vllm_url: str, tmp_path: Path) -> None:
    assert f"--allowed-local-media-path {tmp_path}" in await refusal(vllm_url, robot, tmp_path)


async def test_server_that_may_read_no_files_refuses_them(
    robot: Domain, another_vllm: VllmServer, tmp_path: Path
) -> None:
    another_vllm.start(NO_PICTURES)
    assert f"--allowed-local-media-path {tmp_path}" in await refusal(another_vllm.url, robot, tmp_path)
