"""Shows the requests that a stage sends to a model, as text, JSON or a page. No model is asked.

requests   runs a pipeline up to a stage and collects the requests of that stage
output     writes the requests
"""

from robogaze.render.output import as_json, as_page, as_text
from robogaze.render.requests import RenderedRequest, RenderedStage, clip_of_run, render_clip, render_noise

__all__ = [
    "RenderedRequest",
    "RenderedStage",
    "as_json",
    "as_page",
    "as_text",
    "clip_of_run",
    "render_clip",
    "render_noise",
]
