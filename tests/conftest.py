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
from hypothesis import HealthCheck, settings
from making import coverage, make_clip, make_footage
from synthetic import write_clip

from robogaze.backends import Models
from robogaze.backends.scripted import ScriptedBackend
from robogaze.core.clip import Clip
from robogaze.domains import Domain, load_domain
from robogaze.media import DecodedClip
from robogaze.stages.client import ModelClient
from robogaze.stages.context import Context

LONGEST = (
    "web/pages/test_keys.py",
    "web/pages/test_annotating.py",
    "run/engines/test_engines.py",
    "test_docs.py",
    "e2e/test_kill.py",
    "interactive/builder/test_build.py",
    "run/test_monitor.py",
    "cli/test_large_runs.py",
    "reporting/pages/test_run_browser.py",
    "e2e/test_watch_killed.py",
    "web/pages/test_frames.py",
    "e2e/test_faults_in_process.py",
    "evidence/test_pixels.py",
    "test_training_docs.py",
    "reporting/pages/test_comparison_browser.py",
    "cli/test_annotate.py",
    "cli/test_runs.py",
    "run/test_watch.py",
    "web/pages/test_adjudicating.py",
    "e2e/test_interrupted.py",
    "web/pages/test_answers.py",
    "cli/test_others.py",
    "reporting/pages/test_run_player.py",
    "datasets/test_demo.py",
    "e2e/test_faults.py",
    "cli/test_score_watch.py",
)
"""The files that take longest, 78 to 15 s. They are run first, so that no worker is still at one when the others are
done.
"""


settings.register_profile(
    "unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="ROBOGAZE_CI" in os.environ
)
settings.load_profile("unhurried")
"""The machine may be busy, so no example has a time limit. Continuous integration (.ci/run) tries the same examples in
every run.
"""


def pytest_configure(config: pytest.Config) -> None:
    """Let pytest-xdist keep the order: it would begin with the files of most tests, and those that take longest have
    few.
    """
    config.option.loadscopereorder = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    folder = Path(__file__).parent
    places = {folder / name: place for place, name in enumerate(LONGEST)}
    assert all(path.is_file() for path in places), "a file in LONGEST does not exist"
    items.sort(key=lambda item: places.get(item.path, len(places)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """Half as many workers again as there are cores: for half of their time tests wait for a process, a server or a
    page.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return None if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else cores + cores // 2


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


@pytest.fixture
def one_scripted_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every script is the same model, so that stored answers of one script are found under the next one."""
    monkeypatch.setattr(ScriptedBackend, "identity", {"kind": "scripted"})
