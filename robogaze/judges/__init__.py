"""Judges: how similar are two descriptions of an event?

base.py         the protocol of a judge
rubric.py       rubrics, which turn ratings on axes into a similarity
offline/        the judge without a model
llm.py          a language model as the judge
table.py        similarities from a file or a folder of files
unjudged.py     a list of the pairs without a judgement, to be judged blind
similarity.py   the similarities of the reference events and predicted events of clips
rated_pairs.py  pairs of descriptions with ratings
judge_check.py  how far a judge agrees with ratings
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from robogaze.registry import Registry

if TYPE_CHECKING:
    from robogaze.judges.base import Judge


@dataclass(frozen=True)
class JudgeSpec:
    """The judge that a user asks for.

    Args:
        value: The text after "NAME:", such as the file of a table; for a model, the whole text.
        rubric: The name or the file of the rubric for a model.
        environ: The environment variables that hold the API keys of servers.
        answers: The file of stored answers; by default, the file in the user's cache.
        sample: The number of the repetition. A stored answer is used again only for the same number.
    """

    value: str
    rubric: str = "robogaze"
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    answers: Path | None = None
    sample: int = 0


JUDGES: "Registry[Callable[[JudgeSpec], Judge]]" = Registry(
    "judges",
    {
        "offline": "robogaze.judges.offline:open_offline_judge",
        "table": "robogaze.judges.table:open_table_judge",
        "model": "robogaze.judges.llm:open_model_judge",
    },
)
"""The judges by name; each is opened with a JudgeSpec."""


def open_judge(
    judge: "str | Judge",
    rubric: str = "robogaze",
    environ: Mapping[str, str] | None = None,
    *,
    answers: Path | None = None,
    sample: int = 0,
) -> "Judge":
    """Open the judge that a spec names.

    A spec is NAME or NAME:VALUE if NAME is in JUDGES. Any other spec is a model: KIND:NAME[@URL] or a YAML file. A
    Judge is returned unchanged. See JudgeSpec for the other arguments. Raises InputError for an unknown judge or
    rubric.
    """
    if not isinstance(judge, str):
        return judge
    name, _, value = judge.partition(":")
    name, value = (name, value) if name in JUDGES else ("model", judge)
    return JUDGES.load(name)(JudgeSpec(value, rubric, environ or {}, answers, sample))
