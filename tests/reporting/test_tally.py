"""What reports add up to, and what may be claimed of them."""

from robogaze.core.report import Failure, Report
from robogaze.domains import Domain
from robogaze.reporting import summary_lines
from robogaze.reporting.tally import Tally, headline, standing, verdict, worst_severity

from .cases import UNREADABLE
from .samples import make_clip, make_event, make_report


def test_every_clip_has_one_standing(reports: list[Report]) -> None:
    assert [standing(report) for report in reports] == ["events", "clean", "partial", "unscored"]


def test_the_standings_add_up_to_all_clips(reports: list[Report], domain: Domain) -> None:
    tally = Tally(tuple(reports), (UNREADABLE,), domain)
    assert sum(tally.standings.values()) == tally.clips == 5


def test_the_headline_counts_what_failed_and_leaves_out_what_did_not(reports: list[Report], domain: Domain) -> None:
    every = Tally(tuple(reports), (UNREADABLE,), domain)
    assert headline(every) == "5 clips: 2 ok (1 without events), 1 partial, 1 unscored, 1 unreadable"
    assert headline(Tally(tuple(reports[:1]), (), domain)) == "1 clip: 1 ok (0 without events)"


def test_a_clean_claim_names_the_dimensions_it_covers(domain: Domain) -> None:
    some = {"assessed": ("physics", "picture"), "judged": ("physics", "picture")}
    reports = [make_report(domain, make_clip("a")), make_report(domain, make_clip("b"), **some)]
    lines = summary_lines(reports, [], domain)
    assert lines[0] == "2 clips: 2 ok (2 without events)"
    assert (
        "1 clip without events, judged in Task Progress, Physical Plausibility and Picture Quality (3 of 3 dimensions)."
        in lines
    )
    assert "1 clip without events, judged in Physical Plausibility and Picture Quality (2 of 3 dimensions)." in lines


def test_what_was_not_assessed_is_said_in_one_sentence(domain: Domain) -> None:
    reports = [
        make_report(domain, make_clip("a"), assessed=("physics",), judged=("physics",)),
        make_report(domain, make_clip("b"), assessed=("physics", "picture"), judged=("physics", "picture")),
    ]
    assert "Not assessed: Task Progress in any clip; Picture Quality in 1 of 2 clips." in summary_lines(
        reports, [], domain
    )


def test_what_was_looked_at_in_part_is_no_part_of_a_clean_claim(domain: Domain) -> None:
    some = {"assessed": ("picture",), "judged": ("picture",), "in_part": ("physics",)}
    reports = [make_report(domain, make_clip("a"), **some), make_report(domain, make_clip("b"))]
    lines = summary_lines(reports[:1], [], domain)
    assert lines[1] == (
        "1 clip without events, judged in Picture Quality (1 of 3 dimensions); "
        "looked at in part: Physical Plausibility."
    )
    assert lines[2] == (
        "Not assessed: Task Progress in this clip. "
        "Looked at in part (nothing found there is no judgement): Physical Plausibility."
    )
    assert "Not assessed: Task Progress in 1 of 2 clips." in summary_lines(reports, [], domain)[3]
    assert verdict(reports[0], domain) == (
        "Nothing found, judged in Picture Quality; looked at in part: Physical Plausibility; "
        "not assessed: Task Progress."
    )


def test_what_was_noticed_outside_the_assessed_is_not_judged(domain: Domain) -> None:
    noticed = Failure(stage="measure", dimension="physics", kind="evidence only", message="perhaps")
    some = {"assessed": ("picture",), "judged": ("picture",), "in_part": ("physics",), "status": "partial"}
    report = make_report(domain, make_clip("a"), failures=(noticed,), **some)
    assert verdict(report, domain) == (
        "Nothing found, judged in Picture Quality; not judged: Physical Plausibility; not assessed: Task Progress."
    )


def test_what_could_not_be_measured_is_said_below_the_counts(domain: Domain) -> None:
    gap = "Not measured: Blur in 3 of 63 frames (0.50-0.69 s): too dark."
    lines = summary_lines(
        [make_report(domain, make_clip("a"), notes=(gap,)), make_report(domain, make_clip("b"))], [], domain
    )
    assert (
        "In 1 of 2 clips with a report some frames could not be measured, for up to 1 type of event; what happens only "
        "there is missed (the notes of each clip say where)."
    ) in lines
    assert not any("measured" in line for line in summary_lines([make_report(domain, make_clip("b"))], [], domain))


def test_what_is_evidence_only_is_said_below_the_counts(domain: Domain) -> None:
    weak = "Measured, but evidence only: Blur. Of 4 such findings 1 was right."
    some = [make_report(domain, make_clip("a"), notes=(weak, weak)), make_report(domain, make_clip("b"))]
    said = (
        "In 1 of 2 clips with a report something was measured that is not sure enough to be an event; the notes of "
        "each clip say what."
    )
    assert said in summary_lines(some, [], domain)
    assert not any("not sure enough" in line for line in summary_lines(some[1:], [], domain))


def test_a_partial_clip_without_events_makes_no_clean_claim(domain: Domain) -> None:
    report = make_report(domain, make_clip("a"), status="partial", judged=("physics",))
    lines = summary_lines([report], [], domain)
    assert lines[0] == "1 clip: 0 ok (0 without events), 1 partial"
    assert not any("clip without events" in line for line in lines)


def test_costs_that_nobody_told_are_said_to_be_unknown(reports: list[Report], domain: Domain) -> None:
    lines = summary_lines(reports, [], domain)
    assert lines[-1] == (
        "15 calls; at least 63,826 tokens sent (not known for 1 of 4); "
        "at least 2,482 tokens received (not known for 1 of 4); cost at least $0.0042 (not known for 2 of 4)."
    )


def test_without_a_report_only_the_counts_are_said(domain: Domain) -> None:
    assert summary_lines([], [UNREADABLE], domain) == ["1 clip: 0 ok (0 without events), 1 unreadable"]


def test_the_worst_severity_leaves_out_events_without_one(domain: Domain) -> None:
    unrated = make_event("a", "physics", "floating", (0, 1), severity=None)
    rated = make_event("b", "physics", "floating", (0, 1), severity=2)
    assert worst_severity(make_report(domain, make_clip("c"), events=(unrated, rated))) == 2
    assert worst_severity(make_report(domain, make_clip("c"), events=(unrated,))) is None


def test_a_verdict_names_what_was_judged_and_what_was_not(reports: list[Report], domain: Domain) -> None:
    assert verdict(reports[2], domain) == (
        "1 event, judged in Physical Plausibility; not judged: Picture Quality; not assessed: Task Progress."
    )
    assert (
        verdict(reports[1], domain)
        == "Nothing found, judged in Task Progress, Physical Plausibility and Picture Quality."
    )
    assert "says nothing" in verdict(reports[3], domain)
