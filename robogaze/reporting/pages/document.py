"""What every page is made of: one HTML document that needs no server and no network, closed to anything but itself.

Styles and scripts are files of `templates/css` and `templates/js`, joined in the order named, the scripts as one
module. What users, videos and models wrote is data throughout: Jinja escapes it in the markup, JSON hides `<`, `>` and
`&`, the scripts only ever set text, and a content security policy lets no script run but the one whose hash it names
and, where data lies beside the page, the files which that script itself asks for.
"""

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from robogaze.domains import Domain
from robogaze.reporting import wording

_TEMPLATES = Path(__file__).parent / "templates"
_POLICY = (
    "default-src 'none'; img-src data:; media-src 'self' data: blob: file:; style-src 'unsafe-inline'; "
    "script-src 'sha256-{digest}'{more}; base-uri 'none'; form-action 'none'"
)
_HIDDEN = str.maketrans({sign: f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"})


def document(
    template: str,
    title: str,
    styles: Sequence[str],
    scripts: Sequence[str],
    data: Mapping[str, Any],
    in_page: Mapping[str, str] | None,
    **said: Any,
) -> str:
    """The document as text, to be written as UTF-8.

    `data` are JSON values by the id of the element they stand in; `in_page` are JSON texts that are read only when
    they are asked for, None where they lie in files beside the page. What is `said` goes to the template.
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
            in_page={key: _sealed(text) for key, text in (in_page or {}).items()},
            **said,
        )
    )


def environment() -> jinja2.Environment:
    """Where the templates are found, with the words they share."""
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters.update(listed=wording.listed, amount=wording.amount, money=wording.money, printable=wording.printable)
    return found


def as_json(value: Any) -> Markup:
    """JSON to stand inside a script element: no sign in it can end the element or a line."""
    return _sealed(json.dumps(value, ensure_ascii=False, allow_nan=False))


def _sealed(text: str) -> Markup:
    return Markup(text.translate(_HIDDEN))


def _joined(kind: str, names: Sequence[str]) -> str:
    """The files of a kind, one after the other."""
    return "\n".join((_TEMPLATES / kind / f"{name}.{kind}").read_text(encoding="utf-8") for name in names)


def vocabulary(domain: Domain | None) -> dict[str, Any]:
    """The domain's words, as the scripts need them; no words where the domain is not known."""
    if domain is None:
        return {"dimensions": [], "types": {}, "severity": {}}
    return {
        "dimensions": [
            {"id": d.id, "code": d.code, "name": d.name, "definition": d.definition, "needs": d.needs}
            for d in domain.taxonomy.dimensions
        ],
        "types": {kind.id: {"name": kind.name, "definition": kind.definition} for kind in domain.types.values()},
        "severity": {
            level.level: {"name": level.name, "definition": level.definition} for level in domain.taxonomy.severity
        },
    }
