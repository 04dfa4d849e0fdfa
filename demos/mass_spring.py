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
from demos.pictures import Motion, save_loss_curve, save_walk_animation, save_walk_strip
from difftile.arguments import Parser, positive_int
from scenes.mass_spring import ROBOT_NAMES, MassSpringScene, Network, make_network, make_scene

STEP_SIZE = 0.3  # length of the first step of gradient descent; the last one is almost 0
FRAME_EVERY = 20  # simulation steps from one frame of the animation to the next

vec2 = ti.math.vec2

# One step of the simulation: the network thinks, springs and muscles pull, the masses move.


@dt.kernel
def think(hidden, x, v, goal, clock, w1, b1, gain: float, t: int):
    """The hidden units see a clock, all masses relative to their center, and the way to go."""
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


@dt.kernel
def pull(
    v, activation, x, hidden, w2, b2, springs, rest_length, stiffness, actuation,
    h: float, decay: float, fall: float,
):  # fmt: skip
    """Drag, gravity, and the impulses of the springs, whose lengths the output units set."""
    for k in v:
        v[k] = decay * v[k] + vec2(0.0, fall)
    for s in springs:
        total = b2[s]
        for j in range(hidden.shape[0]):
            total += w2[s, j] * hidden[j]
        activation[s] = ti.tanh(total)
        a, b = springs[s].x, springs[s].y
        d = x[a] - x[b]
        length = d.norm() + 1e-4
        target = rest_length[s] * (1.0 + actuation[s] * ti.tanh(total))
        impulse = h * (length - target) * stiffness[s] / length * d
        v[a] -= impulse
        v[b] += impulse


@dt.kernel
def move(x, v, floor: float, h: float):
    """A mass that would fall through the floor moves until it is there, and sticks."""
    for k in x:
        free = v[k]
        height = x[k].y - floor
        until, after = h, free
        if height + h * free.y < 0.0 and free.y < -1e-4:
            until, after = -height / free.y, vec2(0.0, 0.0)
        x[k] += until * free
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
        self.constants = [
            dt.from_numpy(values, dtype=dtype)
            for values in (robot.rest_length, robot.stiffness, robot.actuation)
        ]

    def start(self) -> None:
        """Put the robot where it starts, at rest."""
        self.x.from_numpy(self.scene.robot.positions)
        self.v.fill(0.0)

    def step(self, t: int) -> None:
        """Advance by one time step."""
        scene, x, v = self.scene, self.x, self.v
        w1, b1, w2, b2 = self.weights.values()
        h = scene.time_step
        decay = float(np.exp(-scene.drag * h))
        think(self.hidden, x, v, self.goal, self.clock, w1, b1, scene.sense_gain, t)
        pull(
            *(v, self.activation, x, self.hidden, w2, b2, self.springs, *self.constants),
            *(h, decay, h * scene.gravity),
        )
        move(x, v, scene.floor, h)

    def walk(self) -> None:
        """Simulate from the start and measure the loss."""
        self.start()
        for t in range(self.steps):
            self.step(t)
        measure(self.loss, self.x, self.scene.robot.head)

    def descend(self, length: float) -> None:
        """Move all weights together by `length` against their gradient.

        The gradient says where to go, not how far: through contacts and some thousand steps its
        norm varies by orders of magnitude.
        """
        gradients = {name: w.grad.to_numpy() for name, w in self.weights.items()}
        norm = np.sqrt(sum(np.sum(np.square(g, dtype=float)) for g in gradients.values()))
        for name, w in self.weights.items():
            w.from_numpy(w.to_numpy() - length / (norm + 1e-6) * gradients[name])

    def watch(self, label: str) -> Motion:
        """Simulate once more, without a tape, and note positions and activations."""
        self.start()
        positions, activations, times = [], [], []
        for t in range(self.steps):
            here = self.x.to_numpy() if t % FRAME_EVERY == 0 else None
            self.step(t)
            if here is not None:
                positions.append(here)
                activations.append(self.activation.to_numpy())
                times.append(t * self.scene.time_step)
        positions.append(self.x.to_numpy())
        activations.append(activations[-1])
        times.append(self.steps * self.scene.time_step)
        return Motion(
            label, np.array(times), np.array(positions), np.array(activations),
            tracked=self.scene.robot.head,
        )  # fmt: skip


def train(walker: Walker, iterations: int) -> tuple[list[float], Network]:
    """Follow the gradient; return all losses and the best network met.

    Ctrl-C ends the training, not the program: what was learnt until then is shown.
    """
    losses: list[float] = []
    best = {name: w.to_numpy() for name, w in walker.weights.items()}
    bar = tqdm(range(iterations), desc="learning to walk", unit="iteration")
    try:
        for iteration in bar:
            with dt.Tape(walker.loss):
                walker.walk()
            losses.append(walker.loss[None])
            bar.set_postfix(loss=f"{losses[-1]:.4f}")
            if losses[-1] <= min(losses):
                best = {name: w.to_numpy() for name, w in walker.weights.items()}
            walker.descend(STEP_SIZE * (1.0 - iteration / iterations))
        walker.walk()
        losses.append(walker.loss[None])
        if losses[-1] <= min(losses):
            best = {name: w.to_numpy() for name, w in walker.weights.items()}
    except KeyboardInterrupt:
        pass
    bar.close()
    return losses, Network(**best)
