"""Results that are the same in every run: on CPUs, and on devices by sums of integers."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.diagnostics import FieldError, KernelError, OutOfMemory
from difftile.passes.exact_sums import Bins
from difftile.substrate import current_session
from tests import harness, programs
from tests.device_arrays import device_arrays

pytestmark = pytest.mark.compiled

programs.load()
THREADS = 3

# Sums of numbers, vectors and matrices, in inner loops, under conditions; maxima.
PROGRAMS = [
    "atomics.maxima_of_computed_values",
    "fields.boxes",
    "gather_scatter.grid_to_particles",
    "gather_scatter.springs_of_a_mesh",
    "local_memory.a_histogram",
    "matrix_products.pairwise_energy",
    "reductions.sum_in_a_nested_loop",
]


@pytest.fixture
def on_device() -> Iterator[None]:
    """The CPU takes the programs of a device."""
    with device_arrays(deterministic=True):
        yield


@pytest.fixture
def on_host() -> Iterator[None]:
    dt.init(deterministic=True, cpu_max_num_threads=THREADS)
    with harness.many_threads():
        yield
    dt.init()


@dt.kernel
def scattered(x, index, y):
    for i in x:
        y[index[i]] += x[i]


@dt.kernel
def parts(u, index, v, m, s):
    for i in u:
        v[index[i]] += u[i]
        v[index[i]][1] -= 0.5 * u[i][0]
        m[index[i]] += u[i].outer_product(u[i])
        s[None] += u[i][2]


@dt.kernel
def gathered(x, index, y):
    for i in y:
        y[i] = x[index[i]] * x[index[i]]


def exact(values: np.ndarray, places: np.ndarray, size: int) -> list[Fraction]:
    """Return the sums at each place, without an error."""
    found = [Fraction(0)] * size
    for value, place in zip(values.tolist(), places.tolist(), strict=True):
        found[place] += Fraction(value)
    return found


@pytest.mark.usefixtures("on_device")
@pytest.mark.parametrize(
    ("dtype", "powers", "digits"), [(ti.f16, 6, 11), (ti.f32, 37, 24), (ti.f64, 300, 53)]
)
def test_sums_of_a_device_are_rounded_once(dtype: Any, powers: int, digits: int) -> None:
    rng = np.random.default_rng(0)
    n, size = 3000, 7
    numbers = rng.normal(size=n) * 2.0 ** rng.uniform(-powers, powers, n)
    x = dt.from_numpy(numbers, dtype)
    numbers = x.to_numpy().astype(np.float64)
    places = rng.integers(0, size - 1, n).astype(np.int32)
    wanted = exact(numbers, places, size)
    found: list[np.ndarray] = []
    for order in (np.arange(n), rng.permutation(n), np.argsort(numbers)):
        y = dt.zeros(size, dtype)
        scattered(dt.from_numpy(numbers[order], dtype), dt.from_numpy(places[order]), y)
        found.append(y.to_numpy())
    for one, value in zip(found[0].tolist(), wanted, strict=True):
        assert abs(Fraction(one) - value) <= abs(value) / 2 ** (digits - 1)
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


@pytest.mark.usefixtures("on_device")
@pytest.mark.parametrize("dtype", [ti.f32, ti.f64])
def test_sums_that_are_no_numbers_or_cancel(dtype: Any) -> None:
    big = float(np.finfo(np.float32 if dtype == ti.f32 else np.float64).max)
    tiny = float(np.finfo(np.float32 if dtype == ti.f32 else np.float64).tiny)
    inf, nan = np.inf, np.nan
    cases = [
        ([inf, 1.0], inf),
        ([-inf, 1.0], -inf),
        ([inf, -inf], nan),
        ([nan, inf], nan),
        ([big, big], inf),
        ([-big, -big], -inf),
        ([big, big, -big], big),
        ([big, tiny, -big], tiny),
        ([1.0, -1.0], 0.0),
        ([-tiny, -tiny], -2 * tiny),
        ([2.0**27, 2.0**27, -(2.0**28)], 0.0),
        ([-1.0] * 9, -9.0),
    ]
    for terms, wanted in cases:
        y = dt.zeros(2, dtype)
        zeros = dt.from_numpy(np.zeros(len(terms), np.int32))
        scattered(dt.from_numpy(np.array(terms), dtype), zeros, y)
        np.testing.assert_array_equal(y.to_numpy(), [wanted, 0.0], str(terms))


@pytest.mark.usefixtures("on_device")
def test_elements_without_a_term_keep_their_bits() -> None:
    y = dt.from_numpy(np.array([-0.0, np.nan, 3.0]), ti.f32)
    scattered(dt.from_numpy(np.ones(2), ti.f32), dt.from_numpy(np.full(2, 2, np.int32)), y)
    np.testing.assert_array_equal(y.to_numpy().view(np.int32)[0], np.int32(-(2**31)))
    np.testing.assert_array_equal(y.to_numpy(), [0.0, np.nan, 5.0])


@pytest.mark.usefixtures("on_device")
def test_vectors_and_matrices_on_a_device() -> None:
    rng = np.random.default_rng(1)
    n = 500
    u = dt.from_numpy(rng.normal(size=(n, 3)), dt.vec(3, ti.f64))
    index = dt.from_numpy(rng.integers(0, 4, n).astype(np.int32))
    v, m = dt.zeros(4, dt.vec(3, ti.f64)), dt.zeros(4, dt.mat(3, 3, ti.f64))
    s = dt.zeros((), ti.f64)
    parts(u, index, v, m, s)
    terms, k = u.to_numpy(), index.to_numpy()
    wanted, squares = np.zeros((4, 3)), np.zeros((4, 3, 3))
    np.add.at(wanted, k, terms)
    np.add.at(wanted[:, 1], k, -0.5 * terms[:, 0])
    np.add.at(squares, k, terms[:, :, None] * terms[:, None])
    np.testing.assert_allclose(v.to_numpy(), wanted, rtol=1e-13)
    np.testing.assert_allclose(m.to_numpy(), squares, rtol=1e-13)
    np.testing.assert_allclose(s[None], terms[:, 2].sum(), rtol=1e-13)


@pytest.mark.usefixtures("on_device")
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_on_a_device(name: str) -> None:
    (one,) = (one for one in harness.PROGRAMS if one.name == name)
    harness.check(one)


@pytest.mark.usefixtures("on_host")
@pytest.mark.parametrize("name", [*PROGRAMS, "atomics.slots"])
def test_programs_on_a_cpu(name: str) -> None:
    (one,) = (one for one in harness.PROGRAMS if one.name == name)
    harness.check(one, single=True)


@dt.kernel
def taken_in_turn(n, order):
    for i in order:
        order[i] = ti.atomic_add(n[None], 1.0)


@dt.kernel
def scaled(x):
    for i in x:
        ti.atomic_mul(x[i // 2], 1.5)


@pytest.mark.usefixtures("on_device")
@pytest.mark.parametrize("kernel", ["turns", "products"])
def test_what_depends_on_the_order_is_refused_on_a_device(kernel: str) -> None:
    with pytest.raises(KernelError, match="depends on the order in which threads") as caught:
        if kernel == "turns":
            taken_in_turn(dt.zeros(()), dt.zeros(5))
        else:
            scaled(dt.ones(6))
    assert "a loop of its own" in str(caught.value)
    assert "atomic_" in str(caught.value)  # the line


def gradients(runs: int, n: int = 50_000, size: int = 300) -> list[np.ndarray]:
    """Return the gradient of a gather, several times."""
    rng = np.random.default_rng(4)
    x = dt.from_numpy(rng.standard_normal(size), ti.f32, grad=True)
    index = dt.from_numpy(rng.integers(0, size, n).astype(np.int32))
    y = dt.zeros(n, ti.f32, grad=True)
    seeds = rng.standard_normal(n)
    found: list[np.ndarray] = []
    for _ in range(runs):
        with dt.Tape() as tape:
            gathered(x, index, y)
        tape.backward({y: seeds})
        found.append(x.grad.to_numpy())
    return found


@dt.kernel
def speaking(x, index, y):
    for i in x:
        y[index[i]] += x[i]
        if x[i] > 1e6:
            print(x[i])


@pytest.mark.usefixtures("on_host")
def test_loops_of_a_cpu_that_have_no_copies_run_on_one_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("difftile.schedule.scatters._memory", lambda: 64)
    rng = np.random.default_rng(5)
    x, y = dt.from_numpy(rng.normal(size=20_000), ti.f32), dt.zeros(4, ti.f32)
    index = dt.from_numpy(rng.integers(0, 4, 20_000).astype(np.int32))
    for kernel in (scattered, speaking):
        found = []
        for _ in range(3):
            y.fill(0.0)
            kernel(x, index, y)
            found.append(y.to_numpy())
        in_order = np.zeros(4, np.float32)
        np.add.at(in_order, index.to_numpy(), x.to_numpy())
        for one in found:
            np.testing.assert_array_equal(one, in_order)


@pytest.mark.usefixtures("on_device")
def test_bins_that_a_kernel_cannot_index_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Bins, "count", lambda *_: 2**40)
    with pytest.raises(OutOfMemory, match=r"sums into 'y' of shape \(9,\) need 1,099,511,627,776"):
        scattered(dt.ones(4), dt.from_numpy(np.zeros(4, np.int32)), dt.zeros(9))


@pytest.mark.usefixtures("on_device")
def test_without_memory_for_bins_nothing_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    def allocate(*_: object) -> Any:
        raise OutOfMemory("No memory.")

    x, index, y = dt.ones(4), dt.from_numpy(np.zeros(4, np.int32)), dt.zeros(5)
    monkeypatch.setattr(current_session().pool, "allocate", allocate)
    with pytest.raises(OutOfMemory, match="No memory"):
        scattered(x, index, y)


def test_wrong_options() -> None:
    with pytest.raises(FieldError, match="leave out scatter='atomics'"):
        dt.init(deterministic=True, scatter="atomics")
    with pytest.raises(FieldError, match="for arch='cpu' and 'cuda', not 'vulkan'"):
        dt.init(arch="vulkan", deterministic=True)


@pytest.mark.gpu
def test_gradients_on_cuda_repeat_bit_for_bit() -> None:
    try:
        dt.init(arch="cuda", deterministic=True)
    except FieldError as error:
        pytest.skip(f"no CUDA device: {error}")
    try:
        first, *others = gradients(5, n=2_000_000, size=700)
        for other in others:
            np.testing.assert_array_equal(other, first)
    finally:
        dt.init()
