"""A vLLM server with the tiny model."""

import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

# A model this small is slower on several threads than on one.
os.environ.setdefault("OMP_NUM_THREADS", "1")
OFFLINE = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "VLLM_CPU_KVCACHE_SPACE": "1"}
ENVIRONMENT = {**os.environ, **OFFLINE}
READY_S = 600
SERVE = (
    "--served-model-name=tiny", "--host=127.0.0.1", "--dtype=float32", "--enforce-eager", "--max-model-len=32768",
    "--max-num-seqs=4", "--max-num-batched-tokens=131072", "--enable-prefix-caching", "--enable-prompt-tokens-details",
    "--trust-request-mm-kwargs",
    '--limit-mm-per-prompt={"image": 64, "video": 1}',
    '--structured-outputs-config={"backend": "guidance", "disable_any_whitespace": true}',
)  # fmt: skip


class VllmServer:
    """A vLLM server that can be stopped and started again at the same address."""

    def __init__(self, vllm: Path, model: Path, log: Path) -> None:
        self._command = (str(vllm), "serve", str(model), *SERVE)
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._options: tuple[str, ...] = ()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}/v1"

    def start(self, *options: str) -> None:
        """Start the server with options, unless it runs with them, and wait until it answers."""
        if self._process is not None and options == self._options:
            return
        self.stop()
        command = [*self._command, f"--port={self._port}", *options]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(command, env=ENVIRONMENT, stdout=log, stderr=subprocess.STDOUT)
        end = time.monotonic() + READY_S
        while time.monotonic() < end:
            assert self._process.poll() is None, f"vLLM ended:\n{self._log.read_text()[-4000:]}"
            try:
                with urllib.request.urlopen(f"{self.url}/models", timeout=2):
                    self._options = options
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(1)
        raise AssertionError(f"vLLM was not ready in {READY_S} s:\n{self._log.read_text()[-4000:]}")

    def stop(self) -> None:
        """Stop the server if it runs."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(60)
            self._process, self._options = None, ()
