"""Texels of taps outside of a texture, against NumPy's padding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti
from difftile.textures.wraps import NONE, WRAPS


@pytest.fixture(autouse=True, scope="module")
def as_python() -> Iterator[None]:
    dt.init(arch="python")
    yield


# The periods of the taps of folded positions: those of a kernel of four taps, or of few more.
PADS: dict[str, Any] = {
    "clamp": {"mode": "edge"},
    "repeat": {"mode": "wrap"},
    "mirror": {"mode": "symmetric"},
    "border": {"mode": "constant", "constant_values": NONE},
}


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("name", PADS)
def test_texels_are_those_of_the_padded_texture(name: str, n: int) -> None:
    wrap = WRAPS[name]

    @dt.kernel
    def texels(low: int, n: int, found: Any, tapped: Any) -> None:
        for k in found:
            found[k] = wrap.texel(low + k, n)
            tapped[k] = wrap.tap(low + k, n)

    expected = np.pad(np.arange(n), 3 * n, **PADS[name])
    found, tapped = (dt.zeros(7 * n, ti.i32) for _ in range(2))
    texels(-3 * n, n, found, tapped)
    np.testing.assert_array_equal(found.to_numpy(), expected)
    # Taps of a position that is folded are at most a period beyond it.
    first, last = {"repeat": (2, 5), "mirror": (2, 6)}.get(name, (0, 7))
    near = slice(first * n, last * n)
    np.testing.assert_array_equal(tapped.to_numpy()[near], expected[near])
