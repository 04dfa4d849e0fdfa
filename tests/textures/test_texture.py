"""Textures as objects: their construction, updates and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt

RNG = np.random.default_rng(0)
VEC2 = dt.vec(2, ti.f64)


@dt.kernel
def look(tex, uv, y):
    for i in uv:
        y[i] = tex.sample(uv[i])


@dt.kernel
def look_lod(tex, uv, lod: float, y):
    for i in uv:
        y[i] = tex.sample_lod(uv[i], lod)


@dt.kernel
def fetched(tex, ij, y):
    for i in ij:
        y[i] = tex.fetch(ij[i])


@dt.kernel
def fetched_from(tex, ij, y):
    for i in ij:
        y[i] = tex.fetch(ij[i], i)


@dt.kernel
def inner(y, w, loss):
    for i in y:
        loss[None] += y[i].dot(w[i])


def positions(count: int = 40, low: float = -1.0, high: float = 2.0) -> Any:
    return dt.from_numpy(RNG.uniform(low, high, (count, 2)), dtype=VEC2, grad=True)


@pytest.mark.parametrize("mip", ["off", "linear"])
def test_the_gradient_of_texels_is_that_of_a_linear_function(mip: str) -> None:
    tex = dt.Texture(RNG.normal(size=(5, 8, 3)), wrap=("border", "mirror"), mip=mip, grad=True)
    uv, y = positions(), dt.zeros(40, dt.vec(3, ti.f64), grad=True)
    w = dt.from_numpy(RNG.normal(size=(40, 3)), dtype=dt.vec(3, ti.f64))
    loss = dt.zeros((), ti.f64, grad=True)
    with dt.Tape(loss):
        look_lod(tex, uv, 1.3, y)
        inner(y, w, loss)
    product = np.sum(tex.data.grad.to_numpy() * tex.data.to_numpy())
    scale = np.sum(abs(y.to_numpy() * w.to_numpy()))
    assert abs(product - loss[None]) <= 2e-15 * scale


def test_tangents_agree_with_gradients() -> None:
    tex = dt.Texture(RNG.normal(size=(5, 8, 3)), wrap="border", border=[1, 2, 3], grad=True)
    uv, y = positions(), dt.zeros(40, dt.vec(3, ti.f64), grad=True)
    fields = (tex.data, tex.border, uv)
    dots = [RNG.normal(size=f.to_numpy().shape) for f in fields]
    for field, dot in zip(fields, dots, strict=True):
        field.grad.from_numpy(dot)
    look.fwds(tex, uv, y)
    bar = RNG.normal(size=(40, 3))
    pushed = np.sum(bar * y.grad.to_numpy())
    dt.zero_grads()
    y.grad.from_numpy(bar)
    look.bwds(tex, uv, y)
    pulled = sum(np.sum(dot * f.grad.to_numpy()) for f, dot in zip(fields, dots, strict=True))
    np.testing.assert_allclose(pushed, pulled, rtol=1e-12)


def test_fetched_texels_are_wrapped() -> None:
    texels = RNG.normal(size=(3, 4))
    index = np.array([[0, 0], [2, 3], [-1, 1], [1, 4], [7, -9]])
    ij = dt.from_numpy(index, dtype=dt.vec(2, ti.i32))
    y = dt.zeros(5, ti.f64, grad=True)
    tex = dt.Texture(texels, wrap=("repeat", "border"), border=9.0, grad=True)
    with dt.Tape() as tape:
        fetched(tex, ij, y)
    tape.backward({y: np.ones(5)})
    np.testing.assert_array_equal(y.to_numpy(), [texels[0, 0], texels[2, 3], 9, texels[1, 0], 9])
    expected = np.zeros((3, 4))
    expected[[0, 2, 1], [0, 3, 0]] = 1
    np.testing.assert_array_equal(tex.data.grad.to_numpy(), expected)
    assert tex.border.grad[None] == 2
    tex = dt.Texture(texels, mip="nearest", grad=True)
    with dt.Tape() as tape:
        fetched_from(tex, ij, y)
    tape.backward({y: np.ones(5)})
    halved = texels[:2].reshape(1, 2, 2, 2).mean((1, 3))
    top = halved.mean()
    np.testing.assert_allclose(y.to_numpy(), [texels[0, 0], halved[0, 1], top, top, top])
    np.testing.assert_allclose(tex.data.grad.to_numpy().sum(), 5)


def test_levels_follow_the_texels() -> None:
    tex = dt.Texture(RNG.random((8, 8)), mip="linear", grad=True)
    # Positions whose weights are exact: whatever was drawn before, a constant stays what it is.
    uv = dt.from_numpy(np.array([[0.25, 0.5], [0.75, 0.125], [0.5, 0.875]]), dtype=VEC2)
    y = dt.zeros(3, ti.f64)
    look_lod(tex, uv, 3.0, y)
    np.testing.assert_allclose(y.to_numpy(), tex.data.to_numpy().mean())
    assert [one.shape for one in tex.levels] == [(8, 8), (4, 4), (2, 2), (1, 1)]
    tex.data.fill(7.0)
    assert tex.levels[2][1, 1] == 7
    look_lod(tex, uv, 3.0, y)
    np.testing.assert_array_equal(y.to_numpy(), 7)


def test_an_optimiser_moves_what_is_seen() -> None:
    target = RNG.random((4, 4))
    tex = dt.Texture(np.zeros((4, 4)), mip="linear", grad=True)
    seen, wanted = dt.Texture(target, mip="linear"), dt.zeros(60, ti.f64)
    uv, lod = positions(60, 0, 1), 0.4
    look_lod(seen, uv, lod, wanted)

    @dt.kernel
    def squares(tex, uv, wanted, loss):
        for i in uv:
            loss[None] += (tex.sample_lod(uv[i], 0.4) - wanted[i]) ** 2

    loss, adam = dt.zeros((), ti.f64, grad=True), dt.optim.Adam([tex.data], lr=0.05)
    for _ in range(300):
        loss.fill(0)
        with dt.Tape(loss):
            squares(tex, uv, wanted, loss)
        adam.step()
    assert loss[None] < 1e-4


def test_bytes_and_srgb() -> None:
    bytes_ = np.array([[[0, 10, 188, 128], [255, 11, 1, 255]]], np.uint8)
    tex = dt.Texture(bytes_)
    assert repr(tex) == "<texture vec4<f32> (1, 2), linear>"
    np.testing.assert_allclose(tex.data.to_numpy(), bytes_ / 255, rtol=1e-7)
    x = bytes_ / 255
    light = np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)
    light[..., 3] = x[..., 3]
    tex = dt.Texture(bytes_, srgb=True, mip="linear", dtype=ti.f64)
    np.testing.assert_allclose(tex.data.to_numpy(), light, rtol=1e-14)
    np.testing.assert_allclose(tex.levels[1].to_numpy()[0, 0], light[0].mean(0), rtol=1e-14)
    encoded = dt.Texture(x.astype(np.float32)[..., 0], srgb=True)
    assert encoded.data.element == dt.zeros((), ti.f32).element
    np.testing.assert_allclose(encoded.data.to_numpy(), light[..., 0], rtol=1e-6)


def test_fields_are_shared_and_python_samples() -> None:
    data = dt.from_numpy(RNG.random((3, 4, 2)), dtype=VEC2, grad=True)
    border = dt.full((), [1.0, 2.0], dtype=VEC2, grad=True)
    tex = dt.Texture(data, wrap="border", border=border)
    assert tex.data is data and tex.border is border and tex.dims == 2
    uv = dt.from_numpy(np.array([[0.5, 0.5], [-1.0, 0.5]]), dtype=VEC2)
    with dt.Tape() as tape:
        found = tex.sample(uv)
    np.testing.assert_allclose(found[0], data.to_numpy()[1, 1:3].mean(0))
    np.testing.assert_allclose(found[1], [1, 2])
    tape.backward({found: np.ones((2, 2))})
    np.testing.assert_allclose(data.grad.to_numpy()[1, 1:3], 0.5)
    np.testing.assert_allclose(border.grad.to_numpy(), 1)
    detached = data.detach()
    assert dt.Texture(detached, grad=True).data.has_grads


WRONG = [
    (
        dict(filter="liner"),
        "filter='liner' is not one of 'nearest', 'linear', 'cubic'. Did you mean",
    ),
    (
        dict(wrap="clmap"),
        "wrap='clmap' is not one of 'clamp', 'repeat', 'mirror', 'border'. Did you",
    ),
    (dict(wrap=("clamp",)), r"wrap=\('clamp',\) does not have an entry for each of 2 coordinates"),
    (dict(wrap=3), "wrap=3 is not one of"),
    (dict(mip=True), "mip=True is not one of 'off', 'nearest', 'linear'"),
    (dict(axes="yx"), "axes='yx' is not one of 'image', 'xy'"),
    (dict(max_aniso=0), "max_aniso is an integer, 1 or more, not 0"),
    (dict(dims=4), "A texture has 1 to 3 dimensions, not 4"),
    (dict(dims=1), r"An array of shape \(2, 3, 4\) is not a texture of 1 dimensions; .* \(W, C\)"),
    (dict(border=[1.0, 2.0]), "2"),
    (dict(border=dt.zeros(3)), r"The border is a field of shape \(\) of vec4<f64>, not"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(dt.FieldError, match=message):
        dt.Texture(np.zeros((2, 3, 4)), **options)


def test_wrong_data() -> None:
    for data, message, options in [
        (np.zeros((2, 2), np.int32), "Texels are floats or bytes, not int32", {}),
        (
            np.zeros((2, 2)) + 2,
            "Texels encoded as sRGB are bytes, or floats from 0 to 1",
            {"srgb": 1},
        ),
        (np.zeros((4, 5, 30)), "has 30 channels; .* up to 16. .* dims=3", {}),
        (np.zeros((2, 3, 4, 5, 6)), "is not a texture of 3 dimensions", {}),
        (np.float64(3), "is not a texture", {}),
        (np.zeros((0, 4)), "no elements", {}),
        (dt.zeros((2, 2), ti.i32), "holds i32", {}),
        (dt.zeros((2, 2), dt.mat(2, 2)), "holds mat2x2<f32>", {}),
        (dt.zeros((2, 2, 2, 2)), "is not a field of texels", {}),
        (dt.zeros((2, 2))[1:], "whole field", {}),
        (dt.zeros((2, 2)), "leave srgb out", {"srgb": True}),
        (dt.zeros((2, 2)), "does not hold f64; leave dtype out", {"dtype": ti.f64}),
        (np.zeros((5, 4, 4)), "A cube map has the shape", {"cube": True}),
    ]:
        with pytest.raises(dt.FieldError, match=message):
            dt.Texture(data, **options)


@pytest.mark.parametrize(
    ("shape", "kind", "message"),
    [
        ((4,), VEC2, "a component is one number"),
        ((4, 4), ti.f64, "one number"),
        ((4, 4), dt.vec(3, ti.f64), "shapes do not match: vec2<f64> and vec3<f64>"),
    ],
)
def test_positions_of_other_dimensions(shape: Any, kind: Any, message: str) -> None:
    tex, uv = dt.Texture(np.zeros(shape), dims=len(shape)), dt.zeros(2, kind)
    with pytest.raises(dt.KernelError, match=message):
        look(tex, uv, dt.zeros(2, ti.f64))
