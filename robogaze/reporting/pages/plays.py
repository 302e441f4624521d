"""The page of plays: what an agent reported, how that was replayed, and every step with its prediction.

It has no script: each play and each step is a section that opens, and reports link to the steps that show them.
"""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from robogaze.core.events import Event, Hypothesis
from robogaze.core.report import Report
from robogaze.domains import Domain
from robogaze.errors import InputError
from robogaze.interactive.trace import PlayEntry
from robogaze.reporting.pages.bundles import WrittenPage
from robogaze.reporting.pages.document import document
from robogaze.reporting.pages.results import names_of, page_table
from robogaze.reporting.tables.plays import play_tables
from robogaze.reporting.wording import count
from robogaze.store import StoredRun, write_whole

STYLES = ("base", "run", "results", "plays")
_REPRODUCED = {True: "reproduced", False: "did not show again", None: "not replayed"}


@dataclass(frozen=True)
class PagePlay:
    """A play on the page; `pictures` are its screens by step as data URIs, `number` is part of its addresses."""

    number: int
    report: Report
    entries: tuple[PlayEntry, ...]
    pictures: Mapping[int, str]

    @property
    def setting(self) -> str:
        """How the play was made."""
        facts = self.report.provenance.media
        return ", ".join(f"{name} {facts[name]}" for name in ("mode", "budget", "agent", "memory") if name in facts)

    def cited(self, claim: Event | Hypothesis) -> list[tuple[int, str]]:
        """The numbers and addresses of the steps that show a claim."""
        places = {entry.step: place for place, entry in enumerate(self.entries) if entry.kind != "read"}
        steps = sorted({frame for evidence in claim.evidence for frame in evidence.frames})
        return [(step, self.anchor(places[step])) for step in steps if step in places]

    def anchor(self, place: int) -> str:
        """The address of the entry at a place of the trace."""
        return f"play-{self.number}-{place}"


def has_plays(root: Path) -> bool:
    """Whether a run folder holds plays of interactive environments."""
    return (root / "plays").is_dir()


def write_plays_page(root: Path, domain: Domain) -> WrittenPage:
    """Write index.html into a run folder of plays, from its reports and traces. Raises InputError for a bad trace."""
    run = StoredRun(root)
    reports = [report for line in run.lines if (report := run.report(line.clip_id)) is not None]
    plays = [
        PagePlay(number, report, _trace(root / report.clip.uri), _pictures(run.frames(report.clip.id)))
        for number, report in enumerate(reports, start=1)
    ]
    found = sum(len(report.events) for report in reports)
    title = root.resolve().name
    text = document(
        "plays.html.j2",
        title,
        STYLES,
        (),
        {},
        {},
        name=title,
        headline=f"{count(found, 'fault')} reported in {count(len(plays), 'play')}",
        table=page_table(next(play_tables(reports, run.unreadable))),
        plays=plays,
        names=names_of(domain),
        replayed=_REPRODUCED,
    )
    path = root / "index.html"
    write_whole(path, text)
    return WrittenPage(path, ())


def _pictures(frames: Mapping[int, bytes]) -> dict[int, str]:
    return {step: f"data:image/jpeg;base64,{b64encode(jpeg).decode('ascii')}" for step, jpeg in frames.items()}


def _trace(path: Path) -> tuple[PlayEntry, ...]:
    """The entries of a trace; empty if it is not there."""
    if not path.is_file():
        return ()
    try:
        return tuple(PlayEntry.model_validate_json(line) for line in path.read_bytes().splitlines() if line.strip())
    except ValidationError as error:
        raise InputError(f"{path} is no trace of a play: {error.errors()[0]['msg']}") from error
