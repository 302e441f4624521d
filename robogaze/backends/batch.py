"""Batch services: requests are written to a folder, and answers are read from it.

    DIR/requests-NNN.jsonl    requests without an answer, in OpenAI's batch format
    DIR/*.jsonl               answers: every other JSONL file, in the output format of a batch service

A run writes its next requests and stops. Run the requests with a vendor's batch service or `vllm run-batch`, put the
answers into the folder and start the run again. `custom_id` is the key of the request. Answers may therefore be in any
order and in any number of files, and an answer may be repeated. A line without a response is no answer: the request
is written again.
"""

import json
import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from robogaze.backends.base import Completion, Request
from robogaze.backends.chat_request import request_body
from robogaze.backends.config import ModelConfig
from robogaze.backends.reply import check_finished, parse_completion, quoted
from robogaze.errors import AnswersPending, InputError, RequestRefused, ServerFault

_log = logging.getLogger("robogaze")

_REQUESTS = "requests-"


def open_backend(config: ModelConfig, environ: Mapping[str, str]) -> "BatchBackend":
    """The backend of a model; its url is the folder."""
    return BatchBackend(config)


class BatchBackend:
    """A model behind a batch service. `name` is the name of the served model; if it is empty, requests do not name a
    model.
    """

    def __init__(self, config: ModelConfig) -> None:
        """Read the answers in the folder. Raises InputError without a folder and for an invalid line."""
        if config.url is None:
            raise InputError("a batch model needs url: the folder of its requests and answers")
        self.config = config
        self.folder = folder = Path(config.url)
        self.pending: set[str] = set()
        folder.mkdir(parents=True, exist_ok=True)
        requests = sorted(folder.glob(f"{_REQUESTS}*.jsonl"))
        answers = sorted(path for path in folder.glob("*.jsonl") if path not in requests)
        written = Counter(line["custom_id"] for path in requests for line in _lines(path))
        read = [line for path in answers for line in _lines(path)]
        self._answers = {line["custom_id"]: line for line in read if line.get("response")}
        unanswered = [line for line in read if not line.get("response") and line["custom_id"] not in self._answers]
        # A request without a response, such as one of an expired batch, was not executed and is written again.
        self._requested = set(written - _times_unanswered(unanswered)) - set(self._answers)
        self._warn([line for line in unanswered if line["custom_id"] not in self._requested])
        self._out = folder / f"{_REQUESTS}{len(requests) + 1:03d}.jsonl"
        self._written_bytes = 0

    def _warn(self, unanswered: Sequence[Mapping[str, Any]]) -> None:
        """Say which requests the service did not execute."""
        if number := len({line["custom_id"] for line in unanswered}):
            requests = "1 request has" if number == 1 else f"{number:,} requests have"
            why = quoted(json.dumps(unanswered[0].get("error")))
            _log.warning("%s no response in %s (%s); what is still needed is written again", requests, self.folder, why)

    @property
    def identity(self) -> Mapping[str, Any]:
        """Kind, name and request format; the folder is not included, because it may be moved."""
        used = self.config
        return {"kind": "batch", "name": used.name, "send": used.send, "structured": used.structured}

    def was_sent(self, request: Request) -> bool:
        """Whether the request has already been written or answered."""
        key = request.key(self.identity)
        return key in self._answers or self._is_pending(key)

    def _is_pending(self, key: str) -> bool:
        return key in self._requested or key in self.pending

    async def complete(self, request: Request) -> Completion:
        """The answer to a request, if it is in the folder.

        Raises AnswersPending if the folder does not contain the answer, and RequestRefused if the service answered with
        an error.
        """
        key = request.key(self.identity)
        if (line := self._answers.get(key)) is not None:
            return _completion(line)
        if not self._is_pending(key):
            self._read_written_by_others()
        if not self._is_pending(key):
            self._write(key, request)
        self.pending.add(key)
        raise AnswersPending(self.folder, self.pending)

    def _read_written_by_others(self) -> None:
        """Read the requests that another model with the same folder has added to the file since this model last read
        it.
        """
        size = self._out.stat().st_size if self._out.exists() else 0
        if size != self._written_bytes:
            self._requested |= {line["custom_id"] for line in _lines(self._out)}
            self._written_bytes = size

    def _write(self, key: str, request: Request) -> None:
        body = request_body(request, self.config)
        line = {"custom_id": key, "method": "POST", "url": "/v1/chat/completions", "body": body}
        with self._out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            file.flush()
            self._written_bytes = file.tell()

    async def ready(self) -> None:
        """Always ready: requests only need the folder."""

    async def close(self) -> None:
        """Nothing to release."""


def _lines(path: Path) -> Iterable[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for number, text in enumerate(file, start=1):
            try:
                line = json.loads(text)
                if not isinstance(line, dict) or not isinstance(line.get("custom_id"), str):
                    raise ValueError("it has no custom_id")
            except (ValueError, RecursionError) as error:
                message = f"{path}:{number} is not a valid batch line ({error}); correct or remove it"
                raise InputError(message) from error
            yield line


def _times_unanswered(lines: Sequence[Mapping[str, Any]]) -> Counter[str]:
    """How often each request got no response. A line that is in two files counts once: it has the same `id`, which is
    new each time the service takes a request. A line without an id always counts.
    """
    times = {(line["custom_id"], str(line["id"]) if line.get("id") else number) for number, line in enumerate(lines)}
    return Counter(custom_id for custom_id, _ in times)


def _completion(line: Mapping[str, Any]) -> Completion:
    """The completion in a line. Raises RequestRefused for an error: the same line would give the same error again."""
    response = line["response"] if isinstance(line["response"], dict) else {}
    status = response.get("status_code", "unknown")
    if status != 200 or not response.get("body"):
        error = json.dumps(line.get("error") or response.get("error") or response.get("body"))
        raise RequestRefused(
            f"the batch service answered request {line['custom_id'][:12]} with status {quoted(str(status))}: "
            f"{quoted(error)}"
        )
    try:
        completion = parse_completion(response["body"])
        check_finished(completion)
    except ServerFault as error:
        raise RequestRefused(str(error)) from error
    return completion
