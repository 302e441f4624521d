"""route: the dimensions to examine each segment for, in one request."""

from typing import Any

from making import scripted

from robogaze.core.context import Route
from robogaze.stages.robogaze.route import RouteStage


async def test_the_router_answers_for_every_segment(client_for: Any) -> None:
    said = {"candidate_dimensions": ["visual_quality"], "rationale": "soft edges"}
    models, backend = scripted({"reply": {"routes": {}}}, {"reply": {"routes": {"S1": said}}})
    client, context = client_for(models)
    context = await RouteStage().run(context, client)
    assert context.routes == (Route(segment="S1", dimensions=("visual_quality",), rationale="soft edges"),)
    assert context.segments[0].span == context.clip.span
    assert "routes.S1: Field required" in backend.asked[1].parts[-1]
