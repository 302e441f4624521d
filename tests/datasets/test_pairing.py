"""References and predictions meet by clip id, and nothing falls out unseen."""

from dataclasses import replace

import pytest

from robogaze.core.annotation import ClipAnnotation
from robogaze.datasets.pairing import System, pair
from robogaze.errors import InputError


def account(clip_id: str, author: str = "someone", **known: object) -> ClipAnnotation:
    return replace(ClipAnnotation(clip_id, author, "complete", (), source=f"{author}/{clip_id}"), **known)


def system(*accounts: ClipAnnotation, name: str = "model") -> System:
    return System.of(name, accounts)


def test_clips_come_in_the_order_of_their_ids_whatever_the_order_of_the_files() -> None:
    references = [account("b"), account("a"), account("c")]
    assert [one.clip_id for one in pair(references, [system(account("c"))]).references] == ["a", "b", "c"]


def test_a_reference_without_a_prediction_stays() -> None:
    pairing = pair([account("a"), account("b")], [system(account("a"))])
    assert [one.clip_id for one in pairing.references] == ["a", "b"]
    assert "b" not in pairing.systems[0].annotations


def test_a_prediction_without_a_reference_is_listed() -> None:
    assert pair([account("a")], [system(account("a"), account("z"))]).unreferenced == ("z",)


@pytest.mark.parametrize("status", ["partial", "unscored"])
def test_a_reference_that_was_not_finished_is_listed_and_not_used(status: str) -> None:
    pairing = pair([account("a"), account("b", status=status)], [system(account("a"), account("b"))])
    assert [one.clip_id for one in pairing.references] == ["a"]
    assert (pairing.unfinished, pairing.unreferenced) == (("b",), ())


def test_two_references_of_one_clip_are_never_chosen_from() -> None:
    with pytest.raises(
        InputError, match=r"a has two annotations, by ann \(ann/a\) and by bob \(bob/a\); choose one with"
    ):
        pair([account("a", "ann"), account("a", "bob")], [system(account("a"))])


def test_two_predictions_of_one_clip_are_never_chosen_from() -> None:
    with pytest.raises(InputError, match="a has two annotations"):
        system(account("a", "x"), account("a", "y"))


def test_another_film_under_the_same_id_is_refused() -> None:
    with pytest.raises(InputError, match=r"a: model/a is about another file than gold/a .*score the clip again"):
        pair([account("a", "gold", clip_sha256="1")], [system(account("a", "model", clip_sha256="2"))])


def test_a_film_whose_fingerprint_one_side_does_not_know_is_paired_by_its_id() -> None:
    assert pair([account("a", clip_sha256="1")], [system(account("a"))]).references


def test_labels_of_different_taxonomies_are_mixed_only_when_told() -> None:
    references, systems = [account("a", "gold", taxonomy="t1")], [system(account("a", "model", taxonomy="t2"))]
    with pytest.raises(InputError, match=r"gold/a and model/a use labels of different taxonomies; --mixed"):
        pair(references, systems)
    assert pair(references, systems, mixed=True).references


def test_prompts_may_change_between_reference_and_prediction_but_not_within_a_system() -> None:
    gold = [account("a", taxonomy="t", fingerprint="1"), account("b", taxonomy="t", fingerprint="1")]
    one = system(*(account(name, taxonomy="t", fingerprint="2") for name in "ab"))
    assert pair(gold, [one]).references
    two = system(account("a", taxonomy="t", fingerprint="2"), account("b", taxonomy="t", fingerprint="3"))
    with pytest.raises(InputError, match="model is not one system"):
        pair(gold, [two])


def test_sides_that_share_no_clip_are_refused_with_the_ids_of_both() -> None:
    with pytest.raises(InputError, match=r"references: a, b; predictions: a\.mp4, b\.mp4, c\.mp4, \.\.\."):
        pair([account("a"), account("b")], [system(*(account(f"{name}.mp4") for name in "abcd"))])


def test_without_a_finished_reference_there_is_nothing_to_score() -> None:
    with pytest.raises(InputError, match="no reference is complete: those of a are partial or unscored"):
        pair([account("a", status="partial")], [system(account("a"))])
