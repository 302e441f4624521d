"""The same clips under different ids: by id, then by content, then by the file's stem."""

from dataclasses import replace

import pytest

from robogaze.core.annotation import ClipAnnotation
from robogaze.datasets.pairing import match_clip_ids

A, B = "a" * 64, "b" * 64


def account(clip_id: str, sha256: str | None = None, file: str | None = None) -> ClipAnnotation:
    return replace(ClipAnnotation(clip_id, "someone", "complete", ()), clip_sha256=sha256, clip_file=file)


@pytest.mark.parametrize(
    ("reference", "prediction", "by"),
    [
        (account("cup"), account("cup"), "id"),
        (account("cup", A), account("other", A), "sha256"),
        (account("real_bad1"), account("real_bad1-c368ac770b22", A, "clips/real_bad1.mp4"), "stem"),
        (account("real_bad1.mp4"), account("real_bad1"), "stem"),
        (account("clip with space & ümlaut"), account("clip_with_space_umlaut"), "stem"),
        (account("v1.2", A, "x/v1.2.mp4"), account("V1.2"), "stem"),
    ],
)
def test_a_clip_is_found_and_how_is_said(reference: ClipAnnotation, prediction: ClipAnnotation, by: str) -> None:
    found = match_clip_ids([reference], [prediction])
    assert [one.clip_id for one in found.annotations] == [reference.clip_id]
    assert str(found) == f"1 by {by}"


def test_what_fits_two_clips_or_is_known_to_differ_pairs_none() -> None:
    two = [account("x1", A), account("x2", A)]
    assert [one.clip_id for one in match_clip_ids(two, [account("y", A)]).annotations] == ["y"]
    stems = [account("a/1", None, "a/cup.mp4"), account("b/1", None, "b/cup.mp4")]
    assert [one.clip_id for one in match_clip_ids(stems, [account("cup")]).annotations] == ["cup"]
    other = match_clip_ids([account("cup-1", A, "cup.mp4")], [account("cup-2", B, "cup.mp4")])
    assert [one.clip_id for one in other.annotations] == ["cup-2"]


def test_an_id_comes_first_and_several_accounts_of_a_clip_go_together() -> None:
    references = [account("cup", A), account("pot", B)]
    accounts = [account("cup"), account("x", B), account("x", B)]
    found = match_clip_ids(references, accounts)
    assert [one.clip_id for one in found.annotations] == ["cup", "pot", "pot"]
    assert str(found) == "1 by id, 1 by sha256"
    assert match_clip_ids([], accounts).annotations == tuple(accounts)
