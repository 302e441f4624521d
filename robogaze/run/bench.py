"""`robogaze.bench`: score several checkpoints on the same prompts and compare them, from Python."""

import os
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path

from robogaze.comparison import Comparison, compare
from robogaze.errors import OptionError
from robogaze.paths import given_path
from robogaze.reporting.comparison_files import write_comparison
from robogaze.run.checkpoints import named_checkpoints
from robogaze.run.clips import list_clips
from robogaze.run.execute import ScoringRun, open_run
from robogaze.run.options import RunOptions
from robogaze.run.score import RunResult, existing_paths, score_run, with_concurrency
from robogaze.run.setup import RunSetup, make_setup
from robogaze.sync import synchronous
from robogaze.threads import in_thread


@dataclass(frozen=True)
class BenchResult:
    """The runs by checkpoint, and their comparison; `comparison` is None if a checkpoint has no report."""

    runs: Mapping[str, RunResult]
    comparison: Comparison | None


async def bench_async(
    checkpoints: Mapping[str, str | Path] | Iterable[str | Path],
    *,
    out: str | Path,
    baseline: str | None = None,
    model: str | Path | None = None,
    domain: str | Path | None = None,
    pipeline: str | None = None,
    concurrency: int | None = None,
    decoder: str = "pyav",
    options: RunOptions | None = None,
    environ: Mapping[str, str] = os.environ,
) -> BenchResult:
    """Score checkpoints on the same prompts and say which is better. The same call resumes an interrupted run.

    Args:
        checkpoints: The clips of each checkpoint, as for `score`: a mapping from names to paths, or a list of paths.
            A path in a list may be written as "NAME=PATH".
        out: The folder for the comparison; the run folder of a checkpoint is in it, under its name.
        baseline: The checkpoint to compare with; all pairs are compared by default.
        model: See `score`, also for the following arguments.
        domain: The name of a built-in domain, or the folder of a custom domain.
        pipeline: A pipeline of the domain.
        concurrency: The maximum number of requests per model at the same time; also the maximum number of clips at the
            same time.
        decoder: `pyav`, `decord`, or a decoder of another package.
        options: How each run is done; `max_calls` and `max_cost_usd` apply to each checkpoint.
        environ: The environment variables that hold the API keys of servers.

    Returns:
        The runs, and their comparison.

    Raises:
        InputError: A path does not exist, or a file is invalid.
        OptionError: Options contradict each other, or two checkpoints have the same name.
        RunError: A run folder in `out` is in use, holds a run with other settings, or cannot be written.
        Unreachable: No server answers.
    """
    named = named_checkpoints(checkpoints)
    folder = given_path(out, "`out`")
    _check(named, baseline, options)
    chosen = with_concurrency(options, concurrency)
    setup = await in_thread(make_setup, domain, pipeline, model, concurrency=concurrency, decoder=decoder)
    runs = {}
    async with aclosing(open_runs(named, folder, setup, chosen, environ)) as opened:
        async for name, run in opened:
            runs[name] = await score_run(run)
    if not all(len(run) for run in runs.values()):
        return BenchResult(runs, None)
    result = await in_thread(compare, {name: folder / name for name in runs}, baseline=baseline)
    await in_thread(write_comparison, result, folder, domain=None if domain is None else str(domain))
    return BenchResult(runs, result)


bench = synchronous(bench_async)


async def open_runs(
    checkpoints: Mapping[str, Path], out: Path, setup: RunSetup, options: RunOptions, environ: Mapping[str, str]
) -> AsyncGenerator[tuple[str, ScoringRun], None]:
    """Open the run of each checkpoint, one after the other; a run is closed when the next one is requested.

    The clips of all checkpoints are listed first, so that an error in one of them is raised before anything is scored.
    """
    listed = {name: await in_thread(list_clips, [path]) for name, path in checkpoints.items()}
    for name, clips in listed.items():
        chosen = replace(options, out=out / name)
        with await in_thread(
            open_run, clips.entries, setup, chosen, environ, root=clips.root, is_whole=clips.is_whole
        ) as run:
            yield name, run


def _check(named: Mapping[str, Path], baseline: str | None, options: RunOptions | None) -> None:
    existing_paths(list(named.values()))
    if baseline is not None and baseline not in named:
        raise OptionError(f"the baseline {baseline} is not one of {', '.join(named)}")
    if options is not None and (options.out is not None or options.shard is not None):
        raise OptionError(
            "a bench does not accept `options` with `out` or `shard`; to use them, call `score` and then `compare`"
        )
