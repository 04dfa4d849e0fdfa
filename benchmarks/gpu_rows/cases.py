"""The kernels of `benchmarks.gpu` with their arguments; many are those of `benchmarks.kernels`.

Positions of lookups are multiples of a 16th of a texel, so that all sides find the same texels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import isqrt

import numpy as np

import difftile as dt
from benchmarks.gpu_rows.mpm import MaterialPoints
from benchmarks.kernel_rows import cases
from benchmarks.kernel_rows.cases import Case, normal
from benchmarks.peers import mpm_taichi

# Sizes of the rows here, relative to those of `benchmarks.kernels`
ENLARGED = {
    "map": 32,
    "stencil": 64,
    "gather": 16,
    "scatter-add": 16,
    "sum": 16,
    "matvec": 64,
    "compositing": 4,
    "n-body": 4,
}
ADDING = {"scatter-add", "sum"}  # kernels that add to outputs, which are zero before


@dt.kernel
def look(texture, at, found):
    for i in at:
        found[i] = texture.sample(at[i])


class Lookups:
    """Lookups in a texture whose texels are an argument."""

    def __init__(self, dims: int) -> None:
        self._dims = dims
        self._texture: dt.Texture | None = None

    def __call__(self, texels: dt.Field, at: dt.Field, found: dt.Field) -> None:
        if self._texture is None or self._texture.data is not texels:
            self._texture = dt.Texture(texels, dims=self._dims)
        look(self._texture, at, found)


def _of_kernels(name: str) -> Callable[[float], Case]:
    return lambda scale: cases.CASES[name](scale * ENLARGED[name])


def _lookups(dims: int, size: int, in_rows: bool, scale: float) -> Case:
    """Return lookups of four channels; size and number are powers of two."""
    count = 1 << round(np.log2(scale * 2**22))
    n = min(size, max(8, 1 << round(np.log2(size * scale ** (1 / dims)))))
    rng = np.random.default_rng(1)
    if in_rows:  # in two dimensions the pixels of a picture, in three the samples of rays
        side = isqrt(count)
        places = np.stack(np.divmod(np.arange(count), side)[::-1], axis=1) * (n / side)
        if dims == 3:
            along = places[:, :1]  # a ray goes along u and slowly down v and w
            places = np.concatenate([along, places[:, 1:], 0.5 * places[:, 1:] + 0.25 * along], 1)
        places = np.floor(16 * places) / 16 % n
        places += 1 / 32
    else:
        places = (
            rng.integers(0, n, (count, dims)) + rng.integers(0, 16, (count, dims)) / 16 + 1 / 32
        )
    inputs = {"texels": normal(*[n] * dims, 4), "at": (places / n).astype(np.float32)}
    elements = {"texels": (4,), "at": (dims,), "found": (4,)}
    return Case(Lookups(dims), _no_peer, inputs, {"found": (count,)}, elements=elements)


def _no_peer(*fields: object) -> object:
    raise NotImplementedError("this row is not in plain Taichi")


def _mpm(scale: float) -> Case:
    """Return material points at random in a cube, eight in a cell of the grid or so."""
    count, n = round(scale * 2**20), max(16, 8 * round(32 * scale ** (1 / 3)))
    rng = np.random.default_rng(3)
    side = (count / 8) ** (1 / 3) / n
    inputs = {
        "x": rng.uniform(0.5 - side / 2, 0.5 + side / 2, (count, 3)).astype(np.float32),
        "v": normal(count, 3),
        "c": normal(count, 3, 3),
        "stress": normal(count),
    }
    elements = {"x": (3,), "v": (3,), "c": (3, 3), "new_v": (3,), "new_c": (3, 3)}
    return Case(
        MaterialPoints(n),
        lambda *fields: mpm_taichi.make_mpm(n, *fields),
        inputs,
        {"new_v": (count,), "new_c": (count,)},
        elements=elements,
        sizes={"n": n},
    )


def texels_first(case: Case) -> Case:
    """Return a case of lookups whose texels have their channels first, as torch wants them."""
    texels = np.ascontiguousarray(np.moveaxis(case.inputs["texels"], -1, 0))
    return replace(case, inputs=case.inputs | {"texels": texels})


CASES: dict[str, Callable[[float], Case]] = {
    **{name: _of_kernels(name) for name in ENLARGED},
    "texture": lambda scale: _lookups(2, 2048, False, scale),
    "texture-rows": lambda scale: _lookups(2, 2048, True, scale),
    "volume": lambda scale: _lookups(3, 256, False, scale),
    "volume-rays": lambda scale: _lookups(3, 256, True, scale),
    "mpm": _mpm,
}
