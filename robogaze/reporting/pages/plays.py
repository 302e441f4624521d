"""The page of plays: what an agent reported, how that was replayed, and every step with its prediction.

It has no script: each play and each step is a section that opens, and reports link to the steps that show them.
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
from robogaze.interactive.trace import PlayEntry
from robogaze.reporting.pages.bundles import WrittenPage
from robogaze.reporting.pages.document import document
from robogaze.reporting.pages.results import page_table
from robogaze.reporting.tables.plays import play_tables
from robogaze.reporting.wording import count
from robogaze.store import StoredRun, write_whole

STYLES = ("base", "run", "results", "plays")
_REPRODUCED = {True: "reproduced", False: "did not show again", None: "not replayed"}


@dataclass(frozen=True)
class PageStep:
    """A step on the page; `anchor` is its address, `picture` its screen as a data URI."""

    entry: PlayEntry
    anchor: str
    picture: str | None

    @property
    def surprising(self) -> bool:
        """Whether the reply was not as predicted, or there was none."""
        return self.entry.as_expected is False or self.entry.fault is not None


@dataclass(frozen=True)
class PageReport:
    """A reported fault on the page; `steps` are the numbers and addresses of the steps that show it."""

    event: Event
    name: str
    replay: str
    steps: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class PagePlay:
    """A play on the page. `others` are the suspicions that were not reported, with the steps that they cite."""

    report: Report
    setting: str
    reports: tuple[PageReport, ...]
    others: tuple[tuple[Hypothesis, str, tuple[tuple[int, str], ...]], ...]
    steps: tuple[PageStep, ...]


def has_plays(root: Path) -> bool:
    """Whether a run folder holds plays of interactive environments."""
    return (root / "plays").is_dir()


def write_plays_page(root: Path, domain: Domain) -> WrittenPage:
    """Write index.html into a run folder of plays, from its reports and traces. Raises InputError for a bad trace."""
    run = StoredRun(root)
    reports = [report for line in run.lines if (report := run.report(line.clip_id)) is not None]
    plays = [_play(run, number, report, domain) for number, report in enumerate(reports, start=1)]
    found = sum(len(play.reports) for play in plays)
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
        unplayed=run.unreadable,
    )
    path = root / "index.html"
    write_whole(path, text)
    return WrittenPage(path, ())


def _play(run: StoredRun, number: int, report: Report, domain: Domain) -> PagePlay:
    entries = _trace(run.root / report.clip.uri)
    pictures = run.frames(report.clip.id)
    steps = tuple(_steps(entries, number, pictures))
    anchors = {step.entry.step: step.anchor for step in steps if step.entry.kind != "read"}
    names = {kind.id: kind.name for kind in domain.types.values()}
    facts = report.provenance.media
    setting = ", ".join(f"{name} {facts[name]}" for name in ("mode", "budget", "agent", "memory") if name in facts)
    return PagePlay(
        report=report,
        setting=setting,
        reports=tuple(
            PageReport(
                event,
                names.get(event.type, event.type),
                _REPRODUCED[None if event.reproduction is None else event.reproduction.reproduced],
                _cited(event, anchors),
            )
            for event in report.events
        ),
        others=tuple(
            (claim, names.get(claim.type, claim.type), _cited(claim, anchors))
            for claim in report.hypotheses
            if claim.verdict != "accepted"
        ),
        steps=steps,
    )


def _cited(claim: Event | Hypothesis, anchors: Mapping[int, str]) -> tuple[tuple[int, str], ...]:
    cited = sorted({frame for evidence in claim.evidence for frame in evidence.frames})
    return tuple((step, anchors[step]) for step in cited if step in anchors)


def _steps(entries: Sequence[PlayEntry], number: int, pictures: Mapping[int, bytes]) -> Iterator[PageStep]:
    for place, entry in enumerate(entries):
        picture = pictures.get(entry.step) if entry.screens else None
        shown = None if picture is None else f"data:image/jpeg;base64,{b64encode(picture).decode('ascii')}"
        yield PageStep(entry, f"play-{number}-{place}", shown)


def _trace(path: Path) -> tuple[PlayEntry, ...]:
    """The entries of a trace; empty if it is not there."""
    if not path.is_file():
        return ()
    try:
        return tuple(PlayEntry.model_validate_json(line) for line in path.read_bytes().splitlines() if line.strip())
    except ValidationError as error:
        raise InputError(f"{path} is no trace of a play: {error.errors()[0]['msg']}") from error
