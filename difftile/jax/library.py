"""JAX, which is imported with this module: without it, `dt.jax` says how to get it."""

from __future__ import annotations

import importlib
from typing import Any

try:
    jax: Any = importlib.import_module("jax")
except ModuleNotFoundError as error:
    if error.name != "jax":
        raise
    raise ModuleNotFoundError(
        "dt.jax needs JAX: pip install 'difftile[jax]'.", name="jax"
    ) from None
