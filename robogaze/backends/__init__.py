"""The only code that talks to a model."""

from robogaze.backends.base import Backend, ClipTiming, Completion, Decoding, Request
from robogaze.backends.config import Model, ModelConfig, Models, ModelsConfig
from robogaze.backends.middleware.cache import AnswerStore

__all__ = [
    "AnswerStore",
    "Backend",
    "ClipTiming",
    "Completion",
    "Decoding",
    "Model",
    "ModelConfig",
    "Models",
    "ModelsConfig",
    "Request",
]
