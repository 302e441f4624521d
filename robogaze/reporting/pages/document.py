"""An HTML document that needs no server and no network and loads only its own files.

Styles and scripts are files of `templates/css` and `templates/js`, joined in the order given, the scripts as one
module. Text from users, videos and models is data: Jinja escapes it in the markup, JSON hides `<`, `>` and `&`, and
scripts only set text. A content security policy allows only the script whose hash it names. If data is in files next to
the page, the policy also allows the files that this script loads.
"""

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from robogaze.domains import Domain
from robogaze.reporting import wording

_TEMPLATES = Path(__file__).parent / "templates"
_POLICY = (
    "default-src 'none'; img-src 'self' data: file:; media-src 'self' data: blob: file:; style-src 'unsafe-inline'; "
    "script-src 'sha256-{digest}'{more}; base-uri 'none'; form-action 'none'"
)
_ESCAPES = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})


def document(
    template: str,
    title: str,
    styles: Sequence[str],
    scripts: Sequence[str],
    data: Mapping[str, Any],
    in_page: Mapping[str, str] | None,
    **values: Any,
) -> str:
    """The document as text, to be written as UTF-8.

    `data` are JSON values by the id of their HTML element. `in_page` are JSON texts that the page parses on demand; it
    is None if these texts are in files next to the page. `values` are passed to the template.
    """
    script = _joined("js", scripts)
    digest = b64encode(sha256(script.encode("utf-8")).digest()).decode("ascii")
    more = " 'strict-dynamic'" if in_page is None else ""
    return (
        environment()
        .get_template(template)
        .render(
            title=title,
            policy=Markup(_POLICY.format(digest=digest, more=more)),
            style=Markup(_joined("css", styles)),
            script=Markup(script),
            data={name: as_json(value) for name, value in data.items()},
            in_page={key: _escaped(text) for key, text in (in_page or {}).items()},
            **values,
        )
    )


@cache
def environment() -> jinja2.Environment:
    """The environment of the templates, with their filters. Each template is compiled only once."""
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(
        listed=wording.listed, amount=wording.amount, money=wording.money, printable=wording.printable
    )
    return templates


def as_json(value: Any) -> Markup:
    """JSON for a script element. It contains no character that could end the element or start a new line."""
    return _escaped(json.dumps(value, ensure_ascii=False, allow_nan=False))


def _escaped(text: str) -> Markup:
    return Markup(text.translate(_ESCAPES))


def _joined(kind: str, names: Sequence[str]) -> str:
    """All files of a kind as one text."""
    return "\n".join((_TEMPLATES / kind / f"{name}.{kind}").read_text(encoding="utf-8") for name in names)


def vocabulary(domain: Domain | None) -> dict[str, Any]:
    """The domain's names and definitions for the scripts; empty without a domain."""
    if domain is None:
        return {"dimensions": [], "types": {}, "severity": {}}
    return {
        "dimensions": [
            {
                "id": dimension.id,
                "code": dimension.code,
                "name": dimension.name,
                "definition": dimension.definition,
            }
            for dimension in domain.taxonomy.dimensions
        ],
        "types": {item.id: {"name": item.name, "definition": item.definition} for item in domain.types.values()},
        "severity": {
            level.level: {"name": level.name, "definition": level.definition} for level in domain.taxonomy.severity
        },
    }
