"""The code of docs/training.md run."""

import json
import os
import re
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from synthetic import write_clip

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "training.md").read_text()


def block(heading: str, language: str) -> str:
    """The first block of a language below a heading."""
    found = re.search(rf"## {heading}\n.*?```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


def loaded(code: str) -> ModuleType:
    module = ModuleType("training_docs")
    exec(compile(code, "docs/training.md", "exec"), module.__dict__)
    return module


def test_the_pytorch_loop_trains_and_its_clips_are_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch", reason="needs PyTorch")
    module = loaded(block("From a training loop", "py"))
    module.train(200, str(tmp_path / "out"))
    assert sorted(path.parent.parent.name for path in (tmp_path / "out").glob("*/reports/*.json")) == [
        "step_000100", "step_000100", "step_000200", "step_000200",
    ]  # fmt: skip
    lines = (tmp_path / "out" / "clips.jsonl").read_text().splitlines()
    assert [json.loads(line)["instruction"] for line in lines] == ["Lift the cup", "Open the drawer"] * 2
    assert (tmp_path / "out" / "index.html").is_file()


@pytest.mark.filterwarnings("ignore")
def test_the_lightning_callback_scores_after_each_validation(tmp_path: Path) -> None:
    pl = pytest.importorskip("lightning.pytorch", reason="needs Lightning")
    torch = pytest.importorskip("torch", reason="needs PyTorch")
    module = loaded(block("Lightning", "py"))

    class Model(pl.LightningModule):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)

        def training_step(self, batch: Any, _: int) -> Any:
            return self.layer(batch).square().mean()

        def validation_step(self, batch: Any, _: int) -> None:
            self.layer(batch)

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), lr=0.1)

        def sample(self, prompt: str) -> Any:
            return torch.full((16, 48, 64, 3), len(prompt), dtype=torch.uint8)

    data = torch.utils.data.DataLoader(torch.randn(8, 4), batch_size=2)
    callback = module.MonitorCallback(tmp_path / "out", ["Lift the cup", "Open the drawer"])
    trainer = pl.Trainer(
        max_epochs=2, callbacks=[callback], default_root_dir=tmp_path, accelerator="cpu", enable_progress_bar=False
    )
    trainer.fit(Model(), data, data)
    assert sorted(path.parent.parent.name for path in (tmp_path / "out").glob("*/reports/*.json")) == [
        "step_000004", "step_000004", "step_000008", "step_000008",
    ]  # fmt: skip


TRAIN = """
import os, shutil, sys, time
for step in (1, 2):
    folder = f"{sys.argv[2]}/step_{step}"
    os.makedirs(folder)
    shutil.copy("bar.mp4", f"{folder}/.bar.mp4")
    os.replace(f"{folder}/.bar.mp4", f"{folder}/bar.mp4")
    if step == 2:
        open(f"{folder}/broken.mp4", "wb").write(bytes(100)) if BREAK else None
time.sleep(600 if BREAK else 0)
"""


def unused_port() -> int:
    """A port below those that the system gives to the servers of other tests, so that it stays unused."""
    for port in range(20_000 + os.getpid() % 10_000, 32_768):
        with socket.socket() as free, suppress(OSError):
            free.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is unused")


@pytest.mark.parametrize("breaks", [False, True])
def test_the_slurm_script_ends_with_the_training_or_with_the_gate(tmp_path: Path, breaks: bool) -> None:
    """With a stub in place of the model server; the training writes two clips, and a broken one if it `breaks`."""
    port = unused_port()
    script = block("Slurm with a model server in the same job", "sh").replace(":8000/", f":{port}/")
    script = script.replace("--per-checkpoint 40", "--per-checkpoint 1 --pipeline vanilla")
    (tmp_path / "train.py").write_text(TRAIN.replace("BREAK", str(breaks)))
    (tmp_path / "gate.yaml").write_text("rules:\n  - unscored: {at_most: 0.1}\n")
    write_clip(tmp_path / "bar.mp4", frames=16, width=64, height=48)
    (tmp_path / "bin").mkdir()
    robogaze = tmp_path / "bin" / "robogaze"
    stub = f"{sys.executable} {ROOT / 'scripts/bench/stub_server.py'} --port {port}"
    robogaze.write_text(f'#!/bin/sh\n[ "$1" = serve ] && exec {stub}\nexec {sys.executable} -m robogaze "$@"\n')
    robogaze.chmod(0o755)
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    environ = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == (3 if breaks else 0), done.stderr
    assert "step_1  1 clip: " in done.stdout
    assert ("gate: step_2: unscored: " in done.stderr) == breaks
