"""The text that is emitted for a device with warps, on machines without one.

Kernels are launched as on such a device, and nothing of them is compiled or run.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest import mock

from difftile.schedule.grids import Grids
from difftile.substrate import variants, zeros
from tests.device_arrays import device_arrays

GRIDS = Grids.on(132)
"""Of an H200."""


class NotRun:
    """Compiled code of a device that is not there."""

    def launch(self, args: Any) -> None:
        """Do nothing."""


@contextmanager
def device_texts(grids: Grids = GRIDS) -> Generator[dict[str, str]]:
    """Start as on a device with warps, and collect what is emitted, by the name of the kernel.

    Args:
        grids: The threads of the device.
    """
    texts: dict[str, str] = {}
    emit, init = variants.emit, variants.Variants.__init__

    def collect(*given: Any, **options: Any) -> Any:
        emitted = emit(*given, **options)
        texts[emitted.name] = emitted.text
        return emitted

    def without_compiling(self: Any, *args: Any, **options: Any) -> None:
        init(self, *args, **options)
        self._backend = replace(self._backend, compile=lambda *args, **options: NotRun())

    with (
        mock.patch.object(variants, "emit", collect),
        mock.patch.object(variants.Variants, "__init__", without_compiling),
        # Small gradients take the variants of large ones.
        mock.patch.object(zeros, "_FRESH_BYTES", 0),
        device_arrays(warps=True, grids=grids),
    ):
        yield texts


def without_comments(text: str) -> str:
    """Return a text without the numbers of the lines that its own come from."""
    return re.sub(r" *# \d+$", "", text, flags=re.MULTILINE)


def body(text: str) -> list[str]:
    """Return the lines of a kernel after its signature."""
    lines = [line for line in text.splitlines() if line.strip()]
    start = next(k for k, line in enumerate(lines) if line.startswith("@ti.kernel"))
    end = next(k for k, line in enumerate(lines) if k > start and line.endswith("):"))
    return lines[end + 1 :]
