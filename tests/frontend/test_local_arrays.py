"""Arrays of a thread: `dt.local`."""

import re
from pathlib import Path

import numpy as np
import pytest

import difftile as dt
from difftile import ti
from difftile.diagnostics import LaunchError
from difftile.substrate import shared_storage
from tests import harness
from tests.local_programs import random_program

vec3 = ti.math.vec3


def test_local_arrays_in_python() -> None:
    x = dt.local((2, 3))
    assert (x.shape, x.ndim, len(x), ti.local is dt.local) == ((2, 3), 2, 2, True)
    x[1, 2] += 4.0
    x[0, 1] = x[1, 2] * 2.0
    np.testing.assert_array_equal(x.to_numpy(), [[0, 8, 0], [0, 0, 4]])
    assert x.to_numpy().dtype == np.float64

    v = dt.local(4, vec3)
    v[2] = vec3(1.0, 2.0, 3.0)
    kept = v[2]
    v[2] += 2.0 * kept
    v[3].y = 5.0
    v[3][0] = 7.0
    np.testing.assert_array_equal(v.to_numpy()[2:], [[3, 6, 9], [7, 5, 0]])
    assert list(kept) == [1.0, 2.0, 3.0]
    assert (v[2] @ v[3], v[3].norm()) == (51.0, pytest.approx(74**0.5))

    m = dt.local(2, ti.types.matrix(2, 2, ti.f32))
    m[1][0, 1] = 2
    assert m.to_numpy().dtype == np.float32
    assert (m[1] @ m[1].transpose())[0, 0] == 4
    assert dt.local(2, ti.types.vector(3, float)).to_numpy().dtype == np.float64
    n = dt.local(3, int)
    n[0] = 2
    assert n[n[0] - 1] == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: dt.local(0), "a local array has 1 element or more along each axis, not 0."),
        (lambda: dt.local((2, 1.5)), "1 element or more along each axis, not (2, 1.5)."),
        (lambda: dt.local((65, 65)), "at most 4,096 components, and this has 4,225; use a field."),
        (lambda: dt.local(3, "f32"), "expected a number type such as ti.f32, got 'f32'."),
        (lambda: dt.local(3, ti.u1), "holds numbers; count with 'ti.i32' in place of bools."),
        (lambda: dt.local(3)[0, 1], "a local array of shape (3,) takes 1 index."),
        (lambda: dt.local(3)[0.5], "an index is an integer, not 0.5."),
        (lambda: list(dt.local(3)), "loop over the indices"),
    ],
)
def test_wrong_local_arrays_in_python(make, message) -> None:
    with pytest.raises(LaunchError) as raised:
        make()
    assert message in str(raised.value)
    x = dt.local(3, ti.i32)
    with pytest.raises(LaunchError, match="not floats"):
        x[0] = 1.5
    with pytest.raises(IndexError, match="index \\[3\\] of a local array of shape \\(3,\\)"):
        x[3] = 1
    with pytest.raises(LaunchError, match="are given"):
        x[0] = [1, 2]


def test_arrays_of_rules_are_not_read_again() -> None:
    """A rule is no primal: what its arrays held is there when its code runs."""

    @dt.func
    def sums(x, parent, y):
        total = dt.local(3)
        for i in range(3):
            total[i] += x[i]
        for back in range(2):
            i = 2 - back
            total[parent[i]] += total[i]
        for i in range(3):
            y[i] = total[i]

    @sums.backward
    def _(x, parent, y):
        total = dt.local(3)
        for i in range(3):
            total[i] += y.grad_in[i]
        for i in range(1, 3):
            total[i] += total[parent[i]]
        for back in range(2):  # and back again, to overwrite what was read
            i = 2 - back
            total[parent[i]] += total[i]
        for i in range(3):
            x.grad_out[i] += total[i]

    @dt.kernel
    def of_tree(x, parent, y):
        sums(x, parent, y)

    x = dt.from_numpy(np.array([[1.0, 2.0, 3.0]]), grad=True)
    parent = dt.from_numpy(np.array([0, 0, 1], np.int32))
    y = dt.zeros_like(x)
    with dt.Tape() as tape:
        dt.batch(of_tree, 1, shared="parent")(x, parent, y)
    np.testing.assert_array_equal(y.to_numpy(), [[6, 5, 3]])
    tape.backward({y: np.array([[1.0, 2.0, 4.0]])})
    np.testing.assert_array_equal(x.grad.to_numpy(), [[1 + 3 + 7, 3 + 7, 7]])


@pytest.mark.parametrize("seed", [3])
def test_random_program_with_local_arrays(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small arrays take turns in memory here as large ones do."""
    monkeypatch.setattr(shared_storage, "_FEW", 0)
    harness.check(random_program(seed, tmp_path))


def test_arrays_take_turns_in_memory() -> None:
    """A value of an array that ends is read before another one takes its memory."""

    @dt.kernel
    def turns(x, y):
        for i in x:
            a = dt.local(100, ti.f64)
            for k in range(100):
                a[k] = x[i] * k
            late = a[7]
            for step in range(3):
                b = dt.local(100, ti.f64)
                for k in range(50, 100):
                    b[k] = x[i] + k
                y[i] += b[3] + b[60] * (step + 1) + late
                c = dt.local(100, ti.f64)
                c[step] = b[90]
                y[i] += c[0] + c[1] + c[2]
            d = dt.local(100, ti.f64)
            d[5] = late
            y[i] += d[5] * d[6] + d[5] + a[8]
            e = dt.local(100, ti.f64)
            e[5] += late
            y[i] += e[5] + e[4]

    x = dt.from_numpy(np.array([1.0, -2.0]), grad=True)
    y = dt.zeros(2, ti.f64, grad=True)
    with dt.Tape() as tape:
        turns(x, y)
    tape.backward({y: np.ones(2)})
    values = x.to_numpy()
    steps = (values + 60) * 6 + 3 * 7 * values + 3 * (values + 90)
    np.testing.assert_allclose(y.to_numpy(), steps + 7 * values + 8 * values + 7 * values)
    np.testing.assert_allclose(x.grad.to_numpy(), 6 + 21 + 3 + 7 + 8 + 7)
    declared = re.findall(r"(\w+) = ti\.Vector\(\[.*\] \* 100\)", turns.source())
    assert len(declared) == 5 and len(set(declared)) < 5, declared


def test_arrays_of_one_type_take_turns() -> None:
    @dt.kernel
    def turns(x, y):
        for i in x:
            a = dt.local(300, ti.f64)
            for k in range(300):
                a[k] = x[i] + k
            late = a[7]
            b = dt.local(300, int)
            for k in range(300):
                b[k] = k + i
            y[i] = late + (b[5] & 6)

    x, y = dt.from_numpy(np.array([0.5, 1.5])), dt.zeros(2, ti.f64)
    turns(x, y)
    np.testing.assert_array_equal(y.to_numpy(), [7.5 + 4, 8.5 + 6])
    declared = re.findall(r"(\w+) = ti\.Vector\(\[.*\] \* 300\)", turns.source())
    assert len(set(declared)) == 2, declared
