"""Which clips were made from one prompt."""

import pytest
from checkpoints import annotation, clean_and_faulty, metadata, run

from robogaze.comparison import Run
from robogaze.comparison.prompt_pairing import by_prompt
from robogaze.comparison.runs import ManifestClip
from robogaze.errors import InputError


def test_clips_of_different_ids_are_paired_by_their_instruction() -> None:
    found = by_prompt([clean_and_faulty("a", "+-+"), clean_and_faulty("b", "-+")])
    assert found.key == "instruction"
    assert found.shared(0, 1) == ("p0", "p1")
    assert [clips["p1"].clip_id for clips in found.runs] == ["a-p1", "b-p1"]
    assert found.unpaired(0, 1) == (1, 0)
    assert found.passed_over == ()


def test_a_prompt_id_goes_before_the_instruction() -> None:
    runs = [run(name, annotation(f"{name}-p", fields={"prompt_id": "7"})) for name in "ab"]
    assert (by_prompt(runs).key, by_prompt(runs).shared(0, 1)) == ("prompt_id", ("7",))


def test_a_key_that_only_some_clips_have_is_named_with_one_that_has_not() -> None:
    runs = [
        run("a", annotation("c1", instruction="lift"), annotation("c2", instruction=None)),
        run("b", annotation("c1")),
    ]
    assert by_prompt(runs).passed_over == ("not by instruction: c2 of a has no instruction",)


def test_the_initial_frame_distinguishes_equal_instructions() -> None:
    runs = [
        run(name, *(annotation(f"{name}{at}-lift", instruction="lift") for at in "12"),
            metadata={f"{name}{at}-lift": metadata(initial_frame=f"{at}.png") for at in "12"})
        for name in "ab"
    ]  # fmt: skip
    found = by_prompt(runs)
    assert found.key == "instruction and initial frame"
    assert found.shared(0, 1) == ("lift | 1.png", "lift | 2.png")
    assert found.passed_over == ("not by instruction: a1-lift and a2-lift of a have the same instruction",)


def test_what_is_left_is_the_clip_id() -> None:
    runs = [run(name, annotation("c1", instruction="lift"), annotation("c2", instruction="lift")) for name in "ab"]
    assert (by_prompt(runs).key, by_prompt(runs).shared(0, 1)) == ("clip id", ("c1", "c2"))


def test_a_key_that_was_asked_for_must_serve() -> None:
    runs = [run(name, annotation("c1", instruction="lift"), annotation("c2", instruction="lift")) for name in "ab"]
    with pytest.raises(InputError, match="cannot be paired by instruction: c1 and c2 of a have the same"):
        by_prompt(runs, "instruction")
    assert by_prompt([clean_and_faulty("a", "+")], "clip id").key == "clip id"


def test_a_prompt_that_another_run_has_is_missing() -> None:
    runs = [clean_and_faulty("a", "+++"), clean_and_faulty("b", "+")]
    assert [by_prompt(runs).missing(at, run) for at, run in enumerate(runs)] == [0, 2]


def test_so_is_a_clip_that_the_manifest_lists() -> None:
    listed = {f"a-p{at}": ManifestClip(f"p{at}", address=f"p{at}.mp4") for at in range(3)}
    runs = [
        run("a", annotation("a-p0"), listed=listed, unreadable=1, at=("p1.mp4",)),
        run("b", annotation("b-p0"), annotation("b-p1")),
    ]
    assert by_prompt(runs).missing(0, runs[0]) == 1  # p1 and p2 have no report; p1 could not be read
    assert by_prompt(runs[:1]).missing(0, runs[0]) == 1


def test_a_file_that_was_never_listed_is_not_the_clip_that_is_missing() -> None:
    listed = {f"a-p{at}": ManifestClip(f"p{at}", address=f"p{at}.mp4") for at in range(2)}
    runs = [
        run("a", annotation("a-p0"), listed=listed, unreadable=1, at=("never-listed.mp4",)),
        run("b", annotation("b-p0"), annotation("b-p1"), annotation("b-p2")),
    ]
    assert by_prompt(runs[:1]).missing(0, runs[0]) == 1
    assert by_prompt(runs).missing(0, runs[0]) == 1  # p1; the unlisted file may be the clip of p2


def seeds(name: str, *judged: int) -> Run:
    """A run whose manifest lists two clips of each of two prompts; the clips `judged` have a report."""
    listed = {f"c{at}": ManifestClip("lift", {"prompt_id": f"{at % 2}"}, f"c{at}.mp4") for at in range(4)}
    clips = [annotation(f"c{at}", instruction="lift", fields={"prompt_id": f"{at % 2}"}) for at in judged]
    return run(name, *clips, listed=listed)


@pytest.mark.parametrize("key", ["auto", "clip id"])
@pytest.mark.parametrize("judged", [(0, 1), (2, 3), (0, 2), (0,), ()])
def test_every_listed_clip_without_a_report_is_missing_however_clips_are_paired(
    key: str, judged: tuple[int, ...]
) -> None:
    for runs in ([seeds("a", *judged)], [seeds("a", *judged), seeds("b", 0, 3)], [seeds("a", *judged), seeds("b")]):
        assert by_prompt(runs, key).missing(0, runs[0]) == 4 - len(judged)


def test_a_key_must_be_unique_among_the_listed_clips_as_well() -> None:
    found = by_prompt([seeds("a", 0, 1), seeds("b", 2, 3)])
    assert (found.key, found.passed_over[0]) == ("clip id", "not by prompt_id: c0 and c2 of a have the same prompt_id")
    with pytest.raises(InputError, match="cannot be paired by prompt_id: c0 and c2 of a have the same prompt_id"):
        by_prompt([seeds("a", 0, 1)], "prompt_id")


def test_a_listed_clip_of_unknown_initial_frame_is_missing_once() -> None:
    def framed(name: str, *judged: int) -> Run:
        clips = [annotation(f"{name}{at}", instruction="lift") for at in judged]
        frames = {f"{name}{at}": metadata(initial_frame=f"{at}.png") for at in judged}
        return run(name, *clips, metadata=frames, listed={f"{name}{at}": ManifestClip("lift") for at in range(3)})

    runs = [framed("a", 0), framed("b", 0, 1, 2)]
    found = by_prompt(runs)
    assert found.key == "instruction and initial frame"
    assert [found.missing(at, run) for at, run in enumerate(runs)] == [2, 0]


def test_a_clip_that_is_missing_both_here_and_against_another_run_is_missing_once() -> None:
    """Clips of one prompt may have instructions that differ."""
    listed = {f"a-{at}": ManifestClip(f"said otherwise {at}", {"prompt_id": f"{at}"}) for at in range(3)}
    runs = [
        run("a", annotation("a-0", fields={"prompt_id": "0"}), listed=listed),
        run("b", *(annotation(f"b-{at}", fields={"prompt_id": f"{at}"}) for at in range(2))),
    ]
    found = by_prompt(runs)
    assert (found.key, found.shared(0, 1)) == ("prompt_id", ("0",))
    assert found.missing(0, runs[0]) == 2  # prompt 1, which b has and a's manifest lists, and prompt 2


def test_runs_without_a_common_prompt_miss_nothing_of_each_other() -> None:
    runs = [clean_and_faulty("a", "++"), run("b", annotation("b-x"))]
    assert by_prompt(runs).missing(1, runs[1]) == 0
