"""A function over fields as an operation on arrays, by the addresses of NumPy arrays."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.interop.operation import ArrayLayout, Operation
from difftile.interop.plan import OperationPlan, Plans
from difftile.launch.streams import STREAMS
from difftile.linearization.sweep import Sweep

Arrays = Sequence[Any]


@dt.kernel
def step(x, v, k, h: float):
    for i in x:
        v[i] -= h * k[None] * ti.sin(x[i])
        x[i] += h * v[i]


@dt.kernel
def square(x, y):
    for i in x:
        y[i] += x[i] * x[i] + x[(i + 1) % x.shape[0]]


@dt.kernel
def stretch(x, A, y):
    for i in x:
        y[i] = A[None] @ x[i] + x[i].norm() * x[i]


@dt.kernel
def noisy(x, y):
    for i in x:
        y[i] = x[i] * ti.random(ti.f64)


@dt.func
def wave(a, b):
    return ti.sin(a) * b, a * b


def rollout(x, v, k, n=3, h=0.1):
    for _ in range(n):
        step(x, v, k, h)


def fused(x, v, k):
    for _ in dt.steps(12):
        step(x, v, k, 0.1)


@dt.kernel
def balance(y, r, x, k):
    for i in y:
        r[i] = y[i] + k[None] * ti.sin(y[i]) - x[i]


@dt.kernel
def apply(y, r, x):
    for i in y:
        n = y.shape[0]
        r[i] = (2.0 + x[i]) * y[i] - 0.5 * (y[(i + 1) % n] + y[(i + n - 1) % n])


def solved(x, v, k):
    y, z = dt.zeros_like(x), dt.zeros_like(x)
    dt.root(balance, y, args=(x, k), tol=1e-13, adjoint_tol=1e-13)
    dt.linear_solve(apply, v, z, args=(y,), tol=1e-14)
    return y, z


def checkpointed(x, v, k):
    with_checkpoint = dt.checkpoint(lambda: rollout(x, v, k))
    with_checkpoint()


def made(x, k):
    y = dt.zeros_like(x)
    square(x, y)
    return wave(y, k)


def passed_on(x, v):
    return x, v, x


def both(A, x):
    y = dt.zeros_like(x)
    stretch(x, A, y)
    return y


class Numbers:
    """An operation on NumPy arrays, as the tests call it."""

    def __init__(self, operation: Operation, arrays: Arrays, constants: tuple[Any, ...] = ()):
        self.arrays = [np.array(a) for a in arrays]
        self.constants = constants
        self.plan = Plans(operation).of(tuple(ArrayLayout(a.shape, a.dtype) for a in self.arrays))
        self.layouts = self.plan.discover(addresses(self.arrays), constants)
        self.wanted = tuple(a.dtype.kind == "f" for a in self.arrays)

    def outputs(self) -> list[Any]:
        return [np.full(one.shape, 7, one.dtype) for one in self.layouts]

    def __call__(self, *arrays: Any) -> list[Any]:
        given, outputs = arrays or self.arrays, self.outputs()
        self.plan.run(addresses(given), addresses(outputs), self.constants)
        return outputs

    def keep(self) -> tuple[Any, list[Any]]:
        outputs, linear = self.outputs(), self.plan.linear(self.wanted)
        given = addresses(self.arrays), addresses(outputs)
        return linear.forward(*given, self.constants, [*self.arrays]), outputs

    def pull(self, kept: Any, cotangents: Arrays, *arrays: Any) -> list[Any]:
        given = arrays or self.arrays
        bars = [np.full_like(a, 7) if w else None for a, w in zip(given, self.wanted, strict=True)]
        linear = self.plan.linear(self.wanted)
        linear.pull(kept, addresses(given), some(cotangents), some(bars), self.constants)
        return [bar for bar in bars if bar is not None]


def addresses(arrays: Arrays) -> list[int]:
    return [a.ctypes.data for a in arrays]


def some(arrays: Arrays) -> list[int | None]:
    return [None if a is None else a.ctypes.data for a in arrays]


def random(shape: Any, seed: int) -> Any:
    return np.random.default_rng(seed).uniform(0.2, 1.0, shape)


def made_of(name: str) -> Numbers:
    x, v, k = random(4, 0), random(4, 1), np.array(0.7)
    outputs = ("x", "v")
    cases: dict[str, Callable[[], Numbers]] = {
        "kernel in place": lambda: Numbers(
            Operation(step, ("x", "v"), ("k",), outputs), (x, v, k), (0.1,)
        ),
        "one output of two": lambda: Numbers(
            Operation(step, ("x", "v"), ("k",), "v"), (x, v, k), (0.1,)
        ),
        "output of its own": lambda: Numbers(Operation(square, ("x",), outputs={"y": "x"}), (x,)),
        "several launches": lambda: Numbers(
            Operation(rollout, ("x", "v"), ("k",), outputs), (x, v, k), (3, 0.1)
        ),
        "dt.steps": lambda: Numbers(Operation(fused, ("x", "v"), ("k",), outputs), (x, v, k)),
        "checkpoint": lambda: Numbers(
            Operation(checkpointed, ("x", "v"), ("k",), outputs), (x, v, k)
        ),
        "solvers": lambda: Numbers(Operation(solved, ("x", "v"), ("k",)), (x, v, k)),
        "func": lambda: Numbers(Operation(wave, ("a", "b")), (x, v)),
        "returned fields": lambda: Numbers(Operation(made, ("x", "k")), (x, k)),
        "inputs as they are": lambda: Numbers(Operation(passed_on, ("x", "v")), (x, v)),
        "vectors and matrices": lambda: Numbers(
            Operation(both, {"A": (3, 3), "x": (3,)}), (random((3, 3), 2), random((4, 3), 3))
        ),
    }
    return cases[name]()


CASES = [
    "kernel in place",
    "one output of two",
    "output of its own",
    "several launches",
    "dt.steps",
    "checkpoint",
    "solvers",
    "func",
    "returned fields",
    "inputs as they are",
    "vectors and matrices",
]


@dt.kernel
def follow(x, y, z, t: float):
    for i in x:
        z[i] = z[i] + y[i] * z[i]
        y[i] = t * x[i] + 0.5 * y[i]


def delayed(x, z, steps):
    """Run steps in which z varies with x only from the second one on."""
    y = dt.zeros_like(x)
    for t in steps(20):
        follow(x, y, z, 0.01 * t)


def swapped(x, z, steps):
    """Run steps in which two fields exchange their roles."""
    y = dt.zeros_like(x)
    one, other = x, y
    for _ in steps(20):
        follow(one, other, z, 0.01)
        one, other = other, one


@pytest.mark.parametrize("function", [delayed, swapped])
def test_a_loop_of_steps_is_one_program_in_both_directions(
    function: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    reasons: list[str | None] = []
    run = Sweep.run

    def noted(self: Sweep, launches: Any) -> str | None:
        reasons.append(run(self, launches))
        return reasons[-1]

    monkeypatch.setattr(Sweep, "run", noted)
    found: list[list[Any]] = []
    for steps in (dt.steps, range):
        operation = Operation(function, ("x", "z"), outputs=("x", "z"))
        f = Numbers(operation, (random(5, 0), random(5, 1)), (steps,))
        kept, outputs = f.keep()
        seeds = [random(5, 2), random(5, 3)]
        bars = f.pull(kept, seeds)
        np.testing.assert_array_equal(bars[0], f.pull(kept, seeds)[0])  # and once more
        found.append([*outputs, *bars])
    assert reasons
    assert set(reasons) == {None}
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_derivatives_agree_with_differences(name: str) -> None:
    f = made_of(name)
    before = [a.copy() for a in f.arrays]
    kept, outputs = f.keep()
    for one, other in zip(outputs, f(), strict=True):
        np.testing.assert_array_equal(one, other)
    seeds = [random(one.shape, 10 + k) for k, one in enumerate(outputs)]
    copies = [one.copy() for one in seeds]
    first = f.pull(kept, seeds)
    for again in (f.pull(kept, seeds), f.pull(None, seeds)):
        for one, other in zip(first, again, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-14)
    for one, other in zip((*seeds, *f.arrays), (*copies, *before), strict=True):
        np.testing.assert_array_equal(one, other)  # only read
    along = [random(a.shape, 20 + k) for k, a in enumerate(f.arrays)]
    size = 1e-5
    ahead = f(*(np.array(a + size * d) for a, d in zip(f.arrays, along, strict=True)))
    behind = f(*(np.array(a - size * d) for a, d in zip(f.arrays, along, strict=True)))
    slope = sum(
        np.vdot(s, (a - b) / 2 / size) for s, a, b in zip(seeds, ahead, behind, strict=True)
    )
    ours = sum(np.vdot(bar, d) for bar, d in zip(first, along, strict=True))
    assert ours == pytest.approx(slope, rel=1e-8)

    results, dots = f.outputs(), f.outputs()
    f.plan.push(*map(addresses, (f.arrays, along, results, dots)), f.constants)
    assert sum(np.vdot(s, d) for s, d in zip(seeds, dots, strict=True)) == pytest.approx(ours)
    for one, other in zip(results, outputs, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", CASES)
def test_second_derivatives_agree_with_differences_of_first_ones(name: str) -> None:
    f = made_of(name)
    outputs = f()
    seeds = [random(one.shape, 10 + k) for k, one in enumerate(outputs)]
    along = [random(a.shape, 20 + k) for k, a in enumerate(f.arrays)]
    turned = [random(one.shape, 30 + k) for k, one in enumerate(outputs)]
    linear = f.plan.linear(f.wanted)
    bars, dots = [np.full_like(a, 7) for a in f.arrays], f.outputs()
    linear.second(*map(addresses, (f.arrays, seeds, along, bars, dots)), f.constants)
    size = 1e-5

    def pulled(sign: int, turn: float) -> list[Any]:
        arrays = [np.array(a + sign * size * d) for a, d in zip(f.arrays, along, strict=True)]
        given = [s + sign * size * turn * t for s, t in zip(seeds, turned, strict=True)]
        return f.pull(None, given, *arrays)

    def slopes(turn: float) -> list[Any]:
        pairs = zip(pulled(1, turn), pulled(-1, turn), strict=True)
        return [(a - b) / 2 / size for a, b in pairs]

    for ours, theirs in zip(bars, slopes(0.0), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-8)
    values, moved = f.outputs(), f.outputs()
    f.plan.push(*map(addresses, (f.arrays, along, values, moved)), f.constants)
    for ours, theirs in zip(dots, moved, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)
    both_ways = [np.full_like(a, 7) for a in f.arrays]
    linear.push_pull(*map(addresses, (f.arrays, seeds, along, turned, both_ways)), f.constants)
    for ours, theirs in zip(both_ways, slopes(1.0), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-8)


def test_calls_in_any_order_do_not_disturb_each_other() -> None:
    f = made_of("several launches")
    seeds = [np.ones(4), np.ones(4)]
    kept = []
    for scale in (1.0, 2.0, 3.0):
        f.arrays[0] = scale * f.arrays[0]
        kept.append((f.keep()[0], [a.copy() for a in f.arrays]))
    for one, arrays in reversed(kept):
        for ours, again in zip(f.pull(one, seeds), f.pull(None, seeds, *arrays), strict=True):
            np.testing.assert_allclose(ours, again, rtol=1e-14)


def test_nothing_is_kept_when_the_records_are_gone() -> None:
    f = made_of("several launches")
    pool = dt_pool()
    for _ in range(3):
        kept, _ = f.keep()
        f.pull(kept, [np.ones(4), None])
        del kept
    assert pool.kept == 0
    held = pool.held
    for _ in range(20):
        kept, _ = f.keep()
        f.pull(kept, [np.ones(4), None])
        del kept
    assert (pool.kept, pool.held) == (0, held)


def dt_pool() -> Any:
    return dt.zeros(1).buffer.pool


def test_random_numbers_are_the_same_when_the_function_runs_again() -> None:
    f = Numbers(Operation(noisy, "x", outputs={"y": "x"}), (np.ones(5),))
    position = STREAMS.position(f.plan.session)
    kept, (y,) = f.keep()
    _, (z,) = f.keep()
    assert not np.array_equal(y, z)  # each call draws its own
    linear, seed, bar = f.plan.linear((True,)), np.ones(5), np.empty(5)
    for one in (kept, None):
        given = addresses(f.arrays), addresses([seed]), addresses([bar])
        linear.pull(one, *given, (), position)
        np.testing.assert_array_equal(bar, y)
    fresh = np.empty(5)
    f.plan.run(addresses(f.arrays), addresses([fresh]), ())
    assert not np.array_equal(fresh, z)


def test_mutated_arrays_are_overwritten_where_they_are() -> None:
    operation = Operation(rollout, params=("k",), mutates=("x", "v"))
    f = Numbers(operation, (random(4, 0), random(4, 1), np.array(0.7)), (3, 0.1))
    expected = made_of("several launches")()
    f()
    np.testing.assert_array_equal(f.arrays[0], expected[0])
    np.testing.assert_array_equal(f.arrays[1], expected[1])


def wrong(function: Any, *args: Any, **kwargs: Any) -> str:
    with pytest.raises(dt.LaunchError) as caught:
        Operation(function, *args, **kwargs)
    return str(caught.value)


def test_wrong_names_are_refused_in_words() -> None:
    assert wrong(step, ("x", "w"), outputs="x") == ("step has no parameter 'w'; it has x, v, k, h.")
    assert wrong(step, "x", "x", outputs="x") == (
        "step: 'x' is an input and a parameter; name it in one of them."
    )
    assert wrong(step, (), outputs="x") == (
        "step: no parameter is an array; name some: inputs=('x',)."
    )
    assert wrong(step, "x") == "step is a kernel: name what it writes, outputs=('x',)."
    assert wrong(square, "x", outputs="y") == (
        "square: the output 'y' is no input, so its shape is not known; write "
        "outputs={'y': 'x'} for that of an input, or a shape."
    )
    assert wrong(square, "x", outputs={"y": "z"}) == ("square: 'y' is like 'z', which is no input.")
    assert wrong(step, "x", outputs={"x": (3,)}) == (
        "step: 'x' is an input, which gives its output the shape; leave (3,) out."
    )
    assert wrong(step, "x", outputs=()) == "step: outputs=() leaves no result; name a parameter."
    assert wrong(step, outputs="x", mutates="x") == (
        "step: an operation that overwrites arrays, mutates=('x',), returns nothing; leave "
        "outputs= out."
    )
    assert wrong(step, {"x": "vec3"}, outputs="x") == (
        "step: the elements of 'x' are declared as 'vec3'; a type such as ti.math.vec3, or up to "
        "two sizes, says what an element is."
    )
    assert wrong(lambda *x: None, "x") == (
        "<lambda>: '*x' has no name by which an array can be passed; call it in a 'def' with named "
        "parameters."
    )
    assert wrong(3) == "An operation is a function over fields, not 3."


def test_wrong_arrays_are_refused_in_words() -> None:
    def refused(operation: Operation, *arrays: Any) -> str:
        with pytest.raises(dt.LaunchError) as caught:
            Numbers(operation, arrays)()
        return str(caught.value)

    f = Operation(square, "x", outputs={"y": "x"})
    assert refused(f, np.ones(3, complex)) == (
        "square: 'x' has elements of complex128, which fields do not have."
    )
    assert refused(f, np.ones((0, 3))) == (
        "square: 'x' has the shape (0, 3) and so no elements; operations take one or more."
    )
    vectors = Operation(both, {"A": (3, 3), "x": ti.types.vector(3, ti.f32)})
    assert refused(vectors, np.ones((3, 3)), np.ones((5, 3))) == (
        "both: 'x' has elements of float64, and float32 is declared; convert it."
    )
    assert refused(vectors, np.ones((3, 2)), np.ones((5, 3), np.float32)) == (
        "both: 'A' has the shape (3, 2); the last axes are those of an element and have the sizes "
        "(3, 3)."
    )

    def nothing(x):
        return "text"

    assert refused(Operation(nothing, "x"), np.ones(3)) == (
        "nothing returns 'text'; an operation returns fields, or name the parameters that it "
        "writes: outputs=('x',)."
    )


def test_plans_end_with_their_session() -> None:
    x = np.ones(3)
    plans = Plans(Operation(square, "x", outputs={"y": "x"}))
    layouts = (ArrayLayout(x.shape, x.dtype),)
    plan, y = plans.of(layouts), np.empty(3)
    assert plans.of(layouts) is plan
    dt.init(arch="cpu")
    with pytest.raises(dt.LaunchError, match=r"dt\.init"):
        plan.run(addresses([x]), addresses([y]), ())
    other = plans.of(layouts)
    assert isinstance(other, OperationPlan)
    other.run(addresses([x]), addresses([y]), ())
    np.testing.assert_array_equal(y, [2, 2, 2])


def test_importing_difftile_imports_no_other_library() -> None:
    found = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, difftile as dt; dt.kernel; dt.Tape; dt.zeros;"
            "print([m for m in ('torch', 'jax', 'cupy') if m in sys.modules])",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip().endswith("[]")


def test_shapes_of_results_follow_from_constants():
    def ends(x, n):
        return [dt.ones((n,), dtype=ti.f64) for _ in range(n)]

    operation = Operation(ends, "x")
    for n in [2, 3, 2]:
        found = Numbers(operation, [np.ones(2)], (n,))()
        assert [one.tolist() for one in found] == [[1.0] * n] * n


def test_results_of_other_shapes_do_not_overflow_memory():
    size = [2]
    f = Numbers(Operation(lambda x: dt.ones((size[0],), dtype=ti.f64), "x"), [np.ones(2)])
    kept, _ = f.keep()
    size[0] = 100_000
    text = r"returned float64\[2\] before, and now returns float64\[100000\]"
    with pytest.raises(dt.LaunchError, match=text):
        f()
    with pytest.raises(dt.LaunchError, match=text):
        f.keep()
    with pytest.raises(dt.LaunchError, match=text):
        f.pull(None, [np.ones(2)])
    f.pull(kept, [np.ones(2)])
