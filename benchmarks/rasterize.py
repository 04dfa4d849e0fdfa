"""Images of a textured mesh by `dt.render.rasterize`, beside nvdiffrast or Embree if installed.

A sphere with ripples fills much of the image. Rows: the search for the triangles of pixels, an
image with a filtered texture and smooth outlines, and that with its reverse to vertices and texels.
Calls run turn by turn; milliseconds are medians, of processor time on the CPU, all threads
together, and of wall time on a GPU. The peer on a GPU is nvdiffrast (Laine et al., Modular
primitives for high-performance differentiable rendering, 2020), which does all three; on the CPU
it is Embree by `embreex`, with a ray through the middle of each pixel, beside our own rays.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

import difftile as dt
from benchmarks.meshes import rippled
from benchmarks.peers import mesh_peers
from difftile import ti
from difftile.arguments import Parser, positive_int

Calls = dict[str, Callable[[], object]]
Array = NDArray[Any]
NEAR, FAR = 0.1, 100.0
TEXELS = 1024


@dt.kernel
def shade(raster: ti.template(), uv, texture: ti.template(), image):
    for c, i, j in image:
        hit = raster.hit(c, i, j)
        colour = ti.Vector([0.0, 0.0, 0.0])
        if hit.face >= 0:
            right, down = raster.changes(uv, hit)
            colour = texture.sample_grad(raster.interpolate(uv, hit), right, down)
        image[c, i, j] = colour


@dt.kernel
def touch(vertices, factor: float):
    """Write vertices, so that their triangles are out of date."""
    for i in vertices:
        vertices[i] *= factor


@dt.kernel
def shoot(mesh: ti.template(), origin, directions, found):
    for i in directions:
        found[i] = mesh.ray(origin[None], directions[i]).t


class Ours:
    """The scene in difftile.

    Args:
        vertices: Of the mesh.
        faces: Its triangles.
        uv: Texture coordinates of vertices.
        texels: The texture.
        size: Of the image [pixels].
    """

    def __init__(self, vertices: Array, faces: Array, uv: Array, texels: Array, size: int):
        self.mesh = dt.geometry.Mesh(vertices, faces, signed=False)
        self.camera = dt.render.Cameras.look_at((0.0, 0.4, -2.6), (0, 0, 0), size, size, fov=50)
        self.raster = dt.render.rasterize(self.mesh, self.camera, near=NEAR, far=FAR)
        self.uv = dt.from_numpy(uv, dtype=dt.vec(2))
        self.texture = dt.Texture(texels, mip="linear", wrap=("repeat", "clamp"), grad=True)
        self.image = dt.zeros((1, size, size), dt.vec(3), grad=True)
        self.ones = np.ones((1, size, size, 3), np.float32)

    def find(self) -> int:
        with dt.no_grad():
            touch(self.mesh.vertices, 1.0)
        return self.raster.faces[0, 0, 0, 0]

    def draw(self) -> dt.Field:
        with dt.no_grad():
            touch(self.mesh.vertices, 1.0)
            shade(self.raster, self.uv, self.texture, self.image)
            out = self.raster.antialias(self.image)
        out[0, 0, 0]  # waits
        return out

    def differentiate(self) -> None:
        with dt.no_grad():
            touch(self.mesh.vertices, 1.0)
        with dt.Tape() as tape:
            shade(self.raster, self.uv, self.texture, self.image)
            out = self.raster.antialias(self.image)
        tape.backward({out: self.ones})
        self.mesh.vertices.grad[0][0]  # waits

    def rays(self) -> tuple[Array, Array]:
        """Return the origins and the directions of rays through the middles of pixels."""
        pose, (fx, fy, cx, cy) = (
            self.camera.world_to_camera()[0],
            self.camera.intrinsics.to_numpy()[0],
        )
        y, x = np.mgrid[: self.camera.height, : self.camera.width] + 0.5
        towards = np.stack([(x - cx) / fx, (y - cy) / fy, np.ones_like(x)], -1).reshape(-1, 3)
        eye = -pose[:3, :3].T @ pose[:3, 3]
        directions = (towards @ pose[:3, :3]).astype(np.float32)
        return np.broadcast_to(eye, directions.shape).astype(np.float32), directions


def peers_of(ours: Ours, arch: str, scene: tuple[Array, ...], size: int) -> list[tuple[str, Calls]]:
    """Return the calls of the peers that are installed, and say which are not."""
    vertices, faces, uv, texels = scene
    try:
        if arch == "cuda":
            module = import_module("benchmarks.peers.raster_nvdiffrast")
            seen = ours.raster.projected.to_numpy()[0]
            return [("nvdiffrast", module.make(seen, faces, uv, texels, size, NEAR, FAR))]
        build, shoot_all = mesh_peers.embree(vertices, faces, ours.rays(), vertices)[1:3]
    except ImportError as error:
        print(f"left out: {error}")
        return []
    assert shoot_all is not None
    return [("embreex", {"triangles": lambda: (build(), shoot_all())})]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code."""
    parser = Parser("python -m benchmarks.rasterize", __doc__)
    parser.add_argument("--arch", choices=("cpu", "cuda"), default="cpu", help="default: cpu")
    parser.add_argument("--triangles", type=positive_int, default=100_000)
    parser.add_argument("--size", type=positive_int, default=1024)
    parser.add_argument("--repetitions", type=positive_int, default=7)
    options = parser.parse_args(argv)
    dt.init(arch=options.arch)
    clock = time.process_time if options.arch == "cpu" else time.perf_counter
    vertices, faces = rippled(options.triangles)
    side = int(len(vertices) ** 0.5)
    u, v = np.meshgrid(np.linspace(0, 1, side), np.linspace(0, 1, side), indexing="ij")
    uv = np.stack([v.ravel(), u.ravel()], -1).astype(np.float32)
    texels = np.random.default_rng(0).random((TEXELS, TEXELS, 3)).astype(np.float32)
    scene = vertices, faces, uv, texels
    ours = Ours(*scene, options.size)
    mine: Calls = {
        "triangles": ours.find,
        "image": ours.draw,
        "with gradients": ours.differentiate,
    }
    origins, directions = ours.rays()
    eye = dt.full((), origins[0], dtype=dt.vec(3))
    ways = dt.from_numpy(directions, dtype=dt.vec(3))
    found = dt.zeros(len(directions))

    def cast() -> float:
        with dt.no_grad():
            shoot(ours.mesh, eye, ways, found)
            return found[0]

    rows = [("difftile", mine), ("rays", {"triangles": cast})]
    rows += peers_of(ours, options.arch, scene, options.size)
    shown = (ours.raster.faces.to_numpy() >= 0).mean()
    print(
        f"{len(faces):,} triangles, {options.size} x {options.size} pixels, {shown:.0%} covered; ms"
    )
    for title in mine:
        calls = {name: each[title] for name, each in rows if title in each}
        times: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(options.repetitions + 1):
            for name, call in calls.items():
                begun = clock()
                call()
                times[name].append(clock() - begun)
        medians = {name: 1e3 * median(each[1:]) for name, each in times.items()}
        for name, spent in medians.items():
            print(f"{title:16}{name:12}{spent:10.1f}{spent / medians['difftile']:8.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
