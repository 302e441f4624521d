"""Similarities from a JSONL file, made by any judge outside RoboGaze:

    {"clip_id": "...", "reference_id": "...", "prediction_id": "...", "similarity": 0.8}

The file may contain more pairs than are needed; a pair that is not in it is unscored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from robogaze.core.data import Data, Fraction
from robogaze.errors import InputError
from robogaze.judges import JudgeSpec
from robogaze.judges.base import DescriptionPair, Judgement, unscored
from robogaze.judges.jsonl import read_lines

_Key = tuple[str, str, str]


class _Line(Data):
    clip_id: str
    reference_id: str
    prediction_id: str
    similarity: Fraction


@dataclass(frozen=True)
class TableJudge:
    """Looks similarities up."""

    path: Path
    fingerprint: str
    similarities: Mapping[_Key, float]

    @classmethod
    def read(cls, path: Path) -> "TableJudge":
        """Read a table. Raises InputError with file, line and key for what is invalid, and for a pair that is given
        twice.
        """
        found: dict[_Key, float] = {}
        for where, line in read_lines(path, _Line):
            key = line.clip_id, line.reference_id, line.prediction_id
            if key in found:
                raise InputError(f"{where}: prediction_id: this pair is listed twice ({_named(key)})")
            found[key] = line.similarity
        return cls(path, sha256(path.read_bytes()).hexdigest(), found)

    @property
    def name(self) -> str:
        return f"table {self.path.name}"

    @property
    def identity(self) -> Mapping[str, Any]:
        """The hash of the file."""
        return {"judge": "table", "sha256": self.fingerprint}

    @property
    def note(self) -> str:
        """Where the similarities come from."""
        return f"Similarities are read from {self.path.name}, which holds {len(self.similarities)} pairs."

    async def rate(self, pairs: Sequence[DescriptionPair]) -> Sequence[Judgement]:
        """A judgement for each pair, in their order."""
        return [self._rated((pair.clip_id, pair.reference_id, pair.prediction_id)) for pair in pairs]

    def _rated(self, key: _Key) -> Judgement:
        if (similarity := self.similarities.get(key)) is not None:
            return Judgement(similarity)
        return unscored(f"{self.path.name} does not hold the pair ({_named(key)})")


def open_table_judge(spec: JudgeSpec) -> TableJudge:
    """The table in the file that `spec.value` names."""
    return TableJudge.read(Path(spec.value))


def _named(key: _Key) -> str:
    clip, reference, prediction = key
    return f"clip {clip!r}, reference {reference!r}, prediction {prediction!r}"
