"""Similarities from JSONL, made by people or by any judge outside RoboGaze. A line names a pair by its descriptions,

    {"clip_id": "...", "reference": "The cup falls.", "prediction": "The mug drops.", "similarity": 0.8}

or by the ids of its events, `reference_id` and `prediction_id` instead of the descriptions. Descriptions are valid for
every system. Ids are valid for a single system, because two systems may use the same id for different events.

If the similarity in a line is null, the pair is not judged yet. The table may contain pairs that are never asked for. A
pair that is not in the table is unscored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import model_validator

from robogaze.core.data import Data, Fraction
from robogaze.errors import InputError
from robogaze.judges import JudgeSpec
from robogaze.judges.base import DescriptionPair, Judgement, unscored
from robogaze.judges.jsonl import read_lines

_Key = tuple[Literal["ids", "descriptions"], str, str, str]
"""How the pair is named, the clip, and the names of the reference and the predicted event."""


class _Line(Data):
    clip_id: str
    reference: str | None = None
    prediction: str | None = None
    similarity: Fraction | None
    reference_id: str | None = None
    prediction_id: str | None = None
    instruction: str | None = None

    @model_validator(mode="after")
    def _names_a_pair(self) -> Self:
        given = [name for name in ("reference", "prediction", "reference_id", "prediction_id") if getattr(self, name)]
        if given not in (["reference", "prediction"], ["reference_id", "prediction_id"]):
            raise ValueError("a line has either 'reference' and 'prediction', or 'reference_id' and 'prediction_id'")
        return self

    @property
    def key(self) -> _Key:
        if self.reference is not None and self.prediction is not None:
            return "descriptions", self.clip_id, self.reference, self.prediction
        return "ids", self.clip_id, str(self.reference_id), str(self.prediction_id)


@dataclass(frozen=True)
class TableJudge:
    """Looks similarities up. `asked` records the predicted description of every pair that was found by its ids."""

    path: Path
    fingerprint: str
    similarities: Mapping[_Key, float]
    asked: dict[_Key, str] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def read(cls, path: Path) -> "TableJudge":
        """Read a table, or all .jsonl files of a folder in the order of their names.

        Raises InputError with file, line and key for invalid content, and for a pair that is given twice.
        """
        files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
        found: dict[_Key, float] = {}
        for file in files:
            for where, line in read_lines(file, _Line):
                if line.similarity is None:
                    continue
                if line.key in found:
                    raise InputError(f"{where}: this pair is listed twice ({_named(line.key)})")
                found[line.key] = line.similarity
        return cls(path, sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest(), found)

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
        return f"The table {self.path.name} gives the similarities; it holds {len(self.similarities)} pairs."

    async def rate(self, pairs: Sequence[DescriptionPair]) -> Sequence[Judgement]:
        """A judgement for each pair, in their order.

        Raises InputError if the table identifies a pair by ids and these ids stand for two different predictions.
        """
        return [self._rated(pair) for pair in pairs]

    def _rated(self, pair: DescriptionPair) -> Judgement:
        described: _Key = ("descriptions", pair.clip_id, pair.reference, pair.prediction)
        named: _Key = ("ids", pair.clip_id, pair.reference_id, pair.prediction_id)
        if (similarity := self.similarities.get(described)) is not None:
            return Judgement(similarity)
        if (similarity := self.similarities.get(named)) is None:
            return pair.silent or unscored(f"{self.path.name} does not hold the pair ({_named(described)})")
        if self.asked.setdefault(named, pair.prediction) != pair.prediction:
            raise InputError(
                f"{self.path}: two systems use the same ids for different events ({_named(named)}); identify the pairs "
                "by their descriptions ('reference' and 'prediction')"
            )
        return Judgement(similarity)


def open_table_judge(spec: JudgeSpec) -> TableJudge:
    """Read the table at the path `spec.value`, which is a file or a folder."""
    return TableJudge.read(Path(spec.value))


def _named(key: _Key) -> str:
    _, clip, reference, prediction = key
    return f"clip {clip!r}, reference {reference!r}, prediction {prediction!r}"
