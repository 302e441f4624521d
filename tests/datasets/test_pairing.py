"""References and predictions, paired by clip id."""

from dataclasses import replace

import pytest
from formats.samples import make_report
from making import make_clip

from robogaze.core.annotation import ClipAnnotation, annotation_of
from robogaze.datasets.pairing import System, match_clip_ids, pair
from robogaze.errors import InputError


def annotation(clip_id: str, author: str = "someone", **known: object) -> ClipAnnotation:
    return replace(ClipAnnotation(clip_id, author, "complete", (), source=f"{author}/{clip_id}"), **known)


def system(*annotations: ClipAnnotation, name: str = "model") -> System:
    return System.of(name, annotations)


def test_clips_are_in_the_order_of_their_ids() -> None:
    references = [annotation("b"), annotation("a"), annotation("c")]
    assert [reference.clip_id for reference in pair(references, [system(annotation("c"))]).references] == [
        "a",
        "b",
        "c",
    ]


def test_reference_without_a_prediction_is_kept() -> None:
    pairing = pair([annotation("a"), annotation("b")], [system(annotation("a"))])
    assert [reference.clip_id for reference in pairing.references] == ["a", "b"]
    assert "b" not in pairing.systems[0].annotations


def test_a_prompt_that_only_predictions_give_is_that_of_the_clip() -> None:
    reference = annotation("a", fields={"task_family": "pick"})
    first, second = (
        system(annotation("a", fields={"split": "other", "prompt_id": prompt}), name=prompt) for prompt in ("p", "q")
    )
    (found,) = pair([reference], [first, second]).references
    assert found.fields == {"task_family": "pick", "prompt_id": "p"}


def test_prediction_without_a_reference_is_listed() -> None:
    assert pair([annotation("a")], [system(annotation("a"), annotation("z"))]).unreferenced == ("z",)


@pytest.mark.parametrize("status", ["partial", "unscored"])
def test_unfinished_reference_is_listed_and_not_used(status: str) -> None:
    pairing = pair([annotation("a"), annotation("b", status=status)], [system(annotation("a"), annotation("b"))])
    assert [reference.clip_id for reference in pairing.references] == ["a"]
    assert (pairing.unfinished, pairing.unreferenced) == (("b",), ())


def test_two_references_of_one_clip_are_refused() -> None:
    with pytest.raises(
        InputError, match=r"a has two annotations, by ann \(ann/a\) and by bob \(bob/a\); choose one with"
    ):
        pair([annotation("a", "ann"), annotation("a", "bob")], [system(annotation("a"))])


def test_two_predictions_of_one_clip_are_refused() -> None:
    with pytest.raises(InputError, match="a has two annotations"):
        system(annotation("a", "x"), annotation("a", "y"))


def test_different_sha256_under_one_id_is_refused() -> None:
    with pytest.raises(InputError, match=r"a: model/a and gold/a are about different files .*score the clip again"):
        pair([annotation("a", "gold", clip_sha256="1")], [system(annotation("a", "model", clip_sha256="2"))])


def test_unknown_sha256_is_paired_by_id() -> None:
    assert pair([annotation("a", clip_sha256="1")], [system(annotation("a"))]).references


def test_different_taxonomies_need_mixed() -> None:
    references, systems = [annotation("a", "gold", taxonomy="t1")], [system(annotation("a", "model", taxonomy="t2"))]
    with pytest.raises(
        InputError, match=r"gold/a and model/a use labels from different taxonomies; use `mixed` to compare them anyway"
    ):
        pair(references, systems)
    assert pair(references, systems, mixed=True).references


def test_fingerprint_may_differ_between_sides_but_not_within_a_system() -> None:
    gold = [annotation("a", taxonomy="t", fingerprint="1"), annotation("b", taxonomy="t", fingerprint="1")]
    mixed_system = system(*(annotation(name, taxonomy="t", fingerprint="2") for name in "ab"))
    assert pair(gold, [mixed_system]).references
    two = system(annotation("a", taxonomy="t", fingerprint="2"), annotation("b", taxonomy="t", fingerprint="3"))
    with pytest.raises(InputError, match="model is not one system"):
        pair(gold, [two])


def test_sides_without_a_common_clip_are_refused() -> None:
    with pytest.raises(InputError, match=r"references: a, b; predictions: a\.mp4, b\.mp4, c\.mp4, \.\.\."):
        pair([annotation("a"), annotation("b")], [system(*(annotation(f"{name}.mp4") for name in "abcd"))])


def test_references_that_are_all_unfinished_are_refused() -> None:
    with pytest.raises(InputError, match="no reference is complete: the references of a are partial or unscored"):
        pair([annotation("a", status="partial")], [system(annotation("a"))])


# Matching of clip ids.

A, B = "a" * 64, "b" * 64


def of_file(clip_id: str, sha256: str | None = None, file: str | None = None) -> ClipAnnotation:
    return annotation(clip_id, clip_sha256=sha256, clip_file=file)


@pytest.mark.parametrize(
    ("reference", "prediction", "by"),
    [
        (of_file("cup"), of_file("cup"), "id"),
        (of_file("cup", A), of_file("other", A), "sha256"),
        (of_file("real_bad1"), of_file("real_bad1-c368ac770b22", A, "clips/real_bad1.mp4"), "stem"),
        (of_file("real_bad1.mp4"), of_file("real_bad1"), "stem"),
        (of_file("clip with space & ümlaut"), of_file("clip_with_space_umlaut"), "stem"),
        (of_file("v1.2", A, "x/v1.2.mp4"), of_file("V1.2"), "stem"),
    ],
)
def test_clip_is_matched_by_id_sha256_or_stem(reference: ClipAnnotation, prediction: ClipAnnotation, by: str) -> None:
    found = match_clip_ids([reference], [prediction])
    assert [annotation.clip_id for annotation in found.annotations] == [reference.clip_id]
    assert str(found) == f"1 by {by}"


def test_ambiguous_or_different_files_are_not_matched() -> None:
    two = [of_file("x1", A), of_file("x2", A)]
    assert [match.clip_id for match in match_clip_ids(two, [of_file("y", A)]).annotations] == ["y"]
    stems = [of_file("a/1", None, "a/cup.mp4"), of_file("b/1", None, "b/cup.mp4")]
    assert [match.clip_id for match in match_clip_ids(stems, [of_file("cup")]).annotations] == ["cup"]
    other = match_clip_ids([of_file("cup-1", A, "cup.mp4")], [of_file("cup-2", B, "cup.mp4")])
    assert [annotation.clip_id for annotation in other.annotations] == ["cup-2"]


def part(clip_id: str, start_s: float | None, end_s: float | None) -> ClipAnnotation:
    """The annotation of a part of one file."""
    clip = make_clip(id=clip_id, uri="all.mp4", sha256=A, start_s=start_s, end_s=end_s)
    return annotation_of(make_report(clip_id, clip=clip))


def test_only_the_same_part_of_a_file_is_the_same_clip() -> None:
    reference = part("ep1", 4.0, 8.0)
    for other in (part("ep2", 8.0, 12.0), part("all", None, None), of_file("all", None, "all.mp4")):
        assert match_clip_ids([reference], [other]).annotations == (other,)
    assert str(match_clip_ids([reference], [part("x", 4.0, 8.0)])) == "1 by sha256"
    assert str(match_clip_ids([reference], [of_file("x", None, "run/all.mp4#t=4.0,8.0")])) == "1 by stem"
    with pytest.raises(InputError, match=r"ep1: .* are about different files or different parts of a file"):
        pair([reference], [System.of("s", [part("ep1", 8.0, 12.0)])])


def test_a_number_sign_in_an_id_is_part_of_the_name() -> None:
    other = of_file("cup#2")
    assert match_clip_ids([of_file("cup#1")], [other]).annotations == (other,)


def test_id_is_matched_first_and_several_annotations_of_a_clip_together() -> None:
    references = [of_file("cup", A), of_file("pot", B)]
    annotations = [of_file("cup"), of_file("x", B), of_file("x", B)]
    found = match_clip_ids(references, annotations)
    assert [annotation.clip_id for annotation in found.annotations] == ["cup", "pot", "pot"]
    assert str(found) == "1 by id, 1 by sha256"
    assert match_clip_ids([], annotations).annotations == tuple(annotations)
