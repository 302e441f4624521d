"""scripts/bench/spans.py: annotated spans compared with decoded pixels."""

import numpy as np
from spans import Checked, Difference, difference, table

CLEAN = np.full((24, 32, 3), 90, np.uint8)


def clip(length: int, first: int, last: int, by: int) -> list[np.ndarray]:
    """A grey clip, in some frames of which a corner is lighter."""
    frames = [CLEAN.copy() for _ in range(length)]
    for frame in frames[first : last + 1]:
        frame[:6, :6] += np.uint8(by)
    return frames


def test_the_first_difference_is_any_and_the_last_is_a_visible_one() -> None:
    twin = clip(20, 0, -2, 0)
    shown = clip(20, 5, 12, 40)
    noise = np.random.default_rng(0).integers(-9, 10, CLEAN.shape)
    shown[13] = np.uint8(CLEAN + noise)  # what an encoder leaves
    assert difference(shown, twin) == Difference(5, 12)
    shown[3][23, 31, 1] += 1
    assert difference(shown, twin) == Difference(3, 12)


def test_equal_clips_have_no_difference_and_a_shorter_twin_keeps_its_last_frame() -> None:
    assert difference(clip(9, 0, -2, 0), clip(9, 0, -2, 0)) == Difference(None, None)
    assert difference(clip(12, 10, 11, 40), clip(9, 0, -2, 0)) == Difference(10, 11)


def test_the_table_counts_exact_spans_and_names_others() -> None:
    checked = [Checked("a", "jump", 0, 0), Checked("b", "jump", 1, 0), Checked("c", "miss", 7, None)]
    lines = list(table(checked))
    assert [line.split()[:5] for line in lines if line.startswith("jump")] == [["jump", "2", "1", "1", "0"]]
    assert next(line for line in lines if line.startswith("all")).split()[1:6] == ["3", "1", "1", "1", "+7"]
    assert lines[-2:] == ["b (jump): onset +1 frames, end exact", "c (miss): onset +7 frames, end not in the pixels"]
