"""How much memory a tape may hold for old values."""

from __future__ import annotations

import re

from difftile.diagnostics import TapeError
from difftile.fields.exchange import as_integer

LOG_BYTES = 2**30
"""The bytes that the log of a loop may take where no tape says how much memory there is."""

_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?\s*", re.IGNORECASE)


def parse_memory(memory: str | int) -> int:
    """Return an amount of memory in bytes.

    Args:
        memory: Bytes, or a text such as "256MB" (10^6), "1.5 GiB" (2^30) or "800 kB".

    Raises:
        TapeError: The amount is neither.
    """
    number = as_integer(memory)
    if number is not None and number > 0:
        return number
    match = _AMOUNT.fullmatch(memory) if isinstance(memory, str) else None
    if match is None or float(match[1]) <= 0:
        raise TapeError(f"memory is a text such as '256MB' or a number of bytes, not {memory!r}.")
    amount, unit, binary = float(match[1]), match[2].upper(), match[3]
    power = 0 if not unit else "KMGT".index(unit) + 1
    return int(amount * (1024 if binary else 1000) ** power)


def as_text(count: float) -> str:
    """Return a number of bytes as people read it: '1.5 MB'."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.3g} {unit}" if unit != "bytes" else f"{int(count)} bytes"
        count /= 1000
    raise AssertionError
