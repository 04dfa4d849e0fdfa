"""SciPy, an optional dependency: imported by the first feature that needs it."""

from __future__ import annotations

import importlib
from typing import Any


def scipy_module(name: str, who: str) -> Any:
    """Return a module of SciPy.

    Args:
        name: The module, such as "scipy.sparse".
        who: The name of the caller in errors.

    Raises:
        ImportError: SciPy is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError(
            f"{who} needs SciPy: install it with 'pip install difftile[scipy]'."
        ) from None
