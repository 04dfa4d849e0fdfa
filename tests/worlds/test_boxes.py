"""Spheres and capsules on boxes: random places beside MuJoCo."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti
from difftile.worlds.boxes import sphere_of, to_box
from tests.worlds.beside_mujoco import filled
from tests.worlds.plain import module

mujoco: Any = pytest.importorskip("mujoco", reason="needs MuJoCo")

MARGIN = 0.1
MODEL = f"""<mujoco><worldbody><geom type="box" size="1 1 1"/><body><freejoint/>
  <geom type="capsule" size="1 1" margin="{MARGIN}"/></body></worldbody></mujoco>"""


def turned(rng: np.random.Generator, kind: int) -> np.ndarray:
    """Return a rotation: any, or one that lays the capsule along an axis of the box, nearly."""
    along = np.eye(4)[0] + np.eye(4)[rng.integers(3)]
    q = [rng.normal(size=4), along + rng.normal(size=4) * 10 ** rng.uniform(-3, -1), along][kind]
    return q / np.linalg.norm(q)


@pytest.mark.parametrize("kind", range(3), ids=["any", "nearly along an axis", "along an axis"])
def test_capsules_touch_boxes_as_in_mujoco(kind: int) -> None:
    boxes, rng = module("difftile.worlds.boxes"), np.random.default_rng(kind)
    source = mujoco.MjModel.from_xml_string(MODEL)
    data, counts = mujoco.MjData(source), [0, 0, 0]
    for _ in range(300):
        size, radius = rng.uniform(0.05, 0.5, 3), rng.uniform(0.02, 0.2)
        length, pos = rng.uniform(0.05, 0.6), rng.normal(0, 0.3, 3)
        source.geom_size[:] = size, (radius, length, 0.0)
        source.geom_rbound[:] = np.linalg.norm(size), radius + length
        data.qpos[:] = *pos, *turned(rng, kind)
        mujoco.mj_forward(source, data)
        half = data.geom_xmat[1].reshape(3, 3)[:, 2] * length
        given = [filled([x], 3)[0] for x in (pos, half, size)]
        found = []
        for place in (0, 1):
            x, there = boxes.sphere_of(*given, place)
            height, normal = boxes.to_box(given[0] + x * given[1], given[2]) if there else (1.0, 0)
            if height - radius < MARGIN:
                point = pos + x * half + normal * 0.5 * (height + radius)
                found.append([height - radius, *point, *normal])
        wanted = [[one.dist, *one.pos, *one.frame[:3]] for one in data.contact]
        counts[len(wanted)] += 1
        assert len(found) == len(wanted), (size, radius, length, data.qpos)
        if wanted:
            np.testing.assert_allclose(found, wanted, 0, 1e-11)
    assert min(counts) > 20


@dt.kernel
def touching(pos, half, size, weight, total):
    for k in pos:
        for place in range(2):
            x, there = sphere_of(pos[k], half[k], size[k], place)
            if there:
                local = pos[k] + half[k] * x
                height, normal = to_box(local, size[k])
                point = local + normal * (0.5 * height)
                total[k] += height * weight[k][0] + point.dot(weight[k]) + normal[1] * weight[k][2]


def test_gradients_of_contacts_with_boxes_are_those_of_differences() -> None:
    rng, count = np.random.default_rng(5), 60
    given = [rng.normal(0, 0.4, (count, 3)), rng.normal(0, 0.3, (count, 3))]
    given += [rng.uniform(0.1, 0.5, (count, 3)), rng.normal(size=(count, 3))]
    fields = [dt.from_numpy(one, dtype=dt.vec(3, ti.f64), grad=True) for one in given]
    total = dt.zeros(count, dtype=ti.f64, grad=True)
    with dt.Tape() as tape:
        touching(*fields, total)
    tape.backward({total: np.ones(count)})
    first, boxes = total.to_numpy(), module("difftile.worlds.boxes")

    def plain(k: int, values: list[np.ndarray]) -> float:
        pos, half, size, weight = (filled([one[k]], 3)[0] for one in values)
        found = 0.0
        for place in (0, 1):
            x, there = boxes.sphere_of(pos, half, size, place)
            if there:
                height, normal = boxes.to_box(pos + half * x, size)
                point = pos + half * x + normal * (0.5 * height)
                found += height * weight[0] + point @ weight + normal[1] * weight[2]
        return float(found)

    np.testing.assert_allclose(first, [plain(k, given) for k in range(count)], 0, 1e-12)
    for n in range(3):
        along, h = rng.normal(size=(count, 3)), 1e-6
        ends = [[*given[:n], given[n] + t * along, *given[n + 1 :]] for t in (h, -h)]
        up, down = (np.array([plain(k, end) for k in range(count)]) for end in ends)
        ours = (fields[n].grad.to_numpy() * along).sum(axis=1)
        np.testing.assert_allclose(ours, (up - down) / (2 * h), 0, 1e-6)
