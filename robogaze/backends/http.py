"""HTTP as backends need it: JSON goes out, a bounded number of bytes comes in, and trouble has a name.

No redirect is followed: pictures and keys go to the address that was given, and to no other. A reply is decompressed
here and no further than it may be long. A key that a server repeats is taken out before anyone sees the reply.
"""

import asyncio
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urljoin

from robogaze.backends.reply import MAX_BYTES, shown
from robogaze.errors import BackendError, RequestRefused, ServerFault, ServerStalled, Unreachable

if TYPE_CHECKING:
    import httpx2

_GZIP_OR_ZLIB = 47
_COMPRESSED = ("gzip", "x-gzip", "deflate")
_REMOVED = "[key]"
_LEAST_KEY = 8
"""Shorter keys are words that a reply may hold by chance; they are taken out of messages only."""


@dataclass(frozen=True)
class HttpReply:
    """What came: the status, the headers by their names in lower case, the body."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class HttpClient:
    """A server under an address; `key` None sends no authorization."""

    def __init__(self, address: str, key: str | None, timeout_s: float) -> None:
        import httpx2

        self.address = address.rstrip("/")
        self.key = key
        self.timeout_s = timeout_s
        self._client = httpx2.AsyncClient(
            timeout=httpx2.Timeout(timeout_s, pool=None),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=100),
            follow_redirects=False,
        )

    async def ask(self, method: str, path: str, body: Any = None, timeout_s: float | None = None) -> HttpReply:
        """Send a request and read the reply, whatever its status.

        Raises ServerStalled after the time limit, Unreachable where no server answers, ServerFault for a reply that is
        too large or cannot be decompressed, RequestRefused for a redirect or an address that is none.
        """
        import httpx2

        most_s = self.timeout_s if timeout_s is None else min(self.timeout_s, timeout_s)
        try:
            # The client's own limit begins anew with every byte; a server that drips must end, too.
            async with asyncio.timeout(most_s):
                return await self._exchange(method, f"{self.address}{path}", body)
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise ServerStalled(f"the server at {self.address} gave no answer within {most_s:g} s") from error
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
            raise RequestRefused(f"{self.address} is no address that can be asked ({self.clean(error)})") from error
        except httpx2.HTTPError as error:
            reason = self.clean(error) or type(error).__name__
            message = f"the server at {self.address} cannot be reached ({reason}); is the server running?"
            raise Unreachable(message) from error

    async def _exchange(self, method: str, url: str, body: Any) -> HttpReply:
        headers = {"Accept": "application/json", "Accept-Encoding": "gzip"}
        if self.key is not None:
            headers["Authorization"] = f"Bearer {self.key}"
        content = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            content = json.dumps(body).encode()
        async with self._client.stream(method, url, content=content, headers=headers) as response:
            if 300 <= response.status_code < 400:
                raise self._redirected(url, response)
            read = self._without_key(await self._body(response))
            return HttpReply(response.status_code, dict(response.headers), read)

    def _redirected(self, url: str, response: "httpx2.Response") -> BackendError:
        given = response.headers.get("location", "")
        try:
            target = urljoin(url, given)
        except ValueError:
            target = given
        return RequestRefused(
            f"{url} answers {response.status_code} and sends on to {self.clean(target) or 'nowhere'}; nothing was sent "
            "there: if that is the model's server, give its address"
        )

    async def _body(self, response: "httpx2.Response") -> bytes:
        encoding = response.headers.get("content-encoding", "").strip().lower()
        if encoding not in ("", "identity", *_COMPRESSED):
            raise ServerFault(f"the server at {self.address} compressed its reply as {shown(encoding)}, unasked")
        unpacked = zlib.decompressobj(_GZIP_OR_ZLIB) if encoding in _COMPRESSED else None
        read = bytearray()
        async for chunk in response.aiter_raw():
            try:
                read += chunk if unpacked is None else unpacked.decompress(chunk, MAX_BYTES + 1 - len(read))
            except zlib.error as error:
                message = f"the server at {self.address} sent a reply that cannot be decompressed ({error})"
                raise ServerFault(message) from error
            if len(read) > MAX_BYTES:
                raise ServerFault(f"the server at {self.address} sent more than {MAX_BYTES // 2**20} MiB in a reply")
        return bytes(read)

    def _without_key(self, content: bytes) -> bytes:
        for form in self._key_forms if self.key and len(self.key) >= _LEAST_KEY else ():
            content = content.replace(form.encode(), _REMOVED.encode())
        return content

    def clean(self, said: object) -> str:
        """Something that a server or a library says, without the key, as a message may hold it."""
        text = str(said)
        for form in self._key_forms:
            text = text.replace(form, _REMOVED)
        return shown(text)

    @property
    def _key_forms(self) -> tuple[str, ...]:
        """The key as it is, and as JSON and addresses may write it."""
        key = self.key
        return (key, key.replace("/", "\\/"), quote(key, safe="")) if key else ()

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()
