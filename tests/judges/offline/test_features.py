"""The features of pairs, counted by hand on a small word list."""

from pathlib import Path

import numpy as np
import pytest

from judges.cases import pair
from judges.offline.small_words import write_words
from robogaze.judges.base import DescriptionPair
from robogaze.judges.offline.features import Features
from robogaze.judges.offline.words import read_words

CORPUS = ("The red mug drops.", "The blue box rises.", "The ball floats.", "An item is open.")


@pytest.fixture
def features(tmp_path: Path) -> Features:
    return Features(read_words(write_words(tmp_path)), CORPUS)


def of(features: Features, pair: DescriptionPair) -> dict[str, float]:
    """The features of one pair that are not 0."""
    found, _ = features.of([pair])
    return {name: float(values[0]) for name, values in found.items() if values[0] != 0}


def test_the_same_concepts_in_other_words_agree(features: Features) -> None:
    found = of(features, pair("The red mug drops.", "A scarlet cup comes down."))
    assert {name: found[name] for name in ("thing.agree", "colour.agree", "fault.agree", "event.agree", "role")} == {
        "thing.agree": 1, "colour.agree": 1, "fault.agree": 1, "event.agree": 1, "role": 1
    }  # fmt: skip
    assert found["concepts"] == pytest.approx(1)
    assert found.keys() & {"words", "nearly_same"} == set()
    assert not [name for name in found if name.endswith((".apart", ".against"))]


def test_a_wider_or_related_concept_counts_half(features: Features) -> None:
    found = of(features, pair("The cup falls.", "The object floats."))
    assert found["thing.agree"] == (0.5 + 0.5) / 2
    assert found["thing.apart"] == 0.5 + 0.5
    assert found["fault.agree"] == 0.5
    assert found["event.shared"] == 1


def test_agreement_counts_both_sides(features: Features) -> None:
    found = of(features, pair("The cup and the ball fall.", "The cup falls and the red box opens."))
    assert found["thing.agree"] == (1 + 1) / (2 + 2), "one of two, on both sides"
    assert found["thing.apart"] == 1 + 1
    assert found["fault.agree"] == (1 + 1) / (1 + 2)
    assert found["fault.apart"] == 0 + 1
    assert found["colour.apart"] == 1, "a colour that only one side names"
    assert "colour.agree" not in found


def test_what_excludes_one_another_is_against(features: Features) -> None:
    assert of(features, pair("The red cup falls.", "The blue cup falls."))["colour.against"] == 1
    assert of(features, pair("The cup falls.", "The cup rises."))["fault.against"] == 1
    both = of(features, pair("The red cup hits the blue box.", "The blue cup hits the red box."))
    assert "colour.against" not in both, "both sides name both colours"


def test_what_one_side_states_and_the_other_denies_is_against(features: Features) -> None:
    for left, right in (("falls", "does not fall"), ("does not fall", "falls"), ("opens", "is not opened")):
        found = of(features, pair(f"The cup {left}.", f"The cup {right}."))
        assert found["fault.against"] == 1
        assert found["thing.agree"] == 1, "a thing is named also where something is denied of it"
    assert "fault.against" not in of(features, pair("The cup does not fall.", "The cup should fall."))


def test_a_denial_of_the_opposite_agrees(features: Features) -> None:
    found = of(features, pair("The box is shut.", "The box is never opened."))
    assert found["fault.agree"] == 1
    assert "fault.against" not in found


def test_the_role_is_what_befalls_what(features: Features) -> None:
    assert of(features, pair("The cup falls, the box rises.", "The box rises, the cup falls."))["role"] == 1
    assert "role" not in of(features, pair("The cup falls, the box rises.", "The cup rises, the box falls."))
    assert of(features, pair("The cup falls.", "An object falls."))["role"] == 1


def test_labels_count_only_where_both_are_given(features: Features) -> None:
    def labels(left: str | None, right: str | None) -> set[str]:
        return of(features, pair(reference_type=left, prediction_type=right)).keys() & {"type.same", "type.other"}

    assert labels("a", "a") == {"type.same"}
    assert labels("a", "b") == {"type.other"}
    assert labels("a", None) == labels(None, "b") == labels(None, None) == set()


def test_length_compares_the_two_sides(features: Features) -> None:
    longer = of(features, pair("The cup falls.", "The cup falls, slowly and for a long while."))["longer"]
    shorter = of(features, pair("The cup falls, slowly and for a long while.", "The cup falls."))["longer"]
    assert longer == -shorter > 0


def test_a_word_that_was_never_seen_counts_as_much_as_a_rare_one(features: Features) -> None:
    found = of(features, pair("The quokka yodels.", "The quokka sneezes."))
    assert 0.3 < found["words"] < 0.7
    assert of(features, pair("The quokka yodels.", "The quokka yodelled."))["words"] == pytest.approx(1)


def test_only_the_same_words_in_the_same_order_are_the_same(features: Features) -> None:
    others = ["the cup FALLS", "The cups fell!", "Falls the cup.", "The mug falls.", "The cup does not fall."]
    _, same = features.of([pair("The cup falls.", other) for other in others])
    assert same.tolist() == [True, True, False, False, False]


def test_features_of_a_pair_do_not_depend_on_the_others(features: Features) -> None:
    texts = [*CORPUS, "A scarlet cup comes down.", "Nothing of it."]
    pairs = [pair(text, other) for text in texts for other in texts]
    together, _ = features.of(pairs)
    for number, single in enumerate(pairs):
        alone, _ = features.of([single])
        assert all(np.array_equal(alone[name][0], together[name][number]) for name in together)
