"""A box is thrown over a floor, ten times, and its friction and mass should be found from tracks.

Each world is a throw: the box starts a little above the floor with a known velocity and spin, and a
known force pushes it while it tumbles and slides. Without that force mass and friction could not be
told apart, and not even seen: a box on its own slows down by friction times gravity, whatever its
mass. Pushes across the motion and along it change its acceleration by force over mass; so each
track bends by both numbers, and ten together separate them.

The floor's friction is 0, so that the box's counts, as the larger one of the pair. Inertia goes
with mass, and so does the constant `body_invweight0`, from which contacts take their
regularisation: of a free body it is one over mass, and one over inertia in the mean.

Run this file for a few steps of the optimisation; the demo `box-friction` does all of them.
"""

from pathlib import Path

import numpy as np

import difftile as dt
from difftile import ti, worlds

MODEL = Path(__file__).parent / "models" / "box.npz"  # of box.xml, by `Model.save`
BODY, GEOM = 1, 1  # the box among bodies and geoms
TRUTH = 0.42, 1.3  # friction and mass [kg] of the box
GUESS = 0.7, 0.7  # before any measurement
LOOKS, BETWEEN = 25, 10  # of a track, and time steps from one to the next
NOISE = 0.004  # of each coordinate of the centre in a track, standard deviation [m]


@dt.kernel
def tell(logs, each):
    """Give each world the shared numbers."""
    for world in range(each.shape[0]):
        for k in range(2):
            each[world, k] = logs[k]


@dt.kernel
def make_boxes(each, inertia, friction, mass, inertias, constants):
    """Write friction and mass, exponentials of the numbers, and what follows the mass."""
    for world in range(each.shape[0]):
        kilograms = ti.exp(each[world, 1])
        own = inertia[None]
        friction[world, GEOM][0] = ti.exp(each[world, 0])
        mass[world, BODY] = kilograms
        inertias[world, BODY] = kilograms * own
        constants[world, BODY][0] = 1.0 / kilograms
        turns = (1.0 / own[0] + 1.0 / own[1] + 1.0 / own[2]) / 3.0
        constants[world, BODY][1] = turns / kilograms


@dt.kernel
def look(qpos, k: int, tracks):
    """Write where the centres are."""
    for world in range(qpos.shape[0]):
        for i in range(3):
            tracks[k, world, i] = qpos[world, i]


@dt.kernel
def compare(tracks, seen, loss):
    """Add half the squares of all differences, in units of the noise."""
    for k, world, i in tracks:
        loss[None] += 0.5 * ((tracks[k, world, i] - seen[k, world, i]) / NOISE) ** 2


class Throws:
    """Throws of a box, and the tracks that were seen of another one.

    Args:
        count: Throws.
        seed: Of throws and noise.
        soft: Whether contact forces begin at 0 (`solimp` with d0 = 0), or with a jump, as by
            default in MuJoCo.
        looks: Of each track.
        dtype: `ti.f32` or `ti.f64`.

    Attributes:
        sim: The worlds.
        logs: Logarithms of friction and mass, shape (2,).
        each: The same for each world, (count, 2).
        tracks: Positions of the centre [m], shape (looks, count, 3).
        seen: The same with noise, of the true box.
        loss: Half the sum of squared differences in units of the noise, 0-D.
        parameters: What the gradient is for, by name.
    """

    def __init__(
        self, count: int = 10, seed: int = 0, soft: bool = True, looks: int = LOOKS, dtype=ti.f64
    ) -> None:
        model = worlds.load_arrays(MODEL)
        if soft:
            model.geom_solimp[:, :3] = 0.0, 0.95, 0.005
        own = "geom_friction", "body_mass", "body_inertia", "body_invweight0"
        self.looks = looks
        self.sim = worlds.Worlds(model, count, dtype=dtype, per_world=own, grad=own)
        self.logs = dt.zeros(2, dtype, grad=True)
        self.each = dt.zeros((count, 2), dtype, grad=True)
        self.tracks = dt.zeros((looks, count, 3), dtype, grad=True)
        self.seen = dt.zeros((looks, count, 3), dtype)
        self.loss = dt.zeros((), dtype, grad=True)
        self.parameters = {"logs": self.logs}
        self._inertia = dt.zeros((), dt.vec(3, dtype))
        self._inertia.from_numpy(self._typed(model.body_inertia[BODY] / model.body_mass[BODY]))
        self._throw(np.random.default_rng(seed))

    def _typed(self, array: np.ndarray) -> np.ndarray:
        return array.astype(np.float32 if self.sim.dtype == ti.f32 else np.float64)

    def _throw(self, draw: np.random.Generator) -> None:
        """Draw how the boxes are thrown and pushed, and see tracks of the true box."""
        count = self.sim.worlds
        qpos = np.tile(self.sim.model.qpos0, (count, 1))
        qpos[:, 2] += draw.uniform(0.02, 0.06, count)
        turn = draw.uniform(-1.0, 1.0, (count, 3)) * [0.15, 0.15, np.pi]
        angle = np.linalg.norm(turn, axis=1, keepdims=True)
        qpos[:, 3:] = np.concatenate([np.cos(angle / 2), np.sin(angle / 2) * turn / angle], axis=1)
        way, speed = draw.uniform(-0.4, 0.4, count), draw.uniform(1.5, 2.5, count)
        qvel = np.zeros((count, 6))
        qvel[:, 0], qvel[:, 1] = speed * np.cos(way), speed * np.sin(way)
        qvel[:, 3:] = draw.uniform(-2.0, 2.0, (count, 3)) * [0.5, 0.5, 2.0]
        push = np.zeros((count, 6 * (BODY + 1)))
        push[:, 6 * BODY : 6 * BODY + 2] = draw.uniform(-4.0, 4.0, (count, 2))
        rest = np.zeros((count, 0))
        given = (dt.from_numpy(self._typed(one)) for one in (qpos, qvel, rest))
        self.start = worlds.Start(*given)
        self.sim.xfrc_applied.from_numpy(self._typed(push))
        self.guess(TRUTH)
        self.simulate()
        noise = NOISE * draw.standard_normal(tuple(self.tracks.shape))
        self.seen.from_numpy(self._typed(self.tracks.to_numpy() + noise))
        self.guess(GUESS)

    def guess(self, numbers: tuple[float, float]) -> None:
        """Set friction and mass [kg]."""
        self.logs.from_numpy(self._typed(np.log(numbers)))

    @property
    def found(self) -> np.ndarray:
        """Friction and mass [kg]."""
        return np.exp(self.logs.to_numpy().astype(float))

    def begin(self) -> None:
        """Make the boxes and put them where they are thrown."""
        m = self.sim.m
        tell(self.logs, self.each)
        make_boxes(
            self.each,
            self._inertia,
            m.geom_friction,
            m.body_mass,
            m.body_inertia,
            m.body_invweight0,
        )
        self.sim.reset(start=self.start)

    def simulate(self) -> None:
        """Throw the boxes and write their tracks."""
        self.begin()
        for k in range(self.looks):
            self.sim.step(BETWEEN)
            look(self.sim.qpos, k, self.tracks)

    def run(self) -> None:
        """Throw the boxes and write the loss."""
        self.loss.fill(0.0)
        self.simulate()
        compare(self.tracks, self.seen, self.loss)

    def jacobian(self) -> np.ndarray:
        """Return derivatives of the tracks by both logarithms [m], (looks, count, 3, 2).

        A world's track depends on its own numbers only, so one pass in reverse gives a row of each
        world.
        """
        found = np.zeros((*self.tracks.shape, 2))
        with dt.Tape() as tape:
            self.simulate()
        for k, i in np.ndindex(self.looks, 3):
            seed = np.zeros(self.tracks.shape)
            seed[k, :, i] = 1.0
            self.each.grad.fill(0.0)
            tape.backward({self.tracks: self._typed(seed)}, retain=[self.each], keep=True)
            found[k, :, i] = self.each.grad.to_numpy()
        return found


def width(jacobian: np.ndarray) -> np.ndarray:
    """Return the covariance of the logarithms: of the Gaussian that Gauss-Newton takes, (2, 2)."""
    rows = jacobian.reshape(-1, jacobian.shape[-1]) / NOISE
    return np.linalg.inv(rows.T @ rows)


if __name__ == "__main__":
    throws = Throws()
    adam = dt.optim.Adam(throws.logs, 0.1, betas=(0.7, 0.9))
    for _ in range(12):
        with dt.Tape(throws.loss):
            throws.run()
        print(f"loss {throws.loss[None]:.6g}")
        adam.step()
    print(f"friction {throws.found[0]:.3f}, mass {throws.found[1]:.3f} kg, for {TRUTH}")
