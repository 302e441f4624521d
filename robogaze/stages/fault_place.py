"""Where a fault is seen: a box in one of the shown frames, as a model gives it with a fault."""

from collections.abc import Sequence
from typing import TypeVar

from robogaze.core.events import Box, Evidence
from robogaze.domains.contract import Answer, BoxSides
from robogaze.stages.answers import narrowed, one_of

P = TypeVar("P", bound="PlaceAnswer")


class PlaceAnswer(Answer):
    """A box in thousandths of a view, the number of its frame, and the view; all None if the fault has no place.

    The view is also None in a clip with one view.
    """

    box: BoxSides | None
    box_frame: int | None
    box_view: str | None


def placed_contract(contract: type[P], frames: Sequence[int], views: Sequence[str]) -> type[P]:
    """A contract whose boxes lie in the shown frames and the views of one clip."""
    return narrowed(contract, box_frame=one_of(frames) | None, box_view=one_of(views) | None)


def place_error(field: str, faults: Sequence[Answer], views: Sequence[str]) -> str | None:
    """The first error in the places of the faults that the contract cannot express; None if there is no error."""
    for number, fault in enumerate(faults):
        if not isinstance(fault, PlaceAnswer):
            continue
        if (fault.box is None) != (fault.box_frame is None):
            return f"{field}.{number}: box and box_frame go together: give both, or null for both"
        if fault.box is not None and fault.box_view is None and len(views) > 1:
            return f"{field}.{number}: box needs box_view, the name of the view that it is in"
    return None


def place_evidence(fault: Answer, views: Sequence[str], stage: str) -> tuple[Evidence, ...]:
    """The place of a fault, as evidence that the stage found; empty if the answer gives no place."""
    if not isinstance(fault, PlaceAnswer) or fault.box is None or fault.box_frame is None:
        return ()
    left, top, right, bottom = (side / 1000 for side in fault.box)
    box = Box(left=left, top=top, right=right, bottom=bottom)
    return (Evidence(text="", frames=(fault.box_frame,), view=fault.box_view or views[0], box=box, source=stage),)
