"""The progress of a run on stderr."""

import math
import time
from pathlib import Path

import pytest

from cli.running import Shell
from robogaze.cli.shared import progress as shown
from robogaze.cli.shared.progress import Progress, remaining, showing


def test_a_long_clip_shows_its_progress() -> None:
    now = Progress(3)
    now.decoded("long", 0.25)
    now.decoded("other", 0.5)
    assert str(now) == "0/3 clips, long: 25% decoded"
    now.decoded("long", 1.0)
    assert str(now) == "0/3 clips, other: 50% decoded"
    now.decoded("other", math.nan)
    assert str(now) == "0/3 clips, other: decoding"


def test_the_remaining_time_is_never_zero() -> None:
    assert [remaining(minutes) for minutes in (0.001, 0.4, 1.2, 99, 150)] == ["1 s", "24 s", "1 min", "99 min", "2.5 h"]
    done = Progress(2, now=2, started=time.monotonic() - 60)
    assert str(done) == "2/2 clips"


def test_a_log_gets_progress_within_a_clip(
    robogaze: Shell, video: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shown, "_FIRST_S", 0.0)
    ran = robogaze("score", video)
    assert "0/1 clips, bar" in ran.err
    assert "% decoded" in ran.err


def test_a_log_gets_progress_less_and_less_often(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    with showing(1) as show:
        for second in range(400):
            clock[0] = float(second)
            show.decoded("clip", second / 1000)
    lines = capsys.readouterr().err.splitlines()
    shares = (0.01, 0.03, 0.07, 0.13, 0.19, 0.25, 0.31, 0.37)
    assert [line.split(": ")[1] for line in lines] == [f"{share:.0%} decoded" for share in shares]
