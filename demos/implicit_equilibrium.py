"""Find the rest shape that makes a rubber strip hang straight.

A strip that is clamped at one end sags. The demo bends its rest shape until the strip, at rest
under gravity, is straight. The gradient is that of a static equilibrium: computed from only the
equilibrium, by the implicit function theorem (`dt.root`), or through the thousands of iterations
that lead to it, recorded on a tape. The two agree once the iterations have converged; the demo
measures their difference before that, and the time and memory of each.
"""

import sys
import time
from collections.abc import Sequence

import numpy as np
import taichi as ti

import difftile as dt
from demos.support.equilibrium import Measured, save_comparison, save_strips
from demos.support.options import make_parser, start
from demos.support.pictures import save_loss_curve
from difftile.arguments import positive_int
from difftile.progress import progress_bar
from scenes.hanging_strip import HangingStrip, make_strip

LARGEST_TURN = 0.05  # by which an angle of the rest shape changes at once [rad]
COUNTS = 8  # numbers of iterations at which unrolling is measured
TRIES = 3  # of each measurement, of which the fastest counts
AGREEMENT = 1e-6  # of the two gradients, relative to their largest entry
BALANCE = 1e-9  # the force that may be left on a node after iterations that have converged [N]

vec2 = ti.math.vec2

# The rest shape follows from the angles between columns, the forces from rest shape and position.


@dt.kernel
def lay_out(bend, rest, rows: int, spacing: float, width: float):
    """Set the rest shape: columns that are turned against each other, from the clamped one on."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        angle, place = 0.0, vec2(0.0, 0.0)
        for column in range(bend.shape[0] + 1):
            for row in range(rows):
                height = width * (row / (rows - 1.0) - 0.5)
                rest[column * rows + row] = place + height * vec2(-ti.sin(angle), ti.cos(angle))
            if column < bend.shape[0]:
                middle = angle + 0.5 * bend[column]
                place += spacing * vec2(ti.cos(middle), ti.sin(middle))
                angle += bend[column]


@dt.func
def node(x, rest, k):
    """Return where a node is: the first ones are clamped in their rest shape."""
    clamped = rest.shape[0] - x.shape[0]
    place = rest[k]
    if k >= clamped:
        place = x[k - clamped]
    return place


@dt.func
def push(force, rest, k, f):
    clamped = rest.shape[0] - force.shape[0]
    if k >= clamped:
        force[k - clamped] += f


@dt.func
def pull(x, force, rest, corners, stiffness):
    """Add the forces of a triangle of neo-Hookean material on its nodes.

    The energy density is mu/2 (|F|^2 - 2 - 2 ln J) + lambda/2 (ln J)^2, J = det F (Bonet and Wood,
    Nonlinear continuum mechanics for finite element analysis, 2008, section 6.4.3).
    """
    mu, lame, thickness = stiffness
    a, b, c = corners
    at = node(x, rest, a)
    edges = ti.Matrix.cols([node(x, rest, b) - at, node(x, rest, c) - at])
    rest_edges = ti.Matrix.cols([rest[b] - rest[a], rest[c] - rest[a]])
    shape = ti.math.inverse(rest_edges)
    F = edges @ shape
    J = F.determinant()
    back = ti.math.inverse(F).transpose()
    stress = mu * (F - back) + lame * ti.log(J) * back
    volume = 0.5 * thickness * rest_edges.determinant()
    forces = -volume * stress @ shape.transpose()
    fb, fc = vec2(forces[0, 0], forces[1, 0]), vec2(forces[0, 1], forces[1, 1])
    push(force, rest, b, fb)
    push(force, rest, c, fc)
    push(force, rest, a, -fb - fc)


@dt.kernel
def imbalance(x, force, rest, corners, weights, mu: float, lame: float, thickness: float):
    """Set the residual force on each free node, which is zero where the strip is at rest."""
    for i in force:
        force[i] += weights[i]
    for k in corners:
        pull(x, force, rest, corners[k], (mu, lame, thickness))


@dt.kernel
def relax(
    x,
    v,
    force,
    rest,
    corners,
    weights,
    mu: float,
    lame: float,
    thickness: float,
    give: float,
    keep: float,
):
    """Move each node by the force on it, and by a fraction of its previous move."""
    for i in force:
        force[i] = weights[i]
    for k in corners:
        pull(x, force, rest, corners[k], (mu, lame, thickness))
    for i in x:
        v[i] = keep * v[i] + give * force[i]
        x[i] += v[i]


@dt.kernel
def miss(x, target, loss):
    """Add the mean squared distance of the nodes from their targets [m^2]."""
    for i in x:
        away = x[i] - target[i]
        loss[None] += away.dot(away) / x.shape[0]


class Strip:
    """The strip in fields: the parameters of its rest shape, and its position."""

    def __init__(self, scene: HangingStrip):
        self.scene = scene
        vector = dt.vec(2, ti.f64)
        free = scene.straight[scene.rows :]
        self.bend = dt.zeros(scene.columns, ti.f64, grad=True)  # angles between columns [rad]
        self.rest = dt.zeros(len(scene.straight), vector, grad=True)
        self.x = dt.from_numpy(free, dtype=vector, grad=True)
        self.v = dt.zeros(len(free), vector, grad=True)
        self.force = dt.zeros(len(free), vector, grad=True)
        self.loss = dt.zeros((), ti.f64, grad=True)
        self.corners = dt.from_numpy(scene.triangles, dtype=ti.math.ivec3)
        self.weights = dt.from_numpy(scene.weights, dtype=vector)
        self.target = dt.from_numpy(scene.target[scene.rows :], dtype=vector)
        self.material = scene.shear_modulus, scene.lame, scene.thickness
        # The compliance of a node is that of the stiffest motion of the mesh; how much
        # of its motion it keeps suits the slowest one, the first mode of a beam (Polyak, 1964).
        dx, dy = scene.spacing, scene.width / (scene.rows - 1)
        modulus = (scene.lame + 2.0 * scene.shear_modulus) * scene.thickness
        give = 1.1 / (modulus * (dx / dy + dy / dx))
        bending = scene.young * scene.thickness * scene.width**3 / 12.0
        slowest = (1.875 / scene.length) ** 4 * bending * dx / scene.rows
        self.relaxation = give, 1.0 - 4.5 * np.sqrt(slowest * give / 3.0)
        self.lay_out()

    def lay_out(self) -> None:
        """Work out the rest shape."""
        lay_out(self.bend, self.rest, self.scene.rows, self.scene.spacing, self.scene.width)

    def straighten(self) -> None:
        """Hold the strip straight, out of balance."""
        self.x.from_numpy(self.scene.straight[self.scene.rows :])

    def relax(self, steps: int) -> None:
        """Release the strip, and let it come to rest."""
        self.v.fill(0.0)
        fields = self.x, self.v, self.force, self.rest, self.corners, self.weights
        for _ in range(steps):
            relax(*fields, *self.material, *self.relaxation)

    def settle(self) -> None:
        """Find the equilibrium near the current position of the strip.

        On a tape the equilibrium itself is differentiated, not the iterations.
        """
        known = self.rest, self.corners, self.weights, *self.material
        dt.root(imbalance, self.x, args=known)

    def measure(self) -> None:
        """Work out the loss."""
        self.loss.fill(0.0)
        miss(self.x, self.target, self.loss)

    def nodes(self) -> np.ndarray:
        """Return where all nodes are [m], shape (n, 2)."""
        return np.concatenate([self.scene.straight[: self.scene.rows], self.x.to_numpy()])


# Two gradients of one equilibrium


def by_rule(strip: Strip, steps: int) -> Measured:
    """Let the strip come to rest with no tape, and differentiate the equilibrium itself."""
    started = time.perf_counter()
    strip.relax(steps)
    with dt.Tape() as tape:
        strip.lay_out()
        strip.settle()
        strip.measure()
    return finish(strip, tape, "implicit rule", 0, started)


def by_iterations(strip: Strip, steps: int) -> Measured:
    """Record the iterations in which the strip comes to rest, and reverse all of them."""
    started = time.perf_counter()
    with dt.Tape() as tape:
        strip.lay_out()
        strip.relax(steps)
        strip.measure()
    return finish(strip, tape, f"{steps} iterations on the tape", steps, started)


def finish(strip: Strip, tape: dt.Tape, label: str, steps: int, started: float) -> Measured:
    """Run the tape backwards and return the gradient and its cost."""
    turned, nbytes = time.perf_counter(), tape.peak_nbytes
    tape.backward(strip.loss)
    return Measured(
        label=label,
        steps=steps,
        gradient=strip.bend.grad.to_numpy(),
        forward=turned - started,
        backward=time.perf_counter() - turned,
        nbytes=max(nbytes, tape.peak_nbytes),
    )


def compare(strip: Strip, steps: int) -> list[Measured]:
    """Return the gradient of the straight rest shape by the rule, and by ever more iterations."""
    counts = sorted({max(1, steps * part // COUNTS) for part in range(1, COUNTS + 1)})
    runs = [(by_rule, steps), *((by_iterations, count) for count in counts)]
    found = []
    for method, count in progress_bar(runs, desc="measuring both gradients", unit="gradient"):
        tries = []
        for _ in range(TRIES):  # the first one compiles
            strip.straighten()
            tries.append(method(strip, count))
        found.append(min(tries, key=lambda one: one.seconds))
    return found


def check(strip: Strip, steps: int, eps: float = 1e-5) -> tuple[float, float]:
    """Return the largest entry of the gradient by the rule and by differences, in that order."""
    strip.straighten()
    gradient = by_rule(strip, steps).gradient
    entry = int(np.argmax(np.abs(gradient)))
    losses = []
    for sign in (1.0, -1.0):
        strip.bend[entry] = sign * eps
        strip.lay_out()
        strip.settle()
        strip.measure()
        losses.append(strip.loss[None])
    strip.bend[entry] = 0.0
    strip.lay_out()
    return float(gradient[entry]), (losses[0] - losses[1]) / (2 * eps)


# The fit


def fit(strip: Strip, steps: int, iterations: int) -> tuple[list[float], np.ndarray]:
    """Bend the rest shape by the method of Broyden, Fletcher, Goldfarb and Shanno.

    No angle changes by more than `LARGEST_TURN` at once, so that the strip stays near to the
    equilibrium before. Returns the losses and the best angles.
    """
    n = strip.scene.columns
    bend, losses, best = np.zeros(n), [], np.zeros(n)
    inverse, old = np.eye(n), None  # of the Hessian; angles and gradient of the iteration before
    with progress_bar(range(iterations + 1), desc="bending the rest shape", unit="step") as bar:
        try:
            for _ in bar:
                strip.bend.from_numpy(bend)
                strip.lay_out()
                gradient = by_rule(strip, steps).gradient
                losses.append(strip.loss[None])
                bar.set_postfix(away=f"{1e3 * np.sqrt(losses[-1]):.2f} mm")
                if losses[-1] == min(losses):
                    best = bend
                if old is not None:
                    inverse = update(
                        inverse, bend - old[0], gradient - old[1], first=len(losses) == 2
                    )
                old = bend, gradient
                turn = -inverse @ gradient
                bend = bend + turn * min(1.0, LARGEST_TURN / np.max(np.abs(turn)))
        except KeyboardInterrupt:
            bar.set_description("interrupted")
    return losses, best


def update(inverse: np.ndarray, s: np.ndarray, y: np.ndarray, *, first: bool) -> np.ndarray:
    """Return the inverse Hessian that maps the change y of the gradient to the step s."""
    along = s @ y
    if along <= 0.0:
        return inverse
    if first:
        inverse = inverse * along / (y @ y)
    project = np.eye(len(s)) - np.outer(s, y) / along
    return project @ inverse @ project.T + np.outer(s, s) / along


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("implicit-equilibrium", __doc__, steps=6000, iterations=30, memory=False)
    parser.add_argument("--columns", type=positive_int, default=24, help="default: %(default)s")
    options = start(parser, argv)
    strip = Strip(make_strip(options.columns))
    if options.check:
        by_root, by_differences = check(strip, options.steps)
        agree = abs(by_root - by_differences) <= 1e-6 * abs(by_differences)
        print(f"gradient by the rule {by_root:.12g}, by differences {by_differences:.12g}")
        return 0 if agree else 1

    found = compare(strip, options.steps)
    left = float(np.max(np.abs(strip.force.to_numpy())))
    before = strip.nodes()
    losses, best = fit(strip, options.steps, options.iterations)
    if not losses:
        return 130  # interrupted before there was anything to show
    strip.bend.from_numpy(best)
    strip.lay_out()
    strip.relax(options.steps)
    strip.settle()
    first, last = (1e3 * np.sqrt(loss) for loss in (losses[0], min(losses)))
    print(
        f"the strip hung {first:.1f} mm away from the straight line; with a rest shape that turns "
        f"by {np.degrees(best.sum()):.0f} degrees it hangs {last:.2f} mm away"
    )
    print(table(found))
    if not options.no_pictures:
        scene, out = strip.scene, options.out
        shapes = scene.target, before, strip.rest.to_numpy(), strip.nodes()
        save_strips(out / "strip.png", scene.triangles, scene.rows, *shapes)
        away = [1e3 * np.sqrt(loss) for loss in losses]
        save_loss_curve(out / "loss.png", away, "distance from the straight line [mm]", "log")
        save_comparison(out / "gradients.png", found)
        print(f"pictures in {out}")
    apart = found[-1].apart(found[0])
    if left > BALANCE:
        print(f"the iterations have not converged: {left:.1e} N are left; give them more, --steps")
        return 0
    print(
        f"the gradients agree to {apart:.1e}" + (", as they should" if apart <= AGREEMENT else "")
    )
    return 0 if apart <= AGREEMENT else 1


def table(found: Sequence[Measured]) -> str:
    """Return a line for each method, with its cost."""
    lines = [f"{'gradient by':<34} {'difference':>10} {'forward':>9} {'backward':>9} {'tape':>10}"]
    for one in found:
        lines.append(
            f"{one.label:<34} {one.apart(found[0]):>10.1e} {one.forward:>7.3f} s "
            f"{one.backward:>7.3f} s {one.nbytes / 1e3:>7.1f} kB"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
