"""What a vLLM server and the client save when pictures are files, or named, instead of data.

Scores clips with a pipeline, once for each way of sending pictures, and takes turns. Every way sends the same requests:
the server is asked for one token, and the pipeline goes on with the answers of the stub server. Before each run the
server forgets its pictures and prefixes, which it does if it was started with

    VLLM_SERVER_DEV_MODE=1 robogaze serve MODEL --allowed-local-media-path MEDIA_PATH

    python scripts/bench/references.py MODEL@http://127.0.0.1:8000/v1 MEDIA_PATH CLIP... [--pipeline full] [--repeat 3]
"""

import argparse
import asyncio
import json
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

from stub_server import answer

from robogaze.backends import Completion, Decoding, ModelConfig, Models, ModelsConfig, Request
from robogaze.backends.chat_request import RequestFormat, StreamedBody, request_body
from robogaze.backends.http import HttpClient, HttpReply
from robogaze.backends.openai import OpenAIBackend
from robogaze.datasets import find_entries
from robogaze.domains import load_domain
from robogaze.run.execute import open_run
from robogaze.run.setup import RunSetup
from robogaze.stages.pipeline import Pipeline

WAYS = ("data", "data, reused", "files", "files, reused")
TIMEOUT_S = 300.0


@dataclass(frozen=True)
class Exchange:
    """A request as it was sent: the task that sent it, the size of its body, and the reply."""

    task: object
    body_bytes: int
    reply: HttpReply
    took_s: float


class RecordedHttp(HttpClient):
    """An HTTP client that keeps what it exchanged."""

    def __init__(self, address: str) -> None:
        super().__init__(address, None, TIMEOUT_S)
        self.exchanges: list[Exchange] = []

    async def send(
        self, method: str, path: str, body: StreamedBody | None = None, timeout_s: float | None = None
    ) -> HttpReply:
        started = time.perf_counter()
        reply = await super().send(method, path, body, timeout_s)
        if body is not None:
            took_s = time.perf_counter() - started
            self.exchanges.append(Exchange(asyncio.current_task(), len(body), reply, took_s))
        return reply


def backend_of(
    way: str, name: str, url: str, media_path: Path, **extra_body: Any
) -> tuple[OpenAIBackend, RecordedHttp]:
    """A backend that sends pictures in one of the WAYS, and what it exchanges."""
    by_file = way.startswith("files")
    sent = RequestFormat(send="file" if by_file else "images", extra_body=extra_body)
    folder = media_path if by_file else None
    backend = OpenAIBackend(name, url, None, TIMEOUT_S, sent, media_path=folder, reuse_pictures="reused" in way)
    backend.http = http = RecordedHttp(url)
    return backend, http


def one_token(request: Request) -> Request:
    """The same request for one token of free text, without chance."""
    return replace(request, schema=None, decoding=Decoding(max_tokens=1))


def stub_answer(request: Request) -> Completion:
    """What the stub server answers."""
    body = request_body(request, "stub", RequestFormat(), lambda image: "")
    return Completion(json.dumps(answer(body)), model="stub", finish_reason="stop")


@dataclass
class OneToken:
    """Sends every request to a backend for one token; the answers are those of the stub server."""

    asked: OpenAIBackend
    identity: Mapping[str, Any] = field(default_factory=lambda: {"kind": "one token"})

    async def complete(self, request: Request) -> Completion:
        await self.asked.complete(one_token(request))
        return stub_answer(request)

    async def ready(self) -> str | None:
        return None

    async def close(self) -> None:
        await self.asked.close()


def forget(url: str) -> None:
    """Make the server forget pictures and prefixes."""
    root = url.removesuffix("/v1")
    for cache in ("prefix", "mm", "encoder"):
        with urllib.request.urlopen(urllib.request.Request(f"{root}/reset_{cache}_cache", method="POST")):
            pass


Figures = dict[str, float]


async def measured(way: str, options: argparse.Namespace) -> Figures:
    """Score the clips with pictures sent in one way."""
    forget(options.url)
    backend, http = backend_of(way, options.name, options.url, options.media_path)
    config = ModelConfig(kind="scripted")
    models = Models(ModelsConfig(models={"model": config}, roles={"vlm": "model"}), {"model": OneToken(backend)})
    pipeline = Pipeline.build(load_domain("robot"), options.pipeline)
    entries = [entry.with_(instruction="Do the task") for entry in find_entries(options.clips)]
    started = time.perf_counter()
    with open_run(entries, RunSetup("", pipeline), models=models) as run:
        async for result in run.execute():
            assert result.report is not None
            assert all(failure.stage == "measure" for failure in result.report.failures), result.report.failures
    wall_s = time.perf_counter() - started
    await models.close()
    answered = [exchange for exchange in http.exchanges if exchange.reply.status == 200]
    return {
        "requests": len(answered),
        "refused, sent again": len(http.exchanges) - len(answered),
        "bodies, MiB": sum(exchange.body_bytes for exchange in http.exchanges) / 2**20,
        "largest body, KiB": max(exchange.body_bytes for exchange in http.exchanges) / 2**10,
        "requests per second": len(answered) / wall_s,
        "mean seconds of a request": sum(exchange.took_s for exchange in http.exchanges) / len(answered),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="NAME@URL")
    parser.add_argument("media_path", type=Path)
    parser.add_argument("clips", type=Path, nargs="+")
    parser.add_argument("--pipeline", default="full")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    options.name, _, options.url = options.model.partition("@")
    found: dict[str, list[Figures]] = {way: [] for way in WAYS}
    for _ in range(options.repeat):
        for way in WAYS:
            found[way].append(asyncio.run(measured(way, options)))
            print(way, json.dumps(found[way][-1]), flush=True)
    print(f"\n{len(options.clips)} clips, {options.pipeline}, median (minimum to maximum) of {options.repeat}\n")
    print(f"| figure | {' | '.join(WAYS)} |", "|---" * (len(WAYS) + 1) + "|", sep="\n")
    for figure in found["data"][0]:
        cells = []
        for way in WAYS:
            values = [figures[figure] for figures in found[way]]
            cells.append(f"{median(values):.2f} ({min(values):.2f} to {max(values):.2f})")
        print(f"| {figure} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
