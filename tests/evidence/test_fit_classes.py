"""What scripts/research/fit_classes.py makes of clips with known events."""

import numpy as np
import pytest
from fit_classes import examples, fitted_classifier, with_out_of_world_classes
from measured_clips import KnownClip

from robogaze.evidence import Classifier, SignalCondition, with_classes
from robogaze.evidence.classifier import Feature, FeatureClass
from robogaze.stages.event_rule import EventRule

from .fitting import make_known

NAMES = ("place", "size", "fog")
CLASSIFIER = Classifier(
    classifies="place",
    features=(Feature(signal="size"),),
    classes=(
        FeatureClass(name="nothing", description="Nothing.", constant=0.0, weights=(0.0,)),
        FeatureClass(name="gone", description="Gone.", fitted_to="object_disappearance", constant=0.0, weights=(0.0,)),
    ),
)
RULE = EventRule(
    signal="gone",
    above=0.5,
    unless=(SignalCondition(signal="fog", above=0.5),),
    dimension="object_scene_consistency",
    type="object_disappearance",
    describe="measured/appeared",
)
FRAMES, ONSET, LAST = 32, 12, 16


def known(name: str, sizes: dict[int, float], *, faulty: bool, fog: tuple[int, ...] = (), world: str = "") -> KnownClip:
    """A clip of two seconds in which a region of a size is replaced in some frames; its fault starts in frame 12."""
    series = {key: np.zeros(FRAMES) for key in NAMES}
    for frame, size in sizes.items():
        series["place"][frame], series["size"][frame] = 1.0, size
    series["fog"][list(fog)] = 1.0
    return make_known(name, series, RULE, (ONSET, LAST) if faulty else None, world=world)


def test_a_replacement_at_an_onset_belongs_to_the_class_of_the_event_type() -> None:
    found = examples(CLASSIFIER, [RULE], [known("f", {2: 0.1, ONSET: 0.9, ONSET + 1: 0.5}, faulty=True)])
    assert found.classes.tolist() == ["nothing", "gone"]
    assert found.features.ravel().tolist() == [0.1, 0.9]


def test_a_replacement_where_an_event_ends_belongs_to_the_class_without_event() -> None:
    found = examples(
        CLASSIFIER, [RULE], [known("f", {ONSET: 0.9, LAST - 1: 0.6, LAST: 0.8, LAST + 1: 0.7}, faulty=True)]
    )
    assert found.classes.tolist() == ["gone", "nothing"]
    assert found.features.ravel().tolist() == [0.9, 0.8]


def test_frames_in_which_the_rule_cannot_hold_are_no_examples() -> None:
    clips = [known("f", {2: 0.1, 3: 0.2, ONSET: 0.9}, faulty=True, fog=(3, ONSET))]
    assert examples(CLASSIFIER, [RULE], clips).features.ravel().tolist() == [0.1]


@pytest.fixture(scope="module")
def clips() -> list[KnownClip]:
    rng = np.random.default_rng(0)
    clean = [known(f"c{place}", {5: rng.uniform(0, 0.5), 9: rng.uniform(0, 0.5)}, faulty=False) for place in range(20)]
    return [*clean, *(known(f"f{place}", {ONSET: rng.uniform(0.6, 1)}, faulty=True) for place in range(20))]


def test_a_fitted_classifier_separates_its_classes(clips: list[KnownClip]) -> None:
    fitted = fitted_classifier(CLASSIFIER, examples(CLASSIFIER, [RULE], clips))
    large, small = (
        with_classes(known("new", {5: size}, faulty=False).evidence, [fitted]).views["main"].series["gone"][5]
        for size in (0.95, 0.05)
    )
    assert large > 0.85
    assert small < 0.15


def test_mean_and_scale_of_a_feature_are_those_of_the_examples(clips: list[KnownClip]) -> None:
    known_ = examples(CLASSIFIER, [RULE], clips)
    (feature,) = fitted_classifier(CLASSIFIER, known_).features
    assert feature.mean == pytest.approx(known_.features.mean(), rel=0.01)
    assert feature.scale == pytest.approx(known_.features.std(), rel=0.01)


def test_a_constant_feature_has_weight_zero(clips: list[KnownClip]) -> None:
    both = CLASSIFIER.with_(
        features=(*CLASSIFIER.features, CLASSIFIER.features[0].with_(signal="place")),
        classes=tuple(feature_class.with_(weights=(0.0, 0.0)) for feature_class in CLASSIFIER.classes),
    )
    fitted = fitted_classifier(both, examples(both, [RULE], clips))
    assert [feature_class.weights[1] for feature_class in fitted.classes] == pytest.approx([0, 0])


def test_a_clip_has_probabilities_from_weights_fitted_to_other_worlds(clips: list[KnownClip]) -> None:
    # In the other world small regions are gone.
    large, small = {5: 0.9, 9: 0.8}, {ONSET: 0.1}
    odd = [known(f"odd{place}", large, faulty=False, world="odd") for place in range(20)]
    odd += [known(f"gone{place}", small, faulty=True, world="odd") for place in range(20)]
    predicted = with_out_of_world_classes(CLASSIFIER, examples(CLASSIFIER, [RULE], [*clips, *odd]), [*clips, *odd])
    by_others = fitted_classifier(CLASSIFIER, examples(CLASSIFIER, [RULE], clips))
    for clip in (odd[0], odd[-1]):
        (probability,) = (other.evidence.views["main"].series["gone"] for other in predicted if other.name == clip.name)
        assert probability == pytest.approx(with_classes(clip.evidence, [by_others]).views["main"].series["gone"])


def test_a_class_that_only_one_world_shows_is_refused(clips: list[KnownClip]) -> None:
    clean = [known("odd", {5: 0.3}, faulty=False, world="odd")]
    with pytest.raises(ValueError, match="no clip shows gone"):
        with_out_of_world_classes(CLASSIFIER, examples(CLASSIFIER, [RULE], [*clips, *clean]), [*clips, *clean])
