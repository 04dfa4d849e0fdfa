"""A robot of rigid boxes, springs and joints learns to reach a goal.

A small neural network changes the rest lengths of the springs. Corners of the boxes may hit the
floor in the middle of a step, and friction holds them there.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import taichi as ti

import difftile as dt
from demos.support.bodies import (
    Motion,
    boxes,
    from_body,
    save_body_animation,
    save_body_strip,
)
from demos.support.options import make_parser, start
from demos.support.pictures import save_loss_curve
from demos.support.training import Training, print_check, train
from scenes.mass_spring import Network
from scenes.rigid_body import ROBOT_NAMES, RigidBodyScene, make_network, make_scene

# Contacts magnify the gradient by orders of magnitude, at times: it says where to go, not how far.
# As in the paper, one that is longer than this is scaled down to it.
CLIP_NORM = 0.2
FRAME_EVERY = 32  # simulation steps from one frame of the animation to the next

vec2, vec3 = ti.math.vec2, ti.math.vec3


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
        for t in dt.steps(self.steps):
            self.step(t)
        self.measure()


def watch(bodies: RigidBodies, label: str) -> Motion:
    """Simulate once more without a tape, and keep the state of every few steps."""
    robot, places, activations = bodies.scene.robot, [], []
    times = [*range(0, bodies.steps, FRAME_EVERY), bodies.steps]
    w2, b2 = bodies.w2.to_numpy(), bodies.b2.to_numpy()
    bodies.start()
    for t in range(bodies.steps):
        if t % FRAME_EVERY == 0:
            places.append(bodies.x.to_numpy())
        bodies.step(t)
        if t % FRAME_EVERY == 0:
            activations.append(np.tanh(w2 @ bodies.hidden.to_numpy() + b2))
    places, activations = np.array([*places, bodies.x.to_numpy()]), [*activations, activations[-1]]
    springs = robot.material[:, 0] > 0
    miss = np.linalg.norm(places[:, robot.head, :2] - bodies.scene.goal, axis=1)
    return Motion(
        label=label,
        result=f"{miss[0]:.2f} m from the goal at the start, {miss[-1]:.2f} m at the end",
        times=bodies.h * np.array(times),
        outlines=boxes(places, robot.halves),
        colours=["#7fa8ad" if k == robot.head else "#d3d7db" for k in range(bodies.n)],
        tracked=robot.head,
        springs=from_body(places[:, robot.ends], robot.anchors)[:, springs],
        activations=np.array(activations)[:, springs],
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("rigid-body", __doc__, steps=2048, iterations=60)
    parser.add_argument("--robot", choices=ROBOT_NAMES, default="A", help="default: %(default)s")
    parser.add_argument(
        "--no-toi", action="store_true", help="ignore times of impact: corners stop at once"
    )
    parser.add_argument(
        "--original",
        action="store_true",
        help="do not lift corners out of the floor, as in the paper's program",
    )
    options = start(parser, argv)
    scene = make_scene(options.robot, **({"penalty": 0.0} if options.original else {}))
    network, impacts = make_network(scene, options.seed), not options.no_toi
    if options.check:
        short = min(options.steps, 200)
        return print_check(RigidBodies(scene, network, short, ti.f64, impacts=impacts), "b2")

    bodies = RigidBodies(scene, network, options.steps, impacts=impacts)
    before = watch(bodies, "before")
    descent = dt.optim.SGD(bodies.parameters, 1.0, clip_norm=CLIP_NORM, nonfinite="skip")
    training = train(
        bodies, descent, options.iterations, "learning to crawl", memory=options.memory
    )
    if not training.losses:
        return 130  # interrupted before there was anything to show
    after = watch(bodies, f"after {len(training.losses) - 1} iterations")
    print(training)
    print(f"the head is {after.result}; untrained it is {before.result}")
    if not options.no_pictures:
        draw(options.out, scene, training, [before, after])
        print(f"pictures in {options.out}")
    return 0


def draw(out: Path, scene: RigidBodyScene, training: Training, motions: list[Motion]) -> None:
    """Write the pictures."""
    save_loss_curve(out / "loss.png", training.losses, "distance from the goal [m]")
    goal = (scene.goal[0], scene.goal[1])
    corners = np.concatenate([motion.outlines.reshape(-1, 2) for motion in motions])
    right, top = np.maximum(corners.max(axis=0), goal) + 0.04
    window = (corners[:, 0].min() - 0.04, right, scene.floor - 0.06, top)
    save_body_strip(out / "before_after.png", motions, window, goal, scene.floor)
    save_body_animation(out / "crawl.gif", motions, window, goal, scene.floor)


if __name__ == "__main__":
    sys.exit(main())
