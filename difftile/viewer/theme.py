"""The colours of pictures and controls."""

from __future__ import annotations

import numpy as np

from difftile.viewer.primitives import Bytes


def _bytes(text: str) -> Bytes:
    return np.frombuffer(bytes.fromhex(text), np.uint8)


BACKGROUND = _bytes("14171c")
PANEL = _bytes("1e2329")
RAISED = _bytes("2a3038")
HOVERED = _bytes("39414c")
INK = _bytes("e6e9ed")
FAINT = _bytes("98a2ae")
ACCENT = _bytes("4db6ac")
WARNING = _bytes("7d2b2b")
SERIES = tuple(_bytes(text) for text in ("4db6ac", "f2a65a", "7aa6f0", "d67ab1", "b8c46a"))
