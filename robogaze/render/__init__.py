"""What a model gets from a stage: the requests, as text, JSON or a page, without a model.

requests   runs a pipeline up to a stage and collects the stage's requests
output     writes them
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
