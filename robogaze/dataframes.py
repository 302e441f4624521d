"""Results as pandas data frames; pandas is optional."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from robogaze.errors import MissingExtra

if TYPE_CHECKING:
    from pandas import DataFrame


def data_frame(rows: Iterable[Mapping[str, Any]], columns: Sequence[str] | None = None) -> "DataFrame":
    """A data frame of rows; `columns` fixes the order of the columns. Raises MissingExtra without pandas."""
    try:
        import pandas
    except ImportError as error:
        raise MissingExtra("pandas", "pandas") from error
    return pandas.DataFrame(list(rows), columns=None if columns is None else list(columns))
