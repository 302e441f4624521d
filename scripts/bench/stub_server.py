"""A chat completions server without a model that answers at once, or after a fixed time. Benchmarks and tests use it.

It answers any JSON schema with the plainest valid answer, and the stages of the paper's pipeline with typical ones: two
or three relevant dimensions in turn (2.5 on average), one hypothesis per specialist, a critic that accepts the first
and rejects the rest. Token counts are estimates: 4 characters of text, or 28 x 28 pixels of a picture, per token.

    python scripts/bench/stub_server.py --port 8133 --latency 0.2
"""

import argparse
import asyncio
import base64
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import uvicorn

from robogaze.backends.rehearsal import plainest

Body = dict[str, Any]

_GRACE_S = 1.0
"""The time that requests have to end when the server does."""


@dataclass
class Reply:
    """What the server sends; with `content` None it sends `raw` unchanged, and with neither it cuts the connection."""

    content: str | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    delay_s: float = 0.0
    finish_reason: str = "stop"
    message: dict[str, Any] = field(default_factory=dict)


@dataclass
class Stub:
    """The ASGI application. `behave` may answer instead of the default; `asked` keeps the requests if `keep` is set.

    While it is `away`, its gateway answers. While it is `held`, its answers wait, and clients that disconnect meanwhile
    are counted in `left`. `name` is the model in its answers, `listed` its answer to `/models`. `keys` are the
    authorizations received, `stored` the addresses of pictures by their uuid.
    """

    latency_s: float = 0.0
    behave: Callable[[Body], Reply | None] = lambda body: None
    keep: bool = True
    away: bool = False
    held: bool = False
    name: str = "stub"
    listed: bytes = b'{"object":"list","data":[{"id":"stub","object":"model"}]}'
    keys: list[str | None] = field(default_factory=list)
    asked: list[Body] = field(default_factory=list)
    requests: int = 0
    left: int = 0
    most_at_once: int = 0
    log: Path | None = None
    stored: dict[str, str] = field(default_factory=dict)
    _now: int = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        content = await _read(receive)
        if self.away:
            await _send(send, Reply(status=502, raw=b"{}"))
            return
        if scope["path"].endswith("/models"):
            await _send(send, Reply(raw=self.listed))
            return
        sent, body = json.loads(content), json.loads(content)
        if self.keep:
            self.keys.append(dict(scope["headers"]).get(b"authorization", b"").decode() or None)
        self.requests += 1
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        if self.keep:
            self.asked.append(sent)
        if self.log is not None:
            pictures = [(sha256(jpeg).hexdigest(), len(jpeg)) for jpeg in pictures_of(sent)]
            with self.log.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"body": len(content), "pictures": pictures}) + "\n")
        try:
            reply = self._recalled(body) or self.behave(body) or Reply(content=json.dumps(answer(body)))
            await asyncio.sleep(self.latency_s + reply.delay_s)
            await self._let_go(receive)
        finally:
            self._now -= 1
        if reply.content is not None:
            reply.raw = json.dumps(completion_of(body, reply, self.name)).encode()
        await _send(send, reply)

    def _recalled(self, body: Body) -> Reply | None:
        """Put in the pictures that a request names by their uuid; an error if one is not known, as from vLLM."""
        for part in (part for part in body["messages"][1]["content"] if "uuid" in part):
            if part["image_url"] is not None:
                self.stored[part["uuid"]] = part["image_url"]["url"]
            elif part["uuid"] in self.stored:
                part["image_url"] = {"url": self.stored[part["uuid"]]}
            else:
                return Reply(status=400, raw=b'{"error": {"message": "a uuid is not in the cache"}}')
        return None

    async def _let_go(self, receive: Any) -> None:
        """Wait while answers are held; after the whole request, only the end of the connection can be received."""
        if not self.held:
            return
        hung_up = asyncio.ensure_future(receive())
        while self.held and not hung_up.done():  # noqa: ASYNC110 - another thread lets go
            await asyncio.sleep(0.01)
        self.left += hung_up.done()
        hung_up.cancel()


def stage_of(body: Body) -> str:
    """The stage that asked: the name of its schema; empty for a request without a schema."""
    return str(body.get("response_format", {}).get("json_schema", {}).get("name", ""))


def schema_of(body: Body) -> Any:
    return body["response_format"]["json_schema"]["schema"]


def text_of(body: Body) -> str:
    parts = body["messages"][1]["content"]
    return "\n".join([body["messages"][0]["content"], *(part["text"] for part in parts if part["type"] == "text")])


def picture_of(part: Any) -> bytes:
    url = part["image_url"]["url"]
    if url.startswith("file://"):
        return Path(unquote(urlsplit(url).path)).read_bytes()
    return base64.b64decode(url.split(",", 1)[1])


def pictures_of(body: Body) -> list[bytes]:
    """The pictures of a body that are in it or in a file."""
    return [picture_of(part) for part in body["messages"][1]["content"] if part.get("image_url") is not None]


def answer(body: Body, specialists: int | None = None) -> Any:
    """A typical answer; without `specialists`, two or three are routed to, depending on the request."""
    if "response_format" not in body or "json_schema" not in body["response_format"]:
        return {"events": []}
    reply = plainest(schema_of(body))
    rated = [segment.get("dimensions", {}) for segment in reply.get("segments", [])]
    for ratings in [*rated, *reply.get("routes", {}).values()]:
        wanted = specialists or 2 + sha256(text_of(body).encode()).digest()[0] % 2
        for place, rating in enumerate(reversed(ratings.values())):
            rating["relevance"] = 10 - place if place < wanted else 0
    for located in reply.get("boxes", []):
        located["box"] = [400, 400, 600, 600]
    if "decisions" in reply:
        for decision in list(reply["decisions"].values())[1:]:
            decision.update(decision="REJECT", frames=[], confidence=0.2)
    return reply


def completion_of(body: Body, reply: Reply, name: str = "stub") -> Any:
    """The chat completion for a reply with content."""
    prompt = len(text_of(body)) // 4 + sum(jpeg_tokens(picture) for picture in pictures_of(body))
    written = len(reply.content or "") // 4
    message = {"role": "assistant", "content": reply.content, **reply.message}
    return {
        "id": "stub",
        "object": "chat.completion",
        "created": 0,
        "model": name,
        "choices": [{"index": 0, "finish_reason": reply.finish_reason, "message": message}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written},
    }


def jpeg_tokens(jpeg: bytes) -> int:
    """The tokens of a picture, by the size in its header."""
    at = 2
    while jpeg[at + 1] not in (0xC0, 0xC1, 0xC2):
        at += 2 + int(struct.unpack(">H", jpeg[at + 2 : at + 4])[0])
    height, width = struct.unpack(">HH", jpeg[at + 5 : at + 9])
    return int(height) * int(width) // (28 * 28)


async def _read(receive: Any) -> bytes:
    content = bytearray()
    while True:
        message = await receive()
        content += message.get("body", b"")
        if not message.get("more_body"):
            return bytes(content)


async def _send(send: Any, reply: Reply) -> None:
    headers = {"content-type": "application/json", **reply.headers}
    raw = [(key.encode(), value.encode()) for key, value in headers.items()]
    if reply.raw is None:
        # A body that is promised and does not come: the server closes the connection on its own fault.
        raw.append((b"content-length", b"100"))
        await send({"type": "http.response.start", "status": reply.status, "headers": raw})
        raise ConnectionResetError("the stub cuts this connection, as configured")
    await send({"type": "http.response.start", "status": reply.status, "headers": raw})
    await send({"type": "http.response.body", "body": reply.raw})


class _Server(uvicorn.Server):
    """A server that starts and ends at once: uvicorn's own looks only ten times a second whether it shall end."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    async def main_loop(self) -> None:
        await self.on_tick(0)
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        self.ready.set()
        await self._ended.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for listener in (*self.servers, *(sockets or ())):
            listener.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE_S):
                while self.server_state.connections or self.server_state.tasks:  # noqa: ASYNC110
                    await asyncio.sleep(0.002)
        for task in self.server_state.tasks:
            task.cancel()

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._ended.set)


@contextmanager
def serving(config: uvicorn.Config, sockets: list[socket.socket] | None = None) -> Iterator[int]:
    """Serve an application from a thread until the block ends; yields the port."""
    server = _Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": sockets}, daemon=True)
    thread.start()
    server.ready.wait()
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.end()
        thread.join()


@contextmanager
def running(stub: Stub, port: int = 0) -> Iterator[str]:
    """Serve a stub from a thread; yields its address."""
    config = uvicorn.Config(stub, host="127.0.0.1", port=port, log_level="critical", lifespan="off")
    with serving(config) as found:
        yield f"http://127.0.0.1:{found}/v1"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8133)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--log", type=Path, help="a file of JSON lines: the sizes of each request and of its pictures")
    options = parser.parse_args()
    stub = Stub(latency_s=options.latency, keep=False, log=options.log)
    uvicorn.run(stub, host="127.0.0.1", port=options.port, log_level="error", access_log=False, lifespan="off")


if __name__ == "__main__":
    main()
