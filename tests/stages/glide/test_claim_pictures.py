"""The pictures that a claim is judged by."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from making import make_clip, make_footage, scripted

from robogaze.core.events import Box, Evidence, Hypothesis
from robogaze.core.pictures import PictureSettings
from robogaze.core.time import Span
from robogaze.domains import load_domain
from robogaze.media import DecodedClip
from robogaze.media.compose import decode_image
from robogaze.stages.client import ModelClient
from robogaze.stages.glide.claim_pictures import claim_pictures

SAMPLES = (*range(0, 128, 4), 127)


@pytest.fixture
def client() -> Iterator[ModelClient]:
    clip = make_clip(8.0)
    footage = make_footage(clip)
    yield ModelClient(load_domain("robot"), clip, footage, scripted()[0])
    footage.close()


def claim(start: float, end: float, *evidence: Evidence) -> Hypothesis:
    return Hypothesis(
        id="H1", dimension="visual_quality", type="blur", spans=(Span(start, end),), severity=None, confidence=None,
        description="soft", evidence=evidence, proposed_by="scan",
    )  # fmt: skip


def placed(box: Box) -> Evidence:
    return Evidence(text="soft", frames=(40,), view="main", box=box, source="scan")


def test_a_claim_is_shown_from_a_second_before_to_a_second_after_and_frame_by_frame_at_its_edges(
    client: ModelClient,
) -> None:
    around, start, end, middle = claim_pictures(claim(2.4, 2.9), SAMPLES, client).images
    assert around.picture.frames == (24, 28, 32, 36, 40, 44, 52, 56, 60), "nine of the samples from 1.4 to 3.9 s"
    assert start.picture.frames == (36, 37, 38, 39, 40)
    assert end.picture.frames == (44, 45, 46, 47, 48)
    assert middle.picture.frames == (44,)
    assert [image.label.partition(":")[0] for image in (around, start, end, middle)] == [
        "around the claim", "its start", "its end", "in the middle of it"
    ]  # fmt: skip


def test_all_frames_that_are_shown_are_known(client: ModelClient) -> None:
    pictures = claim_pictures(claim(2.4, 2.9), SAMPLES, client)
    assert set(pictures.frames) == {frame for image in pictures.images for frame in image.picture.frames}
    assert pictures.span == Span(1.4, 3.9)


@pytest.mark.parametrize(
    ("span", "parts"),
    [
        ((0, 2), ["around the claim", "its end", "in the middle of it"]),
        ((6, 8), ["around the claim", "its start", "in the middle of it"]),
        ((0, 8), ["around the claim", "in the middle of it"]),
        ((2.44, 2.45), ["around the claim", "its start", "in the middle of it"]),
    ],
    ids=["from the start of the clip", "to the end of the clip", "the whole clip", "between two samples"],
)
def test_an_edge_that_is_that_of_the_clip_or_was_shown_has_no_picture(
    client: ModelClient, span: tuple[float, float], parts: list[str]
) -> None:
    pictures = claim_pictures(claim(*span), SAMPLES, client)
    assert [image.label.partition(":")[0] for image in pictures.images] == parts


@pytest.fixture
def half_white() -> Iterator[ModelClient]:
    """A clip whose left half is white and whose right half is black."""
    clip = make_clip(8.0)
    image = np.zeros((48, 64, 3), dtype=np.uint8)
    image[:, :32] = 255
    decoded = DecodedClip(clip.layout, PictureSettings())
    for time_s in clip.frame_times_s:
        decoded.add_frame(time_s, (image,))
    decoded.duration_s = clip.duration_s
    yield ModelClient(load_domain("robot"), clip, decoded, scripted()[0])
    decoded.close()


LEFT, RIGHT = (Box(left=left, top=0, right=left + 0.5, bottom=1) for left in (0, 0.5))


@pytest.mark.parametrize(
    ("boxes", "darkest", "lightest"),
    [((LEFT,), 240, 256), ((LEFT, RIGHT), 100, 200), ((), 100, 200)],
    ids=["one place", "two places", "no place"],
)
def test_a_claim_with_one_place_is_shown_there(
    half_white: ModelClient, boxes: tuple[Box, ...], darkest: float, lightest: float
) -> None:
    _, start, end, _ = claim_pictures(claim(2.4, 2.9, *map(placed, boxes)), SAMPLES, half_white).images
    assert start.picture.frames == (36, 37, 38, 39, 40)
    for image in (start, end):
        assert darkest < decode_image(image.jpeg, "a sheet").mean() < lightest


def test_samples_may_be_missing(client: ModelClient) -> None:
    pictures: Any = claim_pictures(claim(2.4, 2.5), (0, 64, 127), client)
    assert pictures.images[0].picture.frames == (0,), "no sample is near, so the one before it is shown"
