"""Any server that speaks OpenAI's chat completions: vendors, vLLM, SGLang, llama.cpp, LM Studio, proxies.

Pictures travel inside the request (no shared disk), each behind its label. With `send: video` consecutive frames
travel as one JPEG-sequence video, which vLLM understands; it is then told every frame's place in time, because by
default it would keep 32 frames and take them to be a second apart.
"""

import base64
import json
import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from robogaze.backends.base import ClipTiming, Completion, Request
from robogaze.backends.http import HttpClient, HttpReply
from robogaze.backends.reply import completion, parse, server_name
from robogaze.core.pictures import FrameImage
from robogaze.errors import BackendError, RateLimited, RequestRefused, ServerFault, ServerStalled, Unreachable
from robogaze.threads import in_thread

Send = Literal["images", "video"]
Structured = Literal["json_schema", "json_object", "none"]

VENDOR = "https://api.openai.com/v1"

LONGEST_S = 86_400.0
"""The longest wait that a server can ask for; how long is waited is for `Patience` to say."""

_READY_S = 20.0
_SMALL = 2**16
"""Replies up to so many bytes are read in the event loop, larger ones beside it."""

_AWAY = (502, 503, 504)
"""What a gateway says when the server behind it is not there."""

_HINTS = {
    401: "set the environment variable that api_key_env names",
    403: "set the environment variable that api_key_env names",
    404: "check the model's name and that the address ends in /v1",
    413: "show fewer frames or make max_side_px smaller",
}


@dataclass(frozen=True)
class Wire:
    """How requests are written for a server; `extra_body` is added to each as it stands."""

    send: Send = "images"
    structured: Structured = "json_schema"
    token_limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    extra_body: Mapping[str, Any] = field(default_factory=dict)


class OpenAIBackend:
    """A model behind an OpenAI-compatible server; `url` None means the vendor's own."""

    def __init__(
        self,
        name: str,
        url: str | None,
        api_key: str | None,
        timeout_s: float,
        wire: Wire | None = None,
        *,
        server: str | None = None,
    ) -> None:
        """A model at an address; `server` is what the address is called in keys and reports, itself by default."""
        self.name = name
        self.url = url
        self.server = server or url
        self.wire = wire or Wire()
        self.http = HttpClient(url or VENDOR, api_key, timeout_s)

    @property
    def identity(self) -> Mapping[str, Any]:
        """Kind, name, server, and how requests are written."""
        wire = {"send": self.wire.send, "structured": self.wire.structured, "extra_body": dict(self.wire.extra_body)}
        return {"kind": "openai", "name": self.name, "url": self.server, **wire}

    async def complete(self, request: Request) -> Completion:
        """Answer a request; see `robogaze.backends.base.Backend`."""
        started = time.perf_counter()
        reply = await self.http.ask("POST", "/chat/completions", request_body(request, self.name, self.wire))
        if reply.status != 200:
            raise self._status_error(reply)
        return completion(await self._read(reply), time.perf_counter() - started)

    async def _read(self, reply: HttpReply) -> Any:
        try:
            if len(reply.content) <= _SMALL:
                return parse(reply.content)
            return await in_thread(parse, reply.content)
        except ValueError as error:
            said = self.http.clean(error)
            raise ServerFault(f"{self._where} sent an answer that cannot be read ({said})") from error

    async def ready(self) -> str | None:
        """Return if the server answers at all; what it serves, None where it lists no models or not this one.

        Raises Unreachable, or RequestRefused for a wrong key or a redirect.
        """
        try:
            reply = await self.http.ask("GET", "/models", timeout_s=_READY_S)
        except ServerStalled as error:
            raise Unreachable(f"{self._where} cannot be reached (no answer); is the server running?") from error
        except ServerFault:
            return None
        if reply.status in (401, 403):
            raise self._status_error(reply)
        if reply.status in _AWAY:
            raise Unreachable(f"{self._where} cannot be reached ({reply.status} from its gateway)")
        if reply.status != 200:
            return None  # some servers list no models and answer all the same
        try:
            return _served(await self._read(reply), self.name)
        except ServerFault as error:
            raise Unreachable(f"{self._where} is not an OpenAI-compatible server; its /models is no JSON") from error

    async def close(self) -> None:
        """Close the connections."""
        await self.http.close()

    @property
    def _where(self) -> str:
        return f"the server at {self.url or 'the vendor'}"

    def _status_error(self, reply: HttpReply) -> BackendError:
        status, wait = reply.status, retry_after_s(reply.headers.get("retry-after"))
        said = f"{self._where} answers {status} for {self.name}: {self.http.clean(_said(reply.content))}"
        if status == 429 and b"insufficient_quota" not in reply.content:
            return RateLimited(said, wait)
        if status >= 500 or status in (408, 409):
            if wait is not None:
                return RateLimited(said, wait)
            return Unreachable(said) if status in _AWAY else ServerFault(said)
        hint = _HINTS.get(status)
        return RequestRefused(f"{said}; {hint}" if hint else said)


def _said(content: bytes) -> str:
    """What the body of an error says, as far as it has the form of one."""
    try:
        body = parse(content)
    except ValueError:
        return content.decode(errors="replace")
    error = body.get("error", body) if isinstance(body, dict) else body
    message = error.get("message", error.get("detail")) if isinstance(error, dict) else error
    return message if isinstance(message, str) else json.dumps(body)


def _served(listed: Any, name: str) -> str | None:
    """What is behind a model's name: vLLM says the root of its weights; None where it is not listed."""
    models = listed.get("data") if isinstance(listed, dict) else None
    entries = (entry for entry in models if isinstance(entry, dict)) if isinstance(models, list) else ()
    mine = next((entry for entry in entries if entry.get("id") == name), None)
    if mine is None:
        return None
    return server_name(mine.get("root")) or name


def retry_after_s(header: str | None) -> float | None:
    """Seconds from a Retry-After header (seconds or a date), at most LONGEST_S; None when absent or unreadable."""
    if header is None:
        return None
    try:
        wait_s = float(header)
    except ValueError:
        try:
            wait_s = parsedate_to_datetime(header).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return None if math.isnan(wait_s) else min(max(0.0, wait_s), LONGEST_S)


def request_body(request: Request, model: str, wire: Wire) -> dict[str, Any]:
    """The body of a chat completion request; an empty model name is left out."""
    decoding = request.decoding
    settings = {"temperature": decoding.temperature, "top_p": decoding.top_p, "seed": decoding.seed}
    body: dict[str, Any] = {
        **({"model": model} if model else {}),
        "messages": [
            {"role": "system", "content": request.system},
            {"role": "user", "content": list(_content(request, wire.send))},
        ],
        wire.token_limit_field: decoding.max_tokens,
        **{key: value for key, value in settings.items() if value is not None},
    }
    if request.schema is not None and wire.structured == "json_schema":
        named = {"name": request.stage, "schema": request.schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": named}
    elif request.schema is not None and wire.structured == "json_object":
        body["response_format"] = {"type": "json_object"}
    if wire.send == "video" and request.source is not None and (shots := _film(request)):
        body["media_io_kwargs"] = {"video": _video_facts(shots, request.source)}
    return {**body, **wire.extra_body}


def _content(request: Request, send: Send) -> Iterator[dict[str, Any]]:
    film = _film(request) if send == "video" else ()
    for part in request.parts:
        if film and part is film[0]:
            yield _text("\n".join(["A video of these frames:", *(shot.label for shot in film)]))
            yield {"type": "video_url", "video_url": {"url": _jpeg_sequence(film)}}
        if isinstance(part, str):
            yield _text(part)
        elif not any(part is shot for shot in film):
            yield _text(part.label)
            url = "data:image/jpeg;base64," + base64.b64encode(part.jpeg).decode()
            yield {"type": "image_url", "image_url": {"url": url}}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _film(request: Request) -> tuple[FrameImage, ...]:
    """The first unbroken run of single frames in a request; a request can tell a server about one video only."""
    run: list[FrameImage] = []
    for part in request.parts:
        if isinstance(part, FrameImage) and len(part.picture.frames) == 1:
            if run and part.picture.frames[0] <= run[-1].picture.frames[0]:
                break
            run.append(part)
        elif run:
            break
    return tuple(run)


def _jpeg_sequence(shots: tuple[FrameImage, ...]) -> str:
    return "data:video/jpeg;base64," + ",".join(base64.b64encode(shot.jpeg).decode() for shot in shots)


def _video_facts(shots: tuple[FrameImage, ...], source: ClipTiming) -> dict[str, Any]:
    return {
        "num_frames": -1,
        "fps": source.fps,
        "frames_indices": [shot.picture.frames[0] for shot in shots],
        "total_num_frames": source.frame_count,
        "duration": source.duration_s,
        "do_sample_frames": False,
    }
