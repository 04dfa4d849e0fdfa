"""A robot of masses, springs and muscles learns to walk.

A muscle is a spring whose rest length a small neural network changes. A run is some thousand
launches that update positions and velocities in place: `with dt.Tape(loss):` records them and
leaves, in the weights of the network, the gradient of how far the robot got.
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import taichi as ti
from tqdm import tqdm

import difftile as dt
from demos.support.options import make_parser, start
from demos.support.pictures import Motion, save_loss_curve, save_walk_animation, save_walk_strip
from scenes.mass_spring import ROBOT_NAMES, MassSpringScene, Network, make_network, make_scene

STEP_SIZE = 0.08  # length of the first step of gradient descent; the last one is almost 0
MOMENTUM = 0.8  # steps in one direction add up, to five times that length
# The gradient says where to go, not how far: through contacts and some thousand steps its norm
# varies by orders of magnitude. A norm above this one, as nearly all are, is scaled down to it.
CLIP_NORM = 0.01
FRAME_EVERY = 20  # simulation steps from one frame of the animation to the next

vec2 = ti.math.vec2

# One step of the simulation: the network thinks, springs and muscles pull, the masses move.


@dt.kernel
def step(
    x,
    v,
    hidden,
    activation,
    free,
    goal,
    clock,
    w1,
    b1,
    w2,
    b2,
    springs,
    material,
    t: int,
    gain: float,
    h: float,
    decay: float,
    fall: float,
    floor: float,
):
    # The hidden units see a clock, all masses relative to their center, and the way to go.
    n, n_clock = x.shape[0], clock.shape[1]
    for i in hidden:
        center = vec2(0.0, 0.0)
        for k in range(n):
            center += x[k] / n
        total = b1[i]
        for j in range(n_clock):
            total += w1[i, j] * clock[t, j]
        for k in range(n):
            j = n_clock + 4 * k
            place, speed = gain * (x[k] - center), gain * v[k]
            total += w1[i, j] * place.x + w1[i, j + 1] * place.y
            total += w1[i, j + 2] * speed.x + w1[i, j + 3] * speed.y
        j = n_clock + 4 * n
        way = goal[None] - center
        total += w1[i, j] * way.x + w1[i, j + 1] * way.y
        hidden[i] = ti.tanh(total)

    # Drag and gravity change the velocities,
    for k in free:
        free[k] = decay * v[k] + vec2(0.0, fall)
    # and so do the springs, whose rest lengths the output units set.
    for s in springs:
        total = b2[s]
        for j in range(hidden.shape[0]):
            total += w2[s, j] * hidden[j]
        activation[s] = ti.tanh(total)
        rest_length, stiffness, actuation = material[s]
        a, b = springs[s]
        d = x[a] - x[b]
        length = d.norm() + 1e-4
        target = rest_length * (1.0 + actuation * ti.tanh(total))
        impulse = h * (length - target) * stiffness / length * d
        free[a] -= impulse
        free[b] += impulse

    # A mass that would fall through the floor moves until it is there, and sticks.
    for k in x:
        height = x[k].y - floor
        until, after = h, free[k]
        if height + h * free[k].y < 0.0 and free[k].y < -1e-4:
            until, after = -height / free[k].y, vec2(0.0, 0.0)
        x[k] += until * free[k]
        v[k] = after


@dt.kernel
def measure(loss, x, head: int):
    """The farther right the head, the better."""
    loss[None] = -x[head].x


class Walker:
    """A robot in fields: its state, which the steps update in place, and its network."""

    def __init__(self, scene: MassSpringScene, network: Network, steps: int, dtype=ti.f32):
        robot, self.scene, self.steps = scene.robot, scene, steps
        phases = 2 * np.pi * np.arange(scene.n_clock) / scene.n_clock
        times = scene.time_step * np.arange(steps)
        clock = np.sin(scene.clock_rate * times[:, None] + phases)

        vector = dt.vec(2, dtype)
        self.x = dt.from_numpy(robot.positions, dtype=vector, grad=True)
        self.v = dt.zeros(self.x.shape, dtype=vector, grad=True)
        self.free = dt.zeros(self.x.shape, dtype=vector, grad=True)  # velocity without the floor
        self.hidden = dt.zeros(scene.n_hidden, dtype=dtype, grad=True)
        self.activation = dt.zeros(len(robot.springs), dtype=dtype)  # kept for the pictures alone
        self.loss = dt.zeros((), dtype=dtype, grad=True)
        self.weights = {
            name: dt.from_numpy(values, dtype=dtype, grad=True)
            for name, values in network.arrays().items()
        }
        self.clock = dt.from_numpy(clock, dtype=dtype)
        self.goal = dt.from_numpy(scene.goal, dtype=vector)
        self.springs = dt.from_numpy(robot.springs, dtype=ti.math.ivec2)
        material = np.stack([robot.rest_length, robot.stiffness, robot.actuation], axis=1)
        self.material = dt.from_numpy(material, dtype=dt.vec(3, dtype))

    def start(self) -> None:
        """Put the robot where it starts, at rest."""
        self.x.from_numpy(self.scene.robot.positions)
        self.v.fill(0.0)

    def step(self, t: int) -> None:
        """Advance by one time step."""
        scene, h = self.scene, self.scene.time_step
        decay, fall = float(np.exp(-scene.drag * h)), h * scene.gravity
        state = self.x, self.v, self.hidden, self.activation, self.free
        robot = self.springs, self.material
        numbers = t, scene.sense_gain, h, decay, fall, scene.floor
        step(*state, self.goal, self.clock, *self.weights.values(), *robot, *numbers)

    def walk(self) -> None:
        """Simulate from the start and measure the loss."""
        self.start()
        for t in range(self.steps):
            self.step(t)
        measure(self.loss, self.x, self.scene.robot.head)

    def read_network(self) -> Network:
        """Copy the weights out."""
        return Network(**{name: w.to_numpy() for name, w in self.weights.items()})

    def write_network(self, network: Network) -> None:
        """Copy weights in."""
        for name, values in network.arrays().items():
            self.weights[name].from_numpy(values)

    def watch(self, label: str) -> Motion:
        """Simulate once more, without a tape, and look at every few steps."""
        scene, positions, activations = self.scene, [], []
        times = [*range(0, self.steps, FRAME_EVERY), self.steps]
        self.start()
        for t in range(self.steps):
            if t % FRAME_EVERY == 0:
                positions.append(self.x.to_numpy())
            self.step(t)
            if t % FRAME_EVERY == 0:
                activations.append(self.activation.to_numpy())
        positions.append(self.x.to_numpy())
        activations.append(self.activation.to_numpy())
        return Motion(
            label=label,
            times=scene.time_step * np.array(times),
            positions=np.array(positions),
            activations=np.array(activations),
            tracked=scene.robot.head,
        )


def train(walker: Walker, iterations: int) -> tuple[list[float], Network]:
    """Follow the gradient; return the losses, and the network that walked farthest.

    Ctrl-C ends the training, not the program: what was learnt until then is shown.
    """
    losses: list[float] = []
    best = walker.read_network()
    rate = dt.optim.schedules.linear(STEP_SIZE / CLIP_NORM, 0.0, iterations)
    optimiser = dt.optim.SGD(
        walker.weights, rate, momentum=MOMENTUM, clip_norm=CLIP_NORM, nonfinite="skip"
    )
    with tqdm(range(iterations + 1), "learning to walk", unit="run") as bar:
        try:
            for _ in bar:
                with dt.Tape(walker.loss):
                    walker.walk()
                losses.append(walker.loss[None])
                bar.set_postfix(loss=f"{losses[-1]:.4f}")
                if losses[-1] == min(losses):
                    best = walker.read_network()
                optimiser.step()
        except KeyboardInterrupt:
            bar.set_description("interrupted")
    return losses, best


def check(walker: Walker, eps: float = 1e-5) -> tuple[float, float]:
    """Return one entry of the gradient by the tape and by central differences, in that order.

    It is the largest entry among the biases of the muscles. `walker` should hold f64.
    """
    with dt.Tape(walker.loss):
        walker.walk()
    bias = walker.weights["b2"]
    gradient, values = bias.grad.to_numpy(), bias.to_numpy()
    entry = int(np.argmax(np.abs(gradient)))
    losses = []
    for sign in (1.0, -1.0):
        bias[entry] = values[entry] + sign * eps
        walker.walk()
        losses.append(walker.loss[None])
    bias[entry] = values[entry]
    return float(gradient[entry]), (losses[0] - losses[1]) / (2 * eps)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("mass-spring", __doc__, steps=1500, iterations=60)
    parser.add_argument("--robot", choices=ROBOT_NAMES, default="C", help="default: %(default)s")
    options = start(parser, argv)

    scene = make_scene(options.robot)
    network = make_network(scene, options.seed)
    if options.check:
        by_tape, by_differences = check(Walker(scene, network, min(options.steps, 200), ti.f64))
        agree = abs(by_tape - by_differences) <= 1e-6 * abs(by_differences)
        print(f"gradient by tape {by_tape:.12g}, by differences {by_differences:.12g}")
        return 0 if agree else 1

    walker = Walker(scene, network, options.steps)
    before = walker.watch("before")
    started = time.perf_counter()
    losses, best = train(walker, options.iterations)
    seconds = time.perf_counter() - started
    if not losses:
        return 130  # interrupted before there was anything to show
    walker.write_network(best)
    after = walker.watch(f"after {len(losses) - 1} iterations")
    print(f"first loss {losses[0]:.4f}, last loss {losses[-1]:.4f}, {seconds:.1f} s")
    print(
        f"the robot walks {after.distance:.2f} m in {after.times[-1]:.1f} s, "
        f"{after.distance / scene.robot.width:.1f} body lengths; "
        f"untrained it got {before.distance:.2f} m"
    )
    if not options.no_pictures:
        draw(options.out, scene, losses, [before, after])
        print(f"pictures in {options.out}")
    return 0


def draw(out: Path, scene: MassSpringScene, losses: list[float], motions: list[Motion]) -> None:
    """Write the pictures."""
    robot = scene.robot
    muscles = robot.actuation > 0
    save_loss_curve(out / "loss.png", losses, "loss: minus x of the head [m]")
    save_walk_strip(out / "before_after.png", motions, robot.springs, muscles, scene.floor)
    save_walk_animation(out / "walk.gif", motions, robot.springs, muscles, scene.floor)


if __name__ == "__main__":
    sys.exit(main())
