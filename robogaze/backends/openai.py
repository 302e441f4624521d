"""Any server that speaks OpenAI's chat completions: vendors, vLLM, SGLang, llama.cpp, LM Studio, proxies.

Pictures travel inside the request (no shared disk), each behind its label. With `send: video` consecutive frames
travel as one JPEG-sequence video, which vLLM understands; it is then told every frame's place in time, because by
default it would keep 32 frames and take them to be a second apart.
"""

import asyncio
import base64
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from robogaze.backends.base import Completion, Request, Source
from robogaze.backends.reply import completion
from robogaze.core.pictures import Shot
from robogaze.errors import BackendError, RateLimited, RequestRefused, ServerFault, ServerStalled, Unreachable

Send = Literal["images", "video"]
Structured = Literal["json_schema", "json_object", "none"]

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
        api_key: str,
        timeout_s: float,
        wire: Wire | None = None,
        *,
        server: str | None = None,
    ) -> None:
        """A model at an address; `server` is what the address is called in keys and reports, itself by default."""
        from openai import AsyncOpenAI

        self.name = name
        self.url = url
        self.server = server or url
        self.timeout_s = timeout_s
        self.wire = wire or Wire()
        # Retries are ours: the same for every backend, and they see the limits.
        self._client = AsyncOpenAI(base_url=url, api_key=api_key, timeout=timeout_s, max_retries=0)

    @property
    def identity(self) -> Mapping[str, Any]:
        """Kind, name, server, and how requests are written."""
        wire = {"send": self.wire.send, "structured": self.wire.structured, "extra_body": dict(self.wire.extra_body)}
        return {"kind": "openai", "name": self.name, "url": self.server, **wire}

    async def complete(self, request: Request) -> Completion:
        """Answer a request; see `robogaze.backends.base.Backend`."""
        body = request_body(request, self.name, self.wire)
        started = time.perf_counter()
        answer = await self._send(body)
        return completion(answer, time.perf_counter() - started)

    async def _send(self, body: dict[str, Any]) -> Any:
        import openai

        try:
            # The client's own time limit restarts with every byte; a server that drips must end too.
            async with asyncio.timeout(self.timeout_s):
                return await self._client.post("/chat/completions", body=body, cast_to=object)
        except (TimeoutError, openai.APITimeoutError) as error:
            raise ServerStalled(f"{self._where} gave no answer within {self.timeout_s:g} s") from error
        except openai.APIStatusError as error:
            raise self._status_error(error.status_code, error.message, error.response.headers) from error
        except openai.APIConnectionError as error:
            reason = str(error.__cause__ or error)
            raise Unreachable(f"{self._where} cannot be reached ({reason}); is the server running?") from error
        except (openai.APIError, ValueError) as error:
            raise ServerFault(f"{self._where} sent an answer that cannot be read ({error})") from error

    async def ready(self) -> str | None:
        """Return if the server answers at all. Raises Unreachable, or RequestRefused for a wrong key."""
        import openai

        try:
            async with asyncio.timeout(min(self.timeout_s, 20)):
                return self._served([one.model_dump() for one in (await self._client.models.list()).data])
        except (TimeoutError, openai.APIConnectionError) as error:
            reason = str(error.__cause__ or error) or "no answer"
            raise Unreachable(f"{self._where} cannot be reached ({reason}); is the server running?") from error
        except openai.APIStatusError as error:
            if error.status_code in (401, 403):
                raise self._status_error(error.status_code, error.message, error.response.headers) from error
            if error.status_code in _AWAY:
                raise Unreachable(f"{self._where} cannot be reached ({error.status_code} from its gateway)") from error
            return None  # some servers list no models and answer all the same
        except (openai.APIError, ValueError) as error:
            raise Unreachable(f"{self._where} is not an OpenAI-compatible server ({error})") from error

    def _served(self, models: Sequence[Mapping[str, Any]]) -> str | None:
        """What stands behind the model's name: vLLM tells the root of its weights; None where it is not listed."""
        mine = next((one for one in models if one.get("id") == self.name), None)
        return None if mine is None else str(mine.get("root") or mine["id"])

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    @property
    def _where(self) -> str:
        return f"the server at {self.url or 'the vendor'}"

    def _status_error(self, status: int, message: str, headers: Mapping[str, str]) -> BackendError:
        said = f"{self._where} answers {status} for {self.name}: {' '.join(message.split())[:300]}"
        if status == 429 and "insufficient_quota" not in message:
            return RateLimited(said, retry_after_s(headers.get("retry-after")))
        if status >= 500 or status in (408, 409):
            wait = retry_after_s(headers.get("retry-after"))
            if wait is not None:
                return RateLimited(said, wait)
            return Unreachable(said) if status in _AWAY else ServerFault(said)
        hint = _HINTS.get(status)
        return RequestRefused(f"{said}; {hint}" if hint else said)


def retry_after_s(header: str | None) -> float | None:
    """Seconds from a Retry-After header (seconds or an HTTP date); None when absent or unreadable."""
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except ValueError:
        return None


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


def _film(request: Request) -> tuple[Shot, ...]:
    """The first unbroken run of single frames in a request; a request can tell a server about one video only."""
    run: list[Shot] = []
    for part in request.parts:
        if isinstance(part, Shot) and len(part.picture.frames) == 1:
            if run and part.picture.frames[0] <= run[-1].picture.frames[0]:
                break
            run.append(part)
        elif run:
            break
    return tuple(run)


def _jpeg_sequence(shots: tuple[Shot, ...]) -> str:
    return "data:video/jpeg;base64," + ",".join(base64.b64encode(shot.jpeg).decode() for shot in shots)


def _video_facts(shots: tuple[Shot, ...], source: Source) -> dict[str, Any]:
    return {
        "num_frames": -1,
        "fps": source.fps,
        "frames_indices": [shot.picture.frames[0] for shot in shots],
        "total_num_frames": source.frame_count,
        "duration": source.duration_s,
        "do_sample_frames": False,
    }
