"""One report as a fragment of HTML for a notebook: verdict, coverage, timeline and frames of the events."""

from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path

from robogaze.core.events import Event
from robogaze.core.key_frames import key_frames
from robogaze.core.report import Report
from robogaze.domains import Domain
from robogaze.reporting.pages.document import environment
from robogaze.reporting.pages.results import domain_of, names_of
from robogaze.reporting.summary import coverage_sentence, short_verdict
from robogaze.reporting.wording import seconds

FRAMES_SHOWN = 12
"""The most frames of a report, so that a notebook stays small."""


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

    `frames_folder` holds the frames beside the report (`000012.jpg`); without it there are no pictures.
    """
    domain = domain_of({report.domain.taxonomy})
    left = FRAMES_SHOWN
    events = []
    for event in sorted(report.events, key=lambda event: (-(event.severity or 0), event.onset_s)):
        shown = _event(event, report, domain, frames_folder, left)
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


def _event(event: Event, report: Report, domain: Domain | None, folder: Path | None, most: int) -> _ShownEvent:
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
        pictures=() if folder is None else _pictures(event, report, folder, most),
    )


def _pictures(event: Event, report: Report, folder: Path, most: int) -> tuple[_Picture, ...]:
    """The frames before, at the onset, in the middle and after, as far as they are in the folder."""
    key = key_frames(event, report.clip)
    moments = {key.before: "before", key.middle: "middle", key.after: "after", key.first: "onset"}
    found = [
        _Picture(
            f"data:image/jpeg;base64,{b64encode(path.read_bytes()).decode('ascii')}",
            f"{moment}, {report.clip.frame_times_s[frame]:.2f} s",
        )
        for frame, moment in sorted((frame, moment) for frame, moment in moments.items() if frame is not None)
        if (path := folder / f"{frame:06}.jpg").is_file()
    ]
    return tuple(found[:most])
