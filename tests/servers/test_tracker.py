"""SAM 3 through transformers, with random weights: the way from a box to a track is the real one, its masks are not."""

import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from evidence.tracker.moving import HEIGHT, WIDTH, Scene
from making import make_clip, scripted

from robogaze.backends import Models, ModelsConfig
from robogaze.backends.sam3 import Sam3
from robogaze.core.context import Window
from robogaze.core.pictures import PictureSettings
from robogaze.core.time import Span
from robogaze.domains import Domain
from robogaze.errors import InputError
from robogaze.evidence.tracker.mask_tracking import ByMask
from robogaze.evidence.tracker.tracking import TrackedObject, follow
from robogaze.media import DecodedClip
from robogaze.stages.client import ModelClient
from robogaze.stages.context import Context
from robogaze.stages.tools import TOOLS

pytestmark = pytest.mark.server

HERE = Path(__file__).parent
SCENE = Scene(lambda t: (100 + 150 * t, 180), seconds=1.0)
START = 4


def built(folder: Path, *options: str) -> Path:
    command = [sys.executable, str(HERE / "build_tiny_sam3.py"), str(folder), *options]
    subprocess.run(command, check=True, env={**os.environ, "HF_HUB_OFFLINE": "1"}, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the tiny model."""
    return built(tmp_path_factory.mktemp("sam3") / "model")


@pytest.fixture(scope="module")
def sam3(weights: Path) -> Sam3:
    return Sam3(str(weights))


def tracked(sam3: Sam3) -> TrackedObject:
    frames = SCENE.frames()
    return follow(lambda place: frames[place], len(frames), START, SCENE.box(START), partial(ByMask, sam3.masks))


async def test_a_box_becomes_a_place_in_every_frame(sam3: Sam3) -> None:
    await sam3.ready()
    track = tracked(sam3)
    assert len(track.places) == len(SCENE.times_s)
    for place in track.places:
        assert place is not None
        assert place.box.left <= place.middle[0] <= place.box.right
        assert place.box.top <= place.middle[1] <= place.box.bottom
    assert track.camera.shape == (len(track.places) - 1, 2)
    assert np.isfinite(track.camera).any(), "where the masks leave enough of the background it is measured"


def test_frames_in_which_it_sees_nothing_are_lost(tmp_path: Path) -> None:
    track = tracked(Sam3(str(built(tmp_path / "blind", "--blind"))))
    assert [number for number, place in enumerate(track.places) if place is not None] == [START]


def test_the_same_box_gives_the_same_track(sam3: Sam3) -> None:
    assert str(tracked(sam3).places) == str(tracked(sam3).places)


def test_what_it_saw_before_counts(sam3: Sam3) -> None:
    first, *others = SCENE.frames()
    alone, after = sam3.masks(SCENE.box()), sam3.masks(SCENE.box())
    after(first)
    masks = [following(others[-1]) for following in (alone, after)]
    assert not np.array_equal(*(np.zeros(0) if mask is None else mask for mask in masks))


async def test_weights_of_another_model_are_refused_and_not_made_up(tiny_model: Path, tmp_path: Path) -> None:
    for folder in (tiny_model, tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InputError, match="facebook/sam3"):
            await Sam3(str(folder)).ready()


async def test_weights_that_lack_some_are_refused(weights: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(weights, tmp_path / "part")
    tensors = load_file(folder / "model.safetensors")
    kept = {name: tensor for name, tensor in tensors.items() if "no_memory_embedding" not in name}
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match="no_memory_embedding"):
        await Sam3(str(folder)).ready()


async def test_a_models_file_names_it_and_the_tool_follows_with_it(robot: Domain, weights: Path) -> None:
    config = ModelsConfig.model_validate(
        {
            "models": {"eyes": {"kind": "openai", "name": "m", "url": "http://127.0.0.1:9/v1"}},
            "roles": {"vlm": "eyes"},
            "tracker": {"sam3": str(weights)},
        }
    )
    opened = Models.open(config, None, {})
    assert opened.tracker is not None
    box = SCENE.box(START)
    located = {"seen": "a ball", "box": [1000 * side for side in (box.left, box.top, box.right, box.bottom)]}
    models, _ = scripted({"reply": located})
    models.tracker = opened.tracker
    clip = make_clip(len(SCENE.times_s) / 16, width=WIDTH, height=HEIGHT)
    footage = DecodedClip(clip.layout, PictureSettings())
    for time_s, frame in zip(clip.frame_times_s, SCENE.frames(), strict=True):
        footage.add_frame(time_s, (frame,))
    footage.duration_s = clip.duration_s
    client, tool = ModelClient(robot, clip, footage, models), TOOLS.load("object_tracking")()
    window = Window(id=0, span=Span(0.0, clip.duration_s), frames=(0, START, 8, 12))
    said: dict[str, Any] = {"tool": "object_tracking", "object_description": "the ball", "frame": START, "view": "main"}
    use = tool.contract(window, clip).model_validate(said)
    context = Context(clip=clip, dimensions=())
    answer = await client.ask(tool.query(use, window, context, client, "investigate", "W0"), context)
    finding = await tool.finding(use, answer, window, client)
    footage.close()
    assert "found in 16 of 16 frames" in finding.text
    start = tracked(opened.tracker).places[START]
    assert start is not None
    assert ", ".join(str(round(1000 * side)) for side in start.box.model_dump().values()) in finding.text
