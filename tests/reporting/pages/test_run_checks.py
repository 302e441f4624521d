"""What weakens trust is said, and what does not is said too."""

from making import coverage

from robogaze.core.report import Failure, Report
from robogaze.domains import Domain
from robogaze.reporting.pages.run_checks import checks
from robogaze.reporting.summary import RunSummary

from ..cases import UNREADABLE
from ..samples import make_clip, make_report


def sentences(good: bool, *reports: Report, domain: Domain, unreadable: int = 0) -> str:
    summary = RunSummary(reports, (UNREADABLE,) * unreadable, domain)
    return " ".join(check.sentence for check in checks(summary) if check.good == good)


def test_everything_that_weakens_trust_is_named(reports: list[Report], domain: Domain) -> None:
    said = sentences(False, *reports, domain=domain, unreadable=1)
    assert "1 of 6 clips unscored" in said
    assert "1 file could not be read" in said
    assert "1 clip partial: undecided in Picture Quality; events in these dimensions may be missing." in said
    assert "Not examined: Task Progress in 3 of 5 clips; Physical Plausibility in 1 of 5 clips; " in said
    assert "In 2 of 5 clips with a report, no specialist saw 27% to 61% of the frames" in said
    assert "Of 15 recorded calls, 1 failed and 0 got an invalid answer" in said


def test_frames_that_could_not_be_measured_are_counted_though_the_clip_is_clean(domain: Domain) -> None:
    notes = (
        "A remark.",
        "Not measured: Blur in 3 of 63 frames (0.50-0.69 s): too dark.",
        "Not measured: Flicker in ...",
    )
    reports = [make_report(domain, make_clip("a"), notes=notes), make_report(domain, make_clip("b"), notes=notes[1:2])]
    said = sentences(False, *reports, make_report(domain, make_clip("c")), domain=domain)
    assert said == (
        "In 2 of 3 clips with a report, some frames could not be measured, for up to 2 event types; faults in "
        "these frames are missed (the notes of each clip name the frames)."
    )


def test_what_a_failure_leaves_undecided_is_named_though_it_is_only_partially_covered(domain: Domain) -> None:
    noticed = Failure(stage="measure", dimension="physics", kind="evidence_only", message="perhaps")
    some = coverage("picture", partial=["physics"], not_examined=["task"])
    report = make_report(domain, make_clip("a"), failures=(noticed,), coverage=some)
    assert "1 clip partial: undecided in Physical Plausibility;" in sentences(False, report, domain=domain)


def test_a_failure_of_no_dimension_is_a_stage_that_failed(domain: Domain) -> None:
    report = make_report(domain, make_clip("a"), failures=(Failure(stage="scene", kind="stalled", message="late"),))
    said = sentences(False, report, domain=domain)
    assert "1 clip partial: a stage failed (see the failures of each clip)." in said


def test_what_is_covered_partially_is_not_taken_for_examined_and_leads_to_the_undecided(domain: Domain) -> None:
    some = coverage("picture", "task", partial=["physics"])
    summary = RunSummary((make_report(domain, make_clip("a"), coverage=some),), (), domain)
    (found,) = [check for check in checks(summary) if check.sentence == "Partially covered: Physical Plausibility."]
    assert (found.good, found.status) == (False, "undecided")


def test_a_ruled_out_dimension_weakens_nothing(domain: Domain) -> None:
    report = make_report(domain, make_clip("a"), coverage=coverage("picture", "task", ruled_out=["physics"]))
    assert sentences(False, report, domain=domain) == ""


def test_a_set_without_limits_passes_every_check(domain: Domain) -> None:
    report = make_report(domain, make_clip("a"))
    assert sentences(False, report, domain=domain) == ""
    assert "Every dimension was examined or ruled out in every clip with a report." in sentences(
        True, report, domain=domain
    )
    assert "No report mentions frames that could not be measured." in sentences(True, report, domain=domain)


def test_another_version_of_the_domain_is_noticed(domain: Domain) -> None:
    other = domain.ref.with_(version="0.0.9", fingerprint="0" * 64)
    report = make_report(domain, make_clip("a")).with_(domain=other)
    assert "1 report made with a different version of the domain than this page" in sentences(
        False, report, domain=domain
    )


def test_without_a_report_nothing_is_known(domain: Domain) -> None:
    assert "nothing is known about the clips" in sentences(False, domain=domain, unreadable=1)
    assert sentences(True, domain=domain, unreadable=1) == ""
    summary = RunSummary[Report]((), (), domain, pending=3)
    assert "3 of 3 clips are not scored yet" in " ".join(check.sentence for check in checks(summary) if not check.good)


def test_clips_that_wait_are_named(reports: list[Report], domain: Domain) -> None:
    summary = RunSummary(tuple(reports), (), domain, pending=45)
    first = checks(summary)[0]
    assert (first.good, first.sentence.partition(",")[0]) == (False, "45 of 50 clips are not scored yet")
