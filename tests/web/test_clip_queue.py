"""Which clips an annotator sees."""

from collections import Counter

import pytest

from robogaze.web.clip_queue import assigned

CLIPS = [f"clip-{number}" for number in range(600)]
NAMES = ["ann", "bob", "eve", "zoe"]


def shares(
    per_clip: int | None, names: list[str] = NAMES, everyone: tuple[str, ...] = ()
) -> dict[str, tuple[str, ...]]:
    return {name: assigned(CLIPS, name, names, per_clip, everyone) for name in names}


@pytest.mark.parametrize("per_clip", [1, 2, 4])
def test_each_clip_has_as_many_annotators_as_asked_for(per_clip: int) -> None:
    counts = Counter(clip for clips in shares(per_clip).values() for clip in clips)
    assert counts == dict.fromkeys(CLIPS, per_clip)


def test_work_is_shared_evenly() -> None:
    assert all(250 < len(clips) < 350 for clips in shares(2).values())


def test_another_annotator_moves_few_clips() -> None:
    before, after = shares(1, NAMES[:3]), shares(1, NAMES)
    assert all(set(after[name]) <= set(before[name]) for name in NAMES[:3])


def test_the_order_of_clips_and_names_changes_nothing() -> None:
    assert assigned(reversed(CLIPS), "ann", NAMES[::-1], 2, ()) == assigned(CLIPS, "ann", NAMES, 2, ())


def test_all_annotators_go_through_the_clips_in_one_order() -> None:
    whole = assigned(CLIPS, "ann", NAMES, None, ())
    assert whole != tuple(CLIPS)
    assert all([clip for clip in whole if clip in clips] == list(clips) for clips in shares(2).values())


def test_calibration_clips_come_first_for_everyone() -> None:
    key = ("clip-7", "clip-500")
    assert all(set(clips[:2]) == set(key) for clips in shares(1, everyone=key).values())
