"""The body of a chat completion request."""

import json
from typing import Any

import pytest

from backends.samples import SCHEMA, image, request
from robogaze.backends import Decoding, ModelConfig
from robogaze.backends.chat_request import StreamedBody, request_body


def model(**settings: Any) -> ModelConfig:
    return ModelConfig(kind="openai", name="m", **settings)


def body(**fields: Any) -> dict[str, Any]:
    return request_body(request(**fields), model())


def test_each_image_follows_its_label() -> None:
    content = body()["messages"][1]["content"]
    assert [part["type"] for part in content] == ["text", "image_url", "text", "image_url", "text"]
    assert [part["text"] for part in content if part["type"] == "text"] == ["frame 0", "frame 4", "Is there a cup?"]
    assert content[1]["image_url"]["url"].startswith("data:image/jpeg;base64,/9j/")


def test_schema_is_a_strict_response_format() -> None:
    wanted = {"name": "look", "schema": SCHEMA, "strict": True}
    assert body()["response_format"] == {"type": "json_schema", "json_schema": wanted}
    assert "response_format" not in body(schema=None)
    assert "guided_json" not in json.dumps(body())


def test_schema_can_be_left_out_for_servers_without_schemas() -> None:
    assert request_body(request(), model(structured="json_object"))["response_format"] == {"type": "json_object"}
    assert "response_format" not in request_body(request(), model(structured="none"))


def test_decoding_parameters_of_none_are_left_out() -> None:
    assert body()["temperature"] == 0.0
    assert body()["max_tokens"] == 64
    assert not {"temperature", "top_p", "seed"} & set(body(decoding=Decoding(temperature=None)))
    assert body(decoding=Decoding(top_p=0.9, seed=3)) | {"top_p": 0.9, "seed": 3} == body(
        decoding=Decoding(top_p=0.9, seed=3)
    )


def test_extra_body_is_added_unchanged() -> None:
    extra = {"chat_template_kwargs": {"enable_thinking": False}}
    chosen = model(extra_body=extra, token_limit_field="max_completion_tokens")
    written = request_body(request(), chosen)
    assert written["chat_template_kwargs"] == {"enable_thinking": False}
    assert written["max_completion_tokens"] == 64
    assert "max_tokens" not in written


def test_consecutive_frames_are_one_video_with_their_times() -> None:
    video_request = request(image(0), image(4), image(8), "closer:", image(6), "Is there a cup?")
    written = request_body(video_request, model(send="video"))
    content = written["messages"][1]["content"]
    assert [part["type"] for part in content] == ["text", "video_url", "text", "text", "image_url", "text"]
    assert content[0]["text"] == "A video of these frames:\nframe 0\nframe 4\nframe 8"
    assert content[1]["video_url"]["url"].count(",") == 3, "one JPEG behind each comma"
    assert written["media_io_kwargs"]["video"] == {
        "num_frames": -1,  # otherwise the server keeps 32 frames
        "fps": 16.0,
        "frames_indices": [0, 4, 8],
        "total_num_frames": 64,
        "duration": 4.0,
        "do_sample_frames": False,
    }


def test_image_that_is_not_of_the_clip_is_not_part_of_a_video() -> None:
    written = request_body(request(image(None), "What is there?"), model(send="video"))
    assert "media_io_kwargs" not in written


@pytest.mark.parametrize("send", ["images", "video"])
async def test_streamed_body_is_the_same_body_with_its_size(send: str) -> None:
    asked, chosen = request(image(0), image(4), "Is there a cup?", image(6)), model(send=send)
    streamed = StreamedBody.of(asked, chosen)
    sent = b"".join([chunk async for chunk in streamed])
    assert json.loads(sent) == request_body(asked, chosen)
    assert len(streamed) == len(sent)
