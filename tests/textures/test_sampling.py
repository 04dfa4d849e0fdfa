"""Every kind of sampling against NumPy: values, and the gradients of all that goes in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from tests.textures.reference import Reference

SAMPLES = 16
TOLERANCES = {"f64": (1e-12, 1e-12), "f32": (2e-5, 2e-4)}  # of values, and of gradients


@dt.kernel
def plain(many: ti.template(), uv, outs: ti.template()):
    for i in uv:
        for k in ti.static(range(len(many))):
            outs[k][i] = many[k].sample(uv[i])


@dt.kernel
def by_lod(many: ti.template(), uv, lod, outs: ti.template()):
    for i in uv:
        for k in ti.static(range(len(many))):
            outs[k][i] = many[k].sample_lod(uv[i], lod[i])


@dt.kernel
def by_footprint(many: ti.template(), uv, ddx, ddy, outs: ti.template()):
    for i in uv:
        for k in ti.static(range(len(many))):
            outs[k][i] = many[k].sample_grad(uv[i], ddx[i], ddy[i])


METHODS = {"sample": plain, "sample_lod": by_lod, "sample_grad": by_footprint}


@dataclass(frozen=True)
class Case:
    """Textures of one kind, which one kernel samples by one method.

    Args:
        shape: Texels along the axes of space.
        channels: Components of a texel; 0 for numbers.
        method: How they are sampled.
        filters: A texture is made for each of these,
        wraps: with each of these, u first.
        options: What else they are made with.
    """

    shape: tuple[int, ...]
    channels: int
    method: str
    filters: tuple[str, ...]
    wraps: tuple[Any, ...]
    options: Any = ()


ALL = ("nearest", "linear", "cubic")
CASES = {
    "2d_border": Case((4, 7), 3, "sample", ("linear",), ("border",)),
    "1d": Case((5,), 0, "sample", ALL, ("clamp", "repeat", "mirror", "border")),
    "2d": Case((4, 7), 3, "sample", ALL, (("clamp", "repeat"), ("mirror", "border"))),
    "2d_xy": Case((4, 7), 1, "sample", ("linear",), (("border", "mirror"),), (("axes", "xy"),)),
    "3d": Case((3, 5, 4), 2, "sample", ("nearest", "linear"), (("border", "mirror", "clamp"),)),
    "3d_cubic": Case((3, 5, 4), 0, "sample", ("cubic",), (("border", "repeat", "clamp"),)),
    "one_texel": Case(
        (1, 1), 5, "sample", ("linear",), (("clamp", "repeat"), ("mirror", "border"))
    ),
    "many_channels": Case((4, 3), 16, "sample", ("linear",), ("border",)),
    "1d_levels": Case((11,), 0, "sample_lod", ALL, ("border",), (("mip", "linear"),)),
    "2d_levels": Case(
        (7, 12), 3, "sample_lod", ("linear",), (("border", "repeat"),), (("mip", "linear"),)
    ),
    "2d_nearest_level": Case(
        (7, 12), 3, "sample_lod", ("linear",), ("clamp",), (("mip", "nearest"),)
    ),
    "3d_levels": Case((4, 2, 5), 0, "sample_lod", ("linear",), ("mirror",), (("mip", "linear"),)),
    "no_levels": Case((4, 5), 0, "sample_lod", ("linear",), ("clamp",)),
    "1d_footprint": Case((16,), 2, "sample_grad", ("linear",), ("border",), (("mip", "linear"),)),
    "2d_footprint": Case(
        (16, 9), 3, "sample_grad", ("linear",), (("repeat", "border"),), (("mip", "linear"),)
    ),
    "3d_footprint": Case(
        (6, 8, 5), 0, "sample_grad", ("linear",), ("clamp",), (("mip", "linear"),)
    ),
    "2d_anisotropic": Case(
        (16, 13),
        4,
        "sample_grad",
        ("linear",),
        ("border",),
        (("mip", "linear"), ("max_aniso", 6)),
    ),
    "anisotropic_without_levels": Case(
        (9, 8), 0, "sample_grad", ("linear",), ("repeat",), (("max_aniso", 4),)
    ),
    "3d_anisotropic": Case(
        (6, 8, 5), 0, "sample_grad", ("linear",), ("clamp",), (("mip", "linear"), ("max_aniso", 4))
    ),
}
SINGLE = ("1d", "3d", "2d_anisotropic")


def drawn_inputs(case: Case, rng: np.random.Generator) -> list[Any]:
    """Return positions inside and outside, and the other arguments, away from kinks."""
    dims = len(case.shape)
    sizes = np.array(case.shape)
    at = rng.integers(-1, 2, (SAMPLES, dims)) + rng.random((SAMPLES, dims))
    fine = 2 * sizes * 8  # kinks of all levels and filters are multiples of 1 / fine, or nearly so
    uv = (np.floor(at * fine) + rng.uniform(0.2, 0.8, at.shape)) / fine
    if case.method == "sample":
        return [uv]
    if case.method == "sample_lod":
        return [uv, np.floor(rng.uniform(-1, 5, SAMPLES)) + rng.choice([0.2, 0.3, 0.7], SAMPLES)]
    long = rng.uniform(0.3, 12, (SAMPLES, 1))
    return [uv, *(rng.normal(size=(2, SAMPLES, dims)) * long / sizes[0])]


@pytest.mark.parametrize(
    ("name", "precision"),
    [
        *((n, "f64") for n in CASES),
        (SINGLE[-1], "f32"),
        *(pytest.param(n, "f32", marks=pytest.mark.slow) for n in SINGLE[:-1]),
    ],
)
def test_sampling(name: str, precision: str) -> None:
    case, options = CASES[name], dict(CASES[name].options)
    rng = np.random.default_rng(len(name))
    scalar = getattr(ti, precision)
    dims, channels = len(case.shape), case.channels or 1
    shape = case.shape if not case.channels else (*case.shape, channels)
    inputs = drawn_inputs(case, rng)
    element = dt.vec(dims, scalar) if dims > 1 else scalar
    given = [
        dt.from_numpy(
            x if x.ndim == 1 or dims > 1 else x[:, 0],
            dtype=scalar if x.ndim == 1 else element,
            grad=True,
        )
        for x in inputs
    ]
    textures, references = [], []
    for taken in case.filters:
        for wrap in case.wraps:
            texels, border = rng.normal(size=shape), rng.normal(size=channels)
            edge = border if case.channels else border[0]
            textures.append(
                dt.Texture(texels, taken, wrap, edge, dims=dims, dtype=scalar, grad=True, **options)
            )
            wraps = (wrap,) * dims if isinstance(wrap, str) else wrap
            references.append(
                Reference(
                    texels.reshape(*case.shape, channels),
                    taken,
                    wraps,
                    border,
                    options.get("mip", "off"),
                    options.get("max_aniso", 1),
                    "axes" not in options,
                )
            )
    out = dt.vec(channels, scalar) if case.channels else scalar
    outs = [dt.zeros(SAMPLES, out, grad=True) for _ in textures]
    bars = [rng.normal(size=(SAMPLES, channels)) for _ in textures]
    with dt.Tape() as tape:
        METHODS[case.method](textures, *given, outs)
    tape.backward({y: b if case.channels else b[:, 0] for y, b in zip(outs, bars, strict=True)})

    of_values, of_gradients = TOLERANCES[precision]
    total = [np.zeros(x.shape) for x in inputs]
    for texture, reference, y, bar in zip(textures, references, outs, bars, strict=True):
        values, *d_inputs = getattr(reference, case.method)(*inputs, bar)
        close(y, values, of_values)
        close(texture.data.grad, reference.d_texels, of_gradients)
        if texture.has_border:
            close(texture.border.grad, reference.d_border, of_gradients)
        total = [a + b for a, b in zip(total, d_inputs, strict=True)]
    for x, d_x in zip(given, total, strict=True):
        close(x.grad, d_x, of_gradients)


def close(field: Any, expected: Any, tolerance: float) -> None:
    """Compare with numbers up to a part of the largest of them."""
    scale = max(1.0, float(abs(expected).max()))
    found = field.to_numpy().reshape(expected.shape)
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale)
