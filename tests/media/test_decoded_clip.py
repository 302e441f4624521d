"""A decoded clip: its frames, sheets and thumbnails, and the errors of decoding."""

import gc
import tracemalloc
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from robogaze.core.clip import Layout
from robogaze.core.pictures import PictureSettings
from robogaze.core.sampling import Regime
from robogaze.errors import VideoError
from robogaze.media import DecodedClip, decode_clip, decode_pyav, decoded_clip
from robogaze.media.compose import FrameCanvas, decode_image, encode_jpeg, fit, split
from robogaze.media.decode import Image, read_frames

from .videos import FPS, number_in, numbered, write

BAND = 24
NAMED = Layout.parse("2x2:front,side,wrist,-")


def grid(number: int, filler: int = 0) -> Image:
    """Three views, each with a number of its own, and a panel of one grey."""
    views = [numbered(number + 100 * index) for index in range(2)]
    return np.vstack(
        [np.hstack(views), np.hstack([numbered(number + 50), np.full((72, 96, 3), filler, dtype=np.uint8)])]
    )


def picture(path: Path, image: Image) -> Path:
    """An image file."""
    cv2.imwrite(str(path), cv2.cvtColor(image, cv2.COLOR_RGB2BGR))
    return path


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    return write(tmp_path / "clip.mp4")


@pytest.fixture
def grid_clip(tmp_path: Path) -> Path:
    return write(tmp_path / "grid.mp4", size=(192, 144), draw=grid)


@pytest.fixture
def decoded(clip: Path) -> Iterator[DecodedClip]:
    with closing(decode_clip(clip)) as made:
        yield made


# What is kept.


def test_decoded_clip_has_the_frame_times_and_size(decoded: DecodedClip) -> None:
    assert decoded.times_s == [number / FPS for number in range(24)]
    assert (decoded.duration_s, decoded.width, decoded.height) == (1.5, 96, 72)
    assert decoded.layout == Layout()
    assert decoded.initial is None


@pytest.mark.parametrize("max_side_px", [32, 64, 1024])
def test_frame_image_is_the_encoded_picture_under_its_stamp(clip: Path, max_side_px: int) -> None:
    settings = PictureSettings(max_side_px=max_side_px, quality=70)
    with closing(decode_clip(clip, settings=settings)) as decoded:
        for frame in read_frames(clip):
            shown = decoded.frame_image(frame.number)
            view = fit(frame.image, max_side_px)
            canvas = FrameCanvas(("main",), (view.shape[1], view.shape[0]))
            stamp = f"frame {frame.number}, {frame.time_s:.2f} s"
            assert shown.jpeg == encode_jpeg(canvas.draw((view,), stamp), 70)
            assert shown.picture.sha256 == sha256(shown.jpeg).hexdigest()


def test_frame_image_has_its_label_and_metadata(decoded: DecodedClip) -> None:
    shown = decoded.frame_image(5)
    image = decode_image(shown.jpeg, "a frame")
    assert number_in(image[BAND:]) == 5
    assert shown.label == "frame 5 at 0.31 s"
    picture = shown.picture
    assert (picture.id, picture.frames, picture.times_s, picture.views) == ("F5", (5,), (0.3125,), ("main",))
    assert (picture.height, picture.width) == image.shape[:2]


def test_part_of_a_video_is_decoded_with_its_start(clip: Path) -> None:
    with closing(decode_clip(clip, start_s=5 / FPS, end_s=9 / FPS)) as decoded:
        assert [number_in(decoded.views(n)[0]) for n in range(4)] == [5, 6, 7, 8]
        assert decoded.times_s == pytest.approx([n / FPS for n in range(4)])
        assert (decoded.start_s, decoded.duration_s) == (pytest.approx(5 / FPS), pytest.approx(4 / FPS))


def test_clip_is_decoded_once(clip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readings = []

    def counting(path: Path, *how: Any) -> Iterator[object]:
        readings.append(path)
        return read_frames(path, *how)

    monkeypatch.setattr(decoded_clip, "read_frames", counting)
    with closing(decode_clip(clip, observers=[lambda number, time_s, views: None])) as decoded:
        clip.unlink()
        assert [number_in(decoded.views(n)[0]) for n in (23, 0, 7, 7)] == [23, 0, 7, 7]
        decoded.sheet((1, 2), 2)
        decoded.thumbnail(3, 32)
    assert readings == [clip]


# Pictures that are made when they are shown.


def encoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of pictures that are encoded from now on, as the length of a list."""
    made: list[int] = []

    def counting(image: Image, quality: int) -> bytes:
        made.append(quality)
        return encode_jpeg(image, quality)

    monkeypatch.setattr(decoded_clip, "encode_jpeg", counting)
    return made


@pytest.mark.parametrize("fps", [0.0, 1.3, 4.0])
@pytest.mark.parametrize("part", [{}, {"start_s": 5 / FPS, "end_s": 20 / FPS}])
@pytest.mark.parametrize("max_side_px", [48, 1024])
@pytest.mark.parametrize("name", ["clip", "grid_clip"])
def test_pictures_are_byte_for_byte_those_of_a_clip_in_which_all_are_made(
    name: str, max_side_px: int, part: dict[str, float], fps: float, request: pytest.FixtureRequest
) -> None:
    path, settings = request.getfixturevalue(name), PictureSettings(max_side_px=max_side_px)
    with (
        closing(decode_clip(path, settings=settings, **part)) as whole,
        closing(decode_clip(path, settings=settings, pictures_fps=fps, **part)) as sparse,
    ):
        assert sparse.times_s == whole.times_s
        assert sparse.thumbnail(3, 32) == whole.thumbnail(3, 32)
        assert sparse.sheet((1, 2, 9), 2).jpeg == whole.sheet((1, 2, 9), 2).jpeg
        for number in range(len(whole.times_s)):
            assert sparse.frame_image(number).picture == whole.frame_image(number).picture
            assert sparse.frame_image(number).jpeg == whole.frame_image(number).jpeg
            for view, other in zip(sparse.originals([number])[number], whole.originals([number])[number], strict=True):
                assert np.array_equal(view, other)


def test_a_frame_that_is_passed_by_is_not_converted(clip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    converted: list[None] = []
    convert = decode_pyav._image

    def counted(*args: Any) -> Image:
        converted.append(None)
        return convert(*args)

    with closing(decode_clip(clip, settings=PictureSettings(max_side_px=48))) as decoded:
        monkeypatch.setattr(decode_pyav, "_image", counted)
        assert [number_in(views[0]) for views in decoded.originals((2, 7)).values()] == [2, 7]
    assert len(converted) == 2


@pytest.mark.parametrize("fps", [0.7, 2.0, 4.0, 5.3, 16.0])
def test_frames_of_a_rate_are_encoded_while_decoding(clip: Path, monkeypatch: pytest.MonkeyPatch, fps: float) -> None:
    made = encoded(monkeypatch)
    with closing(decode_clip(clip, pictures_fps=fps)) as decoded:
        numbers = Regime(rate_fps=fps).frames(decoded.times_s, decoded.duration_s)
        assert len(numbers) <= len(made) <= len(numbers) + 1
        clip.unlink()
        assert [number_in(decoded.views(number)[0]) for number in numbers] == list(numbers)


def test_frames_that_are_made_together_are_read_once(clip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = encoded(monkeypatch)
    with closing(decode_clip(clip, pictures_fps=0)) as decoded:
        assert len(made) == 1
        decoded.make_pictures((3, 4, 20))
        decoded.make_pictures((3, 4))
        assert len(made) == 4
        decoded.frame_image(9)
        assert len(made) == 24, "the second time, all that are missing are made"
        clip.unlink()
        assert [number_in(decoded.views(number)[0]) for number in range(24)] == list(range(24))


def test_picture_of_a_video_that_is_gone_is_refused(clip: Path) -> None:
    with closing(decode_clip(clip, pictures_fps=0)) as decoded:
        clip.unlink()
        with pytest.raises(VideoError, match=r"clip\.mp4"):
            decoded.frame_image(9)


def test_observers_get_every_frame_in_full_size(clip: Path) -> None:
    seen = []
    small = PictureSettings(max_side_px=32)
    with closing(decode_clip(clip, settings=small, observers=[lambda *given: seen.append(given)])):
        pass
    assert [number for number, _, _ in seen] == list(range(24))
    assert [time_s for _, time_s, _ in seen] == [number / FPS for number in range(24)]
    assert [number_in(view) for _, _, (view,) in seen] == list(range(24))
    assert {view.shape for _, _, (view,) in seen} == {(72, 96, 3)}


def grown_bytes(frames: int) -> int:
    """By how much memory grows, at most, while frames are added."""
    images = [np.random.default_rng(seed).integers(0, 256, (120, 160, 3), dtype=np.uint8) for seed in range(4)]
    with closing(DecodedClip(Layout(), PictureSettings())) as made:
        made.add_frame(0.0, (images[0],))
        tracemalloc.start()
        for number in range(1, frames):
            made.add_frame(number / FPS, (images[number % 4],))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        for number in (0, frames - 1):
            differences = [np.abs(made.views(number)[0].astype(int) - image).mean() for image in images]
            assert differences.index(min(differences)) == number % 4
    return peak


def test_pictures_of_a_long_clip_are_not_in_memory() -> None:
    """400 pictures of noise have 9 MB."""
    assert grown_bytes(400) < 2**20


def test_closed_clip_has_no_pictures(clip: Path) -> None:
    decoded = decode_clip(clip)
    decoded.close()
    with pytest.raises(ValueError, match="closed file"):
        decoded.frame_image(0)


# Contact sheets and thumbnails.


def test_sheet_shows_its_frames_in_order(decoded: DecodedClip) -> None:
    shown = decoded.sheet((3, 9, 20), columns=2)
    whole = decode_image(shown.jpeg, "a sheet")
    cells = [whole[24:96, :96], whole[24:96, 100:], whole[124:, :96]]
    assert [number_in(cell) for cell in cells] == [3, 9, 20]
    assert shown.label == "frames 3 to 20, 0.19 s to 1.25 s"
    assert (shown.picture.frames, shown.picture.times_s) == ((3, 9, 20), (3 / FPS, 9 / FPS, 20 / FPS))
    assert (shown.picture.height, shown.picture.width) == whole.shape[:2]


@pytest.mark.parametrize("size", [(96, 72), (72, 96), (96, 96), (640, 400)])
@pytest.mark.parametrize("max_side_px", [96, 128, 1024])
def test_sheet_has_the_largest_allowed_size(tmp_path: Path, size: tuple[int, int], max_side_px: int) -> None:
    path = write(tmp_path / "clip.mp4", 9, size=size)
    with closing(decode_clip(path, settings=PictureSettings(max_side_px=max_side_px))) as decoded:
        sheet = decoded.sheet(range(9), columns=3).picture
    whole = (3 * (size[0] + 4) - 4, 3 * (size[1] + 28) - 4)
    longer = max(sheet.width, sheet.height)
    if max(whole) <= max_side_px:
        assert (sheet.width, sheet.height) == whole, "frames that fit are shown as they are"
    else:
        assert max_side_px - 3 * 3 <= longer <= max_side_px


def test_views_may_be_reduced_to_a_side(grid_clip: Path) -> None:
    with closing(decode_clip(grid_clip)) as decoded:
        whole = decoded.views(3)
        for least_side_px, divisor in ((97, 1), (49, 1), (48, 2), (24, 4), (1, 4)):
            for view, reduced in zip(whole, decoded.views(3, least_side_px), strict=True):
                assert reduced.shape == (72 // divisor, 96 // divisor, 3)
                small = cv2.resize(view, (96 // divisor, 72 // divisor), interpolation=cv2.INTER_AREA)
                assert np.abs(reduced.astype(int) - small).mean() < 3


def test_sheet_of_few_frames_shows_them_at_the_same_size(tmp_path: Path) -> None:
    path = write(tmp_path / "clip.mp4", 9, size=(640, 400))
    with closing(decode_clip(path, settings=PictureSettings(max_side_px=512))) as decoded:
        full, single = (decoded.sheet(range(count), columns=3).picture for count in (9, 1))
    assert abs(full.width - 3 * single.width - 2 * 4) <= 3


def test_sheet_of_several_views_is_no_larger_than_a_picture_may_be(tmp_path: Path) -> None:
    def large(number: int) -> Image:
        return np.kron(grid(number), np.ones((3, 4, 1), dtype=np.uint8))

    path = write(tmp_path / "grid.mp4", 9, size=(768, 432), draw=large)
    with closing(decode_clip(path)) as decoded:
        sheet = decoded.sheet(range(9), columns=3).picture
    assert len(sheet.views) == 3
    assert 1024 - 3 * 4 <= max(sheet.width, sheet.height) <= 1024


def test_views_on_a_sheet_can_be_seen(grid_clip: Path) -> None:
    with closing(decode_clip(grid_clip, settings=PictureSettings(max_side_px=32))) as decoded:
        sheet = decode_image(decoded.sheet(range(9), columns=3).jpeg, "a sheet")
    assert sheet.shape[1] >= 3 * (32 + 4) - 4


def test_sheet_id_depends_on_its_frames(decoded: DecodedClip) -> None:
    names = [decoded.sheet(numbers, 3).picture.id for numbers in ((3, 9, 20), (3, 10, 20), (3, 9, 20))]
    assert names[0] == names[2] != names[1]


def test_thumbnail_is_a_small_picture_of_its_frame(decoded: DecodedClip) -> None:
    image = decode_image(decoded.thumbnail(6, 48), "a thumbnail")
    assert image.shape == (48, 48, 3)
    assert number_in(image[BAND // 2 :]) == 6


# Grids of views.


def test_detected_grid_is_stored_as_views_without_the_black_panel(grid_clip: Path) -> None:
    seen = []
    with closing(decode_clip(grid_clip, observers=[lambda *given: seen.append(given)])) as decoded:
        assert decoded.layout.active == ("top left", "top right", "bottom left")
        assert decoded.frame_image(7).picture.views == decoded.layout.active
        assert (decoded.width, decoded.height) == (192, 144)
        image = decode_image(decoded.frame_image(7).jpeg, "a frame")
    assert image.shape == (24 + 2 * (24 + 72 + 4) - 4, 2 * 96 + 4, 3), "two above one"
    corners = [(48, 0), (48, 100), (148, 0)]
    assert [number_in(image[top : top + 72, left : left + 96]) for top, left in corners] == [7, 107, 57]
    assert [number_in(view) for view in seen[7][2]] == [7, 107, 57]


def test_given_layout_is_used_without_detection(grid_clip: Path) -> None:
    with closing(decode_clip(grid_clip, layout=NAMED)) as decoded:
        assert decoded.layout is NAMED
    with closing(decode_clip(grid_clip, layout=Layout())) as decoded:
        assert decoded.frame_image(0).picture.width == 192


def test_each_view_is_stored_up_to_the_largest_side(grid_clip: Path) -> None:
    settings = PictureSettings(max_side_px=48)
    with closing(decode_clip(grid_clip, layout=NAMED, settings=settings)) as decoded:
        first = next(read_frames(grid_clip))
        views = [fit(view, 48) for view in split(first.image, NAMED)]
        picture = FrameCanvas(NAMED.active, (48, 36)).draw(views, "frame 0, 0.00 s")
        assert decoded.frame_image(0).jpeg == encode_jpeg(picture, 90)


def test_panel_that_is_black_only_at_first_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "late.mp4", size=(192, 144), draw=lambda number: grid(number, 0 if number < 10 else 90))
    with pytest.raises(VideoError, match=r"late.mp4 starts like a 2x2 grid .* not black at frame 10; name the layout"):
        decode_clip(path)
    with closing(decode_clip(path, layout=Layout.parse("2x2:a,b,c,d"))) as decoded:
        assert decoded.frame_image(0).picture.views == ("a", "b", "c", "d")


def test_clip_that_fades_in_from_black_is_one_view(tmp_path: Path) -> None:
    path = write(tmp_path / "fade.mp4", size=(192, 144), draw=lambda n: grid(n) if n > 5 else np.zeros_like(grid(n)))
    with closing(decode_clip(path)) as decoded:
        assert decoded.layout == Layout()


def test_layout_that_does_not_divide_the_picture_is_refused(clip: Path) -> None:
    with pytest.raises(VideoError, match=r"clip.mp4: a picture of 96x72 cannot be divided into 1x5 views; .*--layout"):
        decode_clip(clip, layout=Layout.parse("1x5:a,b,c,d,e"))


# The scene before the clip.


def test_initial_frame_may_have_another_size(clip: Path, tmp_path: Path) -> None:
    settings = PictureSettings(max_side_px=64)
    with closing(
        decode_clip(clip, initial_frame=picture(tmp_path / "i.png", numbered(200, 320, 180)), settings=settings)
    ) as f:
        assert f.initial is not None
        assert number_in(decode_image(f.initial.jpeg, "")[BAND:]) == 200
        sheet = f.initial.picture
        assert (sheet.id, sheet.frames, sheet.times_s, sheet.width, sheet.height) == ("I0", (), (), 64, BAND + 36)
        assert f.frame_image(0).picture.width == 64


def test_initial_frame_of_a_grid_is_split_like_the_clip(grid_clip: Path, tmp_path: Path) -> None:
    with closing(decode_clip(grid_clip, initial_frame=picture(tmp_path / "i.png", grid(0)))) as decoded:
        assert decoded.initial is not None
        assert decoded.initial.picture.views == decoded.layout.active
        assert decoded.initial.picture.width == decoded.frame_image(0).picture.width


INITIAL = {
    "missing": (lambda path: None, "cannot be read: No such file or directory"),
    "a folder": (Path.mkdir, "cannot be read: Is a directory"),
    "no picture": (lambda path: path.write_text("cup"), "is not a PNG, JPEG, WebP or BMP picture"),
    "one view only": (
        lambda path: picture(path, numbered(255)),
        "does not have the layout of the clip: a panel is black",
    ),
    "not to be divided": (
        lambda path: picture(path, grid(0)[1:]),
        "does not have the layout .* cannot be divided",
    ),
}


@pytest.mark.parametrize("name", INITIAL)
def test_initial_frame_with_another_layout_is_refused(name: str, grid_clip: Path, tmp_path: Path) -> None:
    make, reason = INITIAL[name]
    path = tmp_path / "initial.png"
    make(path)
    with pytest.raises(VideoError, match=f"the initial frame .*initial.png {reason}"):
        decode_clip(grid_clip, initial_frame=path)


def test_initial_frame_may_have_content_in_dropped_panels(tmp_path: Path) -> None:
    path = write(tmp_path / "four.mp4", size=(192, 144), draw=lambda number: grid(number, 90))
    with closing(decode_clip(path, layout=NAMED, initial_frame=picture(tmp_path / "i.png", grid(0, 90)))) as decoded:
        assert decoded.initial is not None


def test_failed_decoding_leaves_no_file_open(clip: Path) -> None:
    def fail(number: int, time_s: float, views: tuple[Image, ...]) -> None:
        if number == 3:
            raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        decode_clip(clip, observers=[fail])
    gc.collect()  # a file left open would be warned of here, and warnings are errors
