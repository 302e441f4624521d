import numpy as np
import pytest

from robogaze.evidence.signals.blocks import Blocks

from ..measuring import measured_by
from ..planted import coarse, garbled
from ..procedural import Take, encoded, film


def test_garbled_blocks_show_in_their_frames_only() -> None:
    images = encoded(garbled(film(5, Take(frames=20)), 8, 12, 0.08))
    steps = measured_by(Blocks, images).series["block_steps"]
    assert steps[8:12].min() > 0.012
    assert np.delete(steps, np.arange(8, 12)).max() < 0.008


def test_blocks_lost_in_one_part_are_boxed_there() -> None:
    images = film(5, Take(frames=6))
    lower_right = (slice(240, 400), slice(400, 640))
    images[3] = images[3].copy()
    images[3][lower_right] = garbled([images[3][lower_right]], 0, 1, 0.5)[0]
    box = measured_by(Blocks, images).boxes["block_steps"][3]
    assert box.left > 0.5
    assert box.top > 0.5


def test_a_coarse_picture_shows_its_grid_wherever_the_grid_begins() -> None:
    images = film(7, Take(frames=10))
    for offset in (0, 3):
        shifted = [np.ascontiguousarray(image[offset:, offset:]) for image in coarse(images, 3, 4, 0.5)]
        series = measured_by(Blocks, shifted).series
        assert series["grid_strength"][3] > 1.3
        assert np.delete(series["grid_strength"], 3) == pytest.approx(1.0, abs=0.1)


def test_heavy_compression_alone_gives_no_steps() -> None:
    images = encoded(film(9, Take(frames=20, noise=2)), crf=32)
    assert measured_by(Blocks, images).series["block_steps"].max() < 0.008


def test_straight_edges_of_the_scene_are_not_blocks() -> None:
    images = []
    for frame in range(10):
        image = np.full((200, 320, 3), 60, np.uint8)
        image[40:120, 40 + 8 * frame : 160 + 8 * frame] = 200
        images.append(image)
    assert measured_by(Blocks, images).series["block_steps"].max() < 0.012


def test_a_clip_too_short_to_have_a_usual_frame_tells_nothing() -> None:
    images = garbled(film(5, Take(frames=4)), 0, 4, 0.2)
    assert np.isnan(measured_by(Blocks, images).series["block_steps"]).all()
