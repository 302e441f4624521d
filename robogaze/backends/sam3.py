"""SAM 3 as a tracker, through transformers: from a box on the first frame, it computes a mask for every frame.

Frames are passed one by one, so that memory does not grow with the length of a window. The weights come from a folder
or a hub id. They are loaded only for runs with the key `tracker` in the models file.
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

_PACKAGES = ("torch", "torchvision", "transformers")
_KINDS = ("sam3_video", "sam3_tracker_video")  # the published weights (detector and tracker), and the tracker alone
_OBJECT_ID = 1  # any number: only one object is tracked

Mask = NDArray[np.bool_]
"""The pixels of the tracked object, shape (height, width)."""

Masks = Callable[[NDArray[np.uint8]], Mask | None]
"""Takes the next frame, shape (height, width, 3), and returns the object's mask, None where it is not visible."""


class Sam3:
    """The tracker of SAM 3; loaded on first use."""

    def __init__(self, name: str) -> None:
        """Raises MissingExtra when a package is not installed."""
        for package in _PACKAGES:
            try:
                import_module(package)
            except ImportError as error:
                raise MissingExtra(package, "transformers") from error
        self.name = name
        self._lock = Lock()

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"kind": "sam3", "name": self.name}

    async def ready(self) -> None:
        """Load the weights. Raises InputError when the weights cannot be loaded."""
        await in_thread(self._load)

    def masks(self, box: Box) -> Masks:
        """Track what is inside a box on the first frame through the following frames."""
        with self._lock:
            processor, model = self._loaded
        session = processor.init_video_session(inference_device=model.device, dtype=model.dtype)

        def next_mask(image: NDArray[np.uint8]) -> Mask | None:
            with self._lock:
                return _next_mask(processor, model, session, image, box)

        return next_mask

    def _load(self) -> None:
        with self._lock:
            _ = self._loaded

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        """Processor and model."""
        import torch
        import transformers

        device = "cuda" if torch.cuda.is_available() else "cpu"
        try:
            kind = transformers.AutoConfig.from_pretrained(self.name).model_type
            if kind not in _KINDS:
                raise self._unusable(f"its model type is {kind}")
            processor = transformers.Sam3TrackerVideoProcessor.from_pretrained(self.name)
            model, loading = transformers.Sam3TrackerVideoModel.from_pretrained(
                self.name, dtype="auto", output_loading_info=True
            )
        except (OSError, ValueError) as error:
            raise self._unusable(str(error).strip().splitlines()[0]) from error
        if missing := sorted([*loading["missing_keys"], *loading["mismatched_keys"]], key=str):
            # transformers would initialise them at random, and tracking would only seem to work.
            raise self._unusable(f"{len(missing)} weights of SAM 3 are missing, such as {missing[0]}")
        return processor, model.to(device).eval()

    def _unusable(self, reason: str) -> InputError:
        return InputError(
            f"tracker.sam3: {self.name} cannot be used ({reason}); use a folder with the weights of SAM 3 or their "
            "hub id (facebook/sam3), or remove the key tracker"
        )


def _next_mask(processor: Any, model: Any, session: Any, image: NDArray[np.uint8], box: Box) -> Mask | None:
    """The mask in the next frame of a session; the box is used in the first frame only."""
    inputs = processor(images=image, device=model.device, return_tensors="pt")
    if session.num_frames is None:
        height, width = image.shape[:2]
        box_px = [box.left * width, box.top * height, box.right * width, box.bottom * height]
        processor.add_inputs_to_inference_session(
            inference_session=session,
            frame_idx=0,
            obj_ids=_OBJECT_ID,
            input_boxes=[[box_px]],
            original_size=inputs.original_sizes[0],
        )
    output = model(inference_session=session, frame=inputs.pixel_values[0])
    # The session needs the key of a processed frame, not its pixels, which would use memory.
    session.processed_frames[output.frame_idx] = None
    if float(output.object_score_logits.max()) <= 0:
        return None
    (masks,) = processor.post_process_masks([output.pred_masks], original_sizes=inputs.original_sizes)
    mask = masks[0, 0].cpu().numpy().astype(np.bool_)
    return mask if mask.any() else None
