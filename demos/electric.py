"""A network learns to lead a charge along a path, by the strengths of eight others.

One launch advances many charges in place, each along its own path: positions and velocities have no
time axis. `with dt.Tape(loss):` computes the gradient of the distances between charges and goals
with respect to the weights of the network.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import taichi as ti

import difftile as dt
from demos.support.charges import Chase, save_chase_animation, save_chase_strip
from demos.support.options import make_parser, start
from demos.support.pictures import save_loss_curve
from demos.support.training import print_check, train, write
from difftile.arguments import positive_int
from scenes.electric import ElectricScene, Network, make_network, make_ways

N_SHOWN = 4  # unseen paths, for the pictures
FRAME_EVERY = 8  # simulation steps from one frame of the animation to the next
LEARNING_RATE = 0.03  # of Adam; it falls to 0

vec2 = ti.math.vec2


@dt.data_oriented
class Electric:
    """Charges that follow their goals, and the network that leads them.

    The network reads the slot of positions and velocities that is about to be written. There is
    only one slot, so the network sees the current state. The program of the paper, and `original`,
    have a slot for every step: there the network sees values left by the previous run.

    Args:
        scene: The charges.
        network: The initial weights.
        ways: Way-points [m], shape (way-points, ways, 2).
        steps: States of a run, the initial one included.
        original: Whether the network reads stale values, as in the paper's program.
        dtype: The type of all numbers.
    """

    def __init__(
        self,
        scene: ElectricScene,
        network: Network,
        ways: np.ndarray,
        steps: int,
        original: bool = False,
        dtype=ti.f32,
    ):
        self.scene, self.steps = scene, steps
        self.decay = float(np.exp(-scene.drag * scene.time_step))
        n, vector = ways.shape[1], dt.vec(2, dtype)
        self.x = dt.zeros((steps if original else 1, n), dtype=vector, grad=True)
        self.v = dt.zeros(self.x.shape, dtype=vector, grad=True)
        self.hidden = dt.zeros((n, scene.n_hidden), dtype=dtype, grad=True)
        self.charge = dt.zeros((n, len(scene.charges)), dtype=dtype, grad=True)
        self.loss = dt.zeros((), dtype=dtype, grad=True)
        self.place = dt.from_numpy(scene.charges, dtype=vector)
        self.ways = dt.from_numpy(ways, dtype=vector)
        self.parameters = {
            name: dt.from_numpy(values, dtype=dtype, grad=True)
            for name, values in network.arrays().items()
        }
        self.w1, self.b1, self.w2, self.b2 = self.parameters.values()

    @dt.func
    def goal(self, w, t):
        """Position and velocity of the goal of a way, the latter in lengths of a segment."""
        k = t // self.scene.segment
        way = self.ways[k + 1, w] - self.ways[k, w]
        return self.ways[k, w] + (t / self.scene.segment - k) * way, way

    @dt.kernel
    def move(self, t: int, before: int, after: int):
        for w, i in self.hidden:
            place, way = self.goal(w, t)
            x, v = self.x[after, w], self.v[after, w]
            total = self.b1[i]
            for j in ti.static(range(2)):
                total += self.w1[j, i] * (x[j] - 0.5) + self.w1[2 + j, i] * v[j]
                total += self.w1[4 + j, i] * (place[j] - 0.5) + self.w1[6 + j, i] * (way[j] - 0.5)
            self.hidden[w, i] = ti.tanh(total)
        for w, k in self.charge:
            total = self.b2[k]
            for i in range(self.scene.n_hidden):
                total += self.w2[i, k] * self.hidden[w, i]
            self.charge[w, k] = ti.tanh(total)
        for w in range(self.x.shape[1]):
            x, force = self.x[before, w], vec2(0.0, 0.0)
            for k in range(self.place.shape[0]):
                r = x - self.place[k]
                force += self.charge[w, k] * r / ti.max(r.norm(), self.scene.radius) ** 3
            h = self.scene.time_step
            v = self.decay * self.v[before, w] + h * self.scene.strength * force
            self.x[after, w], self.v[after, w] = x + h * v, v
            far = x + h * v - self.goal(w, t)[0]
            self.loss[None] += h * far.norm_sqr() / self.x.shape[1]

    @dt.kernel
    def start(self):
        self.loss[None] = 0.0
        for w in range(self.x.shape[1]):
            self.x[0, w], self.v[0, w] = self.ways[0, w], vec2(0.0, 0.0)

    def step(self, t: int) -> None:
        """Advance to step t, and add to the loss."""
        slots = self.x.shape[0]
        self.move(t, (t - 1) % slots, t % slots)

    def run(self) -> None:
        """Simulate from the first way-points, at rest, and measure the loss."""
        self.start()
        for t in dt.steps(1, self.steps):
            self.step(t)


def watch(electric: Electric, weights: dict[str, np.ndarray], label: str) -> Chase:
    """Simulate with these weights and without a tape, and keep the state of every few steps."""
    write(electric, weights)
    scene, ways = electric.scene, electric.ways.to_numpy()
    times = np.arange(1, electric.steps, FRAME_EVERY)
    positions, strengths = [], []
    electric.start()
    for t in range(1, electric.steps):
        electric.step(t)
        if t in times:
            positions.append(electric.x.to_numpy()[t % electric.x.shape[0]])
            strengths.append(electric.charge.to_numpy())
    segment, part = np.divmod(times, scene.segment)
    share = (part / scene.segment)[:, None, None]
    return Chase(
        label=label,
        times=scene.time_step * times,
        positions=np.array(positions),
        goals=(1.0 - share) * ways[segment] + share * ways[segment + 1],
        strengths=np.array(strengths),
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("electric", __doc__, steps=512, iterations=200)
    say = "number of paths to learn from; default: %(default)s"
    parser.add_argument("--ways", type=positive_int, default=16, help=say)
    say = "let the network read values of the previous run, as the paper's program does"
    parser.add_argument("--original", action="store_true", help=say)
    options = start(parser, argv)
    if options.check and options.original:
        parser.error("argument --check: with --original a run depends on the one before it")

    scene, steps, original = ElectricScene(), options.steps, options.original
    network = make_network(scene, options.seed)
    ways = make_ways(scene, options.ways, steps, options.seed)
    if options.check:
        return print_check(Electric(scene, network, ways, min(steps, 128), dtype=ti.f64), "b2")

    electric = Electric(scene, network, ways, steps, original)
    rate = dt.optim.schedules.cosine(LEARNING_RATE, options.iterations, 0.0)
    optimiser = dt.optim.Adam(electric.parameters, rate)
    label = "learning to lead"
    training = train(electric, optimiser, options.iterations, label, memory=options.memory)
    if not training.losses:
        return 130  # interrupted before there was anything to show

    unseen = make_ways(scene, N_SHOWN, steps, options.seed + 1)
    shown = Electric(scene, network, unseen, steps, original)
    chases = [watch(shown, training.first, "before"), watch(shown, training.best, "after")]
    before, after = (float(np.mean(chase.distance)) for chase in chases)
    print(training)
    print(
        f"along {N_SHOWN} unseen paths the network keeps the charge "
        f"{100 * after:.1f} cm from its goal; untrained, {100 * before:.1f} cm"
    )
    if not options.no_pictures:
        draw(options.out, scene, training.losses, chases)
        print(f"pictures in {options.out}")
    return 0


def draw(out: Path, scene: ElectricScene, losses: list[float], chases: list[Chase]) -> None:
    """Write the pictures."""
    label = "loss: square distance × time [m² s]"
    save_loss_curve(out / "loss.png", losses, label, "log")
    save_chase_strip(out / "before_after.png", chases, scene.charges)
    save_chase_animation(out / "chase.gif", chases, scene.charges)


if __name__ == "__main__":
    sys.exit(main())
