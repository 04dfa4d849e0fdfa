"""Loops over `dt.lanes`, whose turns lanes of a warp share: on the host, and as a device has them.

The source for a device runs as Python, with the 32 lanes of a warp in threads that wait for each
other only where they meet; elements of shared memory that two lanes touch in between are refused.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest

import difftile as dt
from benchmarks.lanes import TILE, Picture, blend, by_threads
from difftile import ti
from difftile.diagnostics import ScheduleMismatch
from difftile.passes import by_warps
from difftile.render import compositing
from difftile.schedule.grids import Grid, Grids
from tests.device_text import device_texts
from tests.emitted_python import WARP, Memory, function_of

BLOCKS = 3
FEW = Grids(
    full=Grid(3),
    several=Grid(2 * WARP),
    few=Grid(2),
    private=Grid(6, 2, least=3),
    sharing=Grid(2 * WARP, WARP),
)
rng = np.random.default_rng(5)


@dt.kernel
def swept(x, y):
    """Use all that lanes do: elements of their own, sums, atomics, and statements of one lane."""
    for w in range(x.shape[0]):
        a, b = dt.local(40), dt.local(4)
        for j in dt.lanes(40):
            a[j] = x[w, j] * x[w, j]
        for k in range(1, 40, 13):
            top = a[k - 1]
            for j in dt.lanes(k, 40):
                a[j] += 0.1 * top * a[j]
        b[1] = a[7]
        for j in dt.lanes(40):
            b[j % 4] += a[j]
        total = b[3]
        for j in dt.lanes(40):
            total += b[j % 4] * a[j]
        y[w] = total


@dt.kernel
def swept_by_threads(x, y):
    for w in range(x.shape[0]):
        a, b = dt.local(40), dt.local(4)
        for j in range(40):
            a[j] = x[w, j] * x[w, j]
        for k in range(1, 40, 13):
            top = a[k - 1]
            for j in range(k, 40):
                a[j] += 0.1 * top * a[j]
        b[1] = a[7]
        for j in range(40):
            b[j % 4] += a[j]
        total = b[3]
        for j in range(40):
            total += b[j % 4] * a[j]
        y[w] = total


@dt.kernel
def vectors(x, y):
    for w in range(x.shape[0]):
        p = dt.local(35, ti.math.vec3)
        for j in dt.lanes(35):
            p[j] = ti.math.vec3(x[w, j], 1.0, x[w, j] * x[w, j])
        for j in dt.lanes(35):
            p[j].y += p[j].x * p[j].z
        total = 0.0
        for j in dt.lanes(35):
            total += p[j].dot(p[j])
        y[w] = total


@dt.kernel
def factored(x, y):
    for w in range(x.shape[0]):
        A, F = dt.local(91), dt.local(91)
        for e in dt.lanes(91):
            A[e] = x[w, e]
        dt.packed.factor(A, F, 13)
        total = 0.0
        for e in dt.lanes(91):
            total += F[e] * F[e]
        y[w] = total


KERNELS = {"swept": (swept, 40), "vectors": (vectors, 35), "factored": (factored, 91)}


def values_of(name: str) -> np.ndarray:
    """Return what a kernel reads; packed matrices are positive definite."""
    values = rng.uniform(0.2, 1.0, (BLOCKS, KERNELS[name][1]))
    if name == "factored":
        values[:, [i * (i + 3) // 2 for i in range(13)]] += 9.0
    return values


def gradients(kernel: Any, values: np.ndarray, dtype: Any = ti.f64) -> tuple[Any, Any]:
    """Return the results of a kernel, and the gradient of their weighted sum."""
    x, y = dt.from_numpy(values, dtype=dtype, grad=True), dt.zeros(BLOCKS, dtype, grad=True)
    kernel(x, y)
    y.grad.from_numpy(np.arange(1.0, BLOCKS + 1))
    kernel.bwds(x, y)
    return y.to_numpy(), x.grad.to_numpy()


@pytest.fixture
def on_the_host() -> Iterator[None]:
    dt.init()
    yield
    dt.init()


@pytest.mark.usefixtures("on_the_host")
def test_turns_are_those_of_a_range() -> None:
    values = values_of("swept")
    for found, wanted in zip(
        gradients(swept, values), gradients(swept_by_threads, values), strict=True
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-13)
    assert list(dt.lanes(3)) == [0, 1, 2]
    assert list(dt.lanes(2, 4)) == [2, 3]


@pytest.mark.usefixtures("on_the_host")
@pytest.mark.parametrize("name", KERNELS)
def test_gradients_are_differences(name: str) -> None:
    kernel, values = KERNELS[name][0], values_of(name)
    way = rng.normal(size=values.shape)
    _, slopes = gradients(kernel, values)
    ends = [gradients(kernel, values + e * way)[0] for e in (1e-5, -1e-5)]
    change = (ends[0] - ends[1]) @ np.arange(1.0, BLOCKS + 1) / 2e-5
    np.testing.assert_allclose(np.sum(slopes * way), change, rtol=1e-7)


@pytest.mark.parametrize("name", KERNELS)
def test_lanes_of_a_device_compute_the_same(name: str) -> None:
    """Of the forward kernel and the adjoint, between the threads of a warp."""
    kernel, values = dt.kernel(KERNELS[name][0].function), values_of(name)
    dt.init(arch="python")
    wanted = gradients(kernel, values)
    with device_texts(FEW) as texts:
        gradients(kernel, values, ti.f32)
        told = kernel.explain()
    assert told.count("lanes(32): dt.lanes() asks for it") >= 2
    name = kernel.function.__name__
    forward, adjoint = texts[name], texts[f"{name}_adjoint"]
    assert "warps.shared(ti.f32, " in forward
    assert "warps.shared(ti.f32, " in adjoint
    y, x_bar = np.zeros(BLOCKS), np.zeros_like(values)
    run(forward, name, {"x": values, "y": y})
    np.testing.assert_allclose(y, wanted[0], rtol=1e-12)
    seeds, log = np.arange(1.0, BLOCKS + 1), np.zeros((BLOCKS, 4096))
    arrays = {"x": values, "x_bar": x_bar, "y_bar": seeds, "local_log": log}
    run(adjoint, f"{name}_adjoint", arrays)
    np.testing.assert_allclose(x_bar, wanted[1], rtol=1e-11)
    dt.init()


def run(text: str, name: str, arrays: dict[str, np.ndarray]) -> None:
    """Run emitted source as Python, on those of the arrays and numbers that it takes."""
    head = text[text.index(f"def {name}(") :].partition(")")[0].partition("(")[2]
    taken = dict(part.strip().split(": ") for part in head.strip().rstrip(",").split(","))
    numbers = vars(compositing)
    function_of(text, name)(
        *(
            numbers[one] if of == "ti.f32" else Memory(arrays[one], int(of.rsplit("_", 1)[1][0]), 0)
            for one, of in taken.items()
        )
    )


def check_on_cuda(name: str) -> None:
    """Compare values and gradients in single precision with those in Python."""
    kernel, values = dt.kernel(KERNELS[name][0].function), values_of(name)
    dt.init(arch="python")
    wanted = gradients(kernel, values)
    dt.init(arch="cuda")
    for found, right in zip(gradients(kernel, values, ti.f32), wanted, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-5 * np.abs(right).max())
    assert kernel.explain().count("lanes(32): dt.lanes() asks for it") >= 2


def test_tiles_of_pixels_by_lanes() -> None:
    """A kernel that renders, with votes, batches in shared memory and a rule."""
    dt.init(arch="python")
    wanted = Picture(8, TILE, each=1).results(by_threads)
    with device_texts(FEW) as texts:
        picture = Picture(8, TILE, each=1)
        picture.results(blend)
        arrays = {name: one.to_numpy() for name, one in picture.given.items()}
        arrays |= {"order": picture.order.to_numpy(), "starts": picture.starts.to_numpy()}
    pixels = 1, TILE, TILE
    arrays |= {"image": np.zeros((*pixels, 3)), "light": np.zeros(pixels)}
    arrays["last"] = np.zeros(pixels, np.int32)
    run(texts["blend"], "blend", arrays)
    arrays |= {"image_in_bar": picture.seed, "light_in_bar": np.zeros(pixels)}
    arrays |= {f"{name}_out_bar": np.zeros_like(arrays[name], float) for name in picture.given}
    run(texts["k"], "k", arrays)
    found = arrays["image"], arrays["light"], *(arrays[f"{name}_out_bar"] for name in picture.given)
    for one, right in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, right, rtol=1e-5, atol=1e-5)
    dt.init()


def first_line(kernel: Any) -> int:
    lines, start = inspect.getsourcelines(kernel.function)
    return start + next(k for k, line in enumerate(lines) if "for " in line)


@pytest.mark.usefixtures("on_the_host")
def test_a_cpu_has_no_lanes() -> None:
    kernel = dt.kernel(swept.function)
    kernel.schedule("forward", first_line(kernel), "grid, lanes(32)")
    with pytest.raises(ScheduleMismatch, match="cannot run as 'grid, lanes"):
        gradients(kernel, values_of("swept"))


@dt.kernel
def world(x, y):
    """A step of a world: the kernel of one, without a word about lanes."""
    A, F = dt.local(91), dt.local(91)
    b, v = dt.local(13), dt.local(13)
    for e in range(91):
        A[e] = x[e]
    for i in range(13):
        b[i] = x[i] - 0.5
    dt.packed.factor(A, F, 13)
    dt.packed.solve(F, b, v, 13)
    for i in range(13):
        y[None] += v[i] * v[i]


def test_a_step_of_worlds_by_lanes() -> None:
    values = values_of("factored")
    dt.init(arch="python")
    wanted = gradients(dt.batch(world, BLOCKS), values)
    with device_texts(FEW) as texts:
        step = dt.batch(world, BLOCKS)
        line = inspect.getsourcelines(world.function)[1] + 1
        for stage in ("forward", "adjoint"):
            step.schedule(stage, line, "grid, lanes(32)")
        gradients(step, values, ti.f32)
    y, x_bar = np.zeros(BLOCKS), np.zeros_like(values)
    run(texts["world"], "world", {"x": values, "y": y})
    np.testing.assert_allclose(y, wanted[0], rtol=1e-12)
    seeds = np.arange(1.0, BLOCKS + 1)
    run(texts["world_adjoint"], "world_adjoint", {"x": values, "x_bar": x_bar, "y_bar": seeds})
    np.testing.assert_allclose(x_bar, wanted[1], rtol=1e-11)
    assert texts["world_adjoint"].count("warps.shared(") > 5
    dt.init()


def test_shared_memory_is_chosen_where_the_user_asks_for_it() -> None:
    """Without `dt.lanes` it is there to be set, and not chosen: it has not been measured."""
    kernel = dt.kernel(swept_by_threads.function)
    with device_texts() as texts:
        gradients(kernel, values_of("swept"), ti.f32)
        assert "warps.shared" not in texts["swept_by_threads"]
        kernel.schedule("forward", first_line(kernel), "grid, lanes(32)")
        gradients(kernel, values_of("swept"), ti.f32)
    assert "warps.shared(ti.f32, 40)" in texts["swept_by_threads"]
    assert "ti.loop_config(block_dim=32)" in texts["swept_by_threads"]


def test_without_room_for_the_arrays_a_thread_runs_the_turns() -> None:
    kernel = dt.kernel(swept.function)
    with mock.patch.object(by_warps, "SHARED", 4 * 39), device_texts() as texts:
        gradients(kernel, values_of("swept"), ti.f32)
        with pytest.raises(ScheduleMismatch):
            kernel.schedule("forward", first_line(kernel), "grid, lanes(32)")
    assert "warps.shared" not in texts["swept"]
    assert "warps.shared" not in texts["swept_adjoint"]
