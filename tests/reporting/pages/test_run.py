"""The page as text: complete, escaped, and closed to anything but its own script."""

import re
from base64 import b64encode
from hashlib import sha256
from html import unescape
from pathlib import Path

import pytest
from making import coverage

from robogaze.core.clip import Layout
from robogaze.core.events import Evidence
from robogaze.core.key_frames import frames_to_show, pictures_to_show
from robogaze.core.report import Report, Unreadable
from robogaze.domains import Domain
from robogaze.reporting.pages import plays, results, run
from robogaze.reporting.pages.run import ClipPage, write_run_page
from robogaze.store import ManifestLine, RunFolder

from ..cases import UNREADABLE, faulty_report
from ..samples import ATTACK, make_clip, make_event, make_hypothesis, make_report, page, page_data, render_html


@pytest.fixture(scope="module")
def text(reports: list[Report], domain: Domain) -> str:
    return render_html([page(report, None) for report in reports], [UNREADABLE], domain, f"A title {ATTACK}")


def test_the_header_counts_every_clip(text: str) -> None:
    words = " ".join(unescape(re.sub(r"<[^>]+>", " ", text.split('<div class="desk">')[0])).split())
    for said in (
        "6 clips 2 faulty 1 clean 2 undecided 1 partial 1 unscored 1 unreadable",
        "model calls 15", "cost at least $0.0042 (not known for 2 of 5 values)", "pipeline plain",
        "vlm openai:big-model", "critic openai:big-model",
        "clips examined Task Progress 2/5, Physical Plausibility 3/5 (1 only partially), Picture Quality 3/5",
        "1 of 6 clips unscored: no dimension could be examined",
        "1 clip clean in all 3 dimensions.",
        "1 clip undecided: no picture-quality fault found (1 of 3 dimensions examined).",
    ):  # fmt: skip
        assert said in words, said


def test_how_many_clips_ruled_a_dimension_out_is_counted_beside_those_that_examined_it(domain: Domain) -> None:
    report = make_report(domain, make_clip("a"), coverage=coverage("physics", "picture", ruled_out=["task"]))
    words = " ".join(unescape(re.sub(r"<[^>]+>", " ", render_html([page(report, None)], [], domain, "t"))).split())
    assert "Task Progress 0/1 (1 ruled out), Physical Plausibility 1/1" in words


def test_every_entry_of_the_list_has_its_verdict(text: str) -> None:
    entries = page_data(text, "list")["clips"]
    assert [(entry["verdict"], entry["status"], entry["covered"]) for entry in entries] == [
        ("faulty", "complete", 3),
        ("clean", "complete", 3),
        ("faulty", "partial", 1),
        ("undecided", "unscored", 0),
        ("undecided", "complete", 1),
    ]


def test_a_page_has_the_verdict_of_a_clip_and_its_coverage(text: str) -> None:
    assert page_data(text, "disc-0006")["media"]["verdict"] == (
        "Undecided: no picture-quality fault found; partially covered: Physical Plausibility; "
        "not examined: Task Progress."
    )


def test_models_are_called_by_their_own_names(reports: list[Report], domain: Domain) -> None:
    models = {"vlm": {"model": "eyes", "identity": {"kind": "openai", "name": "Vendor/Big-8B", "url": "http://h/v1"}}}
    provenance = reports[0].provenance.with_(models=models)
    text = render_html([ClipPage(reports[0].with_(provenance=provenance), None, {})], [], domain, "t")
    header = " ".join(unescape(re.sub(r"<[^>]+>", " ", text.split('<div class="desk">')[0])).split())
    assert "vlm Vendor/Big-8B" in header
    assert "critic openai:big-model" in header, "the name in the run where the server reports none"


def test_unknown_cost_is_never_zero(reports: list[Report], domain: Domain) -> None:
    text = render_html([ClipPage(reports[0], None, {})], [], domain, "t")
    assert "<dt>cost</dt> <dd>not known</dd>" in text
    assert "$0" not in text


def test_the_unreadable_are_listed_with_the_reason(text: str) -> None:
    assert "it declares 64 frames and holds 21" in text


def test_the_reports_are_in_the_page_unchanged(text: str, reports: list[Report]) -> None:
    for report in reports:
        assert Report.model_validate(page_data(text, report.clip.id)["report"]) == report


def test_nothing_from_outside_becomes_markup(reports: list[Report], domain: Domain) -> None:
    evil = f"{ATTACK}</script><!--<script>\"'\u2028"
    event = make_event("e1", "physics", "floating", (0, 1), description=evil)
    report = make_report(
        domain, make_clip("a", instruction=evil, uri=evil), events=(event,), notes=(evil,), author=evil
    )
    text = render_html([ClipPage(report, evil, {})], [Unreadable(uri=evil, reason=evil)], domain, evil)
    assert ATTACK not in text
    assert "<!--" not in text.replace("<!doctype", "")
    assert "\u2028" not in text
    assert text.count("</script>") == 4  # the vocabulary, the list, the clip, and the one script that runs
    assert page_data(text, "a")["media"]["video"] == evil
    assert page_data(text, "list")["clips"][0]["task"] == evil


def test_only_the_pages_own_script_may_run_and_nothing_may_be_fetched(text: str) -> None:
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)">', text)
    script = re.search(r'<script type="module">(.*?)</script>', text, re.DOTALL)
    assert policy is not None
    assert script is not None
    digest = b64encode(sha256(script[1].encode()).digest()).decode()
    rules = [rule.strip() for rule in unescape(policy[1]).split(";")]
    assert rules[:5] == [
        "default-src 'none'",
        "img-src 'self' data: file:",
        "media-src 'self' data: blob: file:",
        "style-src 'unsafe-inline'",
        f"script-src 'sha256-{digest}'",
    ]
    assert not re.search(r'(?:src|href)="(?!#|data:)', text)
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in text


def test_scripts_set_text_and_never_markup() -> None:
    folder = Path(run.__file__).parent / "templates"
    code = "".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.js"))
    for forbidden in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("):
        assert forbidden not in code


def test_every_style_and_script_file_is_in_a_page() -> None:
    folder = Path(run.__file__).parent / "templates"
    assert {path.stem for path in folder.glob("js/*.js")} == {*run.SCRIPTS, *results.SCRIPTS}
    assert {path.stem for path in folder.glob("css/*.css")} == {*run.STYLES, *results.STYLES, *plays.STYLES}


def test_a_page_can_be_made_of_unreadable_clips_alone(domain: Domain) -> None:
    text = render_html([], [UNREADABLE], domain, "t")
    assert "nothing is known about the clips" in unescape(text)


def test_names_that_are_no_valid_text_can_still_be_written(reports: list[Report], domain: Domain) -> None:
    text = render_html([], [Unreadable(uri="clip-\udcff.mp4", reason="no video")], domain, "t")
    assert page_data(text, "list")["unreadable"][0]["uri"] == "clip-\\udcff.mp4"
    text.encode("utf-8")


def test_the_frames_just_before_at_and_after_a_claim_are_kept_first_of_all(domain: Domain) -> None:
    evidence = (Evidence(text="t", frames=(40, 3), source="s"), Evidence(text="t", frames=(3, 7), source="s"))
    event = make_event("e1", "physics", "floating", (1.0, 2.0), evidence=evidence)
    report = make_report(domain, make_clip("a"), events=(event,))
    assert frames_to_show(report) == (3, 7, 15, 16, 24, 31, 32, 40)
    assert frames_to_show(report, per_claim=3) == (15, 16, 32)
    assert frames_to_show(report, per_claim=5) == (3, 15, 16, 32, 40)


@pytest.mark.parametrize(
    ("span", "frames"),
    [
        ((2.0, 2.0625), (31, 32, 33)),  # one frame and its neighbours
        ((0.0, 0.0625), (0, 1)),
        ((3.9375, 4.0), (62, 63)),
        ((1.01, 1.02), (15, 16, 17)),  # between two frames
    ],
)
def test_the_frames_of_an_event_are_those_around_its_span(
    domain: Domain, span: tuple[float, float], frames: tuple[int, ...]
) -> None:
    event = make_event("e1", "physics", "floating", span, evidence=())
    assert frames_to_show(make_report(domain, make_clip("a"), events=(event,))) == frames
    assert frames_to_show(make_report(domain, make_clip("a"))) == ()


def test_frames_are_wanted_for_claims_set_aside_but_not_twice_for_accepted_ones(domain: Domain) -> None:
    accepted = make_hypothesis("h1", "physics", "floating", (0.0, 1.0), verdict="accepted", evidence=())
    rejected = make_hypothesis("h2", "physics", "floating", (2.0, 3.0), evidence=())
    report = make_report(domain, make_clip("a"), hypotheses=(accepted, rejected))
    assert frames_to_show(report) == (31, 32, 40, 47, 48)


def test_pictures_are_wanted_that_are_evidence_of_what_is_shown(domain: Domain) -> None:
    def seen(picture: str | None) -> tuple[Evidence, ...]:
        return (Evidence(text="t", frames=(1,), picture=picture, source="verify"),)

    event = make_event("e1", "physics", "floating", (0.0, 1.0), evidence=(*seen("K_1"), *seen(None)))
    hypotheses = (
        make_hypothesis("h1", "physics", "floating", (0.0, 1.0), verdict="accepted", evidence=seen("K_1")),
        make_hypothesis("h2", "physics", "floating", (0.0, 1.0), verdict="accepted", evidence=seen("K_0")),
        make_hypothesis("h3", "physics", "floating", (2.0, 3.0), evidence=seen("K_2")),
    )
    report = make_report(domain, make_clip("a"), events=(event,), hypotheses=hypotheses)
    assert pictures_to_show(report) == ("K_1", "K_2")


def test_the_page_of_a_run_names_the_pictures_that_are_there(
    reports: list[Report], domain: Domain, tmp_path: Path
) -> None:
    (first, *others), name = faulty_report(domain).events, "K_h1_ab"
    seen = Evidence(text="a gap", frames=(12,), picture=name, source="verify")
    gone = Evidence(text="a gap", frames=(12,), picture="K_h2_cd", source="verify")
    report = faulty_report(domain).with_(events=(first.with_(evidence=(seen, gone)), *others))
    with RunFolder(tmp_path / "run", {}) as folder:
        folder.add(ManifestLine(clip_id=report.clip.id, path="a.mp4", sha256=report.clip.sha256, instruction=None))
        folder.write(report, {}, {name: b"jpeg"})
    page = write_run_page(tmp_path / "run", domain)
    media = page_data(page.path.read_text(encoding="utf-8"), report.clip.id)["media"]
    assert media["pictures"] == {name: f"frames/{report.clip.id}/picture-{name}.jpg"}


def test_views_are_where_pictures_have_them(domain: Domain) -> None:
    """A 2x2 grid of 320 x 200, whose three views of 160 x 100 are two above one, each below its name."""
    report = make_report(domain, make_clip("a", layout=Layout.parse("2x2:left,right,wrist,-")))
    found = page_data(render_html([page(report, None)], [], domain, "t"), "a")["media"]["views"]
    width, height = 2 * 164 - 4, 24 + 2 * 128 - 4
    assert found["picture_ratio"] == width / height
    assert found["places"]["right"]["picture"] == pytest.approx([164 / width, 48 / height, 1, 148 / height])
    assert found["places"]["wrist"]["picture"] == pytest.approx([0, 176 / height, 160 / width, 1])
    assert found["places"]["wrist"]["video"] == [0, 0.5, 0.5, 1]
