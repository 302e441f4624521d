"""Who annotated what, and what can be compared."""

from dataclasses import replace

import pytest

from agreement.annotators import annotation, event, looked_for
from robogaze.agreement.annotation_set import AnnotationSet, common_dimensions
from robogaze.errors import InputError


def test_a_clip_of_two_annotators_is_compared_and_one_of_a_single_annotator_is_listed() -> None:
    annotation_set = AnnotationSet.of(
        [annotation("bob", "a"), annotation("ann", "a"), annotation("ann", "b"), annotation("bob", "c")]
    )
    assert annotation_set.annotators == ("ann", "bob")
    assert [(clip.clip_id, clip.authors) for clip in annotation_set.clips] == [("a", ("ann", "bob"))]
    assert annotation_set.single_annotator == ("b", "c")


def test_clips_are_sorted_by_id_whatever_the_order_of_annotations() -> None:
    annotations = [annotation(author, clip) for author in ("ann", "bob") for clip in ("a", "b", "c")]
    assert AnnotationSet.of(reversed(annotations)) == AnnotationSet.of(annotations)
    assert [clip.clip_id for clip in AnnotationSet.of(annotations).clips] == ["a", "b", "c"]


def test_an_unfinished_annotation_is_not_compared_and_is_listed() -> None:
    annotation_set = AnnotationSet.of(
        [annotation("ann", "a"), annotation("bob", "a", status="partial"), annotation("eve", "a", status="unscored")]
    )
    assert annotation_set.clips == ()
    assert annotation_set.single_annotator == ("a",)
    assert annotation_set.unfinished == (("a", "bob"), ("a", "eve"))


def test_only_what_all_annotators_looked_for_is_compared() -> None:
    ann = annotation("ann", "a", event(0, 1, dimension="x"), event(1, 2, dimension="y"), event(2, 3))
    bob = annotation("bob", "a", event(0, 1, dimension="x"), coverage=looked_for("x", "z"))
    annotation_set = AnnotationSet.of([ann, bob])
    assert annotation_set.clips[0].dimensions == {"x", "z"}
    assert [event.dimension for event in annotation_set.clips[0].annotations[0].findings] == ["x", None]
    assert annotation_set.excluded_events == 1


def test_a_finding_is_kept_for_a_secondary_dimension_that_was_looked_for() -> None:
    ann = annotation("ann", "a", event(0, 1, dimension="y", secondary=("x",)))
    annotation_set = AnnotationSet.of([ann, annotation("bob", "a", coverage=looked_for("x"))])
    assert (len(annotation_set.clips[0].annotations[0].findings), annotation_set.excluded_events) == (1, 0)


def test_annotators_who_looked_for_nothing_in_common_are_not_in_agreement() -> None:
    both = [annotation("ann", "a", coverage=looked_for("x")), annotation("bob", "a", coverage=looked_for("y"))]
    annotation_set = AnnotationSet.of(both)
    assert (annotation_set.clips, annotation_set.no_shared_dimensions, annotation_set.single_annotator) == (
        (),
        ("a",),
        (),
    )


def test_who_does_not_say_what_was_looked_for_looked_for_everything() -> None:
    assert common_dimensions([annotation("ann", "a"), annotation("bob", "a")]) is None
    assert common_dimensions([annotation("ann", "a"), annotation("bob", "a", coverage=looked_for("x"))]) == {"x"}


def test_what_was_ruled_out_was_looked_for_and_what_was_covered_partially_was_not() -> None:
    ann = annotation("ann", "a", coverage={"x": "ruled_out", "y": "partial", "z": "not_examined"})
    assert common_dimensions([ann, annotation("bob", "a")]) == {"x"}


def test_frames_and_length_come_from_whoever_knows_them() -> None:
    ann = annotation("ann", "a", frame_times_s=None, duration_s=None)
    annotation_set = AnnotationSet.of([ann, annotation("bob", "a", frame_times_s=(0.0, 1.0), duration_s=2.0)])
    assert (annotation_set.clips[0].frame_times_s, annotation_set.clips[0].duration_s) == ((0.0, 1.0), 2.0)
    assert AnnotationSet.of([ann, replace(ann, author="bob")]).clips[0].frame_times_s is None


def test_the_dataset_is_a_field_of_the_clip() -> None:
    ann, bob = annotation("ann", "a", fields={"split": "sim", "embodiment": "arm"}), annotation("bob", "a")
    assert AnnotationSet.of([ann, bob]).clips[0].dataset == "sim"
    assert AnnotationSet.of([ann, bob], by="embodiment").clips[0].dataset == "arm"
    assert AnnotationSet.of([ann, bob], by="checkpoint").clips[0].dataset == ""


def test_two_datasets_of_one_clip_are_refused() -> None:
    both = [annotation("ann", "a", fields={"split": "sim"}), annotation("bob", "a", fields={"split": "real"})]
    with pytest.raises(
        InputError, match=r"a: the field split is 'sim' in ann\.json but 'real' in bob\.json; correct one of them"
    ):
        AnnotationSet.of(both)


@pytest.mark.parametrize("status", ["complete", "partial"])
def test_two_annotations_of_a_clip_by_one_annotator_are_refused_with_a_way_out(status: str) -> None:
    both = [annotation("ann", "a", status=status), annotation("ann", "a", source="other.json")]
    with pytest.raises(InputError, match=r"ann annotates a twice, .*ANN=FILE"):
        AnnotationSet.of(both)


def test_one_id_for_two_files_is_refused() -> None:
    both = [annotation("ann", "a", clip_sha256="1" * 64), annotation("bob", "a", clip_sha256="2" * 64)]
    with pytest.raises(
        InputError, match=r"a is a different file, or a different part of a file, in ann\.json and in bob\.json"
    ):
        AnnotationSet.of(both)


def test_labels_of_two_taxonomies_are_compared_only_if_mixed() -> None:
    both = [annotation("ann", "a", taxonomy="one"), annotation("bob", "a", taxonomy="two")]
    with pytest.raises(InputError, match="from different taxonomies; use --mixed to compare them anyway"):
        AnnotationSet.of(both)
    assert len(AnnotationSet.of(both, mixed=True).clips) == 1
    assert len(AnnotationSet.of([both[0], annotation("bob", "a")]).clips) == 1
