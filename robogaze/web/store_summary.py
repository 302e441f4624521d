"""A summary of a store: how much each person has annotated, and what the reviews say. Also the reports of the submitted
annotations.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from robogaze.core.estimate import Estimate, undefined
from robogaze.core.report import Report
from robogaze.domains import Domain, default_domain, load_domain
from robogaze.errors import InputError
from robogaze.reporting.tables import ResultTable
from robogaze.reporting.tables.result_table import Row
from robogaze.store import file_name
from robogaze.web.adjudicator import AUTHOR
from robogaze.web.annotation_reports import annotation_report
from robogaze.web.annotation_store import AnnotationStore, Authorship, Revision
from robogaze.web.opening import review_plans
from robogaze.web.review import ReviewEstimates, review_estimates

_ANNOTATOR_COLUMNS = ("annotator", "review of", "submitted", "clean", "events", "drafts", "seconds per clip")
_REVIEW_COLUMNS = (
    *("run", "annotator", "clips", "accepted", "edited", "rejected", "added"),
    *("precision", "accepted unchanged", "found"),
)


@dataclass(frozen=True)
class AnnotatorSummary:
    """How much an annotator has submitted and started. `seconds_per_clip` is the mean over the submitted clips.

    `review` is the name of the run under review; it is empty if the clips were annotated blind.
    """

    annotator: str
    review: str
    submitted: int
    clean: int
    events: int
    drafts: int
    seconds_per_clip: Estimate


@dataclass(frozen=True)
class StoreSummary:
    """A row for each annotator and review, and the estimates of the reviews. `reviews` is keyed by run, then by
    annotator.
    """

    annotators: tuple[AnnotatorSummary, ...]
    reviews: Mapping[str, Mapping[str, ReviewEstimates]]

    def tables(self) -> Iterator[ResultTable]:
        """The summary as tables."""
        annotators: tuple[Row, ...] = tuple(
            (row.annotator, row.review, row.submitted, row.clean, row.events, row.drafts, row.seconds_per_clip.value)
            for row in self.annotators
        )
        yield ResultTable("annotators", "Annotations", _ANNOTATOR_COLUMNS, annotators)
        reviews: tuple[Row, ...] = tuple(
            (run, annotator, f"{found.clips} of {found.planned}", *_verdict_cells(found))
            for run, by_annotator in self.reviews.items()
            for annotator, found in by_annotator.items()
        )
        if reviews:
            yield ResultTable("reviews", "Reviews", _REVIEW_COLUMNS, reviews, _REVIEW_NOTES)


_REVIEW_NOTES = (
    "Precision: the share of the run's events that are faults (accepted or edited). n counts events.",
    "Found: the share of the faults that the run reports. A reviewer who sees the run's events overlooks the "
    "same faults as "
    "the run, so this share is an upper bound. robogaze evaluate measures the share against blind annotations.",
    "Clips are weighted by stratum; intervals use Student's t over prompts.",
)


def summarise(store: AnnotationStore) -> StoreSummary:
    """The summary of a store."""
    submitted, drafts = _by_author(store.submitted()), _by_author(store.drafts())
    authors = sorted({*submitted, *drafts}, key=lambda author: (author.annotator, author.review))
    rows = tuple(_row(author, submitted.get(author, ()), drafts.get(author, ())) for author in authors)
    reviews = {
        run: {
            author.annotator: review_estimates(plan, {revision.clip_id: revision.draft for revision in revisions})
            for author, revisions in submitted.items()
            if author.review == run
        }
        for run, plan in review_plans(store).items()
    }
    return StoreSummary(rows, {run: found for run, found in reviews.items() if found})


def submitted_reports(
    store: AnnotationStore, domain: str | None = None, *, without_model: bool = False
) -> Mapping[Path, Report]:
    """The submitted annotations as reports, keyed by relative path. Each annotator has a folder, and each review of an
    annotator has its own folder.

    An adjudicated clip is left out if it is open again, because an annotation or a decision has changed since. `domain`
    names the domain that the store was made with; it is needed if the domain is a folder that was moved.
    `without_model` leaves out events that a model made and nobody changed. Raises InputError for a domain with another
    taxonomy.
    """
    used = _domain(store, domain)
    reports = {}
    reopened = reopened_reports(store)
    for revision in store.submitted():
        if (path := _path(revision)) not in reopened:
            clip = store.clip(revision.clip_id)
            assert clip is not None, "an annotated clip was decoded"
            reports[path] = annotation_report(revision, clip, used, without_model=without_model)
    return reports


def reopened_reports(store: AnnotationStore) -> frozenset[Path]:
    """The relative paths of the adjudicated clips that are open: `submitted_reports` leaves them out, but an earlier
    export may have written them.
    """
    return frozenset(_path(revision) for revision in store.drafts() if revision.author == Authorship(AUTHOR))


def _path(revision: Revision) -> Path:
    author = revision.author
    folder = f"{author.annotator} review of {author.review}" if author.review else author.annotator
    return Path(file_name(folder), f"{file_name(revision.clip_id)}.json")


def _domain(store: AnnotationStore, given: str | None) -> Domain:
    known = store.settings()
    domain = load_domain(given or known.get("domain", default_domain()))
    if known.get("taxonomy", domain.ref.taxonomy) != domain.ref.taxonomy:
        raise InputError(
            f"the annotations in {store.path} were made with another version of the taxonomy of {domain.id}; set "
            "`domain` to the domain folder with that version"
        )
    return domain


def _by_author(revisions: Sequence[Revision]) -> Mapping[Authorship, Sequence[Revision]]:
    found: dict[Authorship, list[Revision]] = {}
    for revision in revisions:
        found.setdefault(revision.author, []).append(revision)
    return found


def _verdict_cells(found: ReviewEstimates) -> Row:
    counts = found.verdicts["accepted"], found.verdicts["edited"], found.verdicts["rejected"], found.added
    return *counts, found.precision, found.accepted, found.found


def _row(author: Authorship, submitted: Sequence[Revision], drafts: Sequence[Revision]) -> AnnotatorSummary:
    spent_s = [revision.draft.seconds_spent for revision in submitted]
    kept = [[event for event in revision.draft.events if event.verdict != "rejected"] for revision in submitted]
    return AnnotatorSummary(
        annotator=author.annotator,
        review=author.review,
        submitted=len(submitted),
        clean=sum(not events for events in kept),
        events=sum(map(len, kept)),
        drafts=len(drafts),
        seconds_per_clip=Estimate(sum(spent_s) / len(spent_s), n=len(spent_s))
        if spent_s
        else undefined("nothing is submitted"),
    )
