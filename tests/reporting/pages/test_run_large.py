"""The page of a run of many clips: its data in files beside it, its list drawn where it is looked at."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from robogaze.core.report import Report
from robogaze.domains import Domain
from robogaze.reporting.pages import bundles
from robogaze.reporting.pages.run import ClipPage, run_files

from ..browsing import Opener, Visit
from ..cases import clean_report, faulty_report
from ..samples import FPS, FRAMES, make_clip, page

CLIPS = 500


def run(domain: Domain, clips: int) -> Iterator[ClipPage]:
    """Clips by turns with events and clean, of three checkpoints."""
    kinds = faulty_report(domain), clean_report(domain)
    thumbnails = page(kinds[0], None).thumbnails
    for number in range(clips):
        fields = {"checkpoint": f"step_{number % 3}", "split": "test", "prompt_id": f"prompt-{number}"}
        clip = make_clip(f"clip-{number:04}", **fields)
        yield ClipPage(kinds[number % 2].with_(clip=clip), None, thumbnails if number % 2 == 0 else {})


@pytest.fixture(scope="module")
def written(domain: Domain) -> dict[str, str]:
    """The files of a page with data beside it from 200,000 signs on, in files of 1,000,000 each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bundles, "IN_PAGE_CHARACTERS", 200_000)
        patch.setattr(bundles, "BUNDLE_CHARACTERS", 1_000_000)
        return dict(run_files(run(domain, CLIPS), [], domain, "many"))


@pytest.fixture
def large(written: dict[str, str], tmp_path: Path) -> Path:
    """The index of that page."""
    (tmp_path / "page").mkdir()
    for name, text in written.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path / "index.html"


@pytest.fixture
def visit(open_page: Opener, large: Path) -> Callable[..., Visit]:
    """Opens the page at a hash."""
    return lambda hash_="": open_page(large, hash_)


def files(opened: Visit) -> list[str]:
    """The files beside the page that were asked for."""
    return [url.rpartition("/")[2] for url in opened.requests if url.endswith(".js")]


def test_the_index_stays_small_and_comes_last(large: Path) -> None:
    bundles = sorted(file.name for file in (large.parent / "page").iterdir())
    assert len(bundles) > 5
    assert bundles == [f"{number:03}.js" for number in range(len(bundles))]
    assert large.stat().st_size < 400_000


def test_opening_a_clip_loads_only_its_own_file(visit: Callable[..., Visit]) -> None:
    opened = visit("#clip=clip-0200&event=e1")
    opened.wait("document.querySelector('#clip h2')?.textContent.startsWith('clip-0200')")
    assert len(files(opened)) == 1
    opened.expect(lambda: opened.page.locator(".lanes .bar[data-claim=e1]").get_attribute("aria-pressed") == "true")
    opened.expect(lambda: opened.page.evaluate("Number(document.querySelector('.ruler').ariaValueMax)") == FRAMES - 1)
    opened.page.keyboard.press("Escape")
    opened.expect(lambda: opened.text(".readout").endswith(f"{20 / FPS:.2f} s"))
    opened.page.keyboard.press("j")
    opened.wait("document.querySelector('#clip h2')?.textContent.startsWith('clip-0202')")
    assert len(files(opened)) == 1


def test_an_event_asked_for_while_its_clip_is_read_is_selected(visit: Callable[..., Visit]) -> None:
    opened = visit("#clip=clip-0000")
    opened.wait("document.querySelector('#clip h2')?.textContent.startsWith('clip-0000')")
    opened.page.evaluate("""() => {
      for (const wanted of ["#clip=clip-0400", "#clip=clip-0400&event=e1"]) {
        history.replaceState(null, "", wanted);
        dispatchEvent(new Event("hashchange"));
      }
    }""")
    opened.wait("document.querySelector('#clip h2')?.textContent.startsWith('clip-0400')")
    opened.expect(lambda: opened.page.locator(".lanes .bar[data-claim=e1]").get_attribute("aria-pressed") == "true")


def test_a_clip_that_is_shown_again_before_the_next_is_read_is_not_busy(visit: Callable[..., Visit]) -> None:
    opened = visit("#clip=clip-0000")
    opened.wait("document.querySelector('#clip h2')?.textContent.startsWith('clip-0000')")
    opened.page.evaluate("""() => {
      for (const wanted of ["#clip=clip-0400", "#clip=clip-0000"]) {
        history.replaceState(null, "", wanted);
        dispatchEvent(new Event("hashchange"));
      }
    }""")
    opened.expect(lambda: len(files(opened)) == 2)
    assert opened.page.evaluate("document.querySelector('#clip').ariaBusy") is None
    assert opened.text("#clip h2").startswith("clip-0000")


def test_of_clips_asked_for_one_after_the_other_the_last_one_is_shown(visit: Callable[..., Visit]) -> None:
    opened = visit("#clip=clip-0000")
    opened.page.evaluate(
        "() => { for (const n of ['0050', '0150', '0250', '0100']) {"
        " location.hash = `clip=clip-${n}`; dispatchEvent(new Event('hashchange')); } }"
    )
    opened.wait("document.querySelector('#clip h2')?.textContent.startsWith('clip-0100')")
    opened.wait("document.querySelector('script[src]') === null")
    opened.expect(lambda: opened.text("#clip h2").startswith("clip-0100"))


def test_a_file_that_is_missing_is_named(visit: Callable[..., Visit], large: Path) -> None:
    (large.parent / "page" / "000.js").unlink()
    opened = visit()
    opened.wait("document.querySelector('.problem') !== null")
    opened.expect(lambda: "page/000.js is missing" in opened.text(".problem"))
    opened.page.keyboard.press("j")
    opened.wait_address("clip=clip-0002")
    opened.wait("document.querySelector('script[src]') === null")
    opened.problems.clear()
    opened.go("#clip=clip-0250")
    opened.wait("document.querySelector('#clip h2')?.textContent.startsWith('clip-0250')")


def test_a_file_of_another_version_is_named(visit: Callable[..., Visit], large: Path) -> None:
    (large.parent / "page" / "000.js").write_text('bundleArrived("page/000.js", "{}");')
    opened = visit()
    opened.wait("document.querySelector('.problem') !== null")
    opened.expect(lambda: "page/000.js belongs to another version of this page" in opened.text(".problem"))


def test_no_script_runs_but_the_pages_own_and_the_files_it_asks_for(visit: Callable[..., Visit], large: Path) -> None:
    (large.parent / "other.js").write_text("globalThis.stranger = true;")
    text = large.read_text()
    assert "'unsafe" not in text.partition("script-src")[2].partition(";")[0]
    strange = '<script src="other.js"></script><script>globalThis.stranger = true;</script>'
    large.write_text(text.replace("<body>", f'<body>{strange}<img src="data:," onerror="globalThis.stranger = true">'))
    opened = visit()
    opened.wait("document.querySelector('#clip h2') !== null")
    opened.expect(lambda: opened.page.evaluate("globalThis.stranger") is None)
    assert all("Content Security Policy" in problem for problem in opened.problems)
    opened.expect(lambda: bool(opened.page.evaluate("true")) and len(opened.problems) >= 3)
    opened.problems.clear()


def test_only_rows_in_view_are_in_the_page(visit: Callable[..., Visit]) -> None:
    opened = visit()
    opened.wait("document.querySelectorAll('.clips li').length > 0")
    opened.expect(lambda: opened.page.locator(".clips li").count() < 40)
    opened.expect(lambda: opened.text(".shown") == f"{CLIPS} clips")
    opened.page.evaluate("document.querySelector('.clips').scrollTop = 1e9")
    opened.wait("document.querySelector('.clips li:last-child').textContent.includes('clip-0499')")
    opened.expect(lambda: opened.page.locator(".clips li").count() < 40)
    opened.expect(lambda: opened.page.locator(".clips li").last.get_attribute("aria-posinset") == f"{CLIPS}")
    opened.expect(lambda: opened.page.locator(".clips li").last.get_attribute("aria-setsize") == f"{CLIPS}")


def test_the_clip_of_the_address_is_in_view(visit: Callable[..., Visit]) -> None:
    opened = visit("#clip=clip-0222")
    row = opened.page.locator(".clips a[aria-current=true]")
    opened.expect(lambda: row.locator(".clip-id").inner_text() == "clip-0222")
    box, frame = opened.place(".clips a[aria-current=true]"), opened.place(".clips")
    assert frame["y"] <= box["y"]
    assert box["y"] + box["height"] <= frame["y"] + frame["height"] + 1


def test_the_tab_key_goes_through_rows_that_are_not_drawn_yet(visit: Callable[..., Visit]) -> None:
    opened = visit()
    opened.wait("document.querySelectorAll('.clips a').length > 0")
    opened.page.locator(".clips a").first.focus()
    for _ in range(40):
        opened.page.keyboard.press("Tab")
    opened.expect(
        lambda: opened.page.evaluate("document.activeElement.querySelector('.clip-id')?.textContent") == "clip-0080"
    )


def test_a_filter_by_a_field_of_the_clips_lives_in_the_address(visit: Callable[..., Visit]) -> None:
    opened = visit("#checkpoint=step_1&status=clean")
    opened.expect(lambda: opened.listed()[:2] == ["clip-0001", "clip-0007"])
    opened.expect(lambda: opened.page.get_by_role("combobox", name="Checkpoint").input_value() == "step_1")
    opened.expect(
        lambda: opened.page.get_by_role("combobox", name="Split").count() == 0
    )  # a field that all share tells nothing
    opened.expect(
        lambda: opened.page.get_by_role("combobox", name="Prompt id").count() == 0
    )  # nor one that all have of their own
    opened.page.reload()
    opened.expect(lambda: opened.listed()[:2] == ["clip-0001", "clip-0007"])
    opened.page.get_by_role("combobox", name="Checkpoint").select_option("step_2")
    opened.expect(lambda: opened.listed()[0] == "clip-0005")
    opened.wait_address("checkpoint=step_2")
    opened.go("#text=prompt-77")
    opened.wait_listed(["clip-0077"])


def test_little_data_stays_in_the_page(domain: Domain, reports: list[Report]) -> None:
    ((name, text),) = run_files((page(report, None) for report in reports), [], domain, "few")
    assert name == "index.html"
    assert "strict-dynamic" not in text
