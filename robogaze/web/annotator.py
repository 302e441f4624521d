"""Some clips to annotate: what the page is shown, what is saved, and what comes next.

Nothing here knows of HTTP. Methods take the name of an annotator and may be called from any thread.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from robogaze.core.annotation import ClipAnnotation, annotation_of
from robogaze.core.clip import Clip
from robogaze.core.view_boxes import panel_boxes
from robogaze.datasets import ManifestEntry
from robogaze.domains import Domain
from robogaze.errors import VideoError
from robogaze.web.annotation_reports import annotation_report
from robogaze.web.annotation_store import AnnotationStore, Authorship, Revision
from robogaze.web.calibration_feedback import calibration_feedback
from robogaze.web.clip_media import ClipMedia
from robogaze.web.clip_queue import QueueProgress, assigned
from robogaze.web.drafts import ClipDraft, DraftEvent, DraftProblem, missing, problems
from robogaze.web.starts import draft_events


@dataclass(frozen=True)
class Saved:
    """A revision is saved and has this number."""

    revision: int


@dataclass(frozen=True)
class Conflict:
    """Another browser has saved a newer revision. `annotation` is that revision, in the form in which `Annotator.clip`
    returns annotations.
    """

    annotation: Mapping[str, Any]


@dataclass(frozen=True)
class Refused:
    """Nothing is saved, because of these problems."""

    problems: tuple[DraftProblem, ...]


@dataclass(frozen=True)
class Submitted:
    """The annotation is submitted; `next_clip` is None when no clip is left, `feedback` is for calibration clips."""

    revision: int
    next_clip: str | None
    feedback: Mapping[str, Any] | None


@dataclass(frozen=True)
class Annotator:
    """Clips to annotate by one or several annotators.

    Each clip is given to `per_clip` annotators; None means all annotators. All mappings are keyed by clip id. `starts`
    has the annotations that the annotators start from, and `keys` has the references of the calibration clips.
    `reviewed` has the annotations of the run under review, and `review` is the name of this run; it is empty outside a
    review.
    """

    entries: Mapping[str, ManifestEntry]
    durations_s: Mapping[str, float]
    domain: Domain
    store: AnnotationStore
    media: ClipMedia
    annotators: Sequence[str]
    now: Callable[[], datetime]
    per_clip: int | None = None
    starts: Mapping[str, ClipAnnotation] = field(default_factory=dict)
    keys: Mapping[str, ClipAnnotation] = field(default_factory=dict)
    reviewed: Mapping[str, ClipAnnotation] = field(default_factory=dict)
    review: str = ""

    @property
    def title(self) -> str:
        """The purpose of the page, for messages."""
        return f"review of {self.review}" if self.review else "annotations"

    @property
    def mode(self) -> str:
        """The name of the page's mode."""
        return "review" if self.review else "annotate"

    def guide(self, name: str) -> Mapping[str, Any]:
        """The annotator's name, the mode of the page, and the taxonomy of the domain. The taxonomy explains what to
        look for, how severe it is, and when one cause leads to several events.
        """
        domain, taxonomy = self.domain, self.domain.taxonomy
        return {
            "annotator": name,
            "mode": self.mode,
            "domain": {"id": domain.id, "version": domain.file.version},
            **taxonomy.model_dump(mode="json", include={"dimensions", "severity", "cascade", "not_annotated"}),
        }

    def clip_ids(self, name: str) -> tuple[str, ...]:
        """The clips of an annotator, in the order of the queue."""
        return assigned(self.entries, name, self.annotators, self.per_clip, self.keys)

    def queue(self, name: str) -> Mapping[str, Any]:
        """The clips of an annotator with their status, and the progress."""
        clip_ids, revisions = self.clip_ids(name), self.store.newest_of(self._author(name))
        return {
            "annotator": name,
            "clips": [self._row(clip_id, revisions.get(clip_id)) for clip_id in clip_ids],
            "progress": asdict(QueueProgress.of(clip_ids, revisions)),
        }

    def clip(self, name: str, clip_id: str) -> Mapping[str, Any]:
        """A clip with its frame times, its annotation, and the model's events under review."""
        clip = self.media.clip(self.entries[clip_id])
        offered = self._offered(clip)
        return {
            "clip_id": clip_id,
            "instruction": clip.instruction,
            "duration_s": clip.duration_s,
            "fps": clip.fps,
            "width": clip.width,
            "height": clip.height,
            "views": _views(clip),
            "frame_times_s": clip.frame_times_s,
            "annotation": self._annotation(clip, self.store.newest(clip_id, self._author(name))),
            "review": None
            if offered is None
            else {"author": self.review, "events": [event.model_dump(mode="json") for event in offered.values()]},
        }

    def save(self, name: str, clip_id: str, draft: ClipDraft, base: int) -> Saved | Conflict | Refused:
        """Save a draft that was made from revision `base`; the same draft sent again is saved once."""
        clip = self.media.clip(self.entries[clip_id])
        offered = self._offered(clip)
        found = tuple(problems(draft, clip, self.domain, start=self._start(clip).events, offered=offered))
        if found:
            return Refused(found)
        newest = self.store.newest(clip_id, self._author(name))
        if newest is not None and newest.number == base + 1 and newest.draft == draft:
            return Saved(newest.number)
        number = self._append(name, clip, draft, base, submit=False)
        return self._conflict(name, clip) if number is None else Saved(number)

    def submit(self, name: str, clip_id: str, base: int) -> Submitted | Conflict | Refused:
        """Submit revision `base`. If nothing is saved yet, `base` is 0, and the annotation is submitted with the events
        that it started with.
        """
        clip, author = self.media.clip(self.entries[clip_id]), self._author(name)
        newest = self.store.newest(clip_id, author)
        draft = self._start(clip) if newest is None else newest.draft
        if found := tuple(missing(draft, self.domain, self._offered(clip))):
            return Refused(found)
        number: int | None
        if newest is not None and newest.status == "submitted" and base in (newest.number, newest.number - 1):
            number = newest.number
        else:
            number = self._append(name, clip, draft, base, submit=True)
        if number is None:
            return self._conflict(name, clip)
        return Submitted(number, self._next(name, clip_id), self._feedback(name, clip_id))

    def prepare_next(self, name: str, clip_id: str) -> None:
        """Decode the clip after this one, and make its proxy if it needs one, so that it opens at once."""
        following = self._next(name, clip_id)
        if following is not None:
            with suppress(VideoError):  # it is shown when somebody opens the clip
                self.media.video(self.entries[following])

    def _author(self, name: str) -> Authorship:
        return Authorship(name, self.review)

    def _append(self, name: str, clip: Clip, draft: ClipDraft, base: int, *, submit: bool) -> int | None:
        return self.store.append(
            clip,
            self._author(name),
            draft,
            base=base,
            status="submitted" if submit else "draft",
            now=self.now(),
            calibration=clip.id in self.keys,
        )

    def _conflict(self, name: str, clip: Clip) -> Conflict:
        return Conflict(self._annotation(clip, self.store.newest(clip.id, self._author(name))))

    def _start(self, clip: Clip) -> ClipDraft:
        """What an annotation starts with."""
        start = None if self.review else self.starts.get(clip.id)
        return ClipDraft() if start is None else ClipDraft(events=draft_events(start.findings, clip, "person"))

    def _offered(self, clip: Clip) -> Mapping[str, DraftEvent] | None:
        """The model's events under review by id; None outside a review."""
        if not self.review:
            return None
        reviewed = self.reviewed[clip.id]
        return {event.id: event for event in draft_events(reviewed.findings, clip, "model")}

    def _annotation(self, clip: Clip, revision: Revision | None) -> Mapping[str, Any]:
        draft = self._start(clip) if revision is None else revision.draft
        number, status = (0, "open") if revision is None else (revision.number, revision.status)
        return {"revision": number, "status": status, **draft.model_dump(mode="json")}

    def _row(self, clip_id: str, revision: Revision | None) -> Mapping[str, Any]:
        return {
            "clip_id": clip_id,
            "instruction": self.entries[clip_id].instruction,
            "duration_s": self.durations_s[clip_id],
            "status": "open" if revision is None else revision.status,
            "seconds_spent": 0.0 if revision is None else revision.draft.seconds_spent,
            "calibration": clip_id in self.keys,
        }

    def _next(self, name: str, clip_id: str) -> str | None:
        """The next clip in the queue that is not submitted, starting after `clip_id` and then from the beginning of the
        queue.
        """
        clip_ids, revisions = self.clip_ids(name), self.store.newest_of(self._author(name))
        after = clip_ids.index(clip_id) + 1 if clip_id in clip_ids else 0
        rest = (*clip_ids[after:], *clip_ids[:after])
        return next((other for other in rest if other not in revisions or revisions[other].status == "draft"), None)

    def _feedback(self, name: str, clip_id: str) -> Mapping[str, Any] | None:
        if clip_id not in self.keys:
            return None
        mine = [
            annotation_of(annotation_report(revision, self.media.clip(self.entries[revision.clip_id]), self.domain))
            for revision in self.store.submitted()
            if revision.author == self._author(name) and revision.clip_id in self.keys
        ]
        return calibration_feedback(mine, self.keys, clip_id)


def _views(clip: Clip) -> list[Mapping[str, Any]]:
    """The views in pixels of the whole picture."""
    return [
        {
            "name": name,
            "x": round(box.left * clip.width),
            "y": round(box.top * clip.height),
            "width": round((box.right - box.left) * clip.width),
            "height": round((box.bottom - box.top) * clip.height),
        }
        for name, box in panel_boxes(clip.layout).items()
    ]
