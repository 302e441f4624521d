"""Hand-made clips of every verdict and status: faulty, clean, partial, unscored, undecided and unreadable."""

from making import coverage

from robogaze.core.coverage import Coverage
from robogaze.core.events import Box, Evidence
from robogaze.core.report import Failure, Report, Unreadable, Usage
from robogaze.domains import Domain

from .samples import (
    ATTACK,
    FRAMES,
    make_clip,
    make_event,
    make_hypothesis,
    make_provenance,
    make_report,
)


def faulty_report(domain: Domain) -> Report:
    """Three events that overlap in time over three dimensions, one in two parts; four claims set aside."""
    coarse, fine = tuple(range(0, 64, 4)), tuple(range(20, 44, 2))
    stages = [
        ("scene", "clip", coarse),
        ("observe", "window 0", coarse[:8]),
        ("observe", "window 1", coarse[6:]),
        ("examine", "task", coarse),
        ("examine", "physics", coarse),
        ("examine", "picture", coarse),
        ("verify", "h1", fine),
        ("verify", "h2", fine),
        ("verify", "h3", (8, 12, 16)),
        ("verify", "h4", (50, 54, 58)),
    ]
    box = Box(left=0.35, top=0.2, right=0.6, bottom=0.6)
    events = (
        make_event(
            "e1",
            "physics",
            "passing_through",
            (1.25, 2.75),
            severity=5,
            confidence=0.91,
            secondary=("task",),
            description="The disc sinks into the table edge and comes out on the other side without resistance.",
            evidence=(
                Evidence(
                    text="The lower half of the disc is inside the table.",
                    frames=(22, 26, 30),
                    box=box,
                    source="examine",
                ),
                Evidence(
                    text="Overlap grows from 0 to 31 % within 0.4 s.", frames=(24,), view="main", source="overlap"
                ),
            ),
        ),
        make_event(
            "e2",
            "physics",
            "floating",
            (2.0, 3.5),
            severity=4,
            confidence=0.72,
            description="After it left the table nothing holds the disc, and it goes on at the same height.",
        ),
        make_event(
            "e3",
            "task",
            "failed_placing",
            (2.5, 4.0),
            severity=4,
            confidence=0.66,
            description="The disc never comes to rest on the shelf; it leaves the picture to the right.",
        ),
        make_event(
            "e4",
            "picture",
            "flicker",
            (0.5, 0.5625),
            (3.0, 3.25),
            severity=1,
            confidence=None,
            description="Single bright frames.",
        ),
    )
    hypotheses = (
        make_hypothesis(
            "h1", "physics", "passing_through", (1.25, 2.75), verdict="accepted", reason="Seen in 6 frames."
        ),
        make_hypothesis("h2", "picture", "blur", (1.5, 2.5), severity=2, confidence=0.35),
        make_hypothesis("h3", "task", "early_end", (3.5, 4.0), reason="The motion has ended by then."),
        make_hypothesis(
            "h4",
            "physics",
            "passing_through",
            (1.5, 2.0),
            verdict="merged",
            merged_into="h1",
            reason="The same contact.",
        ),
        make_hypothesis(
            "h5",
            "picture",
            "flicker",
            (0.25, 0.75),
            confidence=0.5,
            reason="The frames before and after are as bright.",
        ),
    )
    seen = {frame for _, _, frames in stages for frame in frames}
    unseen = tuple((frame, frame + 1) for frame in range(FRAMES) if frame not in seen)
    return make_report(
        domain,
        make_clip("disc-0001"),
        events=events,
        hypotheses=hypotheses,
        unseen=unseen,
        notes=("The last 0.5 s were examined at twice the rate.",),
        provenance=make_provenance(stages),
        usage=Usage(
            calls=10,
            rounds=4,
            prompt_tokens=53395,
            cached_tokens=40960,
            completion_tokens=2115,
            cost_usd=None,
            wall_s=14.2,
        ),
    )


def clean_report(domain: Domain) -> Report:
    """Nothing found; its instruction is an attack on the page."""
    clip = make_clip("disc-0002", instruction=f'{ATTACK} "><img src=x onerror=alert(2)> &amp;')
    stages = [("scene", "clip", range(0, 64, 4)), ("examine", "physics", range(0, 64, 4))]
    usage = Usage(
        calls=2, rounds=2, prompt_tokens=10431, cached_tokens=4096, completion_tokens=367, cost_usd=0.0042, wall_s=6.5
    )
    return make_report(domain, clip, provenance=make_provenance(stages), usage=usage)


def partial_report(domain: Domain) -> Report:
    """No instruction, so one dimension is not examined; another is not because a call failed."""
    stages = [
        ("scene", "clip", range(0, 64, 4)),
        ("examine", "physics", range(0, 64, 4)),
        ("examine", "picture", range(0, 64, 4)),
    ]
    return make_report(
        domain,
        make_clip("disc-0003", instruction=None),
        coverage={
            "task": Coverage(state="not_examined", reason="the clip has no instruction"),
            "physics": Coverage(state="examined", reason="a specialist was shown 16 of 64 frames"),
            "picture": Coverage(state="not_examined", reason="the specialist gave no answer: no answer within 60 s"),
        },
        events=(make_event("e1", "physics", "floating", (1.0, 2.0), severity=None),),
        failures=(
            Failure(stage="examine", dimension="picture", kind="stalled", message="no answer within 60 s, 3 attempts"),
        ),
        unseen=((1, 4), (50, 64)),
        provenance=make_provenance(stages, failed=(2,)),
        usage=Usage(
            calls=3,
            rounds=2,
            prompt_tokens=None,
            cached_tokens=None,
            completion_tokens=None,
            cost_usd=None,
            wall_s=70.0,
        ),
    )


def unscored_report(domain: Domain) -> Report:
    """Nothing could be examined."""
    return make_report(
        domain,
        make_clip("disc-0004"),
        coverage=coverage(not_examined=tuple(domain.dimensions)),
        failures=(Failure(stage="scene", kind="unreachable", message="no server answers at the address"),),
    )


def undecided_report(domain: Domain) -> Report:
    """Complete and without events, but only the picture was examined, as without a model."""
    return make_report(
        domain,
        make_clip("disc-0006"),
        coverage={
            "task": Coverage(state="not_examined", reason="no stage of the pipeline plain looks for it"),
            "physics": Coverage(state="partial", reason="measured in the pixels, which show some faults"),
            "picture": Coverage(state="examined", reason="measured in the pixels of every frame"),
        },
    )


UNREADABLE = Unreadable(
    uri="clips/disc-0005.mp4",
    reason="clips/disc-0005.mp4 is cut short: it declares 64 frames and holds 21",
)
