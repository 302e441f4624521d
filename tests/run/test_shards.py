"""Shards, samples and the order of a run."""

from pathlib import Path

import pytest

from robogaze.datasets import ManifestEntry
from robogaze.errors import OptionError
from robogaze.run.shards import Shard, random_order, sample


@pytest.mark.parametrize("text", ["", "3", "0/4", "5/4", "1/0", "a/b", "1/2/3"])
def test_invalid_shard_is_refused(text: str) -> None:
    with pytest.raises(OptionError, match="such as 3/8"):
        Shard.parse(text)


def test_shards_are_disjoint_and_complete_wherever_they_are_made() -> None:
    clips = [ManifestEntry(path=Path(f"a/{number}.mp4"), instruction="Stir") for number in range(100)]
    elsewhere = [clip.with_(path=Path("/far/away") / clip.path) for clip in clips]
    names = []
    for number in range(1, 5):
        here = [clip.path.name for clip in Shard(number, 4).of(clips, Path())]
        assert here == [clip.path.name for clip in Shard(number, 4).of(elsewhere, Path("/far/away"))]
        assert len(here) > 10
        names += here
    assert sorted(names) == sorted(clip.path.name for clip in clips)


def test_clips_of_one_video_with_many_instructions_are_spread_over_shards() -> None:
    clips = [ManifestEntry(path=Path("bar.mp4"), instruction=f"Move bar {number}") for number in range(40)]
    assert all(len(Shard(number, 2).of(clips, Path())) > 10 for number in (1, 2))


def test_clip_stays_in_its_shard_when_clips_are_added() -> None:
    clips = [ManifestEntry(path=Path(f"{number}.mp4")) for number in range(50)]
    assert set(Shard(2, 3).of(clips[:20], Path())) <= set(Shard(2, 3).of(clips, Path()))


def test_order_is_random_and_depends_on_the_seed_alone() -> None:
    ids = [f"clip-{number}" for number in range(200)]
    first, again, other = (sorted(ids, key=random_order(seed)) for seed in (0, 0, 1))
    assert first == again
    assert first != other
    assert 60 < sum(int(name.split("-")[1]) < 100 for name in first[:100]) + 20 < 80, "a beginning is a fair sample"


def test_larger_sample_contains_the_smaller_one_of_the_same_seed() -> None:
    clips = [ManifestEntry(path=Path(f"{number}.mp4")) for number in range(50)]
    small, large = sample(clips, 5, 0, Path()), sample(clips, 20, 0, Path())
    assert (len(small), len(large)) == (5, 20)
    assert set(small) < set(large)
    assert sample(clips, 5, 1, Path()) != small
