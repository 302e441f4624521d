"""The page of a ranking: the candidates of each prompt side by side on one clock, best first, with the reasons for
their ranks.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from robogaze.domains import Domain
from robogaze.ranking import PromptRanking, RankedCandidate, Ranking
from robogaze.reporting.pages.bundles import WrittenPage
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
    domain_of,
    event_filters,
    event_tags,
    names_of,
    page_table,
    write_result_page,
)
from robogaze.reporting.pages.run_folders import RunFolders
from robogaze.reporting.pages.videos import VideoFile
from robogaze.reporting.tables import ResultTable
from robogaze.reporting.tables.ranking import (
    id_sentence,
    ranking_headline,
    ranking_tables,
    reason_of,
    screening_sentence,
)
from robogaze.reporting.wording import count, listed


def write_ranking_page(result: Ranking, folder: Path, domain: str | None = None) -> WrittenPage:
    """Write the page. `domain` is the name of a domain; the page shows its names of types and dimensions."""
    folder.mkdir(parents=True, exist_ok=True)
    candidates = [ranked.candidate for prompt in result.prompts for ranked in prompt.ranked]
    spoken = domain_of({candidate.annotation.taxonomy or "" for candidate in candidates}, domain)
    return write_result_page(ranking_page(result, folder, spoken), folder, spoken)


def ranking_page(result: Ranking, folder: Path, domain: Domain | None) -> ResultPage:
    """The content of the page. Without a domain, types and dimensions are shown by their ids."""
    folders = RunFolders(folder)
    names = names_of(domain)
    entries = tuple(_entry(prompt, folders, names) for prompt in result.prompts if prompt.ranked)
    runs = {
        ranked.candidate.run: folders.page_of(ranked.candidate.annotation)
        for prompt in result.prompts
        for ranked in prompt.ranked
    }
    checks = tuple(_checks(result))
    headline = ranking_headline(result) if result.screening is None else screening_sentence(result.screening)
    ranking, *others = ranking_tables(result)
    return ResultPage(
        kind="Ranking",
        noun="prompt",
        headline=headline,
        facts=tuple(Fact("run", run, page) for run, page in runs.items()),
        checks=checks,
        sections=(
            *(PageSection(table.title, (page_table(table),), open=table.name == "screening") for table in others),
            PageSection(
                "All candidates", (page_table(ranking, link=_link_to_prompt(ranking)),), ranking_headline(result)
            ),
        ),
        filters=(
            Filter("kept", "Best candidate", {"clean": "clean", "faulty": "faulty", "undecided": "undecided"}),
            *event_filters(entries, domain),
        ),
        entries=entries,
        clips={
            ranked.candidate.id: PageClip.of(ranked.candidate.annotation, _video(ranked, folders)).with_(
                id=ranked.candidate.id
            )
            for prompt in result.prompts
            for ranked in prompt.ranked
        },
        one_video=False,
    )


def _link_to_prompt(table: ResultTable) -> Link:
    """The candidates of the prompt of a row."""
    return lambda row, column: f"#entry={quote(str(table.rows[row][0]))}" if column == 0 else ""


def _video(ranked: RankedCandidate, folders: RunFolders) -> VideoFile:
    """The video found through the run folder of the report, otherwise through the candidate's own path."""
    candidate = ranked.candidate
    found = folders.video_of(candidate.annotation)
    if found.path is not None or not candidate.video.is_file():
        return found
    return VideoFile(folders.address(candidate.video), candidate.clip.start_s or 0.0, candidate.clip.sha256)


def _checks(result: Ranking) -> Iterator[ValidityCheck]:
    yield ValidityCheck(True, f"All candidates of a prompt have the same {result.key}.")
    if sentence := id_sentence(result):
        yield ValidityCheck(False, sentence)
    if result.unranked:
        names = listed([clip.id for clip in result.unranked[:3]])
        more = ", ..." if len(result.unranked) > 3 else ""
        clips = count(len(result.unranked), "clip")
        yield ValidityCheck(False, f"{clips} without a rank, never kept: {names}{more}.")
    if any(len(prompt.ranked) < prompt.wanted for prompt in result.prompts):
        yield ValidityCheck(False, "Some prompts have fewer ranked candidates than the number to keep.")


def _entry(prompt: PromptRanking, folders: RunFolders, names: Mapping[str, str]) -> Entry:
    best = prompt.ranked[0]
    kept = sum(ranked.kept for ranked in prompt.ranked)
    verdict = best.candidate.annotation.verdict
    without = f"; {count(len(prompt.unranked), 'clip')} without a rank" if prompt.unranked else ""
    events = [event for ranked in prompt.ranked for event in ranked.candidate.annotation.findings]
    return Entry(
        id=prompt.prompt,
        title=prompt.prompt,
        subtitle=best.candidate.clip.instruction or "",
        mark=(f"best {best.usability:.2f}", {"clean": "good", "faulty": "care"}.get(verdict, "")),
        sentence=f"Keep {kept} of {count(len(prompt.ids), 'candidate')}{without}",
        tags={"kept": (verdict,)},
        events=tuple(event_tags(event) for event in events),
        changes=(),
        sides=tuple(
            (_label(ranked), f"{ranked.candidate.id}: {reason_of(ranked, names)}", ranked.candidate.id)
            for ranked in prompt.ranked
        ),
        links=tuple(_links(prompt, folders)),
    )


def _label(ranked: RankedCandidate) -> str:
    return f"{ranked.rank} {'keep' if ranked.kept else 'drop'} {ranked.usability:.2f}"


def _links(prompt: PromptRanking, folders: RunFolders) -> Iterator[tuple[str, str]]:
    for ranked in prompt.ranked:
        annotation = ranked.candidate.annotation
        if (page := folders.page_of(annotation)) is not None:
            yield f"{ranked.rank} {ranked.candidate.id}", clip_address(page, annotation.clip_id)
