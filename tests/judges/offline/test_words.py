"""The word list: what words have in common, and which phrases are found."""

from pathlib import Path

import pytest

from judges.offline.small_words import write_words
from robogaze.judges.offline import data_folder
from robogaze.judges.offline.words import Phrases, Stemmer, read_words

STEMMER = Stemmer({"fell": "fall", "fallen": "fall", "lying": "lie"})

FORMS = [
    ("drop", "drops", "dropped", "dropping"),
    ("close", "closes", "closed", "closing"),
    ("carry", "carries", "carried", "carrying"),
    ("box", "boxes"),
    ("glass", "glasses", "glass's"),
    ("stir", "stirred", "stirring"),
    ("fall", "falls", "fell", "fallen", "falling"),
    ("lie", "lying"),
    ("sudden", "suddenly"),
    ("hit", "hits", "hitting"),
    ("bus", "buses"),
]


@pytest.mark.parametrize("forms", FORMS, ids=lambda forms: forms[0])
def test_the_forms_of_a_word_have_one_stem(forms: tuple[str, ...]) -> None:
    assert len({STEMMER.stem(form) for form in forms}) == 1


def test_different_words_keep_different_stems() -> None:
    different = ["cup", "cube", "car", "cart", "ring", "king", "need", "red", "this", "gas", "fly", "seed", "lens"]
    assert len({STEMMER.stem(word) for word in different}) == len(different)


def test_the_end_of_a_clause_is_heard_and_times_are_not() -> None:
    assert STEMMER.stems("At 2.5 s, it drops: frame 12 is black.") == ("at", ",", "it", "drop", ":", "is", "black", ".")
    assert STEMMER.stems("The robot’s mid-air 3 cups") == ("the", "robot", "mid", "air", "3", "cup")
    assert STEMMER.stems("") == ()


def test_of_phrases_the_longest_is_found_and_none_within_another() -> None:
    phrases = Phrases({("in",): "in", ("in", "the", "air"): "floating", ("air", "bag"): "bag", ("the",): "the"})
    found = list(phrases.find(("in", "the", "air", "bag", "in", "a")))
    assert found == [(0, 3, "floating"), (2, 4, "bag"), (4, 5, "in")]


def test_the_list_groups_related_concepts(tmp_path: Path) -> None:
    words = read_words(write_words(tmp_path))
    assert words.kinds["cup"] == "thing"
    assert ("rise", "fall") in words.opposites
    assert {("red", "blue"), ("green", "red")} <= words.opposites, "of colours a thing has one"
    assert words.complements == {"open": "shut", "shut": "open"}
    assert ("item", "cup") in words.broader
    assert ("cup", "item") not in words.broader


def test_the_list_that_is_shipped_can_be_read() -> None:
    words = read_words(data_folder() / "words.yaml")
    assert {"side", "colour", "number", "phase", "fault", "action", "entity"} == set(words.kinds.values())
    assert len(words.kinds) > 250


def test_the_list_that_is_shipped_names_only_its_own_concepts_and_kinds() -> None:
    words = read_words(data_folder() / "words.yaml")
    pairs = (*words.opposites, *words.related, *words.complements.items(), *words.broader)
    assert {concept for pair in pairs for concept in pair} <= words.kinds.keys()
    assert {*words.things, *words.events, *words.always} <= set(words.kinds.values())
