"""The step time of a training loop with a Monitor, as a ratio to the same loop without one: the figures in
docs/training.md ("Measured").

    python scripts/bench/monitor.py [--pairs 8] [--clips 4] [--step-ms 20] [--every 25] [--model SPEC]

A step multiplies matrices on one thread. Blocks of steps with and without a Monitor alternate, the first of a pair in
turn, so that both see the same machine. A block with a Monitor submits a clip every few steps and lasts until all of
them are scored; the block without has as many steps. So the ratio is that of a loop during which clips are scored all
the time. Without --model, the clips are measured on this machine, next to the loop.
"""

import argparse
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import numpy as np
from threadpoolctl import threadpool_limits

from robogaze import Monitor

SIDE = 256
FRAMES, HEIGHT, WIDTH = 48, 256, 256


@dataclass
class Block:
    """The times of the steps of a block, of its calls of `submit`, and the processor time of the loop's thread."""

    steps_s: list[float] = field(default_factory=list)
    submits_s: list[float] = field(default_factory=list)
    cpu_s: float = 0.0

    @property
    def step_s(self) -> float:
        return sum(self.steps_s) / len(self.steps_s)


def products_for(step_s: float) -> int:
    """The number of products that take about `step_s`."""
    matrix, number = np.ones((SIDE, SIDE)), 0
    start = time.perf_counter()
    while time.perf_counter() - start < 0.5:
        matrix @ matrix
        number += 1
    return max(1, round(number * step_s / 0.5))


def step(products: int) -> float:
    """Do a step; return its time."""
    matrix, start = np.ones((SIDE, SIDE)), time.perf_counter()
    for _ in range(products):
        matrix @ matrix
    return time.perf_counter() - start


def without(products: int, steps: int) -> Block:
    block, cpu_s = Block(), time.thread_time()
    block.steps_s = [step(products) for _ in range(steps)]
    block.cpu_s = time.thread_time() - cpu_s
    return block


def with_monitor(products: int, clips: int, every: int, out: Path, model: str | None) -> Block:
    rng, block, cpu_s = np.random.default_rng(0), Block(), time.thread_time()
    clip = np.repeat(rng.integers(60, 200, (1, HEIGHT, WIDTH, 3), dtype=np.uint8), FRAMES, axis=0)
    monitor = Monitor(out, model=model)
    last = out / "step_000001" / "reports" / f"clip_{clips - 1:03d}.json"
    while not last.exists():
        start = time.perf_counter()
        if len(block.steps_s) % every == 0 and len(block.submits_s) < clips:
            monitor.submit(clip, step=1, prompt="Move the bar")
            block.submits_s.append(time.perf_counter() - start)
        step(products)
        block.steps_s.append(time.perf_counter() - start)
    block.cpu_s = time.thread_time() - cpu_s
    counts = monitor.close()
    assert counts.unscored == counts.dropped == counts.failed == 0, counts
    return block


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=8, help="of blocks")
    parser.add_argument("--clips", type=int, default=4, help="of a block")
    parser.add_argument("--step-ms", type=float, default=20.0)
    parser.add_argument("--every", type=int, default=25, help="steps from clip to clip")
    parser.add_argument("--model", help="as of robogaze score")
    options = parser.parse_args()
    products = products_for(options.step_ms / 1000)
    pairs: list[tuple[Block, Block]] = []
    steps = 200  # of the first block without a Monitor; later as many as the block before
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.pairs):
            first = without(products, steps) if number % 2 else None
            block = with_monitor(products, options.clips, options.every, Path(folder) / f"{number}", options.model)
            steps = len(block.steps_s)
            pairs.append((block, first or without(products, steps)))
    ratios = sorted(block.step_s / other.step_s for block, other in pairs)
    cpu = [block.cpu_s / len(block.steps_s) / (other.cpu_s / len(other.steps_s)) for block, other in pairs]
    means = [1000 * median(block.step_s for block in blocks) for blocks in zip(*pairs, strict=True)]
    submits_ms = [1000 * submit_s for block, _ in pairs for submit_s in block.submits_s]
    number = sum(len(block.steps_s) for block, _ in pairs)
    print(f"{len(pairs)} pairs of blocks; {number} steps with a Monitor, {len(submits_ms)} clips of {FRAMES} frames")
    print(f"    step {means[0]:.2f} ms with, {means[1]:.2f} ms without; ratio {median(ratios):.3f}", end=" ")
    print(f"(from {ratios[0]:.3f} to {ratios[-1]:.3f}); processor time of the loop's thread {median(cpu):.3f}")
    print(f"    submit: median {median(submits_ms):.2f} ms, longest {max(submits_ms):.2f} ms")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
