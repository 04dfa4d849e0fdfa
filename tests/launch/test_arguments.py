"""Arguments of several values from Python: vectors, matrices, tuples of numbers, structs."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.testing as npt
import pytest
import taichi as ti

import difftile as dt
from difftile.ir.nodes import ParallelFor
from difftile.schedule.grids import Grids
from tests.emitting import emitted
from tests.launch.test_kernels import compiled
from tests.programs.structs import Ball

vec2 = ti.math.vec2
SCALED = ti.types.struct(k=float, at=vec2)


@dataclasses.dataclass
class State:
    x: Any
    v: Any
    g: Any = dataclasses.field(default_factory=lambda: ti.Vector([0.0, -10.0]))
    steps: int = 1


@dt.kernel
def pull(x, g, h: float):
    for i in x:
        x[i] += h * g * x[i] * x[i]


@dt.kernel
def pull_declared(x, g: vec2, h: float):
    for i in x:
        x[i] += h * g * x[i] * x[i]


@dt.kernel
def advance(s, h: float):
    for i in s.x:
        for _ in range(s.steps):
            s.v[i] += h * s.g
        s.x[i] += h * s.v[i] * s.v[i]


def positions(dtype: Any = ti.f64) -> dt.Field:
    data = np.array([[1.0, 2.0], [0.5, -1.0], [0.0, 3.0]])
    return dt.from_numpy(data, dtype=dt.vec(2, dtype), grad=True)


def pulled(x: Any, g: Any, h: float) -> Any:
    return x + h * np.asarray(g) * x * x


VECTORS = [
    ti.Vector([0, -9.8]),
    ti.math.vec2(0.5, -2.0),
    [0.25, -9.8],
    [np.float32(0.5), 1],
    (0.5, -9.8),
    ti.Vector([2, 3]),
]
DECLARED = [np.array([0.25, -9.8]), np.array([1, 2], np.uint8), (1, 2), (np.float64(0.1), 3)]


@pytest.mark.parametrize("declared", [False, True])
@pytest.mark.parametrize("dtype", [ti.f32, ti.f64])
def test_vectors(declared: bool, dtype: Any) -> None:
    kernel = pull_declared if declared else pull
    for g in [*VECTORS, *(DECLARED if declared else ())]:
        x = positions(dtype)
        before = x.to_numpy()
        kernel(x, g, 0.5)
        given = g.to_numpy() if isinstance(g, ti.Matrix) else g
        npt.assert_allclose(x.to_numpy(), pulled(before, given, 0.5), rtol=1e-6)


def test_values_are_not_compiled_in() -> None:
    @dt.kernel
    def move(x, g, n: ti.types.vector(2, int), m, s):
        for i in x:
            x[i] = g * n + m @ x[i] * s.k + s.at[1] * s.n

    x = positions()
    for k in range(4):
        g = ti.Vector([0.5 + k, k])
        m = [[k, 1], [2, k * 0.5]]
        s = ti.Struct(k=k / 4, n=k, at=ti.Vector([k, k]))
        before = x.to_numpy()
        move(x, g, (k, 2 * k), m, s)
        wanted = g.to_numpy() * [k, 2 * k] + before @ np.array(m).T * k / 4 + k * k
        npt.assert_allclose(x.to_numpy(), wanted)
    assert compiled(move) == 1
    assert len(move._launches._launches) == 1
    move(x, ti.Vector([1, 2]), (1, 2), m, s)  # integers are another kind
    move(x, ti.Vector([1.0, 2]), (1, 2), ti.Matrix(m), s)
    assert compiled(move) == 2


def test_number_types_follow_as_for_numbers() -> None:
    @dt.kernel
    def fill(x, whole, v):
        for i in x:
            x[i] = v[0]
        for i in whole:
            whole[i] = v[1] // 2 if ti.static(len(v) == 3) else 7

    single, double = dt.zeros(1), dt.zeros(1, dtype=ti.f64)
    whole = dt.zeros(1, dtype=ti.i32)
    fill(double, whole, ti.Vector([1, 7, -1]))
    assert double[0] == 1 and whole[0] == 3
    fill(double, whole, [0.1, 3.0])
    fill(single, whole, [0.1, 3.0])
    assert double[0] == 0.1 and single[0] == np.float32(0.1) and whole[0] == 7
    with pytest.raises(dt.LaunchError, match=r"'v\[1\]' = 2147483648 does not fit 32 bits"):
        fill(double, whole, [0, 2**31, 1])
    with pytest.raises(dt.KernelError, match="holds i32 and is given f32"):
        fill(single, whole, [0.1, 3.0, 1])


def test_tuples_stay_tuples() -> None:
    @dt.kernel
    def spread(x, sizes, weights):
        for i, j in ti.ndrange(*sizes):
            for w in ti.static(weights):
                x[i, j] += w
            x[i, j] += max(weights) + len(weights) + weights[-1]

    x = dt.zeros((2, 3), dtype=ti.f64)
    spread(x, (2, 2), (0.5, 0.25))
    npt.assert_array_equal(x.to_numpy(), [[3.5, 3.5, 0], [3.5, 3.5, 0]])
    spread(x, (2, 2), (1.5, 0.25))
    assert compiled(spread) == 1
    spread(x, (2, 3), (1.5, 0.25))
    assert compiled(spread) == 2


def test_every_part_of_nested_tuples_is_looked_at_in_each_launch() -> None:
    @dt.kernel
    def add(xs, numbers):
        for k in ti.static(range(len(xs))):
            for i in xs[k]:
                for n in ti.static(range(len(numbers[k]))):
                    if ti.static(numbers[k][n] is not None):
                        xs[k][i] += numbers[k][n]

    xs = tuple(dt.zeros(1, ti.f64) for _ in range(3))
    wanted = np.zeros(3)
    calls = [
        ((0, 1), [(1.0, 2.0), (3.0, 4.0)]),
        ((0, 1), [(1.0, 2.0), (3.0, 4.5)]),
        ((0, 1), [(1.5, 2.0), (3.0, 4.5)]),
        ((0, 1), [(None, 2.0), (3.0, 4.5)]),
        ((0, 1), [(None, 2.5), (3.0, 4.5)]),
        ((0, 1), [(0.5, 2.5), (3.0,)]),
        ((0, 1), [(0.5, 2.5), (3.0,)]),
        ((0, 2), [(0.5, 2.5), (3.0,)]),
        ((2,), [(0.5, 2.5), (3.0,)]),
        ((2, 0, 1), [(7,), (3.0,), (1.0, 2.0, None)]),
        ((2, 0, 1), [(8,), (3.0,), (1.0, 2.0, None)]),
        ((2, 0, 1), [(8.5,), (3.0,), (1.0, 2.0, None)]),
    ]
    for turn in range(2):
        for places, numbers in calls:
            add(tuple(xs[k] for k in places), tuple(numbers))
            for k, some in zip(places, numbers, strict=False):
                wanted[k] += sum(n for n in some if n is not None)
            assert [x[0] for x in xs] == wanted.tolist(), (turn, places, numbers)


# Structs


def test_structs_of_fields_and_numbers() -> None:
    x, v = positions(), positions()
    s = State(x, v)
    a, b = x.to_numpy(), v.to_numpy()
    for h in (0.5, 0.25):
        s.steps, s.g = s.steps + 1, ti.Vector([h, -10.0])
        advance(s, h)
        b = b + s.steps * h * s.g.to_numpy()
        a = a + h * b * b
        npt.assert_allclose(x.to_numpy(), a)
    assert compiled(advance) == 1 and len(advance._launches._launches) == 1
    s.x = positions()  # another field in the same object
    advance(s, 0.5)
    npt.assert_allclose(x.to_numpy(), a)
    assert s.x.to_numpy()[0, 1] != 2
    s.x = s.v  # one field in two members
    before = s.v.to_numpy()
    advance(s, 0.5)
    moved = before + s.steps * 0.5 * s.g.to_numpy()
    npt.assert_allclose(s.v.to_numpy(), moved + 0.5 * moved * moved)
    assert compiled(advance) == 2


def test_a_field_in_a_struct_and_beside_it_is_one() -> None:
    @dt.kernel
    def add(s, y, loss):
        for i in s.x:
            y[i] *= 2.0
        for i in s.x:
            loss[None] += s.x[i] * s.scale

    x, loss = dt.full(2, 1.0, grad=True), dt.zeros((), grad=True)
    with dt.Tape(loss):
        add(ti.Struct(x=x, scale=0.5), x, loss)
    assert loss[None] == 2
    npt.assert_array_equal(x.grad.to_numpy(), [1, 1])
    y = dt.full(2, 1.0)
    add(ti.Struct(x=x, scale=0.5), y, loss)
    assert loss[None] == 4 and y[0] == 2


def test_struct_types() -> None:
    @dt.kernel
    def total(ball: Ball, e):
        for i in e:
            e[i] += ball.energy(10.0) * (i + 1)

    e = dt.zeros(2)
    balls = dt.field(Ball, 2)
    balls[1] = {"pos": (1, 3), "vel": (0, 0), "r": 2.0}
    given = [
        Ball(pos=vec2(1, 3), vel=vec2(0, 0), r=2.0),
        {"pos": np.array([1, 3]), "vel": [0, 0.0], "r": 2},
        ti.Struct(r=2, vel=[0, 0], pos=[1, 3]),
        balls[1],
    ]
    for k, ball in enumerate(given, 1):
        total(ball, e)
        npt.assert_allclose(e.to_numpy(), [360 * k, 720 * k])
    assert compiled(total) == 1

    @dt.kernel
    def unannotated(ball, e):
        for i in e:
            e[i] = ball.pos.y * ball.r

    unannotated(balls[1], e)
    assert e[0] == 6


def test_methods_that_change_nothing_leave_loops_parallel() -> None:
    @dt.kernel
    def energies(ball, e):
        for i in e:
            e[i] = ball.energy(e[i])  # calls another method, and one of a vector

    @dt.kernel
    def moved(ball, e):
        for i in e:
            ball.steps(1, 0.5)
            e[i] = ball.pos.y

    ball, e = Ball(pos=vec2(1, 3), vel=vec2(0, 1), r=0.5), dt.zeros(3)
    energies(ball, e)
    moved(ball, e)
    assert e[0] != e[1] != e[2]  # in order, as in Python
    for kernel, parallel in ((energies, True), (moved, False)):
        (stage,) = kernel._launches.latest.stages
        stmts = stage._binding._code.program.body.stmts
        assert any(isinstance(s, ParallelFor) for s in stmts) == parallel
    npt.assert_array_equal(ball.vel.to_numpy(), [0, 1])


def test_roles_hold_in_structs() -> None:
    @dt.kernel
    def reads(s: dt.In, y):
        for i in y:
            s.x[i] = y[i]

    with pytest.raises(dt.KernelError, match=r"'s\.x' is declared dt\.In"):
        reads(ti.Struct(x=dt.zeros(2), k=1.0), dt.zeros(2))


# Derivatives: numbers are constants, and a tape keeps those of each launch


@pytest.mark.parametrize("memory", [None, "300 B"])
def test_tapes_keep_the_numbers_of_each_launch(memory: str | None) -> None:
    x = positions()
    start = x.to_numpy()
    gs = [ti.Vector([0.1 * k, -0.2]) for k in range(7)]
    state = State(x, dt.zeros(3, dtype=dt.vec(2, ti.f64), grad=True))
    with dt.Tape(memory=memory) as tape:
        for k, g in enumerate(gs):
            pull(x, g, 0.1)
            pull_declared(x, [0.3, 0.01 * k], 0.2)
            state.g, state.steps = g, k
            advance(state, 0.01 * k)
    tape.backward({x: np.ones((3, 2))})

    def run(a: Any) -> Any:
        v = np.zeros((3, 2), a.dtype)
        for k, g in enumerate(gs):
            a = pulled(a, g.to_numpy(), 0.1)
            a = pulled(a, [0.3, 0.01 * k], 0.2)
            v = v + k * (0.01 * k) * g.to_numpy()
            a = a + 0.01 * k * v * v
        return a

    npt.assert_allclose(x.to_numpy(), run(start), rtol=1e-12)
    npt.assert_allclose(x.grad.to_numpy(), run(start + 1e-30j).imag / 1e-30, rtol=1e-12)


def test_explicit_derivatives_and_batches() -> None:
    g = [0.5, -0.25]
    x = positions()
    start = x.to_numpy()
    wanted = 1 + 2 * 0.3 * np.array(g) * start
    x.grad.from_numpy(np.full((3, 2), 2.0))
    pull.fwds(x, g, 0.3)
    npt.assert_allclose(x.grad.to_numpy(), 2 * wanted, rtol=1e-12)
    x.from_numpy(start)
    x.grad.fill(1.0)
    pull.bwds(x, g, 0.3)
    npt.assert_allclose(x.grad.to_numpy(), wanted, rtol=1e-12)

    def moved(y: dt.Field) -> dt.Field:
        z = dt.zeros_like(y)
        z.copy_from(y)
        pull(z, ti.Vector(g), 0.3)
        return z

    for jacobian in (dt.jacfwd(moved)(x), dt.jacrev(moved)(x)):
        npt.assert_allclose(np.asarray(jacobian).reshape(6, 6), np.diag(wanted.ravel()))


def test_rules_of_kernels_take_them() -> None:
    @dt.kernel
    def scaled(x, y, g, s):
        for i in x:
            y[i] = x[i] * g.x * s.k

    @scaled.backward
    def _(x, y, g, s):
        for i in x:
            x.grad_out[i] += 7 * y.grad_in[i] * g.y * s.k * s.w[i]

    x, y = dt.full(2, 1.0, grad=True), dt.zeros(2, grad=True)
    s = ti.Struct(k=2.0, w=dt.from_numpy(np.array([1, 2], np.float32)))
    with dt.Tape() as tape:
        scaled(x, y, ti.Vector([3.0, 0.5]), s)
    tape.backward({y: np.ones(2)})
    assert y[0] == 6
    npt.assert_array_equal(x.grad.to_numpy(), [7, 14])


def test_numbers_in_checkpoints() -> None:
    @dt.checkpoint
    def twice(x: dt.Field, g: Any) -> None:
        pull(x, g, 0.5)
        pull(x, g, 0.25)

    x = positions()
    start = x.to_numpy()
    with dt.Tape() as tape:
        for k in range(3):
            twice(x, [0.1, 0.2 * k])
    tape.backward({x: np.ones((3, 2))})

    def run(a: Any) -> Any:
        for k in range(3):
            a = pulled(pulled(a, [0.1, 0.2 * k], 0.5), [0.1, 0.2 * k], 0.25)
        return a

    npt.assert_allclose(x.grad.to_numpy(), run(start + 1e-30j).imag / 1e-30, rtol=1e-12)


def test_fields_of_one_number_as_components() -> None:
    gx, gy = (dt.full((), value, dtype=ti.f64, grad=True) for value in (0.5, -0.25))
    x = positions()
    start = x.to_numpy()
    for memory in (None, "300 B"):
        x.from_numpy(start)
        with dt.Tape(memory=memory) as tape:
            for k in range(4):
                pull(x, [gx, 0.5 * k], 0.25)
                pull_declared(x, (gx, gy), 0.25)
        tape.backward({x: np.ones((3, 2))})

        def run(first: Any, second: Any) -> Any:
            a = start + 0j
            for k in range(4):
                a = a + 0.25 * np.array([first, 0.5 * k]) * a * a
                a = a + 0.25 * np.array([first, second]) * a * a
            return a

        npt.assert_allclose(x.to_numpy(), run(0.5, -0.25).real, rtol=1e-12)
        wanted = run(0.5 + 1e-30j, -0.25).imag.sum() / 1e-30
        npt.assert_allclose(gx.grad[None], wanted, rtol=1e-11)
        wanted = run(0.5, -0.25 + 1e-30j).imag.sum() / 1e-30
        npt.assert_allclose(gy.grad[None], wanted, rtol=1e-11)

    @dt.kernel
    def weighted(x, s: SCALED):
        for i in x:
            x[i] *= s.k * s.at

    x.from_numpy(start)
    with dt.Tape() as tape:
        weighted(x, {"k": gx, "at": (gy, gy)})
    tape.backward({x: np.ones((3, 2))})
    npt.assert_allclose(x.to_numpy(), -0.125 * start)
    npt.assert_allclose(gx.grad[None], -0.25 * start.sum())
    npt.assert_allclose(gy.grad[None], 0.5 * start.sum())
    single = dt.from_numpy(start.astype(np.float32), dtype=dt.vec(2, ti.f32))
    pull(single, [gx, gy], 0.25)  # which stays a kernel of single precision
    assert pull._latest is not None
    assert pull._latest.params[0].type.element == single.element


def test_numbers_that_carry_derivatives_as_components() -> None:
    @dt.kernel
    def speed(x) -> ti.f64:
        s = 0.0
        for i in x:
            s += x[i].dot(x[i])
        return s

    x = positions()
    start = x.to_numpy()
    with dt.Tape() as tape:
        for k in range(3):
            h = 0.1 / speed(x)
            pull(x, [h, 2 * h + k], 0.5)
            pull_declared(x, (h, 0.5), 0.5)
    tape.backward({x: np.ones((3, 2))})

    def run(a: Any) -> Any:
        for k in range(3):
            h = 0.1 / (a * a).sum()
            a = a + 0.5 * np.array([h, 2 * h + k]) * a * a
            a = a + 0.5 * np.array([h, 0.5]) * a * a
        return a

    npt.assert_allclose(x.to_numpy(), run(start), rtol=1e-12)
    found = np.zeros((3, 2))
    for cell in np.ndindex(3, 2):
        moved = start + 0j
        moved[cell] += 1e-30j
        found[cell] = run(moved).imag.sum() / 1e-30
    npt.assert_allclose(x.grad.to_numpy(), found, rtol=1e-10)


def test_funcs_take_them_as_components() -> None:
    @dt.func
    def along(pos: vec2, g: vec2):
        return pos.dot(g) ** 2

    x, k = positions(), dt.full((), 0.5, dtype=ti.f64, grad=True)
    with dt.Tape() as tape:
        y = along(x, [k, 1.0])
        h = along([1.0, 2.0], [dt.value(0.5 * k[None]), 1.0])  # a field, as one of its arguments
        z = along([0.5, h[None]], [k[None], 2.0])
        end = dt.value(z)
    tape.backward({y: np.ones(3), end: 1.0})
    a, v = x.to_numpy() @ [0.5, 1.0], 0.25 + 2.0
    last = 0.25 + 2 * v * v
    npt.assert_allclose(y.to_numpy(), a * a)
    npt.assert_allclose(z, last * last)
    wanted = (2 * a * x.to_numpy()[:, 0]).sum() + 2 * last * (0.5 + 4 * v * 0.5)
    npt.assert_allclose(k.grad[None], wanted)


def test_vectors_computed_from_fields_carry_their_derivatives() -> None:
    x, y = positions(), positions()
    with dt.Tape() as tape:
        pull_declared(y, 0.5 * x[1], 0.5)
        advance(State(y, positions(), [x[1][0], 0.5]), 0.5)
    tape.backward({y: np.ones((3, 2))})
    start = x.to_numpy().copy()

    def run(a: Any) -> float:
        field, other = positions(), positions()
        pull_declared(other, 0.5 * a[1], 0.5)
        advance(State(other, field, [a[1][0], 0.5]), 0.5)
        return float(other.to_numpy().sum())

    found = np.zeros_like(start)
    for cell in np.ndindex(start.shape):
        step = np.zeros_like(start)
        step[cell] = 1e-6
        found[cell] = (run(start + step) - run(start - step)) / 2e-6
    npt.assert_allclose(x.grad.to_numpy(), found, atol=1e-8)


# Funcs that Python calls


def test_funcs_called_from_python() -> None:
    @dt.func
    def height(pos: vec2, up):
        return pos.dot(up)

    @dt.func
    def energy(ball, g, x):
        return ball.energy(g) * x

    @dt.func
    def nearest(scene, i):
        return (scene.x[i] - scene.at).norm() * scene.k

    up = ti.Vector([0.0, 2.0])
    assert height([1.0, 3.0], up) == 6
    assert energy(Ball(pos=vec2(1, 3), vel=vec2(0, 0), r=2.0), 10.0, 0.5) == 180
    x = positions()
    with dt.Tape() as tape:
        y = height(x, up)
        z = nearest(ti.Struct(x=x, at=up, k=2.0), dt.grid(3))
    npt.assert_allclose(y.to_numpy(), [4, -2, 6])
    tape.backward({y: np.ones(3), z: np.ones(3)})
    apart = x.to_numpy() - [0, 2]
    lengths = np.linalg.norm(apart, axis=1, keepdims=True)
    npt.assert_allclose(z.to_numpy(), 2 * lengths[:, 0])
    npt.assert_allclose(x.grad.to_numpy(), [0, 2] + 2 * apart / lengths)


def test_methods_of_objects_take_them() -> None:
    @dt.data_oriented
    class World:
        def __init__(self) -> None:
            self.x = positions()
            self.gravity = (0.0, -2.0)

        @dt.kernel
        def step(self, wind, h: float):
            for i in self.x:
                self.x[i] += h * self.gravity + h * wind

    world = World()
    before = world.x.to_numpy()
    world.step(ti.Vector([1.0, 0]), 0.5)
    world.gravity = (1.0, -4.0)
    world.step([1, 0.5], 0.5)
    npt.assert_allclose(world.x.to_numpy(), before + np.array([1.5, -2.75]))
    assert compiled(World.step) == 1


@pytest.mark.filterwarnings("ignore:.*entries are not suggested")  # by a Taichi that is not started
def test_many_numbers() -> None:
    @dt.kernel
    def product(y, a, b, c):
        for i in range(8):
            row = (a @ b + c)[i, :]
            y[i] = row.sum()

    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 8, 8))
    y = dt.zeros(8, dtype=ti.f64)
    product(y, ti.Matrix(a), b.tolist(), ti.Matrix(c))
    npt.assert_allclose(y.to_numpy(), (a @ b + c).sum(1), rtol=1e-12)


def test_vectors_are_made_inside_the_loops_of_a_device() -> None:
    x = positions()
    pull(x, [1.0, 2.0], 0.5)
    (stage,) = pull._launches.latest.stages
    text = emitted(stage._binding._code.program, grids=Grids.on(1)).text
    loop, vector = text.index("for thread in range"), text.index("ti.Vector([g_0, g_1])")
    assert loop < vector


def test_vectors_are_never_taken_for_the_argument_before() -> None:
    # `ti.Vector([...]) == field` is a vector in Taichi, and counts as true.
    @dt.kernel
    def add(x, v, flag):
        for i in x:
            if ti.static(flag is None):
                x[i] += v[0]
            else:
                x[i] += v[0] * flag

    x, v = dt.zeros(2), dt.full(2, 1.0)
    for given, flag, wanted in [
        (v, None, 1),
        (ti.Vector([5.0, 0]), None, 6),
        (v, True, 7),
        (v, 1, 8),
        (v, 3.0, 11),
        (v[:1], None, 12),
        (ti.Vector([2.0]), None, 14),
    ]:
        add(x, given, flag)
        assert x[0] == wanted
    add(x, v.to_numpy(), None)
    assert x[0] == 15
