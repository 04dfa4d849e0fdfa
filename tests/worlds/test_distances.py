"""Distances of geoms: beside MuJoCo, by support functions in NumPy, and their gradients."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds

mujoco: Any = pytest.importorskip("mujoco", reason="needs MuJoCo")

SOLIDS = {
    "sphere": 'size=".1"',
    "capsule": 'size=".08 .2"',
    "ellipsoid": 'size=".1 .2 .15"',
    "cylinder": 'size=".1 .15"',
    "box": 'size=".1 .15 .2"',
    "mesh": 'mesh="stone"',
}
NAMES = ("plane", *SOLIDS)
PAIRS = [(a, b) for k, a in enumerate(NAMES) for b in NAMES[k + 1 :]] + [("box", "plane")]
WORLDS = 24


@cache
def placed() -> tuple[Any, worlds.Worlds, worlds.GeomDistances, np.ndarray]:
    """Return one of each geom in MuJoCo and here, at random places."""
    rng = np.random.default_rng(0)
    points = " ".join(f"{x:.4f}" for x in rng.normal(0, 0.15, 30))
    bodies = "".join(
        f'<body><freejoint/><geom name="{kind}" type="{kind}" {size}/></body>'
        for kind, size in SOLIDS.items()
    )
    source = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option ccd_tolerance="1e-13" ccd_iterations="200"/>
        <asset><mesh name="stone" vertex="{points}"/></asset><worldbody>
        <geom name="plane" type="plane" size="1 1 1"/>{bodies}</worldbody></mujoco>"""
    )
    sim = worlds.Worlds(worlds.load(source), WORLDS, dtype=ti.f64, grad="geom_size")
    q = rng.normal(0, 0.25, (WORLDS, len(SOLIDS), 7))
    q[..., 3:] = rng.normal(size=(WORLDS, len(SOLIDS), 4))
    q[..., 3:] /= np.linalg.norm(q[..., 3:], axis=-1, keepdims=True)
    return source, sim, worlds.GeomDistances(sim, PAIRS), q.reshape(WORLDS, -1)


def measured(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return distances and points of all pairs in some states."""
    _, sim, distances, _ = placed()
    sim.qpos.from_numpy(q)
    distances.measure()
    return distances.distance.to_numpy(), distances.points.to_numpy()


def support(source: Any, data: Any, g: int, ways: np.ndarray) -> np.ndarray:
    """Return how far a geom reaches in some directions, from the origin."""
    size, local = source.geom_size[g], ways @ data.geom_xmat[g].reshape(3, 3)
    kind = mujoco.mjtGeom(source.geom_type[g]).name[7:].lower()
    found = {
        "sphere": lambda: size[0] * np.ones(len(ways)),
        "capsule": lambda: size[0] + size[1] * np.abs(local[:, 2]),
        "ellipsoid": lambda: np.linalg.norm(local * size, axis=1),
        "cylinder": lambda: (
            size[0] * np.hypot(local[:, 0], local[:, 1]) + size[1] * np.abs(local[:, 2])
        ),
        "box": lambda: np.abs(local) @ size,
        "mesh": lambda: (local @ source.mesh_vert.astype(float).T).max(axis=1),
    }[kind]()
    return found + ways @ data.geom_xpos[g]


def test_distances_are_the_largest_over_all_directions() -> None:
    """The signed distance is the largest separation along a direction, and is reached there."""
    source, _, _, q = placed()
    distance, points = measured(q)
    data, rng = mujoco.MjData(source), np.random.default_rng(1)
    ways = rng.normal(size=(500, 3))
    for w in range(WORLDS):
        data.qpos[:] = q[w]
        mujoco.mj_kinematics(source, data)
        for k, pair in enumerate(PAIRS):
            one, other = (source.geom(name).id for name in pair)
            if "plane" in pair:
                continue
            way = (points[w, k, 1] - points[w, k, 0]) / distance[w, k]
            near = way + ways * 10.0 ** rng.uniform(-6, 1, (500, 1))
            all_ways = np.concatenate([[way], near])
            all_ways /= np.linalg.norm(all_ways, axis=1, keepdims=True)
            apart = -support(source, data, one, all_ways) - support(source, data, other, -all_ways)
            assert abs(apart[0] - distance[w, k]) < 1e-12, pair
            assert apart.max() < distance[w, k] + 1e-12, pair


def test_distances_are_those_of_mujoco() -> None:
    source, _, _, q = placed()
    distance, points = measured(q)
    data, fromto = mujoco.MjData(source), np.zeros(6)
    for w in range(WORLDS):
        data.qpos[:] = q[w]
        mujoco.mj_forward(source, data)
        for k, pair in enumerate(PAIRS):
            one, other = (source.geom(name).id for name in pair)
            wanted = mujoco.mj_geomDistance(source, data, one, other, 100.0, fromto)
            if pair == ("capsule", "box") and distance[w, k] < 0.05:
                continue  # MuJoCo has that of two spheres on the axis, which may be less deep
            assert abs(distance[w, k] - wanted) < 1e-9, pair
            np.testing.assert_allclose(points[w, k].ravel(), fromto, 0, 1e-5)


def test_gradients_of_distances_and_points_are_those_of_differences() -> None:
    _, sim, distances, q = placed()
    rng = np.random.default_rng(2)
    weights = rng.normal(size=(WORLDS, len(PAIRS)))
    spread = rng.normal(size=(WORLDS, len(PAIRS), 2, 3))
    sim.qpos.from_numpy(q)
    with dt.Tape() as tape:
        distances.measure()
    tape.backward({distances.distance: weights, distances.points: spread})
    ours, h, along = sim.qpos.grad.to_numpy(), 1e-6, rng.normal(size=q.shape)
    by_size = sim.m.geom_size.grad.to_numpy()
    assert np.isfinite(by_size).all() and np.abs(by_size[1:6, 0]).min() > 0.0
    totals = []
    for t in (h, -h, 2 * h, -2 * h):
        distance, points = measured(q + t * along)
        totals.append((distance * weights).sum(1) + (points * spread).sum((1, 2, 3)))
    wanted = (8 * (totals[0] - totals[1]) - (totals[2] - totals[3])) / (12 * h)
    np.testing.assert_allclose((ours * along).sum(1), wanted, 1e-7, 1e-7)


def test_pairs_without_a_distance_are_refused() -> None:
    _, sim, _, _ = placed()
    with pytest.raises(dt.FieldError) as caught:
        worlds.GeomDistances(sim, [("plane", "plane")])
    assert str(caught.value) == (
        "GeomDistances: no distance of plane and plane; geoms of pairs are convex, and one of them "
        "may be a plane."
    )
