"""A mesh and its colours, to be found from pictures of another one.

Each pixel shows a triangle or none, and that does not change for a small motion: the colours inside
of triangles have derivatives, and the outline has none. With `edges` the outlines in the pictures
are smooth, and their positions have derivatives (Laine et al., Modular primitives for
high-performance differentiable rendering, 2020).

Run this file for a few steps of the optimisation; the demo `fit-mesh` does all of them.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np

import difftile as dt
from difftile import ti


def ball(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a ball of radius 1 whose vertices are those of a cube with n x n squares a side."""
    line, corners = np.linspace(-1.0, 1.0, n + 1), list[np.ndarray]()
    for axis, sign in product(range(3), (-1.0, 1.0)):
        u, v = np.meshgrid(line, line, indexing="ij")
        sheet = [np.full(u.shape, sign), u, v] if sign > 0 else [np.full(u.shape, sign), v, u]
        points = np.roll(np.stack(sheet, -1), axis, -1)
        a, b, c, d = points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]
        corners += [np.stack(three, 2).reshape(-1, 3, 3) for three in ((a, b, c), (a, c, d))]
    every = np.concatenate(corners).reshape(-1, 3).round(9)
    points, faces = np.unique(every, axis=0, return_inverse=True)
    points = np.tan(0.25 * np.pi * points)  # squares of nearly the same size on the ball
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points, faces.reshape(-1, 3)


def shape(directions: np.ndarray) -> np.ndarray:
    """Return the vertices of the mesh in the pictures: a body with three arms."""
    x, y, z = directions.T
    turn, across = np.arctan2(z, x), 1.0 - y**2
    radius = 0.75 + 0.3 * np.cos(3.0 * turn) * across**1.5 + 0.1 * y
    return radius[:, None] * directions


def paint(directions: np.ndarray) -> np.ndarray:
    """Return the colours in the pictures: stripes around the body, by direction."""
    x, y, z = np.moveaxis(directions, -1, 0)
    wave = 0.5 + 0.4 * np.sin(7.0 * y + 2.0 * x)
    return np.stack([wave, 0.55 + 0.3 * np.sin(3.0 * z), 0.9 - 0.6 * wave], -1)


def cube_directions(n: int) -> np.ndarray:
    """Return the directions of the texels of a cube map, shape (6, n, n, 3)."""
    t, s = np.meshgrid(*(2 * (np.arange(n) + 0.5) / n - 1,) * 2, indexing="ij")
    one = np.ones_like(s)
    sides = [(one, -t, -s), (-one, -t, s), (s, one, t), (s, -one, -t), (s, -t, one), (-s, -t, -one)]
    found = np.stack([np.stack(side, -1) for side in sides])
    return found / np.linalg.norm(found, axis=-1, keepdims=True)


@dataclass(frozen=True, slots=True)
class MeshScene:
    """The mesh to begin with, a ball, and the cameras around it.

    Attributes:
        squares: Of the ball along each edge of the cube that it is made of.
        texels: Of its texture along each edge.
        views: The number of pictures.
        pixels: Of a picture along each side.
        radius: Of the ball.
        stiffness: The weight of changes of the edges of triangles.
    """

    squares: int = 8
    texels: int = 16
    views: int = 8
    pixels: int = 48
    radius: float = 0.6
    stiffness: float = 0.02

    def cameras(self, dtype) -> dt.render.Cameras:
        """Return cameras on a spiral around the mesh."""
        height = 1.0 - 2.0 * (np.arange(self.views) + 0.5) / self.views
        turn = np.pi * (3.0 - 5.0**0.5) * np.arange(self.views)
        across = np.sqrt(1.0 - height**2)
        eyes = 3.0 * np.stack([across * np.cos(turn), height, across * np.sin(turn)], 1)
        size = self.pixels, self.pixels
        return dt.render.Cameras.look_at(eyes, (0, 0, 0), *size, fov=45.0, dtype=dtype)


@dt.data_oriented
class MeshViews:
    """A mesh with a texture, and its views.

    Args:
        scene: What the pictures are of.
        dtype: Of all fields.
        edges: Give outlines derivatives.
    """

    def __init__(self, scene: MeshScene, dtype=ti.f32, edges: bool = True):
        self.scene, self.edges = scene, edges
        vec = dt.vec(3, dtype)
        directions, faces = ball(scene.squares)
        self.directions = dt.from_numpy(directions, dtype=vec)
        self.start = dt.from_numpy(scene.radius * directions, dtype=vec)
        self.mesh = dt.geometry.Mesh(
            dt.from_numpy(scene.radius * directions, dtype=vec, grad=True), faces
        )
        grey = np.full((6, scene.texels, scene.texels, 3), 0.5)
        self.texture = dt.Texture(grey, cube=True, mip="linear", dtype=dtype, grad=True)
        self.raster = dt.render.rasterize(self.mesh, scene.cameras(dtype))
        shape_of = scene.views, scene.pixels, scene.pixels
        self.image = dt.zeros(shape_of, vec, grad=True)
        fine, fine_faces = ball(2 * scene.squares)
        self.truth = dt.geometry.Mesh(
            dt.from_numpy(shape(fine), dtype=vec), fine_faces, signed=False
        )
        self.target = dt.from_numpy(self._pictures(fine, dtype), dtype=vec)
        self.loss = dt.zeros((), dtype, grad=True)
        self.stiffness = scene.stiffness / len(faces)
        self.parameters = {"vertices": self.mesh.vertices, "texels": self.texture.data}

    def _pictures(self, directions: np.ndarray, dtype) -> np.ndarray:
        """Return the pictures to be matched, with finer colours."""
        texels, vec = paint(cube_directions(4 * self.scene.texels)), dt.vec(3, dtype)
        texture = dt.Texture(texels, cube=True, mip="linear", dtype=dtype)
        raster = dt.render.rasterize(self.truth, self.raster.cameras)
        image = dt.zeros(self.image.shape, vec)
        self.shade(raster, dt.from_numpy(directions, dtype=vec), texture, image)
        return raster.antialias(image).to_numpy()

    @dt.kernel
    def shade(self, raster: ti.template(), directions, texture: ti.template(), image):
        """Colour the pixels by a texture, over black."""
        for c, i, j in image:
            hit = raster.hit(c, i, j)
            colour = ti.Vector([0.0, 0.0, 0.0])
            if hit.face >= 0:
                way = raster.interpolate(directions, hit)
                right, down = raster.changes(directions, hit)
                colour = texture.sample_grad(way, right, down)
            image[c, i, j] = colour

    @dt.kernel
    def compare(self, image):
        """Sum the squared differences of pictures, and of edges to those of the ball."""
        for c, i, j in image:
            away = image[c, i, j] - self.target[c, i, j]
            self.loss[None] += away.norm_sqr() / (image.shape[0] * image.shape[1] * image.shape[2])
        for face in self.mesh.faces:
            for k in ti.static(range(3)):
                a, b = self.mesh.faces[face][k], self.mesh.faces[face][(k + 1) % 3]
                now = self.mesh.vertices[b] - self.mesh.vertices[a]
                change = now - (self.start[b] - self.start[a])
                self.loss[None] += self.stiffness * change.norm_sqr()

    def view(self) -> dt.Field:
        """Draw the pictures."""
        self.shade(self.raster, self.directions, self.texture, self.image)
        return self.raster.antialias(self.image) if self.edges else self.image

    def miss(self) -> float:
        """Return how far vertices are from the true mesh, root mean square."""
        away = self.truth.closest(self.mesh.vertices.detach())
        return float(np.sqrt(np.mean(away.distance.to_numpy() ** 2)))

    def run(self) -> None:
        """Draw the pictures, and write the loss."""
        self.loss.fill(0.0)
        self.compare(self.view())


class Descent:
    """Adam on vertices and texels, each with a length of steps.

    Args:
        views: What is optimised.
        iterations: The number of steps, over which they become shorter.
    """

    def __init__(self, views: MeshViews, iterations: int):
        cosine = dt.optim.schedules.cosine
        self.parts = [
            dt.optim.Adam(views.parameters[name], cosine(rate, iterations))
            for name, rate in (("vertices", 0.012), ("texels", 0.03))
        ]

    def step(self) -> None:
        """Move all."""
        for part in self.parts:
            part.step()


if __name__ == "__main__":
    views = MeshViews(MeshScene())
    descent = Descent(views, 20)
    for _ in range(20):
        with dt.Tape(views.loss):
            views.run()
        print(f"loss {views.loss[None]:.6f}")
        descent.step()
