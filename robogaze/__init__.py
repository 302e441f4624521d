"""RoboGaze finds the faults of a generated clip: what failed, when, why and how badly, with the frames that show it.

    import robogaze

    run = robogaze.score("clips/", model="openai:MODEL@URL", out="runs/step_14000")
    print(run.to_dataframe()[["clip_id", "verdict", "events"]])

Importing the package does no work; a name is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from robogaze.version import VERSION

if TYPE_CHECKING:
    from robogaze.agreement import AgreementConfig as AgreementConfig
    from robogaze.agreement.agree import agree as agree
    from robogaze.agreement.agree import agree_async as agree_async
    from robogaze.annotations import ReadOptions as ReadOptions
    from robogaze.comparison import ComparisonConfig as ComparisonConfig
    from robogaze.comparison.compare import compare as compare
    from robogaze.core.clip import Clip as Clip
    from robogaze.core.events import Event as Event
    from robogaze.core.report import Report as Report
    from robogaze.core.time import Span as Span
    from robogaze.domains import load_domain as load_domain
    from robogaze.evaluation.config import EvaluationConfig as EvaluationConfig
    from robogaze.evaluation.evaluate import evaluate as evaluate
    from robogaze.evaluation.evaluate import evaluate_async as evaluate_async
    from robogaze.interactive.play import play as play
    from robogaze.interactive.play_options import PlayOptions as PlayOptions
    from robogaze.ranking.rank import rank as rank
    from robogaze.reports import load_reports as load_reports
    from robogaze.run.bench import BenchResult as BenchResult
    from robogaze.run.bench import bench as bench
    from robogaze.run.bench import bench_async as bench_async
    from robogaze.run.monitor import Monitor as Monitor
    from robogaze.run.options import RunOptions as RunOptions
    from robogaze.run.score import RunResult as RunResult
    from robogaze.run.score import score as score
    from robogaze.run.score import score_async as score_async

_MODULES = {
    "AgreementConfig": "robogaze.agreement",
    "BenchResult": "robogaze.run.bench",
    "Clip": "robogaze.core.clip",
    "ComparisonConfig": "robogaze.comparison",
    "EvaluationConfig": "robogaze.evaluation.config",
    "Event": "robogaze.core.events",
    "Monitor": "robogaze.run.monitor",
    "PlayOptions": "robogaze.interactive.play_options",
    "ReadOptions": "robogaze.annotations",
    "Report": "robogaze.core.report",
    "RunOptions": "robogaze.run.options",
    "RunResult": "robogaze.run.score",
    "Span": "robogaze.core.time",
    "agree": "robogaze.agreement.agree",
    "agree_async": "robogaze.agreement.agree",
    "bench": "robogaze.run.bench",
    "bench_async": "robogaze.run.bench",
    "compare": "robogaze.comparison.compare",
    "evaluate": "robogaze.evaluation.evaluate",
    "evaluate_async": "robogaze.evaluation.evaluate",
    "load_domain": "robogaze.domains",
    "load_reports": "robogaze.reports",
    "play": "robogaze.interactive.play",
    "rank": "robogaze.ranking.rank",
    "score": "robogaze.run.score",
    "score_async": "robogaze.run.score",
}

__version__ = VERSION
__all__ = [*sorted(_MODULES), "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'robogaze' has no attribute {name!r}; it has: {', '.join(__all__)}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__
