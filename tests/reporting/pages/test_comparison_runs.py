"""The runs of a comparison as its page shows them."""

from pathlib import Path

from checkpoints import PIXELS, clean_and_faulty, event, run, without_a_model
from checkpoints import annotation as account

from robogaze.comparison import ComparisonConfig
from robogaze.comparison import compare_runs as compare
from robogaze.domains import Domain
from robogaze.reporting.pages.comparison_runs import page_runs

from ..checkpoints_on_disk import compared, part_run, read, run_folder, two_runs


def test_only_clips_that_changed_are_kept_with_their_events(domain: Domain, tmp_path: Path) -> None:
    kept = page_runs(compared(two_runs(tmp_path, domain)), tmp_path / "out")
    old, new = kept
    assert set(old.clips) == {"old-stack", "old-push", "old-fold"}
    assert set(new.clips) == {"new-stack", "new-push", "new-fold"}
    clip = new.clips["new-stack"]
    assert (clip.duration_s, len(clip.frame_times_s), clip.instruction) == (2.5, 40, "stack")
    assert [(event.type, event.spans[0].start, event.severity) for event in clip.events] == [("early_end", 2.0, 3)]


def test_videos_and_the_runs_pages_are_named_as_seen_from_the_folder(domain: Domain, tmp_path: Path) -> None:
    runs = two_runs(tmp_path / "runs", domain)
    (tmp_path / "runs" / "old" / "index.html").write_text("")
    old, new = page_runs(compared(runs), tmp_path / "out" / "comparison")
    assert old.clips["old-stack"].video == "../../runs/old/clip.mp4"
    assert (old.page, new.page) == ("../../runs/old/index.html", None)


def test_the_authors_pipelines_and_taxonomies_of_the_reports_are_kept(domain: Domain, tmp_path: Path) -> None:
    one = page_runs(compared(two_runs(tmp_path, domain)), tmp_path)[0]
    assert (one.authors, one.pipelines, one.taxonomies) == (("robogaze 0.1.0",), ("plain",), (domain.ref.taxonomy,))
    assert one.fingerprints == (domain.fingerprint,)


def test_verdict_and_coverage_are_those_of_the_reports_for_any_rate(tmp_path: Path) -> None:
    runs = [without_a_model("old", "-"), without_a_model("new", "+")]
    old, new = page_runs(compare(runs, ComparisonConfig(resamples=20)), tmp_path)
    assert (old.clips["old-p0"].verdict, new.clips["new-p0"].verdict) == ("faulty", "undecided")
    assert new.clips["new-p0"].coverage == PIXELS
    foreign = run("new", account("new-p0", coverage=None))
    assert (
        page_runs(compare([runs[0], foreign], ComparisonConfig(resamples=20)), tmp_path)[1].clips["new-p0"].coverage
        is None
    )


def test_it_is_known_where_in_its_file_a_clip_begins(domain: Domain, tmp_path: Path) -> None:
    runs = read(run_folder(tmp_path / "old", domain, {"stack": ()}), part_run(tmp_path / "new", domain, start_s=1.0))
    old, new = page_runs(compared(runs), tmp_path)
    assert (old.clips["old-stack"].start_s, new.clips["new-stack"].start_s) == (0.0, 1.0)


def test_of_foreign_formats_what_is_not_known_is_nothing(tmp_path: Path) -> None:
    floating = account("new-p0", event("shape_hole"), duration_s=None)
    kept = page_runs(
        compare([clean_and_faulty("old", "+"), run("new", floating)], ComparisonConfig(resamples=20)), tmp_path
    )
    clip = kept[1].clips["new-p0"]
    assert (clip.video, clip.duration_s, clip.frame_times_s) == (None, None, ())
    assert (kept[1].pipelines, kept[1].models, kept[1].page) == ((), {}, None)


def test_real_clips_and_what_was_found_in_them_are_counted(tmp_path: Path) -> None:
    clips = [account("a-p0", fields={"split": "control"}), account("a-p1", event("shape_hole"))]
    clips += [account("a-p2", event("shape_hole"), fields={"split": "control"})]
    kept = page_runs(compare([run("a", *clips)], ComparisonConfig(resamples=20)), tmp_path)
    assert (kept[0].controls, kept[0].alarms) == (2, 1)
