"""Opens clips for annotation: their ids and lengths, what annotations start with, and what is reviewed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from robogaze.core.annotation import ClipAnnotation
from robogaze.datasets import ManifestEntry, file_sha256
from robogaze.domains import load_domain
from robogaze.errors import InputError, OptionError, VideoError
from robogaze.store import StoredRun
from robogaze.web.annotation_store import AnnotationStore
from robogaze.web.annotator import Annotator
from robogaze.web.clip_media import ClipMedia
from robogaze.web.review import ReviewPlan, plan_review
from robogaze.web.starts import annotations_for

PROXIES = ".proxies"
"""The suffix of the folder of proxies, after the name of the store."""

_REVIEW = "review "
"""Prefix of the setting that keeps the plan of a review, before the name of the run."""


@dataclass(frozen=True)
class AnnotationOptions:
    """Who annotates, and what is shown.

    `annotators` are all annotators who share the clips; each clip is given to `per_clip` of them (None: to all of
    them). `start` is the path of the annotations that annotators start from. `calibration` is the path of references;
    after an annotator has submitted a clip with a reference, the page shows feedback. `review` is the path of the run
    to review, or of a model's annotations in any format. For `review`, a sample of `sample` clips is drawn with `seed`;
    if `sample` is None, all clips are reviewed.
    """

    annotators: Sequence[str]
    domain: str
    per_clip: int | None = None
    start: Path | None = None
    calibration: Path | None = None
    review: Path | None = None
    sample: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Raise OptionError for options that contradict each other."""
        if len(set(self.annotators)) != len(self.annotators):
            raise OptionError("the names in `annotators` must differ from each other")
        if self.per_clip is not None and not 1 <= self.per_clip <= len(self.annotators):
            raise OptionError(
                f"`annotators_per_clip` must be from 1 to {len(self.annotators)}, the number of `annotators`"
            )
        if self.review is not None and (self.start is not None or self.calibration is not None):
            raise OptionError("`review` cannot be used with `from` or `calibration`")
        if self.sample is not None and self.review is None:
            raise OptionError("`sample` needs `review`")


@dataclass(frozen=True)
class OpenedClips:
    """An annotator, and the clips that were left out because their file cannot be read."""

    annotator: Annotator
    unreadable: tuple[ManifestEntry, ...]


def open_annotator(
    entries: Sequence[ManifestEntry], store: AnnotationStore, options: AnnotationOptions, now: Callable[[], datetime]
) -> OpenedClips:
    """Open clips for annotation. No video is decoded.

    Raises InputError if the store has annotations with another taxonomy, if no clip can be read, or if the annotations
    in `options` cannot be read or are not of these clips. Also raises InputError if the store has a review of another
    run with the same name.
    """
    domain = load_domain(options.domain)
    taxonomy = store.settings().get("taxonomy", domain.ref.taxonomy)
    if taxonomy != domain.ref.taxonomy:
        raise InputError(
            f"the annotations in {store.path} use another taxonomy than {options.domain}; choose another `store`, or "
            f"set `domain` to the domain of these annotations ({store.settings().get('domain')})"
        )
    media = ClipMedia(store, store.path.with_name(f"{store.path.name}{PROXIES}"))
    known = _identified(entries)
    durations_s = media.durations_s(known.values())
    readable = {clip_id: entry for clip_id, entry in known.items() if clip_id in durations_s}
    unreadable = tuple(entry for clip_id, entry in known.items() if clip_id not in durations_s)
    if not readable:
        raise InputError(f"none of the {len(entries)} clips can be read; run robogaze dataset check to see why")

    def given(path: Path | None, author: str | None = None) -> dict[str, ClipAnnotation]:
        return {} if path is None else annotations_for(path, readable, options.domain, author)

    reviewed, review = given(options.review), ""
    if options.review is not None:
        run = options.review.resolve()
        review, plan = run.name, plan_review(reviewed, options.sample, options.seed, run=run.as_posix())
        _keep_plan(store, review, plan)
        readable = {clip_id: readable[clip_id] for clip_id in plan.clips}
    starts = given(options.start, options.annotators[0] if len(options.annotators) == 1 else None)
    keys = given(options.calibration)
    # Only now, so that a call that fails does not decide the taxonomy of the store.
    store.setting("taxonomy", domain.ref.taxonomy)
    store.setting("domain", options.domain)
    annotator = Annotator(
        entries=readable,
        durations_s=durations_s,
        domain=domain,
        store=store,
        media=media,
        annotators=options.annotators,
        now=now,
        per_clip=options.per_clip,
        starts=starts,
        keys=keys,
        reviewed=reviewed,
        review=review,
    )
    return OpenedClips(annotator, unreadable)


def _keep_plan(store: AnnotationStore, review: str, plan: ReviewPlan) -> None:
    """Keep the plan of a review. Raises InputError if another run of this name is under review."""
    before = review_plans(store).get(review)
    if before is not None and before.run != plan.run:
        raise InputError(
            f"{store.path} already has a review of another run with the same name ({before.run}); "
            "choose another `store`"
        )
    store.set_setting(f"{_REVIEW}{review}", plan.model_dump_json())


def review_plans(store: AnnotationStore) -> Mapping[str, ReviewPlan]:
    """The review plans in a store, keyed by the name of the run under review."""
    return {
        name.removeprefix(_REVIEW): ReviewPlan.model_validate_json(value)
        for name, value in store.settings().items()
        if name.startswith(_REVIEW)
    }


def clips_of_run(root: Path) -> tuple[ManifestEntry, ...]:
    """The clips of a run folder, so that a review of the run does not have to list them. Raises InputError if the
    folder lists no clips.
    """
    lines = StoredRun(root).lines
    if not lines:
        raise InputError(
            f"{root} is not a run folder, so list the clips to review: robogaze annotate CLIPS --review {root}"
        )
    fields = ("clip_id", "instruction", "prompt_id", "layout", "checkpoint", "split", "task_family", "embodiment")
    return tuple(
        ManifestEntry(
            path=root.resolve() / line.path,
            sha256=line.sha256,
            start_s=line.start_s,
            end_s=line.end_s,
            **{name: getattr(line, name) for name in fields},
        )
        for line in lines
    )


def _identified(entries: Sequence[ManifestEntry]) -> dict[str, ManifestEntry]:
    """The clips by id. Clips that share a file stem get an id from their content, or from their path if they are
    unreadable.
    """
    found: dict[str, ManifestEntry] = {}
    for entry in entries:
        try:
            clip_id = entry.clip_id or entry.id_for(file_sha256(entry.path))
        except VideoError:
            clip_id = entry.address
        found[clip_id] = entry.with_(clip_id=clip_id)
    return found
