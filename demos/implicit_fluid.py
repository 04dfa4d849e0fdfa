"""Smoke gets behind a wall: optimise the initial velocity of the air in a closed box.

Air is incompressible, so each step solves a linear system for the pressure. Here conjugate
gradients solve it to a tolerance, with a matrix that exists only as a kernel. The tape sees one
step, and `dt.linear_solve` differentiates the solution instead of the iterations: the adjoint is
another system with the same matrix. For comparison the demo also records Jacobi iterations.
"""

import sys
import time
from collections.abc import Sequence

import numpy as np
import taichi as ti

import difftile as dt
from demos.support.fluids import (
    Flow,
    Measured,
    save_comparison,
    save_flow_animation,
    save_flow_strip,
)
from demos.support.options import make_parser, start
from demos.support.pictures import save_loss_curve
from demos.support.training import check, print_check, train, write
from difftile.arguments import positive_int
from difftile.progress import progress_bar
from scenes.implicit_fluid import Box, make_box

vec2 = ti.math.vec2
LEARNING_RATE = 0.05  # [cells/step], of Adam
JACOBI = 10, 40, 160, 640  # iterations for a pressure that are compared
FRAMES = 37


@dt.func
def bilinear(f, at):
    """Interpolate a field between its elements; it is constant beyond the outermost ones."""
    last = ti.Vector([f.shape[0], f.shape[1]]) - 2
    corner = ti.math.clamp(ti.cast(ti.floor(at), ti.i32), 0, last)
    i, j = corner
    r = ti.math.clamp(at - corner, 0.0, 1.0)
    low = ti.math.mix(f[i, j], f[i, j + 1], r.y)
    return ti.math.mix(low, ti.math.mix(f[i + 1, j], f[i + 1, j + 1], r.y), r.x)


@dt.data_oriented
class Fluid:
    """Air and smoke in a box, updated in place.

    Args:
        box: Where they are.
        relaxations: Of Jacobi, for each pressure; with None conjugate gradients solve for it.
        tolerance: What they leave of the inflow of all cells, relative to it.
        dtype: Of all fields.
    """

    def __init__(
        self, box: Box, relaxations: int | None = None, tolerance: float = 1e-6, dtype=ti.f64
    ):
        n = self.n = box.n
        self.box, self.steps, self.softness = box, box.steps, box.softness
        self.relaxations, self.tolerance = relaxations, tolerance
        sides, cells = ((n + 1, n), (n, n + 1)), (n, n)
        self.u0, self.u, self.u_next = (dt.zeros(sides[0], dtype, grad=True) for _ in range(3))
        self.v0, self.v, self.v_next = (dt.zeros(sides[1], dtype, grad=True) for _ in range(3))
        self.p, self.q, self.inflow = (dt.zeros(cells, dtype, grad=True) for _ in range(3))
        self.smoke, self.carried = (dt.zeros(cells, dtype, grad=True) for _ in range(2))
        self.open_u, self.open_v = (dt.from_numpy(a, dtype=dtype) for a in box.open_sides)
        self.goal = dt.from_numpy(np.array([box.goal]), dtype=dt.vec(2, dtype))
        self.moments = dt.zeros(2, dtype, grad=True)
        self.loss = dt.zeros((), dtype, grad=True)
        self.parameters = {"u0": self.u0, "v0": self.v0}

    @dt.func
    def before(self, at):
        """Return the position one step earlier of the air that is now at a place."""
        return at - vec2(bilinear(self.u, at - vec2(0, 0.5)), bilinear(self.v, at - vec2(0.5, 0)))

    @dt.kernel
    def advect(self):
        for i, j in self.u:
            self.u_next[i, j] = bilinear(self.u, self.before(vec2(i, j + 0.5)) - vec2(0, 0.5))
        for i, j in self.v:
            self.v_next[i, j] = bilinear(self.v, self.before(vec2(i + 0.5, j)) - vec2(0.5, 0))

    @dt.kernel
    def carry(self):
        for i, j in self.smoke:
            self.carried[i, j] = bilinear(self.smoke, self.before(vec2(i, j) + 0.5) - 0.5)

    @dt.kernel
    def close(self, u, v):
        """Stop the air at walls, and sum the inflow of each cell."""
        for i, j in u:
            self.u[i, j] = self.open_u[i, j] * u[i, j]
        for i, j in v:
            self.v[i, j] = self.open_v[i, j] * v[i, j]
        for i, j in self.inflow:
            across = self.u[i, j] - self.u[i + 1, j]
            self.inflow[i, j] = across + self.v[i, j] - self.v[i, j + 1]

    @dt.func
    def outflow(self, p, i, j):
        """Return the outflow of a cell caused by the pressure."""
        total = self.softness * p[i, j]
        if i > 0:
            total += self.open_u[i, j] * (p[i, j] - p[i - 1, j])
        if i < self.n - 1:
            total += self.open_u[i + 1, j] * (p[i, j] - p[i + 1, j])
        if j > 0:
            total += self.open_v[i, j] * (p[i, j] - p[i, j - 1])
        if j < self.n - 1:
            total += self.open_v[i, j + 1] * (p[i, j] - p[i, j + 1])
        return total

    @dt.kernel
    def apply(self, p, out):
        """Multiply by the matrix of the system: outflow equals inflow."""
        for i, j in p:
            out[i, j] = self.outflow(p, i, j)

    @dt.kernel
    def relax(self, p, q):
        for i, j in p:
            q[i, j] = p[i, j] + 0.25 * (self.inflow[i, j] - self.outflow(p, i, j))

    @dt.kernel
    def accelerate(self):
        for i, j in ti.ndrange((1, self.n), self.n):
            self.u[i, j] += self.open_u[i, j] * (self.p[i - 1, j] - self.p[i, j])
        for i, j in ti.ndrange(self.n, (1, self.n)):
            self.v[i, j] += self.open_v[i, j] * (self.p[i, j - 1] - self.p[i, j])

    @dt.kernel
    def measure(self):
        """The mean square of the distance from the goal, over the smoke."""
        for k in range(2):
            self.moments[k] = 0.0
        for i, j in self.smoke:
            away = vec2(i, j) + 0.5 - self.goal[0]
            self.moments[0] += self.smoke[i, j] * away.norm_sqr()
            self.moments[1] += self.smoke[i, j]
        self.loss[None] = self.moments[0] / self.moments[1]

    def project(self, u, v) -> None:
        """Take these velocities, less the gradient of a pressure that keeps the air together."""
        self.close(u, v)
        if self.relaxations is None:
            accuracy = {"tol": self.tolerance, "adjoint_tol": self.tolerance}
            dt.linear_solve(self.apply, self.inflow, self.p, **accuracy)
        for _ in range(self.relaxations or 0):
            self.relax(self.p, self.q)
            self.p, self.q = self.q, self.p
        self.accelerate()

    def start(self) -> None:
        """Put the smoke in its initial place, and stir the air."""
        self.smoke.from_numpy(self.box.smoke)
        self.p.fill(0.0)
        self.project(self.u0, self.v0)

    def step(self) -> None:
        """Advance by one time step."""
        self.advect()
        self.project(self.u_next, self.v_next)
        self.carry()
        self.smoke, self.carried = self.carried, self.smoke

    def run(self) -> None:
        """Simulate from the start and measure the loss."""
        self.start()
        for _ in range(self.steps):
            self.step()
        self.measure()


def watch(fluid: Fluid, label: str) -> Flow:
    """Simulate once more, and keep the states of some steps."""
    times = np.unique(np.linspace(0, fluid.steps, FRAMES).round().astype(int))
    smoke, velocity = [], []
    fluid.start()
    for t in range(fluid.steps + 1):
        if t > 0:
            fluid.step()
        if t in times:
            u, v = fluid.u.to_numpy(), fluid.v.to_numpy()
            smoke.append(fluid.smoke.to_numpy())
            velocity.append(0.5 * np.stack([u[1:] + u[:-1], v[:, 1:] + v[:, :-1]], axis=-1))
    return Flow(label, times, np.array(smoke), np.array(velocity))


def share_at_goal(fluid: Fluid) -> float:
    """Return the fraction of the smoke that is now in the circle around the goal."""
    smoke = fluid.smoke.to_numpy()
    return float(smoke[fluid.box.near_goal].sum() / smoke.sum())


def divergence(fluid: Fluid) -> float:
    """Return the largest net outflow of a cell [1/step]."""
    u, v = fluid.u.to_numpy(), fluid.v.to_numpy()
    return float(np.abs(u[1:] - u[:-1] + v[:, 1:] - v[:, :-1]).max())


def measure(fluid: Fluid) -> Measured:
    """Return the gradient by a tape, and its cost once everything is compiled."""
    forward, backward = [], []
    for _ in range(3):
        started = time.perf_counter()
        with dt.Tape() as tape:
            fluid.run()
        turned, nbytes = time.perf_counter(), tape.peak_nbytes
        tape.backward(fluid.loss)
        forward.append(turned - started)
        backward.append(time.perf_counter() - turned)
    iterates = (fluid.relaxations or 0) * (fluid.steps + 1) * fluid.p.to_numpy().nbytes
    return Measured(
        relaxations=fluid.relaxations,
        gradient=np.concatenate([p.grad.to_numpy().ravel() for p in fluid.parameters.values()]),
        divergence=divergence(fluid),
        forward=min(forward),
        backward=min(backward),
        nbytes=max(nbytes, tape.peak_nbytes),
        axis=iterates,
    )


def compare(box: Box, parameters: dict[str, np.ndarray]) -> list[Measured]:
    """Return gradients with pressures by conjugate gradients, and by ever more of Jacobi."""
    found = []
    for relaxations in progress_bar((None, *JACOBI), desc="comparing", unit="gradient"):
        fluid = Fluid(box, relaxations)
        write(fluid, parameters)
        found.append(measure(fluid))
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("implicit-fluid", __doc__, steps=36, iterations=60)
    parser.add_argument(
        "--size", type=positive_int, default=40, help="cells along an axis; default: %(default)s"
    )
    options = start(parser, argv)
    box = make_box(max(options.size, 8), options.steps)
    exact = Fluid(box, tolerance=1e-12)
    if options.check:
        stir(exact, options.seed)
        return print_check(exact, "u0")

    fluid = Fluid(box)
    adam = dt.optim.Adam(fluid.parameters, LEARNING_RATE)
    before = watch(fluid, "before")
    training = train(fluid, adam, options.iterations, "stirring air", memory=options.memory)
    if not training.losses:
        return 130  # interrupted before there was anything to show
    print(training)
    away = np.sqrt(training.losses)
    after = watch(fluid, "after")
    print(
        f"in {fluid.steps} steps {share_at_goal(fluid):.0%} of the smoke reaches the circle "
        f"behind the wall; all of it is {min(away):.1f} cells from its "
        f"middle (root mean square), {away[0]:.1f} without stirring"
    )
    write(exact, training.best)
    by_tape, by_differences = check(exact, "u0")
    print(f"gradient by tape {by_tape:.12g}, by differences {by_differences:.12g}")
    found = compare(box, {name: 0.5 * values for name, values in training.best.items()})
    print("with half as much stirring:")
    print(table(found))
    if not options.no_pictures:
        out, last = options.out, len(after.times) - 1
        picks = [round(part * last) for part in (0.0, 0.25, 0.5, 0.75, 1.0)]
        save_loss_curve(out / "loss.png", list(away), "smoke from its goal, rms [cells]")
        save_flow_strip(out / "before_after.png", box, [(before, [last]), (after, picks)])
        save_flow_animation(out / "smoke.gif", box, after)
        save_comparison(out / "gradients.png", found)
        print(f"pictures in {out}")
    return 0 if abs(by_tape - by_differences) <= 1e-6 * abs(by_differences) else 1


def stir(fluid: Fluid, seed: int) -> None:
    """Set the air in motion by velocities that are drawn."""
    rng = np.random.default_rng(seed)
    write(fluid, {k: rng.standard_normal(p.shape) for k, p in fluid.parameters.items()})


def table(found: Sequence[Measured]) -> str:
    """Return a line for each method, with its cost."""
    lines = [
        f"{'pressure by':<20} {'divergence':>10} {'gradient off':>12} {'forward':>8} "
        f"{'backward':>8} {'tape':>9} {'iterates':>9}"
    ]
    for one in found:
        lines.append(
            f"{one.label:<20} {one.divergence:>10.1e} {one.apart(found[0]):>12.1e} "
            f"{one.forward:>6.2f} s {one.backward:>6.2f} s {one.nbytes / 1e6:>6.2f} MB "
            f"{one.axis / 1e6:>6.1f} MB"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
