"""The judge that a command line names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robogaze.judges.base import Judge


def opened(spec: str, rubric: str, *, sample: int = 0) -> Judge:
    """See `robogaze.judges.open_judge`; API keys come from the environment."""
    from robogaze.cli import quiet_retries
    from robogaze.judges import open_judge

    quiet_retries()
    return open_judge(spec, rubric, os.environ, sample=sample)
