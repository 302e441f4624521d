"""Runs corrected for the judge's own errors."""

from dataclasses import replace

import pytest
from checkpoints import annotation, clean_and_faulty, event, metadata, run

from robogaze.comparison import ComparisonConfig, Run, compare_runs, pair_calibration
from robogaze.errors import InputError

SHIFT = event("colour_shift")


def labelled(wrong: int = 8) -> tuple[Run, Run]:
    """Forty clips that the judge calls clean, of which people find some faulty."""
    said = [annotation(f"c{at}") for at in range(40)]
    true = [annotation(f"c{at}", *([SHIFT] if at < wrong else []), author="ann") for at in range(40)]
    return run("said", *said), run("true", *true)


def test_the_errors_on_the_sample_are_taken_off() -> None:
    one = clean_and_faulty("a", "+" * 30 + "-" * 10)
    sample = pair_calibration(*labelled(), [one], mixed=False)
    found = compare_runs([one], ComparisonConfig(resamples=50), sample=sample)
    clean = found.corrected[0]["clean_rate"]
    assert (found.labels, clean.naive.value) == ((40,), 0.75)
    assert clean.corrected.value == pytest.approx(0.75 - 8 / 40)
    assert clean.corrected.low < 0.55 < clean.corrected.high
    assert found.corrected[0]["events_per_clip"].corrected.value == pytest.approx(0.25 + 8 / 40)
    assert found.corrected[0]["dimension shape"].corrected.value == 0


def test_clips_that_are_not_complete_on_both_sides_are_left_out() -> None:
    said, true = labelled()
    status = {name: "partial" if name < "c15" else "complete" for name in true.annotations}
    half = run("true", *(annotation(name, status=status[name]) for name in true.annotations), annotation("x"))
    found = pair_calibration(said, half, [], mixed=False)
    assert (len(found.pairs), found.unpaired) == (sum(name >= "c15" for name in true.annotations), 1)


def test_the_sample_must_be_of_the_same_clips() -> None:
    said, _ = labelled()
    with pytest.raises(InputError, match="both sides need the same clip ids"):
        pair_calibration(said, run("true", annotation("other")), [], mixed=False)
    one, other = (run(name, annotation("c", clip_sha256=name * 64)) for name in "ab")
    with pytest.raises(InputError, match="are about different files"):
        pair_calibration(one, other, [], mixed=False)


def test_the_errors_must_be_those_of_the_same_judge() -> None:
    said, true = labelled()
    said = run(
        "said", *said.annotations.values(), metadata={name: metadata(pipeline="full") for name in said.annotations}
    )
    one = run("a", annotation("a-p"), metadata={"a-p": metadata(pipeline="plain")})
    with pytest.raises(InputError, match="said and a were judged by different pipelines, models or versions"):
        pair_calibration(said, true, [one], mixed=False)
    assert pair_calibration(said, true, [one], mixed=True).pairs


def test_seeds_of_one_prompt_do_not_narrow_the_corrected_interval() -> None:
    def copies(source: Run, seeds: int) -> Run:
        """Each clip of a run several times, from one prompt."""
        return run(source.name, *(
            replace(clip, clip_id=f"{name}-{seed}", fields={"prompt_id": name})
            for name, clip in source.annotations.items() for seed in range(seeds)
        ))  # fmt: skip

    one = clean_and_faulty("a", "+" * 30 + "-" * 10)
    widths = []
    for seeds in (1, 4):
        said, true, judged = (copies(source, seeds) for source in (*labelled(), one))
        sample = pair_calibration(said, true, [judged], mixed=False)
        clean = compare_runs([judged], ComparisonConfig(resamples=50), sample=sample).corrected[0]["clean_rate"]
        widths += [(clean.naive.low, clean.naive.high, clean.corrected.low, clean.corrected.high)]
    assert widths[0] == pytest.approx(widths[1])


def test_too_few_labels_correct_nothing() -> None:
    said, true = labelled()
    few = run("true", *list(true.annotations.values())[:29])
    one = clean_and_faulty("a", "++-")
    found = compare_runs([one], ComparisonConfig(resamples=50), sample=pair_calibration(said, few, [one], mixed=False))
    assert not found.corrected[0]["clean_rate"].corrected.defined


def lenient_about(name: str, faulty: int) -> tuple[Run, Run]:
    """Forty clips of a run that the judge calls clean, of which so many are not."""
    said = [annotation(f"{name}-l{at}") for at in range(40)]
    true = [annotation(f"{name}-l{at}", *([SHIFT] if at < faulty else []), author="ann") for at in range(40)]
    return run("said", *said), run("true", *true)


def test_labels_of_each_run_correct_the_difference_and_the_verdict() -> None:
    """The judge calls the second run cleaner only because it is blind to its faults."""
    runs = [clean_and_faulty("a", "+-" * 100), clean_and_faulty("b", "+" * 160 + "-" * 40)]
    plain = compare_runs(runs, ComparisonConfig(resamples=50))
    assert plain.verdicts[0].startswith("b is better than a: clean rate +30.0 points")
    samples = {
        run.name: pair_calibration(*lenient_about(run.name, faulty), [run], mixed=False)
        for run, faulty in zip(runs, (0, 14), strict=True)
    }
    found = compare_runs(runs, ComparisonConfig(resamples=50), samples=samples)
    gap = found.pairs[0].corrected
    assert gap is not None
    assert gap.difference.value == pytest.approx(0.3 - 14 / 40)
    assert found.verdicts[0].startswith("No significant difference between b and a: clean rate -5.0 points [")
    assert "corrected for the judge's errors (+30.0 uncorrected)" in found.verdicts[0]
    assert (plain.bands, found.bands) == (((1,), (0,)), ((1, 0),))
    assert found.labels == (40, 40)


def test_labels_for_all_runs_together_shift_them_alike_and_change_no_verdict() -> None:
    runs = [clean_and_faulty("a", "+-" * 100), clean_and_faulty("b", "+" * 160 + "-" * 40)]
    found = compare_runs(runs, ComparisonConfig(resamples=50), sample=pair_calibration(*labelled(), runs, mixed=False))
    assert found.verdicts == compare_runs(runs, ComparisonConfig(resamples=50)).verdicts
    assert found.pairs[0].corrected is None
    assert "b has the highest clean rate, 0.600 [" in found.verdict
    assert "corrected for the judge's errors (0.800 [" in found.verdict
