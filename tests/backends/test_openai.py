"""The openai backend: what is written on the wire, and what every kind of trouble is called."""

import json
from email.utils import formatdate
from time import time
from typing import Any

import pytest
from backends.asking import SCHEMA, request, shot
from stub_server import Reply, Stub, running

from robogaze.backends import Decoding
from robogaze.backends.openai import OpenAIBackend, Wire, request_body, retry_after_s
from robogaze.errors import BackendError, RateLimited, RequestRefused, ServerFault, ServerStalled, Unreachable


def body(**fields: Any) -> dict[str, Any]:
    return request_body(request(**fields), "m", Wire())


def test_each_picture_follows_its_label() -> None:
    content = body()["messages"][1]["content"]
    assert [part["type"] for part in content] == ["text", "image_url", "text", "image_url", "text"]
    assert [part["text"] for part in content if part["type"] == "text"] == ["frame 0", "frame 4", "Is there a cup?"]
    assert content[1]["image_url"]["url"].startswith("data:image/jpeg;base64,/9j/")


def test_a_schema_is_a_strict_response_format() -> None:
    wanted = {"name": "look", "schema": SCHEMA, "strict": True}
    assert body()["response_format"] == {"type": "json_schema", "json_schema": wanted}
    assert "response_format" not in body(schema=None)
    assert "guided_json" not in json.dumps(body())


def test_a_server_without_schemas_is_asked_without() -> None:
    assert request_body(request(), "m", Wire(structured="json_object"))["response_format"] == {"type": "json_object"}
    assert "response_format" not in request_body(request(), "m", Wire(structured="none"))


def test_decoding_parameters_that_are_none_are_left_to_the_server() -> None:
    assert body()["temperature"] == 0.0
    assert body()["max_tokens"] == 64
    assert not {"temperature", "top_p", "seed"} & set(body(decoding=Decoding(temperature=None)))
    assert body(decoding=Decoding(top_p=0.9, seed=3)) | {"top_p": 0.9, "seed": 3} == body(
        decoding=Decoding(top_p=0.9, seed=3)
    )


def test_what_a_server_needs_besides_is_added_as_it_stands() -> None:
    extra = {"chat_template_kwargs": {"enable_thinking": False}}
    wire = Wire(extra_body=extra, token_limit_field="max_completion_tokens")
    written = request_body(request(), "m", wire)
    assert written["chat_template_kwargs"] == {"enable_thinking": False}
    assert written["max_completion_tokens"] == 64
    assert "max_tokens" not in written


def test_as_video_consecutive_frames_travel_as_one_with_their_true_places() -> None:
    asked = request(shot(0), shot(4), shot(8), "closer:", shot(6), "Is there a cup?")
    written = request_body(asked, "m", Wire(send="video"))
    content = written["messages"][1]["content"]
    assert [part["type"] for part in content] == ["text", "video_url", "text", "text", "image_url", "text"]
    assert content[0]["text"] == "A video of these frames:\nframe 0\nframe 4\nframe 8"
    assert content[1]["video_url"]["url"].count(",") == 3, "one JPEG behind each comma"
    assert written["media_io_kwargs"]["video"] == {
        "num_frames": -1,  # or the server keeps 32
        "fps": 16.0,
        "frames_indices": [0, 4, 8],
        "total_num_frames": 64,
        "duration": 4.0,
        "do_sample_frames": False,
    }


def test_a_picture_of_no_frame_is_never_part_of_a_video() -> None:
    written = request_body(request(shot(None), "What is there?"), "m", Wire(send="video"))
    assert "media_io_kwargs" not in written


ASKED: list[tuple[Reply, type[BackendError], str]] = [
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


@pytest.mark.parametrize(("reply", "kind", "says"), ASKED)
async def test_trouble_has_a_name(reply: Reply, kind: type[BackendError], says: str) -> None:
    with running(Stub(behave=lambda body: reply)) as url:
        backend = OpenAIBackend("stub", url, "key", timeout_s=5)
        with pytest.raises(BackendError, match=says) as error:
            await backend.complete(request())
        await backend.close()
    assert type(error.value) is kind
    assert "key" not in str(error.value).replace("api_key_env", "")


async def test_a_server_that_stalls_is_given_up_after_the_time_limit() -> None:
    with running(Stub(latency_s=30)) as url:
        backend = OpenAIBackend("stub", url, "key", timeout_s=0.3)
        with pytest.raises(ServerStalled, match=r"no answer within 0\.3 s"):
            await backend.complete(request())
        await backend.close()


async def test_no_server_is_unreachable() -> None:
    backend = OpenAIBackend("stub", "http://127.0.0.1:9/v1", "key", timeout_s=5)
    with pytest.raises(Unreachable, match="is the server running"):
        await backend.ready()
    await backend.close()


async def test_the_wait_a_server_asks_for_is_kept() -> None:
    with running(Stub(behave=lambda body: Reply(status=429, raw=b"{}", headers={"retry-after": "7"}))) as url:
        backend = OpenAIBackend("stub", url, "key", timeout_s=5)
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
    assert 3 <= (retry_after_s(formatdate(time() + 5, usegmt=True)) or 0) <= 5
    assert retry_after_s(formatdate(time() - 5, usegmt=True)) == 0


async def test_no_answer_is_read_out_of_the_reasoning_channel() -> None:
    message = {"content": None, "reasoning": '{"cup": true}'}
    with running(Stub(behave=lambda body: Reply(content="", message=message))) as url:
        backend = OpenAIBackend("stub", url, "key", timeout_s=5)
        completion = await backend.complete(request())
        await backend.close()
    assert (completion.text, completion.facts) == ("", {"reasoning_only": "yes"})


async def test_token_counts_are_the_servers_and_unknown_is_none() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
    choices = [{"message": {"content": "{}"}, "finish_reason": "length"}]
    for sent, counts in ((usage, (9, 4, 2)), (None, (None, None, None))):
        raw = json.dumps({"choices": choices, "usage": sent}).encode()
        with running(Stub(behave=lambda body, raw=raw: Reply(raw=raw))) as url:  # type: ignore[misc]
            backend = OpenAIBackend("stub", url, "key", timeout_s=5)
            completion = await backend.complete(request())
            await backend.close()
        assert (completion.prompt_tokens, completion.cached_tokens, completion.completion_tokens) == counts
        assert completion.finish_reason == "length"
