"""What is written is what is read again: every frame, at its time."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from robogaze.media.decode import Image, read_frames
from robogaze.media.encode import write_video


def pictures(count: int, size: tuple[int, int] = (96, 64)) -> list[Image]:
    """Soft pictures of which each is lighter than the one before."""
    ramp = np.linspace(0, 100, size[0])[None, :, None] * np.ones((size[1], 1, 3))
    return [(ramp + 5 * number).astype(np.uint8) for number in range(count)]


def test_written_frames_are_read_back_with_their_times(tmp_path: Path) -> None:
    times = [0.0, 0.04, 0.1, 0.3, 0.35]
    write_video(tmp_path / "clip.mp4", pictures(5), times, 0.4)
    found = list(read_frames(tmp_path / "clip.mp4"))
    assert [frame.time_s for frame in found] == times
    for frame, image in zip(found, pictures(5), strict=True):
        assert np.abs(frame.image.astype(int) - image).mean() < 3


def test_duration_is_kept_at_a_constant_rate(tmp_path: Path) -> None:
    write_video(tmp_path / "clip.mp4", pictures(8), [number / 16 for number in range(8)], 0.5)
    *_, last = read_frames(tmp_path / "clip.mp4")
    assert last.time_s + last.duration_s == 0.5


def test_equal_frames_give_equal_bytes(tmp_path: Path) -> None:
    for name in ("a.mp4", "b.mp4"):
        write_video(tmp_path / name, pictures(6), [number / 10 for number in range(6)], 0.6)
    assert (tmp_path / "a.mp4").read_bytes() == (tmp_path / "b.mp4").read_bytes()


WRITE_NOISE = """
import sys
from pathlib import Path
import numpy as np
from robogaze.media.encode import write_video
noise = np.random.default_rng(0).integers(0, 256, (200, 344, 3), dtype=np.uint8)
write_video(Path(sys.argv[1]), [noise[:, start : start + 320] for start in range(24)], [n / 16 for n in range(24)], 1.5)
"""


def test_bytes_do_not_depend_on_what_the_memory_contained_before(tmp_path: Path) -> None:
    """glibc fills memory that is allocated with the complement of MALLOC_PERTURB_; elsewhere the two are just equal."""
    for fill in "01":
        command = [sys.executable, "-c", WRITE_NOISE, str(tmp_path / fill)]
        subprocess.run(command, env={**os.environ, "MALLOC_PERTURB_": fill}, check=True)
    assert (tmp_path / "0").read_bytes() == (tmp_path / "1").read_bytes()


def test_odd_column_and_row_are_dropped(tmp_path: Path) -> None:
    write_video(tmp_path / "clip.mp4", pictures(2, (97, 65)), [0.0, 0.1], 0.2)
    assert {frame.image.shape for frame in read_frames(tmp_path / "clip.mp4")} == {(64, 96, 3)}


def test_failed_write_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="zip"):
        write_video(tmp_path / "clip.mp4", pictures(2), [0.0, 0.1, 0.2], 0.3)
    assert not list(tmp_path.iterdir())
