"""Claim sheets: the right place in the right frames, from the pixels of the video."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from robogaze.core.clip import Layout
from robogaze.core.events import Box
from robogaze.core.pictures import FrameImage, PictureSettings
from robogaze.core.sampling import claim_parts
from robogaze.core.time import Span
from robogaze.media import DecodedClip, decode_clip
from robogaze.media.claim_sheet import ShownClaim, claim_sheets
from robogaze.media.compose import decode_image
from robogaze.media.crop_sheet import SIDE_PX, crop_size
from robogaze.media.decode import Image

from .videos import number_in, write

BAND, GAP, FPS = 24, 4, 10
SPAN = Span(1.0, 2.0)


def moving(number: int, views: int = 1) -> tuple[Image, ...]:
    """Grey views of 200 x 120 with a square of 20 px, which moves right by 4 px a frame; its level is the frame's."""
    shown = []
    for index in range(views):
        view = np.full((120, 200, 3), 90 + 40 * index, dtype=np.uint8)
        view[50:70, 4 * number : 4 * number + 20] = 200 + number
        shown.append(view)
    return tuple(shown)


def claim_sheet(
    clip: DecodedClip,
    name: str,
    span: Span,
    view: str | None = None,
    boxes: Mapping[int, Box] | None = None,
    count: int = 16,
) -> FrameImage:
    """The sheet of one claim."""
    (made,) = claim_sheets(clip, [ShownClaim(name, span, view, boxes or {})], count)
    return made


def make_clip(layout: Layout | None = None, side_px: int = 1024) -> DecodedClip:
    clip = DecodedClip(layout or Layout(), PictureSettings(max_side_px=side_px, quality=95))
    for number in range(40):
        clip.add_frame(number / FPS, moving(number, len(clip.layout.active)))
    clip.duration_s = 4.0
    return clip


def square(number: int) -> Box:
    """The box of the square."""
    return Box(left=4 * number / 200, top=50 / 120, right=(4 * number + 20) / 200, bottom=70 / 120)


@pytest.fixture
def single() -> Iterator[DecodedClip]:
    with closing(make_clip()) as made:
        yield made


@pytest.fixture
def triple() -> Iterator[DecodedClip]:
    with closing(make_clip(Layout.parse("2x2:front,side,wrist,-"))) as made:
        yield made


def cells(image: Image, columns: int, rows: int) -> list[Image]:
    """The pictures on a sheet."""
    wide, high = (image.shape[1] + GAP) // columns, (image.shape[0] + GAP) // rows
    return [
        image[row * high + BAND : (row + 1) * high - GAP, column * wide : (column + 1) * wide - GAP]
        for row in range(rows)
        for column in range(columns)
    ]


def test_each_cell_shows_the_place_in_its_frame(single: DecodedClip) -> None:
    sheet = claim_sheet(single, "H1", SPAN, boxes={number: square(number) for number in range(40)}, count=12)
    assert sheet.picture.frames == tuple(claim_parts(SPAN, single.times_s, 12))
    found = cells(decode_image(sheet.jpeg, ""), 4, 3)
    assert len({cell.shape for cell in found}) == 1
    for number, cell in zip(sheet.picture.frames, found, strict=True):
        if 6 <= number <= 39:  # the crop of the others is moved into the picture
            middle = cell[cell.shape[0] // 2, cell.shape[1] // 2]
            assert middle == pytest.approx(200 + number, abs=6), f"frame {number}"


def test_crops_after_the_last_box_are_around_it(single: DecodedClip) -> None:
    sheet = claim_sheet(single, "H1", SPAN, boxes={15: square(15)}, count=12)
    found = cells(decode_image(sheet.jpeg, ""), 4, 3)
    inside = [bool(cell.max() > 190) for cell in found]
    near = [abs(number - 15) < 12 for number in sheet.picture.frames]
    assert inside == near


def test_crops_between_two_boxes_are_between_them(single: DecodedClip) -> None:
    sheet = claim_sheet(single, "H1", SPAN, boxes={0: square(0), 39: square(39)}, count=12)
    for number, cell in zip(sheet.picture.frames, cells(decode_image(sheet.jpeg, ""), 4, 3), strict=True):
        if 6 <= number < 39:
            assert cell[cell.shape[0] // 2, cell.shape[1] // 2] == pytest.approx(200 + number, abs=6)


def test_sheet_without_boxes_shows_the_whole_view(single: DecodedClip) -> None:
    sheet = claim_sheet(single, "H1", SPAN, count=12)
    first = cells(decode_image(sheet.jpeg, ""), 3, 4)[0]
    assert first.shape[1] / first.shape[0] == pytest.approx(200 / 120, abs=0.02)
    assert first.max() > 190


def test_sheet_of_one_view_of_several(triple: DecodedClip) -> None:
    sheet = claim_sheet(triple, "H1", SPAN, "wrist", {0: square(30)}, count=12)
    assert sheet.picture.views == ("wrist",)
    assert np.median(cells(decode_image(sheet.jpeg, ""), 4, 3)[0]) == pytest.approx(170, abs=4)


def test_sheet_without_a_view_shows_all_views(triple: DecodedClip) -> None:
    sheet = claim_sheet(triple, "H1", SPAN)
    assert sheet.picture.views == ("front", "side", "wrist")


def test_boxes_of_no_view_are_refused(triple: DecodedClip) -> None:
    with pytest.raises(ValueError, match="boxes need a view; name one of front, side, wrist"):
        claim_sheet(triple, "H1", SPAN, boxes={0: square(1)})


@pytest.mark.parametrize("count", [1, 5, 12, 30])
@pytest.mark.parametrize("whole", [True, False])
def test_sheet_is_as_large_as_allowed(single: DecodedClip, count: int, whole: bool) -> None:
    sheet = claim_sheet(single, "H1", SPAN, boxes=None if whole else {0: square(5)}, count=count).picture
    assert max(sheet.width, sheet.height) <= SIDE_PX
    assert len(sheet.frames) == count
    assert max(sheet.width, sheet.height) > 0.75 * min(SIDE_PX, 6 * 64)


def test_sheets_of_different_content_have_different_ids(single: DecodedClip) -> None:
    first, again = (claim_sheet(single, "H1", SPAN).picture.id for _ in range(2))
    assert first == again != claim_sheet(single, "H1", Span(1.5, 2.0)).picture.id


def test_pixels_are_those_of_the_video_where_pictures_are_smaller(tmp_path: Path) -> None:
    """A column of one pixel is lost in a picture of a tenth of the size."""

    def line(number: int) -> Image:
        image = np.full((360, 640, 3), 60, dtype=np.uint8)
        image[:, 320 + number] = 250
        return image

    path = write(tmp_path / "line.mp4", 40, size=(640, 360), rate=FPS, draw=line)
    box = Box(left=0.48, top=0.4, right=0.6, bottom=0.6)
    with closing(decode_clip(path, settings=PictureSettings(max_side_px=64))) as clip:
        sheet = claim_sheet(clip, "H1", SPAN, boxes={0: box}, count=4)
        assert clip.views(0)[0].shape == (36, 64, 3)
        assert clip.originals([3])[3][0].shape == (360, 640, 3)
        for cell in cells(decode_image(sheet.jpeg, ""), 2, 2):
            assert cell.max() > 150


def test_the_video_is_read_once_for_all_claims(monkeypatch: pytest.MonkeyPatch, triple: DecodedClip) -> None:
    claims = [
        ShownClaim("H1", SPAN, "wrist", {0: square(3), 39: square(30)}),
        ShownClaim("H2", Span(1.5, 3.0)),
        ShownClaim("H3", Span(0.0, 0.2), "side"),
    ]
    alone = [claim_sheets(triple, [claim], 8)[0] for claim in claims]
    read: list[int] = []
    views = DecodedClip.views

    def recorded(clip: DecodedClip, number: int) -> tuple[Image, ...]:
        read.append(number)
        return views(clip, number)

    monkeypatch.setattr(DecodedClip, "views", recorded)
    together = claim_sheets(triple, claims, 8)
    assert read == sorted({number for sheet in alone for number in sheet.picture.frames})
    assert [sheet.jpeg for sheet in together] == [sheet.jpeg for sheet in alone]
    assert [(sheet.picture, sheet.label) for sheet in together] == [(sheet.picture, sheet.label) for sheet in alone]
    assert claim_sheets(triple, []) == ()


@pytest.mark.parametrize("start_s", [None, 0.5])
def test_originals_are_the_frames_asked_for(tmp_path: Path, start_s: float | None) -> None:
    path = write(tmp_path / "clip.mp4", 120, rate=16, codec_options={"g": "24"})
    with closing(decode_clip(path, settings=PictureSettings(max_side_px=48), start_s=start_s)) as clip:
        found = clip.originals([70, 0, 71, 3, len(clip.times_s) - 1])
    offset = 0 if start_s is None else 8
    assert list(found) == [0, 3, 70, 71, 119 - offset]
    assert {number: number_in(view) for number, (view,) in found.items()} == {n: n + offset for n in found}


@pytest.mark.parametrize(
    ("box", "size"),
    [
        (Box(left=0.5, top=0.5, right=0.51, bottom=0.51), (96, 96)),
        (Box(left=0.5, top=0.5, right=0.6, bottom=0.6), (160, 120)),
        (Box(left=0.2, top=0.2, right=0.6, bottom=0.6), (384, 320)),
        (Box(left=0.1, top=0.5, right=0.9, bottom=0.55), (640, 427)),
    ],
    ids=["small", "usual", "large", "wide"],
)
def test_crop_has_a_margin_and_is_neither_tiny_nor_narrow(box: Box, size: tuple[int, int]) -> None:
    assert crop_size([box], (640, 480)) == size
