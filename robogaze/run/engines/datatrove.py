"""datatrove's executors: every rank scores a shard of a run.

`Shards` is a step of a datatrove pipeline, so datatrove's executors (this machine, Slurm, others) schedule the shards
and keep the logs. Each shard has its own run folder; a rank that is started again resumes it.
"""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robogaze.errors import MissingExtra, RunError

_FINISHED = (0, 4)
"""The exit codes of a finished shard; 4 means that some of its clips are incomplete."""


@dataclass(frozen=True)
class Shards:
    """A step of a datatrove pipeline. Each rank runs `robogaze` with `arguments` and scores its own shard."""

    arguments: tuple[str, ...]

    def __call__(self, data: Any = None, rank: int = 0, world_size: int = 1) -> Any:
        """Score the shard of a rank. Raises RunError if the shard does not finish."""
        shard = f"{rank + 1}/{world_size}"
        command = [sys.executable, "-m", "robogaze", *self.arguments, "--shard", shard]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode not in _FINISHED:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise RunError(f"shard {shard} ended with exit code {done.returncode}: {last}")
        return data


def run_shards(arguments: Sequence[str], workers: int, logs: Path) -> None:
    """Score all shards of a run on this machine, each in its own process.

    The run folder of each shard says which clips are finished; the completion marks of datatrove in `logs` are ignored.
    Raises MissingExtra if datatrove is not installed, and RunError if a shard does not finish.
    """
    try:
        from datatrove.executor import LocalPipelineExecutor
    except ImportError as error:
        raise MissingExtra("datatrove", "datatrove") from error
    steps = [Shards(tuple(arguments))]
    LocalPipelineExecutor(steps, tasks=workers, workers=workers, logging_dir=str(logs), skip_completed=False).run()
