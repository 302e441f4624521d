"""The base class of data types: frozen, no unknown keys, no NaN or infinity."""

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

Fraction = Annotated[float, Field(ge=0, le=1)]
"""A number in [0, 1]."""


class Data(BaseModel):
    """A frozen pydantic model that refuses unknown keys and numbers that are not finite."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def with_(self, **changes: Any) -> Self:
        """A validated copy with some fields changed."""
        return type(self)(**{**{name: getattr(self, name) for name in type(self).model_fields}, **changes})


def first_fault(error: ValidationError) -> tuple[tuple[str | int, ...], str]:
    """The path and the message of the error to report.

    A wrong schema version comes first, since it causes the other errors; then an unknown key, since a misspelt key also
    makes another key missing.
    """
    detail = min(
        error.errors(include_url=False),
        key=lambda detail: (detail["loc"] != ("schema_version",), detail["type"] != "extra_forbidden"),
    )
    if detail["type"] == "extra_forbidden":
        return detail["loc"], "unknown key"
    message = detail["msg"].removeprefix("Value error, ")
    # A file has lists, which become tuples.
    return detail["loc"], message.replace("a valid tuple", "a list").replace("Tuple should", "List should")


def dotted(path: tuple[str | int, ...]) -> str:
    """A path in a record as text: `events.0.severity`."""
    return ".".join(str(key) for key in path)


def fault_of(error: ValidationError) -> str:
    """The error to report, with its key if there is one."""
    path, message = first_fault(error)
    return f"{dotted(path)}: {message}" if path else message
