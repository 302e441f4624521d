"""The base of every data type: frozen, strict about keys, and without NaN or infinity."""

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

Fraction = Annotated[float, Field(ge=0, le=1)]
"""A share, in [0, 1]."""


class Data(BaseModel):
    """A frozen record that refuses unknown keys and numbers that are not finite."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def with_(self, **changes: Any) -> Self:
        """A validated copy with some fields changed."""
        return type(self)(**{**{name: getattr(self, name) for name in type(self).model_fields}, **changes})


def first_fault(error: ValidationError) -> tuple[tuple[str | int, ...], str]:
    """Where something does not fit and what is wrong there.

    Of several faults, the version of a schema, from which all others follow; then an unknown key: where a key is
    misspelt, another one is missing, too.
    """
    fault = min(
        error.errors(include_url=False),
        key=lambda fault: (fault["loc"] != ("schema_version",), fault["type"] != "extra_forbidden"),
    )
    if fault["type"] == "extra_forbidden":
        return fault["loc"], "unknown key"
    return fault["loc"], fault["msg"].removeprefix("Value error, ")


def dotted(place: tuple[str | int, ...]) -> str:
    """A place in a record as it is told to people: `events.0.severity`."""
    return ".".join(str(step) for step in place)


def fault_of(error: ValidationError) -> str:
    """What is wrong with a file, with the key if there is one."""
    place, message = first_fault(error)
    return f"{dotted(place)}: {message}" if place else message
