"""The page of a run: what all of it adds up to, the list of its clips, and one of them on the desk.

`templates/page.html.j2` lays it out. The list is small and stands in the page; a report with its pictures is read when
its clip is opened, and lies in the page or, of a large run, in files beside it (`robogaze.reporting.bundles`).
"""

import json
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from robogaze.core.annotation import FIELDS
from robogaze.core.clip import Clip
from robogaze.core.events import Box, Hypothesis
from robogaze.core.key_frames import key_frames
from robogaze.core.pictures import PictureSettings
from robogaze.core.report import Report, Unreadable
from robogaze.core.view_boxes import panel_boxes, strip_boxes, strip_size
from robogaze.domains import Domain
from robogaze.reporting import tally as tallies
from robogaze.reporting.bundles import bundles
from robogaze.reporting.document import document, vocabulary
from robogaze.reporting.tally import Tally
from robogaze.reporting.validity_checks import checks, differs
from robogaze.reporting.wording import printable

STYLES = ("base", "run", "list", "severity", "clip", "player", "timeline", "record", "media")
SCRIPTS = (
    "dom", "format", "data", "address", "filter", "rows", "keys", "desk", "places", "loop", "speed", "overlay",
    "player", "large", "timeline", "claims", "ledger", "record", "clip", "list", "main",
)  # fmt: skip


_CHOICES = 40
"""How many values of a field a reader is given to choose from; by more, such as the prompt's id, clips are searched."""


@dataclass(frozen=True)
class Page:
    """One clip of the page.

    `video` is a data: URI, an address relative to the page, or None when the page carries no video; `thumbnails`
    are small JPEGs by frame number (`frames_to_show` says which are wanted; any may be missing).
    """

    report: Report
    video: str | None
    thumbnails: Mapping[int, bytes]


def run_files(
    pages: Iterable[Page], unreadable: Sequence[Unreadable], domain: Domain, title: str
) -> Iterator[tuple[str, str]]:
    """Names and texts of the files of the page, `index.html` the last of them.

    Of `pages` not all are held at a time. Raises ValueError when two show the same clip id, for one of them could not
    be reached.
    """
    reports: list[Report] = []
    places: dict[str, str | None] = {}
    in_page: Mapping[str, str] | None = None
    for bundle in bundles(_data(pages, reports, domain)):
        places |= dict.fromkeys(bundle.data, bundle.file)
        if bundle.file is None:
            in_page = bundle.data
        else:
            yield bundle.file, bundle.text
    yield "index.html", _index(reports, unreadable, domain, title, places, in_page)


def render_html(pages: Sequence[Page], unreadable: Sequence[Unreadable], domain: Domain, title: str) -> str:
    """The page with all its data inside, however much that is. Raises as `run_files` does."""
    reports: list[Report] = []
    data = dict(_data(pages, reports, domain))
    return _index(reports, unreadable, domain, title, dict.fromkeys(data), data)


def _data(pages: Iterable[Page], reports: list[Report], domain: Domain) -> Iterator[tuple[str, str]]:
    """What is read of a clip when it is opened; its report is noted in passing, as far as the list needs it."""
    for page in pages:
        reports.append(_noted(page.report))
        media = json.dumps(_media(page, domain), ensure_ascii=False, allow_nan=False)
        yield page.report.clip.id, f'{{"report":{page.report.model_dump_json()},"media":{media}}}'


def _noted(report: Report) -> Report:
    """A report without what is long: of thousands of clips no more than this is held at a time."""
    # Copied and not made anew, for a clip without the times of its frames is none.
    calls = tuple(call.model_copy(update={"pictures": (), "facts": {}}) for call in report.provenance.calls)
    ledger = report.provenance.model_copy(update={"calls": calls, "pictures": ()})
    clip = report.clip.model_copy(update={"frame_times_s": ()})
    return report.model_copy(update={"clip": clip, "hypotheses": (), "provenance": ledger})


def _index(
    reports: Sequence[Report], unreadable: Sequence[Unreadable], domain: Domain, title: str,
    places: Mapping[str, str | None], in_page: Mapping[str, str] | None,
) -> str:  # fmt: skip
    repeated = [clip for clip, times in Counter(report.clip.id for report in reports).items() if times > 1]
    if repeated:
        raise ValueError(f"each clip has one page, but these repeat: {', '.join(repeated)}")
    tally = Tally(tuple(reports), tuple(unreadable), domain)
    return document(
        "page.html.j2",
        title,
        STYLES,
        SCRIPTS,
        {"vocabulary": vocabulary(domain), "list": _list(tally, places)},
        in_page,
        tally=tally,
        checks=checks(tally),
        models=_models(tally.reports),
        types=_types(tally),
        fields=_fields(tally.reports),
        without_events=tallies.without_events(tally),
        dimension_names=tallies.dimension_names,
    )


def _models(reports: Sequence[Report]) -> dict[str, list[str]]:
    """By role, the models that were asked, by their own names; by what the run calls them where none is told."""
    asked: dict[str, dict[str, None]] = {}
    for report in reports:
        for call in report.provenance.calls:
            identity = report.provenance.models.get(call.role, {}).get("identity", {})
            asked.setdefault(call.role, {})[identity.get("name") or call.model] = None
    return {role: list(models) for role, models in asked.items()}


def _types(tally: Tally[Report]) -> dict[str, str]:
    """The types that occur, by name, in the domain's order; one that it does not know goes by its id."""
    found = {event.type for report in tally.reports for event in report.events}
    known = {kind: one.name for kind, one in tally.domain.types.items() if kind in found}
    return known | {kind: kind for kind in sorted(found - known.keys())}


def _fields(reports: Sequence[Report]) -> dict[str, list[str]]:
    """The fields of the clips that tell some from others, each with its values; of too many values none is chosen."""
    told = {name: {getattr(report.clip, name) for report in reports} for name in FIELDS}
    return {name: sorted(values - {None}) for name, values in told.items() if 1 < len(values) <= _CHOICES}


def _list(tally: Tally[Report], places: Mapping[str, str | None]) -> dict[str, Any]:
    """All that the list needs of every clip, the unreadable last."""
    return {
        "dimensions": len(tally.domain.dimensions),
        "clips": [_entry(report, places[report.clip.id]) for report in tally.reports],
        "worst_first": sorted(range(len(tally.reports)), key=lambda place: _rank(tally.reports[place])),
        "unreadable": [{"uri": printable(one.uri), "reason": printable(one.reason)} for one in tally.unreadable],
    }


def _entry(report: Report, file: str | None) -> dict[str, Any]:
    clip = report.clip
    return {
        "id": clip.id,
        "file": file,
        "task": clip.instruction,
        "status": report.status,
        "verdict": report.verdict,
        "covered": len(tallies.covered(report)),
        "fields": {name: value for name in FIELDS if (value := getattr(clip, name)) is not None},
        "events": [[[event.dimension, *event.secondary], event.type, event.severity] for event in report.events],
        "said": [event.description for event in report.events],
    }


def _rank(report: Report) -> tuple[float, ...]:
    """What clips are sorted by, the worst first: the worst event, how many there are; undecided before clean clips."""
    worst = max(((event.severity or 0, event.confidence or 0.0) for event in report.events), default=(-1, 0.0))
    without_event = float(report.clean), float(report.status == "unscored"), -len(report.failures)
    return -worst[0], -worst[1], -len(report.events), *without_event


def _media(page: Page, domain: Domain) -> dict[str, Any]:
    """What belongs to a clip and is not in its report: the video, the pictures, the key frames, the verdict."""
    report = page.report
    return {
        "video": page.video,
        "thumbnails": {
            number: f"data:image/jpeg;base64,{b64encode(jpeg).decode('ascii')}"
            for number, jpeg in page.thumbnails.items()
        },
        "key_frames": {
            "events": [asdict(key_frames(event, report.clip)) for event in report.events],
            "hypotheses": [asdict(key_frames(hypothesis, report.clip)) for hypothesis in report.hypotheses],
        },
        "outcomes": [_outcome(hypothesis) for hypothesis in report.hypotheses],
        "views": _views(report.clip, report.provenance.media),
        "verdict": tallies.verdict_sentence(report, domain),
        "other_version": differs(report, domain),
    }


_EVIDENCE_ONLY = "too uncertain for an event: "
"""How the reason of a hypothesis begins that was measured and is not sure enough to be an event."""


def _outcome(hypothesis: Hypothesis) -> dict[str, str]:
    """What became of a hypothesis as a reader sees it. What is neither an event nor ruled out is undecided."""
    if hypothesis.reason.startswith(_EVIDENCE_ONLY):
        why = hypothesis.reason.removeprefix(_EVIDENCE_ONLY)
        return {"verdict": "undecided", "reason": f"too uncertain to be an event: {why}"}
    verdict = "undecided" if hypothesis.verdict == "unverified" else hypothesis.verdict
    return {"verdict": verdict, "reason": hypothesis.reason}


def _views(clip: Clip, media: Mapping[str, Any]) -> dict[str, Any]:
    """Where each view is in the pictures and in the video, as shares, and how wide both are for their height."""
    layout = clip.layout
    width, height = clip.width // layout.columns, clip.height // layout.rows
    longest = media.get("max_side_px")
    most = longest if isinstance(longest, int) and longest > 0 else PictureSettings().max_side_px
    scale = min(1.0, most / max(width, height, 1))
    view = max(1, round(width * scale)), max(1, round(height * scale))
    wide, high = strip_size(layout, view)
    in_picture, in_video = strip_boxes(layout, view), panel_boxes(layout)
    return {
        "picture_ratio": wide / high,
        "video_ratio": clip.width / clip.height,
        "places": {name: {"picture": _edges(in_picture[name]), "video": _edges(in_video[name])} for name in in_video},
    }


def _edges(box: Box) -> list[float]:
    return [box.left, box.top, box.right, box.bottom]
