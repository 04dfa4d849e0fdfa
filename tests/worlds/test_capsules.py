"""Spheres and capsules on each other in all positions, beside MuJoCo and in either precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds
from difftile.worlds.collide import Collision
from difftile.worlds.segments import PARALLEL
from tests.worlds.beside_mujoco import filled
from tests.worlds.plain import module

mujoco: Any = pytest.importorskip("mujoco", reason="needs MuJoCo")

SHAPES = {
    "spheres": ("sphere", "sphere"),
    "a sphere on a capsule": ("sphere", "capsule"),
    "capsules": ("capsule", "capsule"),
}
KINDS = (
    "any",
    "parallel",
    "nearly parallel",
    "crossing",
    "nearly crossing",
    "one place",
    "in line",
)
DRAWS = 100  # of each kind and pair of shapes
UNIT = float(np.finfo(float).eps)
LEAST = 1e-15  # MuJoCo's mjMINVAL: closer centres are in one place


def text(first: str, second: str) -> str:
    """Return a model of two free geoms."""
    body = '<body><freejoint/><geom type="{}" size="0.1 0.1"/></body>'
    return f"<mujoco><worldbody>{body.format(first)}{body.format(second)}</worldbody></mujoco>"


def drawn(rng: np.random.Generator, kind: str, shapes: str) -> tuple[np.ndarray, ...]:
    """Return centres, quaternions, radii, and half lengths of two geoms in a relative position."""
    radii, halves = rng.uniform(0.05, 0.2, 2), rng.uniform(0.05, 0.6, 2)
    halves *= [shape == "capsule" for shape in SHAPES[shapes]]
    p, q, z = np.zeros((2, 3)), np.zeros((2, 4)), np.zeros((2, 3))
    q[:] = rng.normal(size=(2, 4))
    if kind in ("parallel", "nearly parallel", "in line"):
        angle = 0.0 if kind != "nearly parallel" else 10 ** rng.uniform(-12, -1)
        turn = np.append(np.cos(angle / 2), np.sin(angle / 2) * np.eye(3)[rng.integers(2)])
        mujoco.mju_mulQuat(q[1], q[0], turn)
        if rng.random() < 0.5:  # head to tail
            mujoco.mju_mulQuat(q[1], q[1].copy(), np.eye(4)[1])
    if rng.random() < 0.2 and "nearly" not in kind:  # numbers without rounding
        q = np.eye(4)[[0, 0 if kind in ("parallel", "in line") else 1]] + np.eye(4)[0]
    for k in range(2):
        mujoco.mju_normalize4(q[k])
        mujoco.mju_rotVecQuat(z[k], np.eye(3)[2], q[k])
    p[0] = rng.normal(0, 0.3, 3)
    along = rng.uniform(-1.1, 1.1) * halves.sum()
    across = rng.normal(size=3)
    across -= z[0] * (across @ z[0])
    across *= rng.uniform(0, 1.1) * radii.sum() / np.linalg.norm(across)
    p[1] = (
        p[0]
        + {
            "any": lambda: rng.normal(0, 0.2, 3),
            "crossing": lambda: z[0] * rng.uniform(-1, 1) * halves[0],
            "nearly crossing": lambda: z[0] * rng.uniform(-1, 1) * halves[0],
            "one place": lambda: 0.0,
            "in line": lambda: z[0] * along,
        }.get(kind, lambda: z[0] * along + across)()
    )
    if "crossing" in kind:
        p[1] += z[1] * rng.uniform(-1, 1) * halves[1]
    if kind == "nearly crossing":
        p[1] += np.cross(z[0], z[1]) * 10 ** rng.uniform(-10, -2) * rng.choice([-1, 1])
    return p, q, radii, halves


def seen(world: Any, data: Any, given: tuple[np.ndarray, ...]) -> np.ndarray:
    """Return distance, point and normal of MuJoCo's contacts, a row for each."""
    p, q, radii, halves = given
    world.geom_size[:, 0], world.geom_size[:, 1] = radii, halves
    world.geom_rbound[:], world.geom_aabb[:, 3:] = radii + halves, (radii + halves)[:, None]
    data.qpos[:] = np.hstack([p, q]).ravel()
    mujoco.mj_kinematics(world, data)
    mujoco.mj_comPos(world, data)
    mujoco.mj_collision(world, data)
    return np.array([[c.dist, *c.pos, *c.frame[:3]] for c in data.contact]).reshape(-1, 7)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shapes", SHAPES)
def test_spheres_and_capsules_touch_as_in_mujoco(shapes: str, kind: str) -> None:
    world, rng = mujoco.MjModel.from_xml_string(text(*SHAPES[shapes])), np.random.default_rng(7)
    data, touched = mujoco.MjData(world), 0
    collision = module("difftile.worlds.collide").Collision(worlds.load(world).sizes)
    for _ in range(DRAWS):
        given = drawn(rng, kind, shapes)
        wanted = seen(world, data, given)
        p, _, radii, halves = given
        z = data.geom_xmat.reshape(2, 3, 3)[:, :, 2]
        vectors = [filled([one], 3)[0] for one in (*z, *p)]
        found = []
        for place in (0, 1):
            dist, point, normal = collision.of_segments(
                *vectors[:2], *halves, *vectors[2:], *radii, place, LEAST
            )
            if dist < 0.0:
                found.append([dist, *point, *normal])
        assert len(found) == len(wanted), given
        if not found:
            continue
        touched += 1
        # MuJoCo divides what rounding leaves of centres by their distance, and of axes by their
        # angle.
        apart, sine = wanted[0, 0] + radii.sum(), np.linalg.norm(np.cross(*z))
        bound = 1e-12
        if apart > LEAST:
            bound += 2 * UNIT / apart
        if halves.all() and sine**2 > PARALLEL:
            bound += 2 * UNIT / sine**2
        gap = min(np.abs(np.subtract(one, wanted)).max() for one in (found, found[::-1]))
        assert gap < bound, (given, found, wanted)
    assert touched > DRAWS / 6


@dt.kernel
def touch(collision, z1, z2, p1, p2, half, radius, least, dist, point, normal):
    for k in p1:
        for place in range(2):
            d, p, n = collision.of_segments(
                *(z1[k], z2[k], half[k][0], half[k][1], p1[k], p2[k], radius[k][0], radius[k][1]),
                *(place, least[None]),
            )
            dist[k, place] = d
            point[k, place] = p
            normal[k, place] = n


def exact(z: Any, half: Any, p: Any, radius: Any, place: int, least: float) -> tuple[Any, ...]:
    """Return the contact with more digits, and how rounding grows in its normal and its point."""
    z, half, p, radius = (np.asarray(one, np.longdouble) for one in (z, half, p, radius))
    between, across = p[1] - p[0], np.cross(*z)
    sine, cosine = np.linalg.norm(across), z[0] @ z[1]
    u, v = z[0] @ between, z[1] @ between
    a, b = (one @ one for one in z)  # 1, up to rounding
    parallel = half.all() and sine**2 <= PARALLEL * a * b
    if parallel:
        t = half[1] * (2 * place - 1) * np.sign(cosine)
        s = (u + t * cosine) / a
        if abs(s) > half[0]:
            s = np.clip(s, -half[0], half[0])
            t = np.clip((s * cosine - v) / b, -half[1], half[1])
    elif not half.any():
        s, t = np.longdouble(0), np.longdouble(0)
    else:
        s = np.longdouble(0)
        if half[0]:
            s = np.clip(np.cross(between, z[1]) @ across / sine**2, -half[0], half[0])
        t = np.clip((s * cosine - v) / b, -half[1], half[1])
        s = np.clip((u + t * cosine) / a, -half[0], half[0])
    between = between + z[1] * t - z[0] * s
    apart = np.linalg.norm(between)
    size = np.abs(p).max() + half.max()
    inside = half.all() and abs(s) < half[0] and abs(t) < half[1] and not parallel
    if apart > least:
        normal = between / apart
        if inside:  # the same, with all digits
            normal = across / sine * np.sign(between @ across)
        blur = size / max(apart, sine * half.min() if inside else 0)
    elif sine > least:
        normal, blur = across / sine, 1 / sine
    else:
        normal, blur = np.eye(3)[0], 0
    dist = apart - radius.sum()
    along = 1 / sine**2 if half.all() and not parallel else 1.0
    return dist, p[0] + z[0] * s + normal * (radius[0] + dist / 2), normal, 1 + blur, along


@pytest.mark.parametrize("dtype, numbers", [(ti.f64, np.float64), (ti.f32, np.float32)])
def test_spheres_and_capsules_touch_in_either_precision(dtype: Any, numbers: Any) -> None:
    """Against the same with more digits, from numbers as they are after rounding."""
    rng, unit = np.random.default_rng(3), float(np.finfo(numbers).eps)
    least = LEAST * unit / UNIT  # MuJoCo's, by as much as rounding is coarser
    model = worlds.load(text("capsule", "capsule"))
    cases = [(kind, shapes) for kind in KINDS for shapes in SHAPES for _ in range(DRAWS // 4)]
    z, p, radius, half = [], [], [], []
    for kind, shapes in cases:
        centres, quaternions, radii, halves = drawn(rng, kind, shapes)
        axes = np.zeros((2, 3))
        for one, quaternion in zip(axes, quaternions, strict=True):
            mujoco.mju_rotVecQuat(one, np.eye(3)[2], quaternion)
        for kept, of_case in zip((z, p, radius, half), (axes, centres, radii, halves), strict=True):
            kept.append(of_case)
    z, p, radius, half = (np.array(one, numbers) for one in (z, p, radius, half))
    count, vec3 = len(cases), dt.vec(3, dtype)
    given = [
        dt.from_numpy(one[:, k].copy(), dtype=vec3, grad=True) for one in (z, p) for k in (0, 1)
    ]
    given += [dt.from_numpy(one, dtype=dt.vec(2, dtype), grad=True) for one in (half, radius)]
    found = [dt.zeros((count, 2), one, grad=True) for one in (dtype, vec3, vec3)]
    with dt.Tape() as tape:
        touch(Collision(model.sizes), *given, model.parameters(dtype).rounding, *found)
    tape.backward({one: rng.normal(size=one.to_numpy().shape) for one in found})
    assert all(np.isfinite(one.grad.to_numpy()).all() for one in given)
    dist, point, normal = (one.to_numpy() for one in found)
    for k, case in enumerate(cases):
        for place in (0, 1):
            if dist[k, place] > 1.0:
                assert place == 1
                continue
            wanted = exact(z[k], half[k], p[k], radius[k], place, least)
            assert abs(dist[k, place] - wanted[0]) < 8 * unit, case
            if abs(wanted[0] + radius[k].sum() - least) < 2 * unit:
                continue  # the centres may be in one place or not
            bound = 8 * unit * wanted[3]
            assert np.abs(normal[k, place] - wanted[2]).max() < bound, (case, k)
            bound += 8 * unit * wanted[4]
            assert np.abs(point[k, place] - wanted[1]).max() < bound, (case, k)
