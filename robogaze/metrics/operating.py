"""Operating points: what a system would have reported at another threshold of confidence (RoboGaze, Table 23).

A report keeps every hypothesis with what became of it and how sure its critic was, so the sweep asks no model again.
"""

from dataclasses import replace

from robogaze.core.annotation import ClipAnnotation

THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7)
"""The thresholds of Table 23."""


def at_threshold(account: ClipAnnotation, threshold: float) -> ClipAnnotation:
    """The account with the findings whose confidence is at least `threshold`, in [0, 1].

    They are chosen from the candidates, or from the findings themselves where no candidates are stored. Without a
    confidence there is nothing to choose by: such a finding stands at every threshold, such a candidate at none. An
    account that says nothing, as its status is "unscored", still says nothing.

    No threshold need give back the account's own findings: its pipeline may have decided by more than the confidence,
    and may have joined what are several candidates here.
    """
    standing = [one for one in account.findings if one.confidence is None]
    pool = account.candidates or account.findings
    sure = [one for one in pool if one.confidence is not None and one.confidence >= threshold]
    return replace(account, findings=(*standing, *sure))
