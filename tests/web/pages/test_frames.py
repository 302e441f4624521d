"""What the page calls frame n is frame n of the decoder."""

from collections.abc import Callable
from pathlib import Path

import pytest

from .clips import STEADY_MS, UNEVEN_MS, has_b_frames
from .editing import Window
from .site import Site

CLIPS = {"steady": STEADY_MS, "uneven": UNEVEN_MS}


def test_the_clips_have_b_frames(numbered: dict[str, Path]) -> None:
    assert all(has_b_frames(path) for path in numbered.values())


@pytest.mark.parametrize("clip", CLIPS)
def test_every_frame_forwards_and_backwards(window: Callable[..., Window], site: Site, clip: str) -> None:
    editor, times = window(site, f"/clips/{clip}"), CLIPS[clip]
    for frame in range(len(times)):
        assert editor.readout() == f"{int(times[frame] / 100 + 0.5) / 10} s · frame {frame} of {len(times)}"
        assert editor.picture() == frame
        editor.press(".")
    for frame in reversed(range(len(times) - 20, len(times) - 1)):
        editor.press(",")
        assert (editor.frame(), editor.picture()) == (frame, frame)


@pytest.mark.parametrize("clip", CLIPS)
def test_seeking_on_the_timeline(window: Callable[..., Window], site: Site, clip: str) -> None:
    editor = window(site, f"/clips/{clip}")
    ruler = editor.box(".ruler")
    for share in (0.9, 0.1, 0.55, 0.999, 0.3, 0.0):
        editor.page.mouse.click(ruler["x"] + share * ruler["width"], ruler["y"] + 5)
        assert editor.picture() == editor.frame()


def test_a_frame_for_which_the_browser_does_not_call_back(window: Callable[..., Window], site: Site) -> None:
    """A browser may present a frame without a callback if it is busy."""
    editor = window(site, "/clips/steady")
    editor.page.add_init_script("HTMLVideoElement.prototype.requestVideoFrameCallback = () => 0;")
    editor.open("/clips/steady")
    assert editor.picture() == editor.frame() == 0
    for frame in (1, 2, 3):
        editor.press(".")
        assert editor.picture() == editor.frame() == frame


def test_a_frame_for_which_the_browser_calls_back_late(window: Callable[..., Window], site: Site) -> None:
    """A busy browser may report a frame when the next one is already there."""
    editor = window(site, "/clips/steady")
    editor.page.add_init_script("""
      const call = HTMLVideoElement.prototype.requestVideoFrameCallback;
      HTMLVideoElement.prototype.requestVideoFrameCallback = function (back) {
        return call.call(this, (...given) => setTimeout(() => back(...given), 300));
      };
    """)
    editor.open("/clips/steady")
    editor.run("""() => {
      globalThis.said = [];
      const stage = document.querySelector(".stage");
      new MutationObserver(() => said.push(Number(stage.dataset.frame))).observe(stage, { attributes: true });
    }""")
    for frame in range(1, 9):
        editor.press(".")
        assert editor.picture() == editor.frame() == frame
    editor.page.wait_for_timeout(600)
    assert editor.picture() == editor.frame() == 8
    assert editor.run("said") == sorted(editor.run("said"))


def test_pausing(window: Callable[..., Window], site: Site) -> None:
    editor = window(site, "/clips/uneven")
    for _ in range(4):
        editor.press("Home", "Space")
        start = editor.frame()
        editor.expect(lambda start=start: editor.frame() > start + 5)
        editor.press("Space")
        editor.expect(lambda: not editor.is_playing())
        editor.run("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert editor.picture() == editor.frame()


def test_playing(window: Callable[..., Window], site: Site) -> None:
    """In every callback of the browser for a frame, the page calls it what it is."""
    editor = window(site, "/clips/steady")
    editor.run("""() => {
      globalThis.said = [];
      const video = document.querySelector("video");
      const look = (_, { mediaTime }) => {
        said.push([mediaTime, Number(document.querySelector(".stage").dataset.frame)]);
        video.requestVideoFrameCallback(look);
      };
      video.requestVideoFrameCallback(look);
    }""")
    editor.press("-", "-", "-", "Space")
    editor.expect(lambda: editor.run("said.length") > 40)
    said = editor.run("said")
    assert [frame for _, frame in said] == [
        min(range(len(STEADY_MS)), key=lambda n: abs(STEADY_MS[n] / 1000 - at)) for at, _ in said
    ]


def test_a_step_of_a_tenth_arrives_on_the_grid(window: Callable[..., Window], site: Site) -> None:
    editor = window(site, "/clips/uneven")
    for tenth in range(1, 12):
        editor.press("'")
        frame = max(n for n, time in enumerate(UNEVEN_MS) if time <= tenth * 100)
        assert editor.readout() == f"{tenth / 10:.1f} s · frame {frame} of {len(UNEVEN_MS)}"
        assert editor.picture() == frame
    editor.press(";")
    assert editor.time_s() == 1.0
