"""API keys: read from the environment, and never written into a run folder or a report."""

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
_MIN_KEY_LENGTH = 8


def api_key(name: str, url: str | None, variable: str | None, environ: Mapping[str, str]) -> str | None:
    """The API key for a server. It is read from the environment variable `variable` if given, otherwise from
    OPENAI_API_KEY for OpenAI and from ROBOGAZE_API_KEY for another server. The key of another server is None if it is
    not set.

    OPENAI_API_KEY is sent to OpenAI only, unless the user gives it as `variable`. Raises InputError if a required key
    is not set or is empty, and if a key is not valid.
    """
    if variable is not None:
        if variable not in environ:
            raise InputError(
                f"the environment variable {variable} (api_key_env) is not set; set it to the server's key"
            )
        return _checked(variable, environ[variable])
    if url is not None:
        return _checked("ROBOGAZE_API_KEY", environ["ROBOGAZE_API_KEY"]) if environ.get("ROBOGAZE_API_KEY") else None
    if "OPENAI_API_KEY" not in environ:
        raise InputError(
            f"openai:{name} is a model of OpenAI, but OPENAI_API_KEY is not set; set OPENAI_API_KEY, or add @URL "
            f"for your server"
        )
    return _checked("OPENAI_API_KEY", environ["OPENAI_API_KEY"])


def _checked(variable: str, key: str) -> str:
    if not key.strip():
        raise InputError(f"the environment variable {variable} is empty; set it to the server's key")
    if not _KEY.fullmatch(key):
        raise InputError(
            f"the environment variable {variable} contains a space or another character that is not allowed in keys"
        )
    return key


def secret_in(value: Any, place: str) -> str | None:
    """The path of the first value that looks like a secret, such as `extra_body.headers.Authorization`, or None."""
    return next(_secrets(value, place), None)


def _secrets(value: Any, place: str) -> Iterator[str]:
    if isinstance(value, str) and _SECRET_VALUE.match(value):
        yield place
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, child in items:
        child_place = f"{place}.{name}"
        if isinstance(child, str) and child and _SECRET_NAME.fullmatch(re.sub(r"[^a-z]", "", str(name).lower())):
            yield child_place
        yield from _secrets(child, child_place)


def check_key_is_not_in(settings: str, key: str | None) -> None:
    """Raise InputError if the key occurs in settings that reports show. Short keys are not checked, because they may
    occur in the settings by chance.
    """
    if key is not None and len(key) >= _MIN_KEY_LENGTH and key in settings:
        raise InputError(
            "a model's name, url, server or extra_body contains its API key, and reports show these fields; "
            "remove the key there"
        )
