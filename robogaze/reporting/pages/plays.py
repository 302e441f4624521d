"""The page of plays: what an agent reported, how each report was replayed, and every step with its prediction.

The page has no script: plays are sections that open, and reports link to the steps that show them.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from robogaze.core.events import Event, Hypothesis
from robogaze.core.report import Report
from robogaze.domains import Domain
from robogaze.errors import InputError
from robogaze.interactive.play_trace import PlayEntry
from robogaze.reporting.pages.bundles import WrittenPage
from robogaze.reporting.pages.document import document
from robogaze.reporting.pages.results import page_table
from robogaze.reporting.tables.plays import play_tables
from robogaze.reporting.wording import count
from robogaze.store import StoredRun, configuration_of, write_whole

STYLES = ("base", "run", "results", "plays")
_REPRODUCED = {True: "reproduced", False: "not reproduced", None: "not replayed"}


@dataclass(frozen=True)
class PageStep:
    """A step on the page. `anchor` is its address. `picture` is its screen as a data URI; it is None if there is no
    picture.
    """

    entry: PlayEntry
    anchor: str
    picture: str | None

    @property
    def surprising(self) -> bool:
        """Whether the reply was not as predicted, or there was no reply."""
        return self.entry.as_expected is False or self.entry.fault is not None


@dataclass(frozen=True)
class PagePlay:
    """A play on the page."""

    report: Report
    setting: str
    steps: tuple[PageStep, ...]

    @property
    def not_reported(self) -> list[Hypothesis]:
        """The suspicions that were not reported."""
        return [claim for claim in self.report.hypotheses if claim.verdict != "accepted"]

    def cited(self, claim: Event | Hypothesis) -> list[PageStep]:
        """The steps that the evidence of a claim cites."""
        frames = {frame for evidence in claim.evidence for frame in evidence.frames}
        return [step for step in self.steps if step.entry.step in frames and step.entry.kind != "read"]


def has_plays(root: Path) -> bool:
    """Whether a run folder holds plays of interactive environments."""
    return "play" in configuration_of(root)


def write_plays_page(root: Path, domain: Domain) -> WrittenPage:
    """Write index.html into a run folder of plays, from its reports and traces. Raises InputError for a bad trace."""
    run = StoredRun(root)
    reports = [report for line in run.scored if (report := run.report(line.clip_id)) is not None]
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
        headline=f"{count(found, 'fault')} reported in {count(len(reports), 'play')}",
        table=page_table(next(play_tables(reports, run.unreadable))),
        plays=[_play(run, number, report) for number, report in enumerate(reports, start=1)],
        names={kind.id: kind.name for kind in domain.types.values()},
        reproduced=_REPRODUCED,
        unplayed=run.unreadable,
    )
    path = root / "index.html"
    write_whole(path, text)
    return WrittenPage(path, ())


def _play(run: StoredRun, number: int, report: Report) -> PagePlay:
    entries = _trace(run.root / report.clip.uri)
    facts = report.provenance.media
    setting = ", ".join(f"{name} {facts[name]}" for name in ("mode", "budget", "agent", "memory") if name in facts)
    return PagePlay(report, setting, tuple(_steps(entries, number, run.frames(report.clip.id))))


def _steps(entries: Sequence[PlayEntry], number: int, pictures: Mapping[int, bytes]) -> Iterator[PageStep]:
    for place, entry in enumerate(entries):
        picture = pictures.get(entry.step) if entry.screens else None
        shown = None if picture is None else f"data:image/jpeg;base64,{b64encode(picture).decode('ascii')}"
        yield PageStep(entry, f"play-{number}-{place}", shown)


def _trace(path: Path) -> tuple[PlayEntry, ...]:
    """The entries of a trace; empty without a file."""
    if not path.is_file():
        return ()
    try:
        return tuple(PlayEntry.model_validate_json(line) for line in path.read_bytes().splitlines() if line.strip())
    except ValidationError as error:
        raise InputError(f"{path} is not a trace of a play: {error.errors()[0]['msg']}") from error
