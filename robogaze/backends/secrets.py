"""Keys of servers: read from the environment, and never written where a run or a report would show them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from robogaze.errors import InputError

_SECRET_NAME = re.compile(
    "x?apikey|key|(access|private|secret|subscription)key|(client)?secret|password|passwd|credentials|"
    "(proxy)?authorization|auth|bearer|(api|auth|access|bearer|session|refresh|hf)?token"
)
_SECRET_VALUE = re.compile(
    r"(Bearer|Basic) |(sk|pk|rk)-[\w-]{12}|(hf|gsk|xai|ghp|github_pat|glpat|nvapi)[_-]\w{12}|AIza\w{12}"
)
_KEY = re.compile(r"[!-~]+")
_LEAST_KEY = 8


def api_key(name: str, url: str | None, variable: str | None, environ: Mapping[str, str]) -> str | None:
    """The key for a server, None for a server of the user's own without one; `variable` is what holds it, if named.

    The vendor's own key is never sent to another address unless the user names its variable for it. Raises InputError
    for a key that is not set, is empty, or holds what no key can.
    """
    if variable is not None:
        if variable not in environ:
            raise InputError(f"api_key_env names {variable}, which is not set in the environment")
        return _checked(variable, environ[variable])
    if url is not None:
        return _checked("ROBOGAZE_API_KEY", environ["ROBOGAZE_API_KEY"]) if environ.get("ROBOGAZE_API_KEY") else None
    if "OPENAI_API_KEY" not in environ:
        raise InputError(f"openai:{name} names no server and OPENAI_API_KEY is not set; add @URL or set it")
    return _checked("OPENAI_API_KEY", environ["OPENAI_API_KEY"])


def _checked(variable: str, key: str) -> str:
    if not key.strip():
        raise InputError(f"the environment variable {variable} is empty; set it to the server's key")
    if not _KEY.fullmatch(key):
        raise InputError(f"the environment variable {variable} holds a space, a line break or a sign that no key has")
    return key


def secret_in(value: Any, place: str) -> str | None:
    """Where in data a secret seems to be, by its name or its form, as in `extra_body.headers.Authorization`."""
    return next(_secrets(value, place), None)


def _secrets(value: Any, place: str) -> Iterator[str]:
    if isinstance(value, str) and _SECRET_VALUE.match(value):
        yield place
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in parts:
        inside = f"{place}.{name}"
        if isinstance(part, str) and part and _SECRET_NAME.fullmatch(re.sub(r"[^a-z]", "", str(name).lower())):
            yield inside
        yield from _secrets(part, inside)


def check_key_is_nowhere(key: str | None, written: str) -> None:
    """Raise InputError where the key is in what would be written down; a short one may be there by chance."""
    if key is not None and len(key) >= _LEAST_KEY and key in written:
        raise InputError("the key of a model is also in its name, url, server or extra_body, which reports would show")
