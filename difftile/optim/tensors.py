"""Tensors of torch as parameters of our optimisers: fields over their memory."""

from __future__ import annotations

import importlib
from typing import Any, cast

import difftile as dt
from difftile.diagnostics import FieldError


def is_tensor(value: object) -> bool:
    """Tell whether a value is a tensor of torch, without importing torch."""
    return hasattr(value, "requires_grad") and hasattr(value, "__dlpack__")


class TensorParameter:
    """A leaf tensor that an optimiser moves.

    Args:
        tensor: The tensor.

    Attributes:
        field: The field over its memory; its gradient is a copy of the tensor's `.grad`.
        missed: The steps in which the tensor had no gradient, and stayed as it was.
    """

    def __init__(self, tensor: Any) -> None:
        if not (tensor.requires_grad and tensor.is_leaf):
            raise FieldError(
                f"A tensor of shape {tuple(tensor.shape)} is no leaf that requires grad, so it "
                "gets no gradient to follow: call x.requires_grad_() where it is made."
            )
        self.tensor = tensor
        self.missed = 0
        self._share()

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle keeps: the field follows from the tensor."""
        return {"tensor": self.tensor, "missed": self.missed}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Share the memory of the tensor that a pickle holds."""
        vars(self).update(state)
        self._share()

    def _share(self) -> None:
        self.field: dt.Field = dt.from_dlpack(self.tensor.detach(), grad=True)
        self._address: int = self.tensor.data_ptr()

    def fetch(self) -> bool:
        """Copy the tensor's gradient to the field's; return False if the tensor has none."""
        if self.tensor.data_ptr() != self._address:  # p.data = ..., or module.to(...)
            self._share()
        gradient = self.tensor.grad
        if gradient is None:
            self.field.grad.fill(0.0)
            return False
        if gradient.is_sparse:
            gradient = gradient.to_dense()
        source = dt.from_dlpack(gradient.detach().contiguous())
        self.field.grad.copy_from(source)
        return True

    def stepped(self, moved: bool) -> None:
        """Hear of a step, and tell torch of the write, so that graphs with the tensor notice."""
        if not moved:
            self.missed += 1
            return
        torch = cast(Any, importlib.import_module("torch"))
        torch.autograd.graph.increment_version(self.tensor)
