"""A rectangular cloth of masses and springs above a ball, and the wind around it.

The cloth is the grid of Provot (Graphics Interface 1995): stretch springs between neighbours,
shear springs across each cell, bend springs between masses two apart. This module holds data only;
how the cloth moves is written in `demos/cloth.py`.
"""

from dataclasses import dataclass, field

import numpy as np

SPRING_KINDS = ("stretch", "shear", "bend")
_OFFSETS = (  # of the second end of a spring from the first, in rows and columns, and its kind
    *[(0, 1, 0), (1, 0, 0)],
    *[(1, 1, 1), (1, -1, 1)],
    *[(0, 2, 2), (2, 0, 2)],
)


@dataclass(frozen=True, slots=True)
class Cloth:
    """Equal point masses in a grid, joined by springs; the skin between them is triangles.

    Attributes:
        shape: Rows and columns of masses.
        positions: Initial positions of the masses [m], at rest, shape (n, 3), row by row.
        springs: The two masses each spring joins and the index of its kind in `SPRING_KINDS`, shape
            (m, 3), int32.
        rest_length: Lengths without force, as at the start [m], shape (m,).
        triangles: The masses at the corners, anticlockwise seen from above, shape (k, 3), int32;
            first one of each cell, then the other.
        mass: Of each of the masses [kg].
    """

    shape: tuple[int, int]
    positions: np.ndarray
    springs: np.ndarray
    rest_length: np.ndarray
    triangles: np.ndarray
    mass: float


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters that can be fitted.

    Attributes:
        wind: Velocity of the air at 0 s and at 1 s [m/s], shape (2, 3); linear in time.
        stiffness: Of the springs by kind [N/m], shape (3,).
    """

    wind: np.ndarray
    stiffness: np.ndarray


@dataclass(frozen=True, slots=True)
class ClothScene:
    """A cloth, the ball it falls on, and the air. z points up.

    Attributes:
        cloth: Masses and springs.
        time_step: [s].
        gravity: Acceleration along z [m/s^2].
        damping: Rate at which a spring slows the change of its length, for each end of it [1/s].
        drag: Force of the air on a triangle, along its normal, per area and speed along that normal
            [N s/m^3].
        center: Of the ball [m], shape (3,).
        radius: Of the ball [m], with half the thickness of the cloth.
        friction: Coulomb's coefficient between cloth and ball.
    """

    cloth: Cloth
    time_step: float
    gravity: float = -9.8
    damping: float = 100.0
    drag: float = 2.0
    center: np.ndarray = field(default_factory=lambda: np.array([0.04, -0.03, 0.0]))
    radius: float = 0.3
    friction: float = 0.2


def make_cloth(
    rows: int, columns: int, width: float = 1.0, height: float = 0.36, density: float = 0.2
) -> Cloth:
    """Return a level cloth of square cells.

    Args:
        rows: Of masses, along y.
        columns: Of masses, along x.
        width: Along x [m].
        height: Above the middle of the ball [m].
        density: Mass per area [kg/m^2].
    """
    gap = width / (columns - 1)
    row, column = np.mgrid[:rows, :columns]
    x, y = gap * (column - 0.5 * (columns - 1)), gap * (row - 0.5 * (rows - 1))
    positions = np.stack([x, y, np.full(x.shape, height)], axis=-1).reshape(-1, 3)

    number = np.arange(rows * columns).reshape(rows, columns)
    springs = []
    for down, right, kind in _OFFSETS:
        first = number[: rows - down, max(0, -right) : columns - max(0, right)].ravel()
        second = number[down:, max(0, right) : columns - max(0, -right)].ravel()
        springs.append(np.stack([first, second, np.full(first.size, kind)], axis=1))
    springs = np.concatenate(springs).astype(np.int32)

    # The corners of the cells, anticlockwise from low x and y. Neighbours are cut along different
    # diagonals, so that the skin has no grain.
    cells = number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]
    a, b, c, d = (corner.ravel() for corner in cells)
    other = ((row + column)[:-1, :-1].ravel() % 2 == 1)[:, None]
    first = np.where(other, np.stack([a, b, d], axis=1), np.stack([a, b, c], axis=1))
    second = np.where(other, np.stack([b, c, d], axis=1), np.stack([a, c, d], axis=1))
    return Cloth(
        shape=(rows, columns),
        positions=positions,
        springs=springs,
        rest_length=np.linalg.norm(positions[springs[:, 0]] - positions[springs[:, 1]], axis=1),
        triangles=np.concatenate([first, second]).astype(np.int32),
        mass=density * gap**2,
    )


def make_scene(rows: int = 25, columns: int = 25, **changes: object) -> ClothScene:
    """Return the scene with a cloth of that many masses, and the given attributes changed.

    Damping allows a step of 1.25 ms, springs on the light masses of a fine cloth less.
    """
    step = {"time_step": min(1.25e-3, 0.03 / (columns - 1))}
    return ClothScene(cloth=make_cloth(rows, columns), **(step | changes))  # pyright: ignore[reportArgumentType]


def guess_parameters() -> Parameters:
    """Return the initial guess of a fit: no wind, and springs of one stiffness."""
    return Parameters(wind=np.zeros((2, 3)), stiffness=np.full(3, 4.0))


def draw_parameters(seed: int) -> Parameters:
    """Return the hidden values: a breeze that turns and grows, and a stiffness of each kind."""
    rng = np.random.default_rng(seed)
    angle, turn = rng.uniform(-np.pi, np.pi), rng.uniform(0.5, 1.5) * rng.choice([-1.0, 1.0])
    angles, speeds = angle + np.array([0.0, turn]), rng.uniform([1.0, 2.5], [2.0, 4.0])
    updraft = rng.uniform(0.0, 0.6, 2)
    wind = np.stack([speeds * np.cos(angles), speeds * np.sin(angles), updraft], axis=1)
    return Parameters(wind=wind, stiffness=rng.uniform([7.0, 4.0, 6.0], [12.0, 8.0, 10.0]))


def choose_masses(cloth: Cloth, stride: int) -> np.ndarray:
    """Return every `stride`-th mass along rows and columns, shape (k,), int32."""
    number = np.arange(len(cloth.positions), dtype=np.int32).reshape(cloth.shape)
    return number[::stride, ::stride].ravel()


def find_hinges(triangles: np.ndarray) -> np.ndarray:
    """Return the pairs of triangles that share an edge, shape (h, 4), int32.

    Args:
        triangles: The corners of the triangles, all in one sense of rotation, shape (k, 3).

    Returns:
        The two ends of the edge, the third corner of the triangle in which the edge runs from the
        first end to the second, and that of the other triangle.
    """
    edges = np.concatenate([triangles[:, [k, (k + 1) % 3, (k + 2) % 3]] for k in range(3)])
    order = np.lexsort((edges[:, :2].max(axis=1), edges[:, :2].min(axis=1)))
    edges = edges[order]
    first, second = edges[:-1], edges[1:]
    same = (first[:, 0] == second[:, 1]) & (first[:, 1] == second[:, 0])
    return np.concatenate([first[same], second[same, 2:]], axis=1).astype(np.int32)
