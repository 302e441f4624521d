"""What tests share: clips, scripted models, and a clean environment."""

import gc
import os
import socket
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import cv2
import pytest
from making import coverage, make_clip, make_footage
from synthetic import write_clip

from robogaze.backends import Models
from robogaze.core.clip import Clip
from robogaze.domains import Domain, load_domain
from robogaze.media import DecodedClip
from robogaze.stages.client import ModelClient
from robogaze.stages.context import Context


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is collected stays, so the garbage collector need not look through it again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def _caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Names of cache folders, one for each test. Making them all would slow down every later `tmp_path`."""
    folder = tmp_path_factory.mktemp("caches")
    return (str(folder / str(number)) for number in count())


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, _caches: Iterator[str]) -> None:
    """No key and no cache of the person who runs the tests reaches them."""
    for name in os.environ:
        if name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CACHE_HOME", next(_caches))


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but this machine can be reached from a test."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise AssertionError(f"a test tried to reach {address}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(autouse=True)
def _same_scheduling() -> Iterator[None]:
    """No test leaves this process, and with it those that it starts, at a real-time priority."""
    before = os.sched_getscheduler(0)
    yield
    assert os.sched_getscheduler(0) == before, "a test changed the scheduling policy of this process"


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    """Tests run on all cores already, where the threads of OpenCV wait for each other."""
    cv2.setNumThreads(1)


@pytest.fixture(scope="session")
def robot() -> Domain:
    """The built-in domain."""
    return load_domain("robot")


@pytest.fixture(scope="session")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real clip: 4 s at 16 fps, 160 x 112."""
    return write_clip(tmp_path_factory.mktemp("clips") / "bar.mp4", frames=64, width=160, height=112)


@pytest.fixture
def client_for(robot: Domain) -> Iterator[Callable[..., tuple[ModelClient, Context]]]:
    """Makes a client for a clip record with scripted models, and the context of the first stage."""
    opened: list[DecodedClip] = []

    def make(models: Models | None, clip: Clip | None = None, **context: Any) -> tuple[ModelClient, Context]:
        clip = clip or make_clip()
        opened.append(make_footage(clip))
        dimensions = context.pop("dimensions", tuple(robot.dimensions))
        before = coverage(not_examined=tuple(robot.dimensions))
        start = Context(clip=clip, dimensions=dimensions, coverage=before, **context)
        return ModelClient(robot, clip, opened[-1], models), start

    yield make
    for decoded in opened:
        decoded.close()
