"""Splats on the image plane against NumPy, with their gradients, by rule and derived."""

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.render.splats2d import AlphaSplats, sum_splats, sum_splats_plain
from tests.render import reference_splats2d as reference

HEIGHT, WIDTH = 22, 37


def scene(channels: int = 3) -> dict[str, np.ndarray]:
    """Gaussians of every kind: round, tilted, needles, wide, off the image, between pixels."""
    rng = np.random.default_rng(3)
    factors = [
        (2.0, 0.5, 1.5),
        (1.0, 6.0, 0.4),  # tilted needles
        (0.3, -8.0, 0.2),
        (30.0, 0.0, 0.35),  # a long one, along the rows
        (0.35, 0.0, 20.0),  # and across them
        (25.0, 4.0, 18.0),  # wider than the image
        (-1.5, 0.7, 2.0),  # the signs of a factor do not matter
        (1.5, 0.7, -2.0),
        (0.02, 0.0, 0.02),  # between pixels
        (3.0, 1.0, 2.0),  # off the image, and next to its corner
        (3.0, 1.0, 2.0),
        (2.5, -1.0, 2.5),
    ]
    means = rng.uniform(0.0, 1.0, (len(factors), 2)) * (WIDTH, HEIGHT)
    means[8], means[9], means[10] = (5.2, 6.3), (-40.0, 5.0), (-1.5, -0.7)
    return {
        "means": means,
        "factors": np.array(factors),
        "opacities": rng.uniform(0.3, 0.9, len(factors)),
        "colours": rng.normal(0.0, 1.0, (len(factors), channels)),
    }


def fields(values: dict[str, np.ndarray], dtype) -> dict[str, dt.Field]:
    return {
        name: dt.from_numpy(
            array, dtype=dt.vec(array.shape[1], dtype) if array.ndim == 2 else dtype, grad=True
        )
        for name, array in values.items()
    }


def summed(values: dict[str, np.ndarray], kernel, seed: np.ndarray, dtype=ti.f64):
    """Return the image and the gradients of the sum model."""
    found = fields({k: values[k] for k in ("means", "factors", "colours")}, dtype)
    image = dt.full(seed.shape[:2], 7.0, dt.vec(seed.shape[2], dtype), grad=True)
    with dt.Tape() as tape:
        kernel(*found.values(), image)
    tape.backward({image: seed})
    return image.to_numpy(), {name: field.grad.to_numpy() for name, field in found.items()}


@pytest.mark.parametrize("channels", [1, 3])
def test_sum_agrees_with_numpy(channels: int) -> None:
    values = scene(channels)
    seed = np.random.default_rng(4).normal(size=(HEIGHT, WIDTH, channels))
    inputs = [values[name] for name in ("means", "factors", "colours")]

    def render(*arrays):
        return reference.sum_image(*arrays, HEIGHT, WIDTH)

    expected = dict(
        zip(
            ("means", "factors", "colours"),
            reference.gradients(render, inputs, seed),
            strict=True,
        )
    )
    for kernel in (sum_splats, sum_splats_plain):
        image, gradients = summed(values, kernel, seed)
        np.testing.assert_allclose(image, render(*inputs), rtol=1e-11, atol=1e-12)
        for name, gradient in gradients.items():
            scale = np.abs(expected[name]).max()
            np.testing.assert_allclose(
                gradient, expected[name], rtol=1e-10, atol=1e-11 * scale, err_msg=name
            )


def test_sum_in_single_precision_is_near_that_in_double() -> None:
    values = scene()
    seed = np.random.default_rng(4).normal(size=(HEIGHT, WIDTH, 3))
    image, gradients = summed(values, sum_splats, seed)
    single, rounded = summed(values, sum_splats, seed, ti.f32)
    np.testing.assert_allclose(single, image, rtol=0, atol=2e-5 * np.abs(image).max())
    for name, gradient in gradients.items():
        off = np.abs(rounded[name] - gradient)
        assert (off <= 2e-4 * np.abs(gradient).max(axis=0)).all(), name


@pytest.mark.parametrize("factor", [(0.0, 1.0, 2.0), (2.0, 1.0, 0.0), (1e-9, 0.0, 1e-9)])
@pytest.mark.compiled
def test_gaussians_without_extent_are_left_out(factor: tuple[float, float, float]) -> None:
    values = {
        "means": np.array([[4.5, 4.5], [8.0, 8.0]]),
        "factors": np.array([factor, (2.0, 0.0, 2.0)]),
        "colours": np.ones((2, 3)),
    }
    seed = np.ones((HEIGHT, WIDTH, 3))
    for dtype in (ti.f32, ti.f64):
        image, gradients = summed(values, sum_splats, seed, dtype)
        alone, _ = summed({k: v[1:] for k, v in values.items()}, sum_splats, seed, dtype)
        np.testing.assert_array_equal(image, alone)
        for gradient in gradients.values():
            assert (gradient[0] == 0).all() and np.isfinite(gradient).all()


def test_a_gaussian_of_any_size_is_drawn() -> None:
    """Its reach, as an integer, would not fit."""
    values = {
        "means": np.array([[3e9, -2e9]]),
        "factors": np.array([[4e12, 0.0, 4e12]]),
        "colours": np.ones((1, 1)),
    }
    image, _ = summed(values, sum_splats, np.ones((HEIGHT, WIDTH, 1)), ti.f32)
    np.testing.assert_allclose(image, 1.0, rtol=1e-5)


@pytest.mark.parametrize("plain", [False, True])
def test_alpha_agrees_with_numpy(plain: bool) -> None:
    values = scene()
    values["opacities"][5] = 0.999  # clamped, but in places: splats farther away end there
    background = np.array([0.2, 0.5, 0.3])
    seed = np.random.default_rng(4).normal(size=(HEIGHT, WIDTH, 3))
    inputs = [*values.values(), background]

    def render(*arrays):
        return reference.alpha_image(*arrays, HEIGHT, WIDTH)

    expected = reference.gradients(render, inputs, seed)
    found = fields({**values}, ti.f64)
    back = dt.from_numpy(background, dtype=dt.vec(3, ti.f64), grad=True)
    splats = AlphaSplats(WIDTH, HEIGHT, background=back, dtype=ti.f64, plain=plain, tile=8)
    with dt.Tape() as tape:
        image = splats(*found.values())
    tape.backward({image: seed})
    np.testing.assert_allclose(image.to_numpy(), render(*inputs), rtol=1e-11, atol=1e-12)
    for field, gradient in zip([*found.values(), back], expected, strict=True):
        scale = np.abs(gradient).max()
        np.testing.assert_allclose(field.grad.to_numpy(), gradient, rtol=1e-10, atol=1e-11 * scale)


def test_alpha_is_ordered_by_depth_and_then_by_index() -> None:
    values = scene()
    splats = AlphaSplats(WIDTH, HEIGHT, dtype=ti.f64)
    by_index = splats(*fields(values, ti.f64).values()).to_numpy()
    turned = {name: array[::-1].copy() for name, array in values.items()}
    depths = dt.from_numpy(np.arange(12.0)[::-1].copy())
    by_depth = splats(*fields(turned, ti.f64).values(), depths).to_numpy()
    np.testing.assert_array_equal(by_depth, by_index)
    with pytest.raises(dt.FieldError, match=r"opacities must have the shape \(12,\)"):
        splats(*fields({**values, "opacities": np.ones(3)}, ti.f64).values())


def test_rows_that_are_missing_are_an_error() -> None:
    found = fields(scene(), ti.f64)
    image = dt.zeros((HEIGHT, WIDTH), dt.vec(3, ti.f64))
    few = dt.zeros(3, dt.vec(3, ti.f64))
    for kernel in (sum_splats, sum_splats_plain):
        with pytest.raises(
            dt.FieldError, match=r"factors must have the shape \(12,\) like the means"
        ):
            kernel(found["means"], few, found["colours"], image)
    with pytest.raises(dt.FieldError, match=r"means must have the shape \(n,\), not \(3, 4\)"):
        sum_splats(dt.zeros((3, 4), dt.vec(2)), few, few, image)
