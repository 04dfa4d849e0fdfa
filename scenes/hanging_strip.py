"""A strip of rubber that is clamped at one end and sags under its own weight.

The strip is a plane of linear triangles in columns. Its rest shape is the shape that it would have
without gravity: columns of nodes that keep their length and distance, each turned against the one
before by an angle. The angles are sought with which the strip hangs in a given shape.

Run this file for a few steps of the optimisation; the demo `implicit-equilibrium` does all of them.
"""

from dataclasses import dataclass

import numpy as np

import difftile as dt
from difftile import ti

vec2 = ti.math.vec2


@dataclass(frozen=True, slots=True)
class HangingStrip:
    """A strip, and the shape in which it should hang.

    Attributes:
        straight: Nodes of the straight strip [m], column by column from the clamped one, each from
            bottom to top, shape (n, 2).
        triangles: Nodes of the triangles, counterclockwise, shape (m, 3), int32.
        target: Desired positions of the nodes [m], shape (n, 2).
        columns: The columns after the clamped one.
        rows: The nodes of a column.
        spacing: From one column to the next [m].
        width: From the lowest to the highest node of a column [m].
        thickness: Across the plane [m].
        density: Mass per volume [kg/m^3].
        young: Young's modulus [Pa].
        poisson: Poisson's ratio.
        gravity: Acceleration, along y [m/s^2].
    """

    straight: np.ndarray
    triangles: np.ndarray
    target: np.ndarray
    columns: int
    rows: int
    spacing: float
    width: float
    thickness: float
    density: float
    young: float
    poisson: float
    gravity: float

    @property
    def length(self) -> float:
        """Of the straight strip [m]."""
        return self.columns * self.spacing

    @property
    def shear_modulus(self) -> float:
        """Lamé's second parameter, mu [Pa]."""
        return self.young / (2.0 * (1.0 + self.poisson))

    @property
    def lame(self) -> float:
        """Lamé's first parameter in plane stress, lambda [Pa]."""
        return self.young * self.poisson / (1.0 - self.poisson**2)

    @property
    def weights(self) -> np.ndarray:
        """The forces of gravity on the nodes that are not clamped [N], shape (n - rows, 2)."""
        a, b, c = (self.straight[self.triangles[:, k]] for k in range(3))
        (ux, uy), (vx, vy) = (b - a).T, (c - a).T
        areas = 0.5 * (ux * vy - uy * vx)
        masses = np.zeros(len(self.straight))
        share = self.density * self.thickness * areas / 3.0
        np.add.at(masses, self.triangles, share[:, None])
        return masses[self.rows :, None] * np.array([0.0, self.gravity])


def make_strip(columns: int = 24, rows: int = 3) -> HangingStrip:
    """Return a strip of soft rubber, 40 cm long, that should hang straight.

    Args:
        columns: The columns after the clamped one.
        rows: The nodes of a column.
    """
    length, width = 0.4, 0.04
    along, across = np.arange(columns + 1) / columns, np.arange(rows) / (rows - 1) - 0.5
    x, y = np.meshgrid(length * along, width * across, indexing="ij")
    straight = np.stack([x, y], axis=-1).reshape(-1, 2)
    triangles = []
    for column in range(columns):
        for row in range(rows - 1):
            a = column * rows + row
            b, c, d = a + rows, a + rows + 1, a + 1
            # Diagonals that alternate: all in one direction would make the strip twist.
            even = (column + row) % 2 == 0
            triangles += [(a, b, c), (a, c, d)] if even else [(a, b, d), (b, c, d)]
    return HangingStrip(
        straight=straight,
        triangles=np.array(triangles, np.int32),
        target=straight,
        columns=columns,
        rows=rows,
        spacing=length / columns,
        width=width,
        thickness=0.01,
        density=1000.0,
        young=4e5,
        poisson=0.4,
        gravity=-9.81,
    )


@dt.kernel
def lay_out(bend, rest, rows: int, spacing: float, width: float):
    """Set the rest shape: columns that are turned against each other, from the clamped one on."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        angle, place = 0.0, vec2(0.0, 0.0)
        for column in range(bend.shape[0] + 1):
            for row in range(rows):
                height = width * (row / (rows - 1.0) - 0.5)
                rest[column * rows + row] = place + height * vec2(-ti.sin(angle), ti.cos(angle))
            if column < bend.shape[0]:
                middle = angle + 0.5 * bend[column]
                place += spacing * vec2(ti.cos(middle), ti.sin(middle))
                angle += bend[column]


@dt.func
def node(x, rest, k):
    """Return where a node is: the first ones are clamped in their rest shape."""
    clamped = rest.shape[0] - x.shape[0]
    place = rest[k]
    if k >= clamped:
        place = x[k - clamped]
    return place


@dt.func
def push(force, rest, k, f):
    clamped = rest.shape[0] - force.shape[0]
    if k >= clamped:
        force[k - clamped] += f


@dt.func
def pull(x, force, rest, corners, stiffness):
    """Add the forces of a triangle of neo-Hookean material on its nodes.

    The energy density is mu/2 (|F|^2 - 2 - 2 ln J) + lambda/2 (ln J)^2, J = det F (Bonet and Wood,
    Nonlinear continuum mechanics for finite element analysis, 2008, section 6.4.3).
    """
    mu, lame, thickness = stiffness
    a, b, c = corners
    at = node(x, rest, a)
    edges = ti.Matrix.cols([node(x, rest, b) - at, node(x, rest, c) - at])
    rest_edges = ti.Matrix.cols([rest[b] - rest[a], rest[c] - rest[a]])
    shape = ti.math.inverse(rest_edges)
    F = edges @ shape
    J = F.determinant()
    back = ti.math.inverse(F).transpose()
    stress = mu * (F - back) + lame * ti.log(J) * back
    volume = 0.5 * thickness * rest_edges.determinant()
    forces = -volume * stress @ shape.transpose()
    fb, fc = vec2(forces[0, 0], forces[1, 0]), vec2(forces[0, 1], forces[1, 1])
    push(force, rest, b, fb)
    push(force, rest, c, fc)
    push(force, rest, a, -fb - fc)


@dt.kernel
def imbalance(x, force, rest, corners, weights, mu: float, lame: float, thickness: float):
    """Set the residual force on each free node, which is zero where the strip is at rest."""
    for i in force:
        force[i] += weights[i]
    for k in corners:
        pull(x, force, rest, corners[k], (mu, lame, thickness))


@dt.kernel
def relax(
    x,
    v,
    force,
    rest,
    corners,
    weights,
    mu: float,
    lame: float,
    thickness: float,
    give: float,
    keep: float,
):
    """Move each node by the force on it, and by a fraction of its previous move."""
    for i in force:
        force[i] = weights[i]
    for k in corners:
        pull(x, force, rest, corners[k], (mu, lame, thickness))
    for i in x:
        v[i] = keep * v[i] + give * force[i]
        x[i] += v[i]


@dt.kernel
def miss(x, target, loss):
    """Add the mean squared distance of the nodes from their targets [m^2]."""
    for i in x:
        away = x[i] - target[i]
        loss[None] += away.dot(away) / x.shape[0]


class Strip:
    """The strip in fields: the parameters of its rest shape, and its position."""

    def __init__(self, scene: HangingStrip):
        self.scene = scene
        vector = dt.vec(2, ti.f64)
        free = scene.straight[scene.rows :]
        self.bend = dt.zeros(scene.columns, ti.f64, grad=True)  # angles between columns [rad]
        self.rest = dt.zeros(len(scene.straight), vector, grad=True)
        self.x = dt.from_numpy(free, dtype=vector, grad=True)
        self.v = dt.zeros(len(free), vector, grad=True)
        self.force = dt.zeros(len(free), vector, grad=True)
        self.loss = dt.zeros((), ti.f64, grad=True)
        self.corners = dt.from_numpy(scene.triangles, dtype=ti.math.ivec3)
        self.weights = dt.from_numpy(scene.weights, dtype=vector)
        self.target = dt.from_numpy(scene.target[scene.rows :], dtype=vector)
        self.material = scene.shear_modulus, scene.lame, scene.thickness
        # The compliance of a node is that of the stiffest motion of the mesh; how much
        # of its motion it keeps suits the slowest one, the first mode of a beam (Polyak, 1964).
        dx, dy = scene.spacing, scene.width / (scene.rows - 1)
        modulus = (scene.lame + 2.0 * scene.shear_modulus) * scene.thickness
        give = 1.1 / (modulus * (dx / dy + dy / dx))
        bending = scene.young * scene.thickness * scene.width**3 / 12.0
        slowest = (1.875 / scene.length) ** 4 * bending * dx / scene.rows
        self.relaxation = give, 1.0 - 4.5 * np.sqrt(slowest * give / 3.0)
        self.lay_out()

    def lay_out(self) -> None:
        """Work out the rest shape."""
        lay_out(self.bend, self.rest, self.scene.rows, self.scene.spacing, self.scene.width)

    def straighten(self) -> None:
        """Hold the strip straight, out of balance."""
        self.x.from_numpy(self.scene.straight[self.scene.rows :])

    def relax(self, steps: int) -> None:
        """Release the strip, and let it come to rest."""
        self.v.fill(0.0)
        fields = self.x, self.v, self.force, self.rest, self.corners, self.weights
        for _ in range(steps):
            relax(*fields, *self.material, *self.relaxation)

    def settle(self) -> None:
        """Find the equilibrium near the current position of the strip.

        On a tape the equilibrium itself is differentiated, not the iterations.
        """
        known = self.rest, self.corners, self.weights, *self.material
        dt.root(imbalance, self.x, args=known)

    def measure(self) -> None:
        """Work out the loss."""
        self.loss.fill(0.0)
        miss(self.x, self.target, self.loss)

    def nodes(self) -> np.ndarray:
        """Return where all nodes are [m], shape (n, 2)."""
        return np.concatenate([self.scene.straight[: self.scene.rows], self.x.to_numpy()])


if __name__ == "__main__":
    strip = Strip(make_strip(columns=8))
    strip.straighten()
    strip.relax(3000)  # near the equilibrium, which the tape then differentiates as such
    descent = dt.optim.Adam({"bend": strip.bend}, 0.01)
    for _ in range(8):
        with dt.Tape(strip.loss):
            strip.lay_out()
            strip.settle()
            strip.measure()
        print(f"loss {strip.loss[None]:.6f}")
        descent.step()
