"""Loops that carry state through fields inside one kernel, beside plain Taichi and JAX.

A recurrent network of 64 units over 1,000 steps, a rope of 1,000 links relaxed in place in 20
sweeps, and a system of 6x6 solved for each of 20,000 particles, in f32 on one thread where the loop
is serial. Each is run alone and with its gradient, turn by turn in one process; plain Taichi runs
only forward. Memory is the most that a tape holds for old values and logs, and the temporary memory
of the compiled gradient in JAX. Values and gradients of JAX are compared with ours first.
"""

import importlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
import taichi as ti

import difftile as dt
from benchmarks.local_vectors import eliminate, matrix, vector
from benchmarks.meter import CLOCKS, Meter
from difftile.arguments import Parser, positive_int

UNITS, STEPS = 64, 1000
LINKS, SWEEPS, REST = 1000, 20, 0.3
PARTICLES, SIZE = 20_000, 6


@ti.func
def recur(h: ti.template(), w: ti.template(), x: ti.template()):
    """Run the network; h[0] is its first state."""
    for t in range(STEPS):
        for j in range(UNITS):
            s = x[t, j]
            for k in range(UNITS):
                s += w[j, k] * h[t, k]
            h[t + 1, j] = ti.tanh(s)


@ti.func
def relax(x: ti.template()):
    """Draw neighbours of a rope, whose first end is fixed, to their distance at rest."""
    for _ in range(SWEEPS):
        for i in range(LINKS):
            d = x[i + 1] - x[i]
            c = 0.5 * (1 - REST / d.norm()) * d
            if i > 0:
                x[i] += c
            x[i + 1] -= c


@dt.kernel
def network(h, w, x):
    for _ in range(1):
        recur(h, w, x)


@dt.kernel
def rope(x):
    for _ in range(1):
        relax(x)


@dt.kernel
def systems(a, b):
    for p in b:
        m = a[p]
        r = b[p]
        eliminate(m, r)
        b[p] = r


@ti.kernel
def network_taichi(
    h: ti.types.ndarray(ti.f32, 2), w: ti.types.ndarray(ti.f32, 2), x: ti.types.ndarray(ti.f32, 2)
):
    for _ in range(1):
        recur(h, w, x)


@ti.kernel
def rope_taichi(x: ti.types.ndarray(ti.math.vec3, 1)):
    for _ in range(1):
        relax(x)


@ti.kernel
def systems_taichi(a: ti.types.ndarray(matrix, 1), b: ti.types.ndarray(vector, 1)):
    for p in range(b.shape[0]):
        m = a[p]
        r = b[p]
        eliminate(m, r)
        b[p] = r


@dataclass
class Case:
    """One of the loops.

    Attributes:
        name: The name.
        kernel: The kernel; its last argument but those of `constant` is written.
        plain: The same in plain Taichi.
        inputs: The contents of the fields.
        elements: The types of their elements.
        output: The position of the field whose sum is differentiated.
        jax: Makes the function of the inputs in JAX, given the module.
    """

    name: str
    kernel: Any
    plain: Any
    inputs: list[np.ndarray]
    elements: list[Any]
    output: int
    jax: Callable[[Any], Callable[..., Any]]


def network_jax(jax: Any) -> Callable[..., Any]:
    """Return the sum of the last state."""

    def step(state: Any, x: Any) -> Any:
        new = jax.numpy.tanh(x + jax.numpy.dot(state[1], state[0]))
        return (new, state[1]), None

    def run(h: Any, w: Any, x: Any) -> Any:
        (last, _), _ = jax.lax.scan(step, (h[0], w), x)
        return last.sum()

    return run


def rope_jax(jax: Any) -> Callable[..., Any]:
    """Return the sum of the coordinates."""
    jnp = jax.numpy

    def link(x: Any, i: Any) -> Any:
        d = x[i + 1] - x[i]
        c = 0.5 * (1 - REST / jnp.linalg.norm(d)) * d
        x = x.at[i].add(jnp.where(i > 0, c, 0.0))
        return x.at[i + 1].add(-c), None

    def sweep(x: Any, _: Any) -> Any:
        return jax.lax.scan(link, x, jnp.arange(LINKS))

    def run(x: Any) -> Any:
        return jax.lax.scan(lambda x, k: (sweep(x, k)[0], None), x, None, length=SWEEPS)[0].sum()

    return run


def systems_jax(jax: Any) -> Callable[..., Any]:
    """Return the sum of the solutions."""
    return lambda a, b: jax.numpy.linalg.solve(a, b[..., None]).sum()


def cases() -> list[Case]:
    """Return the loops with inputs."""
    rng = np.random.default_rng(0)
    h = np.zeros((STEPS + 1, UNITS), np.float32)
    w = (rng.normal(size=(UNITS, UNITS)) / 8).astype(np.float32)
    x = rng.normal(size=(STEPS, UNITS)).astype(np.float32)
    points = np.cumsum(rng.normal(size=(LINKS + 1, 3)), 0).astype(np.float32)
    a = (rng.normal(size=(PARTICLES, SIZE, SIZE)) + 4 * np.eye(SIZE)).astype(np.float32)
    b = rng.normal(size=(PARTICLES, SIZE)).astype(np.float32)
    f, v = ti.f32, ti.math.vec3
    return [
        Case("network", network, network_taichi, [h, w, x], [f, f, f], 0, network_jax),
        Case("rope", rope, rope_taichi, [points], [v], 0, rope_jax),
        Case("systems", systems, systems_taichi, [a, b], [matrix, vector], 1, systems_jax),
    ]


def measure(case: Case, meter: Meter, jax: Any) -> None:
    """Print the lines of one loop."""
    fields = [
        dt.from_numpy(i, None if e is ti.f32 else e, grad=True)
        for i, e in zip(case.inputs, case.elements, strict=True)
    ]
    theirs = [
        ti.ndarray(e, i.shape[: f.ndim])
        for i, e, f in zip(case.inputs, case.elements, fields, strict=True)
    ]
    for array, values in zip(theirs, case.inputs, strict=True):
        array.from_numpy(values)
    out = fields[case.output]
    seed = np.ones_like(case.inputs[case.output])
    if case.name == "network":
        seed[:-1] = 0.0
    peak = 0

    def alone() -> None:
        out.from_numpy(case.inputs[case.output])
        case.kernel(*fields)

    def plain() -> None:
        theirs[case.output].from_numpy(case.inputs[case.output])
        case.plain(*theirs)

    def gradient() -> None:
        nonlocal peak
        out.from_numpy(case.inputs[case.output])
        with dt.Tape() as tape:
            case.kernel(*fields)
        tape.backward({out: seed})
        peak = tape.peak_nbytes

    calls: list[Callable[[], object]] = [alone, plain, gradient]
    beside = "-"
    if jax is not None:
        function = case.jax(jax)
        compiled = jax.jit(function)
        everything = tuple(range(len(fields)))
        derived = jax.jit(jax.value_and_grad(function, argnums=everything))
        given = [jax.numpy.asarray(values) for values in case.inputs]
        gradient()
        value, slopes = derived(*given)
        assert abs(float((out.to_numpy() * seed).sum()) - float(value)) <= 2e-3 * abs(value) + 1e-2
        for field, slope in zip(fields, slopes, strict=True):
            scale = float(abs(np.asarray(slope)).max())
            assert np.allclose(field.grad.to_numpy(), slope, 0, 2e-3 * scale + 1e-6), case.name
        size = derived.lower(*given).compile().memory_analysis().temp_size_in_bytes
        beside = f"{size / 1e6:.2f}"
        calls += [
            lambda: jax.block_until_ready(compiled(*given)),
            lambda: jax.block_until_ready(derived(*given)),
        ]
    times = [1e3 * median(column) for column in meter.measure(*calls)]
    forward, taichi, whole, *peer = times
    print(
        f"{case.name:9}{forward:9.2f}{taichi:9.2f}{forward / taichi:8.2f}{whole:11.2f}"
        f"{whole / taichi:8.2f}{peak / 1e6:9.2f}"
        + (f"{peer[0]:9.2f}{peer[1]:11.2f}{whole / peer[1]:8.2f}{beside:>9}" if peer else "")
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Print a line for each loop; milliseconds, megabytes and ratios."""
    parser = Parser(prog="python -m benchmarks.carried_state", description=__doc__)
    parser.add_argument("--turns", type=positive_int, default=15, help="turns (default: 15)")
    arguments = parser.parse_args(argv)
    dt.init()
    try:
        jax = importlib.import_module("jax")
    except ModuleNotFoundError:
        jax = None
    print(
        f"{'':9}{'alone':>9}{'Taichi':>9}{'ratio':>8}{'+ gradient':>11}{'ratio':>8}{'MB':>9}"
        + (f"{'JAX':>9}{'+ gradient':>11}{'ratio':>8}{'MB':>9}" if jax else "  (without JAX)")
    )
    for case in cases():
        measure(case, Meter(arguments.turns, CLOCKS["wall"]), jax)
    return 0


if __name__ == "__main__":
    sys.exit(main())
