"""A small domain, a video, and makers of clips, claims and reports, for the tests of the pages and tables."""

import io
import json
import re
from collections.abc import Sequence
from html import unescape
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from making import coverage

from robogaze.core.clip import Clip, Layout
from robogaze.core.events import Claim, Event, Evidence, Hypothesis
from robogaze.core.key_frames import frames_to_show
from robogaze.core.pictures import Picture
from robogaze.core.report import Call, Provenance, Report, Unreadable
from robogaze.core.time import Span
from robogaze.domains import Domain, load_domain
from robogaze.media.decode import Image
from robogaze.reporting.pages.run import ClipPage, run_files

FPS = 16
FRAMES = 64
SIZE = (320, 200)
ATTACK = "<script>alert(1)</script>"

_TAXONOMY = """
schema_version: 1
cascade: One event may belong to several dimensions.
severity:
  - {level: 1, name: cosmetic, definition: Can be seen and changes nothing.}
  - {level: 2, name: minor, definition: A local fault.}
  - {level: 3, name: moderate, definition: Something that matters is affected.}
  - {level: 4, name: severe, definition: It hides whether the task was done.}
  - {level: 5, name: catastrophic, definition: Something impossible is shown.}
dimensions:
  - id: task
    code: TA
    name: Task Progress
    definition: Whether the task advances to its final state.
    needs: [instruction]
    types:
      - {id: failed_placing, name: Failed placing, definition: Not left in its place., cues: [It falls.],
         severity: 4, span: &shown {covers: state, starts: its first frame, ends: its last frame}}
      - {id: early_end, name: Early end, definition: The clip ends too soon., cues: [Still held.],
         severity: 3, span: *shown}
  - id: physics
    code: PH
    name: Physical Plausibility
    definition: Whether bodies behave as bodies do.
    types:
      - {id: passing_through, name: Passing through, definition: Two bodies in one place., cues: [Overlap],
         severity: 5, span: *shown}
      - {id: floating, name: Floating, definition: Nothing holds it., cues: [A gap below.],
         severity: 4, span: *shown}
  - id: picture
    code: PI
    name: Picture Quality
    definition: Whether the picture itself is sound.
    types:
      - {id: blur, name: Blur, definition: Detail is lost., cues: [Soft edges.],
         severity: 2, span: *shown}
      - {id: flicker, name: Flicker, definition: Brightness jumps., cues: [A flash.],
         severity: 1, span: *shown}
"""

_DOMAIN = """
schema_version: 1
id: little
version: 0.1.0
title: A little domain
summary: a clip
default_pipeline: plain
judge: rubric
"""


def make_domain(folder: Path) -> Domain:
    """A domain of three dimensions."""
    for name in ("pipelines", "prompts", "judges"):
        (folder / name).mkdir(parents=True)
    (folder / "domain.yaml").write_text(_DOMAIN, encoding="utf-8")
    (folder / "taxonomy.yaml").write_text(_TAXONOMY, encoding="utf-8")
    (folder / "pipelines" / "plain.yaml").write_text("description: One step.\nstages: [look]\n", encoding="utf-8")
    (folder / "judges" / "rubric.yaml").write_text("{}\n", encoding="utf-8")
    return load_domain(folder)


def picture(frame: int, size: tuple[int, int] = SIZE) -> Image:
    """A disc that travels over a shaded ground; the frame's number stands in the top rows, six bits from the left."""
    width, height = size
    image = np.dstack([np.tile(np.linspace(60, 150, width, dtype=np.uint8), (height, 1))] * 3).copy()
    at = (int(width * (0.1 + 0.8 * frame / FRAMES)), int(height * (0.6 - 0.25 * np.sin(frame / 10))))
    cv2.rectangle(image, (0, int(height * 0.75)), (width, height), (92, 74, 60), -1)
    cv2.circle(image, at, height // 8, (214, 96, 60), -1)
    for bit in range(6):
        left, right = bit * width // 6, (bit + 1) * width // 6
        image[: height // 10, left:right] = 255 if frame >> bit & 1 else 0
    return image


def make_video(frames: int = FRAMES) -> bytes:
    """An H.264 video of the pictures."""
    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=FPS, options={"g": "8", "crf": "28"})
        stream.width, stream.height = SIZE
        stream.pix_fmt = "yuv420p"
        for number in range(frames):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture(number), format="rgb24")))
        container.mux(stream.encode())
    return file.getvalue()


def thumbnail(frame: int) -> bytes:
    """A frame as a small JPEG, below a band as high as that of real pictures."""
    image = cv2.cvtColor(picture(frame, (160, 100)), cv2.COLOR_RGB2BGR)
    image = cv2.copyMakeBorder(image, 12, 0, 0, 0, cv2.BORDER_CONSTANT)
    return cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 80])[1].tobytes()


def make_clip(name: str, **changes: Any) -> Clip:
    """A clip of 64 frames at 16 frames a second: 4 seconds."""
    values: dict[str, Any] = {
        "id": name,
        "uri": f"clips/{name}.mp4",
        "sha256": "ab" * 32,
        "frame_count": FRAMES,
        "frame_times_s": tuple(number / FPS for number in range(FRAMES)),
        "duration_s": FRAMES / FPS,
        "fps": float(FPS),
        "width": SIZE[0],
        "height": SIZE[1],
        "instruction": "Put the orange disc on the shelf",
        "layout": Layout(),
    }
    return Clip(**{**values, **changes})


def make_event(name: str, dimension: str, kind: str, *spans: tuple[float, float], **changes: Any) -> Event:
    """An event with one piece of evidence at its first frame."""
    values: dict[str, Any] = {
        "severity": 3,
        "confidence": 0.8,
        "description": f"{kind} between {spans[0][0]} s and {spans[-1][1]} s",
        "evidence": (Evidence(text="It can be seen here.", frames=(int(spans[0][0] * FPS),), source="specialist"),),
    }
    return Event(id=name, dimension=dimension, type=kind, spans=tuple(Span(*s) for s in spans), **{**values, **changes})


def make_hypothesis(name: str, dimension: str, kind: str, *spans: tuple[float, float], **changes: Any) -> Hypothesis:
    """A hypothesis, rejected by default."""
    event = make_event(name, dimension, kind, *spans)
    values = {field: getattr(event, field) for field in Claim.model_fields}
    own = {"verdict": "rejected", "reason": "The frames do not show it.", "proposed_by": f"{dimension} specialist"}
    return Hypothesis(**{**values, **own, **changes})


def make_report(domain: Domain, clip: Clip, **changes: Any) -> Report:
    """A clean report: all dimensions examined, nothing found, no call made."""
    values: dict[str, Any] = {
        "clip": clip,
        "domain": domain.ref,
        "pipeline": "plain",
        "author": "robogaze 0.1.0",
        "coverage": coverage(*domain.dimensions),
        "events": (),
    }
    return Report(**{**values, **changes})


def make_provenance(stages: Sequence[tuple[str, str, Sequence[int]]], failed: Sequence[int] = ()) -> Provenance:
    """A ledger with a call for each (stage, subject, frames); the calls at the places in `failed` failed."""
    shown = sorted({frame for _, _, frames in stages for frame in frames})
    pictures = tuple(
        Picture(
            id=f"F{frame}",
            frames=(frame,),
            times_s=(frame / FPS,),
            views=("main",),
            width=640,
            height=400,
            sha256="cd" * 32,
        )
        for frame in shown
    )
    calls = tuple(
        Call(
            id=f"c{place + 1}",
            stage=stage,
            subject=subject,
            role="critic" if stage == "verify" else "vlm",
            model="openai:big-model",
            round=place // 3 + 1,
            attempt=1,
            pictures=tuple(f"F{frame}" for frame in frames),
            key="ef" * 32,
            outcome="failed" if place in failed else "answered",
            error="no answer within 60 s" if place in failed else None,
            prompt_tokens=None if place in failed else 5200 + 31 * place,
            cached_tokens=None if place in failed else 4096,
            completion_tokens=None if place in failed else 180 + 7 * place,
            latency_s=3.2 + 0.1 * place,
        )
        for place, (stage, subject, frames) in enumerate(stages)
    )
    return Provenance(
        versions={"robogaze": "0.1.0", "av": "18.1.0"},
        models={"vlm": {"model": "big-model", "temperature": 0.0, "frames": "uniform 16"}},
        media={"decoder": "pyav", "max_side_px": 640},
        pictures=pictures,
        calls=calls,
    )


def page(report: Report, video: str | None) -> ClipPage:
    """A page with every thumbnail that it wants."""
    return ClipPage(report, video, {frame: thumbnail(frame) for frame in frames_to_show(report)})


def render_html(pages: Sequence[ClipPage], unreadable: Sequence[Unreadable], domain: Domain, title: str) -> str:
    """The page of a few clips, which is one file."""
    ((_, text),) = run_files(pages, unreadable, domain, title)
    return text


def page_data(text: str, name: str) -> Any:
    """The content of an element of data of a page, by its id or its key."""
    found = re.search(rf'<script type="application/json" (?:id|data-key)="{name}">(.*?)</script>', text)
    assert found is not None
    return json.loads(found[1])


def page_words(text: str) -> str:
    """The visible text of a page without its data."""
    body = text.partition("<body>")[2].partition('<script type="application/json"')[0]
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())
