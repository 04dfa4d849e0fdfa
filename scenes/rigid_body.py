"""Robots of rigid boxes, springs and joints over a floor, with the network that drives them.

The scene of the DiffTaichi paper (Hu et al., ICLR 2020, "rigid_body"): a small neural network
modulates the rest lengths of the springs, and the network is optimised.

Run this file for a few steps of the optimisation; the demo `rigid-body` does all of them.
"""

from dataclasses import dataclass, field, fields

import numpy as np

import difftile as dt
from difftile import ti

vec2, vec3 = ti.math.vec2, ti.math.vec3


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
    return RigidBodyScene(robot=make_robot(robot), **changes)


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


@dt.func
def turned(r, angle):
    """Turn a vector counterclockwise."""
    c, s = ti.cos(angle), ti.sin(angle)
    return vec2(c * r.x - s * r.y, s * r.x + c * r.y)


@dt.func
def speed_at(r, v):
    """Velocity of the point of a body that is at `r` from its center."""
    return v.xy + v.z * vec2(-r.y, r.x)


@dt.func
def moments(r, impulse):
    """An impulse at `r` as generalised impulses of a body: along x, along y, and in rotation."""
    return vec3(impulse, ti.math.cross(r, impulse))


@dt.func
def give(inverse, r, direction):
    """Velocity along `direction` that a body gains at `r` by a unit impulse there."""
    return inverse.x + inverse.z * ti.math.cross(r, direction) ** 2


@dt.data_oriented
class RigidBodies:
    """A robot in fields: its state, which the steps update in place, and its network.

    Args:
        scene: Robot and world.
        network: Its weights.
        steps: Number of updates of a run.
        dtype: Of all fields.
        impacts: Whether a corner stops when it reaches the floor, or when that step begins.
    """

    def __init__(
        self,
        scene: RigidBodyScene,
        network: Network,
        steps: int,
        dtype=ti.f32,
        *,
        impacts: bool = True,
    ):
        robot, self.scene, self.steps, self.impacts = scene.robot, scene, steps, impacts
        vector, weights = dt.vec(3, dtype), network.arrays()
        # Of a body x, y and angle are one vector, and so are the rates at which they change.
        self.x = dt.zeros(len(robot.boxes), vector, grad=True)
        self.v, self.free = dt.zeros_like(self.x), dt.zeros_like(self.x)
        self.inputs = dt.zeros(scene.n_inputs, dtype, grad=True)
        self.hidden = dt.zeros(scene.n_hidden, dtype, grad=True)
        self.loss = dt.zeros((), dtype, grad=True)
        self.w1, self.b1, self.w2, self.b2 = (
            dt.from_numpy(values, dtype=dtype, grad=True) for values in weights.values()
        )
        self.parameters = {name: getattr(self, name) for name in weights}
        self.half = dt.from_numpy(robot.halves, dtype=dt.vec(2, dtype))
        self.inverse = dt.from_numpy(robot.inverse_mass, dtype=vector)
        self.ends = dt.from_numpy(robot.ends, dtype=ti.math.ivec2)
        self.anchors = dt.from_numpy(robot.anchors, dtype=dt.vec(2, dtype))
        self.material = dt.from_numpy(robot.material, dtype=vector)
        self.goal = dt.from_numpy(scene.goal, dtype=dt.vec(2, dtype))
        self.n, self.head, self.n_clock = len(robot.boxes), robot.head, scene.n_clock
        self.h, self.gain, self.rate = scene.time_step, scene.sense_gain, scene.clock_rate
        self.decay, self.fall = float(np.exp(-scene.drag * self.h)), self.h * scene.gravity
        self.floor, self.friction = scene.floor, scene.friction
        self.lift = self.h * scene.penalty

    @dt.kernel
    def step(self, t: int):
        # The network sees a clock, all bodies relative to the head, and the goal.
        for j in range(self.n_clock):
            phase = 2.0 * ti.math.pi * j / self.n_clock
            self.inputs[j] = ti.sin(self.rate * self.h * t + phase)
        for k in self.x:
            j = self.n_clock + 6 * k
            place, speed = self.gain * (self.x[k] - self.x[self.head]), self.gain * self.v[k]
            self.inputs[j], self.inputs[j + 1] = place.x, place.y
            self.inputs[j + 2], self.inputs[j + 3] = speed.x, speed.y
            self.inputs[j + 4], self.inputs[j + 5] = self.gain * self.x[k].z, speed.z
        for c in range(2):
            self.inputs[self.n_clock + 6 * self.n + c] = self.goal[None][c]
        for i in self.hidden:
            total = self.b1[i]
            for j in range(self.inputs.shape[0]):
                total += self.w1[i, j] * self.inputs[j]
            self.hidden[i] = ti.tanh(total)

        # Drag and gravity change the velocities,
        for k in self.x:
            self.free[k] = self.decay * self.v[k] + vec3(0.0, self.fall, 0.0)
        # and so do the links: springs, whose rest lengths the output units set, and joints.
        for s in self.ends:
            total = self.b2[s]
            for j in range(self.hidden.shape[0]):
                total += self.w2[s, j] * self.hidden[j]
            rest_length, stiffness, actuation = self.material[s]
            a, b = self.ends[s]
            r_a = turned(self.anchors[s, 0], self.x[a].z)
            r_b = turned(self.anchors[s, 1], self.x[b].z)
            d = self.x[a].xy + r_a - self.x[b].xy - r_b
            length = d.norm() + 1e-4
            target = rest_length * (1.0 + actuation * ti.tanh(total))
            impulse = self.h * (length - target) * stiffness / length * d
            if rest_length == 0.0:  # a joint stops the two points relative to each other
                apart = speed_at(r_a, self.v[a]) - speed_at(r_b, self.v[b])
                speed = apart.norm() + 0.1
                along = apart / speed
                yielding = give(self.inverse[a], r_a, along) + give(self.inverse[b], r_b, along)
                impulse += speed / yielding * along
            self.free[a] -= self.inverse[a] * moments(r_a, impulse)
            self.free[b] += self.inverse[b] * moments(r_b, impulse)

        # A corner that would end in the floor is stopped and held by friction, and lifted out.
        for k in self.x:
            v, late = self.free[k], vec3(0.0, 0.0, 0.0)
            for corner in range(4):
                side = vec2(corner % 2 * 2 - 1, corner // 2 * 2 - 1)
                r = turned(side * self.half[k], self.x[k].z)
                u = speed_at(r, self.v[k]) + vec2(0.0, self.fall)
                height = self.x[k].y + r.y - self.floor
                after = height + self.h * u.y
                if after < 0.0:
                    rise = give(self.inverse[k], r, vec2(0.0, 1.0))
                    slide = give(self.inverse[k], r, vec2(1.0, 0.0))
                    stop = max(-u.y, 0.0) / rise
                    held = self.friction * stop
                    bounce = vec2(ti.math.clamp(-u.x / slide, -held, held), stop)
                    gain = self.inverse[k] * moments(r + self.h * u, bounce)
                    v += gain
                    if self.impacts and height > 0.0:  # unchanged until the impact
                        late -= min(height / max(-u.y, 1e-3), self.h) * gain
                    lift = vec2(0.0, -self.lift * after / rise)
                    v += self.inverse[k] * moments(r + self.h * u, lift)
            self.v[k] = v
            self.x[k] += self.h * v + late

    @dt.kernel
    def measure(self):
        self.loss[None] = (self.x[self.head].xy - self.goal[None]).norm()

    def start(self) -> None:
        """Put the robot in its initial position, at rest."""
        self.x.from_numpy(self.scene.robot.places)
        self.v.fill(0.0)

    def run(self) -> None:
        """Simulate from the start and measure the loss."""
        self.start()
        dt.repeat(self.step, self.steps)
        self.measure()


if __name__ == "__main__":
    scene = make_scene("A")
    robot = RigidBodies(scene, make_network(scene), steps=400)
    descent = dt.optim.SGD(robot.parameters, 0.1, clip_norm=0.2)
    for _ in range(8):
        with dt.Tape(robot.loss):
            robot.run()
        print(f"loss {robot.loss[None]:.6f}")
        descent.step()
