"""The page of an evaluator's sensitivity: the share of planted glitches that it finds, and each planted clip."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from robogaze.core.annotation import annotation_of
from robogaze.core.report import Report
from robogaze.domains import Domain
from robogaze.forge.sensitivity import Sensitivity, Trial
from robogaze.reporting.pages.results import (
    Entry,
    Fact,
    Filter,
    Link,
    PageClip,
    PageSection,
    ResultPage,
    ValidityCheck,
    clip_address,
    event_filters,
    event_tags,
    names_of,
    page_table,
)
from robogaze.reporting.pages.run_folders import RunFolders
from robogaze.reporting.pages.videos import VideoFile
from robogaze.reporting.tables import ResultTable, cell_text
from robogaze.reporting.tables.sensitivity import NOTES, sensitivity_tables
from robogaze.reporting.wording import count


def sensitivity_page(
    result: Sensitivity, references: Sequence[Report], reports: Sequence[Report], run: Path, folder: Path,
    domain: Domain | None,
) -> ResultPage:  # fmt: skip
    """The content of the page in `folder`. Without a domain, types and dimensions are shown by their ids."""
    clips: dict[str, PageClip] = {}
    pairs = _Pairs(run, RunFolders(folder), {report.clip.id: report for report in reports}, clips)
    planted = [reference for reference in references if reference.events]
    entries = [pairs.planted(*pair) for pair in zip(planted, result.trials, strict=True)]
    entries += [pairs.untouched(reference) for reference in references if not reference.events]
    entries.sort(key=lambda entry: (_ORDER.index(entry.tags["result"][0]), entry.subtitle, entry.id))
    return ResultPage(
        kind="Sensitivity",
        noun="clip",
        headline=sensitivity_headline(result, run.name),
        facts=(
            Fact("run", run.name, pairs.page),
            Fact(
                f"{count(len(planted), 'planted clip')} from",
                ", ".join(sorted({clip.source for clip in result.trials})[:3]),
            ),
        ),
        checks=tuple(_checks(result)),
        sections=tuple(_sections(result, names_of(domain))),
        filters=(
            Filter("result", "Result", {word: word for word in _ORDER}),
            Filter("glitch", "Glitch", {glitch: glitch for glitch in sorted(result.by["glitch"])}),
            *event_filters(entries, domain),
        ),
        entries=tuple(entries),
        clips=clips,
        one_video=True,
    )


def sensitivity_headline(result: Sensitivity, run: str) -> str:
    """The share of planted glitches that are found, and the share of untouched clips with an alarm."""
    found, alarms = result.total.found, result.alarms
    return (
        f"Share of the planted glitches that {run} finds: {cell_text(found.value)}; share that it notices: "
        f"{cell_text(result.total.noticed.value)}. Share of the untouched clips with alarms: "
        f"{cell_text(alarms.clips.value)}."
    )


def _checks(result: Sensitivity) -> Iterator[ValidityCheck]:
    if result.unreported:
        yield ValidityCheck(
            False, f"{count(len(result.unreported), 'clip')} without a report: their glitches are undecided."
        )
    if undecided := result.total.found.open:
        share = result.total.found
        yield ValidityCheck(
            False,
            f"{count(undecided, 'glitch', 'glitches')} undecided and left out of all shares. Depending on these "
            f"glitches, the share of found glitches is between "
            f"{share.worst:.3f} and {share.best:.3f}.",
        )
    if missing := result.total.not_examined:
        yield ValidityCheck(
            False, f"{count(missing, 'glitch', 'glitches')} in dimensions that are not examined count as missed."
        )
    yield from (ValidityCheck(True, note) for note in NOTES)


def _sections(result: Sensitivity, names: Mapping[str, str]) -> Iterator[PageSection]:
    for table in sensitivity_tables(result):
        rows = table.name == "sensitivity-untouched"
        prepared = page_table(table, names=names, link=_link(table), axis_per_row=rows, without_notes=NOTES)
        yield PageSection(table.title, (prepared,), open=table.name in ("sensitivity-all", "sensitivity-type"))


def _link(table: ResultTable) -> Link:
    """The planted clips of a row; in the columns `found` and `noticed`, only the clips that were found or noticed."""
    field = table.name.removeprefix("sensitivity-")
    results = {"found": "found", "undecided": "undecided"}

    def link(row: int, column: int) -> str:
        result = results.get(table.columns[column], "")
        if field == "untouched":
            return "#result=alarm" if row == 0 else ""
        of = "" if field == "all" else f"{field}={quote(str(table.rows[row][0]))}"
        return "#" + "&".join(filter(None, (of, result and f"result={result}")))

    return link


_ORDER = ("missed", "noticed", "undecided", "alarm", "found", "no alarm")
"""The results of a clip, the worst first."""

_TONES = {"missed": "bad", "noticed": "care", "undecided": "care", "alarm": "bad", "found": "good", "no alarm": "good"}


class _Pairs:
    """The planted clips with their reports; the sides of the entries are added to `clips`."""

    def __init__(
        self, run: Path, folders: RunFolders, reports: Mapping[str, Report], clips: dict[str, PageClip]
    ) -> None:
        self._run, self._folders, self._reports, self._clips = run, folders, reports, clips
        page = run / "index.html"
        self.page = folders.address(page) if page.is_file() else None

    def planted(self, reference: Report, trial: Trial) -> Entry:
        """An entry for a planted glitch."""
        event = annotation_of(reference).findings[0]
        words = {True: "found", None: "undecided", False: "noticed" if trial.noticed else "missed"}
        result = words[trial.found]
        if trial.found is None and trial.noticed is None and trial.examined is False:
            result = "missed"
        place = "" if trial.tiou is None else f", tIoU {trial.tiou:.2f}, onset error {trial.onset_error_s or 0.0:.2f} s"
        return self._entry(
            reference,
            result,
            trial.glitch,
            f"{trial.glitch} of severity {trial.severity}, planted in {trial.source}: {result}{place}",
            ("−", "planted", event.type or "(no type)", event.severity),
            {"glitch": (trial.glitch,), "type": (trial.type,), "severity": (str(trial.severity),)},
            {event.id: (result, "")},
        )

    def untouched(self, reference: Report) -> Entry:
        """An entry for an untouched clip."""
        report = self._reports.get(reference.clip.id)
        scored = report is not None and report.status != "unscored"
        result = "undecided" if not scored else "alarm" if report is not None and report.events else "no alarm"
        sentence = f"untouched clip: {result}"
        return self._entry(reference, result, "untouched", sentence, None, {"glitch": ("untouched",)}, {})

    def _entry(
        self, reference: Report, result: str, subtitle: str, sentence: str,
        planted: tuple[str, str, str, int | None] | None, tags: Mapping[str, tuple[str, ...]],
        notes: Mapping[str, tuple[str, str]],
    ) -> Entry:  # fmt: skip
        clip_id = reference.clip.id
        report = self._reports.get(clip_id)
        truth = annotation_of(reference)
        own = None if report is None else annotation_of(report, str(self._run / "reports" / f"{clip_id}.json"))
        video = VideoFile() if own is None else self._folders.video_of(own)
        keys = f"planted/{clip_id}", f"run/{clip_id}"
        self._clips[keys[0]] = PageClip.of(truth, video, notes)
        sides = [("planted", "", keys[0])]
        if own is not None:
            self._clips[keys[1]] = PageClip.of(own, VideoFile())
            sides.append(("reported", self._run.name, keys[1]))
        reported = () if own is None else own.findings
        changes = [planted] if planted else []
        changes += [("+", "reported", event.type or "(no type)", event.severity) for event in reported]
        return Entry(
            id=clip_id,
            title=clip_id,
            subtitle=subtitle,
            mark=(result, _TONES[result]),
            sentence=sentence,
            tags={"result": (result,), **tags},
            events=tuple(event_tags(event) for event in (*truth.findings, *reported)),
            changes=tuple(changes),
            sides=tuple(sides),
            links=()
            if self.page is None or own is None
            else ((f"{self._run.name}: {clip_id}", clip_address(self.page, clip_id)),),
        )
