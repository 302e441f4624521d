"""Lets a CUDA-linked torchvision be imported beside a CPU build of PyTorch. For test environments.

torchvision registers the shapes of its own operators when it is imported; without its compiled library the operators
do not exist and the import fails. Declaring the two it insists on is enough: what transformers uses of torchvision is
written in PyTorch alone.
"""

import sys
from importlib.abc import MetaPathFinder
from typing import Any

_OPERATORS = ("nms", "qnms")


class _Declare(MetaPathFinder):
    """Declares the operators just before torchvision is imported."""

    library: Any = None

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> None:
        if fullname == "torchvision" and self.library is None:
            import torch

            _Declare.library = torch.library.Library("torchvision", "FRAGMENT")
            for name in _OPERATORS:
                if not torch._C._jit_get_schemas_for_operator(f"torchvision::{name}"):
                    self.library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


sys.meta_path.insert(0, _Declare())
