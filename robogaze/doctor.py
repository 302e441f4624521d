"""Checks the installation and what a model can do: answer, read images, follow a JSON schema, count tokens.

Models are checked with requests, because servers accept options that they then ignore.
"""

import json
import random
from collections.abc import Iterator
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version

import cv2
import numpy as np
from pydantic import BaseModel

from robogaze.backends import Completion, Model, Models, Request
from robogaze.backends.answer_parsing import UnreadableAnswer, read_completion
from robogaze.core.data import Data
from robogaze.core.pictures import FrameImage, Picture
from robogaze.domains.contract import Answer, json_schema
from robogaze.errors import BackendError
from robogaze.media.compose import encode_jpeg
from robogaze.stages.answers import narrowed, one_of

_EXTRAS = {"decord": ("decord",), "transformers": ("torch", "transformers", "llguidance"), "vllm": ("vllm",)}
_CORE = ("av", "httpx2", "numpy", "opencv-python-headless", "pydantic")
_DIGITS = 4
_NOT_CHECKED = "not checked, because the check would add requests to the batch"


class DoctorCheck(Data):
    """The result of one check; `ok` is None for an optional package and for a check that was not made."""

    what: str
    ok: bool | None
    message: str


def installed() -> Iterator[DoctorCheck]:
    """The versions of RoboGaze's dependencies, and which extras are installed."""
    for package in ("robogaze", *_CORE):
        yield DoctorCheck(what=package, ok=True, message=version(package))
    for extra, packages in _EXTRAS.items():
        try:
            message = ", ".join(f"{package} {version(package)}" for package in packages)
            yield DoctorCheck(what=f"extra {extra}", ok=True, message=message)
        except PackageNotFoundError as error:
            how = f"pip install 'robogaze[{extra}]', or in a checkout: pip install -e '.[{extra}]'"
            message = f"{error.name} is not installed; to install it: {how}"
            yield DoctorCheck(what=f"extra {extra}", ok=None, message=message)


async def examine(models: Models, rng: random.Random) -> list[DoctorCheck]:
    """Check every model. Raises Unreachable when a server does not answer at all."""
    checks = []
    for model in models:
        if model.config.kind == "batch":
            checks.append(DoctorCheck(what=f"{model.name}: batch", ok=None, message=_NOT_CHECKED))
            continue
        await model.backend.ready()
        checks.append(DoctorCheck(what=f"{model.name}: server", ok=True, message="answers"))
        completion, check = await _reads_images(model, rng)
        checks.append(check)
        checks.append(await _follows_schema(model, rng))
        checks.extend(_counts_tokens(model, completion))
    return checks


class _Reading(Answer):
    number: str


class _Word(Answer):
    word: str


async def _reads_images(model: Model, rng: random.Random) -> tuple[Completion | None, DoctorCheck]:
    """Whether the model reads a number that is only in an image."""
    number = "".join(rng.choice("123456789") for _ in range(_DIGITS))
    what = f"{model.name}: reads images"
    parts = (_image(number), 'What number is written in the picture? Answer with JSON: {"number": "..."}')
    try:
        completion = await model.backend.complete(_request(model, parts, _Reading))
        answer = read_completion(completion, _Reading).number
    except BackendError as error:
        return None, DoctorCheck(what=what, ok=False, message=f"no answer: {error}")
    except UnreadableAnswer as error:
        return completion, DoctorCheck(what=what, ok=False, message=f"the image shows {number}; {error}")
    if number in answer:
        return completion, DoctorCheck(what=what, ok=True, message=f"the model read {number} in an image")
    return completion, DoctorCheck(
        what=what, ok=False, message=f"the model read {answer[:40]!r}, but the image shows {number}"
    )


async def _follows_schema(model: Model, rng: random.Random) -> DoctorCheck:
    """Whether the answer follows a schema although the prompt asks for something else."""
    what = f"{model.name}: follows a JSON schema"
    word = f"zebra-{rng.randrange(100, 1000)}"
    contract = narrowed(_Word, word=one_of([word]))
    request = _request(model, ("Say good morning in one friendly sentence, in plain prose.",), contract)
    try:
        completion = await model.backend.complete(request)
        read_completion(completion, contract)
    except BackendError as error:
        return DoctorCheck(what=what, ok=False, message=f"no answer: {error}")
    except UnreadableAnswer:
        message = (
            f"the model answered {completion.text[:60]!r}; RoboGaze checks answers and retries invalid answers "
            "(set structured: none if the server refuses requests)"
        )
        return DoctorCheck(what=what, ok=False, message=message)
    return DoctorCheck(what=what, ok=True, message="the model followed the schema, although the prompt asked for prose")


def _counts_tokens(model: Model, completion: Completion | None) -> Iterator[DoctorCheck]:
    what = f"{model.name}: counts tokens"
    if completion is None:
        return
    if completion.prompt_tokens is None or completion.completion_tokens is None:
        yield DoctorCheck(
            what=what, ok=False, message="the server does not count tokens; tokens and cost will be unknown"
        )
        return
    message = f"{completion.prompt_tokens} in, {completion.completion_tokens} out"
    cached = "" if completion.cached_tokens is not None else "; the server does not count cached tokens"
    yield DoctorCheck(what=what, ok=True, message=message + cached)


def _request(model: Model, parts: tuple[str | FrameImage, ...], contract: type[BaseModel]) -> Request:
    return Request(
        stage="doctor",
        subject="probe",
        clip="probe",
        attempt=1,
        system="Answer with one JSON object and nothing else.",
        parts=parts,
        schema=json_schema(contract),
        decoding=model.config.decoding.with_(max_tokens=256),
    )


def _image(number: str) -> FrameImage:
    image = np.full((160, 400, 3), 255, dtype=np.uint8)
    cv2.putText(image, number, (40, 115), cv2.FONT_HERSHEY_SIMPLEX, 3.2, (0, 0, 0), 8, cv2.LINE_AA)
    jpeg = encode_jpeg(image, 90)
    digest = sha256(jpeg).hexdigest()
    picture = Picture(id="P0", frames=(), times_s=(), views=("main",), width=400, height=160, sha256=digest)
    return FrameImage(picture, "an image", jpeg)


def as_json(checks: list[DoctorCheck]) -> str:
    return json.dumps({"schema_version": 1, "checks": [check.model_dump() for check in checks]})
