"""`robogaze.score`: score clips from Python."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, overload

from robogaze.core.report import Report, Unreadable
from robogaze.errors import InputError, OptionError, RunStopped
from robogaze.media.picture_files import open_picture
from robogaze.paths import given_path
from robogaze.reporting.pages.notebook import report_html
from robogaze.reporting.pages.run import write_run_page
from robogaze.reporting.wording import count
from robogaze.reports import Reports
from robogaze.run.clips import list_clips, parse_layout
from robogaze.run.execute import ScoringRun, open_run
from robogaze.run.options import RunOptions
from robogaze.run.setup import make_setup
from robogaze.store import ManifestLine, StoredRun
from robogaze.sync import synchronous
from robogaze.threads import in_thread

if TYPE_CHECKING:
    from pandas import DataFrame

_SHOWN_REPORTS = 20
"""The number of reports of a run that a notebook shows."""

Paths = str | Path | Sequence[str | Path]


@dataclass(frozen=True)
class RunResult:
    """The reports of a run, in the order of its clips; iterate it, or turn it into a data frame.

    `unreadable` are the clips whose file cannot be read; they count in every denominator. `stopped` is the reason why
    the run ended early; None if the run did not end early. `folder` is the run folder with its page `index.html`; None
    without a run folder. `listed` are all clips of the run, with and without a report.
    """

    reports: Reports
    unreadable: tuple[Unreadable, ...]
    stopped: RunStopped | None
    folder: Path | None
    listed: tuple[ManifestLine, ...] = ()

    def __iter__(self) -> Iterator[Report]:
        return iter(self.reports)

    def __len__(self) -> int:
        return len(self.reports)

    @overload
    def __getitem__(self, clip: int | str) -> Report: ...
    @overload
    def __getitem__(self, clip: slice) -> Reports: ...
    def __getitem__(self, clip: int | str | slice) -> Report | Reports:
        """A report by its position or its clip id, or the reports of a slice. Raises IndexError or KeyError."""
        if not isinstance(clip, str):
            return self.reports[clip]
        for report in self.reports:
            if report.clip.id == clip:
                return report
        raise KeyError(clip)

    def to_dataframe(self) -> "DataFrame":
        """One row per clip with a report; see `Reports.to_dataframe`. Raises MissingExtra without pandas."""
        return self.reports.to_dataframe()

    def _repr_html_(self) -> str:
        """The view in a notebook: the number of clips, and the reports, worst first."""
        worst_first = sorted(self.reports, key=lambda report: -sum(event.severity or 0 for event in report.events))
        counts = [count(len(self.reports), "report")]
        counts += [f"the worst {_SHOWN_REPORTS} reports are shown"] if len(self.reports) > _SHOWN_REPORTS else []
        counts += [f"{count(len(self.unreadable), 'clip')} unreadable"] if self.unreadable else []
        counts += [f"stopped early: {escape(str(self.stopped))}"] if self.stopped is not None else []
        return f"<p>{'; '.join(counts)}</p>" + "".join(map(report_html, worst_first[:_SHOWN_REPORTS]))


async def score_async(
    paths: Paths,
    *,
    instruction: str | None = None,
    initial_frame: str | Path | None = None,
    layout: str | None = None,
    model: str | Path | None = None,
    domain: str | Path | None = None,
    pipeline: str | None = None,
    concurrency: int | None = None,
    decoder: str = "pyav",
    out: str | Path | None = None,
    options: RunOptions | None = None,
    environ: Mapping[str, str] = os.environ,
) -> RunResult:
    """Score clips: report what failed in each clip, when, why and how badly.

    Args:
        paths: Videos, folders of videos, or manifests (.jsonl).
        instruction: The instruction that all clips were generated from; by default, the sidecar or manifest gives it.
        initial_frame: An image of the scene before the clips start.
        layout: `single`, or `ROWSxCOLUMNS:name,name,...` for views in a grid; recognised by default.
        model: `KIND:NAME[@URL]`, or a YAML file of models. Without a model, RoboGaze reports only what it can measure
            in the frames, and no clip is called clean.
        domain: The name of a built-in domain, or the folder of a custom domain.
        pipeline: A pipeline of the domain; the default depends on whether a model is given.
        concurrency: The maximum number of requests per model, and the maximum number of clips, at the same time.
        decoder: `pyav`, `decord`, or a decoder of another package.
        out: The folder for reports, frames and answers; needed to resume.
        options: How the run is done: sample, shard, engine, limits of calls and cost.
        environ: The environment variables that hold the API keys of servers.

    Returns:
        The reports. A clip that cannot be read, or on which a model fails, does not stop the other clips.

    Raises:
        InputError: A path does not exist, or a file is invalid.
        OptionError: Options contradict each other, or the pipeline needs a model and none is given.
        RunError: The folder `out` is in use, holds a run with other settings, or cannot be written.
        Unreachable: No server answers.
    """
    listed = existing_paths(paths)
    chosen = with_concurrency(options, concurrency)
    setup = await in_thread(make_setup, domain, pipeline, model, concurrency=concurrency, decoder=decoder)
    if out is not None:
        chosen = replace(chosen, out=given_path(out, "`out`"))
    frame = None if initial_frame is None else Path(initial_frame)
    if frame is not None:
        await in_thread(open_picture, frame, f"the initial frame {frame}")  # it applies to every clip
    views = None if layout is None else parse_layout(layout)
    clips = await in_thread(list_clips, listed, instruction=instruction, initial_frame=frame, layout=views)
    with await in_thread(
        open_run, clips.entries, setup, chosen, environ, root=clips.root, is_whole=clips.is_whole
    ) as run:
        return await score_run(run)


score = synchronous(score_async)


async def score_run(run: ScoringRun) -> RunResult:
    """Score the clips of an open run, and write the page of its folder."""
    async with aclosing(run.execute()) as results:
        async for _ in results:
            pass
    if run.folder is not None and not StoredRun(run.folder.root).is_empty:
        await in_thread(write_run_page, run.folder.root, run.setup.domain)
    return await in_thread(_result_of, run)


def with_concurrency(options: RunOptions | None, concurrency: int | None) -> RunOptions:
    """The options of a run. Raises OptionError for a concurrency below 1."""
    chosen = options or RunOptions()
    if concurrency is None:
        return chosen
    if concurrency < 1:
        raise OptionError(f"concurrency must be at least 1, not {concurrency}")
    return replace(chosen, clips_at_once=concurrency)


def _result_of(run: ScoringRun) -> RunResult:
    folder = None if run.folder is None else run.folder.root
    listed = tuple(clip.line for clip in run.plan.clips.values())
    reports = Reports(tuple(run.reports()), tuple(run.unreadable), listed)
    return RunResult(reports, reports.unreadable, run.stopped, folder, listed)


def existing_paths(paths: Paths) -> tuple[Path, ...]:
    """One or several paths. Raises InputError if there is no path, and for a path that is empty or does not exist."""
    given = (paths,) if isinstance(paths, str | Path) else tuple(paths)
    if not given:
        raise InputError("no path of a clip is given")
    listed = tuple(given_path(path, "the path of a clip") for path in given)
    for path in listed:
        if not os.path.lexists(path):
            raise InputError(f"{path} does not exist")
    return listed
