"""observe: what happens in each window, in as few requests as the pictures allow."""

from typing import Any

import pytest
from making import make_clip, scripted

from robogaze.backends import ModelConfig
from robogaze.core.sampling import Regime, windows
from robogaze.stages.client import NoAnswer
from robogaze.stages.robogaze.observe import Observe, group_windows

NOTES = {
    "observed_actions": ["reaches"], "object_state_changes": [], "robot_state_changes": [], "task_progress": "early",
    "candidate_anomalies": [], "normal_occlusion_or_ambiguity": [], "uncertainty_cues": [],
}  # fmt: skip


def windows_reply(first: int, last: int) -> dict[str, Any]:
    reply = {"windows": {f"W{number}": NOTES for number in range(first, last + 1)}}
    return {"when": {"subject": f"windows W{first} to W{last}"}, "reply": reply}


async def test_a_request_has_no_more_frames_than_the_model_accepts(client_for: Any) -> None:
    replies = windows_reply(0, 2), windows_reply(3, 5), windows_reply(6, 6)
    config = ModelConfig(kind="scripted", frames="4 fps", max_pictures=16)
    models, backend = scripted(*replies, config=config)
    client, context = client_for(models, make_clip(8.0))
    await Observe(frames_per_request=32).run(context, client)
    assert [len(request.images) for request in backend.asked] == [16, 16, 8]


async def test_windows_share_requests_and_frames_are_sent_once(client_for: Any) -> None:
    #   8 s at 4 fps: 32 frames; windows 0-2, 1-3, ... 6-8 s of 8 frames, half of them shared with the next
    models, backend = scripted(windows_reply(0, 2), windows_reply(3, 5), windows_reply(6, 6))
    client, context = client_for(models, make_clip(8.0))
    context = await Observe(frames_per_request=16).run(context, client)
    assert [observation.window.id for observation in context.observations] == [0, 1, 2, 3, 4, 5, 6]
    assert [len(request.images) for request in backend.asked] == [16, 16, 8]
    assert client.usage().rounds == 1
    shown = {frame for request in backend.asked for shot in request.images for frame in shot.picture.frames}
    assert shown == set(range(0, 128, 4))


async def test_an_omitted_window_is_requested_again(client_for: Any) -> None:
    short = {"reply": {"windows": {"W0": NOTES, "W2": NOTES}}}
    models, backend = scripted(short, windows_reply(0, 2))
    client, context = client_for(models)
    context = await Observe().run(context, client)
    assert "windows.W1: Field required" in backend.asked[1].parts[-1]
    assert len(context.observations) == 3


async def test_one_group_without_an_answer_ends_the_stage(client_for: Any) -> None:
    models, _ = scripted(windows_reply(0, 0))
    client, context = client_for(models)
    with pytest.raises(NoAnswer):
        await Observe(frames_per_request=8).run(context, client)


def test_a_window_larger_than_a_request_still_gets_one() -> None:
    clip = make_clip(4.0)
    found = windows(clip.frame_times_s, clip.duration_s, 2.0, 1.0, Regime.parse("every frame"))
    assert [len(group) for group in group_windows(found, frames_per_request=10)] == [1, 1, 1]
