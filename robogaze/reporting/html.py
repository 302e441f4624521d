"""The report as one HTML file that needs nothing else: no server, no network, no other file.

The page is laid out by `templates/page.html.j2`; the files of `templates/css` and `templates/js` go into it in the
order of `_STYLES` and `_SCRIPTS`, the scripts as one module. Reports lie in it as JSON, each in an element of its own
that is parsed when the clip is opened. What users, videos and models wrote is data throughout: Jinja escapes it in the
markup, JSON hides `<`, `>` and `&`, the scripts only ever set text, and a content security policy lets no script run
but the one whose hash it names.
"""

import json
from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from robogaze.core.clip import Clip
from robogaze.core.events import Claim
from robogaze.core.report import Report, Unreadable
from robogaze.core.time import frames_in
from robogaze.domains import Domain
from robogaze.reporting import tally as tallies
from robogaze.reporting import wording
from robogaze.reporting.tally import Tally
from robogaze.reporting.trust import checks, differs

_TEMPLATES = Path(__file__).parent / "templates"
_STYLES = ("base", "run", "list", "severity", "clip", "timeline", "record", "media")
_SCRIPTS = ("dom", "format", "data", "player", "timeline", "claims", "ledger", "record", "clip", "list", "main")
_POLICY = (
    "default-src 'none'; img-src data:; media-src 'self' data: blob: file:; style-src 'unsafe-inline'; "
    "script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
)
_HIDDEN = str.maketrans({sign: f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"})


@dataclass(frozen=True)
class Page:
    """One clip of the page.

    `video` is a data: URI, an address relative to the page, or None when the page carries no video; `thumbnails`
    are small JPEGs by frame number (`frames_to_show` says which are wanted; any may be missing).
    """

    report: Report
    video: str | None
    thumbnails: Mapping[int, bytes]


def frames_to_show(report: Report, per_claim: int = 6) -> tuple[int, ...]:
    """The frames the page wants thumbnails of, ascending.

    For each event, and each hypothesis that became none, at most `per_claim` frames: those cited as evidence
    before the first, the middle and the last one of its spans. Empty when there is neither.
    """
    set_aside = (hypothesis for hypothesis in report.hypotheses if hypothesis.verdict != "accepted")
    wanted: set[int] = set()
    for claim in (*report.events, *set_aside):
        cited = chain.from_iterable(evidence.frames for evidence in claim.evidence)
        wanted.update(list(dict.fromkeys((*cited, *key_frames(claim, report.clip))))[:per_claim])
    return tuple(sorted(wanted))


def key_frames(claim: Claim, clip: Clip) -> tuple[int, int, int]:
    """The first, the middle and the last frame of a claim's spans; the one on show when they hold none."""
    inside = sorted(frames_in(claim.spans, clip.frame_times_s)) or [clip.frame_at(claim.onset_s)]
    return inside[0], inside[len(inside) // 2], inside[-1]


def render_html(pages: Sequence[Page], unreadable: Sequence[Unreadable], domain: Domain, title: str) -> str:
    """The whole page as text, to be written as UTF-8.

    Raises ValueError when two pages show the same clip id, for one of them could not be reached.
    """
    repeated = [clip for clip, times in Counter(page.report.clip.id for page in pages).items() if times > 1]
    if repeated:
        raise ValueError(f"each clip has one page, but these repeat: {', '.join(repeated)}")
    tally = Tally(tuple(page.report for page in pages), tuple(unreadable), domain)
    script = _joined("js", _SCRIPTS)
    digest = b64encode(sha256(script.encode("utf-8")).digest()).decode("ascii")
    template = _environment().get_template("page.html.j2")
    return template.render(
        title=title,
        policy=Markup(_POLICY.format(digest=digest)),
        style=Markup(_joined("css", _STYLES)),
        script=Markup(script),
        tally=tally,
        checks=checks(tally),
        models=_models(tally.reports),
        vocabulary=_as_json(_vocabulary(domain)),
        clips=[_clip(page, domain) for page in pages],
    )


def _joined(kind: str, names: Sequence[str]) -> str:
    """The files of a kind, one after the other."""
    return "\n".join((_TEMPLATES / kind / f"{name}.{kind}").read_text(encoding="utf-8") for name in names)


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        listed=wording.listed, amount=wording.amount, money=wording.money, printable=wording.printable
    )
    environment.globals.update(clean_claims=tallies.clean_claims, dimension_names=tallies.dimension_names)
    return environment


def _as_json(value: Any) -> Markup:
    """JSON to stand inside a script element: no sign in it can end the element or a line."""
    return _sealed(json.dumps(value, ensure_ascii=False, allow_nan=False))


def _sealed(text: str) -> Markup:
    return Markup(text.translate(_HIDDEN))


def _models(reports: Sequence[Report]) -> dict[str, list[str]]:
    """By role, the models that were asked, by their own names; by what the run calls them where none is told."""
    asked: dict[str, dict[str, None]] = {}
    for report in reports:
        for call in report.provenance.calls:
            identity = report.provenance.models.get(call.role, {}).get("identity", {})
            asked.setdefault(call.role, {})[identity.get("name") or call.model] = None
    return {role: list(models) for role, models in asked.items()}


def _vocabulary(domain: Domain) -> dict[str, Any]:
    """The domain's words, as the scripts need them."""
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


def _clip(page: Page, domain: Domain) -> dict[str, Any]:
    """One clip as the template needs it: the entry of the list, and the data behind it."""
    report = page.report
    types = dict.fromkeys(event.type for event in report.events)
    names = [domain.types[kind].name if kind in domain.types else kind for kind in types]
    said = (event.description for event in report.events)
    tokens = (report.status, tallies.standing(report)) if report.status == "ok" else (report.status,)
    return {
        "report": report,
        "status": " ".join(tokens),
        "dimensions": " ".join(dict.fromkeys(d for e in report.events for d in (e.dimension, *e.secondary))),
        "severities": sorted((event.severity or 0 for event in report.events), reverse=True),
        "worst": tallies.worst_severity(report) or 0,
        "types": names,
        "text": " ".join((report.clip.id, report.clip.instruction or "", *names, *said)).lower(),
        "report_json": _sealed(report.model_dump_json()),
        "media_json": _as_json(_media(page, domain)),
    }


def _media(page: Page, domain: Domain) -> dict[str, Any]:
    """What belongs to a clip and is not in its report: the video, the pictures, the key frames, the verdict."""
    report = page.report
    return {
        "video": page.video,
        "thumbnails": {
            number: f"data:image/jpeg;base64,{b64encode(jpeg).decode('ascii')}"
            for number, jpeg in page.thumbnails.items()
        },
        "key_frames": {
            "events": [key_frames(event, report.clip) for event in report.events],
            "hypotheses": [key_frames(hypothesis, report.clip) for hypothesis in report.hypotheses],
        },
        "verdict": tallies.verdict(report, domain),
        "other_version": differs(report, domain),
    }
