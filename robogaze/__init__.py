"""RoboGaze says what failed, when, why and how badly in a generated clip, with the frames that show it.

    import robogaze

    run = robogaze.score("clips/", model="openai:MODEL@URL", out="runs/step_14000")
    print(run.to_dataframe()[["clip", "verdict", "events"]])

Importing the package does no work; a name is loaded when it is first used.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robogaze.core.clip import Clip as Clip
    from robogaze.core.events import Event as Event
    from robogaze.core.report import Report as Report
    from robogaze.core.time import Span as Span
    from robogaze.domains import load_domain as load_domain
    from robogaze.run.options import RunOptions as RunOptions
    from robogaze.run.score import score as score
    from robogaze.run.score import score_async as score_async

_MODULES = {
    "Clip": "robogaze.core.clip",
    "Event": "robogaze.core.events",
    "Report": "robogaze.core.report",
    "RunOptions": "robogaze.run.options",
    "Span": "robogaze.core.time",
    "load_domain": "robogaze.domains",
    "score": "robogaze.run.score",
    "score_async": "robogaze.run.score",
}

__version__ = version("robogaze")
__all__ = [*sorted(_MODULES), "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'robogaze' has no attribute {name!r}; it has: {', '.join(__all__)}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__
