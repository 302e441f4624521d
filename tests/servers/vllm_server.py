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
    """A vLLM server that can be started again at the same address."""

    def __init__(self, vllm: Path, model: Path, media_path: Path, log: Path) -> None:
        """`media_path` is the folder of pictures that the server may read."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/v1"
        folder = f"--allowed-local-media-path={media_path}"
        self._command = (str(vllm), "serve", str(model), f"--port={port}", folder, *SERVE)
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server and wait until it answers."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(self._command, env=ENVIRONMENT, stdout=log, stderr=subprocess.STDOUT)
        end = time.monotonic() + READY_S
        while time.monotonic() < end:
            assert self._process.poll() is None, f"vLLM ended:\n{self._log.read_text()[-4000:]}"
            try:
                with urllib.request.urlopen(f"{self.url}/models", timeout=2):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(1)
        raise AssertionError(f"vLLM was not ready in {READY_S} s:\n{self._log.read_text()[-4000:]}")

    def stop(self) -> None:
        """Stop the server if it was started."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(60)
            self._process = None
