"""The page of a comparison in a real browser, opened from disk: two clips side by side on one clock."""

from collections.abc import Callable
from pathlib import Path

import pytest
from checkpoints import annotation, covered, event, run

from robogaze.core.annotation import AnnotatedEvent
from robogaze.domains import Domain
from robogaze.reporting.pages import bundles

from ..browsing import Opener, Visit
from ..checkpoints_on_disk import SHORT, compared, part_run, read, run_folder, two_runs, write_page
from ..samples import ATTACK, FPS, FRAMES

TIMES = "[...document.querySelectorAll('video')].map((video) => video.currentTime)"
VIDEOS = "[...document.querySelectorAll('video')]"
READY = f"{VIDEOS}.length === 2 && {VIDEOS}.every((video) => video.readyState >= 2)"
STILL = f"{VIDEOS}.every((video) => video.paused && !video.seeking)"
SHOWN_FRAMES = """[...document.querySelectorAll("video")].map((video) => {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
  const pen = canvas.getContext("2d");
  pen.drawImage(video, 0, 0);
  const row = pen.getImageData(0, 8, canvas.width, 1).data;
  const bit = (n) => row[4 * Math.floor((n + 0.5) * canvas.width / 6)] > 128;
  return [0, 1, 2, 3, 4, 5].reduce((frame, n) => frame + (bit(n) ? 2 ** n : 0), 0);
}).join()"""
STACK = "#entry=0/stack"


@pytest.fixture(scope="module")
def index(domain: Domain, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of two checkpoints: stack became better, push got events, fold was fixed."""
    folder = tmp_path_factory.mktemp("comparison")
    return write_page(compared(two_runs(folder, domain)), folder / "out", domain)


@pytest.fixture
def visit(open_page: Opener, index: Path) -> Callable[..., Visit]:
    """Opens the page at a hash."""
    return lambda hash_="", **settings: open_page(index, hash_, **settings)


def shows(opened: Visit, frames: tuple[int, int]) -> None:
    """Wait until both videos stand still at these frames."""
    opened.wait(f"{READY} && {STILL} && ({SHOWN_FRAMES}) === '{frames[0]},{frames[1]}'")


def seek(opened: Visit, time_s: float) -> None:
    """Click the ruler at a time."""
    width = opened.place(".ruler")["width"]
    opened.page.locator(".ruler").click(position={"x": width * time_s * FPS / FRAMES, "y": 5})


def test_the_worst_change_is_listed_first_and_open(visit: Callable[..., Visit]) -> None:
    opened = visit()
    opened.wait(READY)
    opened.wait_listed(["push", "stack", "fold"])
    opened.expect(lambda: opened.text("#entry h2") == "push\nnew")
    assert sorted(url.partition(":")[0] for url in opened.requests if not url.startswith("data:")) == ["file"]


def test_both_videos_step_seek_and_stop_together(visit: Callable[..., Visit]) -> None:
    opened = visit(STACK)
    shows(opened, (0, 0))
    for frame in (1, 2, 3):
        opened.page.keyboard.press("ArrowRight")
        shows(opened, (frame, frame))
    opened.page.keyboard.press("ArrowLeft")
    shows(opened, (2, 2))
    seek(opened, 1.53)
    shows(opened, (24, 24))
    opened.expect(lambda: opened.text(".readout") == "1.50 s of 4.00 s")


def test_both_play_on_one_clock_and_the_shorter_waits_at_its_end(visit: Callable[..., Visit]) -> None:
    opened = visit(STACK)
    opened.wait(READY)
    opened.page.keyboard.press("s")
    opened.page.keyboard.press(" ")
    opened.wait(f"({TIMES})[0] > 1")
    opened.page.keyboard.press(" ")  # long before the end: at the end this key would play from the start again
    opened.wait(STILL)
    first, second = opened.page.evaluate(TIMES)
    assert 0.9 < first < 4, "pausing shows a whole frame, which may begin before the time it was paused at"
    assert second == pytest.approx(min(first, SHORT / FPS), abs=0.15)
    opened.expect(lambda: opened.page.get_by_role("button", name="▶ play").count() == 1)
    opened.page.keyboard.press(" ")
    opened.expect(lambda: "the clip ended at 2.50 s" in opened.page.locator(".screen").nth(1).inner_text())
    assert opened.page.evaluate(f"({TIMES})[1]") == pytest.approx(SHORT / FPS, abs=0.1)


def test_a_video_that_is_behind_rests_at_its_last_frame_all_the_same(visit: Callable[..., Visit]) -> None:
    """A busy browser may play one of them too slowly."""
    opened = visit(STACK)
    opened.wait(READY)
    opened.page.evaluate(f"""() => {{
      const [, slow] = {VIDEOS};
      slow.playbackRate = 0.9;
      Object.defineProperty(slow, "playbackRate", {{ get: () => 0.9, set: () => {{}} }});
    }}""")
    opened.page.keyboard.press(" ")
    opened.expect(lambda: "the clip ended at 2.50 s" in opened.page.locator(".screen").nth(1).inner_text())
    opened.wait("document.querySelector('.play').textContent === '▶ play'")
    shows(opened, (FRAMES - 1, SHORT - 1))


def test_a_page_that_is_not_drawn_for_a_while_rests_at_the_last_frames(visit: Callable[..., Visit]) -> None:
    """A busy browser may draw nothing between the end of the shorter clip and that of the other."""
    opened = visit(STACK)
    opened.wait(READY)
    opened.page.evaluate(f"""() => {{
      const [first, second] = {VIDEOS};
      const ask = globalThis.requestAnimationFrame;
      globalThis.requestAnimationFrame = (draw) => {{
        const later = (now) => (first.currentTime > 1 && !first.ended ? ask(later) : draw(now));
        return ask(later);
      }};
      first.addEventListener("timeupdate", () => first.currentTime > 1 && second.pause());
    }}""")
    opened.page.keyboard.press(" ")
    opened.wait("document.querySelector('.play').textContent === '▶ play'")
    shows(opened, (FRAMES - 1, SHORT - 1))


def test_at_the_end_it_stops_and_plays_from_the_start_again(visit: Callable[..., Visit]) -> None:
    opened = visit(STACK)
    opened.wait(READY)
    seek(opened, 3.7)
    opened.page.keyboard.press(" ")
    opened.wait("document.querySelector('.readout').textContent.startsWith('4.00 s')")
    opened.wait("document.querySelector('.play').textContent === '▶ play'")
    opened.page.keyboard.press("s")
    opened.page.keyboard.press(" ")
    opened.wait(f"({TIMES}).every((time) => time > 0.1 && time < 2)")


def test_past_the_end_of_one_clip_the_other_still_steps(visit: Callable[..., Visit]) -> None:
    opened = visit(STACK)
    opened.wait(READY)
    seek(opened, 3.03)
    shows(opened, (48, SHORT - 1))
    opened.page.keyboard.press("ArrowRight")
    shows(opened, (49, SHORT - 1))


def test_the_timelines_share_an_axis_and_say_where_a_clip_is_over(visit: Callable[..., Visit]) -> None:
    opened = visit(STACK)
    opened.wait(READY)
    rows = [" ".join(row.inner_text().split()) for row in opened.page.locator(".shared .row").all()[1:]]
    assert rows[0] == "TA Task Progress before nothing found"
    assert len(rows) == 6
    ruler = opened.place(".ruler")
    bar = opened.page.locator(".shared .bar", has_text="Early end").bounding_box()
    assert bar["x"] - ruler["x"] == pytest.approx(ruler["width"] * 2.0 / 4, abs=2)
    marks = opened.page.locator(".shared .over-mark")
    opened.expect(lambda: marks.count() == 3)
    opened.expect(lambda: marks.first.get_attribute("title") == "the clip ends at 2.50 s")
    opened.expect(lambda: opened.page.evaluate("Number(document.querySelector('.ruler').ariaValueMax)") == FRAMES - 1)


def test_an_event_of_either_clip_loops_both(visit: Callable[..., Visit]) -> None:
    opened = visit(STACK)
    opened.wait(READY)
    opened.page.locator(".shared .bar", has_text="Floating").click()
    opened.wait(f"({TIMES})[0] < 0.4")  # a second before it
    opened.wait(f"({TIMES})[0] > 2.8")  # and on after it
    opened.wait(f"({TIMES})[0] < 0.4")  # it came round
    opened.expect(lambda: all(0 <= time < 3.2 for time in opened.page.evaluate(TIMES)))
    opened.wait_address("event=before+e1")
    opened.page.keyboard.press("Escape")
    opened.wait(f"({TIMES})[0] > 3.2")


def test_without_welcome_motion_an_event_is_only_sought(visit: Callable[..., Visit]) -> None:
    opened = visit(f"{STACK}&event=before+e1", reduced_motion="reduce")
    shows(opened, (16, 16))


def test_descriptions_are_text(visit: Callable[..., Visit]) -> None:
    opened = visit(STACK)
    opened.wait(READY)
    sides = opened.page.locator(".sides .findings")
    opened.expect(lambda: f"It hangs in the air. {ATTACK}" in sides.nth(0).inner_text())
    opened.expect(lambda: "The clip ends while it is held." in sides.nth(1).inner_text())
    opened.expect(lambda: opened.page.locator(".sides .facts:visible").count() == 0)
    sides.nth(1).get_by_role("button", name="Early end").click()
    opened.expect(lambda: "3 moderate" in opened.text(".sides .facts:visible"))


def test_keys_go_through_events_and_prompts(visit: Callable[..., Visit]) -> None:
    opened = visit(STACK)
    opened.wait(READY)
    for wanted in ("before+e2", "before+e1", "after+e1", "before+e2"):
        opened.page.keyboard.press("n")
        opened.wait_address(f"event={wanted}")
    opened.page.keyboard.press("j")
    opened.wait("document.querySelector('#entry h2')?.textContent.startsWith('fold')")
    opened.page.keyboard.press("k")
    opened.wait("document.querySelector('#entry h2')?.textContent.startsWith('stack')")


def test_arrows_scroll_a_table_that_is_too_wide_and_step_everywhere_else(visit: Callable[..., Visit]) -> None:
    opened = visit(STACK, viewport={"width": 420, "height": 900})
    opened.wait(READY)
    opened.page.get_by_role("region", name="Leaderboard of 2 runs").last.focus()
    opened.page.keyboard.press("ArrowRight")
    opened.wait("document.querySelector('.wide').scrollLeft > 0")
    opened.expect(lambda: opened.text(".readout").startswith("0.00 s"))
    opened.page.locator(".ruler").focus()
    opened.page.keyboard.press("ArrowRight")
    opened.expect(lambda: opened.text(".readout").startswith("0.06 s"))


def test_the_filter_lives_in_the_address(visit: Callable[..., Visit]) -> None:
    opened = visit("#kind=fixed")
    opened.wait_listed(["fold"])
    opened.expect(lambda: opened.page.get_by_role("combobox", name="Change").input_value() == "fixed")
    for hash_, expected in {
        "#": ["push", "stack", "fold"],
        "#type=early_end": ["push", "stack"],
        "#type=floating&severity=4": ["stack"],
        "#severity=5": [],
        "#text=FLICKER": ["stack", "fold"],
        "#text=new-push": ["push"],
    }.items():
        opened.go(hash_)
        opened.wait_listed(expected)
    opened.page.get_by_role("combobox", name="Change").select_option("better")
    opened.wait_address("kind=better")
    opened.page.reload()
    opened.wait_address("kind=better")
    opened.expect(lambda: opened.text(".shown") == "0 of 3 changes shown")


def test_clips_in_files_beside_the_page_are_shown_alike(
    domain: Domain, tmp_path: Path, open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundles, "IN_PAGE_CHARACTERS", 1000)
    monkeypatch.setattr(bundles, "BUNDLE_CHARACTERS", 1000)
    opened = open_page(write_page(compared(two_runs(tmp_path, domain)), tmp_path / "out", domain), STACK)
    shows(opened, (0, 0))
    assert len([url for url in opened.requests if url.endswith(".js")]) == 2


def test_without_videos_and_times_the_events_are_still_shown(open_page: Opener, tmp_path: Path) -> None:
    untimed = {"duration_s": None, "frame_times_s": None}
    runs = [run("a", annotation("a-p", **untimed)), run("b", annotation("b-p", event("shape_hole"), **untimed))]
    opened = open_page(write_page(compared(runs), tmp_path, None))
    opened.wait("document.querySelectorAll('.screen').length === 2")
    opened.expect(lambda: "no video of this clip" in opened.page.locator(".screen").first.inner_text())
    opened.expect(lambda: opened.page.get_by_role("button", name="▶ play").is_disabled())
    opened.page.locator(".shared .bar").click()
    opened.expect(lambda: opened.text(".readout") == "0.00 s of 1.00 s")
    opened.expect(lambda: "a shape_hole" in opened.text(".sides"))


def test_a_missing_video_is_named_and_the_other_plays_on(
    domain: Domain, tmp_path: Path, open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("robogaze.reporting.pages.videos.EMBED_LIMIT_BYTES", 0)
    index = write_page(compared(two_runs(tmp_path, domain)), tmp_path / "out", domain)
    (tmp_path / "old" / "clip.mp4").unlink()
    opened = open_page(index, STACK)
    opened.wait("document.querySelectorAll('video').length === 1")
    opened.expect(lambda: "../old/clip.mp4: the video is missing" in opened.page.locator(".screen").first.inner_text())
    opened.problems.clear()
    opened.page.keyboard.press(" ")
    opened.wait("document.querySelector('video').currentTime > 1")


def test_a_clip_that_is_a_part_of_its_file_keeps_to_that_part(
    domain: Domain, tmp_path: Path, open_page: Opener
) -> None:
    old = run_folder(tmp_path / "old", domain, {"stack": ()}, frames=2 * FPS)
    runs = read(old, part_run(tmp_path / "new", domain, start_s=1.0))
    opened = open_page(write_page(compared(runs), tmp_path / "out", domain), STACK)
    shows(opened, (0, 16))
    opened.page.keyboard.press("ArrowRight")
    shows(opened, (1, 17))
    opened.page.evaluate(f"""() => {{
      globalThis.apart = [];
      const look = () => {{
        const [first, second] = {TIMES};
        if (first > 0.3 && first < 1.9) apart.push(Math.abs(second - first - 1));
        requestAnimationFrame(look);
      }};
      look();
    }}""")
    opened.page.keyboard.press(" ")
    opened.wait(f"({TIMES})[0] > 1.9")
    assert opened.page.evaluate("Math.min(...apart)") < 0.15
    opened.wait("document.querySelector('.play').textContent === '▶ play'")
    shows(opened, (2 * FPS - 1, 3 * FPS - 1))


@pytest.mark.parametrize("width", [420, 1400])
def test_nothing_is_wider_than_the_window(visit: Callable[..., Visit], width: int) -> None:
    opened = visit(STACK)
    opened.page.set_viewport_size({"width": width, "height": 900})
    opened.wait(READY)
    opened.expect(lambda: opened.page.evaluate("document.documentElement.scrollWidth") <= width)


@pytest.mark.parametrize(
    ("status", "task", "found", "words"),
    [
        ("complete", "ruled_out", (), ["ruled out by the router", "partially covered, nothing found", "nothing found"]),
        (
            "partial",
            "not_examined",
            (event("picture_flash"),),
            ["not examined", "partially covered, nothing found, but the report is partial"],
        ),
    ],
)
def test_an_empty_lane_has_the_coverage_of_its_dimension(
    open_page: Opener,
    domain: Domain,
    tmp_path: Path,
    status: str,
    task: str,
    found: tuple[AnnotatedEvent, ...],
    words: list[str],
) -> None:
    before = annotation("a-p", event("task_end"), event("physics_jump"), event("picture_blur"))
    covers = covered("picture", partial=["physics"], **{task: ["task"]})
    after = annotation("b-p", *found, coverage=covers, status=status)
    opened = open_page(write_page(compared([run("a", before), run("b", after)]), tmp_path, domain))
    opened.wait("document.querySelectorAll('.shared .row').length > 1")
    rows = [" ".join(row.inner_text().split()) for row in opened.page.locator(".shared .row").all()[1:]]
    assert rows[1::2][: len(words)] == [f"after {text}" for text in words]
