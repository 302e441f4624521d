"""`robogaze.agree`: how far annotators agree."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from robogaze.agreement.annotation_set import AnnotationSet
from robogaze.agreement.annotator_agreement import AgreementResult, measure_agreement
from robogaze.agreement.config import AgreementConfig
from robogaze.annotations import NamedSource, ReadOptions, Source, SourceError, SourceReader, named_sources
from robogaze.core.annotation import ClipAnnotation
from robogaze.errors import InputError
from robogaze.evaluation.config import STRATA, UNITS
from robogaze.judges import open_judge
from robogaze.judges.base import Judge
from robogaze.judges.unjudged import RecordingJudge, ask_ahead
from robogaze.sync import synchronous


async def agree_async(
    annotations: Mapping[str, Source] | Sequence[Source] | Source,
    config: AgreementConfig | None = None,
    *,
    judge: str | Judge = "offline",
    rubric: str | None = None,
    environ: Mapping[str, str] | None = None,
    reading: ReadOptions | None = None,
) -> AgreementResult:
    """Measure how far annotators agree, score each annotator with the metrics for systems, and find the events that
    need adjudication.

    Each source contains the annotations of one or several annotators. A source can have a name: its key in a mapping,
    or NAME in "NAME=PATH". A source with a name must contain the annotations of one annotator, who gets that name. See
    `robogaze.evaluate` for `judge`, `rubric` and `environ`. Raises InputError if annotations cannot be read or
    compared.
    """
    reading, config = reading or ReadOptions(), config or AgreementConfig()
    opened = open_judge(judge, rubric or reading.rubric(), environ)
    given = _read(annotations, config, reading)
    planning = config.with_(resamples=1)
    await ask_ahead(opened, lambda planned: measure_agreement(given, planned, planning))
    recording = RecordingJudge(opened)
    result = await measure_agreement(given, recording, config)
    return replace(result, unjudged=recording.unjudged)


agree = synchronous(agree_async)


def _read(
    sources: Mapping[str, Source] | Sequence[Source] | Source, config: AgreementConfig, reading: ReadOptions
) -> AnnotationSet:
    """The annotations of all sources, clip by clip; the first source's clip ids are used."""
    reader = SourceReader(reading, reading.labels())
    found: list[ClipAnnotation] = []
    named = named_sources(sources)
    if not named:
        raise SourceError("no annotations are given")
    for source in named:
        found += reader.with_ids_of(found, _of_annotator(reader, source), str(source.path or source.name))
    known = sorted({name for annotation in found for name in annotation.fields})
    for name in (config.by, config.units):
        if name not in (STRATA, UNITS, *known):
            raise InputError(f"no annotation has the field {name}; fields: {', '.join(known) or 'none'}")
    return AnnotationSet.of(found, config.by, mixed=reading.mixed)


def _of_annotator(reader: SourceReader, source: NamedSource) -> list[ClipAnnotation]:
    annotations = reader.read(source)
    if source.name is None:
        return annotations
    authors = sorted({annotation.author for annotation in annotations})
    if len(authors) > 1:
        raise SourceError(
            f"{source.path or source.name} contains annotations by {', '.join(authors)}, but the name {source.name} "
            "can stand for only one annotator; leave out the name, or give one file for each annotator"
        )
    return [replace(annotation, author=source.name) for annotation in annotations]
