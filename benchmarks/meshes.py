"""Rays and nearest points of a mesh, beside Warp, Embree and libigl where they are installed.

A sphere with ripples, rays from outside towards it and points near it. Queries run turn by turn,
with a check that all libraries find the same distances; seconds are medians, of processor time on
the CPU, all threads together, and of wall time on a GPU. `embreex` and `libigl` have one thread.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

import difftile as dt
from benchmarks.peers import mesh_peers
from benchmarks.peers.mesh_peers import Peer
from difftile import ti
from difftile.arguments import Parser, positive_int

Array = NDArray[Any]
FAR = 1e-4  # distances of f32 are equal up to this


@dt.kernel
def shoot(mesh: ti.template(), origins, directions, found):
    for i in origins:
        found[i] = mesh.ray(origins[i], directions[i]).t


@dt.kernel
def measure(mesh: ti.template(), points, found):
    for i in points:
        found[i] = mesh.closest(points[i]).distance


def rippled(triangles: int) -> tuple[Array, Array]:
    """Return a sphere with ripples, without its poles, of about so many triangles."""
    k = max(2, int((triangles / 2) ** 0.5))
    theta, phi = np.meshgrid(
        np.linspace(0.01, np.pi - 0.01, k + 1), np.linspace(0, 2 * np.pi, k + 1), indexing="ij"
    )
    radius = 1 + 0.1 * np.sin(9 * theta) * np.cos(7 * phi)
    ring = [np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)]
    vertices = np.stack([radius * x for x in ring], -1).reshape(-1, 3).astype(np.float32)
    first = (np.arange(k)[:, None] * (k + 1) + np.arange(k)).ravel()
    faces = [[first, first + k + 1, first + 1], [first + 1, first + k + 1, first + k + 2]]
    return vertices, np.concatenate([np.stack(one, 1) for one in faces]).astype(np.int32)


class Ours:
    """The same queries in difftile, with their gradients."""

    def __init__(self, vertices: Array, faces: Array, rays: tuple[Array, Array], points: Array):
        vec = dt.vec(3, ti.f32)
        self.mesh = dt.geometry.Mesh(vertices, faces)
        self.origins, self.directions, self.points = (
            dt.from_numpy(x, dtype=vec, grad=True) for x in (*rays, points)
        )
        self.found = dt.zeros(len(points), ti.f32, grad=True)

    def build(self) -> None:
        self.mesh.rebuild()
        self.mesh.tree.lower[0, 1]  # waits

    def refit(self) -> None:
        self.mesh.refit()
        self.mesh.tree.lower[0, 1]  # waits

    def shoot(self) -> Array:
        shoot(self.mesh, self.origins, self.directions, self.found)
        return self._read()

    def measure(self) -> Array:
        measure(self.mesh, self.points, self.found)
        return self._read()

    def _read(self) -> Array:
        with dt.no_grad():
            return self.found.to_numpy()

    def differentiated(self, run: Callable[[], Array]) -> Callable[[], object]:
        """Return a call of the queries and the reverse, to vertices and rays or points."""

        def both() -> float:
            with dt.Tape() as tape:
                found = run()
            tape.backward({self.found: np.isfinite(found).astype(np.float32)})
            return self.mesh.vertices.grad[0][0]

        return both


def peers_of(device: str, *scene: Any) -> list[Peer]:
    """Return the peers that are installed, and say which are not."""
    found: list[Peer] = []
    makers: dict[str, Callable[[], Peer]] = {"warp": lambda: mesh_peers.warp(*scene, device)}
    if device == "cpu":
        makers |= {
            "embreex": lambda: mesh_peers.embree(*scene),
            "libigl": lambda: mesh_peers.igl(*scene),
        }
    for name, make in makers.items():
        try:
            found.append(make())
        except ImportError as error:
            print(f"{name} is left out: {error}")
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code, 1 if libraries find different distances."""
    parser = Parser("python -m benchmarks.meshes", __doc__)
    parser.add_argument("--arch", choices=("cpu", "cuda"), default="cpu", help="default: cpu")
    parser.add_argument("--triangles", type=positive_int, default=1_000_000)
    parser.add_argument("--queries", type=positive_int, default=1_000_000)
    parser.add_argument("--repetitions", type=positive_int, default=5)
    options = parser.parse_args(argv)
    dt.init(arch=options.arch)
    clock = time.process_time if options.arch == "cpu" else time.perf_counter
    rng = np.random.default_rng(0)
    vertices, faces = rippled(options.triangles)
    start = rng.normal(size=(options.queries, 3))
    start *= 2 / np.linalg.norm(start, axis=1)[:, None]
    aims = (rng.normal(scale=0.4, size=start.shape) - start).astype(np.float32)
    points = (start * rng.uniform(0.4, 0.6, (len(start), 1))).astype(np.float32)
    scene = vertices, faces, (start.astype(np.float32), aims), points
    ours, peers = Ours(*scene), peers_of(options.arch, *scene)
    print(f"{len(faces):,} triangles, {options.queries:,} rays and points; seconds")

    def medians(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
        times: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(options.repetitions + 1):
            for name, call in calls.items():
                begun = clock()
                call()
                times[name].append(clock() - begun)
        return {name: median(found[1:]) for name, found in times.items()}

    different = False
    for title, kind in (("build", 1), ("rays", 2), ("nearest points", 3)):
        mine: Any = (None, ours.build, ours.shoot, ours.measure)[kind]
        calls = {"difftile": mine, **{one[0]: one[kind] for one in peers if one[kind]}}
        if kind > 1:
            expected = abs(mine())
            for name, call in calls.items():
                got = abs(call())
                both = np.isfinite(got) & np.isfinite(expected)
                wrong = (np.isfinite(got) != np.isfinite(expected)).sum()
                wrong += (abs(got[both] - expected[both]) > FAR).sum()
                different |= bool(wrong > 1e-4 * len(got))  # rays that graze a side
                if wrong:
                    print(f"{title}: {name} differs at {wrong:,} of {len(got):,}")
            calls["with gradients"] = ours.differentiated(mine)
        else:
            calls["refit"] = ours.refit
        found = medians(calls)
        for name, seconds in found.items():
            print(f"{title:16}{name:16}{seconds:10.4f}{seconds / found['difftile']:8.2f}")
    return int(different)


if __name__ == "__main__":
    sys.exit(main())
