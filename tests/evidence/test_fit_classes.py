"""What scripts/research/fit_classes.py makes of clips of which the truth is known."""

import numpy as np
import pytest
from fit_classes import examples, fitted_classes, out_of_world
from measured_clips import Known

from robogaze.evidence import Classifier, Condition, classified
from robogaze.evidence.classifier import Class, Feature
from robogaze.stages.event_rule import EventRule

from .fitting import make_known

NAMES = ("place", "size", "fog")
CLASSIFIER = Classifier(
    of="place",
    features=(Feature(signal="size"),),
    classes=(
        Class(name="nothing", description="Nothing.", constant=0.0, weights=(0.0,)),
        Class(name="gone", description="Gone.", constant=0.0, weights=(0.0,)),
    ),
)
RULE = EventRule(
    signal="gone",
    above=0.5,
    unless=(Condition(signal="fog", above=0.5),),
    dimension="object_scene_consistency",
    type="object_disappearance",
    describe="measured/went",
)
FRAMES, ONSET, LAST = 32, 12, 16


def known(name: str, sizes: dict[int, float], *, faulty: bool, fog: tuple[int, ...] = (), world: str = "") -> Known:
    """A clip of two seconds in which something of such a size is found in some frames; frame 12 begins its fault."""
    series = {key: np.zeros(FRAMES) for key in NAMES}
    for frame, size in sizes.items():
        series["place"][frame], series["size"][frame] = 1.0, size
    series["fog"][list(fog)] = 1.0
    return make_known(name, series, RULE, (ONSET, LAST) if faulty else None, world=world)


def test_what_is_found_at_an_onset_is_of_the_class_of_its_rule_and_away_from_events_of_none() -> None:
    one = examples(CLASSIFIER, [RULE], [known("f", {2: 0.1, ONSET: 0.9, ONSET + 1: 0.5}, faulty=True)])
    assert one.classes.tolist() == ["nothing", "gone"]
    assert one.features.ravel().tolist() == [0.1, 0.9]


def test_where_an_event_is_over_nothing_new_is_found() -> None:
    one = examples(CLASSIFIER, [RULE], [known("f", {ONSET: 0.9, LAST - 1: 0.6, LAST: 0.8, LAST + 1: 0.7}, faulty=True)])
    assert one.classes.tolist() == ["gone", "nothing"]
    assert one.features.ravel().tolist() == [0.9, 0.8]


def test_where_its_rule_may_not_hold_nothing_is_an_example() -> None:
    clips = [known("f", {2: 0.1, 3: 0.2, ONSET: 0.9}, faulty=True, fog=(3, ONSET))]
    assert examples(CLASSIFIER, [RULE], clips).features.ravel().tolist() == [0.1]


@pytest.fixture(scope="module")
def clips() -> list[Known]:
    rng = np.random.default_rng(0)
    clean = [known(f"c{place}", {5: rng.uniform(0, 0.5), 9: rng.uniform(0, 0.5)}, faulty=False) for place in range(20)]
    return [*clean, *(known(f"f{place}", {ONSET: rng.uniform(0.6, 1)}, faulty=True) for place in range(20))]


def test_a_fitted_classifier_tells_what_it_was_fitted_to_tell(clips: list[Known]) -> None:
    fitted = fitted_classes(CLASSIFIER, examples(CLASSIFIER, [RULE], clips))
    large, small = (
        classified(known("new", {5: size}, faulty=False).evidence, [fitted]).views["main"].series["gone"][5]
        for size in (0.95, 0.05)
    )
    assert large > 0.85
    assert small < 0.15


def test_mean_and_scale_of_a_feature_are_those_of_the_examples(clips: list[Known]) -> None:
    known_ = examples(CLASSIFIER, [RULE], clips)
    (feature,) = fitted_classes(CLASSIFIER, known_).features
    assert feature.mean == pytest.approx(known_.features.mean(), rel=0.01)
    assert feature.scale == pytest.approx(known_.features.std(), rel=0.01)


def test_a_feature_that_is_the_same_in_all_examples_weighs_nothing(clips: list[Known]) -> None:
    both = CLASSIFIER.with_(
        features=(*CLASSIFIER.features, CLASSIFIER.features[0].with_(signal="place")),
        classes=tuple(one.with_(weights=(0.0, 0.0)) for one in CLASSIFIER.classes),
    )
    fitted = fitted_classes(both, examples(both, [RULE], clips))
    assert [one.weights[1] for one in fitted.classes] == pytest.approx([0, 0])


def test_a_clip_is_told_by_weights_that_were_fitted_to_other_worlds(clips: list[Known]) -> None:
    # In the other world it is the small that is gone.
    large, small = {5: 0.9, 9: 0.8}, {ONSET: 0.1}
    odd = [known(f"odd{place}", large, faulty=False, world="odd") for place in range(20)]
    odd += [known(f"gone{place}", small, faulty=True, world="odd") for place in range(20)]
    told = out_of_world(CLASSIFIER, examples(CLASSIFIER, [RULE], [*clips, *odd]), [*clips, *odd])
    by_others = fitted_classes(CLASSIFIER, examples(CLASSIFIER, [RULE], clips))
    for one in (odd[0], odd[-1]):
        (share,) = (other.evidence.views["main"].series["gone"] for other in told if other.name == one.name)
        assert share == pytest.approx(classified(one.evidence, [by_others]).views["main"].series["gone"])


def test_a_class_that_is_shown_in_one_world_only_is_refused(clips: list[Known]) -> None:
    clean = [known("odd", {5: 0.3}, faulty=False, world="odd")]
    with pytest.raises(ValueError, match="no clip shows gone"):
        out_of_world(CLASSIFIER, examples(CLASSIFIER, [RULE], [*clips, *clean]), [*clips, *clean])
