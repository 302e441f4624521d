"""An evaluation as files: the tables, and one page that shows them with the figures."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import jinja2
from markupsafe import Markup

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.evaluation.results import Evaluation, NamedMatch, SystemResult
from robogaze.metrics.controls import duration_s
from robogaze.metrics.tally import scored
from robogaze.reporting.figures import Lane, Point, bars, curve, timeline
from robogaze.reporting.result_tables import ResultTable, files, written

TIMELINES = 24
"""How many clips are drawn for a system: those with the most events that found no match."""


def files_of(result: Evaluation, tables: Sequence[ResultTable]) -> Iterator[tuple[str, str]]:
    """Names and texts of all files."""
    yield from files(tables)
    yield "index.html", page(tables, [svg for system in result.systems for svg in figures_of(system, result)])


def figures_of(system: SystemResult, result: Evaluation) -> Iterator[str]:
    """Figures as SVG: bars by dimension, precision and recall over the threshold where it was swept, and timelines."""
    f1 = {name or "(none given)": scores["desc_f1"] for name, scores in system.dimensions.items()}
    yield bars(f1, f"{system.name}: description F1 by dimension")
    if system.operating_points:
        points = [
            Point(means["desc_recall"].value, means["desc_precision"].value, f"{least:.2f}")
            for least, (means, _) in system.operating_points.items()
        ]
        title = f"{system.name}: precision and recall by the least confidence"
        yield curve(points, title, "description recall", "precision")
    for clip, matches in _worst(system, result):
        length_s = duration_s(clip)
        if length_s is not None:
            lanes = _lanes(clip, system.system.annotations.get(clip.clip_id), matches)
            yield timeline(lanes, length_s, f"{system.name}: {clip.clip_id}")


def _worst(system: SystemResult, result: Evaluation) -> list[tuple[ClipAnnotation, tuple[NamedMatch, ...]]]:
    """The clips with the most unmatched events first; those without any are not worth a look."""

    def unmatched(clip: ClipAnnotation, matches: Sequence[NamedMatch]) -> int:
        return len(clip.findings) + len(_said(system.system.annotations.get(clip.clip_id))) - 2 * len(matches)

    clips = [(unmatched(*one), one) for one in zip(result.clips, system.matches, strict=True)]
    ordered = sorted((one for one in clips if one[0]), key=lambda one: (-one[0], one[1][0].clip_id))
    return [one for _, one in ordered[:TIMELINES]]


def _said(account: ClipAnnotation | None) -> Sequence[AnnotatedEvent]:
    return account.findings if scored(account) else ()


def _lanes(reference: ClipAnnotation, prediction: ClipAnnotation | None, matches: Sequence[NamedMatch]) -> list[Lane]:
    pairs = {("reference", one.reference): number for number, one in enumerate(matches, start=1)}
    pairs |= {("prediction", one.prediction): number for number, one in enumerate(matches, start=1)}
    sides = (("reference", reference.findings), ("prediction", _said(prediction)))
    return [
        Lane(one.type or one.description, one.spans, side == "reference", pairs.get((side, one.id)))
        for side, findings in sides
        for one in findings
    ]


def page(tables: Sequence[ResultTable], figures: Sequence[str]) -> str:
    """One self-contained HTML file; all text is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.get_template("evaluation.html.j2")
    return template.render(tables=tables, figures=[Markup(svg) for svg in figures], written=written)
