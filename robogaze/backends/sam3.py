"""SAM 3 as what follows a thing, through transformers: a box on one frame in, a mask for every frame out.

The frames are given one by one, so that a long window takes no more memory than a short one. Its weights are loaded
from a folder or a hub id, and never for a run that does not name them.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from importlib import import_module
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robogaze.core.events import Box
from robogaze.errors import InputError, MissingExtra
from robogaze.threads import in_thread

_NEEDS = ("torch", "torchvision", "transformers")
_CLASSES = ("Sam3TrackerVideoModel", "Sam3TrackerVideoProcessor")
_KINDS = ("sam3_video", "sam3_tracker_video")  # as published, detector and tracker; and the tracker alone
_THING = 1  # what the one thing that is followed is called

Mask = NDArray[np.bool_]
"""Which pixels of a frame belong to the thing, shape (height, width)."""

Masks = Callable[[NDArray[np.uint8]], Mask | None]
"""Gives the thing's mask in the next frame, None where it is not seen there."""


class Sam3:
    """The tracker of SAM 3; loaded when it is first needed."""

    def __init__(self, name: str, device: str | None = None) -> None:
        """`device` None chooses a GPU when there is one. Raises MissingExtra when the packages are absent."""
        for package in _NEEDS:
            try:
                import_module(package)
            except ImportError as error:
                raise MissingExtra(package, "transformers") from error
        self.name = name
        self.device = device
        self._busy = Lock()

    @property
    def identity(self) -> Mapping[str, Any]:
        """Kind and name."""
        return {"kind": "sam3", "name": self.name}

    async def ready(self) -> None:
        """Load the weights. Raises InputError when they cannot be loaded."""
        await in_thread(self._load)

    def masks(self, box: Box) -> Masks:
        """Follow what is in a box of the first frame that is given, through the frames that are given after it."""
        with self._busy:
            processor, model = self._loaded
        session = processor.init_video_session(inference_device=model.device, dtype=model.dtype)

        def following(image: NDArray[np.uint8]) -> Mask | None:
            with self._busy:
                return _next_mask(processor, model, session, image, box)

        return following

    def _load(self) -> None:
        with self._busy:
            _ = self._loaded

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        """Processor and model."""
        import torch
        import transformers

        if not all(hasattr(transformers, one) for one in _CLASSES):
            raise MissingExtra(f"transformers with SAM 3 (this is {transformers.__version__})", "transformers")
        device = self.device or ("cuda" if torch.cuda.is_available() else "cpu")
        try:
            kind = transformers.AutoConfig.from_pretrained(self.name).model_type
            if kind not in _KINDS:
                raise self._unusable(f"it is a {kind}")
            processor = transformers.Sam3TrackerVideoProcessor.from_pretrained(self.name)
            model, told = transformers.Sam3TrackerVideoModel.from_pretrained(
                self.name, dtype="auto", output_loading_info=True
            )
        except (OSError, ValueError) as error:
            raise self._unusable(str(error).strip().splitlines()[0]) from error
        if absent := sorted([*told["missing_keys"], *told["mismatched_keys"]], key=str):
            # They would be made up at random, and everything would seem to work.
            raise self._unusable(f"{len(absent)} weights of SAM 3 are not in it, {absent[0]} among them")
        return processor, model.to(device).eval()

    def _unusable(self, reason: str) -> InputError:
        return InputError(
            f"tracker.sam3: {self.name} cannot be used ({reason}); name a folder that holds the weights of SAM 3 or "
            "their hub id (facebook/sam3), or leave the key tracker out"
        )


def _next_mask(processor: Any, model: Any, session: Any, image: NDArray[np.uint8], box: Box) -> Mask | None:
    """The mask in the next frame of a session; the box counts in its first."""
    inputs = processor(images=image, device=model.device, return_tensors="pt")
    if session.num_frames is None:
        high, wide = image.shape[:2]
        sides = [box.left * wide, box.top * high, box.right * wide, box.bottom * high]
        processor.add_inputs_to_inference_session(
            inference_session=session,
            frame_idx=0,
            obj_ids=_THING,
            input_boxes=[[sides]],
            original_size=inputs.original_sizes[0],
        )
    seen = model(inference_session=session, frame=inputs.pixel_values[0])
    # What it remembers of a frame it keeps elsewhere; the number of frames is that of the keys.
    session.processed_frames[seen.frame_idx] = None
    if float(seen.object_score_logits.max()) <= 0:
        return None
    (masks,) = processor.post_process_masks([seen.pred_masks], original_sizes=inputs.original_sizes)
    mask = masks[0, 0].cpu().numpy().astype(np.bool_)
    return mask if mask.any() else None
