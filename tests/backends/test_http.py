"""The HTTP client: bounded replies, no redirects, no key in what comes back."""

import asyncio
import gzip
import json
import time
import tracemalloc
import zlib
from typing import Any

import pytest
from stub_server import Reply, Stub, running

from backends.samples import openai_backend, request
from robogaze.backends.base import MAX_BYTES
from robogaze.backends.http import HttpClient
from robogaze.errors import BackendError, RequestRefused, ServerFault, Unreachable

KEY = "sk-live/0123456789abcdef"
GOOD = json.dumps({"choices": [{"finish_reason": "stop", "message": {"content": "{}"}}]}).encode()


async def asked(stub: Stub, key: str | None = KEY) -> Any:
    """The completion that a server gives, or the error."""
    with running(stub) as url:
        backend = openai_backend(url, key)
        try:
            return await backend.complete(request())
        except BackendError as error:
            return error
        finally:
            await backend.close()


def sends(raw: bytes, status: int = 200, **headers: str) -> Stub:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Stub(behave=lambda body: Reply(raw=raw, status=status, headers=named))


@pytest.mark.parametrize("status", [301, 308])
async def test_redirect_is_not_followed_and_both_addresses_are_named(status: int) -> None:
    elsewhere = Stub()
    with running(elsewhere) as other:
        error = await asked(sends(b"", status, location=f"{other}/chat/completions"))
    assert isinstance(error, RequestRefused)
    assert f"redirects to {other}/chat/completions (status {status}), and RoboGaze does not follow redirects" in str(
        error
    )
    assert str(error).startswith("http://127.0.0.1:")
    assert elsewhere.requests == 0


@pytest.mark.parametrize("location", ["", "http://[", f"http://h/?key={KEY}", "x" * 9000])
async def test_redirect_to_any_address_is_a_refusal(location: str) -> None:
    error = await asked(sends(b"", 307, location=location))
    assert isinstance(error, RequestRefused)
    assert KEY not in str(error)
    assert len(str(error)) < 600


async def test_redirect_of_the_list_of_models_is_refused() -> None:
    class Moved(Stub):
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            await send({"type": "http.response.start", "status": 308, "headers": [(b"location", b"http://else/v1")]})
            await send({"type": "http.response.body", "body": b""})

    with running(Moved()) as url:
        backend = openai_backend(url, KEY)
        with pytest.raises(RequestRefused, match=r"/v1/models redirects to http://else/v1"):
            await backend.ready()
        await backend.close()


async def test_compressed_reply_is_read() -> None:
    for raw, encoding in ((gzip.compress(GOOD, mtime=0), "gzip"), (zlib.compress(GOOD), "deflate"), (GOOD, "identity")):
        assert (await asked(sends(raw, content_encoding=encoding))).text == "{}"


async def test_compression_bomb_is_a_server_fault_and_uses_little_memory() -> None:
    bomb = gzip.compress(b"x" * 2**28, mtime=0)
    tracemalloc.start()
    try:
        started = time.process_time()
        error = await asked(sends(bomb, content_encoding="gzip"))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(error, ServerFault)
    assert "more than 16 MiB" in str(error)
    assert peak < 5 * MAX_BYTES
    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    ("raw", "encoding", "says"),
    [
        (b"x" * (MAX_BYTES + 1), "identity", "more than 16 MiB"),
        (b"hello", "gzip", "cannot be decompressed"),
        (gzip.compress(GOOD, mtime=0)[:-20], "gzip", "cannot be read"),
        (b"[" * 100_000, "identity", "recursion limit"),
        (b'"' + b"a" * 70_000 + b'"', "identity", "not a chat completion"),
    ],
)
async def test_unreadable_body_is_a_server_fault(raw: bytes, encoding: str, says: str) -> None:
    error = await asked(sends(raw, content_encoding=encoding))
    assert isinstance(error, ServerFault)
    assert says in str(error)


LISTS: list[Any] = [
    None, "stub", {"data": None}, {"data": ["stub", [], {}, {"id": 5}]}, [{"id": "stub"}], {"data": [{"id": "other"}]},
]  # fmt: skip


@pytest.mark.parametrize("listed", LISTS, ids=str)
async def test_list_of_models_without_this_model_names_none(listed: Any) -> None:
    assert await served(json.dumps(listed).encode()) is None


@pytest.mark.parametrize(
    ("entry", "name"),
    [({}, "stub"), ({"root": "/w"}, "/w"), ({"root": 5}, "stub"), ({"root": ""}, "stub")],
)
async def test_listed_model_is_identified_by_its_weights_or_its_name(entry: dict[str, Any], name: str) -> None:
    assert await served(json.dumps({"data": [5, {"id": "stub", **entry}]}).encode()) == name


async def served(listed: bytes) -> str | None:
    with running(Stub(listed=listed)) as url:
        backend = openai_backend(url, None)
        try:
            return await backend.ready()
        finally:
            await backend.close()


async def test_html_page_is_not_an_openai_compatible_server() -> None:
    with pytest.raises(Unreachable, match="not an OpenAI-compatible server"):
        await served(b"<html>")


async def test_oversized_list_of_models_names_none() -> None:
    assert await served(b"[" + b"1," * MAX_BYTES) is None


@pytest.mark.parametrize(
    "stub",
    [
        sends(json.dumps({"error": {"message": f"no such key {KEY} here"}}).encode(), 401),
        sends(json.dumps({"error": {"message": f"no such key {KEY} here"}}).replace("/", "\\/").encode(), 400),
        sends(f"<p>{KEY}</p>".encode(), 500),
        sends(("x" * 190 + KEY).encode(), 500),
        sends(json.dumps({"choices": [{"message": {"content": [KEY]}}]}).encode()),
        sends(json.dumps({"error": KEY}).encode()),
        sends(json.dumps({"choices": [{"message": {"content": f"your key is {KEY}"}}], "model": KEY}).encode()),
        sends(json.dumps({"choices": [{"message": {"content": "", "refusal": KEY}}]}).encode()),
    ],
)
async def test_key_that_a_server_repeats_is_removed(stub: Stub) -> None:
    got = await asked(stub)
    assert KEY[:12] not in f"{got!r} {got}"


async def test_key_is_sent_if_there_is_one() -> None:
    for key, sent in ((KEY, f"Bearer {KEY}"), (None, None)):
        stub = Stub()
        await asked(stub, key)
        assert stub.keys == [sent]


async def test_connection_on_which_a_server_failed_is_not_used_again() -> None:
    """vLLM closes it, a moment after its reply."""
    statuses = iter([500, 200])

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 {next(statuses)} X\r\ncontent-length: 2\r\n\r\n{{}}".encode())
        await asyncio.sleep(0.1)
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        client = HttpClient(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", None, 60)
        assert [(await client.send("GET", "/models")).status for _ in range(2)] == [500, 200]
        await client.close()
        await asyncio.sleep(0.2)
