"""`robogaze annotations`: what annotators have done, and their annotations as reports."""

from pathlib import Path

import click

from robogaze.cli.shared.clips import check_exist
from robogaze.cli.shared.types import GivenPath


@click.command()
@click.argument("store", type=GivenPath(dir_okay=False))
@click.option(
    "--out",
    type=GivenPath(file_okay=False),
    help="Write the submitted annotations to this folder as reports, with one subfolder per annotator.",
)
@click.option(
    "--without-model", is_flag=True, help="Leave out events that come from a model and that no annotator changed."
)
@click.option("--domain", help="Domain folder of the annotations; needed only if the folder was moved.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object.")
def annotations(store: Path, out: Path | None, without_model: bool, domain: str | None, as_json: bool) -> int:
    """Show how much each annotator has done, and the precision of each run that annotators reviewed.

    STORE is the file in which `robogaze annotate` keeps annotations. --out writes the submitted annotations as reports
    that other commands read, for example `robogaze evaluate --reference OUT/NAME`.
    """
    check_exist(store)

    from robogaze.cli.shared.tables import as_text, print_tables
    from robogaze.reporting.serialize import to_json
    from robogaze.reporting.wording import count
    from robogaze.store import write_whole
    from robogaze.web.annotation_store import open_store
    from robogaze.web.store_summary import reopened_reports, submitted_reports, summarise

    opened = open_store(store, must_exist=True)
    summary = summarise(opened)
    if as_json:
        click.echo(as_text(to_json(summary)))
    else:
        print_tables(summary.tables(), "terminal")
    if out is not None:
        reports = submitted_reports(opened, domain, without_model=without_model)
        for path, report in reports.items():
            write_whole(out / path, report.model_dump_json(indent=1) + "\n")
        for path in sorted(reopened_reports(opened)):
            if (out / path).is_file():
                (out / path).unlink()
                click.echo(f"removed, because open again: {path}", err=True)
        drafts = sum(row.drafts for row in summary.annotators)
        rest = f"; {count(drafts, 'draft')} left out" if drafts else ""
        click.echo(f"{count(len(reports), 'report')}: {out}{rest}", err=True)
        if blank := sum(not event.description.strip() for report in reports.values() for event in report.events):
            click.echo(
                f"without a description: {count(blank, 'event')}, which robogaze evaluate cannot match", err=True
            )
    return 0
