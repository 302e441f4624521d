"""The clean clips of a run, as manifest entries."""

from pathlib import Path

import pytest
from formats.run_samples import DIMENSIONS, reports, videos
from formats.samples import make_event, make_report
from lerobot_set import TOP, v3
from making import coverage, make_clip

from robogaze.core.clip import Layout
from robogaze.core.report import Provenance
from robogaze.datasets.clean_clips import chosen_episodes, clean_entries
from robogaze.datasets.manifest import ManifestEntry
from robogaze.errors import InputError


def test_clip_is_clean_if_every_dimension_is_covered_and_nothing_found(
    tmp_path: Path,
) -> None:
    (entry,) = clean_entries(reports(), videos(tmp_path), DIMENSIONS)
    assert entry == ManifestEntry(
        path=tmp_path / "pot.mp4",
        clip_id="pot",
        instruction="Put the cup into the pot",
        checkpoint="iter_4000",
        sha256=make_clip().sha256,
    )


def test_fewer_dimensions_keep_more_clips(tmp_path: Path) -> None:
    def kept(*dimensions: str) -> list[str | None]:
        return [entry.clip_id for entry in clean_entries(reports(), videos(tmp_path), dimensions)]

    assert kept("matter") == ["pot", "pixels"]
    assert kept("light") == ["kitchen/cup.v1", "pot"]


def test_event_counts_in_its_secondary_dimensions() -> None:
    event = make_event(secondary=("light",))
    report = make_report("a", event, coverage=coverage("matter", "light", "sound"))
    assert clean_entries([report], {"a": Path("a.mp4")}, ["light"]) == ()
    assert len(clean_entries([report], {"a": Path("a.mp4")}, ["sound"])) == 1


def test_part_and_prompt_id_are_kept() -> None:
    clip = make_clip(id="a", start_s=2.0, end_s=6.0, prompt_id="7")
    (entry,) = clean_entries([make_report("a", clip=clip)], {"a": Path("all.mp4")}, ["matter"])
    assert (entry.address, entry.prompt_id) == ("all.mp4#t=2.0,6.0", "7")


@pytest.mark.parametrize(("how", "kept"), [("given", Layout.parse("1x2:a,b")), ("recognised", None)])
def test_given_layout_is_kept(how: str, kept: Layout | None) -> None:
    clip = make_clip(id="a", layout=Layout.parse("1x2:a,b"))
    report = make_report("a", clip=clip, provenance=Provenance(media={"layout": how}))
    (entry,) = clean_entries([report], {"a": Path("a.mp4")}, ["matter"])
    assert entry.layout == kept


def test_initial_frame_is_kept_and_a_missing_one_is_an_error(tmp_path: Path) -> None:
    picture = tmp_path / "first.png"
    report = make_report("a", clip=make_clip(id="a", initial_frame=f"{picture}"))
    with pytest.raises(InputError, match=r"a: the initial frame .*first\.png does not exist"):
        clean_entries([report], {"a": Path("a.mp4")}, ["matter"])
    picture.touch()
    assert clean_entries([report], {"a": Path("a.mp4")}, ["matter"])[0].initial_frame == picture


@pytest.mark.parametrize("chosen", [(True, False), (False, True)])
def test_episode_with_two_clips_is_chosen_only_if_both_are(chosen: tuple[bool, bool], tmp_path: Path) -> None:
    """The same episode with two instructions."""
    video = v3(tmp_path, {0: 0}) / f"videos/{TOP}/chunk-000/file-000.mp4"
    clips = [(make_clip(id=f"{number}"), video, kept) for number, kept in enumerate(chosen)]
    (episodes,) = chosen_episodes(clips)
    assert (episodes.chosen, episodes.scored) == ((), 1)
    assert chosen_episodes([(clip, path, True) for clip, path, _ in clips])[0].chosen == (0,)
