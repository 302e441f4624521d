"""Settling what annotators disagree on.

The submitted annotations of a clip are matched as in `robogaze agree`. An event on which all annotators agree by the
rules of RoboGaze (A.2.3, see `robogaze.agreement.adjudication`) is accepted at once; everything else is a disagreement,
which a person decides. The result is another annotation, by the author "adjudicated".

Annotators appear as A, B, ..., in an order that changes from clip to clip. The id of an annotator's event contains the
letter and the number of the submitted revision. An event that changes therefore gets a new id, so a decision never
applies to an event that has changed since the decision.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from typing import Any

from robogaze.agreement.adjudication import adjudicate, merge
from robogaze.agreement.annotation_set import AnnotationSet
from robogaze.agreement.event_matching import MatchedClip, match_annotators
from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation, annotation_of
from robogaze.core.clip import Clip
from robogaze.datasets import ManifestEntry
from robogaze.domains import Domain
from robogaze.errors import InputError
from robogaze.judges.base import Judge
from robogaze.sync import run_sync
from robogaze.web.annotation_reports import annotation_report
from robogaze.web.annotation_store import AnnotationStore, Authorship, Revision
from robogaze.web.annotator import Annotator, Conflict, Refused, Saved, Submitted
from robogaze.web.drafts import ClipDraft, Decision, DraftEvent, DraftProblem
from robogaze.web.opening import AnnotationOptions, open_annotator
from robogaze.web.starts import draft_events

AUTHOR = "adjudicated"


@dataclass(frozen=True)
class Disagreement:
    """The events of different annotators that are about the same thing, and the reasons why they are not settled.

    `events` maps the letter of each annotator who reports such an event to the event. `merged` is what the annotators
    agree on: a field in dispute is None, and the span is the union of the spans.
    """

    id: str
    events: Mapping[str, DraftEvent]
    merged: DraftEvent
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class ComparedClip:
    """The comparison of a clip's annotations: the letters of the annotators, the settled events, and the
    disagreements.
    """

    letters: tuple[str, ...]
    settled: tuple[DraftEvent, ...]
    disagreements: tuple[Disagreement, ...]

    def draft(self, decisions: Sequence[Decision], seconds_spent: float) -> ClipDraft:
        """The annotation that results from decisions. If every disagreement is decided and no event results, the clip
        is clean.
        """
        by_id = {decision.disagreement: decision for decision in decisions}
        chosen = (
            event
            for disagreement in self.disagreements
            if disagreement.id in by_id
            for event in _chosen(by_id[disagreement.id], disagreement)
        )
        events = (*self.settled, *chosen)
        return ClipDraft(
            clean=not events and not self.undecided(decisions),
            events=events,
            seconds_spent=seconds_spent,
            decisions=tuple(decisions),
        )

    def undecided(self, decisions: Sequence[Decision]) -> list[Disagreement]:
        """The disagreements without a choice."""
        decided = {decision.disagreement for decision in decisions if decision.choice is not None}
        return [disagreement for disagreement in self.disagreements if disagreement.id not in decided]


@dataclass(frozen=True)
class Adjudicator(Annotator):
    """Clips with two or more annotations, to be settled by one or several people.

    All adjudicators work on the same annotation, by the author "adjudicated". `compared` maps clip ids to the
    comparisons of the clips' annotations.
    """

    compared: Mapping[str, ComparedClip] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The purpose of the page, for messages."""
        return "adjudication of the annotations"

    @property
    def mode(self) -> str:
        """The name of the page's mode."""
        return "adjudicate"

    def clip(self, name: str, clip_id: str) -> Mapping[str, Any]:
        """A clip with its annotation, the settled events, and the disagreements."""
        compared = self.compared[clip_id]
        return {
            **super().clip(name, clip_id),
            "annotators": compared.letters,
            "settled": [event.model_dump(mode="json") for event in compared.settled],
            "disagreements": [
                {
                    "id": disagreement.id,
                    "events": {letter: event.model_dump(mode="json") for letter, event in disagreement.events.items()},
                    "merged": disagreement.merged.model_dump(mode="json"),
                    "reasons": disagreement.reasons,
                }
                for disagreement in compared.disagreements
            ],
        }

    def save(self, name: str, clip_id: str, draft: ClipDraft, base: int) -> Saved | Conflict | Refused:
        """Save the decisions of a draft. The draft is a changed version of revision `base`, and each decision keeps the
        name of the person who made it.
        """
        compared = self.compared[clip_id]
        found = tuple(_problems(draft.decisions, compared))
        if found:
            return Refused(found)
        known = {decision.disagreement: decision for decision in self._decisions(clip_id)}
        signed = [_signed(decision, known.get(decision.disagreement), name) for decision in draft.decisions]
        return super().save(name, clip_id, compared.draft(signed, draft.seconds_spent), base)

    def submit(self, name: str, clip_id: str, base: int) -> Submitted | Conflict | Refused:
        """Submit revision `base`, if every disagreement is decided."""
        undecided = self.compared[clip_id].undecided(self._decisions(clip_id))
        if undecided:
            found = (
                DraftProblem(event=each.id, field="choice", message="this disagreement is not decided")
                for each in undecided
            )
            return Refused(tuple(found))
        return super().submit(name, clip_id, base)

    def accept_agreed(self) -> int:
        """Submit the clips without a disagreement, and return the number of clips submitted. Clips that have new
        disagreements are reopened.
        """
        accepted = 0
        for clip_id, compared in self.compared.items():
            newest = self.store.newest(clip_id, Authorship(AUTHOR))
            if newest is None and compared.disagreements:
                continue
            known = {disagreement.id for disagreement in compared.disagreements}
            kept = [decision for decision in self._decisions(clip_id) if decision.disagreement in known]
            draft = compared.draft(kept, 0.0 if newest is None else newest.draft.seconds_spent)
            if newest is not None and newest.draft == draft:
                continue
            saved = super().save(AUTHOR, clip_id, draft, 0 if newest is None else newest.number)
            if isinstance(saved, Saved) and not compared.disagreements:
                accepted += isinstance(super().submit(AUTHOR, clip_id, saved.revision), Submitted)
        return accepted

    def _author(self, name: str) -> Authorship:
        return Authorship(AUTHOR)

    def _decisions(self, clip_id: str) -> Sequence[Decision]:
        newest = self.store.newest(clip_id, Authorship(AUTHOR))
        return () if newest is None else newest.draft.decisions


def open_adjudicator(
    entries: Sequence[ManifestEntry], store: AnnotationStore, domain: str, judge: Judge, now: Callable[[], datetime]
) -> Adjudicator:
    """Compare the annotations that annotators have submitted for the given clips. The judge compares the descriptions
    of events.

    Annotations of a review are left out, because they are not independent of the model. Raises InputError if no clip
    has two annotations, and in the same cases as `open_annotator`.
    """
    clips = open_annotator(entries, store, AnnotationOptions((AUTHOR,), domain), now).annotator
    submitted: dict[str, list[Revision]] = {}
    for revision in store.submitted():
        if not revision.author.review and revision.author.annotator != AUTHOR and revision.clip_id in clips.entries:
            submitted.setdefault(revision.clip_id, []).append(revision)
    lettered = {clip_id: _lettered(revisions) for clip_id, revisions in sorted(submitted.items()) if len(revisions) > 1}
    if not lettered:
        raise InputError(
            f"no clip in {store.path} has submitted annotations by two annotators; annotate clips with: "
            "robogaze annotate CLIPS --as NAME"
        )
    records = {clip_id: clips.media.clip(clips.entries[clip_id]) for clip_id in lettered}
    annotations = [
        _annotation(revision, records[clip_id], clips.domain)
        for clip_id, revisions in lettered.items()
        for revision in revisions
    ]
    matched, _ = run_sync(match_annotators(AnnotationSet.of(annotations).clips, judge, "iou*similarity", "frames"))
    given = {
        (clip_id, event.id): event
        for clip_id, revisions in lettered.items()
        for revision in revisions
        for event in revision.draft.events
    }
    compared = {clip.annotated.clip_id: _compared(clip, records[clip.annotated.clip_id], given) for clip in matched}
    own: dict[str, Any] = {
        "entries": {clip_id: clips.entries[clip_id] for clip_id in compared},
        "starts": _starts(annotations),  # their times need not be on the grid
        "compared": compared,
    }
    return Adjudicator(**vars(clips) | own)


def _lettered(revisions: Sequence[Revision]) -> list[Revision]:
    """The annotations of a clip under letters; ids of events are unique among them."""
    shuffled = sorted(revisions, key=lambda each: sha256(f"{each.clip_id}\0{each.author.annotator}".encode()).digest())
    found = []
    for place, revision in enumerate(shuffled):
        letter = chr(ord("A") + place)
        events = tuple(
            event.model_copy(update={"id": f"{letter}{revision.number}-{event.id}"}) for event in revision.draft.events
        )
        draft = revision.draft.model_copy(update={"events": events})
        found.append(replace(revision, author=Authorship(letter), draft=draft))
    return found


def _annotation(revision: Revision, clip: Clip, domain: Domain) -> ClipAnnotation:
    return annotation_of(annotation_report(revision, clip, domain))


def _starts(annotations: Sequence[ClipAnnotation]) -> dict[str, ClipAnnotation]:
    """One annotation for each clip, with the events of all annotators."""
    found: dict[str, ClipAnnotation] = {}
    for annotation in annotations:
        before = found.get(annotation.clip_id)
        findings = (*(before.findings if before else ()), *annotation.findings)
        found[annotation.clip_id] = replace(annotation, findings=findings)
    return found


def _compared(matched: MatchedClip, clip: Clip, given: Mapping[tuple[str, str], DraftEvent]) -> ComparedClip:
    reasons = {item.events: item.reasons for item in adjudicate((matched,), "frames").queue}
    settled, disagreements = [], []
    for unit in matched.units:
        found = tuple(
            (letter, event) for letter, event in zip(matched.annotated.authors, unit, strict=True) if event is not None
        )
        events = {letter: given[clip.id, event.id] for letter, event in found}
        merged = _merged(merge(unit, matched.annotated, "frames").finding, events, clip)
        if found in reasons:
            disagreements.append(Disagreement(merged.id, events, merged, reasons[found]))
        else:
            settled.append(merged)
    return ComparedClip(matched.annotated.authors, tuple(settled), tuple(disagreements))


def _merged(finding: AnnotatedEvent, events: Mapping[str, DraftEvent], clip: Clip) -> DraftEvent:
    """A merged event as a draft, with the first box that somebody drew."""
    box = next((event.box for event in events.values() if event.box is not None), None)
    name = "+".join(event.id for event in events.values())
    return draft_events((finding,), clip, "person")[0].model_copy(update={"id": name, "box": box})


def _chosen(decision: Decision, disagreement: Disagreement) -> Iterator[DraftEvent]:
    if decision.choice == "merged" and decision.merged is not None:
        yield decision.merged
    elif decision.choice == "events":
        yield from (event for event in disagreement.events.values() if event.id in decision.events)


def _problems(decisions: Sequence[Decision], compared: ComparedClip) -> Iterator[DraftProblem]:
    """What keeps decisions from being saved."""
    known = {disagreement.id: disagreement for disagreement in compared.disagreements}
    for decision in decisions:
        disagreement = known.pop(decision.disagreement, None)
        if disagreement is None:
            message = "the annotators do not have this disagreement, or it is decided twice; reload the page"
            yield DraftProblem(event=decision.disagreement, field="disagreement", message=message)
            continue
        ids = {event.id for event in disagreement.events.values()}
        if bool(decision.events) != (decision.choice == "events") or not ids.issuperset(decision.events):
            yield DraftProblem(event=disagreement.id, field="events", message="choose only events of this disagreement")
        if (decision.merged is not None) != (decision.choice == "merged"):
            yield DraftProblem(
                event=disagreement.id,
                field="merged",
                message="a merged event is allowed only if the choice is 'merged'",
            )
        if decision.merged is not None and decision.merged.id != disagreement.id:
            yield DraftProblem(
                event=disagreement.id, field="merged", message="a merged event must have the id of the disagreement"
            )


def _signed(decision: Decision, before: Decision | None, name: str) -> Decision:
    by = before.by if before is not None and before == decision.model_copy(update={"by": before.by}) else name
    return decision.model_copy(update={"by": by})
