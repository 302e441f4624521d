"""kill -9 at random moments: no answered request is sent again, and the reports equal those of an uninterrupted run."""

import random
from pathlib import Path

from killed import trial

CLIPS = 12


def test_a_killed_run_resumes(tmp_path: Path) -> None:
    found = trial(tmp_path, CLIPS, 5, random.Random(4), longest_s=0.3)
    assert found.kills >= 3, "the run was over before it could be killed"
    assert (found.code, found.sent_again, found.reports) == (0, 0, CLIPS)
    assert found.same
    assert found.same_bytes
