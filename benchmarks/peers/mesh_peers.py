"""Rays and nearest points of meshes by other libraries, for `benchmarks.meshes`."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Query = Callable[[], Array]
Peer = tuple[str, Callable[[], object], Query | None, Query | None]  # build, distances


def embree(vertices: Array, faces: Array, rays: tuple[Array, Array], points: Array) -> Peer:
    """Embree by `embreex`, which has rays alone."""
    scenes = importlib.import_module("embreex.rtcore_scene")
    meshes = importlib.import_module("embreex.mesh_construction")
    held: dict[str, Any] = {}
    origins, directions = rays

    def build() -> None:
        scene = scenes.EmbreeScene()
        held["mesh"] = meshes.TriangleMesh(scene, vertices[faces])
        held["scene"] = scene
        scene.run(origins[:1], directions[:1])  # commits

    def shoot() -> Array:
        found = held["scene"].run(origins, directions, query="DISTANCE")
        return np.where(found < 1e30, found, np.inf)

    return "embreex", build, shoot, None


def igl(vertices: Array, faces: Array, rays: tuple[Array, Array], points: Array) -> Peer:
    """The tree of libigl, in f64, which has nearest points alone in Python."""
    library = importlib.import_module("igl")
    tree = library.AABB()
    wide, exact = vertices.astype(float), faces.astype(np.int64)
    positions = points.astype(float)

    def measure() -> Array:
        return np.sqrt(tree.squared_distance(wide, exact, positions)[0])

    return "libigl", lambda: tree.init(wide, exact), None, measure


def warp(
    vertices: Array, faces: Array, rays: tuple[Array, Array], points: Array, device: str
) -> Peer:
    """Warp, on the CPU or a CUDA device."""
    wp = importlib.import_module("warp")
    wp.config.quiet = True
    kernels = importlib.import_module("benchmarks.peers.mesh_warp")
    held: dict[str, Any] = {}
    corners = wp.array(vertices, dtype=wp.vec3, device=device)
    indices = wp.array(faces.ravel(), dtype=wp.int32, device=device)
    origins, directions, positions = (
        wp.array(x, dtype=wp.vec3, device=device) for x in (*rays, points)
    )
    found = wp.zeros(len(points), dtype=wp.float32, device=device)

    def build() -> None:
        held["mesh"] = wp.Mesh(corners, indices)
        wp.synchronize_device(device)

    def run(kernel: Any, *given: Any) -> Array:
        arguments = [held["mesh"].id, *given, found]
        wp.launch(kernel, len(points), inputs=arguments, device=device)
        return found.numpy()

    return (
        "warp",
        build,
        lambda: run(kernels.shoot, origins, directions),
        lambda: run(kernels.measure, positions),
    )
