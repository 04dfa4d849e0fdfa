"""PyTorch, imported once."""

from __future__ import annotations

import importlib
from typing import Any, TypeAlias

try:
    torch: Any = importlib.import_module("torch")  # untyped here: its types need the package
except ImportError:
    raise ImportError(
        "dt.torch needs PyTorch: install it with 'pip install difftile[torch]'."
    ) from None

Tensor: TypeAlias = Any
"""A `torch.Tensor`."""
