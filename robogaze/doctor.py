"""What is installed, and what a model can do: does its server answer, does it see pictures, does it obey a schema, does
it count tokens. Each answer is found by trying, for servers accept what they then ignore.
"""

import json
import random
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

import cv2
import numpy as np
from pydantic import BaseModel

from robogaze.backends import Completion, Model, Models, Request
from robogaze.backends.answers import UnreadableAnswer, read_completion
from robogaze.core.data import Data
from robogaze.core.pictures import FrameImage, Picture
from robogaze.domains.contract import Answer, json_schema
from robogaze.errors import BackendError
from robogaze.media.compose import encode_jpeg
from robogaze.stages.answers import narrowed, one_of

_EXTRAS = {"decord": ("decord",), "transformers": ("torch", "transformers", "llguidance"), "vllm": ("vllm",)}
_CORE = ("av", "httpx2", "numpy", "opencv-python-headless", "pydantic")
_DIGITS = 4
_NOT_TRIED = "not tried: whatever is asked here would go into the batch and be paid for"


class DoctorCheck(Data):
    """One thing looked at: `ok` None means that it is neither right nor wrong."""

    what: str
    ok: bool | None
    message: str


def installed() -> Iterator[DoctorCheck]:
    """The versions of what RoboGaze stands on, and which extras are there."""
    for package in ("robogaze", *_CORE):
        yield DoctorCheck(what=package, ok=True, message=version(package))
    for extra, packages in _EXTRAS.items():
        try:
            message = ", ".join(f"{package} {version(package)}" for package in packages)
            yield DoctorCheck(what=f"extra {extra}", ok=True, message=message)
        except PackageNotFoundError as error:
            how = f"pip install 'robogaze[{extra}]', or in a checkout: pip install -e '.[{extra}]'"
            message = f"{error.name} is not installed; if you want it: {how}"
            yield DoctorCheck(what=f"extra {extra}", ok=None, message=message)


async def examine(models: Models, rng: random.Random) -> list[DoctorCheck]:
    """What each model of a run can do. Raises Unreachable when one does not answer at all."""
    findings = []
    for model in models:
        if model.config.kind == "batch":
            findings.append(DoctorCheck(what=f"{model.name}: batch", ok=None, message=_NOT_TRIED))
            continue
        await model.backend.ready()
        findings.append(DoctorCheck(what=f"{model.name}: server", ok=True, message="answers"))
        completion, finding = await _sees(model, rng)
        findings.append(finding)
        findings.append(await _obeys(model, rng))
        findings.extend(_counts(model, completion))
    return findings


class _Reading(Answer):
    number: str


class _Word(Answer):
    word: str


async def _sees(model: Model, rng: random.Random) -> tuple[Completion | None, DoctorCheck]:
    """Whether the model reads back a number that stands only in a picture."""
    number = "".join(rng.choice("123456789") for _ in range(_DIGITS))
    what = f"{model.name}: sees pictures"
    parts = (_picture(number), 'What number is written in the picture? Answer with JSON: {"number": "..."}')
    try:
        completion = await model.backend.complete(_request(model, parts, _Reading))
        read = read_completion(completion, _Reading).number
    except BackendError as error:
        return None, DoctorCheck(what=what, ok=False, message=f"no answer: {error}")
    except UnreadableAnswer as error:
        return completion, DoctorCheck(what=what, ok=False, message=f"it showed {number}; {error}")
    if number in read:
        return completion, DoctorCheck(what=what, ok=True, message=f"read {number} in a picture")
    return completion, DoctorCheck(what=what, ok=False, message=f"read {read[:40]!r} where the picture says {number}")


async def _obeys(model: Model, rng: random.Random) -> DoctorCheck:
    """Whether a schema binds the answer even though the question asks for something else."""
    what = f"{model.name}: obeys a JSON schema"
    word = f"zebra-{rng.randrange(100, 1000)}"
    contract = narrowed(_Word, word=one_of([word]))
    request = _request(model, ("Say good morning in one friendly sentence, in plain prose.",), contract)
    try:
        completion = await model.backend.complete(request)
        read_completion(completion, contract)
    except BackendError as error:
        return DoctorCheck(what=what, ok=False, message=f"no answer: {error}")
    except UnreadableAnswer:
        said = f"it answered {completion.text[:60]!r} all the same"
        message = f"{said}; answers will be checked and asked for again (set structured: none if requests are refused)"
        return DoctorCheck(what=what, ok=False, message=message)
    return DoctorCheck(what=what, ok=True, message="an answer outside the schema cannot come")


def _counts(model: Model, completion: Completion | None) -> Iterator[DoctorCheck]:
    what = f"{model.name}: counts tokens"
    if completion is None:
        return
    if completion.prompt_tokens is None or completion.completion_tokens is None:
        yield DoctorCheck(what=what, ok=False, message="the server does not say; tokens and cost will be not known")
        return
    message = f"{completion.prompt_tokens} in, {completion.completion_tokens} out"
    cached = "" if completion.cached_tokens is not None else "; tokens from its cache are not counted"
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


def _picture(number: str) -> FrameImage:
    image = np.full((160, 400, 3), 255, dtype=np.uint8)
    cv2.putText(image, number, (40, 115), cv2.FONT_HERSHEY_SIMPLEX, 3.2, (0, 0, 0), 8, cv2.LINE_AA)
    jpeg = encode_jpeg(image, 90)
    picture = Picture(id="P0", frames=(), times_s=(), views=("main",), width=400, height=160, sha256=_digest(jpeg))
    return FrameImage(picture, "a picture", jpeg)


def _digest(data: bytes) -> str:
    from hashlib import sha256

    return sha256(data).hexdigest()


def as_json(findings: list[DoctorCheck]) -> str:
    """The findings as one JSON object."""
    return json.dumps({"schema_version": 1, "findings": [finding.model_dump() for finding in findings]})
