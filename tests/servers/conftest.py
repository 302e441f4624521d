"""Real models: a tiny one from random weights, in this process and behind vLLM."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# A model this small is slower on several threads than on one.
os.environ.setdefault("OMP_NUM_THREADS", "1")
OFFLINE = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "VLLM_CPU_KVCACHE_SPACE": "1"}
READY_S = 600
SERVE = (
    "--served-model-name=tiny", "--host=127.0.0.1", "--dtype=float32", "--enforce-eager", "--max-model-len=32768",
    "--max-num-seqs=4", "--max-num-batched-tokens=131072", "--enable-prefix-caching", "--enable-prompt-tokens-details",
    "--trust-request-mm-kwargs",
    '--limit-mm-per-prompt={"image": 64, "video": 1}',
    '--structured-outputs-config={"backend": "guidance", "disable_any_whitespace": true}',
)  # fmt: skip


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the tiny model."""
    folder = tmp_path_factory.mktemp("tiny") / "model"
    command = [sys.executable, str(HERE / "build_tiny_vlm.py"), str(folder)]
    subprocess.run(command, check=True, env={**os.environ, **OFFLINE}, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def vllm() -> Path:
    """The vLLM command of this environment."""
    command = Path(sys.executable).with_name("vllm")
    assert command.exists(), "scripts/test-servers installs vLLM for these tests"
    return command


@pytest.fixture(scope="session")
def vllm_url(tiny_model: Path, vllm: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a vLLM server with the tiny model."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("vllm") / "server.log"
    command = [str(vllm), "serve", str(tiny_model), f"--port={port}", *SERVE]
    with log.open("wb") as file:
        server = subprocess.Popen(command, env={**os.environ, **OFFLINE}, stdout=file, stderr=subprocess.STDOUT)
    url = f"http://127.0.0.1:{port}/v1"
    try:
        _wait_for(url, server, log)
        yield url
    finally:
        server.terminate()
        server.wait(60)


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + READY_S
    while time.monotonic() < end:
        assert server.poll() is None, f"vLLM ended:\n{log.read_text()[-4000:]}"
        try:
            with urllib.request.urlopen(f"{url}/models", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(1)
    raise AssertionError(f"vLLM was not ready in {READY_S} s:\n{log.read_text()[-4000:]}")
