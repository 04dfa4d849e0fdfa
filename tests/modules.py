"""Modules written by tests: a kernel reads its source again, so it has to be in a file."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any


def imported(path: Path, text: str) -> Any:
    """Write a module and return it."""
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
