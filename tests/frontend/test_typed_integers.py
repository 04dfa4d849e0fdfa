"""Parameters that are annotated with a type of integers; what they hold follows Python."""

from __future__ import annotations

import linecache
import random
import re
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.diagnostics import IndexOutOfRange, IntegerTooLarge
from difftile.substrate import current_session

_TYPES = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]


@pytest.fixture(autouse=True)
def as_python(request: pytest.FixtureRequest) -> None:
    """Run as Python, but for tests of machine code."""
    compiles = request.node.get_closest_marker("compiled") is not None
    if current_session().compiles != compiles:
        dt.init(arch="cpu" if compiles else "python")


def _ends(kind: str) -> tuple[int, int]:
    bits, signed = int(kind[1:]), kind[0] == "i"
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)


def _put(kind: str) -> tuple[Any, Any]:
    """Return a kernel that stores an integer of a type, and a field for it."""

    def put(p, y, k):
        y[k] = p

    put.__annotations__["p"] = getattr(ti, kind)
    return dt.kernel(put), dt.zeros(1000, getattr(ti, kind))


def _check_ends(kind: str) -> None:
    put, y = _put(kind)
    low, high = _ends(kind)
    fitting = [low, low + 1, 0, 1, high // 3, high - 1, high]
    for k, number in enumerate(fitting):
        put(number, y, k)
    assert y.to_numpy()[: len(fitting)].tolist() == fitting
    before = y.to_numpy()
    for number in (low - 1, high + 1, -(2**70), 2**70):
        with pytest.raises(dt.LaunchError, match=rf"'p' = {number} "):
            put(number, y, 0)
    np.testing.assert_array_equal(y.to_numpy(), before)


@pytest.mark.parametrize("kind", _TYPES)
def test_an_integer_outside_of_the_type_of_its_parameter_is_refused(kind: str) -> None:
    _check_ends(kind)


@pytest.mark.compiled
def test_compiled_kernels_take_whole_types() -> None:
    for kind in _TYPES:
        _check_ends(kind)


def test_the_refusal_names_parameter_number_and_range() -> None:
    put, y = _put("u8")
    for number in (256, -1):
        shown = (
            f"'p' = {number} does not fit ti.u8, which goes from 0 to 255; annotate it as ti.i32."
        )
        with pytest.raises(dt.LaunchError, match=re.escape(shown)):
            put(number, y, 0)


@pytest.mark.parametrize(
    ("number", "hint"),
    [(2**31, "annotate it as ti.i64"), (2**63, "annotate it as ti.u64"), (2**64, "pass a float")],
)
def test_what_to_write_for_a_large_integer(number: int, hint: str) -> None:
    @dt.kernel
    def put(n, y):
        y[0] = n

    with pytest.raises(dt.LaunchError, match=rf"'n' = {number} does not fit 32 bits; {hint}\."):
        put(number, dt.zeros(1, ti.i64))


def test_arithmetic_is_in_the_type_of_the_parameter() -> None:
    @dt.kernel
    def computed(q: ti.u8, p: ti.i64, y):
        y[0] = ti.cast(q + q, ti.i64)
        y[1] = ti.cast(q * 2, ti.i64)  # a literal is an i32 next to narrower integers
        y[2] = p * p
        y[3] = -p // 7

    y = dt.zeros(4, ti.i64)
    computed(200, 2**31 + 5, y)
    q, p = 200, 2**31 + 5
    assert y.to_numpy().tolist() == [2 * q % 256, 2 * q, p * p, -p // 7]


def test_vectors_and_members_have_the_types_that_are_declared() -> None:
    Pair = ti.types.struct(low=ti.u8, high=ti.i64)

    @dt.kernel
    def put(v: ti.types.vector(2, ti.i64), pair: Pair, y):
        y[0] = v[0]
        y[1] = v[1]
        y[2] = pair.high
        y[3] = ti.cast(pair.low, ti.i64)

    y = dt.zeros(4, ti.i64)
    numbers = [2**40, -(2**62)]
    put(numbers, {"low": 255, "high": 2**50}, y)
    assert y.to_numpy().tolist() == [*numbers, 2**50, 255]
    with pytest.raises(dt.LaunchError, match=r"'v\[1\]' = .* annotate 'v' with a type of ti.u64"):
        put([0, 2**63], {"low": 0, "high": 0}, y)
    with pytest.raises(dt.LaunchError, match=r"'pair.low' = 256 does not fit ti.u8"):
        put(numbers, {"low": 256, "high": 0}, y)


@pytest.mark.parametrize("kind", ["i64", "u64"])
def test_numbers_of_waiting_launches_are_exact(kind: str) -> None:
    """NumPy makes floats of a list of integers below and above 2**63."""
    put, y = _put(kind)
    _, high = _ends(kind)
    count = 100
    for t in dt.steps(count):
        put(high // 2 - count + 2 * t, y, t)
    assert y.to_numpy()[:count].tolist() == [high // 2 - count + 2 * t for t in range(count)]


@pytest.mark.parametrize("kind", ["i64", "u64"])
def test_numbers_of_repeated_steps_are_exact_up_to_the_end_of_the_type(kind: str) -> None:
    put, y = _put(kind)
    _, high = _ends(kind)
    step, count = high // 20, 20
    dt.repeat(lambda t: put(t * step + 1, y, t), count)
    assert y.to_numpy()[:count].tolist() == [t * step + 1 for t in range(count)]
    y.fill(0)
    with pytest.raises(dt.LaunchError, match=rf"'p' = {21 * step + 1} does not fit ti.{kind}"):
        dt.repeat(lambda t: put(t * step + 1, y, t), 30)
    assert y.to_numpy()[:count].tolist() == [t * step + 1 for t in range(count)]


def test_gradients_of_kernels_with_large_integers() -> None:
    @dt.kernel
    def scaled(p: ti.i64, x, y):
        for i in x:
            y[None] += x[i] * ti.cast(p - 2**60, ti.f64)

    def loss(x: Any) -> Any:
        y = dt.zeros((), ti.f64, grad=True)
        for t in dt.steps(5):
            scaled(2**60 + t, x, y)
        return y

    x = dt.ones(3, ti.f64)
    assert dt.grad(loss)(x).to_numpy().tolist() == [sum(range(5))] * 3


def test_batches_take_large_integers() -> None:
    @dt.kernel
    def put(p: ti.i64, y):
        y[0] = p

    numbers = [2**40, -(2**62), 7]
    y = dt.zeros((3, 1), ti.i64)
    dt.batch(put, 3)(2**40, y)
    assert y.to_numpy()[:, 0].tolist() == [2**40] * 3
    dt.batch(put, 3)(dt.from_numpy(np.array(numbers)), y)
    assert y.to_numpy()[:, 0].tolist() == numbers


def test_a_wider_field_for_a_number_is_refused() -> None:
    """Its integers were cut to the type of the parameter."""

    @dt.kernel
    def put(n: int, y):
        y[0] = n

    y, wide = dt.zeros((2, 1), ti.i64), dt.full((), 2**40, ti.i64)
    shown = r"'n' is a ti.i32, and <field i64 .*> may hold other integers; annotate it as ti.i64"
    with pytest.raises(dt.LaunchError, match=shown):
        put(wide, y)
    with pytest.raises(dt.LaunchError, match=shown):
        dt.batch(put, 2)(dt.full(2, 2**40, ti.i64), y)


@pytest.mark.parametrize("number", [3, 2**32 + 3, 2**40 + 3, -(2**32) + 3, 2**62 + 2**53 + 3])
@pytest.mark.parametrize("compiles", [False, pytest.param(True, marks=pytest.mark.compiled)])
def test_a_cast_of_a_large_integer_bounds_a_loop(number: int, compiles: bool) -> None:
    """The estimate of a launch took the cast for the integer itself."""

    @dt.kernel
    def fill(p: ti.i64, x):
        for i in range(ti.cast(p, ti.i32)):
            x[i] = i + 1
        x[ti.cast(p, ti.i32)] = 9

    x = dt.zeros(5, ti.i32)
    fill(number, x)
    assert x.to_numpy().tolist() == [1, 2, 3, 9, 0]
    with pytest.raises(IndexOutOfRange):
        fill(number + 2, x)
    fill(number - 2, x)
    assert x.to_numpy().tolist() == [1, 9, 3, 9, 0]


@pytest.mark.parametrize("number", [2**31, 2**32 + 1, 2**40, -(2**31) - 1, -(2**40)])
def test_a_large_integer_without_a_cast_is_no_index_and_bounds_no_loop(number: int) -> None:
    """Its last 32 bits were the index."""

    @dt.kernel
    def read(p: ti.i64, x):
        x[0] = x[p]

    @dt.kernel
    def loop(p: ti.i64, x):
        for i in range(p):
            x[i] = i

    @dt.kernel
    def loops(p: ti.i64, x):
        for i, k in ti.ndrange(2, (0, p)):
            x[k] = i

    x = dt.zeros(5, ti.i32)
    for kernel, what in ((read, "an index"), (loop, "a bound"), (loops, "a bound")):
        kernel(3, x)
        with pytest.raises(IntegerTooLarge, match=f"{what}.* is {number}, which does not fit"):
            kernel(number, x)
        kernel(1, x)


def test_debug_reports_a_large_index_of_data() -> None:
    @dt.kernel
    def read(x, at, y):
        for i in y:
            y[i] = x[at[i]]

    x, y = dt.zeros(5), dt.zeros(2)
    at = dt.from_numpy(np.array([4, 2**32 + 1]))
    read(x, at, y)
    dt.init(arch="python", debug=True)
    x, y = dt.zeros(5), dt.zeros(2)
    at = dt.from_numpy(np.array([4, 2**32 + 1]))
    try:
        with pytest.raises(IntegerTooLarge, match=f"an index is {2**32 + 1}"):
            read(x, at, y)
    finally:
        dt.init(arch="python")


@pytest.mark.parametrize("kind", ["i8", "i16", "i32", "i64"])
def test_the_least_integer_of_a_type_is_subtracted(kind: str) -> None:
    """Its opposite, which the type does not have, was added."""
    low, _ = _ends(kind)
    text = f"@dt.kernel\ndef f(p: ti.{kind}, y):\n    y[0] = p - ti.cast({low}, ti.{kind})\n"
    y = dt.zeros(1, getattr(ti, kind))
    _defined(text, -low)(low + 5, y)
    assert y[0] == 5


# Random kernels


def _wrapped(number: int, kind: str) -> int:
    low, high = _ends(kind)
    return (number - low) % (high - low + 1) + low


def _near(rng: random.Random, kind: str) -> int:
    """Return an integer of a type, most often near an end of it or of another type."""
    low, high = _ends(kind)
    place = rng.choice([low, high, 0, rng.randint(low, high), 2**31, -(2**31), 2**32, 2**53])
    return min(max(place + rng.randint(-3, 3), low), high)


def _defined(text: str, number: int) -> Any:
    """Return the kernel `f` of a text."""
    file = f"<integers {number}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"dt": dt, "ti": ti}
    exec(compile(text, file, "exec", dont_inherit=True), names)
    return names["f"]


def _expression(rng: random.Random, depth: int) -> str:
    if not depth or rng.random() < 0.2:
        return rng.choice(["P", "Q"])
    parts = _expression(rng, depth - 1), rng.choice("+-*&|^"), _expression(rng, depth - 1)
    return f"({' '.join(parts)})"


@pytest.mark.parametrize("seed", range(16))
def test_random_arithmetic_follows_python(seed: int) -> None:
    rng = random.Random(seed)
    kind, *kinds = rng.choices(_TYPES, k=3)
    expression = _expression(rng, 3)
    text = expression.replace("P", f"ti.cast(p, ti.{kind})").replace("Q", f"ti.cast(q, ti.{kind})")
    head = f"def f(p: ti.{kinds[0]}, q: ti.{kinds[1]}, k, y):"
    kernel = _defined(f"@dt.kernel\n{head}\n    y[k] = {text}\n", seed)
    given = [tuple(_near(rng, one) for one in kinds) for _ in range(8)]
    y = dt.zeros(len(given), getattr(ti, kind))
    for k in dt.steps(len(given)) if seed % 2 else range(len(given)):
        kernel(*given[k], k, y)
    expected = [
        eval(expression, {"P": _wrapped(p, kind), "Q": _wrapped(q, kind)}) for p, q in given
    ]
    assert y.to_numpy().tolist() == [_wrapped(one, kind) for one in expected]


_ACCESSES = {
    "x[p - C] = 1": lambda n: [n],
    "x[ti.cast(p - C, ti.i32)] = 1": lambda n: [n],
    "for i in range(p - C): x[i] = 1": range,
    "for i in range(2): x[ti.cast(p - C, ti.i32) + i] = 1": lambda n: [n, n + 1],
}


@pytest.mark.parametrize("seed", range(16))
def test_random_indices_are_refused_as_python_would(seed: int) -> None:
    rng = random.Random(seed)
    kind = rng.choice(["i64", "u64", "u32", "i16", "u8"])
    access = rng.choice([*_ACCESSES])
    start = _near(rng, kind)
    text = access.replace("C", f"ti.cast({start}, ti.{kind})").replace(": x", ":\n        x")
    kernel = _defined(f"@dt.kernel\ndef f(p: ti.{kind}, x):\n    {text}\n", 100 + seed)
    low, high = _ends(kind)
    for p in (*range(start - 2, start + 10), *(_near(rng, kind) for _ in range(4)), start + 2**32):
        at = _wrapped(p - start, kind)
        fits = _wrapped(at, "i32") == at
        if not low <= p <= high or (access.startswith("for i in range(p") and at > 100 and fits):
            continue
        x = dt.zeros(8, ti.i32)
        if not fits and "cast" not in access:
            with pytest.raises(IntegerTooLarge):
                kernel(p, x)
            continue
        cells = _ACCESSES[access](_wrapped(at, "i32"))
        if all(0 <= i < 8 for i in cells):
            kernel(p, x)
            assert x.to_numpy().tolist() == [int(i in cells) for i in range(8)]
        else:
            with pytest.raises(IndexOutOfRange):
                kernel(p, x)
