"""One report as a fragment of HTML for a notebook: verdict, coverage, timeline and frames of the events."""

from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path

from robogaze.core.events import Event
from robogaze.core.key_frames import key_frames
from robogaze.core.report import Report
from robogaze.datasets import file_sha256
from robogaze.media import decode_clip
from robogaze.reporting.pages.document import environment
from robogaze.reporting.pages.results import domain_of, names_of
from robogaze.reporting.summary import coverage_sentence, short_verdict

FRAMES_SHOWN = 12
"""The most frames of a report, so that a notebook stays small."""

FRAME_WIDTH_PX = 480
"""The longer side of a frame that is decoded from the clip."""


def report_html(report: Report) -> str:
    """A self-contained fragment without scripts.

    The frames are decoded from the clip's file; there are none if that file has moved or changed since the clip was
    scored.
    """
    domain = domain_of({report.domain.taxonomy})
    frames = _frames(report)
    events = []
    left = FRAMES_SHOWN
    for event in sorted(report.events, key=lambda event: (-(event.severity or 0), event.onset_s)):
        pictures = _pictures(event, report, frames)[:left]
        left -= len(pictures)
        events.append((event, pictures))
    return (
        environment()
        .get_template("notebook.html.j2")
        .render(
            report=report,
            verdict=f"{short_verdict(report, domain)}.",
            coverage=coverage_sentence(report, domain),
            events=events,
            names=names_of(domain),
        )
    )


def _pictures(event: Event, report: Report, frames: Mapping[int, bytes]) -> list[tuple[str, str]]:
    """The frames before the event, at its onset, in its middle and after it, each as a data URI with its caption."""
    key = key_frames(event, report.clip)
    moments = {key.before: "before", key.middle: "middle", key.after: "after", key.first: "onset"}
    return [
        (
            f"data:image/jpeg;base64,{b64encode(frames[frame]).decode('ascii')}",
            f"{moment}, {report.clip.frame_times_s[frame]:.2f} s",
        )
        for frame, moment in sorted((frame, moment) for frame, moment in moments.items() if frame is not None)
        if frame in frames
    ]


def _frames(report: Report) -> dict[int, bytes]:
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
