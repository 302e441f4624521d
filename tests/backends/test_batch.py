"""The batch backend."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from backends.samples import batch_backend, request
from robogaze.errors import AnswersPending, InputError, RequestRefused

BODY = {"choices": [{"message": {"content": "yes"}}]}


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def written(folder: Path) -> list[int]:
    """The number of requests in each file of requests."""
    return [len(lines(path)) for path in sorted(folder.glob("requests-*.jsonl"))]


async def post(folder: Path, *subjects: str) -> list[dict[str, Any]]:
    backend = batch_backend(folder)
    for subject in subjects:
        with pytest.raises(AnswersPending):
            await backend.complete(request(subject))
    return lines(folder / "requests-001.jsonl")


async def test_requests_are_written_as_openai_batch_jsonl(tmp_path: Path) -> None:
    (line,) = await post(tmp_path, "Is there a cup?")
    assert set(line) == {"custom_id", "method", "url", "body"}
    assert (line["method"], line["url"], line["body"]["model"]) == ("POST", "/v1/chat/completions", "m")


async def test_error_counts_pending_requests_and_says_what_to_do(tmp_path: Path) -> None:
    backend = batch_backend(tmp_path)
    for subject in ("a", "b", "b"):
        with pytest.raises(AnswersPending) as error:
            await backend.complete(request(subject))
    assert "2 requests are pending" in str(error.value)
    assert "run the same command again" in str(error.value)


async def test_number_of_pending_requests_is_that_of_the_file_whichever_error_is_shown(tmp_path: Path) -> None:
    """Of requests sent in parallel the first error is raised, after all of them are written."""
    backend = batch_backend(tmp_path)
    sent = (backend.complete(request(subject)) for subject in ("a", "b", "b", "c"))
    errors = await asyncio.gather(*sent, return_exceptions=True)
    assert len(lines(tmp_path / "requests-001.jsonl")) == 3
    assert {str(error).partition(" are pending")[0] for error in errors} == {"3 requests"}


async def test_two_models_with_one_folder_write_an_identical_request_once(tmp_path: Path) -> None:
    backends = [batch_backend(tmp_path), batch_backend(tmp_path)]
    for backend, subject in ((backends[0], "a"), (backends[1], "b"), (backends[1], "a"), (backends[0], "b")):
        with pytest.raises(AnswersPending):
            await backend.complete(request(subject))
    asked = [line["custom_id"] for line in lines(tmp_path / "requests-001.jsonl")]
    assert (len(asked), len(set(asked))) == (2, 2)


async def test_answers_can_come_in_any_order_and_file(tmp_path: Path) -> None:
    asked = await post(tmp_path, "a", "b")
    for number, line in enumerate(reversed(asked)):
        body = {"choices": [{"message": {"content": line["body"]["messages"][1]["content"][-1]["text"]}}]}
        answer = {"id": "x", "custom_id": line["custom_id"], "response": {"status_code": 200, "body": body}}
        (tmp_path / f"out{number}.jsonl").write_text(json.dumps(answer) + "\n")
    backend = batch_backend(tmp_path)
    assert [(await backend.complete(request(subject))).text for subject in "ab"] == ["a", "b"]


async def test_pending_request_is_not_written_twice(tmp_path: Path) -> None:
    await post(tmp_path, "a")
    backend = batch_backend(tmp_path)
    for subject in "ab":
        with pytest.raises(AnswersPending):
            await backend.complete(request(subject))
    assert len(lines(tmp_path / "requests-001.jsonl")) == 1
    assert len(lines(tmp_path / "requests-002.jsonl")) == 1


async def test_folder_can_be_moved(tmp_path: Path) -> None:
    asked = await post(tmp_path / "here", "a")
    assert asked[0]["custom_id"] == request("a").key(batch_backend(tmp_path / "there").identity)


async def test_error_of_the_service_is_a_refusal(tmp_path: Path) -> None:
    (line,) = await post(tmp_path, "a")
    error = {"error": {"message": "At most 16 images"}}
    answer = {"custom_id": line["custom_id"], "response": {"status_code": 400, "body": None}, "error": error}
    (tmp_path / "out.jsonl").write_text(json.dumps(answer) + "\n")
    with pytest.raises(RequestRefused, match="At most 16 images"):
        await batch_backend(tmp_path).complete(request("a"))


async def test_request_without_a_response_is_written_again_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A service lists the requests of an expired batch without a response."""
    (line,) = await post(tmp_path, "a")
    expired = {"custom_id": line["custom_id"], "response": None, "error": {"code": "batch_expired"}}
    (tmp_path / "out.jsonl").write_text(json.dumps(expired) + "\n")
    with caplog.at_level("WARNING", "robogaze"):
        backend = batch_backend(tmp_path)
    assert "1 request has no response in" in caplog.text
    assert "batch_expired" in caplog.text
    assert not backend.was_sent(request("a"))
    for _ in range(2):
        with pytest.raises(AnswersPending, match="1 request is pending"):
            await batch_backend(tmp_path).complete(request("a"))
    assert [len(lines(tmp_path / f"requests-00{number}.jsonl")) for number in (1, 2)] == [1, 1]
    assert not (tmp_path / "requests-003.jsonl").exists()
    answer = {"id": "x", "custom_id": line["custom_id"], "response": {"status_code": 200, "body": BODY}}
    (tmp_path / "again.jsonl").write_text(json.dumps(answer) + "\n")
    assert (await batch_backend(tmp_path).complete(request("a"))).text == "yes"


async def test_an_expired_line_that_is_in_two_files_counts_once(tmp_path: Path) -> None:
    """A service may list an expired request both in its answers and in its errors."""
    (line,) = await post(tmp_path, "a")
    expired = {"id": "x1", "custom_id": line["custom_id"], "response": None, "error": {"code": "batch_expired"}}
    for name in ("output", "errors"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(expired) + "\n")
    for _ in range(3):
        with pytest.raises(AnswersPending):
            await batch_backend(tmp_path).complete(request("a"))
    assert written(tmp_path) == [1, 1]


async def test_a_request_that_expires_twice_is_written_a_third_time(tmp_path: Path) -> None:
    (line,) = await post(tmp_path, "a")
    expired = {"custom_id": line["custom_id"], "response": None, "error": {"code": "batch_expired"}}
    for number in (1, 2):
        (tmp_path / f"output{number}.jsonl").write_text(json.dumps({"id": f"x{number}", **expired}) + "\n")
        for _ in range(2):
            with pytest.raises(AnswersPending):
                await batch_backend(tmp_path).complete(request("a"))
    assert written(tmp_path) == [1, 1, 1]


@pytest.mark.parametrize("text", ["{", "[]", '{"id": 1}'])
def test_invalid_line_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "out.jsonl").write_text(text + "\n")
    with pytest.raises(InputError, match=r"out\.jsonl:1 is not a valid batch line"):
        batch_backend(tmp_path)
