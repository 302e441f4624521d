"""A server with OpenAI's chat completions API: OpenAI, vLLM, SGLang, llama.cpp, LM Studio, a proxy."""

import json
import math
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from robogaze.backends.base import Backend, Completion, Request
from robogaze.backends.chat_request import PictureReferences, StreamedBody
from robogaze.backends.config import ModelConfig
from robogaze.backends.http import HttpClient, HttpReply
from robogaze.backends.middleware.balance import LoadBalancer
from robogaze.backends.picture_folder import PictureFolder
from robogaze.backends.reply import parse_completion, parse_json, server_name
from robogaze.backends.secrets import api_key, check_key_is_not_in
from robogaze.errors import (
    BackendError,
    InputError,
    RateLimited,
    RequestRefused,
    ServerFault,
    ServerStalled,
    Unreachable,
)

OPENAI_URL = "https://api.openai.com/v1"

MAX_RETRY_AFTER_S = 86_400.0
"""Maximum Retry-After that is accepted from a server; `RetryPolicy.longest_wait_s` limits the wait itself."""

_READY_TIMEOUT_S = 20.0

_GATEWAY_ERRORS = (502, 503, 504)
"""The status codes of a gateway whose server is unreachable."""

_MAY_LACK_PICTURES = (400, 404, 422, 500)
"""The status codes of a server that does not have a picture that a request names."""

_CANNOT_READ_FILES = (b"--allowed-local-media-path", b"[Errno 2]", b"[Errno 13]")
"""Text in the error replies (400 or 500) of vLLM for a file that is outside its folder, missing or not readable."""

_MOST_KNOWN = 1024
"""The number of latest pictures that a server is expected to keep. vLLM keeps 4 GB of processed pictures."""

_CHECK_THE_KEY = (
    "check the API key in OPENAI_API_KEY (for OpenAI), in ROBOGAZE_API_KEY (for other servers), or in the environment "
    "variable that api_key_env names"
)

_HINTS = {
    401: _CHECK_THE_KEY,
    403: _CHECK_THE_KEY,
    404: "check the model's name and that the address ends in /v1",
    413: "show fewer frames or make max_side_px smaller",
}


def open_backend(config: ModelConfig, environ: Mapping[str, str]) -> Backend:
    """The backend of a model. If the model has several servers, each clip is assigned to one of them. Raises InputError
    if an API key is not set.
    """
    key = api_key(config.name, config.url, config.api_key_env, environ)
    check_key_is_not_in(json.dumps(config.model_dump(mode="json", exclude={"api_key_env"})), key)
    if config.media_path is not None and not config.media_path.is_dir():
        raise InputError(f"media_path: {config.media_path} is not a folder; give a folder that the server may read")
    if not config.urls:
        return OpenAIBackend(config, OPENAI_URL, key)
    servers = [OpenAIBackend(config, url, key) for url in config.urls]
    if len(servers) == 1:
        return servers[0]
    return LoadBalancer(servers, {**servers[0].identity, "url": config.server or config.url})


class OpenAIBackend:
    """A model behind one OpenAI-compatible server."""

    def __init__(self, config: ModelConfig, url: str, key: str | None = None) -> None:
        self.config = config
        self.url = url
        self.http = HttpClient(url, key, config.timeout_s)
        self._folder = None if config.media_path is None else PictureFolder(config.media_path)
        self._known: dict[str, None] = {}

    @property
    def identity(self) -> Mapping[str, Any]:
        """Kind, name, server and request format; `url` is None for OpenAI itself."""
        config = self.config
        return {
            "kind": "openai",
            "name": config.name,
            "url": config.server or (self.url if config.urls else None),
            "send": config.shown_as,
            "structured": config.structured,
            "extra_body": config.extra_body,
        }

    async def complete(self, request: Request) -> Completion:
        """Answer a request; see `robogaze.backends.base.Backend`."""
        started = time.perf_counter()
        if self._folder is None:
            reply = await self._ask(request, {})
        else:
            async with self._folder.holding(request.images) as files:
                reply = await self._ask(request, files)
        if reply.status != 200:
            raise self._status_error(reply)
        return parse_completion(self._parse(reply), time.perf_counter() - started)

    async def _ask(self, request: Request, files: Mapping[str, str]) -> HttpReply:
        """Send a request, and send it again with all its pictures if the server no longer has some of them."""
        if not self.config.reuse_pictures:
            return await self._post(request, PictureReferences(files))
        names = [image.picture.sha256 for image in request.images]
        known = frozenset(name for name in names if name in self._known)
        reply = await self._post(request, PictureReferences(files, known))
        if known and reply.status in _MAY_LACK_PICTURES:
            for name in known:
                self._known.pop(name, None)
            reply = await self._post(request, PictureReferences(files, frozenset()))
        if reply.status == 200:
            for name in names:  # the latest picture is the last
                self._known.pop(name, None)
                self._known[name] = None
            for name in list(self._known)[:-_MOST_KNOWN]:
                del self._known[name]
        return reply

    async def _post(self, request: Request, references: PictureReferences) -> HttpReply:
        body = StreamedBody.of(request, self.config, references)
        return await self.http.send("POST", "/chat/completions", body)

    def _parse(self, reply: HttpReply) -> Any:
        try:
            return parse_json(reply.content)
        except ValueError as error:
            reason = self.http.redact(error)
            raise ServerFault(f"{self._server} sent a reply that cannot be read ({reason})") from error

    async def ready(self) -> str | None:
        """Check that the server answers, and return the name of the served model, or None if the server does not list
        it.

        Raises Unreachable if there is no OpenAI-compatible server, and RequestRefused for a wrong key or a redirect.
        """
        try:
            reply = await self.http.send("GET", "/models", timeout_s=_READY_TIMEOUT_S)
        except ServerStalled as error:
            raise Unreachable(f"{self._server} cannot be reached (no reply); is the server running?") from error
        except ServerFault:
            return None
        if reply.status in (401, 403):
            raise self._status_error(reply)
        if reply.status in _GATEWAY_ERRORS:
            raise Unreachable(f"{self._server} cannot be reached ({reply.status} from its gateway)")
        if reply.status != 200:
            return None  # some servers answer requests but have no /models
        try:
            return _served_model(self._parse(reply), self.config.name)
        except ServerFault as error:
            message = f"{self._server} is not an OpenAI-compatible server: its reply to /models is not JSON"
            raise Unreachable(message) from error

    async def close(self) -> None:
        await self.http.close()
        if self._folder is not None:
            self._folder.close()

    @property
    def _server(self) -> str:
        return f"the server at {self.url}"

    def _status_error(self, reply: HttpReply) -> BackendError:
        status, wait_s = reply.status, retry_after_s(reply.headers.get("retry-after"))
        said, folder = self.http.redact(_error_text(reply.content)), self.config.media_path
        message = f"{self._server} answers {status} for {self.config.name}: {said}"
        if folder is not None and any(words in reply.content for words in _CANNOT_READ_FILES):
            return RequestRefused(
                f"{message}; start the server with --allowed-local-media-path {folder}; this folder must exist "
                f"for the server and for "
                "RoboGaze at the same path"
            )
        if status == 429 and b"insufficient_quota" not in reply.content:
            return RateLimited(message, wait_s)
        if status >= 500 or status in (408, 409):
            if wait_s is not None:
                return RateLimited(message, wait_s)
            return Unreachable(message) if status in _GATEWAY_ERRORS else ServerFault(message)
        hint = _HINTS.get(status)
        return RequestRefused(f"{message}; {hint}" if hint else message)


def _error_text(content: bytes) -> str:
    """The message in the body of an error reply; the body itself where it has another form."""
    try:
        body = parse_json(content)
    except ValueError:
        return content.decode(errors="replace")
    error = body.get("error", body) if isinstance(body, dict) else body
    message = error.get("message", error.get("detail")) if isinstance(error, dict) else error
    return message if isinstance(message, str) else json.dumps(body)


def _served_model(listing: Any, name: str) -> str | None:
    """The model that is served under a name, None if the name is not listed. vLLM lists its weights as `root`."""
    models = listing.get("data") if isinstance(listing, dict) else None
    entries = (entry for entry in models if isinstance(entry, dict)) if isinstance(models, list) else ()
    served = next((entry for entry in entries if entry.get("id") == name), None)
    if served is None:
        return None
    return server_name(served.get("root")) or name


def retry_after_s(header: str | None) -> float | None:
    """Seconds from a Retry-After header (seconds or a date), in [0, MAX_RETRY_AFTER_S]; None when absent or invalid."""
    if header is None:
        return None
    try:
        wait_s = float(header)
    except ValueError:
        try:
            wait_s = parsedate_to_datetime(header).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return None if math.isnan(wait_s) else min(max(0.0, wait_s), MAX_RETRY_AFTER_S)
