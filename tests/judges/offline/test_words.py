"""The word list: what words have in common, which phrases are found, and which faults of the file are named."""

from pathlib import Path

import pytest

from judges.offline.small_words import SMALL, write_words
from robogaze.errors import DomainError
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


FAULTS = [
    ("idle:", "idel:", "words.yaml:3: idel: unknown key"),
    ("opposites: fall / rise", "opposites: fall / sink", "opposites: there is no concept 'sink'"),
    ("opposites: fall / rise", "opposites: fall", "opposites: 'fall' is not a pair 'one / other'"),
    ("exclusive: colour", "exclusive: color", "exclusive: 'color' is not a kind of concept"),
    ("events: fault", "events: faults", "words.yaml:8: events: 'faults' is not a kind of concept"),
    ("item: cup, box", "item: cup, crate", "broader: there is no concept 'crate'"),
    ("blue: blue", "cup: blue", "words.yaml:18: cup: this concept is listed twice"),
]


@pytest.mark.parametrize(("right", "wrong", "message"), FAULTS)
def test_a_fault_is_named_with_its_line(tmp_path: Path, right: str, wrong: str, message: str) -> None:
    assert SMALL.count(right) == 1
    with pytest.raises(DomainError) as raised:
        read_words(write_words(tmp_path, SMALL.replace(right, wrong)))
    assert message in str(raised.value)
    assert raised.value.line is not None
