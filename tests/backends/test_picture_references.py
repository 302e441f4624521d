"""Pictures that are named in a request and not sent: files on a shared disk, and pictures that a server has."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from stub_server import Body, Reply, Stub, picture_of, pictures_of, running

from backends.samples import image, openai_backend, request
from robogaze.backends.chat_request import PictureReferences, StreamedBody, request_body
from robogaze.backends.config import ModelConfig, ModelsConfig
from robogaze.backends.models import Models
from robogaze.backends.openai import OpenAIBackend
from robogaze.backends.picture_folder import PictureFolder
from robogaze.core.pictures import FrameImage
from robogaze.errors import InputError, RequestRefused, RunError

A, B, C = image(0, 10), image(1, 20), image(2, 30)


def parts(body: Body) -> list[Any]:
    return [part for part in body["messages"][1]["content"] if part["type"] == "image_url"]


def files(folder: Path) -> set[str]:
    """The addresses of the pictures in a folder."""
    return {path.as_uri() for path in folder.glob("*/*.jpg")}


def in_full(body: Body) -> list[bool]:
    """For each picture whether its bytes are in the body."""
    return [part["image_url"] is not None for part in parts(body)]


async def ask(backend: OpenAIBackend, *images: FrameImage) -> None:
    await backend.complete(request(*images, "Is there a cup?"))


# Files.


async def test_server_on_the_same_disk_gets_addresses_of_files(tmp_path: Path) -> None:
    seen: list[Sequence[bytes]] = []

    def read(body: Body) -> None:
        seen.append(pictures_of(body))

    stub = Stub(behave=read)
    with running(stub) as url:
        backend = openai_backend(url, send="file", media_path=tmp_path)
        await ask(backend, A, B)
        await ask(backend, A)
        assert seen == [[A.jpeg, B.jpeg], [A.jpeg]]
        assert [part["image_url"]["url"].startswith(f"{tmp_path.as_uri()}/robogaze-") for part in parts(stub.asked[0])]
        assert "base64" not in json.dumps(stub.asked)
        assert len(files(tmp_path)) == 2
        await backend.close()
    assert files(tmp_path) == set(), "the files are deleted at the end"


async def test_files_that_no_request_uses_are_deleted_the_longest_unused_first(tmp_path: Path) -> None:
    folder = PictureFolder(tmp_path, most_bytes=len(A.jpeg) + len(B.jpeg))
    async with folder.holding([A, B]) as held:
        async with folder.holding([C]):
            assert len(files(tmp_path)) == 3
        assert files(tmp_path) == set(held.values())
        async with folder.holding([A]):
            pass
        async with folder.holding([C]) as another:
            pass
    async with folder.holding([C]):
        pass
    assert files(tmp_path) == {held[A.picture.sha256], *another.values()}
    folder.close()


async def test_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    folder = PictureFolder(tmp_path / "gone")
    with pytest.raises(RunError, match=r"media_path: .*gone cannot be written"):
        async with folder.holding([A]):
            pass


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "The file path <path> must be a subpath of `--allowed-local-media-path <path>`."),
        (500, "Cannot load local files without `--allowed-local-media-path`."),
        (500, "[Errno 2] No such file or directory: '<path>'"),
        (500, "[Errno 13] Permission denied: '<path>'"),
    ],
)
async def test_server_that_cannot_read_the_files_is_not_asked_again(tmp_path: Path, status: int, message: str) -> None:
    raw = json.dumps({"error": {"message": message, "code": status}}).encode()
    with running(Stub(behave=lambda body: Reply(status=status, raw=raw))) as url:
        backend = openai_backend(url, send="file", media_path=tmp_path)
        with pytest.raises(RequestRefused, match=f"start the server with --allowed-local-media-path {tmp_path}"):
            await ask(backend, A)
        await backend.close()


# Pictures that a server has.


async def test_picture_that_a_server_has_is_named_and_not_sent_again() -> None:
    stub = Stub()
    with running(stub) as url:
        backend = openai_backend(url, reuse_pictures=True)
        for images in ((A, B), (B, C), (A, B, C)):
            await ask(backend, *images)
        await backend.close()
    assert [in_full(body) for body in stub.asked] == [[True, True], [False, True], [False, False, False]]
    assert [part["uuid"] for part in parts(stub.asked[1])] == [B.picture.sha256, C.picture.sha256]


async def test_request_is_sent_in_full_if_the_server_lacks_a_picture() -> None:
    stub = Stub()
    with running(stub) as url:
        backend = openai_backend(url, reuse_pictures=True)
        await ask(backend, A, B)
        stub.stored.clear()  # it was started again
        await ask(backend, A, C)
        await ask(backend, A, B)
        await backend.close()
    assert [in_full(body) for body in stub.asked] == [
        [True, True],
        [False, True],
        [True, True],
        [False, False],
        [True, True],
    ]


async def test_error_of_a_request_in_full_is_the_servers_answer() -> None:
    stub = Stub(behave=lambda body: Reply(status=400, raw=b'{"error": {"message": "too long"}}'))
    with running(stub) as url:
        backend = openai_backend(url, reuse_pictures=True)
        with pytest.raises(RequestRefused, match="too long"):
            await ask(backend, A)
        with pytest.raises(RequestRefused, match="too long"):
            await ask(backend, A)
        await backend.close()
    assert [in_full(body) for body in stub.asked] == [[True], [True]], "a request that fails makes nothing known"


@pytest.mark.parametrize("known", [frozenset[str](), frozenset({A.picture.sha256})])
async def test_streamed_body_is_the_same_body_with_references(known: frozenset[str]) -> None:
    asked = request(A, B, "Is there a cup?", C)
    model = ModelConfig(kind="openai", name="m")
    references = PictureReferences({C.picture.sha256: "file:///c.jpg"}, known)
    streamed = StreamedBody.of(asked, model, references)
    sent = b"".join([chunk async for chunk in streamed])
    assert json.loads(sent) == request_body(asked, model, references=references)
    assert len(streamed) == len(sent)
    assert picture_of(parts(json.loads(sent))[1]) == B.jpeg


# Settings.


def config(**model: Any) -> ModelsConfig:
    eyes = {"kind": "openai", "name": "m", "url": "http://h/v1", **model}
    return ModelsConfig.model_validate({"models": {"eyes": eyes}, "roles": {"vlm": "eyes"}})


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ({"send": "file"}, "must be given together"),
        ({"media_path": "/tmp"}, "must be given together"),
        ({"kind": "scripted", "url": None, "reuse_pictures": True}, "can be used only with kind: openai"),
        ({"send": "video", "reuse_pictures": True}, "use send: images"),
    ],
)
def test_settings_that_do_not_fit_are_refused(model: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        config(**model)


def test_media_path_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"media_path: .*gone is not a folder"):
        Models.open(config(send="file", media_path=tmp_path / "gone"), None, {})


def test_how_pictures_are_sent_is_in_no_key_and_in_no_run(tmp_path: Path) -> None:
    by_file = config(send="file", media_path=tmp_path, reuse_pictures=True)
    assert by_file.answer_settings() == config().answer_settings()
    opened = [Models.open(models, None, {})["vlm"].backend.identity for models in (by_file, config())]
    assert opened[0] == opened[1]
