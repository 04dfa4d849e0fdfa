"""The import of Quadrants without one of PyTorch, which takes seconds and some 450 MB.

Quadrants imports PyTorch, where it is installed, to know tensors. That is put off here until the
program has imported PyTorch for itself: before that it has no tensors.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any


class _Refusal:
    """Finds no PyTorch for the thread that made it."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()

    def find_spec(self, name: str, *_: object) -> None:
        if name == "torch" and threading.get_ident() == self._thread:
            raise ModuleNotFoundError("Quadrants starts without torch", name=name)


class _TensorOfLater(type):
    """The type of tensors, which asks whether PyTorch has been imported meanwhile."""

    def __instancecheck__(cls, instance: object) -> bool:
        torch: Any = sys.modules.get("torch")
        return torch is not None and isinstance(instance, torch.Tensor)


class TensorOfLater(metaclass=_TensorOfLater):
    """Has the tensors of PyTorch as instances, once it is imported."""


@contextmanager
def without_torch() -> Generator[None]:
    """Import Quadrants in this block without PyTorch, unless that is there already."""
    if "torch" in sys.modules:
        yield
        return
    refusal: Any = _Refusal()
    sys.meta_path.insert(0, refusal)
    try:
        yield
    finally:
        sys.meta_path.remove(refusal)
    _know_tensors_later()


def _know_tensors_later() -> None:
    ranges: Any = importlib.import_module("quadrants.lang._ndrange")
    hasher: Any = importlib.import_module("quadrants.lang._fast_caching.args_hasher")
    plain = ranges._coerce_to_int

    def coerced(value: Any) -> Any:
        is_tensor: bool = _TensorOfLater.__instancecheck__(TensorOfLater, value)
        return int(value.item()) if is_tensor and value.ndim == 0 else plain(value)

    ranges._coerce_to_int = coerced
    hasher.torch_type = TensorOfLater
