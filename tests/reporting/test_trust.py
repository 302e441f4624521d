"""What weakens trust is said, and what does not is said too."""

from robogaze.core.report import Failure, Report
from robogaze.domains import Domain
from robogaze.reporting.tally import Tally
from robogaze.reporting.trust import checks

from .cases import UNREADABLE
from .samples import make_clip, make_report


def sentences(good: bool, *reports: Report, domain: Domain, unreadable: int = 0) -> str:
    tally = Tally(reports, (UNREADABLE,) * unreadable, domain)
    return " ".join(check.sentence for check in checks(tally) if check.good == good)


def test_everything_that_weakens_trust_is_named(reports: list[Report], domain: Domain) -> None:
    said = sentences(False, *reports, domain=domain, unreadable=1)
    assert "1 of 5 clips unscored" in said
    assert "1 file could not be read" in said
    assert "1 clip partial: Picture Quality not judged" in said
    assert "Not assessed: Task Progress in 1 of 4 clips" in said
    assert "In 2 of 4 clips with a report, 27% to 61% of the frames were shown to no specialist" in said
    assert "Of 15 recorded calls 1 failed and 0 brought an answer that broke the form" in said


def test_frames_that_could_not_be_measured_are_counted_though_the_clip_is_ok(domain: Domain) -> None:
    notes = (
        "A remark.",
        "Not measured: Blur in 3 of 63 frames (0.50-0.69 s): too dark.",
        "Not measured: Flicker in ...",
    )
    told = [make_report(domain, make_clip("a"), notes=notes), make_report(domain, make_clip("b"), notes=notes[1:2])]
    said = sentences(False, *told, make_report(domain, make_clip("c")), domain=domain)
    assert said == (
        "In 2 of 3 clips with a report some frames could not be measured, for up to 2 types of event; what happens "
        "only there is missed (the notes of each clip say where)."
    )


def test_what_a_failure_leaves_open_is_named_though_it_is_not_assessed(domain: Domain) -> None:
    noticed = Failure(stage="measure", dimension="physics", kind="evidence only", message="perhaps")
    some = {"assessed": ("picture",), "judged": ("picture",), "in_part": ("physics",), "status": "partial"}
    report = make_report(domain, make_clip("a"), failures=(noticed,), **some)
    assert "1 clip partial: Physical Plausibility not judged;" in sentences(False, report, domain=domain)


def test_where_all_was_looked_at_in_part_nothing_is_judged_as_a_whole(domain: Domain) -> None:
    report = make_report(domain, make_clip("a"), assessed=(), judged=(), in_part=("physics",), status="partial")
    assert "1 clip partial: no dimension is judged as a whole." in sentences(False, report, domain=domain)


def test_a_sound_set_is_said_to_be_sound_point_by_point(domain: Domain) -> None:
    report = make_report(domain, make_clip("a"))
    assert sentences(False, report, domain=domain) == ""
    assert "All 3 dimensions were assessed in every clip" in sentences(True, report, domain=domain)
    assert "No report tells of frames that could not be measured." in sentences(True, report, domain=domain)


def test_another_version_of_the_domain_is_noticed(domain: Domain) -> None:
    other = domain.ref.with_(version="0.0.9", fingerprint="0" * 64)
    report = make_report(domain, make_clip("a")).with_(domain=other)
    assert "1 report made under another version of the domain" in sentences(False, report, domain=domain)


def test_without_a_report_nothing_is_known(domain: Domain) -> None:
    assert "nothing is known about any clip" in sentences(False, domain=domain, unreadable=1)
    assert sentences(True, domain=domain, unreadable=1) == ""
