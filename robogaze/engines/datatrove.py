"""datatrove's executors: every rank does one shard of a run.

`Shards` stands in a datatrove pipeline, so that its executors (this machine, Slurm, others) do the scheduling, keep the
logs and skip what is completed. A shard is a run folder of its own: a rank that is started again goes on where it was.
"""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robogaze.errors import MissingExtra, RunError

_FINISHED = (0, 4)
"""How a shard ends that came to its end; 4 says that some clips were not judged to theirs."""


@dataclass(frozen=True)
class Shards:
    """A step of a datatrove pipeline: `robogaze` with these `arguments`, to which each rank adds its shard."""

    arguments: tuple[str, ...]

    def __call__(self, data: Any = None, rank: int = 0, world_size: int = 1) -> Any:
        """Do the shard of a rank. Raises RunError when it did not come to its end."""
        shard = f"{rank + 1}/{world_size}"
        command = [sys.executable, "-m", "robogaze", *self.arguments, "--shard", shard]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode not in _FINISHED:
            last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise RunError(f"shard {shard} ended with {done.returncode}: {last}")
        return data


def run_here(arguments: Sequence[str], ranks: int, logs: Path) -> None:
    """Do all shards of a run on this machine, side by side.

    What is completed each shard's run folder knows; the marks in `logs` are of an earlier start, and are not gone by.
    Raises MissingExtra where datatrove is not installed, RunError for a shard that did not come to its end.
    """
    try:
        from datatrove.executor import LocalPipelineExecutor
    except ImportError as error:
        raise MissingExtra("datatrove", "datatrove") from error
    steps = [Shards(tuple(arguments))]
    LocalPipelineExecutor(steps, tasks=ranks, workers=ranks, logging_dir=str(logs), skip_completed=False).run()
