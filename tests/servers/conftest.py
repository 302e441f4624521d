"""Real models: a tiny one from random weights, in this process and behind vLLM."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from vllm_server import ENVIRONMENT, VllmServer

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the tiny model."""
    folder = tmp_path_factory.mktemp("tiny") / "model"
    command = [sys.executable, str(HERE / "build_tiny_vlm.py"), str(folder)]
    subprocess.run(command, check=True, env=ENVIRONMENT, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def vllm() -> Path:
    """The vLLM command of this environment."""
    command = Path(sys.executable).with_name("vllm")
    assert command.exists(), "scripts/test-servers installs vLLM for these tests"
    return command


@pytest.fixture(scope="session")
def media_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the server may read."""
    return tmp_path_factory.mktemp("media")


@pytest.fixture(scope="session")
def vllm_server(
    tiny_model: Path, vllm: Path, media_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[VllmServer]:
    """A vLLM server with the tiny model."""
    server = VllmServer(vllm, tiny_model, media_path, tmp_path_factory.mktemp("vllm") / "server.log")
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def vllm_url(vllm_server: VllmServer) -> str:
    """The address of the server."""
    return vllm_server.url
