"""Thousands of faults, drawn from the table of faults (table.py).

Each fault is tried on its own clip, at a place that is drawn: pipeline, content of the clip, request, call, and whether
the fault passes or lasts for the call, the request or the whole clip. Clips are diagnosed concurrently, some of them
without a fault, by all parts of a run: client, middleware, cache, stages. Clips that a fault left incomplete, or with
an odd reply in the cache, are diagnosed once more without faults.

A share goes over HTTP to a local server, the rest to the same server without a socket. Prints the number of faults, and
of findings of each kind; each finding is named on stderr. Exit code 1 if there are findings.

    python tests/injection/many_faults.py [--faults 10000] [--seed 1] [--http 0.1]
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "scripts" / "bench"))

from stub_server import Stub, running
from synthetic import write_clip

from injection.episode import AT_ONCE, EXTENTS, FINDINGS, Bench, Case, Tally, prepared
from injection.plays import PLAYS
from injection.table import FAULTS

_WEIGHTS = {"full": 4, "glide": 2, "vote3": 2, "vanilla": 2}
"""How often each play is drawn; a clip takes 6, 19, 3 and 1 calls."""
_RARE = 0.1
"""The share of draws in which a slow fault is tried."""


async def injected(benches: list[Bench], wanted: int, rng: random.Random) -> Tally:
    """Try `wanted` faults, in batches of clips of one play."""
    tally, drawn = Tally(), 0
    decks = {bench.play: _deck(bench, rng) for bench in benches}
    while (done := tally.injected.total()) < wanted and drawn < 2 * wanted:
        (bench,) = rng.choices(benches, [_WEIGHTS[bench.play] for bench in benches])
        cases = [next(decks[bench.play]) for _ in range(min(AT_ONCE, wanted - done))]
        found = await bench.attempt_all(cases, rng)
        for finding in found.findings:
            print(finding, file=sys.stderr, flush=True)
        tally.add(found)
        drawn += len(cases)
        if drawn % 1000 < AT_ONCE:
            print(f"{drawn} of {wanted}, {len(tally.findings)} findings", file=sys.stderr, flush=True)
    return tally


def _deck(bench: Bench, rng: random.Random) -> Iterator[Case]:
    """Cases of every fault that fits a play, in random order; slow faults are rare."""
    while True:
        for name in rng.sample(sorted(FAULTS), len(FAULTS)):
            fault = FAULTS[name]
            in_process_only = fault.level == "backend" or fault.rare
            if (bench.stub is not None and in_process_only) or (fault.rare and rng.random() > _RARE):
                continue
            if (case := bench.draw(rng, fault, rng.choice(EXTENTS))) is not None:
                yield case


async def measure(faults: int, http: float, rng: random.Random) -> list[tuple[str, Tally, float]]:
    """Try faults without a socket and over HTTP."""
    found = []
    with tempfile.TemporaryDirectory() as name, running(stub := Stub(keep=False)) as url:
        video = write_clip(Path(name) / "bar.mp4", frames=48, fps=8, width=96, height=64)
        for how, served, share in (("in process", None, 1 - http), ("over HTTP", (stub, url), http)):
            folder = Path(name) / how
            folder.mkdir()
            async with AsyncExitStack() as stack:
                benches = [await stack.enter_async_context(prepared(play, video, folder, served)) for play in PLAYS]
                started = time.perf_counter()
                tally = await injected(benches, round(faults * share), rng)
                found.append((how, tally, time.perf_counter() - started))
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--http", type=float, default=0.1, help="the share that goes over HTTP")
    options = parser.parse_args()
    total, took_s = Tally(), 0.0
    for how, tally, seconds in asyncio.run(measure(options.faults, options.http, random.Random(options.seed))):
        levels = ", ".join(f"{count} {level}" for level, count in sorted(tally.injected.items()))
        print(f"{how}: {tally.injected.total()} faults ({levels}), {seconds:.0f} s")
        total.add(tally)
        took_s += seconds
    print(f"in all {total.injected.total()} faults of {len(FAULTS)} kinds, seed {options.seed}, {took_s:.0f} s")
    for name, words in FINDINGS.items():
        print(f"{words}: {len(getattr(total, name))}")
    sys.exit(1 if total.findings else 0)


if __name__ == "__main__":
    main()
