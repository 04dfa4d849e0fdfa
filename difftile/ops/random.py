"""Random bits: a hash of a draw and its place, so that the same draw gives the same bits again.

The hash is pcg4d of Jarzynski and Olano, Hash Functions for GPU Rendering (JCGT 9(3), 2020): four
words in, four words out, one to one. Two draws that differ in any word have different bits.
"""

from __future__ import annotations

from typing import Any

import numpy

from difftile.ir.types import I32, U32, Type, Vector
from difftile.ops.row import Op, OpTypeError

np: Any = numpy

MULTIPLIER, INCREMENT = 1664525, 1013904223


def random_bits(*words: Any) -> Any:
    """Return four words of random bits."""
    v = np.array([int(word) & 0xFFFFFFFF for word in words], np.uint32)
    with np.errstate(over="ignore"):
        v = v * np.uint32(MULTIPLIER) + np.uint32(INCREMENT)
        for turn in range(2):
            v[0] += v[1] * v[3]
            v[1] += v[2] * v[0]
            v[2] += v[0] * v[1]
            v[3] += v[1] * v[2]
            if turn == 0:
                v = v ^ (v >> np.uint32(16))
    return v


def _words(types: tuple[Type, ...]) -> Type:
    if types != (I32,) * 4:
        raise OpTypeError(f"expected four words, got {', '.join(map(str, types))}")
    return Vector(4, U32)


ROWS = (Op("random_bits", random_bits, _words),)
