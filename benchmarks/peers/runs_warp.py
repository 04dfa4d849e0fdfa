"""Runs in Warp, whose autodiff requires a time axis: launched one by one, and as captured graphs.

To import the module is to import Warp. On the CPU Warp runs one thread, and replays what was
captured without Python.
"""

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.peers.runs import Clock, Pendula, Ripples, Times
from scenes.mass_spring import MassSpringScene, Network

wp: Any = importlib.import_module("warp")
wp.config.quiet = True  # of older versions
wp.config.log_level = 30  # warnings


@wp.kernel
def square_sum(x: wp.array2d(dtype=float), t: int, loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, x[t, i] * x[t, i])


@wp.kernel
def lift(first: wp.array(dtype=float), angle: wp.array2d(dtype=float)):
    i = wp.tid()
    angle[0, i] = first[i]


@wp.kernel
def swing(
    angle: wp.array2d(dtype=float), speed: wp.array2d(dtype=float), h: float, rate: float, t: int
):
    i = wp.tid()
    v = speed[t, i] - h * rate * wp.sin(angle[t, i])
    speed[t + 1, i] = v
    angle[t + 1, i] = angle[t, i] + h * v


@wp.kernel
def raise_(first: wp.array2d(dtype=float), u: wp.array3d(dtype=float)):
    a, b = wp.tid()
    i, j = a + 1, b + 1
    u[0, i, j] = first[i, j]
    u[1, i, j] = first[i, j]


@wp.kernel
def ripple(u: wp.array3d(dtype=float), courant: float, t: int):
    a, b = wp.tid()
    i, j = a + 1, b + 1
    around = u[t, i - 1, j] + u[t, i + 1, j] + u[t, i, j - 1] + u[t, i, j + 1]
    change = courant * (around - 4.0 * u[t, i, j])
    u[t + 1, i, j] = 2.0 * u[t, i, j] - u[t - 1, i, j] + change


@wp.kernel
def square_sum_of_grid(u: wp.array3d(dtype=float), t: int, loss: wp.array(dtype=float)):
    i, j = wp.tid()
    wp.atomic_add(loss, 0, u[t, i, j] * u[t, i, j])


@wp.kernel
def find_center(x: wp.array2d(dtype=wp.vec2), t: int, center: wp.array(dtype=wp.vec2)):
    k = wp.tid()
    wp.atomic_add(center, t, x[t, k] / float(x.shape[1]))


@wp.kernel
def sense(
    x: wp.array2d(dtype=wp.vec2),
    v: wp.array2d(dtype=wp.vec2),
    center: wp.array(dtype=wp.vec2),
    clock: wp.array2d(dtype=float),
    goal: wp.vec2,
    gain: float,
    t: int,
    senses: wp.array2d(dtype=float),
):
    k = wp.tid()
    n = clock.shape[1]
    if k < x.shape[1]:
        place = gain * (x[t, k] - center[t])
        speed = gain * v[t, k]
        senses[t, n + 4 * k] = place[0]
        senses[t, n + 4 * k + 1] = place[1]
        senses[t, n + 4 * k + 2] = speed[0]
        senses[t, n + 4 * k + 3] = speed[1]
    else:
        way = goal - center[t]
        senses[t, n + 4 * k] = way[0]
        senses[t, n + 4 * k + 1] = way[1]
        for j in range(n):
            senses[t, j] = clock[t, j]


@wp.func
def row_times(w: wp.array2d(dtype=wp.vec4), i: int, x: wp.array2d(dtype=wp.vec4), t: int):
    """A sum of its own: the adjoint of a kernel leaves loops out before what follows them."""
    sums = wp.vec4()
    for j in range(x.shape[1]):
        sums += wp.cw_mul(w[i, j], x[t, j])
    return sums[0] + sums[1] + sums[2] + sums[3]


@wp.kernel
def think(
    senses: wp.array2d(dtype=wp.vec4),
    w1: wp.array2d(dtype=wp.vec4),
    b1: wp.array(dtype=float),
    t: int,
    hidden: wp.array2d(dtype=float),
):
    i = wp.tid()
    hidden[t, i] = wp.tanh(b1[i] + row_times(w1, i, senses, t))


@wp.kernel
def pull(
    x: wp.array2d(dtype=wp.vec2),
    hidden: wp.array2d(dtype=wp.vec4),
    w2: wp.array2d(dtype=wp.vec4),
    b2: wp.array(dtype=float),
    springs: wp.array(dtype=wp.vec2i),
    material: wp.array(dtype=wp.vec3),
    h: float,
    t: int,
    push: wp.array2d(dtype=wp.vec2),
):
    s = wp.tid()
    activation = wp.tanh(b2[s] + row_times(w2, s, hidden, t))
    a = springs[s][0]
    b = springs[s][1]
    d = x[t, a] - x[t, b]
    length = wp.length(d) + 1.0e-4
    target = material[s][0] * (1.0 + material[s][2] * activation)
    impulse = h * (length - target) * material[s][1] / length * d
    wp.atomic_sub(push, t, a, impulse)
    wp.atomic_add(push, t, b, impulse)


@wp.kernel
def move(
    x: wp.array2d(dtype=wp.vec2),
    v: wp.array2d(dtype=wp.vec2),
    push: wp.array2d(dtype=wp.vec2),
    decay: float,
    fall: wp.vec2,
    floor: float,
    h: float,
    t: int,
):
    k = wp.tid()
    free = decay * v[t, k] + push[t, k] + fall
    height = x[t, k][1] - floor
    until = h
    after = free
    if height + h * free[1] < 0.0 and free[1] < -1.0e-4:
        until = -height / free[1]
        after = wp.vec2(0.0, 0.0)
    v[t + 1, k] = after
    x[t + 1, k] = x[t, k] + until * free + (h - until) * after


@wp.kernel
def walked(x: wp.array2d(dtype=wp.vec2), t: int, head: int, loss: wp.array(dtype=float)):
    loss[0] = -x[t, head][0]


@dataclass(frozen=True)
class Run:
    """A run whose launches can be captured.

    Attributes:
        launch: Launches all of it, from the start to the loss.
        loss: One element.
        parameters: The arrays to differentiate with respect to, by name.
        others: Further arrays with gradients.
    """

    launch: Callable[[], None]
    loss: Any
    parameters: Mapping[str, Any]
    others: Sequence[Any]


class OfWarp:
    """A run launched one by one: recorded is one inside `wp.Tape`.

    Clearing gradients counts as reverse.
    """

    def __init__(self, run: Run) -> None:
        self._run, self._device = run, run.loss.device

    def turn(self, clock: Clock) -> Times:
        """Run alone, then on a tape, then in reverse."""
        self._forget()
        started = self._now(clock)
        self._run.launch()
        after = self._now(clock)
        with wp.Tape() as tape:
            self._run.launch()
        recorded = self._now(clock)
        self._reverse(tape)
        return Times(after - started, recorded - after, self._now(clock) - recorded)

    def loss(self) -> float:
        """Return the loss of the last run."""
        return float(self._run.loss.numpy()[0])

    def gradients(self) -> Mapping[str, np.ndarray]:
        """Return the gradients of the last turn."""
        return {name: values.grad.numpy() for name, values in self._run.parameters.items()}

    def _forget(self) -> None:
        """Make the results of the turn before wrong."""
        for old in (self._run.loss, *(one.grad for one in self._run.parameters.values())):
            old.fill_(float("nan"))

    def _reverse(self, tape: Any) -> None:
        for values in (*self._run.parameters.values(), *self._run.others):
            values.grad.zero_()
        self._run.loss.grad.fill_(1.0)
        tape.backward()

    def _now(self, clock: Clock) -> float:
        wp.synchronize_device(self._device)
        return clock()


class GraphOfWarp(OfWarp):
    """The same as two captured graphs: of the run, which keeps all states, and of its adjoint."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        run.launch()  # compiles, which cannot be captured
        with wp.Tape() as tape:
            run.launch()
        self._reverse(tape)
        with wp.ScopedCapture(device=self._device) as forward:
            run.launch()
        with wp.ScopedCapture(device=self._device) as backward:
            self._reverse(tape)
        self._tape, self._graphs = tape, (forward.graph, backward.graph)

    def turn(self, clock: Clock) -> Times:
        """Replay both graphs; recorded is the same as alone."""
        forward, backward = self._graphs
        self._forget()
        started = self._now(clock)
        wp.capture_launch(forward)
        after = self._now(clock)
        wp.capture_launch(backward)
        return Times(after - started, after - started, self._now(clock) - after)


def make_pendula(pendula: Pendula, device: str) -> Run:
    """Return the pendula."""
    n, steps = len(pendula.angles), pendula.steps
    angle, speed = (_zeros((steps + 1, n), device) for _ in range(2))
    first, loss = _array(pendula.angles, device), _zeros(1, device)

    def launch() -> None:
        wp.launch(lift, dim=n, inputs=[first, angle], device=device)
        loss.zero_()
        for t in range(steps):
            inputs = [angle, speed, pendula.step, pendula.rate, t]
            wp.launch(swing, dim=n, inputs=inputs, device=device)
        wp.launch(square_sum, dim=n, inputs=[angle, steps, loss], device=device)

    return Run(launch, loss, {"first": first}, (angle, speed))


def make_ripples(ripples: Ripples, device: str) -> Run:
    """Return the waves."""
    n, steps = len(ripples.pulse), ripples.steps
    u, first = _zeros((steps + 2, n, n), device), _array(ripples.pulse, device)
    loss = _zeros(1, device)

    def launch() -> None:
        wp.launch(raise_, dim=(n - 2, n - 2), inputs=[first, u], device=device)
        loss.zero_()
        for t in range(1, steps + 1):
            inputs = [u, ripples.courant, t]
            wp.launch(ripple, dim=(n - 2, n - 2), inputs=inputs, device=device)
        inputs = [u, steps + 1, loss]
        wp.launch(square_sum_of_grid, dim=(n, n), inputs=inputs, device=device)

    return Run(launch, loss, {"first": first}, (u,))


def make_mass_spring(scene: MassSpringScene, network: Network, steps: int, device: str) -> Run:
    """Return the robot of masses, springs and muscles; a step is five launches."""
    robot, h, head = scene.robot, scene.time_step, scene.robot.head
    n, m = len(robot.positions), len(robot.springs)
    decay, fall = float(np.exp(-scene.drag * h)), wp.vec2(0.0, h * scene.gravity)
    phases = 2 * np.pi / scene.n_clock * np.arange(scene.n_clock)
    clock = np.sin(scene.clock_rate * h * np.arange(steps)[:, None] + phases)
    x, v, push = (_zeros((steps + 1, n), device, wp.vec2) for _ in range(3))
    center, senses = _zeros(steps, device, wp.vec2), _zeros((steps, scene.n_inputs), device)
    hidden, loss = _zeros((steps, scene.n_hidden), device), _zeros(1, device)
    parameters = {name: _array(values, device) for name, values in network.arrays().items()}
    w1, b1, w2, b2 = parameters.values()
    inputs, rows1, units, rows2 = (_by_four(one) for one in (senses, w1, hidden, w2))
    times, goal = _array(clock, device), wp.vec2(*scene.goal)
    springs = wp.array(robot.springs, dtype=wp.vec2i, device=device)
    material = np.stack([robot.rest_length, robot.stiffness, robot.actuation], axis=1)
    material = wp.array(material, dtype=wp.vec3, device=device)
    x.assign(np.concatenate([robot.positions[None], np.zeros((steps, n, 2))]).astype(np.float32))

    def launch() -> None:
        center.zero_()
        push.zero_()
        gain, floor = scene.sense_gain, scene.floor
        for t in range(steps):
            for kernel, dim, arguments in (
                (find_center, n, [x, t, center]),
                (sense, n + 1, [x, v, center, times, goal, gain, t, senses]),
                (think, scene.n_hidden, [inputs, rows1, b1, t, hidden]),
                (pull, m, [x, units, rows2, b2, springs, material, h, t, push]),
                (move, n, [x, v, push, decay, fall, floor, h, t]),
            ):
                wp.launch(kernel, dim=dim, inputs=arguments, device=device)
        wp.launch(walked, dim=1, inputs=[x, steps, head, loss], device=device)

    return Run(launch, loss, parameters, (x, v, push, center, senses, hidden))


def _zeros(shape: Any, device: str, dtype: Any = float) -> Any:
    return wp.zeros(shape, dtype=dtype, device=device, requires_grad=True)


def _array(values: np.ndarray, device: str) -> Any:
    return wp.array(values.astype(np.float32), dtype=float, device=device, requires_grad=True)


def _by_four(values: Any) -> Any:
    """Return a view of rows whose elements are vectors of four: additions do not wait so long."""
    grad = None if values.grad is None else _by_four(values.grad)
    shape = values.shape[0], values.shape[1] // 4
    options = {"shape": shape, "dtype": wp.vec4, "device": values.device}
    return wp.array(ptr=values.ptr, grad=grad, requires_grad=grad is not None, **options)
