"""Stores of different iterations that meet: refused where a derivative passes, and only there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.diagnostics import NotUnique, Race
from tests.race_programs import check, random_pair


@dt.kernel
def halved(x, z):
    for i in z:
        x[i // 2] = z[i] * z[i]


@dt.kernel
def one_element(x, z):
    for i in z:
        x[0] = z[i] * z[i]


@dt.kernel
def gathered(x, z, q):
    for i in z:
        x[q[i]] = z[i] * z[i]


@dt.kernel
def promised(x, z, q):
    for i in z:
        x[dt.unique(q[i])] = z[i] * z[i]


@dt.kernel
def neighbours(x, z):
    for i in z:
        x[i] = z[i] * z[i]
        x[i + 1] = 2.0 * z[i]


@dt.kernel
def squared_rows(x, p):
    for i, j in p:
        x[i] = x[i] * x[i]


@dt.kernel
def scaled(x, z, n: int):
    for i in z:
        x[i % n] = x[i % n] * z[i] + z[i]


@dt.kernel
def last(out, z):
    for i in z:
        out[None] = z[i]


@dt.kernel
def nearest(depth, colour, z, pixel):
    for i in z:
        ti.atomic_min(depth[pixel[i]], z[i])
    for i in z:
        if z[i] == depth[pixel[i]]:
            colour[pixel[i]] = 3.0 * z[i]


@dt.kernel
def both_sides(x, z):
    for i in z:
        if i % 2 == 0:
            x[i // 2] = z[i] * z[i]
        else:
            x[i // 2] = z[i] * z[i] * z[i]


@dt.kernel
def even_and_odd(x, z):
    for i in z:
        if i % 2 == 0:
            x[i // 2] = z[i] * z[i]
        else:
            x[i // 2 + 2] = z[i] * z[i] * z[i]


@dt.kernel
def chosen(out, z):
    for i in z:
        if i == 2:
            out[None] = z[i] * z[i]


@dt.kernel
def flattened(x, p, n: int):
    for i, j in ti.ndrange(2, 3):
        x[i * n + j] = p[i, j] * p[i, j]


@dt.kernel
def components(x, z):
    for i in z:
        x[i // 2][i % 2] = z[i] * z[i]


@dt.kernel
def by_a_matrix(x, z):
    for i in z:
        if ti.Matrix([[1.0, 0.0], [2.0, i * i]]).trace() > 5.5:
            x[i // 4] = z[i] * z[i]


@dt.kernel
def triangle(x, z):
    for i in z:
        for j in range(i):
            x[i * (i - 1) // 2 + j] = z[i] * z[j]


@dt.kernel
def bits(x, z):
    for i in z:
        x[((i & 1) << 1) | (i >> 1)] = z[i] * z[i]


@dt.kernel
def moved_by_a_field(x, z, offset):
    for i in z:
        x[i + offset[None]] = z[i] * z[i]


def _z(n: int = 4) -> dt.Field:
    return dt.from_numpy(np.arange(1.0, n + 1), grad=True)


def _zeros(*shape: int, dtype: Any = ti.f64) -> dt.Field:
    return dt.zeros(shape, dtype, grad=True)


def _ints(*values: int) -> dt.Field:
    return dt.from_numpy(np.array(values, np.int32))


REFUSED = {
    "quotient": (halved, lambda: (_zeros(4), _z())),
    "one element": (one_element, lambda: (_zeros(4), _z())),
    "data": (gathered, lambda: (_zeros(4), _z(), _ints(3, 1, 0, 2))),
    "two statements": (neighbours, lambda: (_zeros(5), _z())),
    "update by a row": (squared_rows, lambda: (_zeros(4), dt.ones((4, 3), grad=True))),
    "update by a remainder": (scaled, lambda: (_zeros(4), _z(), 3)),
    "no index": (last, lambda: (_zeros(), _z())),
    "depth buffer": (nearest, lambda: (_zeros(4), _zeros(4), _z(), _ints(0, 1, 1, 3))),
    "both sides of a branch": (both_sides, lambda: (_zeros(4), _z())),
    "rows that overlap": (flattened, lambda: (_zeros(9), dt.ones((2, 3), grad=True), 2)),
    "a view with steps": (halved, lambda: (_zeros(8)[::2], _z())),
}


@pytest.mark.parametrize("name", REFUSED)
def test_stores_that_meet_are_refused(name: str) -> None:
    kernel, arguments = REFUSED[name]
    given = arguments()
    kernel(*given)  # accepted: no derivative passes
    with dt.no_grad(), dt.Tape():
        kernel(*given)
    with pytest.raises(Race), dt.Tape():
        kernel(*given)
    with pytest.raises(Race):
        kernel.fwds(*given)
    with pytest.raises(Race):
        kernel.bwds(*given)


def test_every_transformation_refuses() -> None:
    def f(z: dt.Field) -> dt.Field:
        x = dt.zeros(4, ti.f64)
        halved(x, z)
        return x

    z = _z()
    for call in (
        lambda: dt.vjp(f, z)[1](np.ones(4)),
        lambda: dt.jvp(f, (z,), (dt.ones(4, ti.f64),)),
        lambda: dt.jacfwd(f)(z),
        lambda: dt.jacrev(f)(z),
    ):
        with pytest.raises(Race):
            call()


ACCEPTED = {
    "promised": (promised, lambda: (_zeros(4), _z(), _ints(3, 1, 0, 2)), [2, 4, 6, 8]),
    "own remainder": (scaled, lambda: (_zeros(4), _z(), 4), [1, 1, 1, 1]),
    "halves": (even_and_odd, lambda: (_zeros(4), _z()), [2, 12, 6, 48]),
    "one iteration writes": (chosen, lambda: (_zeros(), _z()), [0, 0, 6, 0]),
    "one iteration": (one_element, lambda: (_zeros(4), _z(1)), [2]),
    "one iteration of a view": (halved, lambda: (_zeros(4), _z()[1:2]), [4]),
    "components": (components, lambda: (_zeros(2, dtype=dt.vec(2, ti.f64)), _z()), [2, 4, 6, 8]),
    "products of indices": (triangle, lambda: (_zeros(6), _z()), [9, 8, 7, 6]),
    "a matrix decides": (by_a_matrix, lambda: (_zeros(4), _z()), [0, 0, 0, 8]),
    "bits": (bits, lambda: (_zeros(4), _z()), [2, 4, 6, 8]),
    "an offset": (
        moved_by_a_field,
        lambda: (_zeros(6), _z(), dt.from_numpy(np.array(2, np.int32))),
        [2, 4, 6, 8],
    ),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_stores_that_do_not_meet(name: str) -> None:
    kernel, arguments, gradient = ACCEPTED[name]
    given = arguments()
    with dt.Tape() as tape:
        kernel(*given)
    tape.backward({given[0]: np.ones((*given[0].shape, *((2,) * (name == "components"))))})
    np.testing.assert_allclose(given[1].grad.to_numpy(), gradient)


def test_numbers_and_shapes_decide_at_each_launch() -> None:
    x, z = _zeros(8), _z()
    for n, refused in ((5, False), (3, True), (4, False), (3, True)):
        try:
            with dt.Tape():
                scaled(x, z, n)
        except Race:
            assert refused
        else:
            assert not refused
    with pytest.raises(Race), dt.Tape():
        scaled(x, _z(6), 5)


def test_fields_without_derivatives_are_left_alone() -> None:
    x, z = dt.zeros(4, ti.f64), _z()
    flags = dt.zeros(4, ti.i32)

    @dt.kernel
    def marked(flags, x, z, y):
        for i in z:
            flags[i // 2] = 1
            x[i // 2] = 1.0
            y[i] = z[i] * z[i]

    y = _zeros(4)
    with dt.Tape() as tape:
        marked(flags, x, z, y)
    tape.backward({y: np.ones(4)})
    np.testing.assert_allclose(z.grad.to_numpy(), [2, 4, 6, 8])


def test_fields_that_are_given_derivatives_later_are_checked() -> None:
    @dt.kernel
    def halved(x, z, y):
        for i in z:
            x[i // 2] = z[i]
            y[i] = z[i] * z[i]

    z, y, plain = _z(), _zeros(4), dt.zeros(4, ti.f64)
    with dt.Tape():
        halved(plain, z, y)
    with pytest.raises(Race), dt.Tape():
        halved(plain.with_grads(), z, y)


def test_constants_cut_the_gradient_of_what_they_meet_in() -> None:
    @dt.kernel
    def cleared(x):
        for i in range(4):
            x[i // 2] = 0.0

    x, y = _zeros(4), _zeros(4)
    with dt.Tape() as tape:
        cleared(x)
        y.copy_from(x)
    tape.backward({y: np.ones(4)})
    np.testing.assert_allclose(x.grad.to_numpy(), [0, 0, 1, 1])


@dt.kernel
def in_order(x, out, z, q):
    ti.loop_config(serialize=True)
    for i in z:
        x[i // 2] = z[i] * z[i]
        x[q[i] % 2 + 1] = z[i] * z[i] * z[i]
        out[None] = ti.sin(z[i])


def test_the_last_store_of_a_serial_loop_wins() -> None:
    z, q = np.array([1.5, 0.5, 2.0, -1.0]), [1, 0, 1, 0]

    def outputs(z: Any) -> Any:
        x = np.array([0.3, -0.7, 0.2, 0.9], z.dtype)
        out: Any = 0.0
        for i in range(4):
            x[i // 2] = z[i] * z[i]
            x[q[i] % 2 + 1] = z[i] * z[i] * z[i]
            out = np.sin(z[i])
        return np.dot(x, [1.0, 2.0, 3.0, 4.0]) + out

    x = dt.from_numpy(np.array([0.3, -0.7, 0.2, 0.9]), grad=True)
    out, field = _zeros(), dt.from_numpy(z, grad=True)
    with dt.Tape() as tape:
        in_order(x, out, field, _ints(*q))
    tape.backward({x: np.array([1.0, 2.0, 3.0, 4.0]), out: 1.0})
    slopes = [outputs(z + 1e-30j * np.eye(4)[k]).imag / 1e-30 for k in range(4)]
    np.testing.assert_allclose(field.grad.to_numpy(), slopes, rtol=1e-12)


def test_random_pairs_of_index_maps(tmp_path: Path) -> None:
    said = check([random_pair(seed) for seed in range(150)], tmp_path)
    # Conditions on integers are decided.
    assert said["unsure, by integers"] <= 1, said
    assert min(said["accepted, by integers"], said["met, by integers"]) > 30, said


@dt.kernel
def shifted(x, z, q):
    for i in z:
        if z[i] != 2.0:
            x[dt.unique(q[i]) + 1] = z[i] * z[i]


@dt.kernel
def cells(w, z, cell):
    for i in z:
        w[dt.unique(cell[i])] = z[i] * z[i]


@dt.kernel
def in_place(x, z, q):
    for i in z:
        k = dt.unique(q[i])
        x[k] = x[k] + z[i]
        x[k] = x[k] * z[i]


@pytest.fixture
def debug() -> Any:
    dt.init(debug=True)
    yield
    dt.init()


@pytest.mark.usefixtures("debug")
def test_debug_verifies_promises() -> None:
    z = _z()
    distinct, repeated = _ints(3, 1, 0, 2), _ints(3, 1, 1, 2)
    vectors = [dt.from_numpy(np.array(rows, np.int32), dtype=dt.vec(2, ti.i32)) for rows in (
        [[0, 1], [1, 0], [1, 1], [2, 2]], [[0, 1], [1, 0], [1, 1], [1, 0]],
    )]  # fmt: skip
    shifted(_zeros(6), z, distinct)
    shifted(_zeros(6), z, repeated)  # the second iteration does not store
    cells(_zeros(3, 3), z, vectors[0])
    x = _zeros(4)
    with dt.Tape() as tape:
        in_place(x, z, distinct)
    tape.backward({x: np.ones(4)})
    np.testing.assert_allclose(z.grad.to_numpy(), [2, 4, 6, 8])
    for kernel, given in (
        (promised, (_zeros(4), z, repeated)),
        (cells, (_zeros(3, 3), z, vectors[1])),
        (in_place, (_zeros(4), z, repeated)),
    ):
        with pytest.raises(NotUnique):
            kernel(*given)


@dt.kernel
def doubled(x, y):
    for i in y:
        y[i] = 2.0 * x[i]


@doubled.forward
def _(x, y):
    for i in y:
        y.grad_in[i // 2] = 2.0 * x.grad_out[i]


def test_tangents_that_a_rule_sets_must_not_meet() -> None:
    doubled(_zeros(4), _zeros(4))
    with pytest.raises(Race):
        doubled.fwds(_zeros(4), _zeros(4))
    doubled.fwds(_zeros(1), _zeros(1))


@pytest.mark.usefixtures("debug")
def test_launches_that_verify_promises_run_again() -> None:
    """Silent, so without the report of a failure, on several threads."""
    x, order = _zeros(4), _ints(3, 1, 0, 2)
    found: list[Any] = []
    for options in ({}, {"snapshots": 3}):
        z = dt.from_numpy(np.linspace(0.999, 1.001, 4), grad=True)
        with dt.Tape(**options) as tape:
            for _ in range(6):
                promised(x, z, order)
                promised(z, x, order)
        tape.backward({z: np.ones(4)})
        assert (tape.recomputed > 0) == bool(options)
        found.append(z.grad.to_numpy())
    assert np.isfinite(found[0]).all() and found[0].min() > 0.0
    np.testing.assert_array_equal(*found)
