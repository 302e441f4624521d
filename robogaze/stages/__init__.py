"""The steps of a diagnosis, and the pipelines they form."""

from robogaze.stages.base import Stage
from robogaze.stages.client import ModelClient, NoAnswer, Query
from robogaze.stages.context import Context
from robogaze.stages.pipeline import STAGES, Pipeline

__all__ = ["STAGES", "Context", "ModelClient", "NoAnswer", "Pipeline", "Query", "Stage"]
