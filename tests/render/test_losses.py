"""Losses and metrics of images against sums over windows in NumPy, and their gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import taichi as ti

import difftile as dt
from difftile.render import dssim, l1, l2, psnr, ssim

Array = npt.NDArray[Any]
STEP = 1e-30j


# The reference: images of shape (images, rows, columns, channels)


def window() -> Array:
    across = np.exp(-((np.arange(11) - 5.0) ** 2) / (2 * 1.5**2))
    both = np.outer(across, across)
    return both / both.sum()


def windows(image: Array) -> Array:
    """Return the weighted sums over all windows that lie in an image, one window at a time."""
    rows, columns = image.shape[1] - 10, image.shape[2] - 10
    weights = window()[None, :, :, None]
    sums = [
        [np.sum(weights * image[:, i : i + 11, j : j + 11], axis=(1, 2)) for j in range(columns)]
        for i in range(rows)
    ]
    return np.moveaxis(np.array(sums), 2, 0)


def similarity(x: Array, y: Array, padding: str) -> Array:
    """Return SSIM of each window and channel."""
    if padding == "same":
        x, y = (np.pad(one, ((0, 0), (5, 5), (5, 5), (0, 0))) for one in (x, y))
    mx, my = windows(x), windows(y)
    vx, vy = windows(x * x) - mx * mx, windows(y * y) - my * my
    cov = windows(x * y) - mx * my
    return ((2 * mx * my + 1e-4) * (2 * cov + 9e-4)) / (
        (mx * mx + my * my + 1e-4) * (vx + vy + 9e-4)
    )


def average(values: Array, mask: Array | None) -> Any:
    """Return the mean over pixels, with the weights of a mask cut to its middle if need be."""
    of_pixels = values.mean(axis=-1)
    if mask is None:
        return of_pixels.mean()
    cut = (mask.shape[1] - values.shape[1]) // 2
    middle = mask[:, cut : mask.shape[1] - cut, cut : mask.shape[2] - cut]
    return np.sum(middle * of_pixels) / np.sum(middle)


Reference = Callable[[Array, Array, "Array | None"], Any]


def absolute(x: Array) -> Array:
    return np.where(x.real < 0, -x, x)


LOSSES: dict[str, tuple[Callable[..., None], Reference]] = {
    "l1": (l1, lambda x, y, mask: average(absolute(x - y), mask)),
    "l2": (l2, lambda x, y, mask: average((x - y) ** 2, mask)),
    "dssim": (dssim, lambda x, y, mask: average(1 - similarity(x, y, "valid"), mask)),
    "dssim, same": (
        lambda *args, **options: dssim(*args, padding="same", **options),
        lambda x, y, mask: average(1 - similarity(x, y, "same"), mask),
    ),
}
SHAPES = {
    "vectors": ((14, 12), 3),
    "scalars": ((14, 12), 0),
    "images": ((2, 12, 13), 0),
}


def images(shape: tuple[int, ...], channels: int, dtype: Any) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(1)
    inner = (channels,) if channels else ()
    x = rng.uniform(size=(*shape, *inner))
    y = np.clip(x + rng.normal(0, 0.2, x.shape), 0, 1)
    mask = rng.uniform(size=shape) * (rng.uniform(size=shape) < 0.7)
    return x.astype(dtype), y.astype(dtype), mask.astype(dtype)


def field(array: Array, channels: int, *, grad: bool = False) -> dt.Field:
    element = dt.vec(channels, array.dtype) if channels else array.dtype
    return dt.from_numpy(array, element, grad=grad)


def as_reference(array: Array, channels: int) -> Array:
    array = array if channels else array[..., None]
    return array.astype(np.float64) if array.ndim == 4 else array.astype(np.float64)[None]


CASES = [
    *((name, kind, masked) for name in ("l1", "l2") for kind in SHAPES for masked in (False, True)),
    ("dssim", "vectors", False),
    ("dssim", "images", True),
    ("dssim, same", "scalars", True),
]


@pytest.mark.parametrize(("name", "kind", "masked"), CASES)
def test_losses_and_gradients_are_those_of_numpy(name: str, kind: str, masked: bool) -> None:
    loss_of, reference = LOSSES[name]
    shape, channels = SHAPES[kind]
    x, y, mask = images(shape, channels, np.float64)
    image, target = field(x, channels, grad=True), field(y, channels, grad=True)
    loss = dt.full((), 10.0, ti.f64, grad=True)
    options = {"mask": dt.from_numpy(mask)} if masked else {}
    with dt.Tape(loss):
        loss_of(image, target, loss, 0.7, **options)

    given = mask.reshape(-1, *mask.shape[-2:]) if masked else None
    full_x, full_y = as_reference(x, channels), as_reference(y, channels)
    expected = 10 + 0.7 * reference(full_x, full_y, given)
    np.testing.assert_allclose(loss.to_numpy(), expected, rtol=1e-13)

    rng = np.random.default_rng(2)
    for values, at in ((image, 0), (target, 1)):
        found = values.grad.to_numpy().reshape(full_x.shape)
        for _ in range(3):
            direction = rng.normal(size=full_x.shape)
            moved = [full_x + 0j, full_y + 0j]
            moved[at] += STEP * direction
            slope = 0.7 * np.imag(reference(moved[0], moved[1], given)) / STEP.imag
            np.testing.assert_allclose(np.sum(found * direction), slope, rtol=1e-9, atol=1e-14)


def test_single_precision_is_close() -> None:
    x, y, _ = images((20, 17), 3, np.float32)
    found = []
    for dtype in (np.float32, np.float64):
        image, target = field(x.astype(dtype), 3, grad=True), field(y.astype(dtype), 3)
        loss = dt.zeros((), dtype, grad=True)
        with dt.Tape(loss):
            l1(image, target, loss, 0.8)
            dssim(image, target, loss, 0.2)
        found.append((loss.to_numpy(), image.grad.to_numpy()))
    (loss, gradient), (exact_loss, exact_gradient) = found
    np.testing.assert_allclose(loss, exact_loss, rtol=1e-5)
    np.testing.assert_allclose(gradient, exact_gradient, atol=1e-4 * np.abs(exact_gradient).max())


def test_a_target_may_have_wider_numbers() -> None:
    x, y, _ = images((12, 12), 3, np.float32)
    given = field(x, 3, grad=True), field(y.astype(np.float64), 3)
    loss = dt.zeros((), ti.f64, grad=True)
    with dt.Tape(loss):
        for loss_of in (l1, l2, dssim):
            loss_of(*given, loss)
    full_x, full_y = as_reference(x, 3), as_reference(y, 3)
    expected = sum(LOSSES[name][1](full_x, full_y, None) for name in ("l1", "l2", "dssim"))
    np.testing.assert_allclose(loss.to_numpy(), expected, rtol=1e-7)
    assert np.any(given[0].grad.to_numpy())


def test_losses_of_two_images_on_one_tape_do_not_mix() -> None:
    """Both use the same memory for intermediate values."""
    both = [images((12, 13), 3, np.float64), images((12, 13), 3, np.float64)]
    both[1] = tuple(1 - one for one in both[1])
    gradients = []
    for chosen in ([0], [1], [0, 1]):
        inputs = [field(x, 3, grad=True) for x, _, _ in both]
        loss = dt.zeros((), ti.f64, grad=True)
        with dt.Tape(loss):
            for k in chosen:
                dssim(inputs[k], field(both[k][1], 3), loss, 1.0 + k)
        gradients.append([one.grad.to_numpy() for one in inputs])
    np.testing.assert_array_equal(gradients[2][0], gradients[0][0])
    np.testing.assert_array_equal(gradients[2][1], gradients[1][1])


def test_a_mask_of_zeros_adds_nothing() -> None:
    x, y, mask = images((12, 12), 3, np.float64)
    image, loss = field(x, 3, grad=True), dt.zeros((), ti.f64, grad=True)
    with dt.Tape(loss):
        for loss_of in (l1, l2, dssim):
            loss_of(image, field(y, 3), loss, mask=dt.from_numpy(0 * mask))
    assert loss[None] == 0 and not np.any(image.grad.to_numpy())


@pytest.mark.parametrize("loss_of", [l1, l2])
def test_what_a_mask_leaves_out_may_be_nan(loss_of: Callable[..., None]) -> None:
    x, y, _ = images((5, 6), 3, np.float64)
    mask = np.ones((5, 6))
    mask[2, 3:5] = 0.0
    results = []
    for bad in (False, True):
        if bad:
            x[2, 3], y[2, 4] = np.nan, np.inf
        image, target = field(x, 3, grad=True), field(y, 3, grad=True)
        loss = dt.zeros((), ti.f64, grad=True)
        with dt.Tape(loss):
            loss_of(image, target, loss, mask=dt.from_numpy(mask))
        results.append([loss.to_numpy(), image.grad.to_numpy(), target.grad.to_numpy()])
    for known, found in zip(*results, strict=True):
        np.testing.assert_array_equal(found, known)


def test_metrics() -> None:
    x, y, _ = images((13, 14), 3, np.float32)
    image, target = field(x, 3, grad=True), field(y, 3)
    full_x, full_y = as_reference(x, 3), as_reference(y, 3)
    assert psnr(image, target) == pytest.approx(-10 * np.log10(np.mean((full_x - full_y) ** 2)))
    for padding in ("valid", "same"):
        expected = np.mean(similarity(full_x, full_y, padding))
        assert ssim(image, target, padding) == pytest.approx(expected, rel=1e-5)
    assert ssim(image, image) == pytest.approx(1.0)
    assert psnr(image, image) == np.inf


def test_metrics_on_a_tape_leave_gradients_alone() -> None:
    x, y, _ = images((13, 14), 3, np.float64)
    image, target = field(x, 3, grad=True), field(y, 3)
    loss = dt.zeros((), ti.f64, grad=True)
    with dt.Tape(loss):
        dssim(image, target, loss, 0.0)  # a metric must not share its fields with gradients
        l2(image, target, loss)
        psnr(image, target)
        ssim(image, target)
    np.testing.assert_allclose(image.grad.to_numpy(), 2 * (x - y) / x.size, rtol=1e-12)


def test_what_cannot_be_compared_is_refused() -> None:
    image, loss = dt.zeros((12, 12), ti.f32), dt.zeros((), ti.f32)
    small = dt.zeros((10, 40), ti.f32)
    for call, message in (
        (
            lambda: l1(image, dt.zeros((12, 13), ti.f32), loss),
            "the same shape and number of channels",
        ),
        (lambda: l2(image, dt.zeros((12, 12), ti.math.vec3), loss), "number of channels"),
        (lambda: l2(image, dt.zeros((12, 12), ti.i32), loss), "An image is a field of floats"),
        (lambda: psnr(dt.zeros(12, ti.f32), dt.zeros(12, ti.f32)), "An image is"),
        (lambda: dssim(small, small, loss), "padding='same', which puts zeros"),
        (lambda: ssim(image, image, "full"), "'valid' or 'same', not 'full'"),
        (lambda: l1(image, image, loss, mask=small), "A mask has a number for each pixel"),
        (
            lambda: l1(image, image, loss, mask=dt.zeros((12, 12), ti.f32, grad=True)),
            "pass mask.detach",
        ),
    ):
        with pytest.raises(dt.FieldError, match=message):
            call()
