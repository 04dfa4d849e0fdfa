"""A robot on four legs in three dimensions, optionally with a pool of liquid before it.

The scenes of the DiffTaichi paper (Hu et al., ICLR 2020, "diffmpm3d" and "liquid"). A muscle is a
box of particles under a stress along z, which an open loop of sines drives; y points up. This
module holds only data; the simulation is in `demos/diffmpm3d.py`.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from scenes.mpm import STICKS, MpmScene

SCENE_NAMES = ("robot", "liquid")
PER_CELL = 3  # particles along a side of a cell
_LEAST_GRID = 16  # on a coarser one the floor is as high as the robot
_ORIGINAL_GRID = 64  # cells along a side in the paper's program
_CORNER = np.array([0.1, 0.05, 0.3])  # of the robot's box [m], on that grid
_BLOCK = {"robot": 0.1, "liquid": 0.08}  # a third of the robot's length and depth [m]


class _Box(NamedTuple):
    """A cuboid of particles: its least corner, its sides [m] and its material."""

    corner: np.ndarray
    sides: np.ndarray
    muscle: int = -1
    fluid: bool = False


def make_scene(
    name: str = "robot",
    n_grid: int = _ORIGINAL_GRID,
    seed: int = 0,
    original: bool = False,
) -> MpmScene:
    """Return the scene of that name.

    A coarser grid has a higher floor, so bodies on it are lifted; a finer one lowers them.

    Args:
        name: One of `SCENE_NAMES`.
        n_grid: Cells along a side of the unit cube.
        seed: Of the positions of the liquid.
        original: Keep a mistake of the paper's program: everything sticks to the floor instead
            of sliding.

    Raises:
        ValueError: The name is not in `SCENE_NAMES`, or the grid is too coarse for the scene.
    """
    if name not in SCENE_NAMES:
        raise ValueError(f"there is no scene {name!r}: choose one of {', '.join(SCENE_NAMES)}")
    if n_grid < _LEAST_GRID:
        raise ValueError(f"the {name} needs a grid of {_LEAST_GRID} cells or more, not {n_grid}")
    boxes = [*_robot(_BLOCK[name])]
    if name == "liquid":
        boxes.append(_Box(np.array([0.1, 0.15, 0.1]), np.array([0.2, 0.05, 0.2]), fluid=True))
    rng = np.random.default_rng(seed)
    positions = [_fill(box, PER_CELL * n_grid, rng) for box in boxes]
    counts = [len(points) for points in positions]
    lift = np.array([0.0, 0.05 * (_ORIGINAL_GRID / n_grid - 1.0), 0.0])
    return MpmScene(
        name=name,
        positions=np.concatenate(positions) + _CORNER + lift,
        fluid=np.repeat(np.array([box.fluid for box in boxes], np.int32), counts),
        muscle=np.repeat(np.array([box.muscle for box in boxes], np.int32), counts),
        n_grid=n_grid,
        time_step=2e-3,
        gravity=10.0,
        friction=STICKS if original else 0.5,
        strength=5.0,
        clock_rate=40.0,
    )


def _robot(block: float) -> Iterator[_Box]:
    """Four legs of four muscles each, two side by side and two above them, with a deck between."""
    for k in range(16):
        leg, part = divmod(k, 4)
        foot = np.array([leg // 2 * 2.0, 0.0, leg % 2 * 2.0])
        shift = np.array([0.5 * (part // 2), 0.35 * (part % 2), 0.0])
        yield _Box(block * (foot + shift), block * np.array([0.5, 0.35, 1.0]), k)
    for i in range(3):
        yield _Box(block * np.array([i, 0.0, 1.0]), block * np.array([1.0, 0.7, 1.0]))


def _fill(box: _Box, density: int, rng: np.random.Generator) -> np.ndarray:
    """Return positions in a box: a regular lattice, or for a fluid random ones."""
    counts = (box.sides * density).astype(int)
    if box.fluid:
        return box.corner + box.sides * rng.random((int(counts.prod()), 3))
    lattice = np.indices(counts.tolist()).reshape(3, -1).T
    return box.corner + (lattice + 0.5) * box.sides / counts
