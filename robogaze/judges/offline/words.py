"""The word list of the offline judge: judges/offline/words.yaml.

Words are reduced to stems, so the list needs only one form of each word. A concept is a set of words and phrases with
the same meaning. Concepts belong to kinds (things, colours, sides, ...). The file also lists which concepts exclude,
resemble or include one another. The code contains none of the words.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Generic, Literal, TypeVar

from robogaze.core.data import Data
from robogaze.domains.yaml_files import read_yaml

Stems = tuple[str, ...]
T = TypeVar("T")

CUES = ("idle", "denials", "wanted", "breaks")

_TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)?|[.,;:!?()–—]")
_TIME = re.compile(r"\b\d+(?:\.\d+)?\s*(?:s|sec|seconds?|ms|fps)\b|\b\d+\.\d+\b|\bframes?\s+\d+\b")
_VOWEL = re.compile(r"[aeiouy]")


class WordsFile(Data):
    """words.yaml. Lists are comma-separated texts; a pair is `one / other`."""

    schema_version: Literal[1]
    irregular: dict[str, str]
    idle: str
    denials: str
    wanted: str
    breaks: str
    things: str
    events: str
    always: str
    concepts: dict[str, dict[str, str]]
    opposites: str
    exclusive: str
    related: str
    complements: str
    broader: dict[str, str]


class Stemmer:
    """Reduces words to stems."""

    def __init__(self, irregular: Mapping[str, str]) -> None:
        self._irregular = irregular
        self.stem = cache(self._stemmed)

    def stems(self, text: str) -> Stems:
        """The stems of a text's words; punctuation that ends a clause is kept as a stem. Times are left out."""
        return tuple(map(self.stem, _TOKEN.findall(_TIME.sub(" ", text.lower().replace("’", "'")))))

    def _stemmed(self, word: str) -> str:
        """The stem that a word shares with its other forms."""
        word = word.removesuffix("'s")
        word = self._irregular.get(word, word)
        if len(word) <= 3:
            return word
        word = _without_plural(word)
        word = _without_tense(self._irregular.get(word, word))
        if word.endswith("ly") and len(word) > 5:
            word = word[:-2]
        if word.endswith("e") and len(word) > 3:
            word = word[:-1]
        doubled = len(word) > 3 and word[-1] == word[-2] and not _VOWEL.match(word[-1])
        return word[:-1] if doubled else word


def _without_plural(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _without_tense(word: str) -> str:
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 3 and _VOWEL.search(rest) and not word.endswith("eed"):
            return rest
    return word


class Phrases(Generic[T]):
    """Finds phrases in stems: at each position the longest phrase, and no phrase inside another phrase."""

    def __init__(self, meanings: Mapping[Stems, T]) -> None:
        self._by_first: dict[str, list[tuple[Stems, T]]] = {}
        for phrase, meaning in sorted(meanings.items(), key=lambda item: -len(item[0])):
            self._by_first.setdefault(phrase[0], []).append((phrase, meaning))

    def find(self, stems: Stems) -> Iterator[tuple[int, int, T]]:
        """Yield (start, end, meaning) of each phrase, from the first to the last."""
        reach = 0
        candidates = self._by_first.get
        for start, first in enumerate(stems):
            for phrase, meaning in candidates(first, ()):
                end = start + len(phrase)
                if stems[start:end] == phrase:
                    if end > reach:
                        yield start, end, meaning
                        reach = end
                    break


@dataclass(frozen=True)
class WordList:
    """The word list, prepared for parsing.

    `kinds` maps every concept to its kind, in the file's order. `things` are kinds that name things, `events` are kinds
    that describe events, and `always` are kinds that count even if they are denied. `opposites`, `related` and
    `complements` contain each pair of concepts in both orders. `broader` contains each pair once, as (wider, narrower).
    """

    stemmer: Stemmer
    kinds: Mapping[str, str]
    things: tuple[str, ...]
    events: tuple[str, ...]
    always: tuple[str, ...]
    concepts: Phrases[tuple[str, ...]]
    cues: Phrases[tuple[str, ...]]
    opposites: frozenset[tuple[str, str]]
    related: frozenset[tuple[str, str]]
    complements: Mapping[str, str]
    broader: frozenset[tuple[str, str]]


def read_words(path: Path) -> WordList:
    """Read a word list. Raises DomainError with file and line for a key that is unknown or missing."""
    content = read_yaml(path).parse(WordsFile)
    stemmer = Stemmer({form: base for base, forms in content.irregular.items() for form in _listed(forms)})
    kinds = {concept: kind for kind, concepts in content.concepts.items() for concept in concepts}
    opposites = _pairs(content.opposites)
    for name in _listed(content.exclusive):
        alike = [concept for concept, kind in kinds.items() if kind == name]
        opposites += [(first, second) for first in alike for second in alike if first != second]
    return WordList(
        stemmer=stemmer,
        kinds=kinds,
        things=tuple(_listed(content.things)),
        events=tuple(_listed(content.events)),
        always=tuple(_listed(content.always)),
        concepts=Phrases(_meanings(stemmer, _forms(content))),
        cues=Phrases(_meanings(stemmer, _cues(content))),
        opposites=_both_ways(opposites),
        related=_both_ways(_pairs(content.related)),
        complements=dict(_both_ways(_pairs(content.complements))),
        broader=frozenset((wide, narrow) for wide, names in content.broader.items() for narrow in _listed(names)),
    )


def _pairs(text: str) -> list[tuple[str, str]]:
    pairs = []
    for entry in _listed(text):
        first, second = entry.split("/")
        pairs.append((first.strip(), second.strip()))
    return pairs


def _forms(content: WordsFile) -> Iterator[tuple[str, str]]:
    for concepts in content.concepts.values():
        for concept, forms in concepts.items():
            yield from ((form, concept) for form in _listed(forms))


def _cues(content: WordsFile) -> Iterator[tuple[str, str]]:
    for name in CUES:
        yield from ((form, name) for form in _listed(getattr(content, name)))


def _meanings(stemmer: Stemmer, forms: Iterable[tuple[str, str]]) -> dict[Stems, tuple[str, ...]]:
    """The concepts of each phrase; a word with two meanings has both."""
    found: dict[Stems, dict[str, None]] = {}
    for form, meaning in forms:
        found.setdefault(stemmer.stems(form), {})[meaning] = None
    return {phrase: tuple(meanings) for phrase, meanings in found.items()}


def _both_ways(pairs: Sequence[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    return frozenset(pairs) | frozenset((second, first) for first, second in pairs)


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
