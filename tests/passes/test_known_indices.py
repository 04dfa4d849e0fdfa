"""Launches that would reach outside a field: refused where that is certain, and only there."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.ad.derive import derive
from difftile.compile import limits
from difftile.compile.meanings import meaning_of
from difftile.diagnostics import IndexOutOfRange
from difftile.frontend.lower import lower
from difftile.frontend.source import source_of
from difftile.ir.nodes import Stmt
from difftile.ir.types import F32, FieldType
from difftile.passes import known_indices
from tests import random_indices
from tests.random_indices import PLAIN, judge, limits_of, loaded, refused, some_arguments

# For a longer hunt: DIFFTILE_KERNELS=5000 pytest tests/passes/test_known_indices.py -k random
KERNELS = int(os.environ.get("DIFFTILE_KERNELS", "60"))


# The analysis against the accesses of kernels in plain Python; no kernel is compiled


def test_random_kernels_are_refused_exactly_where_they_leave(tmp_path: Path) -> None:
    wrong, count = judge(range(KERNELS), tmp_path, rough=False)
    assert not wrong
    assert 0.3 * count.launches < count.outside < 0.7 * count.launches


def test_kernels_that_depend_on_data_are_not_refused_for_nothing(tmp_path: Path) -> None:
    wrong, count = judge(range(KERNELS), tmp_path, rough=True)
    assert not [one for one in wrong if one.false]
    assert len(wrong) < 0.05 * count.launches


def test_random_kernels_with_products_remainders_and_bits(tmp_path: Path) -> None:
    wrong, count = judge(range(KERNELS), tmp_path, wild=True)
    assert not wrong
    assert 0.3 * count.launches < count.outside < 0.7 * count.launches


@pytest.mark.parametrize("wild", [False, True])
def test_random_kernels_with_funcs_vectors_and_locals_of_loops(wild: bool, tmp_path: Path) -> None:
    wrong, count = judge(range(KERNELS // 3), tmp_path, wild=wild, rich=True)
    assert not wrong
    assert 0.3 * count.launches < count.outside < 0.75 * count.launches


DIVIDED = "t % n", "t // n"  # only where n is above zero
INDICES = (
    *("i + t", "2 * t - i", "n + 3 - 2 * t", "t // 2", "n * t", "t % 4", "i * t", "t & 3"),
    *("t * t", "n - t + i", "1 << t", "ti.min(t, n)"),
    *DIVIDED,
)


def test_launches_that_need_no_check_stay_inside(tmp_path: Path) -> None:
    file = tmp_path / "conditions.py"
    rng = random.Random(0)
    stops = ["n" if index in DIVIDED else rng.choice(["n", "t", "3"]) for index in INDICES]
    texts = [
        f"def kernel_{seed}(x, y, z, n, t):\n"
        f"    for i in range({stops[seed]}):\n"
        f"        y[{index}] += 1.0\n\n\n"
        for seed, index in enumerate(INDICES)
    ]
    file.write_text(random_indices.HEAD + "".join(texts), encoding="utf-8")
    module, exempt, stays = loaded(file), 0, 0
    for seed in range(len(INDICES)):
        limits = limits_of(getattr(module, f"kernel_{seed}"))
        assert limits is not None
        given = some_arguments(random.Random(seed))
        fields = [SimpleNamespace(shape=shape) for shape in (given.x, given.y, given.z)]
        for n, t in itertools.product(range(-2, 9), repeat=2):
            if limits.leaves([*fields, n, t]):
                continue
            for varying in ({3, 4}, {4}):
                conditions = limits.conditions([*fields, n, t], varying)
                suspect = conditions.test
                assert conditions.is_none or not suspect([*fields, n, t])
                for other in range(-2, 9):
                    inside = not limits.leaves([*fields, n, other])
                    exempt += not suspect([*fields, n, other])
                    stays += inside
                    assert inside or suspect([*fields, n, other])
    assert 0.5 * stays < exempt  # products are not summed up


# Kernels, and arguments (x, y, z, n, t) with which they leave; with STAYS they do not

X, Y, Z = (6,), (6,), (6, 4)
STAYS = (X, Y, Z, 6, 2)


def plain_range(x, y, z, n, t):
    for i in range(n):
        y[i] = x[i]


def constants(x, y, z, n, t):
    y[3] = x[5] + z[2, 3]


def reversed_index(x, y, z, n, t):
    for i in x:
        y[x.shape[0] - 1 - i] = x[i]


def neighbours_inside(x, y, z, n, t):
    for i in x:
        if 0 < i < y.shape[0] - 1:
            y[i] = x[i - 1] + x[i + 1]
        elif i + 2 < n:
            y[i + 2] = 1.0


def left_neighbour_skipped(x, y, z, n, t):
    for i in x:
        if i < t or i >= n:
            continue
        y[i - t] = x[i]


def triangle(x, y, z, n, t):
    for i in x:
        for j in range(i):
            y[i - j - 1] += x[j]


def left_early(x, y, z, n, t):
    for i in range(1):
        for j in range(100):
            if j >= n:
                break
            y[j] = x[0]


def left_at_one(x, y, z, n, t):
    for i in range(1):
        for j in range(9):
            if j == n:
                break
            y[j] = x[0]


def multiples(x, y, z, n, t):
    for i in range(9):
        if n < 3 * i < n + 2:
            y[i + 9] = 1.0


def wrapped_around(x, y, z, n, t):
    for i in range(50):
        y[(i + 1) % n] += x[(i - 1) % x.shape[0]]


def clamped(x, y, z, n, t):
    for i in range(50):
        y[ti.max(0, ti.min(i - 3, n - 1))] += 1.0


def flattened(x, y, z, n, t):
    for i, j in ti.ndrange(2, (0, 3)):
        y[i * (t + 1) + j] += 1.0


def counted_by_hand(x, y, z, n, t):
    for i in range(1):
        k = 0
        while k < n:
            y[k] = 1.0
            k += 1
        m = n
        for _ in range(3):
            x[m - 1] += 1.0
            m -= 2


def other_axis(x, y, z, n, t):
    for i in range(n):
        for j in range(t):
            z[i, j + 2] = 0.0


def thirds(x, y, z, n, t):
    for i in range(0, 17, 3):
        y[i // 3] += 1.0


CASES: list[tuple[Callable[..., None], list[tuple[Any, ...]]]] = [
    (plain_range, [(X, Y, Z, 7, 0), ((5,), Y, Z, 6, 0), (X, (1,), Z, 2, 0)]),
    (constants, [((5,), Y, Z, 0, 0), (X, (3,), Z, 0, 0), (X, Y, (6, 3), 0, 0)]),
    (reversed_index, [((7,), Y, Z, 0, 0)]),
    (neighbours_inside, [((6,), (8,), Z, 6, 0), (X, (2,), Z, 6, 0)]),
    (left_neighbour_skipped, [(X, Y, Z, 6, -1), ((9,), Y, Z, 9, 2)]),
    (triangle, [((8,), Y, Z, 0, 0)]),
    (left_early, [(X, Y, Z, 7, 0), (X, Y, Z, 1000, 0)]),
    (left_at_one, [(X, Y, Z, 7, 0), (X, Y, Z, 9, 0), (X, Y, Z, -1, 0)]),
    (multiples, []),  # found for no n, rather than for too many
    (wrapped_around, [(X, Y, Z, 7, 0)]),
    (clamped, [(X, Y, Z, 7, 0)]),
    (flattened, [(X, Y, Z, 8, 3), (X, Y, Z, 6, -2)]),
    (counted_by_hand, [(X, Y, Z, 7, 0), (X, Y, Z, 4, 0)]),
    (other_axis, [(X, Y, Z, 6, 3), (X, Y, Z, 7, 2)]),
    (thirds, [(X, (5,), Z, 0, 0)]),
]


@pytest.mark.parametrize(("kernel", "outside"), CASES, ids=[kernel.__name__ for kernel, _ in CASES])
def test_what_leaves_is_refused(
    kernel: Callable[..., None], outside: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = limits_of(kernel)
    monkeypatch.setitem(globals(), "ti", PLAIN["ti"])
    for given, leaves in ((STAYS, False), *((one, True) for one in outside)):
        launch = random_indices.Given(*given)
        assert random_indices.touches_outside(kernel, launch, 1.0) is leaves
        assert refused(limits, launch) is leaves, given


# Launches

SHORTER = """\
import difftile as dt

@dt.kernel
def add(x, y):
    for i in x:
        y[i] += x[i]

for n in (10, 10_000_000):
    x, y = dt.ones(n, grad=True), dt.zeros(n // 2, grad=True)
    try:
        add(x, y)
    except IndexError as error:
        print(type(error).__name__, error.index, error.shape)
    assert not y.to_numpy().any()
"""


def test_a_loop_over_a_longer_field_leaves_the_heap_whole(tmp_path: Path) -> None:
    file = tmp_path / "shorter.py"
    file.write_text(SHORTER)
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()[-2:]
    assert said == ["IndexOutOfRange (9,) (5,)", "IndexOutOfRange (9999999,) (5000000,)"]


@dt.kernel
def read_ahead(x, y, t: int):
    for i in y:
        y[i] = x[i + t] * x[i + t]


def test_every_launch_is_checked_for_its_own_numbers() -> None:
    x, y = dt.ones(6), dt.zeros(4)
    for t in (0, 2, 1, 3, 2, -1, 0):
        if 0 <= t <= 2:
            read_ahead(x, y, t)
        else:
            for _ in range(2):  # a refused launch does not count as checked
                with pytest.raises(IndexOutOfRange, match="has the shape"):
                    read_ahead(x, y, t)
    with pytest.raises(IndexOutOfRange):
        read_ahead(dt.ones(5), y, 2)
    read_ahead(dt.ones(7), y, 3)


@dt.kernel
def blocks(x, y, n: int, k: int):
    for i in range(n):
        y[i] = x[i + n * k]


def test_numbers_that_matter_together_are_checked_in_every_launch() -> None:
    x, y = dt.ones(12), dt.zeros(6)
    for n, k, stays in ((4, 2, True), (4, 3, False), (3, 3, True), (6, 1, True), (6, 2, False)):
        if stays:
            blocks(x, y, n, k)
        else:
            with pytest.raises(IndexOutOfRange):
                blocks(x, y, n, k)


def test_explain_and_a_launch_with_other_fields_need_no_room() -> None:
    y = dt.zeros(4)
    assert "read_ahead" in read_ahead.explain(dt.ones(4), y, 9)
    read_ahead(dt.ones(13), y, 9)


def test_a_view_is_left_where_its_field_is_not() -> None:
    @dt.kernel
    def copy(x, y):
        for i in y:
            y[i] = x[i]

    x, y = dt.ones(10), dt.zeros(5)
    with pytest.raises(IndexOutOfRange, match=r"'x' has the shape \(4,\)"):
        copy(x[2:6], y)
    with pytest.raises(IndexOutOfRange, match=r"'x' has the shape \(4,\)"):
        copy(x[::3], y)
    copy(x[2:7], y)
    copy(x[:1].broadcast_to(5), y)
    with pytest.raises(IndexOutOfRange, match=r"'x' has the shape \(3,\)"):
        read_ahead(x[2:5], y[3:], 2)


def test_launches_on_tapes_and_derivatives_are_refused() -> None:
    x, y = dt.ones(4, grad=True), dt.zeros(4, grad=True)
    for memory in ({}, {"memory": 400}):
        with dt.Tape(**memory) as tape:
            read_ahead(x, y, 0)
            with pytest.raises(IndexOutOfRange):
                read_ahead(x, y, 1)
        x.grad.fill(0.0)
        tape.backward({y: 1.0})  # nothing was launched, and nothing recorded
        np.testing.assert_array_equal(x.grad.to_numpy(), np.full(4, 2.0))
    for run in (read_ahead.bwds, read_ahead.fwds):
        with pytest.raises(IndexOutOfRange):
            run(x, y, 1)

    def total(x: Any) -> Any:
        read_ahead(x, y, 1)
        return y

    for transformed in (dt.grad(total), lambda x: dt.jvp(total, (x,), (x,)), dt.jacrev(total)):
        with pytest.raises(IndexOutOfRange):
            transformed(x)


@dt.func
def element_at(x: ti.template(), i: int):
    return x[i + 2]


def test_funcs_and_grids_are_checked() -> None:
    @dt.kernel
    def of_grid(threads, y):
        y[threads] = 1.0

    x = dt.ones(6)
    element_at(x, dt.grid(4))
    with pytest.raises(IndexOutOfRange, match=r"'x' has the shape \(6,\)"):
        element_at(x, dt.grid(5))
    of_grid(dt.grid(6), x)
    with pytest.raises(IndexOutOfRange, match=r"'y' has the shape \(6,\)"):
        of_grid(dt.grid(7), x)


def test_rules_of_kernels_are_checked_when_they_run() -> None:
    @dt.kernel
    def double(x, y):
        for i in x:
            y[i] = 2.0 * x[i]

    @double.backward
    def _(x, y):
        for i in x:
            x.grad_out[i] += 2.0 * y.grad_in[i + 1]

    x, y = dt.ones(4, grad=True), dt.zeros(5, grad=True)
    with dt.Tape() as tape:
        double(x, y)
    tape.backward({y: 1.0})
    y = dt.zeros(4, grad=True)
    with dt.Tape() as tape:
        double(x, y)
    with pytest.raises(IndexOutOfRange, match="y"):
        tape.backward({y: 1.0})


def test_numbers_of_objects_and_modules_are_checked() -> None:
    @ti.data_oriented
    class Model:
        def __init__(self, n: int) -> None:
            self.n = n
            self.x = dt.zeros(4)

        @dt.kernel
        def fill(self):
            for i in range(self.n):
                self.x[i] = 1.0

    model = Model(4)
    model.fill()
    model.n = 5
    with pytest.raises(IndexOutOfRange):
        model.fill()
    model.x = dt.zeros(5)
    model.fill()


def test_sizes_of_captured_fields_are_compared() -> None:
    x = dt.zeros(12)

    @dt.kernel
    def of_captured(y, n: int, k: int):
        for i in range(n):
            y[i] = x[i + n * k] + x[i]

    y = dt.zeros(6)
    for n, k, stays in ((4, 2, True), (4, 3, False), (3, 3, True), (7, 0, False)):
        if stays:
            of_captured(y, n, k)
        else:
            with pytest.raises(IndexOutOfRange):
                of_captured(y, n, k)


@dt.kernel
def by_data(x, y, q):
    for i in q:
        if x[i] > 0.0:
            y[i + 2] += 1.0
        y[q[i]] += 1.0


def test_what_depends_on_data_is_left_to_debug() -> None:
    by_data(dt.zeros(4), dt.zeros(4), dt.zeros(4, dtype=ti.i32))
    with pytest.raises(IndexOutOfRange, match=r"'x' has the shape \(3,\)"):
        by_data(dt.zeros(3), dt.zeros(4), dt.zeros(4, dtype=ti.i32))


def test_indices_into_vectors_are_checked() -> None:
    @dt.kernel
    def sums(x, y, n: int):
        for i in x:
            for k in range(n):
                y[i] += x[i][k]

    x, y = dt.ones(2, dtype=dt.vec(3)), dt.zeros(2)
    sums(x, y, 3)
    np.testing.assert_array_equal(y.to_numpy(), [3.0, 3.0])
    with pytest.raises(IndexOutOfRange, match=r"an element of 'x' has the shape \(3,\)"):
        sums(x, y, 4)


# Indices that bounds do not decide


@dt.kernel
def scattered(y, n: int, p: int):
    for i in range(n):
        if i % 5 == 2:
            y[(i * i + p) % 10_007 % 97] += 1.0


@pytest.mark.parametrize("n", [1_000, 40_000])
def test_indices_that_bounds_leave_in_doubt_are_computed(n: int) -> None:
    for p in range(9):  # after some the tests are compiled
        i = np.arange(n)[2::5]
        most = int(((i * i + p) % 10_007 % 97).max())
        scattered(dt.zeros(most + 1), n, p)
        with pytest.raises(IndexOutOfRange, match=rf"has the shape \({most},\)") as caught:
            scattered(dt.zeros(most), n, p)
        assert caught.value.index == (most,)


def test_an_index_of_a_local_vector_that_is_outside_is_refused() -> None:
    @dt.kernel
    def replaced(y, n: int):
        for i in y:
            v = ti.Vector([0, 1, 2])
            v[n] = 1
            y[v[1]] += 1.0

    replaced(dt.zeros(2), 1)
    with pytest.raises(IndexOutOfRange, match=r"a vector has the shape \(3,\)"):
        replaced(dt.zeros(2), 3)


@pytest.mark.compiled
def test_indices_in_more_loops_than_python_can_nest_are_checked(tmp_path: Path) -> None:
    lines = ["import difftile as dt\n\n"]
    for name, call in (("inner", "y[(b0 * b0 + p) % 97 % 11] += 1.0"), ("outer", "inner(y, p)")):
        lines += [f"@dt.{'func' if name == 'inner' else 'kernel'}", f"def {name}(y, p: int):"]
        lines += [f"{'    ' * (k + 1)}for b{k} in range({1 + (k == 0)}):" for k in range(12)]
        lines += ["    " * 13 + call, "\n"]
    file = tmp_path / "many_loops.py"
    file.write_text("\n".join(lines), encoding="utf-8")
    outer = loaded(file).outer
    outer(dt.zeros(7), 5)
    with pytest.raises(IndexOutOfRange, match="index 5 to 6"):
        outer(dt.zeros(6), 5)


def test_a_check_ends_soon_after_an_index_that_is_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    @dt.kernel
    def long(y, p: int):
        for i in range(3):
            k = 0
            while k < 20_000:
                y[(k * p) % 11 * 2 % 13] += 1.0
                k += 1

    met, plain = [0], limits._distance

    def distance(values: Sequence[int]) -> int:
        met[0] += 1
        return plain(values)

    monkeypatch.setattr(limits, "_distance", distance)
    monkeypatch.setattr(limits, "_FEW", 500)
    dt.init(arch="python")
    try:
        with pytest.raises(IndexOutOfRange):
            long(dt.zeros(4), 1)
    finally:
        dt.init(arch="cpu")
    assert met[0] < 1_000  # of 60,000 iterations, most are outside


@dt.kernel
def counted(y, n: int, p: int):
    for i in range(n):
        k = 0
        while k < i:
            y[(k * p) % 11 * 2 % 13] += 1.0
            k += 3


def test_indices_of_loops_that_count_are_computed() -> None:
    for p in range(1, 9):
        k = np.arange(0, 99, 3)
        most = int(((k * p) % 11 * 2 % 13).max())
        counted(dt.zeros(most + 1), 100, p)
        with pytest.raises(IndexOutOfRange, match=rf"has the shape \({most},\)"):
            counted(dt.zeros(most), 100, p)


@dt.kernel
def counted_long(y, n: int):
    for i in range(1):
        k = 0
        for _ in range(n):
            k = (k * 5 + 3) % 128
        y[k] += 1.0


def test_an_index_after_a_long_loop_is_computed() -> None:
    n, k = 0, 0
    while n < 60_000 or k > 5:
        n, k = n + 1, (k * 5 + 3) % 128
    counted_long(dt.zeros(k + 1), n)  # after two turns it would be 18
    with pytest.raises(IndexOutOfRange, match=rf"has the shape \({k},\)"):
        counted_long(dt.zeros(k), n)


def test_an_index_that_passes_the_limit_of_integers_wraps_around() -> None:
    @dt.kernel
    def halves(y, p: int):
        for i in range(3):
            y[(i + p) // 2**30 + 2] += 1.0

    y = dt.zeros(4)
    halves(y, 2**31 - 2)  # 2**31 - 2, 2**31 - 1, and -2**31
    np.testing.assert_array_equal(y.to_numpy(), [1, 0, 0, 2])
    with pytest.raises(IndexOutOfRange):
        halves(y[1:], 2**31 - 2)


def nested(depth: int, *, counts: bool) -> str:
    lines = ["def kernel(x):", "    for i in x:"]
    for k in range(depth):
        pad = "    " * (k + 2)
        lines += [f"{pad}c{k} = 0"] * counts + [f"{pad}for j{k} in range(1):"]
    pad = "    " * (depth + 2)
    lines.append(f"{pad}x[i] += 1.0")
    for k in reversed(range(depth if counts else 0)):
        lines.append(f"{'    ' * (k + 3)}c{k} = c{k} * 2 + 1")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("counts", [False, True])
def test_nested_loops_take_no_time_that_doubles_with_each(
    counts: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    met, plain = [0], known_indices._Finder.stmt

    def stmt(self: known_indices._Finder, stmt: Stmt) -> None:
        met[-1] += 1
        plain(self, stmt)

    monkeypatch.setattr(known_indices._Finder, "stmt", stmt)
    for depth in (4, 8):
        met.append(0)
        file = tmp_path / f"nested_{depth}.py"
        file.write_text(nested(depth, counts=counts), encoding="utf-8")
        source = source_of(loaded(file).kernel)
        known_indices.known_indices(
            derive(lower(source, {"x": FieldType(F32, 1)}, meaning_of, F32, {}, {}).program)
        )
    assert met[2] < (4 if counts else 2.5) * met[1]  # where each doubles it, 16 times as many


def triangle(x, y, z, n, t):
    for k in range(100_000):
        at = 0
        for i in range(n):
            for j in range(i):
                y[at + j] += x[0] * k
            at += i


def test_loops_that_an_index_does_not_follow_from_are_not_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted: list[float] = []
    failure = limits._Tests.failure

    def noted(self: Any, given: Sequence[int], turns: float) -> Any:
        counted.append(turns)
        return failure(self, given, turns)

    monkeypatch.setattr(limits._Tests, "failure", noted)
    checks = limits_of(triangle)
    for size, leaves in ((10, False), (9, True)):
        assert refused(checks, random_indices.Given((1,), (size,), (1, 1), 5, 0)) is leaves
    assert counted and max(counted) < 100
