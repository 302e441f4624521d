"""An HTTP client for backends: sends JSON, reads replies of bounded size, raises BackendError.

Redirects are refused: images and keys go only to the address that the user gave. If a reply of the server repeats the
API key, the key is removed from the reply.
"""

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import quote

from robogaze.backends.base import MAX_BYTES
from robogaze.backends.chat_request import StreamedBody
from robogaze.backends.reply import quoted
from robogaze.errors import RequestRefused, ServerFault, ServerStalled, Unreachable

if TYPE_CHECKING:
    import httpx2

_REMOVED = "[key]"
_MIN_KEY_LENGTH = 8
"""A shorter key may be in a reply by chance; it is removed from messages only."""


@cache
def _certificates() -> ssl.SSLContext:
    """The trusted certificate authorities. The certificates are read once and not for every model."""
    import httpx2

    return httpx2.create_ssl_context()


@dataclass(frozen=True)
class HttpReply:
    """Status, headers (names in lower case) and body."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class HttpClient:
    """Sends requests to one address; without a `key`, no Authorization header is sent."""

    def __init__(self, address: str, key: str | None, timeout_s: float) -> None:
        import httpx2

        self.address = address.rstrip("/")
        self.key = key
        self.timeout_s = timeout_s
        self._client = httpx2.AsyncClient(
            verify=_certificates(),
            timeout=httpx2.Timeout(timeout_s, pool=None),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=100),
            follow_redirects=False,
        )

    async def send(
        self, method: str, path: str, body: StreamedBody | None = None, timeout_s: float | None = None
    ) -> HttpReply:
        """Send a request and read the reply, even if its status is an error.

        Raises ServerStalled after the time limit, and Unreachable if no server answers. Raises ServerFault for a reply
        that is too large or cannot be decompressed, and RequestRefused for a redirect or an invalid address.
        """
        import httpx2

        limit_s = self.timeout_s if timeout_s is None else min(self.timeout_s, timeout_s)
        try:
            # The limit of httpx starts again with every byte, so a server that drips bytes would never reach it.
            async with asyncio.timeout(limit_s):
                return await self._exchange(method, f"{self.address}{path}", body)
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise ServerStalled(f"the server at {self.address} did not reply within {limit_s:g} s") from error
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
            raise RequestRefused(
                f"{self.address} is not a valid address ({self.redact(error)}); use http://HOST:PORT/v1"
            ) from error
        except httpx2.DecodingError as error:
            message = f"the server at {self.address} sent a reply that cannot be decompressed ({self.redact(error)})"
            raise ServerFault(message) from error
        except httpx2.HTTPError as error:
            reason = self.redact(error) or type(error).__name__
            message = f"the server at {self.address} cannot be reached ({reason}); is the server running?"
            raise Unreachable(message) from error

    async def _exchange(self, method: str, url: str, body: StreamedBody | None) -> HttpReply:
        headers = {"Accept": "application/json", "Accept-Encoding": "gzip"}
        if self.key is not None:
            headers["Authorization"] = f"Bearer {self.key}"
        if body is not None:
            headers.update({"Content-Type": "application/json", "Content-Length": str(len(body))})
        async with self._client.stream(method, url, content=body, headers=headers) as response:
            if 300 <= response.status_code < 400:
                location = self.redact(response.headers.get("location", "")) or "no address"
                raise RequestRefused(
                    f"{url} redirects to {location} (status {response.status_code}), and RoboGaze does not follow "
                    "redirects; if the model's server is at the new address, use that address"
                )
            content = self._without_key(await self._body(response))
            stream = response.extensions.get("network_stream")  # None if the reply came from no network
            if response.status_code >= 500 and stream is not None:
                # A server that failed may close the connection after its reply (vLLM does): the next request on it
                # would find no server.
                await stream.aclose()
            return HttpReply(response.status_code, dict(response.headers), content)

    async def _body(self, response: "httpx2.Response") -> bytes:
        content = bytearray()
        async for chunk in response.aiter_bytes():
            content += chunk
            if len(content) > MAX_BYTES:
                raise ServerFault(f"the server at {self.address} sent more than {MAX_BYTES // 2**20} MiB in a reply")
        return bytes(content)

    def _without_key(self, content: bytes) -> bytes:
        for form in self._key_forms if self.key and len(self.key) >= _MIN_KEY_LENGTH else ():
            content = content.replace(form.encode(), _REMOVED.encode())
        return content

    def redact(self, value: object) -> str:
        """Text from a server or a library for use in a message, with the key removed."""
        text = str(value)
        for form in self._key_forms:
            text = text.replace(form, _REMOVED)
        return quoted(text)

    @property
    def _key_forms(self) -> tuple[str, ...]:
        """The key unchanged, and the key in its escaped forms in JSON and in URLs."""
        key = self.key
        return (key, key.replace("/", "\\/"), quote(key, safe="")) if key else ()

    async def close(self) -> None:
        await self._client.aclose()
