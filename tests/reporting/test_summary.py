"""What reports add up to, and what may be claimed of them."""

from making import coverage

from robogaze.core.coverage import Coverage
from robogaze.core.report import Failure, Report
from robogaze.core.report_summary import ReportSummary
from robogaze.domains import Domain
from robogaze.reporting.summary import RunSummary, headline, nothing_found, verdict_sentence, worst_severity
from robogaze.reporting.tables.clips import summary_lines

from .cases import UNREADABLE
from .samples import make_clip, make_event, make_hypothesis, make_report

PIXELS = coverage("picture", partial=["physics"], not_examined=["task"])
"""What a pipeline without a model covers."""


def test_every_clip_has_one_verdict_and_one_status(reports: list[Report], domain: Domain) -> None:
    assert [(report.verdict, report.status) for report in reports] == [
        ("faulty", "complete"),
        ("clean", "complete"),
        ("faulty", "partial"),
        ("undecided", "unscored"),
        ("undecided", "complete"),
    ]
    summary = RunSummary(tuple(reports), (UNREADABLE,), domain)
    assert summary.verdicts == {"faulty": 2, "clean": 1, "undecided": 2}
    assert summary.statuses == {"complete": 3, "partial": 1, "unscored": 1}
    assert summary.clips == 6
    short = RunSummary(tuple(map(ReportSummary.of, reports)), (UNREADABLE,), domain)
    assert (short.counts, short.coverage) == (summary.counts, summary.coverage)


def test_every_dimension_is_counted_by_state(reports: list[Report], domain: Domain) -> None:
    ruled_out = make_report(domain, make_clip("a"), coverage=coverage("physics", "picture", ruled_out=["task"]))
    assert RunSummary((*reports, ruled_out), (), domain).coverage == {
        "task": {"examined": 2, "ruled_out": 1, "partial": 0, "not_examined": 3},
        "physics": {"examined": 4, "ruled_out": 0, "partial": 1, "not_examined": 1},
        "picture": {"examined": 4, "ruled_out": 0, "partial": 0, "not_examined": 2},
    }
    assert all(sum(found.values()) == 0 for found in RunSummary[Report]((), (), domain).coverage.values())


def test_the_headline_counts_what_failed_and_leaves_out_what_did_not(reports: list[Report], domain: Domain) -> None:
    every = RunSummary(tuple(reports), (UNREADABLE,), domain)
    assert headline(every) == ("6 clips: 2 faulty, 1 clean, 2 undecided, 1 unreadable (status: 1 partial, 1 unscored)")
    assert headline(RunSummary(tuple(reports[:1]), (), domain)) == "1 clip: 1 faulty, 0 clean, 0 undecided"


def test_a_clip_is_clean_only_where_every_dimension_was_examined_or_ruled_out(domain: Domain) -> None:
    some = coverage("physics", "picture", not_examined=["task"])
    ruled_out = coverage("physics", "picture", ruled_out=["task"])
    reports = [
        make_report(domain, make_clip("a")),
        make_report(domain, make_clip("b"), coverage=some),
        make_report(domain, make_clip("c"), coverage=ruled_out),
    ]
    lines = summary_lines(reports, [], domain)
    assert lines[0] == "3 clips: 0 faulty, 2 clean, 1 undecided"
    assert "1 clip clean in all 3 dimensions." in lines
    assert (
        "1 clip undecided: no fault found in physical plausibility and picture quality (2 of 3 dimensions examined)."
        in lines
    )


def test_what_the_pixels_say_is_named_by_its_dimension_and_never_clean(domain: Domain) -> None:
    report = make_report(domain, make_clip("a"), coverage=PIXELS)
    assert (report.status, report.nothing_found, report.verdict) == ("complete", True, "undecided")
    lines = summary_lines([report], [], domain)
    assert lines[:3] == [
        "1 clip: 0 faulty, 0 clean, 1 undecided",
        "1 clip undecided: no picture-quality fault found (1 of 3 dimensions examined).",
        "Not examined: Task Progress (made not_examined). Partially covered: Physical Plausibility.",
    ]
    assert not any("clean" in line for line in lines[1:])
    assert verdict_sentence(report, domain) == (
        "Undecided: no picture-quality fault found; partially covered: Physical Plausibility; "
        "not examined: Task Progress."
    )


def test_nothing_found_names_the_dimensions_it_holds_for(domain: Domain) -> None:
    assert nothing_found(["picture"], domain) == "no picture-quality fault found"
    assert nothing_found(["task", "picture"], domain) == "no fault found in task progress and picture quality"
    assert nothing_found(["smell"], domain) == "no smell fault found"
    assert nothing_found([], domain) == "no event found, but no dimension was fully examined"


def test_nothing_found_in_the_built_in_domain_is_no_visual_quality_fault(robot: Domain) -> None:
    assert nothing_found(["visual_quality"], robot) == "no visual-quality fault found"


def test_without_a_covered_dimension_the_sentence_names_none(domain: Domain) -> None:
    report = make_report(
        domain, make_clip("a"), coverage=coverage(partial=["physics"], not_examined=["task", "picture"])
    )
    assert verdict_sentence(report, domain) == (
        "Undecided: no event found, but no dimension was fully examined; "
        "partially covered: Physical Plausibility; not examined: Task Progress and Picture Quality."
    )


def test_dimensions_that_were_not_examined_are_in_one_sentence(domain: Domain) -> None:
    reports = [
        make_report(domain, make_clip("a"), coverage=coverage("physics", not_examined=["task", "picture"])),
        make_report(domain, make_clip("b"), coverage=coverage("physics", "picture", not_examined=["task"])),
    ]
    assert "Not examined: Task Progress (made not_examined); Picture Quality in 1 of 2 clips." in summary_lines(
        reports, [], domain
    )


def test_a_reason_that_all_clips_share_is_in_the_sentence(domain: Domain) -> None:
    def report(clip: str, **reasons: str) -> Report:
        said = {name: Coverage(state="not_examined", reason=reason) for name, reason in reasons.items()}
        return make_report(domain, make_clip(clip), coverage={**coverage("picture"), **said})

    same = [report(clip, task="no stage looks for it", physics="no stage looks for it") for clip in "ab"]
    assert "Not examined: Task Progress and Physical Plausibility (no stage looks for it)." in summary_lines(
        same, [], domain
    )
    other = [same[0], report("b", task="the clip has no instruction", physics="no stage looks for it")]
    assert "Not examined: Task Progress; Physical Plausibility (no stage looks for it)." in summary_lines(
        other, [], domain
    )


def test_partially_covered_dimensions_are_in_the_sentence(domain: Domain) -> None:
    reports = [make_report(domain, make_clip("a"), coverage=PIXELS), make_report(domain, make_clip("b"))]
    assert (
        "Not examined: Task Progress in 1 of 2 clips. Partially covered: Physical Plausibility in 1 of 2 clips."
        in summary_lines(reports, [], domain)
    )
    assert "Every dimension was examined or ruled out in every clip with a report." in summary_lines(
        reports[1:], [], domain
    )


def test_a_failure_leaves_its_dimension_undecided_though_it_is_only_partially_covered(domain: Domain) -> None:
    noticed = Failure(stage="measure", dimension="physics", kind="evidence_only", message="perhaps")
    report = make_report(domain, make_clip("a"), failures=(noticed,), coverage=PIXELS)
    assert verdict_sentence(report, domain) == (
        "Undecided: no picture-quality fault found; undecided in Physical Plausibility; not examined: Task Progress."
    )


def test_an_undecided_hypothesis_takes_its_dimension_from_those_without_a_fault(domain: Domain) -> None:
    claims = [make_hypothesis(f"h{d}", d, kind, (0, 1), verdict="unverified")
              for d, kind in (("picture", "blur"), ("physics", "floating"), ("task", "early_end"))]  # fmt: skip
    one = make_report(domain, make_clip("a"), hypotheses=(claims[0],))
    assert verdict_sentence(one, domain) == (
        "Undecided: no fault found in task progress and physical plausibility; undecided in Picture Quality."
    )
    every = make_report(domain, make_clip("a"), hypotheses=tuple(claims))
    assert verdict_sentence(every, domain) == (
        "Undecided: no event found; undecided in Task Progress, Physical Plausibility and Picture Quality."
    )


def test_frames_that_could_not_be_measured_are_below_the_counts(domain: Domain) -> None:
    gap = "Not measured: Blur in 3 of 63 frames (0.50-0.69 s): too dark."
    lines = summary_lines(
        [make_report(domain, make_clip("a"), notes=(gap,)), make_report(domain, make_clip("b"))], [], domain
    )
    assert (
        "In 1 of 2 clips with a report, some frames could not be measured, for up to 1 event type; faults in these "
        "frames are missed (the notes of each clip name the frames)."
    ) in lines
    assert not any("measured" in line for line in summary_lines([make_report(domain, make_clip("b"))], [], domain))


def test_measurements_too_uncertain_for_an_event_are_below_the_counts(domain: Domain) -> None:
    weak = "Too uncertain for an event: Blur. Of 4 such findings 1 was right."
    some = [make_report(domain, make_clip("a"), notes=(weak, weak)), make_report(domain, make_clip("b"))]
    said = (
        "In 1 of 2 clips with a report, a measurement is too uncertain to be an event; the notes of each clip name "
        "the measurement."
    )
    assert said in summary_lines(some, [], domain)
    assert not any("too uncertain" in line for line in summary_lines(some[1:], [], domain))


def test_a_partial_clip_without_events_makes_no_claim(domain: Domain) -> None:
    failure = Failure(stage="examine", dimension="picture", kind="stalled", message="no answer")
    report = make_report(domain, make_clip("a"), failures=(failure,))
    lines = summary_lines([report], [], domain)
    assert lines[0] == "1 clip: 0 faulty, 0 clean, 1 undecided (status: 1 partial)"
    assert not any("fault found" in line or "clip clean" in line for line in lines)


def test_costs_that_no_report_has_are_unknown(reports: list[Report], domain: Domain) -> None:
    lines = summary_lines(reports, [], domain)
    assert lines[-1] == (
        "15 calls; at least 63,826 tokens sent (not known for 1 of 5 values); "
        "at least 2,482 tokens received (not known for 1 of 5 values); "
        "cost at least $0.0042 (not known for 2 of 5 values)."
    )


def test_without_a_report_there_are_only_counts(domain: Domain) -> None:
    assert summary_lines([], [UNREADABLE], domain) == ["1 clip: 0 faulty, 0 clean, 0 undecided, 1 unreadable"]


def test_the_worst_severity_leaves_out_events_without_one(domain: Domain) -> None:
    unrated = make_event("a", "physics", "floating", (0, 1), severity=None)
    rated = make_event("b", "physics", "floating", (0, 1), severity=2)
    assert worst_severity(make_report(domain, make_clip("c"), events=(unrated, rated))) == 2
    assert worst_severity(make_report(domain, make_clip("c"), events=(unrated,))) is None


def test_a_verdict_names_what_it_rests_on(reports: list[Report], domain: Domain) -> None:
    assert [verdict_sentence(report, domain) for report in reports] == [
        "Faulty: 4 events.",
        "Clean: no fault found in any of the 3 dimensions.",
        "Faulty: 1 event; undecided in Picture Quality; not examined: Task Progress.",
        "Unscored: no dimension was examined, so nothing is known about this clip.",
        "Undecided: no picture-quality fault found; partially covered: Physical Plausibility; "
        "not examined: Task Progress.",
    ]


def test_clips_that_wait_are_named_beside_the_counts_of_the_others(reports: list[Report], domain: Domain) -> None:
    summary = RunSummary(tuple(reports), (UNREADABLE,), domain, pending=44)
    line = headline(summary)
    assert line.startswith("6 clips so far: 2 faulty")
    assert line.endswith("; 44 of 50 clips are not scored yet")
    assert (summary.clips, summary.counts["pending"]) == (6, 44)
