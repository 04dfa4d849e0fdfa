"""Robots of point masses, springs and muscles over a floor, with the network that drives them.

The scene of the DiffTaichi paper (Hu et al., ICLR 2020, section 4.1, "mass_spring"): a muscle is
a spring whose rest length a small neural network modulates, and the network is optimised.
This module holds only data; the simulation is in `demos/mass_spring.py`.
"""

from dataclasses import dataclass, field, fields

import numpy as np

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
    return MassSpringScene(robot=make_robot(robot), **changes)  # pyright: ignore[reportArgumentType]


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
