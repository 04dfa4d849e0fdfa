"""A square of water whose waves should show a picture when they stop.

The scene of the DiffTaichi paper (Hu et al., ICLR 2020, "wave"). The initial height of the water is
sought.

Run this file for a few steps of the optimisation; the demos `wave` and `water-renderer` do all of
them.
"""

from dataclasses import dataclass

import numpy as np

import difftile as dt
from difftile import distributed as dist
from difftile import ti

_TILES = 6  # along each axis
_EMBLEM, _GLASS = 0.16, 0.42  # radii of the emblem and of the glass, in widths of the pool
BENDING = 2.0  # cells to a unit of slope

vec2 = ti.math.vec2


@dataclass(frozen=True, slots=True)
class WaveScene:
    """A square of cells on which waves travel; outside of it the water stays flat.

    Attributes:
        target: Height at the end [m], its mean zero, shape (n, n).
        width: Of the square [m].
        speed: Of long waves [m/s].
    """

    target: np.ndarray
    width: float = 1.0
    speed: float = 340.0

    @property
    def n(self) -> int:
        """Number of cells along each axis."""
        return len(self.target)

    @property
    def cell(self) -> float:
        """Width of a cell [m]."""
        return self.width / self.n

    @property
    def time_step(self) -> float:
        """In which a wave travels 1/sqrt(3) of a cell [s]; above 1/sqrt(2) it would grow."""
        return self.cell / (np.sqrt(3.0) * self.speed)

    @property
    def courant(self) -> float:
        """(speed · time_step / cell)²."""
        return (self.speed * self.time_step / self.cell) ** 2


def make_drop(n: int, x: float, y: float, radius: float = 0.025) -> np.ndarray:
    """Return the height of a drop on the water, 1 in its middle, shape (n, n).

    Args:
        n: Number of cells along each axis.
        x: Its middle, from 0 at the left to 1 at the right.
        y: Likewise, from the bottom to the top.
        radius: At which its height is 1/e.
    """
    place = (np.arange(n) + 0.5) / n
    across, down = (
        np.exp(-(((place - x) / radius) ** 2)),
        np.exp(-(((1 - place - y) / radius) ** 2)),
    )
    return down[:, None] * across


def make_scene(n: int = 256) -> WaveScene:
    """Return the scene in which the waves should show yin and yang in a ring.

    Args:
        n: Number of cells along each axis.
    """
    radius = 0.36
    y, x = np.meshgrid(*[((np.arange(n) + 0.5) / n - 0.5) / radius] * 2, indexing="ij")
    edge = 3 / (n * radius)  # three cells: shorter waves do not keep their shape on the grid
    ring = draw_disc(y, x, 1.17, edge) - draw_disc(y, x, 1.06, edge)
    picture = draw_yin_yang(y, x, edge) * draw_disc(y, x, 1.0, edge) + ring
    return WaveScene(target=picture - picture.mean())


@dt.data_oriented
class Wave:
    """A square of water; `initial` is its height at the start [m], shape (n, n).

    Args:
        scene: The square, and the goal for the water.
        steps: States of a run, the initial one included.
        dtype: Of the numbers.
    """

    def __init__(self, scene: WaveScene, steps: int, dtype=ti.f32):
        self.n, self.courant, self.steps = scene.n, scene.courant, steps
        self.initial = dt.zeros((self.n, self.n), dtype, grad=True)
        # A rim of cells that stay zero is the flat water outside.
        self.p, self.older = (dt.zeros((self.n + 2,) * 2, dtype, grad=True) for _ in range(2))
        self.target = dt.from_numpy(scene.target, dtype=dtype)
        self.loss = dt.zeros((), dtype, grad=True)
        self.parameters = {"initial": self.initial}

    @dt.kernel
    def advance(self, p, older):
        """Write the next height over the older one."""
        for i, j in ti.ndrange((1, self.n + 1), (1, self.n + 1)):
            laplacian = p[i - 1, j] + p[i + 1, j] + p[i, j - 1] + p[i, j + 1] - 4.0 * p[i, j]
            older[i, j] = 2.0 * p[i, j] - older[i, j] + self.courant * laplacian

    @dt.kernel
    def add(self, p, older, heights):
        """Raise the water, which keeps its velocity."""
        for i, j in heights:
            p[i + 1, j + 1] += heights[i, j]
            older[i + 1, j + 1] += heights[i, j]

    @dt.kernel
    def measure(self):
        """The mean squared difference of the water and the picture."""
        self.loss[None] = 0.0
        for i, j in self.target:
            self.loss[None] += (self.target[i, j] - self.p[i + 1, j + 1]) ** 2 / self.n**2

    def start(self) -> None:
        """Raise the water in state 0; in state 1 it is flat."""
        self.older[1:-1, 1:-1].copy_from(self.initial)
        self.p.fill(0.0)

    def step(self) -> None:
        """Advance by one time step."""
        self.advance(self.p, self.older)
        self.p, self.older = self.older, self.p

    def step_back(self) -> None:
        """Go back by one time step, with the water and with the gradients.

        Waves are the same in both directions of time: the water is run backwards, not kept.
        """
        self.p, self.older = self.older, self.p
        self.advance(self.p, self.older)
        self.advance.bwds(self.p, self.older)

    def run(self) -> None:
        """Simulate from the start and measure the loss."""
        self.start()
        for _ in dt.steps(2, self.steps):
            self.step()
        self.measure()


@dt.data_oriented
class WaveOnRanks:
    """The same water in parts, one for each rank; each process runs this program.

    Compared with `Wave`: fields are those of a grid, whose halo is the rim; kernels loop over the
    cells of this rank; a step exchanges the halo first; the loss is summed over ranks.

    Args:
        scene: The square, and the goal for the water.
        steps: States of a run, the initial one included.
        dtype: Of the numbers.
    """

    def __init__(self, scene: WaveScene, steps: int, dtype=ti.f32):
        self.n, self.courant, self.steps = scene.n, scene.courant, steps
        self.grid = dist.Grid((self.n, self.n), halo=1)
        self.initial, self.p, self.older = (self.grid.field(dtype, grad=True) for _ in range(3))
        self.target = self.grid.field(dtype)
        self.target.from_global(scene.target)
        self.loss = dt.zeros((), dtype, grad=True)
        self.parameters = {"initial": self.initial}

    @dt.kernel
    def advance(self, p, older):
        """Write the next height over the older one."""
        for i, j in ti.ndrange((1, p.shape[0] - 1), (1, p.shape[1] - 1)):
            laplacian = p[i - 1, j] + p[i + 1, j] + p[i, j - 1] + p[i, j + 1] - 4.0 * p[i, j]
            older[i, j] = 2.0 * p[i, j] - older[i, j] + self.courant * laplacian

    @dt.kernel
    def measure(self, p, target):
        """The mean squared difference of the water and the picture, the part of this rank."""
        self.loss[None] = 0.0
        for i, j in target:
            self.loss[None] += (target[i, j] - p[i, j]) ** 2 / self.n**2

    def start(self) -> None:
        """Raise the water in state 0; in state 1 it is flat."""
        self.older.inner.copy_from(self.initial.inner)
        self.p.fill(0.0)

    def step(self) -> None:
        """Advance by one time step."""
        self.p.exchange()
        self.advance(self.p, self.older)
        self.p, self.older = self.older, self.p

    def run(self) -> None:
        """Simulate from the start and measure the loss."""
        self.start()
        for _ in range(2, self.steps):
            self.step()
        self.measure(self.p.inner, self.target.inner)
        dist.sum(self.loss)


# A pool seen through the water


@dataclass(frozen=True, slots=True)
class WaterScene:
    """The bottom of a square pool, and its desired image through the water.

    Attributes:
        bottom: Red, green and blue from 0 to 1, shape (n, n, 3).
        target: The image, of the same shape.
    """

    bottom: np.ndarray
    target: np.ndarray


def make_pool(n: int = 256, magnification: float = 1.4) -> WaterScene:
    """Return a tiled pool with an emblem, and its image through a glass over the middle.

    Args:
        n: Number of pixels along each axis, and of cells of the water.
        magnification: In the middle of the glass; towards its rim it falls to 1.
    """
    y, x = np.meshgrid(*[np.arange(n) / n - 0.5] * 2, indexing="ij")
    glass = np.clip(1.0 - (y**2 + x**2) / _GLASS**2, 0.0, 1.0)
    nearer = 1.0 - (1.0 - 1.0 / magnification) * glass
    return WaterScene(bottom=_draw_bottom(y, x), target=_draw_bottom(nearer * y, nearer * x))


def _draw_bottom(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the colours of the bottom at places, in widths from the middle, shape (..., 3).

    Soft edges: light that is bent too little still feels which way the colour changes.
    """
    off_tile = [(_TILES * place) % 1.0 - 0.5 for place in (y, x)]
    grout = np.exp(-((np.abs(off_tile).min(axis=0) / 0.12) ** 2))
    red, green = 0.35 + 0.1 * np.cos(3 * y + 2 * x), 0.65 + 0.1 * np.sin(4 * x - y)
    tiles = np.stack([red, green, np.full_like(x, 0.75)], axis=-1) * (1 - 0.25 * grout[..., None])
    place = y / _EMBLEM, x / _EMBLEM
    yang, disc = draw_yin_yang(*place, edge=0.15)[..., None], draw_disc(*place, 1.0, 0.3)[..., None]
    emblem = yang * (1.0, 0.95, 0.85) + (1 - yang) * (0.75, 0.2, 0.1)
    return tiles * (1 - disc) + emblem * disc


# Pictures made of formulas


def draw_disc(
    y: np.ndarray, x: np.ndarray, radius: float, edge: float, middle: float = 0.0
) -> np.ndarray:
    """Return 1 inside a disc and 0 outside of it, at places.

    Args:
        y: Downwards, any shape.
        x: To the right, of the same shape.
        radius: Of the disc.
        edge: The width over which it fades.
        middle: Its y; its x is 0.
    """
    return _rise((radius - np.hypot(y - middle, x)) / edge)


def draw_yin_yang(y: np.ndarray, x: np.ndarray, edge: float) -> np.ndarray:
    """Return 0 in yin and 1 in yang, which share a disc of radius 1, at places.

    Args:
        y: Downwards, any shape.
        x: To the right, of the same shape.
        edge: The width over which one fades into the other.
    """
    head, eye = (
        [draw_disc(y, x, r, edge, middle) for middle in (-0.5, 0.5)] for r in (1 / 2, 1 / 6)
    )
    yang = _rise(x / edge)
    yang = np.maximum(yang, head[0]) * (1.0 - head[1])
    return np.maximum(yang * (1.0 - eye[0]), eye[1])


def _rise(place: np.ndarray) -> np.ndarray:
    """Rise from 0 at -1/2 to 1 at 1/2 without a kink."""
    t = np.clip(place + 0.5, 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


@dt.data_oriented
class WaterRenderer:
    """A pool: `wave` is the water, `image` the bottom seen through it, shape (n, n).

    Args:
        scene: The bottom of the pool, and its desired image.
        steps: States of the water in a run, the initial one included.
        dtype: Of the numbers.
    """

    def __init__(self, scene: WaterScene, steps: int, dtype=ti.f32):
        self.n, color = len(scene.bottom), dt.vec(3, dtype)
        self.wave = Wave(WaveScene(target=np.zeros((self.n, self.n))), steps, dtype)
        self.bottom, self.target = (
            dt.from_numpy(image, dtype=color) for image in (scene.bottom, scene.target)
        )
        self.image = dt.zeros((self.n, self.n), color, grad=True)
        self.loss = dt.zeros((), dtype, grad=True)
        self.parameters = self.wave.parameters

    @dt.kernel
    def refract(self):
        """Look at the bottom through the water."""
        p = self.wave.p
        for i, j in self.image:
            rise = vec2(p[i + 2, j + 1] - p[i, j + 1], p[i + 1, j + 2] - p[i + 1, j])
            at = ti.math.clamp(vec2(i, j) - BENDING * self.n / 2 * rise, 0.0, self.n - 2.0)
            a = ti.cast(at, ti.i32)
            f = at - a
            near = ti.math.mix(self.bottom[a], self.bottom[a + ti.Vector([0, 1])], f.y)
            far = ti.math.mix(self.bottom[a + ti.Vector([1, 0])], self.bottom[a + 1], f.y)
            self.image[i, j] = ti.math.mix(near, far, f.x)

    @dt.kernel
    def measure(self):
        """The mean squared error of the colours."""
        self.loss[None] = 0.0
        for i, j in self.image:
            self.loss[None] += (self.image[i, j] - self.target[i, j]).norm_sqr() / (3 * self.n**2)

    def run(self) -> None:
        """Move the water, look through it and measure the loss."""
        self.wave.start()
        for _ in dt.steps(2, self.wave.steps):
            self.wave.step()
        self.refract()
        self.measure()


if __name__ == "__main__":
    wave = Wave(make_scene(64), steps=128)
    descent = dt.optim.SGD(wave.parameters, 5.0, momentum=0.9)
    for _ in range(8):
        with dt.Tape(wave.loss):
            wave.run()
        print(f"loss {wave.loss[None]:.6f}")
        descent.step()
