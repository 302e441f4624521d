"""The page of a run: its counts, the list of its clips, and the open clip.

The list is in the page. A report with its pictures is parsed when its clip is opened; it is in the page or, for a large
run, in files next to it (`robogaze.reporting.pages.bundles`).
"""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote

from robogaze.core.annotation import FIELDS
from robogaze.core.clip import Clip
from robogaze.core.events import TOO_UNCERTAIN, Box, Hypothesis
from robogaze.core.key_frames import key_frames, pictures_to_show
from robogaze.core.pictures import PictureSettings
from robogaze.core.report import Provenance, Report, Status, Unreadable, Verdict
from robogaze.core.view_boxes import fitted_size, panel_boxes, picture_size, view_boxes
from robogaze.domains import Domain
from robogaze.reporting import summary as summaries
from robogaze.reporting.pages.bundles import WrittenPage, bundles, write_files
from robogaze.reporting.pages.document import document, vocabulary
from robogaze.reporting.pages.results import Fact
from robogaze.reporting.pages.run_checks import checks, differs
from robogaze.reporting.pages.videos import VideoFile, video_notes, video_sources
from robogaze.reporting.summary import RunSummary
from robogaze.reporting.tables import cell_text
from robogaze.reporting.wording import listed, printable
from robogaze.stats.proportions import wilson
from robogaze.store import StoredRun

STYLES = ("base", "run", "list", "severity", "clip", "player", "timeline", "record", "media")
SCRIPTS = (
    "dom", "format", "data", "frames", "address", "filter", "rows", "keys", "viewer", "places", "loop", "speed",
    "overlay", "playback", "player", "large", "axis", "timeline", "claims", "ledger", "record", "clip", "list", "clips",
    "run",
)  # fmt: skip

_CHOICES = 40
"""The most values of a field that a filter offers."""


@dataclass(frozen=True)
class ClipPage:
    """One clip of the page.

    `video` is a data: URI, an address relative to the page, or None. `thumbnails` are small JPEGs of the frames in
    `frames_to_show`, by frame number; any of them may be missing. `pictures` are the addresses, relative to the page,
    of other pictures that are evidence, by picture id.
    """

    report: Report
    video: str | None
    thumbnails: Mapping[int, bytes]
    pictures: Mapping[str, str] = field(default_factory=dict)


def write_run_page(root: Path, domain: Domain) -> WrittenPage:
    """Write index.html into a run folder, from its reports."""
    run = StoredRun(root)
    done = run.scored
    files = {line.clip_id: VideoFile(line.path, 0.0, line.sha256, line.size_bytes, line.modified_ns) for line in done}
    videos = video_sources(files, root)
    reports = (report for line in done if (report := run.report(line.clip_id)) is not None)
    pages = (
        ClipPage(report, videos[report.clip.id], run.frames(report.clip.id), _picture_addresses(run, report))
        for report in reports
    )
    title = root.resolve().name
    path = write_files(root, run_files(pages, run.unreadable, domain, title=title, pending=len(run.pending)))
    return WrittenPage(path, tuple(video_notes(videos, files)))


def _picture_addresses(run: StoredRun, report: Report) -> dict[str, str]:
    """The addresses of the stored pictures of a report, relative to the run folder, by id."""
    paths = {name: run.picture_path(report.clip.id, name) for name in pictures_to_show(report)}
    return {name: quote(path.relative_to(run.root).as_posix()) for name, path in paths.items() if path.is_file()}


def run_files(
    pages: Iterable[ClipPage], unreadable: Sequence[Unreadable], domain: Domain, title: str, pending: int = 0
) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each file of the page, `index.html` last. `pages` is read one clip at a time, to
    save memory. `pending` is the number of clips that have no report yet.
    """
    reports: list[Report] = []
    files: dict[str, str | None] = {}
    in_page: Mapping[str, str] | None = None
    for bundle in bundles(_data(pages, reports, domain)):
        files |= dict.fromkeys(bundle.data, bundle.file)
        if bundle.file is None:
            in_page = bundle.data
        else:
            yield bundle.file, bundle.text
    summary = RunSummary(tuple(reports), tuple(unreadable), domain, pending)
    yield "index.html", _index(summary, title, files, in_page)


def _data(pages: Iterable[ClipPage], reports: list[Report], domain: Domain) -> Iterator[tuple[str, str]]:
    """The data of each open clip; the part of its report that the list needs is added to `reports`."""
    for page in pages:
        reports.append(_shortened(page.report))
        media = json.dumps(_media(page, domain), ensure_ascii=False, allow_nan=False)
        yield page.report.clip.id, f'{{"report":{page.report.model_dump_json()},"media":{media}}}'


def _shortened(report: Report) -> Report:
    """A report without its long parts, because the reports of thousands of clips are in memory at once."""
    # Copied without validation: a clip without frame times is invalid.
    calls = tuple(call.model_copy(update={"pictures": (), "facts": {}}) for call in report.provenance.calls)
    ledger = report.provenance.model_copy(update={"calls": calls, "pictures": ()})
    clip = report.clip.model_copy(update={"frame_times_s": ()})
    return report.model_copy(update={"clip": clip, "hypotheses": (), "provenance": ledger})


def _index(
    summary: RunSummary[Report], title: str, files: Mapping[str, str | None], in_page: Mapping[str, str] | None
) -> str:
    domain = summary.domain
    return document(
        "run.html.j2",
        title,
        STYLES,
        SCRIPTS,
        {"vocabulary": vocabulary(domain), "list": _list(summary, files)},
        in_page,
        name=title,
        headline=run_headline(summary),
        facts=tuple(_facts(summary)),
        summary=summary,
        checks=checks(summary),
        types=_types(summary),
        fields=_fields(summary.reports),
        without_events=summaries.without_events(summary),
        statuses={name: name for name in (*get_args(Verdict), *get_args(Status), "unreadable")},
        dimensions={name: summaries.dimension_names([name], domain) for name in summary.coverage},
        severities={
            level.level: f"{level.level} {level.name}{' or worse' if level.level < 5 else ''}"
            for level in reversed(domain.taxonomy.severity)
        },
    )


def run_headline(summary: RunSummary[Report]) -> str:
    """A sentence with the share of faulty clips, the interval of this share, and the counts of the other verdicts. For
    a stopped run, it also gives the number of pending clips.
    """
    verdicts, clips = summary.verdicts, summary.clips
    pending = f"; {summaries.not_scored_yet(summary)}" if summary.pending else ""
    of = summaries.clips_so_far(summary)
    if not summary.reports:
        return f"{of}, none of them judged{pending}."
    share = cell_text(wilson(verdicts["faulty"], clips))
    faulty = f"{verdicts['faulty']} of {of} {'is' if clips == 1 else 'are'} faulty ({share})"
    others = [f"{verdicts['clean']} clean", f"{verdicts['undecided']} undecided"]
    if summary.unreadable:
        others.append(f"{len(summary.unreadable)} unreadable")
    return f"{faulty}; {listed(others)}{pending}."


def _facts(summary: RunSummary[Report]) -> Iterator[Fact]:
    yield Fact("domain", f"{summary.domain.file.title} {summary.domain.file.version}")
    if summary.reports:
        yield Fact("pipeline", listed(list(dict.fromkeys(report.pipeline for report in summary.reports))))
        yield Fact("by", listed(list(dict.fromkeys(report.author for report in summary.reports))))
        yield from (Fact(role, listed(names)) for role, names in _models(summary.reports).items())
    if summary.reports and not summary.calls:
        yield Fact("model", "none")


def _models(reports: Sequence[Report]) -> dict[str, list[str]]:
    """The models by role; each model has the name that its server reports, otherwise its name in the run."""
    asked: dict[str, dict[str, None]] = {}
    for report in reports:
        for call in report.provenance.calls:
            identity = report.provenance.models.get(call.role, {}).get("identity", {})
            asked.setdefault(call.role, {})[identity.get("name") or call.model] = None
    return {role: list(models) for role, models in asked.items()}


def _types(summary: RunSummary[Report]) -> dict[str, str]:
    """The names of the types that occur, in the domain's order; for a type that the domain does not have, its id."""
    found = {event.type for report in summary.reports for event in report.events}
    known = {kind: item.name for kind, item in summary.domain.types.items() if kind in found}
    return known | {kind: kind for kind in sorted(found - known.keys())}


def _fields(reports: Sequence[Report]) -> dict[str, dict[str, str]]:
    """The values of the fields in which the clips differ; fields with more values than a filter offers are left out."""
    found = {name: {getattr(report.clip, name) for report in reports} for name in FIELDS}
    return {
        name: {value: value for value in sorted(values - {None})}
        for name, values in found.items()
        if 1 < len(values) <= _CHOICES
    }


def _list(summary: RunSummary[Report], files: Mapping[str, str | None]) -> dict[str, Any]:
    """The data of the list, unreadable files last."""
    return {
        "dimensions": len(summary.domain.dimensions),
        "clips": [_entry(report, files[report.clip.id]) for report in summary.reports],
        "worst_first": sorted(range(len(summary.reports)), key=lambda number: _rank(summary.reports[number])),
        "unreadable": [{"uri": printable(clip.uri), "reason": printable(clip.reason)} for clip in summary.unreadable],
    }


def _entry(report: Report, file: str | None) -> dict[str, Any]:
    clip = report.clip
    return {
        "id": clip.id,
        "file": file,
        "task": clip.instruction,
        "status": report.status,
        "verdict": report.verdict,
        "covered": len(summaries.covered(report)),
        "fields": {name: value for name in FIELDS if (value := getattr(clip, name)) is not None},
        "events": [[[event.dimension, *event.secondary], event.type, event.severity] for event in report.events],
        "descriptions": [event.description for event in report.events],
    }


def _rank(report: Report) -> tuple[float, ...]:
    """The sort key of clips, worst first: the worst event, then the number of events; undecided before clean clips."""
    worst = max(((event.severity or 0, event.confidence or 0.0) for event in report.events), default=(-1, 0.0))
    without_event = float(report.clean), float(report.status == "unscored"), -len(report.failures)
    return -worst[0], -worst[1], -len(report.events), *without_event


def _media(page: ClipPage, domain: Domain) -> dict[str, Any]:
    """The data of an open clip that its report does not contain: video, pictures, key frames, verdicts."""
    report = page.report
    return {
        "video": page.video,
        "thumbnails": {
            number: f"data:image/jpeg;base64,{b64encode(jpeg).decode('ascii')}"
            for number, jpeg in page.thumbnails.items()
        },
        "pictures": dict(page.pictures),
        "key_frames": {
            "events": [asdict(key_frames(event, report.clip)) for event in report.events],
            "hypotheses": [asdict(key_frames(hypothesis, report.clip)) for hypothesis in report.hypotheses],
        },
        "verdicts": [_verdict(hypothesis) for hypothesis in report.hypotheses],
        "views": _views(report.clip, report.provenance),
        "verdict": summaries.verdict_sentence(report, domain),
        "other_version": differs(report, domain),
    }


def _verdict(hypothesis: Hypothesis) -> dict[str, str]:
    """The verdict on a hypothesis as the page shows it: undecided if it is neither an event nor ruled out."""
    if hypothesis.reason.startswith(TOO_UNCERTAIN):
        why = hypothesis.reason.removeprefix(TOO_UNCERTAIN)
        return {"verdict": "undecided", "reason": f"too uncertain to be an event: {why}"}
    verdict = "undecided" if hypothesis.verdict == "unverified" else hypothesis.verdict
    return {"verdict": verdict, "reason": hypothesis.reason}


def _views(clip: Clip, provenance: Provenance) -> dict[str, Any]:
    """The place of each view in the pictures and in the video, as shares, and the aspect ratios of both."""
    layout = clip.layout
    longest = provenance.media.get("max_side_px", PictureSettings().max_side_px)
    view = fitted_size((max(1, clip.width // layout.columns), max(1, clip.height // layout.rows)), longest)
    width, height = picture_size(layout, view)
    in_picture, in_video = view_boxes(layout, view), panel_boxes(layout)
    return {
        "picture_ratio": width / height,
        "video_ratio": clip.width / clip.height,
        "places": {name: {"picture": _edges(in_picture[name]), "video": _edges(in_video[name])} for name in in_video},
    }


def _edges(box: Box) -> list[float]:
    return [box.left, box.top, box.right, box.bottom]
