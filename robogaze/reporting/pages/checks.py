"""A check of a result: a sentence that every page shows above its numbers."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ValidityCheck:
    """`good` is true if the sentence names no limit of the result.

    `status` is a status or a verdict by which the list of clips can be filtered, None for no filter.
    """

    good: bool
    sentence: str
    status: str | None = None
