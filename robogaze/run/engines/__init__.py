"""Engines: where the clips of a run are diagnosed.

An engine gets clips and yields their results, in any order; it knows nothing of the run folder. A new one is a module
with a class that takes an `EngineContext` (see `robogaze.run.engines.base`), and a line here or an entry point
`robogaze.run.engines`.
"""

from robogaze.registry import Registry
from robogaze.run.engines.base import EngineFactory

ENGINES: Registry[EngineFactory] = Registry(
    "engines",
    {
        "local": "robogaze.run.engines.local:Local",
        "ray": "robogaze.run.engines.ray:Ray",
    },
)
