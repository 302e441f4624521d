"""The openai backend: errors of servers, Retry-After, token counts."""

import json
from email.utils import formatdate
from time import time

import pytest
from stub_server import Reply, Stub, running

from backends.samples import openai_backend, request
from robogaze.backends.openai import retry_after_s
from robogaze.errors import BackendError, RateLimited, RequestRefused, ServerFault, ServerStalled, Unreachable

ERRORS: list[tuple[Reply, type[BackendError], str]] = [
    (Reply(status=429, raw=b'{"error":{"message":"slow down"}}'), RateLimited, "answers 429 for stub"),
    (Reply(status=429, raw=b'{"error":{"message":"insufficient_quota"}}'), RequestRefused, "insufficient_quota"),
    (Reply(status=500, raw=b"{}"), ServerFault, "answers 500"),
    (Reply(status=503, raw=b"{}", headers={"retry-after": "2"}), RateLimited, "answers 503"),
    (Reply(status=400, raw=b'{"error":{"message":"At most 16 images"}}'), RequestRefused, "At most 16 images"),
    (Reply(status=401, raw=b"{}"), RequestRefused, "api_key_env"),
    (Reply(status=404, raw=b"{}"), RequestRefused, "check the model's name"),
    (Reply(status=413, raw=b"{}"), RequestRefused, "fewer frames"),
    (Reply(raw=b"<html>hello</html>"), ServerFault, "cannot be read"),
    (Reply(raw=b'{"choices": []}'), ServerFault, "without choices"),
    (Reply(raw=b'{"choices": [{"message": null}]}'), ServerFault, "without choices"),
    (Reply(raw=b"[1"), ServerFault, "cannot be read"),
    (Reply(), Unreachable, "cannot be reached"),
]


@pytest.mark.parametrize(("reply", "kind", "says"), ERRORS)
async def test_replies_that_are_not_answers_raise_backend_errors(
    reply: Reply, kind: type[BackendError], says: str
) -> None:
    with running(Stub(behave=lambda body: reply)) as url:
        backend = openai_backend(url, key="sk-of-a-user")
        with pytest.raises(BackendError, match=says) as error:
            await backend.complete(request())
        await backend.close()
    assert type(error.value) is kind
    assert "sk-of-a-user" not in str(error.value)


async def test_server_that_does_not_reply_is_stalled() -> None:
    with running(Stub(latency_s=30)) as url:
        backend = openai_backend(url, timeout_s=1)
        with pytest.raises(ServerStalled, match=r"did not reply within 1 s"):
            await backend.complete(request())
        await backend.close()


async def test_address_without_a_server_is_unreachable() -> None:
    backend = openai_backend("http://127.0.0.1:9/v1")
    with pytest.raises(Unreachable, match="is the server running"):
        await backend.ready()
    await backend.close()


async def test_retry_after_is_part_of_the_error() -> None:
    with running(Stub(behave=lambda body: Reply(status=429, raw=b"{}", headers={"retry-after": "7"}))) as url:
        backend = openai_backend(url)
        with pytest.raises(RateLimited) as error:
            await backend.complete(request())
        await backend.close()
    assert error.value.retry_after_s == 7


def test_retry_after_is_seconds_or_a_date() -> None:
    assert retry_after_s(None) is None
    assert retry_after_s("1.5") == 1.5
    assert retry_after_s("soon") is None
    assert retry_after_s("nan") is None
    assert retry_after_s("Fri, 99 Foo 99999 99:99:99 GMT") is None
    assert retry_after_s("inf") == retry_after_s("1e12") == retry_after_s("9" * 5000) == 86_400
    assert retry_after_s("-5") == 0
    assert 400 <= (retry_after_s(formatdate(time() + 500, usegmt=True)) or 0) <= 500
    assert retry_after_s(formatdate(time() - 5, usegmt=True)) == 0


async def test_reasoning_channel_is_not_read_as_an_answer() -> None:
    message = {"content": None, "reasoning": '{"cup": true}'}
    with running(Stub(behave=lambda body: Reply(content="", message=message))) as url:
        backend = openai_backend(url)
        completion = await backend.complete(request())
        await backend.close()
    assert (completion.text, completion.facts) == ("", {"reasoning_only": "yes"})


async def test_token_counts_are_the_servers_and_none_where_it_sends_none() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
    choices = [{"message": {"content": "{}"}, "finish_reason": "length"}]
    for sent, counts in ((usage, (9, 4, 2)), (None, (None, None, None))):
        raw = json.dumps({"choices": choices, "usage": sent}).encode()
        with running(Stub(behave=lambda body, raw=raw: Reply(raw=raw))) as url:  # type: ignore[misc]
            backend = openai_backend(url)
            completion = await backend.complete(request())
            await backend.close()
        assert (completion.prompt_tokens, completion.cached_tokens, completion.completion_tokens) == counts
        assert completion.finish_reason == "length"
