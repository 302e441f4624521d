"""What the offline judge takes from a description: concepts, and whether they are facts."""

from pathlib import Path

import pytest

from judges.offline.small_words import write_words
from robogaze.judges.offline.parsing import parse_description
from robogaze.judges.offline.words import WordList, read_words


@pytest.fixture
def words(tmp_path: Path) -> WordList:
    return read_words(write_words(tmp_path))


def said(text: str, words: WordList) -> str:
    """The concepts in order, those that are no fact with a `-`."""
    return " ".join(
        ("" if mention.fact else "-") + mention.concept for mention in parse_description(text, words).mentions
    )


CASES = [
    ("The red mug drops.", "red cup fall"),
    ("The carton came down", "box"),
    ("The carton comes down", "box fall"),
    ("It hangs in the air.", "float"),
    ("The mug does not drop.", "cup -fall"),
    ("The mug never quite manages in all these many ways to drop.", "cup fall"),  # too far off
    ("The mug does not drop, the ball drops.", "cup -fall ball fall"),
    ("The mug does not drop but the ball drops.", "cup -fall ball fall"),
    ("The ball drops while it should hang in the air.", "ball fall -float"),
    ("Told to drop the mug, it dropped the box.", "-fall -cup fall box"),
    ("The mug should, after the ball, drop.", "-cup ball fall"),
    ("The box is never opened.", "box -open shut"),
    ("The box fails to close.", "box -shut open"),
    ("No mug, no ball.", "-cup -ball"),
    ("", ""),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_a_concept_is_a_fact_unless_it_is_denied_or_wished_for(text: str, expected: str, words: WordList) -> None:
    assert said(text, words) == expected


def test_words_of_no_concept_are_kept_and_idle_ones_are_not(words: WordList) -> None:
    parsed = parse_description("It hangs in the air of the attic.", words)
    assert parsed.unknown == ("attic",)
    assert parsed.words == ("hang", "in", "the", "air", "attic")
