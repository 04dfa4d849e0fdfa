"""Bodies of material points over a grid: a soft robot, a fish in a tank, a block to be thrown.

The scenes of the DiffTaichi paper (Hu et al., ICLR 2020, "diffmpm" and "diffmpm_simple"). A muscle
is a box of particles under a stress along y, which an open loop of sines drives. This module holds
data only; how it moves is written in `demos/diffmpm.py` and `demos/mpm_velocity.py`.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

SCENE_NAMES = ("robot", "fish")
STICKS = 1e30  # a coefficient of friction that stops whatever touches the floor


class _Box(NamedTuple):
    """A rectangle of particles: its lower left corner, its sides [m] and its material."""

    x: float
    y: float
    width: float
    height: float
    muscle: int = -1
    fluid: bool = False


_BOXES = {
    # A beam on two legs, each of a left and a right muscle.
    "robot": [
        _Box(0.1, 0.13, 0.3, 0.1),
        *[_Box(0.1 + x, 0.03, 0.05, 0.1, k) for k, x in enumerate((0.0, 0.05, 0.2, 0.25))],
    ],
    # A fish of a back and four muscles, above water at the bottom of the tank into which it falls.
    "fish": [
        _Box(0.025, 0.025, 0.95, 0.1, fluid=True),
        _Box(0.1, 0.2, 0.15, 0.05),
        *[_Box(x, 0.15, 0.025, 0.05, k) for k, x in enumerate((0.1, 0.125, 0.2, 0.225))],
    ],
}


@dataclass(frozen=True, slots=True)
class MpmScene:
    """Material points at rest in the unit square, whose walls lie three cells inside it.

    Attributes:
        name: One of `SCENE_NAMES`.
        positions: Initial positions of the particles [m], shape (n, 2).
        fluid: Which of them are fluid; the others are elastic. Shape (n,), int32.
        muscle: The muscle that a particle belongs to, or -1. Shape (n,), int32.
        n_grid: Cells along a side of the unit square.
        time_step: [s].
        gravity: Acceleration along -y [m/s^2].
        stiffness: Both Lamé parameters of elastic bodies, and the bulk modulus of the fluid [Pa].
        volume: Of a particle at rest, in an arbitrary unit (in which masses are given too).
        fluid_mass: Mass of a particle of fluid; one of an elastic body has 1.
        uprightness: Ratio of the vertical to the horizontal pressure in the fluid.
        friction: Coulomb's coefficient at the floor.
        strength: Stress of a muscle at full activation [Pa].
        n_clock: Number of sines that drive the muscles.
        clock_rate: Their angular frequency [rad/s].
    """

    name: str
    positions: np.ndarray
    fluid: np.ndarray
    muscle: np.ndarray
    n_grid: int
    time_step: float = 1e-3
    gravity: float = 3.8
    stiffness: float = 10.0
    volume: float = 1.0
    fluid_mass: float = 4.0
    uprightness: float = 1.0
    friction: float = 0.5
    strength: float = 4.0
    n_clock: int = 4
    clock_rate: float = 20.0

    @property
    def n_solid(self) -> float:
        """Number of elastic particles."""
        return float(np.sum(self.fluid == 0))

    @property
    def n_muscles(self) -> int:
        """Number of muscles."""
        return int(self.muscle.max()) + 1

    @property
    def width(self) -> float:
        """Extent of the elastic body along x at the start [m]: one body length."""
        return float(np.ptp(self.positions[self.fluid == 0, 0]))


@dataclass(frozen=True, slots=True)
class Controller:
    """The control of the muscles: activation k is tanh(weights[k] @ sines + bias[k]).

    Attributes:
        weights: Shape (muscles, sines).
        bias: Shape (muscles,).
    """

    weights: np.ndarray
    bias: np.ndarray


@dataclass(frozen=True, slots=True)
class BlockScene:
    """An elastic block of unit masses that is thrown at a point.

    Attributes:
        positions: Initial positions of the particles [m], shape (n, 2).
        target: Desired final position of their centre [m], shape (2,).
        n_grid: Cells along a side of the unit square.
        time_step: [s].
        gravity: Acceleration along -y [m/s^2].
        stiffness: Both Lamé parameters [Pa].
        volume: Of a particle at rest.
    """

    positions: np.ndarray
    target: np.ndarray
    n_grid: int
    time_step: float = 3e-4
    gravity: float = 9.8
    stiffness: float = 100.0
    volume: float = 1.0


def make_scene(name: str = "robot", n_grid: int = 128, original: bool = False) -> MpmScene:
    """Return the scene of that name, with four particles a cell.

    Args:
        name: One of `SCENE_NAMES`.
        n_grid: Cells along a side of the unit square.
        original: Keep two mistakes of the paper's program: only a tenth of the pressure of the
            water acts along y, and everything sticks to the floor instead of sliding.

    Raises:
        ValueError: The name is not in `SCENE_NAMES`, or the grid is too coarse for the scene.
    """
    if name not in SCENE_NAMES:
        raise ValueError(f"there is no scene {name!r}: choose one of {', '.join(SCENE_NAMES)}")
    boxes = _BOXES[name]
    # A box has a cell at least, and the nodes around its particles are on the grid.
    sides = min(min(box.width, box.height) for box in boxes)
    margin = min(min(box.x, box.y, 1.0 - box.x - box.width) for box in boxes)
    least = round(max(1.0 / sides, 1.5 / margin))
    if n_grid < least:
        raise ValueError(f"the {name} needs a grid of {least} cells or more, not {n_grid}")
    positions = [_fill(box, n_grid) for box in boxes]
    counts = [len(points) for points in positions]
    return MpmScene(
        name=name,
        positions=np.concatenate(positions),
        fluid=np.repeat(np.array([box.fluid for box in boxes], np.int32), counts),
        muscle=np.repeat(np.array([box.muscle for box in boxes], np.int32), counts),
        n_grid=n_grid,
        time_step=1e-3 * min(1.0, 128 / n_grid),  # so that no wave of stress skips a cell
        uprightness=0.1 if original else 1.0,
        friction=STICKS if original else 0.5,
    )


def make_controller(scene: MpmScene, seed: int = 0) -> Controller:
    """Draw small normal weights, no biases.

    NumPy's legacy generator, since it gives the initial weights of the paper's own program.
    """
    rng = np.random.RandomState(seed)
    weights = 0.01 * rng.randn(scene.n_muscles, scene.n_clock)
    return Controller(weights=weights, bias=np.zeros(scene.n_muscles))


def make_block(n_grid: int = 120) -> BlockScene:
    """Return a block of a third of a metre, with four particles a cell; 6400 of them at 120.

    Raises:
        ValueError: The grid has less than 18 cells: nodes around the block would not be on it.
    """
    if n_grid < 18:
        raise ValueError(f"the block needs a grid of 18 cells or more, not {n_grid}")
    i, j = np.indices((2 * n_grid // 3, 2 * n_grid // 3))
    positions = np.array([10.0, 25.0]) / 120 + np.stack([i, j], axis=-1).reshape(-1, 2) / 2 / n_grid
    return BlockScene(
        positions=positions,
        target=np.array([0.3, 0.6]),
        n_grid=n_grid,
        time_step=3e-4 * min(1.0, 120 / n_grid),
    )


def _fill(box: _Box, n_grid: int) -> np.ndarray:
    """Return a regular lattice of positions in a box, two a cell along x and along y."""
    columns, rows = 2 * int(box.width * n_grid), 2 * int(box.height * n_grid)
    x = box.x + (np.arange(columns) + 0.5) * box.width / columns
    y = box.y + (np.arange(rows) + 0.5) * box.height / rows
    return np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2)
