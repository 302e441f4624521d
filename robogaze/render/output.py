"""Writes the requests of a stage as text, as JSON and as a self-contained page."""

import base64
import json
from html import escape
from typing import Any

from robogaze.core.pictures import FrameImage
from robogaze.render.requests import RenderedRequest, RenderedStage

_STYLE = """
:root { color-scheme: light dark; --line: light-dark(#d8dce2, #3a404a); --soft: light-dark(#f5f6f8, #1c2027); }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 0 auto; padding: 24px;
  background: light-dark(#fff, #14171c); color: light-dark(#1a1d21, #e6e9ee); }
h1 { font-size: 1.4rem; }
h2 { font-size: 1.1rem; margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: 1rem; }
h3 { font-size: .85rem; font-weight: 600; margin: 1.2rem 0 .4rem; }
p.note { color: light-dark(#59616c, #9aa4b2); margin: 0; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--soft); border: 1px solid var(--line);
  border-radius: 6px; padding: 12px; margin: 0 0 12px; font: 13px/1.5 ui-monospace, monospace; }
.images { display: grid; grid-template-columns: repeat(auto-fill, minmax(240px, 1fr)); gap: 12px; margin-bottom: 12px; }
figure { margin: 0; } figcaption { font-size: .8rem; } img { max-width: 100%; border: 1px solid var(--line); }
.images img { width: 100%; } summary { cursor: pointer; font-size: .85rem; font-weight: 600; margin-bottom: .4rem; }
"""


def as_text(rendered: RenderedStage) -> str:
    """The requests as text. Each image is replaced by its caption (the text that is sent before the image) and, in
    brackets, its size.
    """
    return "\n\n".join([_text(number, request) for number, request in enumerate(rendered.requests, start=1)])


def _text(number: int, rendered: RenderedRequest) -> str:
    parts = [
        f"=== request {number}: {_title(rendered)} ===\n{_facts(rendered)}",
        f"--- system ---\n{rendered.request.system}",
        "--- user ---",
        *(_caption(part) if isinstance(part, FrameImage) else part for part in rendered.request.parts),
        f"--- schema ---\n{_schema(rendered)}",
    ]
    return "\n".join(parts)


def _title(rendered: RenderedRequest) -> str:
    return f"{rendered.request.stage}, {rendered.request.subject}"


def _facts(rendered: RenderedRequest) -> str:
    return f"role {rendered.query.role}, prompt {rendered.query.prompt} ({rendered.prompt_file})"


def _caption(image: FrameImage) -> str:
    return f"{image.label} [image, {image.picture.width} x {image.picture.height} px]"


def _schema(rendered: RenderedRequest) -> str:
    schema = rendered.request.schema
    return "no schema: the model may reason before it answers" if schema is None else json.dumps(schema, indent=1)


def as_json(rendered: RenderedStage) -> dict[str, Any]:
    """The requests as JSON values. Each image is replaced by its caption and its facts, without the pixels."""
    return {
        "schema_version": 1,
        "pipeline": rendered.pipeline,
        "stage": rendered.stage,
        "clip": rendered.clip,
        "run": rendered.run,
        "note": rendered.note,
        "made_up_answers": rendered.made_up,
        "requests": [_request_json(request) for request in rendered.requests],
    }


def _request_json(rendered: RenderedRequest) -> dict[str, Any]:
    request = rendered.request
    content = [
        {"image": part.picture.model_dump(mode="json"), "caption": part.label}
        if isinstance(part, FrameImage)
        else {"text": part}
        for part in request.parts
    ]
    return {
        "subject": request.subject,
        "role": rendered.query.role,
        "prompt": rendered.query.prompt,
        "prompt_file": rendered.prompt_file.as_posix(),
        "system": request.system,
        "content": content,
        "schema": request.schema,
        "decoding": request.decoding.model_dump(mode="json"),
    }


def as_page(rendered: RenderedStage) -> str:
    """The requests as one HTML page with the images, each embedded once."""
    title = escape(f"What the model gets: pipeline {rendered.pipeline}, stage {rendered.stage}, clip {rendered.clip}")
    shown: set[str] = set()
    sections = [_section(number, request, shown) for number, request in enumerate(rendered.requests, start=1)]
    source = "the simplest valid answers" if rendered.run is None else f"from {rendered.run}"
    note = f'<p class="note">Answers of earlier stages: {escape(source)}. {escape(rendered.note)}</p>'
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>\n'
        f"<body><h1>{title}</h1>{note}\n{''.join(sections)}</body></html>\n"
    )


def _section(number: int, rendered: RenderedRequest, shown: set[str]) -> str:
    """One request; images in `shown` are on the page already, and the other images are added to the page."""
    parts: list[str] = []
    figures: list[str] = []
    for part in (*rendered.request.parts, ""):
        if isinstance(part, FrameImage):
            figures.append(_figure(part, shown))
            continue
        if figures:
            parts.append(f'<div class="images">{"".join(figures)}</div>')
            figures = []
        if part:
            parts.append(f"<pre>{escape(part)}</pre>")
    return (
        f"<section><h2>Request {number}: {escape(_title(rendered))}</h2>"
        f'<p class="note">{escape(_facts(rendered))}</p>'
        f"<h3>System</h3><pre>{escape(rendered.request.system)}</pre><h3>User</h3>{''.join(parts)}"
        f"<details><summary>Schema of the answer</summary><pre>{escape(_schema(rendered))}</pre></details></section>\n"
    )


def _figure(image: FrameImage, shown: set[str]) -> str:
    caption, name = escape(image.label), image.picture.sha256
    if name in shown:
        return f'<figure><figcaption>{caption} (<a href="#{name}">shown above</a>)</figcaption></figure>'
    shown.add(name)
    data = base64.b64encode(image.jpeg).decode()
    size = f"{image.picture.width} x {image.picture.height} px"
    return (
        f'<figure id="{name}"><figcaption>{caption}</figcaption>'
        f'<img alt="{caption}, {size}" title="{size}" src="data:image/jpeg;base64,{data}"></figure>'
    )
