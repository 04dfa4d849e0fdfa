"""`dt.batch`: a kernel of one world for many, compared with a loop over the worlds."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.compile.batched import BatchedBody
from tests.harness import Floats, Given
from tests.random_programs import ARGUMENTS, random_program

WORLDS = 3


def of(values: Any, grad: bool = True) -> Any:
    return dt.from_numpy(np.asarray(values, float), dtype=ti.f64, grad=grad)


@dt.kernel
def step(x, v, k, h: float, energy):
    for i in x:
        v[i] -= h * k[None] * x[i]
    for i in x:
        x[i] += h * v[i]
    total = 0.0
    for i in x:
        total += x[i] * x[i] * v[i]
    energy[None] += total


RNG = np.random.default_rng(7)
X, V, K = RNG.normal(size=(4, 3)), RNG.normal(size=(4, 3)), RNG.uniform(1, 2, 4)


def gradients(run: Callable[..., Any], x: Any, v: Any, k: Any, h: Any) -> list[Any]:
    energy = dt.zeros((), dtype=ti.f64, grad=True)
    with dt.Tape(energy):
        for _ in range(3):
            run(x, v, k, h, energy)
    return [energy[None], x.to_numpy(), *(one.grad.to_numpy() for one in (x, v, k))]


def loop_over_worlds(h: float) -> list[Any]:
    found = [gradients(step, of(x), of(v), of(k), h) for x, v, k in zip(X, V, K, strict=True)]
    total, *rest = zip(*found, strict=True)
    return [sum(total), *map(np.stack, rest)]


@dt.kernel
def step_of_slots(x, v, k, h: float, energy):
    for i in x:
        v[i] -= h * k[None] * x[i]
    stiff = 1.0 * k[None]
    for i in x:
        x[i] += h * v[i] + 0.0 * stiff
    for i in x:
        energy[None] += x[i] * x[i] * v[i]


@pytest.mark.parametrize("threads", ["worlds", "slots"])
def test_is_a_loop_over_worlds(threads: str) -> None:
    one = step if threads == "worlds" else step_of_slots
    run = dt.batch(one, 4, shared="energy", threads=threads)
    found = gradients(run, of(X), of(V), of(K), 0.1)
    for one, wanted in zip(found, loop_over_worlds(0.1), strict=True):
        np.testing.assert_allclose(one, wanted, rtol=1e-13)


def test_worlds_innermost_and_a_number_for_each_world() -> None:
    """The same in transposed memory, and with a step size that each world has for itself."""
    x, v = (dt.zeros((3, 4), dtype=ti.f64, grad=True).transpose() for _ in range(2))
    x.from_numpy(X)
    v.from_numpy(V)
    h = of(np.linspace(0.1, 0.2, 4))
    run = dt.batch(step, 4, shared=("energy",))
    found = gradients(run, x, v, of(K), h)
    wanted = gradients(run, of(X), of(V), of(K), h)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13)
    np.testing.assert_allclose(np.from_dlpack(x), x.to_numpy())
    assert np.from_dlpack(x).strides == (8, 32)
    assert float(np.abs(h.grad.to_numpy()).min()) > 0


def test_the_gradient_of_a_shared_field_is_the_sum() -> None:
    run = dt.batch(step, 4, batched=("x", "v"))
    k = of(1.5)
    total = gradients(run, of(X), of(V), k, 0.1)[4]
    each = [gradients(step, of(x), of(v), of(1.5), 0.1)[4] for x, v in zip(X, V, strict=True)]
    np.testing.assert_allclose(total, np.sum(each), rtol=1e-13)


def test_derivatives_of_all_kinds() -> None:
    """Forward mode, second derivatives and a budget of memory are those of any kernel."""
    run = dt.batch(step, 4, shared="energy")

    def energy(x: Any, k: Any) -> Any:
        v, total = of(V), dt.zeros((), dtype=ti.f64, grad=True)
        for _ in range(4):
            run(x, v, k, 0.1, total)
        return total

    x, k = of(X), of(K)
    direction = RNG.normal(size=X.shape)
    _, slope = dt.jvp(energy, (x, k), (of(direction), of(np.zeros(4))))
    dx, _ = dt.grad(energy, argnums=(0, 1))(x, k)
    np.testing.assert_allclose(slope[None], np.sum(direction * dx.to_numpy()), rtol=1e-12)
    bent = dt.hvp(energy, (x, k), of(direction), argnums=0).to_numpy()
    ends = [dt.grad(energy)(of(X + e * direction), k).to_numpy() for e in (1e-4, -1e-4)]
    np.testing.assert_allclose(bent, (ends[0] - ends[1]) / 2e-4, rtol=1e-6, atol=1e-8)
    total = of(0.0)
    with dt.Tape(total, memory="1KB"):
        total.copy_from(energy(x, k))
    np.testing.assert_allclose(x.grad.to_numpy(), dx.to_numpy(), rtol=1e-12)


@dt.data_oriented
class Springs:
    """Springs whose stiffness is an attribute, and so shared."""

    def __init__(self) -> None:
        self.k = of(2.0)
        self.n = 3

    @dt.kernel
    def pull(self, m, x, f, apply):
        for i in range(self.n):
            f[i] = -apply(self.k[None], x[i]) / m.mass[i] * m.scale[None]


def test_methods_functions_and_structs_with_members_of_both_kinds() -> None:
    mass, scale = RNG.uniform(1, 2, (4, 3)), 0.5

    @dt.func
    def times(a, b):
        return a * b

    springs = Springs()
    m = ti.Struct(mass=of(mass), scale=of(scale))
    f = of(np.zeros((4, 3)))
    run = dt.batch(Springs.pull, 4, shared="m", batched=("m.mass", "x", "f"))
    with dt.Tape() as tape:
        run(springs, m, of(X), f, times)
    tape.backward({f: np.ones((4, 3))})
    np.testing.assert_allclose(f.to_numpy(), -2.0 * X / mass * scale, rtol=1e-14)
    np.testing.assert_allclose(springs.k.grad[None], np.sum(-X / mass * scale), rtol=1e-13)
    np.testing.assert_allclose(m.mass.grad.to_numpy(), 2 * X / mass**2 * scale, rtol=1e-13)
    g = of(np.zeros((4, 3)))
    dt.batch(springs.pull, 4, shared=("m",), batched=("m.mass", "x", "f"))(m, of(X), g, times)
    np.testing.assert_array_equal(g.to_numpy(), f.to_numpy())


@dt.kernel
def noisy(x, done, first):
    for i in x:
        fresh = first[i] + 0.0 * dt.randn()
        x[i] = ti.select(done[None] != 0, fresh, x[i] + dt.rand())


def test_masks_and_random_numbers() -> None:
    """Worlds draw numbers of their own, and a mask is a field with an element a world."""
    x, first = of(np.full((4, 3), 2.0)), of(np.full((4, 3), np.nan))
    done = dt.from_numpy(np.zeros(4, np.int32))
    run = dt.batch(noisy, 4)
    run(x, done, first)
    drawn = x.to_numpy() - 2
    assert len(np.unique(drawn)) == 12 and np.all((drawn >= 0) & (drawn < 1))
    done.from_numpy(np.array([0, 1, 0, 1], np.int32))
    first.from_numpy(X)
    run(x, done, first)
    np.testing.assert_array_equal(x.to_numpy()[[1, 3]], X[[1, 3]])
    with pytest.raises(dt.KernelError, match="draws random numbers"):
        dt.batch(noisy, 4, threads="slots")(x, done, first)


# Refusals


@dt.kernel
def shift(x):
    for i in range(x.shape[0] - 1):
        x[i] = x[i + 1]


@dt.kernel
def put(x, y):
    for i in x:
        y[i] = x[i]


@dt.kernel
def summed(x):
    total = 0.0
    for i in x:
        total += x[i]
    return total


@dt.kernel
def ragged(n, x):
    for i in range(n[None]):
        x[i] = 1.0


@dt.kernel
def passed_on(x):
    for i in x:
        x[i] += 1.0
    first = 1.0 * x[0]
    for i in x:
        x[i] += first


@dt.kernel
def in_arrays(x, y):
    squares = dt.local(3)
    for i in range(3):
        squares[i] = x[i] * x[i]
    for i in range(3):
        y[None] += squares[i] * squares[(i + 1) % 3]


def test_arrays_of_a_thread_belong_to_a_world() -> None:
    x, y = of(X), of(np.zeros(4))
    with dt.Tape() as tape:
        dt.batch(in_arrays, 4)(x, y)
    tape.backward({y: np.ones(4)})
    squares = X**2
    after, before = np.roll(squares, -1, axis=1), np.roll(squares, 1, axis=1)
    np.testing.assert_allclose(y.to_numpy(), np.sum(squares * after, axis=1), rtol=1e-14)
    np.testing.assert_allclose(x.grad.to_numpy(), 2 * X * (after + before), rtol=1e-13)


@dataclass
class Refused:
    call: Callable[[], Any]
    error: type[Exception]
    says: str


def f(*shape: int) -> Any:
    return dt.zeros(shape, dtype=ti.f64)


REFUSED = {
    "no axis": Refused(
        lambda: dt.batch(step, 4)(f(4, 3), f(4, 3), f(4), 0.1, f()),
        dt.LaunchError,
        r"'energy' has no axis of worlds, its shape is \(\).*shared=\('energy', ...\)",
    ),
    "other size": Refused(
        lambda: dt.batch(step, 4, shared="energy")(f(4, 3), f(5, 3), f(4), 0.1, f()),
        dt.LaunchError,
        r"for 4 worlds>: 'v' has 5 worlds along its first axis, its shape is \(5, 3\)",
    ),
    "unknown name": Refused(
        lambda: dt.batch(step, 4, shared="enrgy"), dt.LaunchError, "did you mean 'energy'"
    ),
    "unknown member": Refused(
        lambda: dt.batch(put, 4, shared="x.mas")(ti.Struct(mass=f(3)), f(4, 3)),
        dt.LaunchError,
        "no argument 'x.mas'; did you mean 'x.mass'",
    ),
    "a number": Refused(
        lambda: dt.batch(step, 4, shared="energy", batched=("x", "v", "k", "h"))(
            f(4, 3), f(4, 3), f(4), 0.1, f()
        ),
        dt.LaunchError,
        r"'h' is in batched=\(...\) and is no field",
    ),
    "numbers that are shared": Refused(
        lambda: dt.batch(step, 4, batched=("x", "v", "k"))(f(4, 3), f(4, 3), f(4), f(4), f()),
        dt.LaunchError,
        "'h' is one number for all worlds",
    ),
    "in neither": Refused(
        lambda: dt.batch(put, 4, shared="y", batched="x.a")(ti.Struct(a=f(4, 3), b=f(3)), f(3)),
        dt.LaunchError,
        r"'x.b' is neither in batched=\(...\) nor in shared=\(...\)",
    ),
    "in both": Refused(
        lambda: dt.batch(put, 4, shared="x", batched="x"), dt.LaunchError, "'x' is in batched"
    ),
    "nothing batched": Refused(
        lambda: dt.batch(put, 4, shared=("x", "y"))(f(3), f(3)), dt.LaunchError, "no argument has"
    ),
    "race of one world": Refused(
        lambda: dt.batch(shift, 4)(f(4, 3)), dt.KernelError, r"(?s)Race.*run the loop in order"
    ),
    "race between worlds": Refused(
        lambda: dt.batch(put, 4, shared="y")(f(4, 3), f(3)),
        dt.KernelError,
        r"(?s)Race on field 'y'.*give the field an axis of worlds",
    ),
    "a result": Refused(
        lambda: dt.batch(summed, 4)(f(4, 3)), dt.KernelError, "batched, and returns a value"
    ),
    "bounds of slots": Refused(
        lambda: dt.batch(ragged, 4, threads="slots")(dt.zeros(4, dtype=ti.i32), f(4, 3)),
        dt.KernelError,
        "bounds of a loop differ between worlds",
    ),
    "slots that pass values": Refused(
        lambda: dt.batch(passed_on, 4, threads="slots")(f(4, 3)),
        dt.KernelError,
        r"(?s)passes from one loop to the next.*1.0 \* x\[0\]",
    ),
    "a sum of slots": Refused(
        lambda: dt.batch(step, 4, shared="energy", threads="slots")(
            f(4, 3), f(4, 3), f(4), 0.1, f()
        ),
        dt.KernelError,
        "adds up a local in a loop",
    ),
    "arrays of slots": Refused(
        lambda: dt.batch(in_arrays, 4, threads="slots")(f(4, 3), f(4)),
        dt.KernelError,
        "declares an array of the thread outside of its loops",
    ),
    "twice": Refused(lambda: dt.batch(dt.batch(put, 2), 2), dt.LaunchError, "is batched already"),
    "no kernel": Refused(lambda: dt.batch(len, 2), dt.LaunchError, "takes a kernel"),
    "no worlds": Refused(lambda: dt.batch(put, 0), dt.LaunchError, "1 or more"),
    "no such threads": Refused(
        lambda: dt.batch(put, 2, threads="warps"), dt.LaunchError, "'worlds' or 'slots'"
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    one = REFUSED[name]
    with pytest.raises(one.error, match=one.says):
        one.call()


def test_a_race_that_a_number_decides_is_judged_for_one_world() -> None:
    @dt.kernel
    def moved(x, d: int):
        for i in range(2):
            x[i] = x[i + d] + 1.0

    run, x = dt.batch(moved, 4), f(4, 6)
    run(x, 0)
    run(x, 3)
    with pytest.raises(dt.KernelError, match="Race"):
        run(x, 1)


# Random kernels


def _fields(rng: np.random.Generator, shared: set[str], worlds: int | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, what in ARGUMENTS.items():
        if not isinstance(what, (Floats, Given)):
            found[name] = what
            continue
        several = worlds is not None and name not in shared
        values = (
            np.stack([what.draw(rng) for _ in range(worlds or 1)]) if several else what.draw(rng)
        )
        found[name] = values
    return found


def _run(run: Any, drawn: dict[str, Any], seeds: dict[str, Any], launches: int) -> dict[str, Any]:
    """Return the contents and gradients of all fields after some launches."""
    fields: dict[str, Any] = {}
    for name, values in drawn.items():
        what = ARGUMENTS[name]
        if isinstance(what, Floats):
            kind = {0: ti.f64, 1: dt.vec(3, ti.f64), 2: dt.mat(2, 2, ti.f64)}[len(what.element)]
            fields[name] = dt.from_numpy(values, dtype=kind, grad=True)
        else:
            fields[name] = dt.from_numpy(values) if isinstance(what, Given) else what
    floats = {n: one for n, one in fields.items() if isinstance(ARGUMENTS[n], Floats)}
    with dt.Tape() as tape:
        for _ in range(launches):
            run(*fields.values())
    tape.backward({fields[name]: seed for name, seed in seeds.items()})
    found = {name: one.to_numpy() for name, one in floats.items()}
    return found | {f"d_{name}": one.grad.to_numpy() for name, one in floats.items()}


def _compare(seed: int, folder: Path) -> bool:
    """Compare a random kernel over worlds with a loop; tell whether it was not refused."""
    rng = np.random.default_rng(seed)
    program = random_program(seed, folder)
    path = folder / f"random_{seed}.py"
    text = path.read_text()
    for draw, number in (("dt.randn()", "0.3"), ("dt.rand()", "0.6"), ("dt.randint(5)", "3")):
        text = text.replace(draw, number)
    path.write_text(text)
    program = _loaded(path, program.function.__name__)
    body = text[text.index("def random_") :]
    floats = [name for name, what in ARGUMENTS.items() if isinstance(what, Floats)]
    written = [n for n in floats if re.search(rf"^ +(?:ti\.atomic_max\()?{n}\[", body, re.M)]
    shared = {n for n in (*floats, "index") if n not in written and rng.random() < 0.5}
    drawn = _fields(rng, shared, WORLDS)
    seeds = {n: rng.normal(size=np.shape(drawn[n])) for n in written}
    one, launches = dt.kernel(program), 1 + seed % 2
    try:
        found = _run(dt.batch(one, WORLDS, shared=shared), drawn, seeds, launches)
        each = []
        for world in range(WORLDS):
            given = {n: v[world] for n, v in seeds.items()}
            each.append(_run(one, _world(drawn, shared, world), given, launches))
    except (dt.KernelError, dt.TapeError):
        return False
    for name, values in found.items():
        parts = [part[name] for part in each]
        plain = name.removeprefix("d_")
        wanted: Any = np.stack(parts)
        if plain in shared:
            wanted = np.sum(parts, axis=0) if name != plain else parts[0]
        np.testing.assert_allclose(values, wanted, rtol=1e-9, atol=1e-10, err_msg=f"{seed} {name}")
    return True


def _world(drawn: dict[str, Any], shared: set[str], world: int) -> dict[str, Any]:
    kinds = (Floats, Given)
    own = {n for n in drawn if n not in shared and isinstance(ARGUMENTS[n], kinds)}
    return {n: values[world] if n in own else values for n, values in drawn.items()}


def _loaded(path: Path, name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"{name}_batched", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


@pytest.mark.parametrize("seed", [31, 44])
def test_random_kernels(seed: int, tmp_path: Path) -> None:
    assert _compare(seed, tmp_path)


def test_batches_of_a_kernel_share_their_code(monkeypatch: pytest.MonkeyPatch) -> None:
    lowered: list[int] = []
    original = BatchedBody.lower
    monkeypatch.setattr(
        BatchedBody,
        "lower",
        lambda self, *given: lowered.append(self.count) or original(self, *given),
    )

    @dt.kernel
    def double(x):
        for i in x:
            x[i] *= 2.0

    for worlds in (2, 3, 2):
        x = dt.full((worlds, 4), 1.0)
        dt.batch(double, worlds)(x)
        assert (x.to_numpy() == 2.0).all()
    assert lowered == [2]
