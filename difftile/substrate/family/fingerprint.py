"""Fingerprints of functions in emitted source.

The compiler keeps compiled kernels by a key made of their statements, in memory and on disk. The
statements of functions that a kernel calls are not in it: two kernels that differ only there would
be one. A kernel therefore has the fingerprint of each such function among its statements.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def fingerprint(name: str, lines: Sequence[str]) -> int:
    """Return a number of 63 bits for a function and everything that it may call.

    Names of kernels and numbers of the user's lines do not matter.

    Args:
        name: The name of the function.
        lines: The source of all functions of the kernel.
    """
    text = "\n".join(line.partition("#")[0].rstrip() for line in lines)
    digest = _of_this_package().copy()
    digest.update(text.replace(name, "").encode())
    return int.from_bytes(digest.digest()[:8], "little") >> 1


@functools.cache
def _of_this_package() -> Any:
    """Return the digest of the reader of functions, and of the helpers that they call."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest
