"""The table of the terminal: one row a clip, in words."""

from io import StringIO

from rich.console import Console

from robogaze.core.report import Report, Unreadable
from robogaze.domains import Domain
from robogaze.reporting.tables.clips import clip_table

from ..cases import UNREADABLE
from ..samples import make_clip, make_event, make_hypothesis, make_report


def printed(reports: list[Report], unreadable: list[Unreadable], domain: Domain) -> list[str]:
    file = StringIO()
    Console(file=file, width=200, color_system=None).print(clip_table(reports, unreadable, domain))
    return [line.rstrip() for line in file.getvalue().splitlines()]


def row(lines: list[str], clip: str) -> str:
    return " ".join(next(line for line in lines if line.startswith(clip)).split())


def test_each_clip_has_a_row_with_its_verdict_in_words(reports: list[Report], domain: Domain) -> None:
    lines = printed(reports, [UNREADABLE], domain)
    assert (
        row(lines, "disc-0001")
        == "disc-0001 faulty 4, worst 5 catastrophic Passing through 1.25-2.75 s 3 of 3 10 not known"
    )
    assert row(lines, "disc-0002") == "disc-0002 clean none - 3 of 3 2 $0.0042"
    assert (
        row(lines, "disc-0003")
        == "disc-0003 faulty, partial 1, severity not given Floating 1.00-2.00 s 1 of 3 3 not known"
    )
    assert row(lines, "disc-0004") == "disc-0004 unscored not known no server answers at the address 0 of 3 0 $0.00"
    assert row(lines, "disc-0006") == "disc-0006 undecided none no picture-quality fault found 1 of 3 0 $0.00"
    assert "unreadable - clips/disc-0005.mp4 is cut short" in row(lines, "clips/disc-0005.mp4")


def test_an_event_in_two_parts_names_both(reports: list[Report], domain: Domain) -> None:
    assert any("Flicker 0.50-0.56 s, 3.00-3.25 s" in line for line in printed(reports, [], domain))


def test_many_events_are_cut_short_with_their_number_and_the_worst_come_first(domain: Domain) -> None:
    events = tuple(
        make_event(f"e{n}", "physics", "floating", (n / 4, n / 4 + 0.2), severity=5 if n == 6 else 2) for n in range(7)
    )
    lines = printed([make_report(domain, make_clip("a"), events=events)], [], domain)
    assert "Floating 1.50-1.70 s" in row(lines, "a ")
    assert lines[-1].strip() == "and 3 more"


def test_a_partial_clip_without_events_is_not_called_free_of_them(domain: Domain) -> None:
    claim = make_hypothesis("h1", "picture", "blur", (0, 1), verdict="unverified")
    report = make_report(domain, make_clip("a"), hypotheses=(claim,))
    assert row(printed([report], [], domain), "a ") == (
        "a undecided, partial none so far "
        "no fault found in task progress and physical plausibility; undecided in Picture Quality 3 of 3 0 $0.00"
    )


def test_only_a_clean_clip_is_green_and_an_undecided_one_is_yellow(reports: list[Report], domain: Domain) -> None:
    styles = {f"{text}": f"{text.style}" for text in clip_table(reports, [UNREADABLE], domain).columns[1].cells}
    assert styles == {
        "faulty": "",
        "clean": "green",
        "faulty, partial": "",
        "unscored": "red",
        "undecided": "yellow",
        "unreadable": "magenta",
    }


def test_text_from_outside_neither_styles_the_table_nor_steers_the_terminal(domain: Domain) -> None:
    clip = make_clip("[red]x[/red]")
    lines = printed([make_report(domain, clip)], [Unreadable(uri="a\x1b[2Jb", reason="[link=x]why[/link]\x07")], domain)
    assert any(line.startswith("[red]x[/red]") for line in lines)
    assert any("a\\x1b[2Jb" in line and "[link=x]why[/link]\\x07" in line for line in lines)
    assert "\x1b" not in "".join(lines)


def test_a_type_the_domain_does_not_know_is_shown_by_its_id(domain: Domain) -> None:
    report = make_report(domain, make_clip("a"), events=(make_event("e1", "physics", "melting", (0, 1)),))
    assert "melting 0.00-1.00 s" in row(printed([report], [], domain), "a ")
