"""RoboGaze says what failed, when, why and how badly in a generated clip, with the frames that show it.

Importing the package does no work; a name is loaded when it is first used.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robogaze.backends import Models as Models
    from robogaze.core.clip import Clip as Clip
    from robogaze.core.events import Event as Event
    from robogaze.core.report import Report as Report
    from robogaze.core.time import Span as Span
    from robogaze.diagnose import diagnose as diagnose
    from robogaze.domains import Domain as Domain
    from robogaze.domains import load_domain as load_domain
    from robogaze.stages.pipeline import Pipeline as Pipeline

_HOMES = {
    "Clip": "robogaze.core.clip",
    "Domain": "robogaze.domains",
    "Event": "robogaze.core.events",
    "Models": "robogaze.backends",
    "Pipeline": "robogaze.stages.pipeline",
    "Report": "robogaze.core.report",
    "Span": "robogaze.core.time",
    "diagnose": "robogaze.diagnose",
    "load_domain": "robogaze.domains",
}

__version__ = version("robogaze")
__all__ = [*sorted(_HOMES), "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'robogaze' has no attribute {name!r}; it has: {', '.join(__all__)}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
