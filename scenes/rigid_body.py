"""Robots of rigid boxes, springs and joints over a floor, with the network that drives them.

The scene of the DiffTaichi paper (Hu et al., ICLR 2020, "rigid_body"): a small neural network
modulates the rest lengths of the springs, and the network is optimised.
"""

from dataclasses import dataclass, field

import numpy as np

from scenes.mass_spring import Network


@dataclass(frozen=True, slots=True)
class Box:
    """A body: a rectangle of density 1 kg/m^2.

    Attributes:
        center: Where it starts [m].
        half: Half of its width and half of its height [m].
        angle: How far it is turned at the start, counterclockwise [rad].
    """

    center: tuple[float, float]
    half: tuple[float, float]
    angle: float = 0.0


@dataclass(frozen=True, slots=True)
class Link:
    """A spring between points of two bodies, or a joint that holds these points together.

    Attributes:
        a: The first body.
        b: The second body.
        at_a: The point of `a` it is fixed to, in the axes of that body [m].
        at_b: The point of `b`.
        stiffness: [N/m].
        rest_length: At zero activation [m]; 0 makes it a joint.
        actuation: Relative change of the rest length at full activation.
    """

    a: int
    b: int
    at_a: tuple[float, float]
    at_b: tuple[float, float]
    stiffness: float
    rest_length: float = 0.0
    actuation: float = 0.05


@dataclass(frozen=True, slots=True)
class Robot:
    """Boxes, links, and the body that is sent to the goal."""

    name: str
    boxes: tuple[Box, ...]
    links: tuple[Link, ...]
    head: int = 0

    @property
    def places(self) -> np.ndarray:
        """Where the bodies start: x [m], y [m] and angle [rad], shape (n, 3)."""
        return np.array([(*box.center, box.angle) for box in self.boxes])

    @property
    def halves(self) -> np.ndarray:
        """Half of their widths and heights [m], shape (n, 2)."""
        return np.array([box.half for box in self.boxes])

    @property
    def inverse_mass(self) -> np.ndarray:
        """Inverse inertia along x, along y and in rotation, shape (n, 3).

        These are the inverse mass [1/kg], twice, and the inverse moment of inertia [1/(kg m^2)].
        """
        a, b = self.halves.T
        mass, inertia = 4 * a * b, 4 / 3 * a * b * (a * a + b * b)
        return 1 / np.stack([mass, mass, inertia], axis=1)

    @property
    def ends(self) -> np.ndarray:
        """The two bodies that each link joins, shape (m, 2), int32."""
        return np.array([(link.a, link.b) for link in self.links], np.int32)

    @property
    def anchors(self) -> np.ndarray:
        """The points of these bodies, in their axes [m], shape (m, 2, 2)."""
        return np.array([(link.at_a, link.at_b) for link in self.links])

    @property
    def material(self) -> np.ndarray:
        """Rest length, stiffness and actuation of each link, shape (m, 3)."""
        return np.array([(one.rest_length, one.stiffness, one.actuation) for one in self.links])


def _crawler() -> Robot:
    """A bar on three feet, each on two springs, with a mast on top."""
    feet = [Box((x, 0.15), (0.03, 0.02)) for x in (0.2, 0.3, 0.4)]
    sides = [(1, -0.03), (1, -0.1), (2, -0.03), (2, 0.03), (3, 0.03), (3, 0.1)]
    springs = [Link(0, foot, (x, 0.0), (0.0, 0.0), 15.0, 0.12) for foot, x in sides]
    return Robot(
        "A",
        (Box((0.3, 0.25), (0.15, 0.03)), *feet, Box((0.4, 0.3), (0.005, 0.03))),
        (*springs, Link(0, 4, (0.1, 0.0), (0.0, -0.05), 15.0)),
    )


def _table() -> Robot:
    """A bar on two hinged legs, each pulled by a spring from the far end of the bar."""
    return Robot(
        "B",
        (
            Box((0.15, 0.25), (0.1, 0.03)),
            Box((0.08, 0.22), (0.03, 0.1)),
            Box((0.22, 0.22), (0.03, 0.1)),
        ),
        (
            Link(0, 1, (0.08, 0.02), (0.0, -0.08), 50.0, 0.22, 0.03),
            Link(0, 2, (-0.08, 0.02), (0.0, -0.08), 50.0, 0.22, 0.03),
            Link(0, 1, (-0.08, 0.0), (0.0, 0.03), 50.0),
            Link(0, 2, (0.08, 0.0), (0.0, 0.03), 50.0),
        ),
    )


def _legs() -> Robot:
    """A hip on two legs of thigh, shin and foot, which start on top of each other."""
    long, bend = 0.11, np.pi / 18  # half of a limb [m]; the bend of a knee, half of it above
    across, along = long * float(np.sin(bend)), long * float(np.cos(bend))
    limb, joint = (0.02, long), 0.58  # the height of the hip joint [m]
    leg = (
        Box((0.3 + across, joint - along), limb, bend),
        Box((0.3 + across, joint - 3 * along), limb, -bend),
        Box((0.38, joint - 4 * along), (0.08, 0.02)),
    )
    links = []
    for thigh in (1, 4):
        shin, foot = thigh + 1, thigh + 2
        links += [
            Link(0, thigh, (0.0, 0.028), (0.0, -long), 5.0, 0.396),
            Link(thigh, shin, (0.0, long), (0.0, -long), 20.0, 0.396, 0.08),
            Link(shin, foot, (0.0, 0.0), (0.08, 0.0), 40.0, 0.13591541487263317),
            Link(0, thigh, (0.0, -0.07), (0.0, long), 200.0),
            Link(thigh, shin, (0.0, -long), (0.0, long), 200.0),
            Link(shin, foot, (0.0, -long), (-0.08, 0.0), 200.0),
        ]
    return Robot("Leg", (Box((0.3, 0.65), (0.06, 0.08)), *leg, *leg), tuple(links), head=3)


_ROBOTS = {"A": _crawler, "B": _table, "Leg": _legs}
ROBOT_NAMES = tuple(_ROBOTS)


@dataclass(frozen=True, slots=True)
class RigidBodyScene:
    """A robot, the world it stands in and the senses of its network.

    The inputs of the network are, in this order, `n_clock` sines of the time shifted in phase, six
    numbers a body (position relative to the head, velocity, angle, angular velocity), each times
    `sense_gain`, and the goal.

    Attributes:
        robot: Bodies and links.
        time_step: [s].
        gravity: Acceleration along y [m/s^2].
        drag: Rate at which velocities and angular velocities decay [1/s].
        floor: Height of the floor [m].
        friction: Coefficient of Coulomb friction on the floor.
        penalty: Rate at which a corner that is in the floor gains speed upwards, over its depth
            [1/s^2]; 0 for the paper's program, which computes this impulse and loses it.
        goal: Desired final position of the head [m], shape (2,).
        n_clock: Number of sine inputs.
        clock_rate: Their angular frequency [rad/s].
        sense_gain: Factor on the state of bodies before it enters the network.
        n_hidden: Number of hidden units.
    """

    robot: Robot
    time_step: float = 0.001
    gravity: float = -9.8
    drag: float = 10.0
    floor: float = 0.1
    friction: float = 1.0
    penalty: float = 1e4
    goal: np.ndarray = field(default_factory=lambda: np.array([0.9, 0.15]))
    n_clock: int = 10
    clock_rate: float = 30.0
    sense_gain: float = 0.05
    n_hidden: int = 32

    @property
    def n_inputs(self) -> int:
        """Number of inputs of the network."""
        return self.n_clock + 6 * len(self.robot.boxes) + 2


def make_robot(name: str) -> Robot:
    """Return the robot of that name.

    Raises:
        ValueError: The name is not in `ROBOT_NAMES`.
    """
    if name not in _ROBOTS:
        raise ValueError(f"there is no robot {name!r}: choose one of {', '.join(ROBOT_NAMES)}")
    return _ROBOTS[name]()


def make_scene(robot: str = "A", **changes: object) -> RigidBodyScene:
    """Return the scene of the robot of that name, with the given attributes changed."""
    return RigidBodyScene(robot=make_robot(robot), **changes)  # pyright: ignore[reportArgumentType]


def make_network(scene: RigidBodyScene, seed: int = 0) -> Network:
    """Draw a network: normal weights scaled by the sizes of both layers, no biases."""
    rng = np.random.RandomState(seed)
    hidden, inputs, outputs = scene.n_hidden, scene.n_inputs, len(scene.robot.links)
    return Network(
        w1=0.5 * np.sqrt(2.0 / (hidden + inputs)) * rng.randn(hidden, inputs),
        b1=np.zeros(hidden),
        w2=np.sqrt(2.0 / (hidden + outputs)) * rng.randn(outputs, hidden),
        b2=np.zeros(outputs),
    )
