"""Answers by post: requests are written to a folder, answers are read from it.

    DIR/requests-NNN.jsonl    requests that have no answer yet, in OpenAI's batch format
    DIR/*.jsonl               answers: every other JSONL file, in the format of a batch service's output

A run writes what it would ask next and stops; feed the file to a vendor's batch service or to `vllm run-batch`,
put the output into the folder, and start the run again. `custom_id` is the key of the request, so answers may come
in any order, in any number of files, and again.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from robogaze.backends.base import Completion, Request
from robogaze.backends.openai import Wire, request_body
from robogaze.backends.reply import check_ended, check_nesting, completion, shown
from robogaze.errors import AnswersPending, InputError, RequestRefused, ServerFault

_REQUESTS = "requests-"


class BatchBackend:
    """A model that is asked by file; `name` is the served model's, empty to leave it to the service."""

    def __init__(self, name: str, folder: Path, wire: Wire | None = None) -> None:
        """Read the answers that are there. Raises InputError for a line that is no answer."""
        self.name = name
        self.folder = folder
        self.wire = wire or Wire()
        self.pending: set[str] = set()
        folder.mkdir(parents=True, exist_ok=True)
        asked = sorted(folder.glob(f"{_REQUESTS}*.jsonl"))
        answers = sorted(path for path in folder.glob("*.jsonl") if path not in asked)
        self._answers = {line["custom_id"]: line for path in answers for line in _lines(path)}
        self._asked = {line["custom_id"] for path in asked for line in _lines(path)} - set(self._answers)
        self._out = folder / f"{_REQUESTS}{len(asked) + 1:03d}.jsonl"

    @property
    def identity(self) -> Mapping[str, Any]:
        """Kind, name and how requests are written; not the folder, which may be moved."""
        return {"kind": "batch", "name": self.name, "send": self.wire.send, "structured": self.wire.structured}

    def was_sent(self, request: Request) -> bool:
        """Whether a request was written, or answered, before."""
        key = request.key(self.identity)
        return key in self._answers or self._is_pending(key)

    def _is_pending(self, key: str) -> bool:
        return key in self._asked or key in self.pending

    async def complete(self, request: Request) -> Completion:
        """Answer a request whose answer is there.

        Raises AnswersPending when it is not, RequestRefused when the service answered with an error.
        """
        key = request.key(self.identity)
        if (line := self._answers.get(key)) is not None:
            return _opened(line)
        if not self._is_pending(key):
            self._post(key, request)
        self.pending.add(key)
        raise AnswersPending(
            f"{'1 request is' if len(self.pending) == 1 else f'{len(self.pending):,} requests are'} pending in "
            f"{self.folder}; have them answered, put the answers beside them as JSONL, and run the same command again"
        )

    def _post(self, key: str, request: Request) -> None:
        body = request_body(request, self.name, self.wire)
        line = {"custom_id": key, "method": "POST", "url": "/v1/chat/completions", "body": body}
        with self._out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")

    async def ready(self) -> None:
        """Always."""

    async def close(self) -> None:
        """Nothing to free."""


def _lines(path: Path) -> Iterable[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for number, text in enumerate(file, start=1):
            try:
                check_nesting(text)
                line = json.loads(text)
                if not isinstance(line, dict) or not isinstance(line.get("custom_id"), str):
                    raise ValueError("it has no custom_id")
            except ValueError as error:
                raise InputError(f"{path}:{number} is not a line of a batch ({error}); mend or remove it") from error
            yield line


def _opened(answer: Mapping[str, Any]) -> Completion:
    """The completion in a line. Raises RequestRefused for any other: reading it again changes nothing."""
    response = answer.get("response")
    response = response if isinstance(response, dict) else {}
    status = response.get("status_code")
    if status != 200 or not response.get("body"):
        said = json.dumps(answer.get("error") or response.get("error") or response.get("body"))
        raise RequestRefused(f"the batch answers {shown(str(status))} for {answer['custom_id'][:12]}: {shown(said)}")
    try:
        read = completion(response["body"])
        check_ended(read)
    except ServerFault as error:
        raise RequestRefused(str(error)) from error
    return read
