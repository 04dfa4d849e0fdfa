"""Robots of point masses, springs and muscles over a floor, with the network that drives them.

The scene of the DiffTaichi paper (Hu et al., ICLR 2020, section 4.1, "mass_spring"): a muscle is a
spring whose rest length a small neural network modulates, and the network is optimised.

Run this file for a few steps of the optimisation; the demos `mass-spring` and `policy` do all of
them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields

import numpy as np

import difftile as dt
from difftile import ti

PERIOD = 5  # steps from one command of a policy to the next
CLOCK_GAIN, PLACE_GAIN, SPEED_GAIN = 3.0, 1.0, 0.1  # of its senses: larger ones make it hectic

vec2 = ti.math.vec2

_ROBOTS = {
    # A low crawler of two triangles and a brace: every spring is a muscle.
    "A": {
        "positions": [(0.2, 0.1), (0.3, 0.13), (0.4, 0.1), (0.2, 0.2), (0.3, 0.2), (0.4, 0.2)],
        "springs": [
            *[(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (2, 5)],
            *[(0, 4), (1, 4), (2, 4), (3, 1), (5, 1)],
        ],
        "muscles": range(11),
        "stiffness": 14000.0,
        "actuation": 0.1,
    },
    # A table of 5 cm squares on two triangular feet: the muscles are the four ankles.
    "B": {
        "positions": [
            *[(0.225, 0.125), (0.2, 0.15), (0.25, 0.15), (0.125, 0.125), (0.1, 0.15)],
            *[(0.15, 0.15), (0.1, 0.2), (0.15, 0.2), (0.1, 0.25), (0.15, 0.25)],
            *[(0.2, 0.2), (0.2, 0.25), (0.25, 0.2), (0.25, 0.25)],
        ],
        "springs": [
            *[(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)],
            *[(4, 6), (5, 7), (4, 7), (6, 5), (6, 7)],
            *[(6, 8), (7, 9), (6, 9), (8, 7), (8, 9)],
            *[(10, 11), (7, 10), (7, 11), (9, 10), (9, 11)],
            *[(1, 10), (2, 12), (1, 12), (10, 2), (10, 12)],
            *[(12, 13), (10, 13), (11, 12), (11, 13)],
        ],
        "muscles": [6, 7, 21, 22],
        "stiffness": 30000.0,
        "actuation": 0.15,
    },
    # A body of 5 cm squares with two legs and a neck: the muscles are the sides of the legs.
    "C": {
        "positions": [
            *[(0.2, 0.1), (0.2, 0.15), (0.25, 0.1), (0.25, 0.15), (0.1, 0.1)],
            *[(0.1, 0.15), (0.15, 0.1), (0.15, 0.15), (0.1, 0.2), (0.15, 0.2)],
            *[(0.1, 0.25), (0.15, 0.25), (0.2, 0.2), (0.2, 0.25), (0.25, 0.2)],
            *[(0.25, 0.25), (0.2, 0.3), (0.25, 0.3), (0.2, 0.35), (0.25, 0.35)],
        ],
        "springs": [
            *[(0, 1), (2, 3), (0, 2), (0, 3), (1, 2), (1, 3)],
            *[(4, 5), (6, 7), (4, 6), (4, 7), (5, 6), (5, 7)],
            *[(5, 8), (7, 9), (5, 9), (8, 7), (8, 9)],
            *[(8, 10), (9, 11), (8, 11), (10, 9), (10, 11)],
            *[(12, 13), (9, 12), (9, 13), (11, 12), (11, 13)],
            *[(1, 12), (3, 14), (1, 14), (12, 3), (12, 14)],
            *[(14, 15), (12, 15), (13, 14), (13, 15)],
            *[(13, 16), (15, 17), (13, 17), (16, 15), (16, 17)],
            *[(16, 18), (17, 19), (16, 19), (18, 17), (18, 19)],
        ],
        "muscles": [0, 1, 6, 7, 12, 13, 27, 28],
        "stiffness": 30000.0,
        "actuation": 0.15,
    },
}

ROBOT_NAMES = tuple(_ROBOTS)


@dataclass(frozen=True, slots=True)
class Robot:
    """Unit point masses joined by springs.

    Attributes:
        name: One of `ROBOT_NAMES`.
        positions: Initial positions of the masses [m], at rest, shape (n, 2).
        springs: The two masses each spring joins, shape (m, 2), int32.
        rest_length: Lengths at zero activation, as at the start [m], shape (m,).
        stiffness: Force per unit of relative strain and length [N/m], shape (m,).
        actuation: Relative change of the rest length at full activation, shape (m,); 0 for a
            spring that is not a muscle.
        head: The mass whose distance along x is the goal of the training.
    """

    name: str
    positions: np.ndarray
    springs: np.ndarray
    rest_length: np.ndarray
    stiffness: np.ndarray
    actuation: np.ndarray
    head: int = 0

    @property
    def width(self) -> float:
        """Extent along x at the start [m]: one body length."""
        return float(np.ptp(self.positions[:, 0]))


@dataclass(frozen=True, slots=True)
class Network:
    """The weights of one tanh layer of hidden units and one tanh unit for every spring.

    Attributes:
        w1: Inputs to hidden units, shape (hidden, inputs).
        b1: Shape (hidden,).
        w2: Hidden units to activations, shape (m, hidden).
        b2: Shape (m,).
    """

    w1: np.ndarray
    b1: np.ndarray
    w2: np.ndarray
    b2: np.ndarray

    def arrays(self) -> dict[str, np.ndarray]:
        """The four arrays by name, in the order in which they are drawn at random."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


@dataclass(frozen=True, slots=True)
class MassSpringScene:
    """A robot, the world it stands in and the senses of its network.

    The inputs of the network are, in this order, `n_clock` sines of the time shifted in phase,
    four numbers a mass (position relative to the center, velocity), each times `sense_gain`, and
    the way from the center to the goal.

    Attributes:
        robot: Masses and springs.
        time_step: [s].
        gravity: Acceleration along y [m/s^2].
        drag: Rate at which velocities decay [1/s].
        floor: Height of the floor [m]. A mass that hits it sticks until it is lifted off.
        goal: The goal given to the network [m], shape (2,).
        n_clock: Number of sine inputs.
        clock_rate: Their angular frequency [rad/s].
        sense_gain: Factor on positions and velocities before they enter the network.
        n_hidden: Number of hidden units.
    """

    robot: Robot
    time_step: float = 0.004
    gravity: float = -4.8
    drag: float = 15.0
    floor: float = 0.1
    goal: np.ndarray = field(default_factory=lambda: np.array([0.9, 0.2]))
    n_clock: int = 10
    clock_rate: float = 10.0
    sense_gain: float = 0.05
    n_hidden: int = 32

    @property
    def n_inputs(self) -> int:
        """Number of inputs of the network."""
        return self.n_clock + 4 * len(self.robot.positions) + 2


def make_robot(name: str) -> Robot:
    """Return the robot of that name.

    Raises:
        ValueError: The name is not in `ROBOT_NAMES`.
    """
    if name not in _ROBOTS:
        raise ValueError(f"there is no robot {name!r}: choose one of {', '.join(ROBOT_NAMES)}")
    data = _ROBOTS[name]
    positions = np.array(data["positions"], dtype=np.float64)
    springs = np.array(data["springs"], dtype=np.int32)
    actuation = np.zeros(len(springs))
    actuation[list(data["muscles"])] = data["actuation"]
    return Robot(
        name=name,
        positions=positions,
        springs=springs,
        rest_length=np.linalg.norm(positions[springs[:, 0]] - positions[springs[:, 1]], axis=1),
        stiffness=np.full(len(springs), data["stiffness"]),
        actuation=actuation,
    )


def make_scene(robot: str = "A", **changes: object) -> MassSpringScene:
    """Return the scene of the robot of that name, with the given attributes changed."""
    return MassSpringScene(robot=make_robot(robot), **changes)


def make_network(scene: MassSpringScene, seed: int = 0) -> Network:
    """Draw a network: normal weights scaled by the sizes of both layers, no biases.

    NumPy's legacy generator, since it gives the initial networks of the paper's own program.
    """
    rng = np.random.RandomState(seed)
    hidden, inputs, outputs = scene.n_hidden, scene.n_inputs, len(scene.robot.springs)
    return Network(
        w1=2.0 * np.sqrt(2.0 / (hidden + inputs)) * rng.randn(hidden, inputs),
        b1=np.zeros(hidden),
        w2=3.0 * np.sqrt(2.0 / (hidden + outputs)) * rng.randn(outputs, hidden),
        b2=np.zeros(outputs),
    )


@dt.data_oriented
class Body:
    """A robot in fields that steps update in place.

    Args:
        scene: Robot and world.
        steps: Number of updates of a run.
        dtype: Of the numbers.
    """

    def __init__(self, scene: MassSpringScene, steps: int, dtype=ti.f32):
        robot, vector = scene.robot, dt.vec(2, dtype)
        material = np.stack([robot.rest_length, robot.stiffness, robot.actuation], axis=1)
        self.scene, self.steps = scene, steps
        self.x = dt.from_numpy(robot.positions, dtype=vector, grad=True)
        self.v = dt.zeros_like(self.x)
        self.free = dt.zeros_like(self.x)  # velocity without the floor
        self.center = dt.zeros((), dtype=vector, grad=True)
        self.loss = dt.zeros((), dtype=dtype, grad=True)
        self.springs = dt.from_numpy(robot.springs, dtype=ti.math.ivec2)
        self.material = dt.from_numpy(material, dtype=dt.vec(3, dtype))
        self.n, self.head = len(robot.positions), robot.head
        self.h, self.floor = scene.time_step, scene.floor
        self.decay, self.fall = float(np.exp(-scene.drag * self.h)), self.h * scene.gravity

    @dt.func
    def let_fall(self, k):
        """Change the velocity of a mass by drag and gravity."""
        self.free[k] = self.decay * self.v[k] + vec2(0.0, self.fall)

    @dt.func
    def pull(self, s, activation):
        """Let a spring pull at its ends; its activation changes the rest length."""
        rest_length, stiffness, actuation = self.material[s]
        a, b = self.springs[s]
        d = self.x[a] - self.x[b]
        length = d.norm() + 1e-4
        target = rest_length * (1.0 + actuation * activation)
        impulse = self.h * (length - target) * stiffness / length * d
        self.free[a] -= impulse
        self.free[b] += impulse

    @dt.func
    def move(self, k):
        """Move a mass; one that reaches the floor moves until it is there, and sticks."""
        height = self.x[k].y - self.floor
        until, after = self.h, self.free[k]
        if height + self.h * self.free[k].y < 0.0 and self.free[k].y < -1e-4:
            until, after = -height / self.free[k].y, vec2(0.0, 0.0)
        self.x[k] += until * self.free[k]
        self.v[k] = after

    @dt.kernel
    def measure(self):
        """The farther right the head, the better."""
        self.loss[None] = -self.x[self.head].x

    def start(self) -> None:
        """Put the robot in its initial position, at rest."""
        self.x.from_numpy(self.scene.robot.positions)
        self.v.fill(0.0)


@dt.data_oriented
class Walker(Body):
    """A robot and the network that drives it, which a step evaluates as well."""

    def __init__(self, scene: MassSpringScene, network: Network, steps: int, dtype=ti.f32):
        super().__init__(scene, steps, dtype)
        phases = 2 * np.pi * np.arange(scene.n_clock) / scene.n_clock
        times = scene.time_step * np.arange(steps)
        weights = network.arrays()
        self.senses = dt.zeros(scene.n_inputs, dtype=dtype, grad=True)
        self.hidden = dt.zeros(scene.n_hidden, dtype=dtype, grad=True)
        self.activation = dt.zeros(len(scene.robot.springs), dtype=dtype)  # only for the pictures
        self.w1, self.b1, self.w2, self.b2 = (
            dt.from_numpy(values, dtype=dtype, grad=True) for values in weights.values()
        )
        self.parameters = {name: getattr(self, name) for name in weights}
        self.clock = dt.from_numpy(np.sin(scene.clock_rate * times[:, None] + phases), dtype=dtype)
        self.goal = dt.from_numpy(scene.goal, dtype=dt.vec(2, dtype))
        self.n_clock, self.gain = scene.n_clock, scene.sense_gain

    @dt.kernel
    def step(self, t: int):
        # The network sees a clock, all masses relative to their center, and the way to the goal.
        self.center[None] = vec2(0.0, 0.0)
        for k in self.x:
            self.center[None] += self.x[k] / self.n
        for j in range(self.n_clock):
            self.senses[j] = self.clock[t, j]
        for k in self.x:
            j, place = self.n_clock + 4 * k, self.gain * (self.x[k] - self.center[None])
            self.senses[j], self.senses[j + 1] = place
            self.senses[j + 2], self.senses[j + 3] = self.gain * self.v[k]
        for d in range(2):
            self.senses[self.n_clock + 4 * self.n + d] = self.goal[None][d] - self.center[None][d]
        for i in self.hidden:
            total = self.b1[i]
            for j in range(self.senses.shape[0]):
                total += self.w1[i, j] * self.senses[j]
            self.hidden[i] = ti.tanh(total)

        for k in self.free:
            self.let_fall(k)
        for s in self.springs:
            total = self.b2[s]
            for j in range(self.hidden.shape[0]):
                total += self.w2[s, j] * self.hidden[j]
            activation = ti.tanh(total)
            self.activation[s] = activation
            self.pull(s, activation)
        for k in self.x:
            self.move(k)

    @dt.kernel
    def miss(self):
        """The nearer the head is to the goal along x, the better."""
        self.loss[None] = abs(self.x[self.head].x - self.goal[None].x)

    def run(self) -> None:
        """Simulate from the start and measure the loss."""
        self.start()
        dt.repeat(self.step, self.steps)
        self.measure()


def n_senses(scene: MassSpringScene) -> int:
    """Return their number: position and velocity of each mass, sine and cosine of the clock."""
    return 4 * len(scene.robot.positions) + 2


@dt.data_oriented
class CommandedRobot(Body):
    """A robot whose muscles follow commands, which a policy gives from its senses.

    Args:
        scene: Robot and world.
        steps: Number of updates of a run.
        decide: Computes `commands` from `senses`: `decide(senses, out=commands)`.
        dtype: Of the numbers.
        blind: Whether the policy sees only the clock.

    Attributes:
        senses: Position relative to the center and velocity of each mass, then the clock.
        commands: What each muscle is to do, from -1 (shorten) to 1 (lengthen).
        muscles: The springs that are muscles, shape (commands,).
    """

    def __init__(
        self,
        scene: MassSpringScene,
        steps: int,
        decide: Callable[..., object],
        dtype=ti.f32,
        blind: bool = False,
    ):
        super().__init__(scene, steps, dtype)
        self.muscles = np.flatnonzero(scene.robot.actuation)
        muscle_of = np.full(len(scene.robot.springs), -1, np.int32)
        muscle_of[self.muscles] = np.arange(len(self.muscles))
        self.senses = dt.zeros(n_senses(scene), dtype=dtype, grad=True)
        self.commands = dt.zeros(len(self.muscles), dtype=dtype, grad=True)
        self.muscle_of, self.decide, self.is_blind = dt.from_numpy(muscle_of), decide, blind
        self.clock_rate = scene.clock_rate
        self.place_gain, self.speed_gain = (0.0, 0.0) if blind else (PLACE_GAIN, SPEED_GAIN)

    @dt.kernel
    def sense(self, phase: float):
        self.center[None] = vec2(0.0, 0.0)
        for k in self.x:
            self.center[None] += self.x[k] / self.n
        for k in self.x:
            place = self.place_gain * (self.x[k] - self.center[None])
            self.senses[4 * k], self.senses[4 * k + 1] = place
            self.senses[4 * k + 2], self.senses[4 * k + 3] = self.speed_gain * self.v[k]
        self.senses[4 * self.n] = CLOCK_GAIN * ti.sin(phase)
        self.senses[4 * self.n + 1] = CLOCK_GAIN * ti.cos(phase)

    @dt.kernel
    def step(self):
        for k in self.free:
            self.let_fall(k)
        for s in self.springs:
            activation = 0.0
            if self.muscle_of[s] >= 0:
                activation = self.commands[self.muscle_of[s]]
            self.pull(s, activation)
        for k in self.x:
            self.move(k)

    @dt.kernel
    def shove(self, speed: float):
        for k in self.v:
            self.v[k].x += speed

    def advance(self, t: int) -> None:
        """Take step t, with a decision of the policy if it is time for one."""
        if t % PERIOD == 0:
            self.sense(self.clock_rate * self.h * t)
            self.decide(self.senses, out=self.commands)
        self.step()

    def run(self) -> None:
        """Simulate from the start and measure the loss."""
        self.start()
        for t in range(self.steps):
            self.advance(t)
        self.measure()


if __name__ == "__main__":
    scene = make_scene("A")
    walker = Walker(scene, make_network(scene), steps=300)
    descent = dt.optim.SGD(walker.parameters, 2.0, clip_norm=0.01)
    for _ in range(8):
        with dt.Tape(walker.loss):
            walker.run()
        print(f"loss {walker.loss[None]:.6f}")
        descent.step()
