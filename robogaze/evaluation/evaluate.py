"""`robogaze.evaluate`: predictions against references."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

from robogaze.annotations import NamedSource, ReadOptions, Source, SourceError, SourceReader, named_sources
from robogaze.core.annotation import ClipAnnotation
from robogaze.datasets.pairing import Pairing, System, pair
from robogaze.domains import default_domain, load_domain
from robogaze.errors import InputError
from robogaze.evaluation.config import EvaluationConfig
from robogaze.evaluation.released import ReleasedEvaluation, evaluate_pairing_as_released
from robogaze.evaluation.results import Evaluation
from robogaze.evaluation.systems import evaluate_pairing
from robogaze.judges import open_judge
from robogaze.judges.base import Judge
from robogaze.judges.unjudged import RecordingJudge, ask_ahead
from robogaze.sync import run_sync, synchronous

_log = logging.getLogger("robogaze")


async def evaluate_async(
    predictions: Mapping[str, Source] | Sequence[Source] | Source,
    references: Source,
    config: EvaluationConfig | None = None,
    *,
    by: Sequence[str] = (),
    judge: str | Judge = "offline",
    second_judge: str | Judge | None = None,
    rubric: str | None = None,
    environ: Mapping[str, str] | None = None,
    reading: ReadOptions | None = None,
) -> Evaluation:
    """Score predictions against references.

    Predictions are paths (reports, folders of reports, run folders, JSONL, or any format that is recognised), loaded
    reports or loaded annotations. Several systems, in a mapping by name or as "NAME=PATH", are also compared with one
    another.

    `by` names clip fields; the results are broken down by these fields. `judge` is `offline`, `table:FILE`, a model as
    KIND:NAME[@URL], or a Judge. `rubric` is the question that a model judge is asked; by default, it is the rubric of
    the domain. `environ` holds the API keys of model servers (pass os.environ). The logger `robogaze` gets a message
    about everything that was skipped or read in an unusual way. Raises InputError if the predictions and references
    cannot be read or paired.
    """
    reading = reading or ReadOptions()
    judges = [
        open_judge(spec, rubric or reading.rubric(), environ) for spec in (judge, second_judge) if spec is not None
    ]
    pairing = read_pairing(predictions, references, reading)
    first, *others = [await _evaluated(pairing, judge, config or EvaluationConfig(), by) for judge in judges]
    return replace(first, second_judge=others[0]) if others else first


evaluate = synchronous(evaluate_async)


async def _evaluated(pairing: Pairing, judge: Judge, config: EvaluationConfig, by: Sequence[str]) -> Evaluation:
    await ask_ahead(judge, lambda planned: evaluate_pairing(pairing, planned, config.with_(resamples=1)))
    recording = RecordingJudge(judge)
    return replace(await evaluate_pairing(pairing, recording, config, by), unjudged=recording.unjudged)


def evaluate_released(
    predictions: Mapping[str, Source] | Sequence[Source] | Source,
    references: Source,
    convention: str,
    *,
    judge: str | Judge = "offline",
    rubric: str | None = None,
    environ: Mapping[str, str] | None = None,
    reading: ReadOptions | None = None,
) -> ReleasedEvaluation:
    """Score predictions in the same way as a released evaluator, `robogaze-released` or `glide-released`, including its
    quirks.

    The arguments are the same as the arguments of `evaluate`. Raises InputError for an unknown convention, and for a
    failed judgement, because these evaluators cannot leave out a judgement.
    """
    reading = reading or ReadOptions()
    opened = open_judge(judge, rubric or reading.rubric(), environ)
    pairing = read_pairing(predictions, references, reading, as_written=True)
    domain = load_domain(reading.domain or default_domain())
    taxonomy = {dimension.id: tuple(kind.id for kind in dimension.types) for dimension in domain.dimensions.values()}
    return run_sync(evaluate_pairing_as_released(pairing, opened, convention, taxonomy))


def read_pairing(
    predictions: Mapping[str, Source] | Sequence[Source] | Source,
    references: Source,
    reading: ReadOptions,
    *,
    as_written: bool = False,
) -> Pairing:
    """Read both sides and pair them by clip id, sha256 or file stem.

    With `as_written`, the intervals in a released file are kept exactly as they are written, because the evaluator of
    this release needs them. Raises InputError if the two sides cannot be read or paired, or if two systems have the
    same name.
    """
    skipped: list[str] = []
    reader = SourceReader(reading, reading.labels(), as_written, skipped)
    named = named_sources(predictions)
    if not named:
        raise SourceError("no predictions are given")
    names = [source.label for source in named]
    if len(set(names)) < len(names):
        raise SourceError(f"two predictions have the same name ({', '.join(names)}); write NAME=PATH")
    found = _references(reader, references, named)
    by_id = {reference.clip_id: reference for reference in found}
    systems = [
        System.of(source.label, reader.with_ids_of(found, reader.read(source, clips=by_id), source.label))
        for source in named
    ]
    _warn_of_spans_after_the_clip(found, systems)
    return replace(pair(found, systems, mixed=reading.mixed), left_out=tuple(skipped))


def _warn_of_spans_after_the_clip(references: Sequence[ClipAnnotation], systems: Sequence[System]) -> None:
    """Report references that begin after the end of their clip, as the predictions give it."""
    for reference in references:
        known = (system.annotations.get(reference.clip_id) for system in systems)
        duration_s = next((clip.duration_s for clip in known if clip is not None and clip.duration_s is not None), None)
        starts_s = [event.spans[0].start for event in reference.findings if event.spans]
        if duration_s is not None and max(starts_s, default=0) >= duration_s:
            _log.warning(
                "%s: %s: an event starts at %g s, but the clip ends at %g s; times must be in seconds",
                reference.source,
                reference.clip_id,
                max(starts_s),
                duration_s,
            )


def _references(reader: SourceReader, references: Source, predictions: Sequence[NamedSource]) -> list[ClipAnnotation]:
    """The references. If the references cannot be read on their own, the frames of the predictions' clips are used.

    The frame rate of a prediction therefore takes precedence over `fps`, and `lenient` skips only events that do not
    fit on their clip.
    """
    source, options, author = NamedSource.of(references), reader.options, reader.options.author
    strict = replace(reader, options=replace(options, fps=None, lenient=False))
    try:
        found = strict.read(source)
    except InputError:
        found = reader.read(source, clips=_clips_with_frames(reader, predictions))
    if not found:
        raise InputError("the references hold no annotation")
    of_author = [reference for reference in found if author in (None, reference.author)]
    if not of_author:
        authors = ", ".join(sorted({reference.author for reference in found}))
        raise SourceError(f"no reference was made by the author {author}; the authors are: {authors}")
    return of_author


def _clips_with_frames(reader: SourceReader, predictions: Sequence[NamedSource]) -> dict[str, ClipAnnotation]:
    """The predictions that give their clip's frames, by clip id."""
    options = replace(reader.options, fps=None, lenient=True)
    lenient = replace(reader, options=options, quiet=True, as_written=False, skipped=None)
    clips: dict[str, ClipAnnotation] = {}
    for source in predictions:
        try:
            annotations = lenient.read(source)
        except InputError:  # it is raised again where the file is read as a prediction
            continue
        for annotation in annotations:
            if annotation.frame_times_s is not None:
                clips.setdefault(annotation.clip_id, annotation)
    return clips
