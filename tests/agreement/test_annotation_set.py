"""Who annotated what, and what can be compared."""

from dataclasses import replace

import pytest

from agreement.annotators import account, event, looked_for
from robogaze.agreement.annotation_set import AnnotationSet, common
from robogaze.errors import InputError


def test_a_clip_of_two_annotators_is_a_case_and_one_of_a_single_annotator_is_listed() -> None:
    panel = AnnotationSet.of([account("bob", "a"), account("ann", "a"), account("ann", "b"), account("bob", "c")])
    assert panel.annotators == ("ann", "bob")
    assert [(case.clip_id, case.authors) for case in panel.cases] == [("a", ("ann", "bob"))]
    assert panel.single == ("b", "c")


def test_cases_come_in_the_order_of_their_ids_whatever_order_accounts_come_in() -> None:
    accounts = [account(author, clip) for author in ("ann", "bob") for clip in ("a", "b", "c")]
    assert AnnotationSet.of(reversed(accounts)) == AnnotationSet.of(accounts)
    assert [case.clip_id for case in AnnotationSet.of(accounts).cases] == ["a", "b", "c"]


def test_an_account_that_is_not_finished_says_nothing_and_is_listed() -> None:
    panel = AnnotationSet.of(
        [account("ann", "a"), account("bob", "a", status="partial"), account("eve", "a", status="unscored")]
    )
    assert panel.cases == ()
    assert panel.single == ("a",)
    assert panel.unfinished == (("a", "bob"), ("a", "eve"))


def test_only_what_all_annotators_looked_for_is_compared() -> None:
    ann = account("ann", "a", event(0, 1, dimension="x"), event(1, 2, dimension="y"), event(2, 3))
    bob = account("bob", "a", event(0, 1, dimension="x"), coverage=looked_for("x", "z"))
    panel = AnnotationSet.of([ann, bob])
    assert panel.cases[0].dimensions == {"x", "z"}
    assert [one.dimension for one in panel.cases[0].accounts[0].findings] == ["x", None]
    assert panel.aside == 1


def test_a_finding_is_kept_for_a_secondary_dimension_that_was_looked_for() -> None:
    ann = account("ann", "a", event(0, 1, dimension="y", secondary=("x",)))
    panel = AnnotationSet.of([ann, account("bob", "a", coverage=looked_for("x"))])
    assert (len(panel.cases[0].accounts[0].findings), panel.aside) == (1, 0)


def test_annotators_who_looked_for_nothing_in_common_are_not_in_agreement() -> None:
    both = [account("ann", "a", coverage=looked_for("x")), account("bob", "a", coverage=looked_for("y"))]
    panel = AnnotationSet.of(both)
    assert (panel.cases, panel.apart, panel.single) == ((), ("a",), ())


def test_who_does_not_say_what_was_looked_for_looked_for_everything() -> None:
    assert common([account("ann", "a"), account("bob", "a")]) is None
    assert common([account("ann", "a"), account("bob", "a", coverage=looked_for("x"))]) == {"x"}


def test_what_was_ruled_out_was_looked_for_and_what_was_covered_partially_was_not() -> None:
    ann = account("ann", "a", coverage={"x": "ruled_out", "y": "partial", "z": "not_examined"})
    assert common([ann, account("bob", "a")]) == {"x"}


def test_frames_and_length_come_from_whoever_knows_them() -> None:
    ann = account("ann", "a", frame_times_s=None, duration_s=None)
    panel = AnnotationSet.of([ann, account("bob", "a", frame_times_s=(0.0, 1.0), duration_s=2.0)])
    assert (panel.cases[0].frame_times_s, panel.cases[0].duration_s) == ((0.0, 1.0), 2.0)
    assert AnnotationSet.of([ann, replace(ann, author="bob")]).cases[0].frame_times_s is None


def test_the_dataset_is_a_field_of_the_clip() -> None:
    ann, bob = account("ann", "a", fields={"split": "sim", "embodiment": "arm"}), account("bob", "a")
    assert AnnotationSet.of([ann, bob]).cases[0].dataset == "sim"
    assert AnnotationSet.of([ann, bob], by="embodiment").cases[0].dataset == "arm"
    assert AnnotationSet.of([ann, bob], by="checkpoint").cases[0].dataset == ""


def test_two_datasets_of_one_clip_are_refused() -> None:
    both = [account("ann", "a", fields={"split": "sim"}), account("bob", "a", fields={"split": "real"})]
    with pytest.raises(
        InputError, match=r"a has the split 'sim' in ann\.json and 'real' in bob\.json; correct one of them"
    ):
        AnnotationSet.of(both)


@pytest.mark.parametrize("status", ["complete", "partial"])
def test_two_accounts_of_a_clip_by_one_annotator_are_refused_and_the_way_out_is_told(status: str) -> None:
    both = [account("ann", "a", status=status), account("ann", "a", source="other.json")]
    with pytest.raises(InputError, match=r"ann has two accounts of a .*ANN=FILE"):
        AnnotationSet.of(both)


def test_one_id_for_two_files_is_refused() -> None:
    both = [account("ann", "a", clip_sha256="1" * 64), account("bob", "a", clip_sha256="2" * 64)]
    with pytest.raises(InputError, match=r"a is not the same file in ann\.json and bob\.json"):
        AnnotationSet.of(both)


def test_labels_of_two_taxonomies_are_compared_only_when_told() -> None:
    both = [account("ann", "a", taxonomy="one"), account("bob", "a", taxonomy="two")]
    with pytest.raises(InputError, match="different taxonomies; --mixed compares them anyway"):
        AnnotationSet.of(both)
    assert len(AnnotationSet.of(both, mixed=True).cases) == 1
    assert len(AnnotationSet.of([both[0], account("bob", "a")]).cases) == 1
