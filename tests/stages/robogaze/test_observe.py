"""observe: what happens in each window, in as few requests as the length and the pictures allow."""

from typing import Any

import pytest
from making import make_clip, scripted

from robogaze.backends import ModelConfig
from robogaze.core.sampling import Regime, windows
from robogaze.core.time import Span
from robogaze.domains import Domain
from robogaze.stages.client import NoAnswer
from robogaze.stages.robogaze.observe import Observe, WindowAnswer, group_windows

NOTES: dict[str, Any] = {
    "actions": [], "suspicions": [], "object_state_changes": [], "robot_state_changes": [], "task_progress": "early",
    "normal_occlusion_or_ambiguity": [], "uncertainty_cues": [],
}  # fmt: skip
PAPER: dict[str, Any] = {"window_s": 2.0, "stride_s": 1.0, "request_s": 8.0, "sheets": False}


def windows_reply(first: int, last: int, **fields: Any) -> dict[str, Any]:
    reply = {"windows": {f"W{number}": {**NOTES, **fields} for number in range(first, last + 1)}}
    return {"when": {"subject": f"windows W{first} to W{last}"}, "reply": reply}


def happening(start_s: float, end_s: float, what: str = "the hand closes") -> dict[str, Any]:
    return {"start_s": start_s, "end_s": end_s, "what": what}


async def observed(client_for: Any, *lines: dict[str, Any], seconds: float = 4.0, **parameters: Any) -> Any:
    config = ModelConfig(kind="scripted", frames="4 fps", max_pictures=parameters.pop("max_pictures", 64))
    models, backend = scripted(*lines, config=config)
    client, context = client_for(models, make_clip(seconds))
    return await Observe(**parameters).run(context, client), backend, client


@pytest.mark.parametrize(
    ("seconds", "spans"),
    [
        (3.0, [(0, 3)]),
        (8.0, [(0, 4), (4, 8)]),
        (8.75, [(0, 4), (4, 8.75)]),
        (9.0, [(0, 4), (4, 8), (8, 9)]),
    ],
)
async def test_windows_of_4_s_do_not_overlap_and_a_short_tail_joins_the_one_before(
    client_for: Any, seconds: float, spans: list[tuple[float, float]]
) -> None:
    context, _, _ = await observed(client_for, windows_reply(0, len(spans) - 1), seconds=seconds)
    assert [observation.window.span for observation in context.observations] == [Span(*span) for span in spans]


async def test_a_request_reads_17_s_on_sheets_of_nine_beside_the_first_frame(client_for: Any) -> None:
    _, backend, client = await observed(client_for, windows_reply(0, 4), seconds=17.0)
    assert client.usage().calls == 1
    first, *sheets = backend.asked[0].images
    assert first.picture.frames == (0,)
    assert [len(sheet.picture.frames) for sheet in sheets] == [9] * 7 + [5]
    assert [frame for sheet in sheets for frame in sheet.picture.frames] == list(range(0, 272, 4))


async def test_a_longer_clip_takes_more_requests_in_one_round(client_for: Any) -> None:
    lines = windows_reply(0, 4), windows_reply(5, 9), windows_reply(10, 11)
    context, _, client = await observed(client_for, *lines, seconds=48.0)
    assert (client.usage().calls, client.usage().rounds) == (3, 1)
    assert len(context.observations) == 12


async def test_a_request_has_no_more_pictures_than_the_model_accepts(client_for: Any) -> None:
    lines = windows_reply(0, 0), windows_reply(1, 1)
    _, backend, _ = await observed(client_for, *lines, seconds=8.0, max_pictures=3)
    assert [len(request.images) for request in backend.asked] == [3, 3]


async def test_actions_have_times_and_suspicions_are_kept_apart(client_for: Any) -> None:
    line = windows_reply(0, 0, actions=[happening(1.0, 2.5)], suspicions=[happening(3.0, 3.0, "the cup jumps")])
    context, _, _ = await observed(client_for, line)
    (found,) = context.observations
    assert found.notes["actions"] == [happening(1.0, 2.5)]
    assert "suspicions" not in found.notes
    assert found.suspicions == ("3.00 to 3.00 s: the cup jumps",)
    assert found.busy == (Span(0.5, 1.5), Span(2.0, 3.25)), "around the start and the end of an action, and a suspicion"


async def test_an_action_that_only_continues_is_not_busy(client_for: Any) -> None:
    context, _, _ = await observed(client_for, windows_reply(0, 0, actions=[happening(0.0, 4.0)]))
    assert context.observations[0].busy == ()


@pytest.mark.parametrize("bad", [happening(2.0, 1.0), happening(0.0, 5.0), happening(-1.0, 1.0), happening(0, 1, "")])
async def test_an_action_with_an_impossible_time_is_sent_back(client_for: Any, bad: dict[str, Any]) -> None:
    _, _, client = await observed(client_for, windows_reply(0, 0, actions=[bad]), windows_reply(0, 0))
    assert [call.outcome for call in client.ledger()] == ["invalid", "answered"]


async def test_overlapping_windows_share_requests_and_frames_are_sent_once(client_for: Any) -> None:
    #   12 s at 4 fps; windows 0-2, 1-3, ... 10-12 s, half of whose frames are shared with the next
    lines = windows_reply(0, 6), windows_reply(7, 10)
    context, backend, client = await observed(client_for, *lines, seconds=12.0, **PAPER)
    assert [observation.window.id for observation in context.observations] == list(range(11))
    assert [len(request.images) for request in backend.asked] == [32, 20]
    assert client.usage().rounds == 1
    assert "Neighbouring windows overlap" in str(backend.asked[0].parts[-1])
    shown = {frame for request in backend.asked for image in request.images for frame in image.picture.frames}
    assert shown == set(range(0, 192, 4))


async def test_an_omitted_window_is_requested_again(client_for: Any) -> None:
    short = {"reply": {"windows": {"W0": NOTES, "W2": NOTES}}}
    context, backend, _ = await observed(client_for, short, windows_reply(0, 2), seconds=12.0)
    assert "windows.W1: Field required" in backend.asked[1].parts[-1]
    assert len(context.observations) == 3


async def test_one_group_without_an_answer_ends_the_stage(client_for: Any) -> None:
    with pytest.raises(NoAnswer):
        await observed(client_for, windows_reply(0, 0), seconds=8.0, request_s=4.0)


def test_a_window_longer_than_a_request_still_gets_one() -> None:
    clip = make_clip(4.0)
    found = windows(clip.frame_times_s, clip.duration_s, 2.0, 1.0, Regime.parse("every frame"))
    assert [len(group) for group in group_windows(found, longest_s=99, most_frames=10)] == [1, 1, 1]
    assert [len(group) for group in group_windows(found, longest_s=1, most_frames=99)] == [1, 1, 1]


def test_a_prompt_cannot_declare_what_is_always_asked_for(robot: Domain, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(WindowAnswer.model_fields) == ["actions", "suspicions"]
    monkeypatch.setattr(type(robot.prompts), "contract", lambda prompts, name: {"actions": ["phrase"]})
    with pytest.raises(ValueError, match=r"observe\.md\.j2 declares actions, which every observation already has"):
        Observe().check(robot)


def test_a_stride_that_leaves_gaps_is_refused(robot: Domain) -> None:
    with pytest.raises(ValueError, match="stride_s is longer than window_s"):
        Observe(window_s=2, stride_s=3).check(robot)
