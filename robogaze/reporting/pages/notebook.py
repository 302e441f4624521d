"""One report as a fragment of HTML for a notebook: verdict, coverage, timeline and frames of the events."""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from robogaze.core.events import Event
from robogaze.core.key_frames import key_frames
from robogaze.core.report import Report
from robogaze.datasets import file_sha256
from robogaze.domains import Domain
from robogaze.media import decode_clip
from robogaze.reporting.pages.document import environment
from robogaze.reporting.pages.results import domain_of, names_of
from robogaze.reporting.summary import coverage_sentence, short_verdict
from robogaze.reporting.wording import seconds

FRAMES_SHOWN = 12
"""The most frames of a report, so that a notebook stays small."""

FRAME_WIDTH_PX = 480
"""The longer side of a frame that is decoded from the clip."""


@dataclass(frozen=True)
class _Bar:
    left: float
    width: float


@dataclass(frozen=True)
class _Picture:
    url: str
    caption: str


@dataclass(frozen=True)
class _ShownEvent:
    name: str
    dimension: str
    when: str
    severity: int | None
    description: str
    bars: tuple[_Bar, ...]
    pictures: tuple[_Picture, ...]


def report_html(report: Report, frames_folder: Path | None = None) -> str:
    """A self-contained fragment without scripts.

    `frames_folder` holds the frames of the report (`000012.jpg`). Without it they are decoded from the clip's file;
    there are no frames if that file has moved or changed since the clip was scored.
    """
    domain = domain_of({report.domain.taxonomy})
    frames = _from_video(report) if frames_folder is None else _from_folder(frames_folder)
    left = FRAMES_SHOWN
    events = []
    for event in sorted(report.events, key=lambda event: (-(event.severity or 0), event.onset_s)):
        shown = _event(event, report, domain, frames, left)
        left -= len(shown.pictures)
        events.append(shown)
    return (
        environment()
        .get_template("notebook.html.j2")
        .render(
            report=report,
            verdict=f"{short_verdict(report, domain)}.",
            coverage=coverage_sentence(report, domain),
            events=events,
            duration=f"{report.clip.duration_s:.2f} s",
        )
    )


def _event(event: Event, report: Report, domain: Domain | None, frames: Mapping[int, bytes], most: int) -> _ShownEvent:
    names, duration_s = names_of(domain), report.clip.duration_s
    return _ShownEvent(
        name=names.get(event.type, event.type),
        dimension=names.get(event.dimension, event.dimension),
        when=", ".join(seconds(span.start, span.end) for span in event.spans),
        severity=event.severity,
        description=event.description,
        bars=tuple(
            _Bar(100 * span.start / duration_s, 100 * (span.end - span.start) / duration_s) for span in event.spans
        ),
        pictures=_pictures(event, report, frames, most),
    )


def _pictures(event: Event, report: Report, frames: Mapping[int, bytes], most: int) -> tuple[_Picture, ...]:
    """The known frames before, at the onset, in the middle and after."""
    key = key_frames(event, report.clip)
    moments = {key.before: "before", key.middle: "middle", key.after: "after", key.first: "onset"}
    found = [
        _Picture(
            f"data:image/jpeg;base64,{b64encode(frames[frame]).decode('ascii')}",
            f"{moment}, {report.clip.frame_times_s[frame]:.2f} s",
        )
        for frame, moment in sorted((frame, moment) for frame, moment in moments.items() if frame is not None)
        if frame in frames
    ]
    return tuple(found[:most])


def _from_folder(folder: Path) -> dict[int, bytes]:
    return {int(path.stem): path.read_bytes() for path in folder.glob("[0-9]*.jpg")}


def _from_video(report: Report) -> dict[int, bytes]:
    """The frames that show the events, decoded from the clip's file; empty if the file has moved or changed."""
    clip, path = report.clip, Path(report.clip.uri)
    if not report.events or not path.is_file() or file_sha256(path) != clip.sha256:
        return {}
    decoded = decode_clip(path, layout=clip.layout, start_s=clip.start_s, end_s=clip.end_s, pictures_fps=0)
    try:
        numbers = {
            frame
            for key in (key_frames(event, clip) for event in report.events)
            for frame in (key.before, key.first, key.middle, key.after)
            if frame is not None
        }
        decoded.make_pictures(numbers)
        return {number: decoded.thumbnail(number, FRAME_WIDTH_PX) for number in sorted(numbers)}
    finally:
        decoded.close()
