"""Processor time of a first value and gradient: what a user waits for before the first result.

Each program runs in a process of its own, first with an empty folder of compiled kernels (cold),
then in a second process with the folder that the first one has filled (warm). A time is from the
end of `dt.init` to the gradient, of all threads; the time before that is a row of its own. With
`--beside FOLDER`, another checkout of difftile runs the same programs turn by turn, and the ratios
are printed as well. Figures are medians over the turns.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import difftile as dt
from difftile import ti, worlds
from difftile.arguments import Parser, positive_int
from scenes.mass_spring import Walker, make_network, make_scene
from tests.worlds.conformance import model

START = "start"  # the row of the time before the programs
POINTS, SIZE, GAUSSIANS = 1000, 10, 25
STEPS = 20  # of the mass-spring robot


@dt.kernel
def rotate(x, k, loss):
    for i in x:
        x[i] -= k[None] * ti.sin(x[i])  # in place, a hundred times
        loss[None] += x[i] ** 2


def readme() -> list[Any]:
    """The program of the README."""
    x, k, loss = dt.ones(8, grad=True), dt.full((), 0.05, grad=True), dt.zeros((), grad=True)
    with dt.Tape(loss):
        for _ in range(100):
            rotate(x, k, loss)
    return [loss, k.grad]


@dt.kernel
def mixture(
    x: ti.types.ndarray(),
    alpha: ti.types.ndarray(),
    mu: ti.types.ndarray(),
    icf: ti.types.ndarray(),
    terms: ti.types.ndarray(),
    loss: ti.types.ndarray(),
):
    size = mu.shape[1]
    for n in range(x.shape[0]):
        highest = -1e30
        for k in range(mu.shape[0]):
            squares, logs, at = 0.0, 0.0, size
            for i in range(size):
                logs += icf[k, i]
                row = ti.exp(icf[k, i]) * (x[n, i] - mu[k, i])
                for j in range(i):
                    row += icf[k, at + j] * (x[n, j] - mu[k, j])
                at += i
                squares += row * row
            terms[n, k] = alpha[k] + logs - 0.5 * squares
            highest = ti.max(highest, terms[n, k])
        total = 0.0
        for k in range(mu.shape[0]):
            total += ti.exp(terms[n, k] - highest)
        loss[None] -= highest + ti.log(total)
    for k in range(mu.shape[0]):
        for i in range(icf.shape[1]):
            if i < size:
                loss[None] += 0.5 * ti.exp(2.0 * icf[k, i]) - icf[k, i]
            else:
                loss[None] += 0.5 * icf[k, i] ** 2


def gmm() -> list[Any]:
    """The logarithm of the likelihood of gaussians with triangular factors, as in ADBench."""
    rng, triangle = np.random.default_rng(0), SIZE * (SIZE + 1) // 2
    shapes = (GAUSSIANS,), (GAUSSIANS, SIZE), (GAUSSIANS, triangle)
    fields = [dt.from_numpy(0.3 * rng.standard_normal(shape), grad=True) for shape in shapes]
    x = dt.from_numpy(rng.standard_normal((POINTS, SIZE)))
    terms = dt.zeros((POINTS, GAUSSIANS), dtype=ti.f64, grad=True)
    loss = dt.zeros((), dtype=ti.f64, grad=True)
    with dt.Tape(loss):
        mixture(x, *fields, terms, loss)
    return [loss, *(field.grad for field in fields)]


def mass_spring() -> list[Any]:
    """Twenty steps of the demo of that name."""
    scene = make_scene("C")
    walker = Walker(scene, make_network(scene), STEPS)
    walker.start()
    with dt.Tape(walker.loss):
        for t in range(STEPS):
            walker.step(t)
        walker.miss()
    return [walker.loss, *(weight.grad for weight in walker.parameters.values())]


def similarity() -> list[Any]:
    """The dissimilarity of two pictures."""
    rng = np.random.default_rng(0)
    image, target = rng.uniform(size=(2, 64, 64, 3)).astype(np.float32)
    pixels = dt.from_numpy(image, dtype=dt.vec(3, ti.f32), grad=True)
    loss = dt.zeros((), grad=True)
    with dt.Tape(loss):
        dt.render.dssim(pixels, dt.from_numpy(target, dtype=dt.vec(3, ti.f32)), loss)
    return [loss, pixels.grad]


@dt.kernel
def kinetic(qvel, loss):
    for w, i in qvel:
        loss[None] += qvel[w, i] ** 2


def cartpole() -> list[Any]:
    """One step of four worlds of a cartpole."""
    sim = worlds.Worlds(model("cartpole"), 4)
    start = sim.start()
    ctrl = dt.full((4, 1), 0.1, grad=True)
    loss = dt.zeros((), grad=True)
    with dt.Tape(loss):
        kinetic(sim.step(start, ctrl).qvel, loss)
    return [loss, ctrl.grad]


PROGRAMS: dict[str, Callable[[], list[Any]]] = {
    "readme": readme,
    "gmm": gmm,
    "mass_spring": mass_spring,
    "dssim": similarity,
    "cartpole": cartpole,
}


def measured(name: str) -> dict[str, Any]:
    """Run a program; return the seconds before it and of it, and its results."""
    dt.init(arch="cpu")
    started = time.process_time()
    results = [field.to_numpy() for field in PROGRAMS[name]()]
    seconds = time.process_time() - started
    return {"start": started, "seconds": seconds, "sums": [float(np.sum(r)) for r in results]}


def apart(checkout: Path, name: str, cache: str) -> dict[str, Any]:
    """Measure a program in a process of its own, with a folder of compiled kernels."""
    environment = {**os.environ, "XDG_CACHE_HOME": cache, "PYTHONPATH": str(checkout)}
    command = [sys.executable, __file__, "--inside", name]
    done = subprocess.run(
        command, cwd=checkout, env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def measure(
    checkouts: Sequence[Path], names: Sequence[str], turns: int
) -> dict[tuple[str, str, int], float]:
    """Return medians of seconds, by program, "cold" or "warm", and the number of the checkout."""
    seconds: dict[tuple[str, str, int], list[float]] = defaultdict(list)
    for _ in range(turns):
        for name in names:
            for which, checkout in enumerate(checkouts):
                with tempfile.TemporaryDirectory() as cache:
                    runs = {state: apart(checkout, name, cache) for state in ("cold", "warm")}
                np.testing.assert_allclose(runs["warm"]["sums"], runs["cold"]["sums"], rtol=1e-5)
                for state, run in runs.items():
                    seconds[name, state, which].append(run["seconds"])
                    seconds[START, state, which].append(run["start"])
    return {key: median(values) for key, values in seconds.items()}


def report(found: dict[tuple[str, str, int], float], names: Sequence[str], several: bool) -> str:
    """Return the table."""
    head = f"{'':14}{'cold [s]':>10}{'warm [s]':>10}"
    if several:
        head += f"{'beside: cold':>16}{'warm':>10}{'ratio: cold':>14}{'warm':>8}"
    lines = [head]
    for name in (START, *names):
        cold, warm = found[name, "cold", 0], found[name, "warm", 0]
        line = f"{name:14}{cold:10.2f}{warm:10.2f}"
        if several:
            other, kept = found[name, "cold", 1], found[name, "warm", 1]
            line += f"{other:16.2f}{kept:10.2f}{cold / other:14.2f}{warm / kept:8.2f}"
        lines.append(line)
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code, which does not depend on the figures."""
    parser = Parser("python -m benchmarks.first_gradient", __doc__)
    parser.add_argument("--only", nargs="+", choices=PROGRAMS, default=list(PROGRAMS))
    parser.add_argument("--turns", type=positive_int, default=3, help="default: %(default)s")
    parser.add_argument("--beside", type=Path, metavar="FOLDER", help="another checkout")
    parser.add_argument("--inside", choices=PROGRAMS, metavar="NAME", help="for its own processes")
    options = parser.parse_args(argv)
    if options.inside:
        print(json.dumps(measured(options.inside)))
        return 0
    checkouts = [Path(__file__).parents[1]]
    if options.beside:
        checkouts.append(options.beside.resolve())
    found = measure(checkouts, options.only, options.turns)
    print(report(found, options.only, len(checkouts) > 1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
