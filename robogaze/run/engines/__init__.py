"""Engines decide in which processes the clips of a run are diagnosed.

An engine gets clips and yields their results in any order; it does not use the run folder. To add an engine, write a
module with a class that takes an `EngineContext` (see `robogaze.run.engines.base`), and add a line here or an entry
point in the group `robogaze.engines`.
"""

from collections.abc import Callable

from robogaze.registry import Registry
from robogaze.run.engines.base import Engine, EngineContext

ENGINES: Registry[Callable[[EngineContext], Engine]] = Registry(
    "engines",
    {
        "local": "robogaze.run.engines.local:Local",
        "ray": "robogaze.run.engines.ray:Ray",
    },
)
