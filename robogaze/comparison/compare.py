"""`robogaze.compare`: checkpoints against each other."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from robogaze.annotations import (
    NamedSource,
    ReadOptions,
    Source,
    SourceError,
    SourceReader,
    named_sources,
)
from robogaze.comparison.calibration import Calibration, pair_calibration
from robogaze.comparison.comparison import Comparison, compare_runs
from robogaze.comparison.leaderboard import ComparisonConfig
from robogaze.comparison.prompt_pairing import AUTO
from robogaze.comparison.runs import Run
from robogaze.datasets.formats.base import ReadLog
from robogaze.datasets.formats.read import iter_annotations
from robogaze.errors import InputError

_log = logging.getLogger("robogaze")


def compare(
    runs: Mapping[str, Source] | Sequence[Source] | Source,
    config: ComparisonConfig | None = None,
    *,
    baseline: str | Path | None = None,
    by: str | None = None,
    pair_by: str = AUTO,
    calibrations: Mapping[str, Source] | Sequence[Source] | Source = (),
    references: Source | None = None,
    reading: ReadOptions | None = None,
) -> Comparison:
    """Compare checkpoints: which is better, in what, by how much, and whether the difference is significant.

    Each run holds the reports of one checkpoint. It is given as a path (a run folder, a folder of reports, or a JSONL
    file) or as loaded reports. Runs are named in a mapping or as "NAME=PATH"; a run without a name gets the name of its
    path. `by` splits every run by a clip field, such as `checkpoint`.

    All runs are compared with the `baseline`, given as the name of one of the runs or as a path. The path may lead to a
    run that is not in `runs`. Without a baseline, all pairs are compared. `pair_by` is a key in
    `robogaze.comparison.prompt_pairing.KEYS`, or "auto" for the first key that works. `calibrations` are predictions
    for clips whose truth, annotated by people, is in `references`. A calibration with the name of a run corrects that
    run; a calibration without a name corrects all runs.

    Raises InputError for what cannot be read, and for runs that cannot be compared.
    """
    reader = _RunReader(reading or ReadOptions())
    sources = named_sources(runs)
    if not sources:
        raise SourceError("no run is given")
    read = [part for source in sources for part in reader.parts(source, by, alone=len(sources) == 1)]
    read, baseline_name = _with_baseline(read, sources, baseline, reader, split=by is not None)
    common, own = _calibrations(named_sources(calibrations), references, read, reader)
    return compare_runs(
        read,
        config or ComparisonConfig(),
        baseline=baseline_name,
        pair_by=pair_by,
        mixed=reader.options.mixed,
        sample=common,
        samples=own,
    )


class _RunReader:
    """Reads runs from sources with one set of options."""

    def __init__(self, options: ReadOptions) -> None:
        self.options = options

    def run(self, source: NamedSource) -> Run:
        labels = None if self._are_reports(source) and self.options.domain is None else self.options.labels()
        annotations = SourceReader(self.options, labels).read(source)
        of_author = [annotation for annotation in annotations if self.options.author in (None, annotation.author)]
        if isinstance(source.source, str | Path):
            return Run.of(source.label, of_author, source.path)
        return Run.of_loaded(source.label, of_author, source.source)

    def parts(self, source: NamedSource, by: str | None, *, alone: bool) -> list[Run]:
        """The run or, with `by`, one run for each value of this clip field. Unless the source is `alone`, the names of
        these runs begin with the name of the whole run.
        """
        run = self.run(source)
        if by is None:
            return [run]
        parts = list(run.split_by(by))
        if parts and parts[0].unplaced:
            _log.warning(
                "%s: the %s of %s unreadable clips is unknown, so no run counts these clips (--json gives their number "
                "as unplaced)",
                run.name,
                by,
                parts[0].unplaced,
            )
        return parts if alone else [replace(part, name=f"{run.name}/{part.name}") for part in parts]

    def _are_reports(self, source: NamedSource) -> bool:
        """Whether a source holds reports. Reports name their domain; foreign labels need the labels of a domain."""
        if source.path is None:
            return True
        log = ReadLog()
        options = self.options
        first = iter_annotations(
            source.path,
            log,
            format=options.format,
            fps=options.fps,
            first_frame=options.first_frame,
            lenient=options.lenient,
        )
        next(first, None)
        return log.format == "report"


def _with_baseline(
    runs: list[Run], sources: Sequence[NamedSource], baseline: str | Path | None, reader: _RunReader, *, split: bool
) -> tuple[list[Run], str | None]:
    """The runs and the name of the baseline. The baseline may be given as the path of one of the runs, or of an
    additional run.
    """
    if baseline is None or str(baseline) in (run.name for run in runs):
        return runs, None if baseline is None else str(baseline)
    try:
        source = NamedSource.of(baseline)
    except InputError as error:
        names = ", ".join(run.name for run in runs)
        raise SourceError(f"the baseline {baseline} is neither one of the runs ({names}) nor a path") from error
    assert source.path is not None
    same = [other.path is not None and other.path.resolve() == source.path.resolve() for other in sources]
    if not split and any(same):
        return runs, runs[same.index(True)].name
    added = reader.run(source)
    return [added, *runs], added.name


def _calibrations(
    sources: Sequence[NamedSource], references: Source | None, runs: Sequence[Run], reader: _RunReader
) -> tuple[Calibration | None, dict[str, Calibration]]:
    """The calibration for all runs, if there is one, and the calibrations for single runs by name."""
    common: Calibration | None = None
    own: dict[str, Calibration] = {}
    if bool(sources) != (references is not None):
        raise SourceError(
            "give both calibrations (predictions for some clips) and references (the truth for these clips)"
        )
    if references is None:
        return common, own
    truth = reader.run(NamedSource.of(references, None if isinstance(references, str | Path) else "references"))
    for source in sources:
        name = source.name
        judged = [run for run in runs if name in (None, run.name)]
        if not judged:
            raise SourceError(
                f"no run has the name of the calibration {name}; the runs are: {', '.join(run.name for run in runs)}"
            )
        if name in own or (name is None and common is not None):
            raise SourceError(f"there are two calibrations for {name or 'all runs'}; give only one")
        sample = pair_calibration(reader.run(source), truth, judged, mixed=reader.options.mixed)
        if name is None:
            common = sample
        else:
            own[name] = sample
    return common, own
