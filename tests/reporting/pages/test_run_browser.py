"""The page of a run in a real browser, opened from disk."""

from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

import pytest
from making import coverage

from robogaze.core.events import Box, Evidence
from robogaze.core.report import Failure, Report
from robogaze.domains import Domain
from robogaze.reporting.pages.run import ClipPage

from ..browsing import Opener, Visit
from ..cases import UNREADABLE
from ..samples import (
    ATTACK,
    FPS,
    make_clip,
    make_event,
    make_hypothesis,
    make_provenance,
    make_report,
    make_video,
    page,
    render_html,
    thumbnail,
)

SHOWN_FRAME = """() => {
  const video = document.querySelector("video");
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
  const pen = canvas.getContext("2d");
  pen.drawImage(video, 0, 0);
  const row = pen.getImageData(0, 8, canvas.width, 1).data;
  const bit = (n) => row[4 * Math.floor((n + 0.5) * canvas.width / 6)] > 128;
  return [0, 1, 2, 3, 4, 5].reduce((frame, n) => frame + (bit(n) ? 2 ** n : 0), 0);
}"""


@pytest.fixture(scope="module")
def index(reports: list[Report], domain: Domain, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with an embedded video, a linked one, none, and one that is missing."""
    folder = tmp_path_factory.mktemp("page")
    video = make_video()
    (folder / "linked.mp4").write_bytes(video)
    videos = (f"data:video/mp4;base64,{b64encode(video).decode()}", "linked.mp4", None, "missing.mp4", None)
    pages = [page(report, address) for report, address in zip(reports, videos, strict=True)]
    path = folder / "index.html"
    path.write_text(render_html(pages, [UNREADABLE], domain, f"A title {ATTACK}"), encoding="utf-8")
    return path


@pytest.fixture
def visit(open_page: Opener, index: Path) -> Callable[..., Visit]:
    """Opens the page at a hash."""
    return lambda hash_="", path=index, **settings: open_page(path, hash_, **settings)


def test_the_page_opens_from_disk_and_plays_its_video(visit: Callable[..., Visit]) -> None:
    opened = visit()
    opened.wait("document.querySelector('video').readyState >= 2")
    opened.expect(lambda: opened.text("#clip h2").startswith("disc-0001"))
    assert all(url.startswith(("file:", "data:")) for url in opened.requests)
    assert sum(url.startswith("file:") for url in opened.requests) == 1


def test_an_event_is_sought_and_repeated_until_escape(visit: Callable[..., Visit]) -> None:
    opened = visit("#clip=disc-0001")
    opened.page.locator(".lanes .bar", has_text="Passing through").first.click()
    opened.wait("document.querySelector('video').currentTime < 0.6")  # a second before it
    opened.wait("document.querySelector('video').currentTime > 3.4")  # and on after it
    opened.wait("document.querySelector('video').currentTime < 0.6")  # it came round
    assert 0.24 <= opened.time() < 3.76
    opened.wait("location.hash.includes('event=e1')")
    opened.page.keyboard.press("Escape")
    opened.wait("document.querySelector('video').currentTime > 3.85")


def test_an_event_in_two_parts_repeats_both(visit: Callable[..., Visit]) -> None:
    opened = visit("#clip=disc-0001")
    opened.page.locator(".lanes .bar", has_text="Flicker").first.click()
    opened.wait("document.querySelector('video').currentTime >= 3")
    opened.wait("document.querySelector('video').currentTime < 0.6")


def test_arrows_step_exactly_one_frame(visit: Callable[..., Visit]) -> None:
    opened = visit("#clip=disc-0001")  # which opens at its worst event, frame 20
    opened.wait("document.querySelector('video').readyState >= 2")
    for frame in (21, 22, 23, 24, 25):
        opened.page.keyboard.press("ArrowRight")
        opened.wait(f"!document.querySelector('video').seeking && ({SHOWN_FRAME})() === {frame}")
        opened.wait(f"document.querySelector('.readout').textContent.includes('frame {frame} of')")
    opened.page.keyboard.press("ArrowLeft")
    opened.wait(f"!document.querySelector('video').seeking && ({SHOWN_FRAME})() === 24")


def test_a_picture_of_evidence_goes_to_its_very_frame(visit: Callable[..., Visit]) -> None:
    opened = visit("#clip=disc-0001&event=e1")
    opened.page.get_by_role("button", name="enlarge frame 26 ").first.click()
    opened.wait(f"!document.querySelector('video').seeking && ({SHOWN_FRAME})() === 26")
    opened.expect(lambda: opened.page.evaluate("document.querySelector('video').paused"))


def test_keys_go_through_events_clips_and_playing(visit: Callable[..., Visit]) -> None:
    opened = visit("#clip=disc-0001")
    opened.wait("document.querySelector('video').readyState >= 2")
    opened.page.keyboard.press("n")
    opened.wait("location.hash.includes('event=e4')")  # the first in time
    opened.page.keyboard.press("n")
    opened.wait("location.hash.includes('event=e1')")
    opened.page.keyboard.press("p")
    opened.wait("location.hash.includes('event=e4')")
    opened.page.keyboard.press("Escape")
    opened.wait("!document.querySelector('video').paused")
    opened.page.keyboard.press(" ")
    opened.wait("document.querySelector('video').paused")
    opened.page.keyboard.press("j")
    opened.expect(lambda: opened.text("#clip h2").startswith("disc-0003"))


def test_space_pauses_even_when_the_bar_that_was_clicked_has_the_focus(visit: Callable[..., Visit]) -> None:
    opened = visit("#clip=disc-0001")
    opened.page.locator(".lanes .bar", has_text="Floating").first.click()
    opened.page.keyboard.press("s")
    opened.wait("!document.querySelector('video').paused && document.querySelector('video').currentTime > 2.3")
    opened.page.keyboard.press(" ")
    opened.wait("document.querySelector('video').paused")
    assert opened.time() > 2.2


def test_without_welcome_motion_an_event_is_only_sought(visit: Callable[..., Visit]) -> None:
    opened = visit("#clip=disc-0001", reduced_motion="reduce")
    opened.page.locator(".lanes .bar", has_text="Passing through").first.click()
    opened.wait(f"!document.querySelector('video').seeking && ({SHOWN_FRAME})() === 20")
    opened.expect(lambda: opened.page.evaluate("document.querySelector('video').paused"))


def test_an_instruction_that_is_an_attack_shows_as_text(visit: Callable[..., Visit]) -> None:
    opened = visit("#clip=disc-0002")
    opened.expect(lambda: ATTACK in opened.text(".instruction"))
    opened.expect(lambda: ATTACK in opened.text(".title-line"))
    opened.expect(lambda: opened.page.evaluate("document.images.length") == 0)


def lanes_of(opened: Visit) -> list[tuple[str, str]]:
    """The state of every lane, and its words."""
    opened.wait("document.querySelectorAll('.lanes .row[data-state]').length > 0")
    lanes = opened.page.locator(".lanes .row[data-state]").all()
    return [(lane.get_attribute("data-state"), " ".join(lane.inner_text().split())) for lane in lanes]


def colour_of(opened: Visit, selector: str) -> str:
    return str(opened.page.evaluate("s => getComputedStyle(document.querySelector(s)).color", selector))


def test_lanes_say_what_was_not_examined_and_what_is_undecided(visit: Callable[..., Visit]) -> None:
    lanes = lanes_of(visit("#clip=disc-0003"))
    assert lanes[0] == ("not_examined", "TA Task Progress not examined: the clip has no instruction")
    assert lanes[1][0] == "examined"
    assert "nothing found" not in lanes[1][1], "there is an event"
    assert lanes[2] == ("undecided", "PI Picture Quality undecided: no answer within 60 s, 3 attempts")


def test_an_undecided_clip_has_a_yellow_badge_and_its_coverage(visit: Callable[..., Visit]) -> None:
    opened = visit("#clip=disc-0006")
    badge = opened.page.locator(".clip-head .status")
    opened.expect(lambda: (badge.inner_text(), badge.get_attribute("data-standing")) == ("undecided", "undecided"))
    opened.expect(lambda: "no picture-quality fault found" in opened.text("#clip"))
    opened.expect(
        lambda: (
            lanes_of(opened)
            == [
                ("not_examined", "TA Task Progress not examined: no stage of the pipeline plain looks for it"),
                ("partial", "PH Physical Plausibility partially covered, nothing found"),
                ("examined", "PI Picture Quality nothing found"),
            ]
        )
    )
    tokens = {
        name: opened.page.evaluate(
            """token => {
              const mark = document.body.appendChild(document.createElement("i"));
              mark.style.color = `var(${token})`;
              const colour = getComputedStyle(mark).color;
              mark.remove();
              return colour;
            }""",
            name,
        )
        for name in ("--care", "--good")
    }
    assert tokens["--care"] != tokens["--good"]
    opened.expect(lambda: colour_of(opened, ".clip-head .status") == tokens["--care"])
    green = opened.page.evaluate(
        """colour => [...document.querySelectorAll("#clip *")].filter(
          (part) => [getComputedStyle(part).color, getComputedStyle(part).backgroundColor].includes(colour)).length""",
        tokens["--good"],
    )
    assert green == 0
    opened.go("#clip=disc-0002")
    opened.expect(lambda: colour_of(opened, ".clip-head .status") == tokens["--good"])


def test_the_reason_for_a_state_is_at_hand(visit: Callable[..., Visit]) -> None:
    words = visit("#clip=disc-0006").page.locator(".lanes .lane-words")
    assert [words.nth(number).get_attribute("title") for number in range(3)] == [
        "no stage of the pipeline plain looks for it",
        "measured in the pixels, which show some faults",
        "measured in the pixels of every frame",
    ]


def test_a_lane_shows_what_is_ruled_out_or_undecided(
    visit: Callable[..., Visit], domain: Domain, tmp_path: Path
) -> None:
    noticed = Failure(stage="measure", dimension="physics", kind="evidence_only", message="perhaps")
    claims = [
        make_hypothesis("h1", "picture", "blur", (0, 1), verdict="unverified", reason=reason)
        for reason in ("", "no word")
    ]
    some = coverage("picture", ruled_out=["task"], partial=["physics"])
    for claim in claims:
        report = make_report(domain, make_clip("a"), failures=(noticed,), hypotheses=(claim,), coverage=some)
        path = tmp_path / "index.html"
        path.write_text(render_html([page(report, None)], [], domain, "few"), encoding="utf-8")
        assert lanes_of(visit(path=path)) == [
            ("ruled_out", "TA Task Progress ruled out by the router"),
            ("undecided", "PH Physical Plausibility undecided: perhaps"),
            ("undecided", "PI Picture Quality 3 undecided: Blur"),
        ]


def test_without_a_video_pictures_and_timeline_still_work(visit: Callable[..., Visit]) -> None:
    opened = visit("#clip=disc-0003")
    opened.expect(lambda: "has no video" in opened.text(".reason"))
    opened.page.locator(".lanes .bar", has_text="Floating").click()
    opened.expect(lambda: "frame 16 of" in opened.text(".readout"))
    opened.expect(lambda: opened.page.locator(".stage img").get_attribute("alt") == "frame 16 · 1.00 s")


def test_a_video_that_cannot_be_played_is_replaced_by_a_message(visit: Callable[..., Visit]) -> None:
    opened = visit("#clip=disc-0004")
    opened.wait("!document.querySelector('.reason').hidden")
    opened.expect(lambda: "missing.mp4" in opened.text(".reason"))
    assert opened.problems == ["Failed to load resource: net::ERR_FILE_NOT_FOUND"]
    opened.problems.clear()


def test_claims_set_aside_show_hollow_when_asked_for(visit: Callable[..., Visit]) -> None:
    opened = visit("#clip=disc-0001")
    hollow = opened.page.locator(".lanes .bar[data-kind=hypothesis]:visible")
    opened.expect(lambda: hollow.count() == 0)
    opened.page.get_by_label("show 4 claims set aside").check()
    opened.expect(lambda: hollow.count() == 4)
    opened.page.locator(".lanes .bar", has_text="rejected: Blur").click()
    detail = opened.text("[data-open] .detail")
    assert "The frames do not show it." in detail
    assert "picture specialist" in detail


def test_the_filter_lives_in_the_address(visit: Callable[..., Visit]) -> None:
    opened = visit("#status=clean")
    opened.wait_listed(["disc-0002"])
    for hash_, expected in {
        "#": ["disc-0001", "disc-0003", "disc-0006", "disc-0004", "disc-0002", UNREADABLE.uri],
        "#order=run": ["disc-0001", "disc-0002", "disc-0003", "disc-0004", "disc-0006", UNREADABLE.uri],
        "#status=complete": ["disc-0001", "disc-0006", "disc-0002"],
        "#status=faulty": ["disc-0001", "disc-0003"],
        "#status=undecided": ["disc-0006", "disc-0004"],
        "#status=unscored": ["disc-0004"],
        "#status=unreadable": [UNREADABLE.uri],
        "#dimension=task": ["disc-0001"],
        "#severity=1": ["disc-0001"],
        "#type=floating": ["disc-0001", "disc-0003"],
        "#type=floating&severity=4": ["disc-0001"],
        "#type=floating&severity=5": [],
        "#text=disc FLOAT": ["disc-0001", "disc-0003"],
        "#text=FLOAT&status=partial": ["disc-0003"],
        "#text=nowhere": [],
    }.items():
        opened.go(hash_)
        opened.wait_listed(expected)


def test_the_list_has_each_verdict_and_no_undecided_clip_is_clean(visit: Callable[..., Visit]) -> None:
    opened = visit()
    opened.wait_list(6)
    rows = opened.page.locator(".clips li:visible").all()
    by_name = {" ".join(row.locator(".clip-id").inner_text().split()): row for row in rows}
    assert {name: row.locator(".status").inner_text() for name, row in by_name.items()} == {
        "disc-0001": "faulty",
        "disc-0002": "clean",
        "disc-0003": "faulty, partial",
        "disc-0004": "unscored",
        "disc-0006": "undecided",
        UNREADABLE.uri: "unreadable",
    }
    assert by_name["disc-0002"].locator(".clip-found").inner_text() == "nothing found in any dimension"
    assert by_name["disc-0006"].locator(".clip-found").inner_text() == "nothing found, 1 of 3 dimensions examined"
    assert by_name["disc-0004"].locator(".clip-found").inner_text() == "nothing is known"


def test_what_is_filtered_can_be_linked(visit: Callable[..., Visit]) -> None:
    opened = visit()
    opened.page.get_by_role("combobox", name="Verdict or status").select_option("partial")
    opened.page.get_by_role("searchbox").fill("float")
    opened.wait_listed(["disc-0003"])
    opened.wait_address("text=float&status=partial")


def test_the_ledger_shows_what_a_call_was_shown(visit: Callable[..., Visit]) -> None:
    opened = visit("#clip=disc-0001")
    opened.page.get_by_role("button", name="c9").click()
    text = opened.page.get_by_text("c9 (verify, h3) was shown").inner_text()
    assert text == "c9 (verify, h3) was shown 3 pictures of 640×400 px: frames 8, 12, 16."


def test_the_report_can_be_saved_as_json(visit: Callable[..., Visit], reports: list[Report]) -> None:
    opened = visit("#clip=disc-0001")
    opened.page.get_by_text("Report as JSON").click()
    with opened.page.expect_download() as download:
        opened.page.get_by_role("link", name="save").click()
    assert Report.model_validate_json(Path(download.value.path()).read_bytes()) == reports[0]


@pytest.mark.parametrize("width", [420, 1400])
def test_nothing_is_wider_than_the_window(visit: Callable[..., Visit], width: int) -> None:
    opened = visit("#clip=disc-0001&event=e1")
    opened.page.set_viewport_size({"width": width, "height": 900})
    opened.expect(lambda: opened.page.evaluate("document.documentElement.scrollWidth") <= width)


def test_a_clip_that_is_a_part_of_its_file_is_shown_from_there_to_its_own_end(
    open_page: Opener, domain: Domain, tmp_path: Path
) -> None:
    times = tuple(number / FPS for number in range(32))
    clip = make_clip("part", start_s=1.0, end_s=3.0, frame_count=32, frame_times_s=times, duration_s=2.0)
    video = f"data:video/mp4;base64,{b64encode(make_video()).decode()}"
    path = tmp_path / "index.html"
    path.write_text(render_html([page(make_report(domain, clip), video)], [], domain, "part"), encoding="utf-8")
    opened = open_page(path)
    opened.wait(f"document.querySelector('video').readyState >= 2 && ({SHOWN_FRAME})() === 16")
    opened.page.keyboard.press("ArrowRight")
    opened.wait(f"!document.querySelector('video').seeking && ({SHOWN_FRAME})() === 17")
    opened.expect(lambda: "frame 1 of 0–31 · 0.06 s" in opened.text(".readout"))
    opened.page.keyboard.press(" ")
    opened.wait("document.querySelector('video').currentTime > 2.5")
    opened.wait(f"document.querySelector('video').paused && ({SHOWN_FRAME})() === 47")
    opened.expect(lambda: "frame 31 of" in opened.text(".readout"))
    opened.page.get_by_text("How this report was made").click()
    opened.expect(lambda: "1.00–3.00 s" in opened.page.get_by_role("row", name="part of the clip's file").inner_text())


def test_a_claim_sheet_is_shown_beside_its_event_and_opens_on_its_own(
    open_page: Opener, domain: Domain, tmp_path: Path
) -> None:
    name, event = "K_e1_ab", make_event("e1", "physics", "floating", (1.0, 2.0))
    seen = Evidence(text="a gap under it", frames=(16,), picture=name, source="verify")
    place = Evidence(text="", frames=(16,), box=Box(left=0, top=0, right=0.5, bottom=0.5), source="propose")
    report = make_report(domain, make_clip("disc"), events=(event.with_(evidence=(seen, place)),))
    provenance = make_provenance([("verify", "round 1", (0, 63))])
    picture = provenance.pictures[0].with_(id=name, frames=(0, 15, 16, 63), width=160, height=100)
    report = report.with_(provenance=provenance.with_(pictures=(*provenance.pictures, picture)))
    (tmp_path / "sheet 1.jpg").write_bytes(thumbnail(16))
    path = tmp_path / "index.html"
    shown = ClipPage(report, None, {}, {name: "sheet%201.jpg"})
    path.write_text(render_html([shown], [], domain, "t"), encoding="utf-8")
    opened = open_page(path)
    opened.wait("document.querySelector('[data-moment=sheet] img')?.naturalWidth === 160")
    assert opened.page.locator("[data-moment=sheet] figcaption").inner_text() == "claim sheet, 4 frames from 0 to 63"
    assert opened.page.locator("[data-moment=sheet] a").get_attribute("href") == "sheet%201.jpg"
    assert opened.page.locator(".evidence").count() == 1, "a place alone is no block of its own"
    with opened.page.context.expect_page() as other:
        opened.page.locator("[data-moment=sheet] a").click()
    other.value.wait_for_load_state()
    assert other.value.url.endswith("/sheet%201.jpg")
