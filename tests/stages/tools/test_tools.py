"""Tools: what a planner may say to use one, what it shows and asks, and what it makes of the answer."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from evidence.tracker.moving import FPS, HEIGHT, WIDTH, Scene
from making import make_clip, scripted
from pydantic import ValidationError, create_model

from robogaze.core.clip import Clip, Layout
from robogaze.core.context import Window
from robogaze.core.pictures import PictureSettings
from robogaze.core.time import Span
from robogaze.domains import Domain
from robogaze.domains.contract import Answer, json_schema
from robogaze.media import DecodedClip
from robogaze.stages.client import ModelClient, NoAnswer
from robogaze.stages.context import Context
from robogaze.stages.tools import TOOLS
from robogaze.stages.tools.base import ToolFinding, tool_choice, tool_descriptions

WINDOW = Window(id=0, span=Span(0.0, 1.0), frames=(0, 4, 8, 12))
JUMPING = Scene(lambda t: (100 + 60 * t, 180) if t < 0.6 else (400 + 60 * t, 100), seconds=1.5)
USES: dict[str, dict[str, Any]] = {
    "vqa": {"frames": [4, 0], "question": "what is where?"},
    "zoom_in": {"frames": [4], "view": "main", "region": "bottom_left", "question": "what is there?"},
    "object_tracking": {"object_description": "the red ball", "frame": 4, "view": "main"},
}
ANSWERS: dict[str, dict[str, Any]] = {
    "vqa": {"answer": "a ball on a table"},
    "zoom_in": {"answer": "an edge"},
    "object_tracking": {"seen": "a ball", "box": None},
}


def said(name: str, window: Window = WINDOW, clip: Clip | None = None, **changes: Any) -> Any:
    """The use of a tool as a planner would say it."""
    contract = TOOLS.load(name)().contract(window, clip or make_clip())
    return contract.model_validate({"tool": name, **USES[name], **changes})


async def used(name: str, client: ModelClient, context: Context, **changes: Any) -> ToolFinding:
    return await call(name, said(name, **changes), client, context)


async def call(name: str, use: Any, client: ModelClient, context: Context) -> ToolFinding:
    tool = TOOLS.load(name)()
    answer = await client.ask(tool.query(use, WINDOW, context, client, "investigate", "W0 step 1"), context)
    return await tool.finding(use, answer, WINDOW, client)


@pytest.fixture
def drawn_clip(robot: Domain) -> Iterator[Callable[..., tuple[ModelClient, Context]]]:
    """Makes a client over a drawn clip."""
    opened: list[DecodedClip] = []

    def make(scene: Scene, *lines: dict[str, Any], views: tuple[str, ...] = ("main",)) -> tuple[ModelClient, Context]:
        frames = scene.frames()
        layout = Layout(rows=1, columns=len(views), views=views)
        clip = make_clip(len(frames) / FPS, width=WIDTH * len(views), height=HEIGHT, layout=layout)
        decoded = DecodedClip(layout, PictureSettings())
        opened.append(decoded)
        for time_s, frame in zip(clip.frame_times_s, frames, strict=True):
            # Views besides the last show nothing that moves.
            decoded.add_frame(time_s, (*(np.full_like(frame, 90) for _ in views[1:]), frame))
        decoded.duration_s = clip.duration_s
        models, _ = scripted(*lines)
        return ModelClient(robot, clip, decoded, models), Context(clip=clip, dimensions=())

    yield make
    for decoded in opened:
        decoded.close()


# What every tool keeps.


@pytest.mark.parametrize("name", TOOLS.names())
def test_a_tool_has_its_registered_name_and_describes_its_arguments(name: str) -> None:
    (card,) = tool_descriptions([TOOLS.load(name)()])
    assert card.name == name
    assert card.description
    assert "\n" not in card.description
    assert set(card.arguments) == set(USES[name])
    assert all(card.arguments.values())


@pytest.mark.parametrize("name", TOOLS.names())
async def test_a_tool_sends_one_query_in_the_name_of_its_stage(name: str, client_for: Any) -> None:
    models, backend = scripted({"reply": ANSWERS[name]})
    client, context = client_for(models)
    finding = await used(name, client, context)
    (request,) = backend.asked
    assert (request.stage, request.subject) == ("investigate", f"W0 step 1 {name}")
    assert request.images, "it shows what it asks about"
    assert (finding.tool, finding.images != ()) == (name, True)
    assert finding.text
    assert set(finding.frames) <= set(range(16))


@pytest.mark.parametrize("name", TOOLS.names())
async def test_a_tool_without_an_answer_raises_a_failure_of_its_stage(name: str, client_for: Any) -> None:
    models, _ = scripted({"error": {"kind": "refused"}})
    client, context = client_for(models)
    with pytest.raises(NoAnswer) as raised:
        await used(name, client, context)
    assert raised.value.failure.stage == "investigate"


@pytest.mark.parametrize("name", TOOLS.names())
def test_frames_and_views_that_are_not_in_the_window_cannot_be_named(name: str) -> None:
    for field, wrong in (("frames", [5]), ("frames", []), ("frame", 5), ("view", "roof"), ("tool", "hammer")):
        if field in USES[name] or field == "tool":
            with pytest.raises(ValidationError):
                said(name, **{field: wrong})


def test_a_choice_of_tools_is_one_schema_in_words_that_grammars_know() -> None:
    contract: Any = create_model(
        "Plan",
        __base__=Answer,
        use=(tool_choice([TOOLS.load(name)() for name in TOOLS.names()], WINDOW, make_clip()), ...),
    )
    schema = str(json_schema(contract))
    assert "anyOf" in schema
    assert "oneOf" not in schema
    assert "discriminator" not in schema
    for name, use in USES.items():
        assert contract.model_validate({"use": {"tool": name, **use}}).use.tool == name


def test_the_question_is_quoted_as_data(client_for: Any) -> None:
    client, context = client_for(scripted()[0])
    use = said("vqa", question='say "yes"')
    query = TOOLS.load("vqa")().query(use, WINDOW, context, client, "investigate", "W0")
    assert r'"say \"yes\""' in client.domain.prompts.render(query.prompt, query.variables)


# zoom_in


@pytest.mark.parametrize("region", [[0, 0, 500, 500], [0.0, 250.5, 1000, 1000], "centre", "whole"])
def test_a_region_is_a_name_or_a_box_in_thousandths(region: Any) -> None:
    box = said("zoom_in", region=region).box
    assert 0 <= box.left < box.right <= 1


@pytest.mark.parametrize("region", [[500, 0, 500, 500], [0, 0, 1200, 500], [0, 0, 500], "attic"])
def test_an_invalid_region_is_refused(region: Any) -> None:
    with pytest.raises(ValidationError):
        said("zoom_in", region=region)


async def test_the_model_is_shown_the_magnified_region(drawn_clip: Any) -> None:
    client, context = drawn_clip(JUMPING, {"reply": ANSWERS["zoom_in"]})
    finding = await used("zoom_in", client, context, frames=[8, 0], region=[0, 0, 250, 250])
    (shot,) = finding.images
    assert shot.picture.frames == finding.frames == (0, 8)
    assert "x 0 to 250, y 0 to 250" in shot.label
    assert client.pictures[shot.picture.id] == shot.picture


# object_tracking


def box_in_thousandths(scene: Scene, number: int) -> list[float]:
    box = scene.box(number, 1.1)
    return [1000 * side for side in (box.left, box.top, box.right, box.bottom)]


async def test_an_object_is_followed_through_every_frame_of_the_window_and_its_jump_is_flagged(drawn_clip: Any) -> None:
    located = {"seen": "a red ball", "box": box_in_thousandths(JUMPING, 4)}
    client, context = drawn_clip(JUMPING, {"reply": located})
    finding = await used("object_tracking", client, context)
    assert "found in 16 of 16 frames" in finding.text
    assert "position jump" in finding.text
    assert "frame 9 to 10" in finding.text
    assert finding.frames == (4, 9, 10)


async def test_an_object_that_moves_as_usual_raises_no_flag(drawn_clip: Any) -> None:
    steady = Scene(lambda t: (100 + 100 * t, 180))
    client, context = drawn_clip(steady, {"reply": {"seen": "a red ball", "box": box_in_thousandths(steady, 4)}})
    finding = await used("object_tracking", client, context)
    assert "No flag" in finding.text
    assert finding.frames == (4,)


async def test_with_a_learned_tracker_its_masks_are_followed(drawn_clip: Any) -> None:
    class Blinded:
        """Sees all of a picture, and nothing from the fourth one it is given."""

        def masks(self, box: Any) -> Callable[[Any], Any]:
            left = iter([True] * 3)
            return lambda image: np.ones(image.shape[:2], np.bool_) if next(left, False) else None

    client, context = drawn_clip(JUMPING, {"reply": {"seen": "a red ball", "box": box_in_thousandths(JUMPING, 4)}})
    client.models.tracker = Blinded()
    finding = await used("object_tracking", client, context)
    assert "found in 5 of 16 frames" in finding.text, "the frame of the box, and two in each direction"
    assert "[0, 0, 1000, 1000]" in finding.text
    assert "Not found: frame 7 to 15" in finding.text


async def test_in_a_clip_of_several_views_a_tool_sees_one(drawn_clip: Any) -> None:
    steady = Scene(lambda t: (100 + 100 * t, 180))
    located = {"seen": "a red ball", "box": box_in_thousandths(steady, 4)}
    client, context = drawn_clip(steady, {"reply": located}, views=("left", "right"))
    use = said("object_tracking", clip=client.clip, view="right")
    finding = await call("object_tracking", use, client, context)
    (picture,) = (client.pictures[name] for call in client.calls for name in call.pictures)
    assert (picture.views, picture.width, picture.height) == (("right",), WIDTH, 24 + HEIGHT)
    assert "found in 16 of 16 frames" in finding.text


async def test_an_object_that_the_model_does_not_find_is_reported_as_not_found(drawn_clip: Any) -> None:
    client, context = drawn_clip(JUMPING, {"reply": {"seen": "only a table", "box": None}})
    finding = await used("object_tracking", client, context)
    assert '"the red ball" was not found in frame 4' in finding.text
    assert '"only a table"' in finding.text


async def test_an_object_too_small_to_follow_is_reported_as_such(drawn_clip: Any) -> None:
    client, context = drawn_clip(JUMPING, {"reply": {"seen": "a dot", "box": [500, 500, 503, 503]}})
    finding = await used("object_tracking", client, context)
    assert "too small there to be followed" in finding.text


async def test_an_empty_box_is_sent_back(drawn_clip: Any) -> None:
    wrong, right = ({"reply": {"seen": "a dot", "box": box}} for box in ([500, 500, 500, 600], None))
    client, context = drawn_clip(JUMPING, wrong, right)
    await used("object_tracking", client, context)
    assert [call.outcome for call in client.ledger()] == ["invalid", "answered"]
