"""The sensitivity of an evaluator to planted glitches as tables."""

from collections.abc import Iterator

from robogaze.forge.sensitivity import RULE, BoundedProportion, Group, Sensitivity
from robogaze.reporting.tables.result_table import ResultTable, Row

_COLUMNS = (
    "planted", "found", "undecided", "bounds", "noticed", "found untouched", "onset error (s)", "tIoU", "not examined"
)  # fmt: skip

NOTES = (
    f"{RULE[0].upper()}{RULE[1:]}.",
    "Shares have Wilson intervals, which treat the glitches of a clip as independent. Means are resampled by "
    "source clip.",
    "Found untouched: the report of the untouched clip, which has no glitch, contains the same event.",
    "Undecided: there is no report, or the report leaves the glitch's dimension undecided. The bounds are the "
    "shares if none or "
    "all of the undecided glitches were found. A glitch in a dimension that is not examined counts as missed.",
    "A glitch in the instruction lasts the whole clip, so any event counts as noticing the glitch. There is no "
    "onset error and "
    "no tIoU for this glitch. For dropped frames, the span is a single frame, so the tIoU means little.",
)


def sensitivity_tables(result: Sensitivity) -> Iterator[ResultTable]:
    """Tables of the glitches that were found (in total, and by type, severity and plant), and of the alarms on
    untouched clips.
    """
    for field, groups in (("all", {"all": result.total}), *result.by.items()):
        title = "Found glitches" if field == "all" else f"Found glitches by {field}"
        rows: tuple[Row, ...] = tuple((name, *_cells(group)) for name, group in groups.items())
        yield ResultTable(f"sensitivity-{field}", title, ("" if field == "all" else field, *_COLUMNS), rows, NOTES)
    yield _alarms(result)


def _alarms(result: Sensitivity) -> ResultTable:
    alarms = result.alarms
    rows: list[Row] = [("clips with an alarm", alarms.clips.value)]
    if alarms.clips.open:
        rows += [("undecided clips", alarms.clips.open), ("bounds", _bounds(alarms.clips))]
    rows += [
        ("partial clips", alarms.partial),
        ("alarms per clip", alarms.per_clip),
        ("alarms per minute", alarms.per_minute),
        *((f"of type {name}", number) for name, number in alarms.types.items()),
    ]
    title = f"Alarms on the {alarms.untouched} untouched clips"
    notes = ("An alarm is false only if the clip was clean before anything was planted.",)
    return ResultTable("sensitivity-untouched", title, ("", "value"), tuple(rows), notes)


def _cells(group: Group) -> Row:
    return (
        group.planted,
        group.found.value,
        group.found.open,
        _bounds(group.found),
        group.noticed.value,
        group.found_untouched.value,
        group.onset_error_s,
        group.tiou,
        group.not_examined,
    )


def _bounds(share: BoundedProportion) -> str | None:
    return f"{share.worst:.3f} to {share.best:.3f}" if share.open else None
