"""The backends, which give all models the same interface. No other code sends requests to a model.

`BACKENDS` maps the KIND of a model spec `KIND:NAME[@URL]` to a function that opens the backend. docs/models.md shows
how another package adds a backend.
"""

from collections.abc import Callable, Mapping

from robogaze.backends.base import Backend, ClipTiming, Completion, Decoding, Request
from robogaze.backends.config import ModelConfig, ModelsConfig
from robogaze.backends.middleware.cache import AnswerStore
from robogaze.backends.models import Model, Models
from robogaze.registry import Registry

OpenBackend = Callable[[ModelConfig, Mapping[str, str]], Backend]
"""Opens the backend of a model; the mapping is the environment, which holds API keys."""

BACKENDS: Registry[OpenBackend] = Registry(
    "backends",
    {
        "openai": "robogaze.backends.openai:open_backend",
        "transformers": "robogaze.backends.transformers:open_backend",
        "batch": "robogaze.backends.batch:open_backend",
        "scripted": "robogaze.backends.scripted:open_backend",
    },
)

__all__ = [
    "BACKENDS",
    "AnswerStore",
    "Backend",
    "ClipTiming",
    "Completion",
    "Decoding",
    "Model",
    "ModelConfig",
    "Models",
    "ModelsConfig",
    "OpenBackend",
    "Request",
]
