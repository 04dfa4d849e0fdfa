"""Meshes in files, as `trimesh` reads and writes them, and its answers beside those of kernels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import difftile as dt
from tests.geometry.meshes import ball, cube
from tests.geometry.test_queries import hits, nearest

trimesh = pytest.importorskip("trimesh", reason="difftile[meshes] is not installed")


@pytest.fixture(autouse=True, scope="module")
def as_python() -> Iterator[None]:
    dt.init(arch="python")
    yield


@pytest.mark.parametrize("ending", ["stl", "obj", "ply", "off", "glb"])
def test_a_file_has_the_mesh_that_was_written(ending: str, tmp_path: Path) -> None:
    vertices, faces = ball(4, 0.2)
    file = tmp_path / f"ball.{ending}"
    trimesh.Trimesh(vertices, faces, process=False).export(file)
    mesh = dt.geometry.load(file, scale=2.0)
    assert mesh.closed
    assert mesh.vertices.shape == (len(vertices),)
    got = mesh.vertices.to_numpy()[mesh.faces.to_numpy()]
    np.testing.assert_allclose(got, 2 * vertices[faces], rtol=1e-6, atol=1e-7)


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(dt.FieldError, match="There is no file"):
        dt.geometry.load(tmp_path / "none.stl")
    broken = tmp_path / "broken.ply"
    broken.write_bytes(b"ply\nformat")
    with pytest.raises(dt.FieldError, match=r"trimesh cannot read .*broken.ply"):
        dt.geometry.load(broken)
    empty = tmp_path / "points.obj"
    empty.write_text("v 0 0 0\nv 1 0 0\n")
    with pytest.raises(dt.FieldError, match=r"points.obj"):
        dt.geometry.load(empty)
    faces = np.concatenate([cube()[1], [[0, 1, 6]]])
    fin = tmp_path / "fin.obj"
    trimesh.Trimesh(cube()[0], faces, process=False).export(fin)
    with pytest.raises(dt.FieldError, match="has 3 faces"):
        dt.geometry.load(fin)
    assert not dt.geometry.load(fin, signed=False).signed


def test_trimesh_finds_the_same() -> None:
    vertices, faces = ball(8, 0.3)
    other = trimesh.Trimesh(vertices, faces, process=False)
    mesh = dt.geometry.Mesh(vertices, faces)
    rng = np.random.default_rng(1)
    origins = rng.normal(size=(40, 3)) * 2
    aims = rng.uniform(-0.5, 0.5, (40, 3)) - origins
    found, which = hits(mesh, origins, aims)
    try:
        places, rays, _ = other.ray.intersects_location(origins, aims, multiple_hits=False)
    except ImportError:  # rays of trimesh need rtree
        places, rays = np.zeros((0, 3)), np.zeros(0, int)
    else:
        assert sorted(rays) == np.flatnonzero(which[:, 0] >= 0).tolist()
    met = origins[rays] + found[rays, :1] * aims[rays]
    np.testing.assert_allclose(met, places, rtol=1e-9, atol=1e-9)
    at, index = trimesh.proximity.closest_point_naive(other, origins)[::2]
    got, face = nearest(mesh, origins)
    np.testing.assert_allclose(abs(got[:, 0]), np.linalg.norm(at - origins, axis=1), rtol=1e-9)
    assert (face == index).mean() > 0.4  # edges are shared
