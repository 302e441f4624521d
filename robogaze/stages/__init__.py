"""The stages of a diagnosis, by name.

base       the base class of a stage                 robogaze/   the stages of RoboGaze
client     the requests to models          glide/      the stages of GLIDE
context    the data that stages pass on             baselines/  one request, or a vote over several
pipeline   the stages of a pipeline file   tools/      closer views that a stage can request
measure    rules over measured signals
track      located objects, followed through the clip
compose    hypotheses to events
"""

from typing import TYPE_CHECKING

from robogaze.registry import Registry

if TYPE_CHECKING:
    from robogaze.stages.base import Stage

STAGES: "Registry[type[Stage]]" = Registry(
    "stages",
    {
        "measure": "robogaze.stages.measure:Measure",
        "ground": "robogaze.stages.robogaze.ground:Ground",
        "track": "robogaze.stages.track:Track",
        "observe": "robogaze.stages.robogaze.observe:Observe",
        "scan": "robogaze.stages.glide.scan:Scan",
        "remember": "robogaze.stages.glide.remember:Remember",
        "segment": "robogaze.stages.robogaze.segment:SegmentStage",
        "route": "robogaze.stages.robogaze.route:RouteStage",
        "propose": "robogaze.stages.robogaze.propose:Propose",
        "direct": "robogaze.stages.baselines.direct:Direct",
        "vote": "robogaze.stages.baselines.vote:Vote",
        "verify": "robogaze.stages.robogaze.verify:Verify",
        "investigate": "robogaze.stages.glide.investigate:Investigate",
        "trace": "robogaze.stages.glide.trace:Trace",
        "compose": "robogaze.stages.compose:Compose",
    },
)
