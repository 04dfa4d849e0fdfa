"""Random pairs of geoms, and their contacts in MuJoCo."""

from __future__ import annotations

from typing import Any

import numpy as np

TYPES = ("plane", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh")
SIZES = {"plane": 3, "sphere": 1, "capsule": 2, "ellipsoid": 3, "cylinder": 2, "box": 3}
TIGHT = 'tolerance="1e-15" ccd_tolerance="1e-13" ccd_iterations="200"'


def mesh(rng: np.random.Generator, name: str) -> str:
    """Return a mesh of random points, or a prism, whose faces have many corners."""
    if rng.random() < 0.5:
        points = rng.normal(0, 0.12, (int(rng.integers(5, 40)), 3))
    else:
        n = int(rng.integers(3, 9))
        angles = np.sort(rng.uniform(0, 2 * np.pi, n)) if n > 4 else np.arange(n) * 2 * np.pi / n
        ring = np.stack([np.cos(angles), np.sin(angles)], 1) * rng.uniform(0.1, 0.25)
        half, top = rng.uniform(0.05, 0.2), rng.uniform(0.5, 1.2)
        points = np.concatenate(
            [np.c_[ring, np.full(n, -half)], np.c_[ring * top, np.full(n, half)]]
        )
    text = " ".join(f"{x:.6g}" for x in points.ravel())
    return f'<mesh name="{name}" vertex="{text}"/>'


def geom(rng: np.random.Generator, kind: str, name: str, margin: float, more: str = "") -> str:
    """Return a geom of a type, with more attributes."""
    said = f'<geom name="{name}" type="{kind}" margin="{margin:.4g}" {more}'
    if kind == "mesh":
        return f'{said} mesh="{name}"/>'
    size = rng.uniform(0.05, 0.25, SIZES[kind])
    return f'{said} size="{" ".join(f"{x:.4g}" for x in size)}"/>'


def pair(rng: np.random.Generator, one: str, other: str, margin: float = 0.0) -> str:
    """Return a model of two free geoms; a plane belongs to the world."""
    meshes = "".join(mesh(rng, n) for n, k in (("a", one), ("b", other)) if k == "mesh")
    first = geom(rng, one, "a", margin)
    if one != "plane":
        first = f"<body><freejoint/>{first}</body>"
    second = f"<body><freejoint/>{geom(rng, other, 'b', margin)}</body>"
    return f"""<mujoco><option {TIGHT}/><asset>{meshes}</asset><worldbody>{first}{second}
      </worldbody></mujoco>"""


def surface(rng: np.random.Generator) -> str:
    """Return attributes of the law of contacts."""
    rub = " ".join(f"{x:.4g}" for x in rng.uniform([0.0, 0.001, 0.0001], [1.5, 0.1, 0.01]))
    density = f'density="{rng.uniform(200, 2000):.4g}"'
    said = f'condim="{rng.choice([1, 3, 4, 6])}" friction="{rub}" {density}'
    if rng.random() < 0.5:
        said += f' solref="{rng.uniform(0.004, 0.05):.4g} {rng.uniform(0.5, 1.2):.4g}"'
    if rng.random() < 0.5:
        said += f' solimp="{rng.choice([0, 0.5, 0.9])} 0.95 {rng.uniform(0.001, 0.05):.4g} 0.5 2"'
    return said + rng.choice(["", ' priority="1"', ' solmix="3"', ' gap="0.003"'])


JOINTS = (
    "<freejoint/>",
    '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>'
    '<joint type="slide" axis="0 0 1"/><joint type="ball" pos="0.02 0.1 -0.05"/>',
)
ROOTS = ("", "<freejoint/>", '<joint axis="1 2 3" armature="0.01" pos="0.1 0 0.2"/>')


def robot(rng: np.random.Generator, one: str, other: str) -> str:
    """Return a model of two geoms of any kinds, whose bodies hang on joints of any kinds.

    The last seven coordinates are a place and a quaternion of the second body.
    """
    margin = rng.choice([0.0, 0.01])
    meshes = "".join(mesh(rng, n) for n, k in (("a", one), ("b", other)) if k == "mesh")
    first, second = (
        geom(rng, kind, name, margin, surface(rng)) for kind, name in ((one, "a"), (other, "b"))
    )
    if one != "plane":
        first = f"<body>{rng.choice(ROOTS)}{first}</body>"
    second = f'<body name="b">{rng.choice(JOINTS)}{second}</body>'
    cone = rng.choice(["pyramidal", "elliptic"])
    options = f'timestep="{rng.uniform(0.001, 0.01):.4g}" impratio="{rng.uniform(0.5, 3):.4g}"'
    # Its solver ends where a step improves less than the tolerance, whose root the residual is.
    solver = TIGHT.replace("1e-15", "0")
    return f"""<mujoco><option {solver} {options} cone="{cone}" iterations="200" jacobian="dense"
      ls_iterations="100"/><asset>{meshes}</asset><worldbody>{first}{second}</worldbody></mujoco>"""


def placed(rng: np.random.Generator, mujoco: Any, model: Any, aligned: float = 0.0) -> Any:
    """Return a state in which the geoms touch or nearly do.

    Args:
        rng: The source of random numbers.
        mujoco, model: The package, and a model of `pair` or `robot`.
        aligned: Of the states, how many have a face almost on another.
    """
    data = mujoco.MjData(model)
    for kind, at in zip(model.jnt_type, model.jnt_qposadr, strict=True):
        if kind == 0:
            data.qpos[at : at + 3] = rng.normal(0, 1, 3)
        if kind > 1:
            data.qpos[at] = rng.normal()
            continue
        q = rng.normal(size=4)
        if rng.random() < aligned:
            q = np.eye(4)[rng.integers(4)] + rng.normal(size=4) * 10.0 ** rng.uniform(-3, -1)
        turn = at + 3 * (kind == 0)
        data.qpos[turn : turn + 4] = q / np.linalg.norm(q)
    move = model.nq - 7
    mujoco.mj_kinematics(model, data)
    first, second = model.geom_bodyid
    away = data.qpos[move : move + 3] - data.xpos[second]
    way = rng.normal(size=3)
    if rng.random() < aligned:
        way = np.eye(3)[rng.integers(3)] * rng.choice([-1, 1]) + rng.normal(0, 0.05, 3)
    way /= np.linalg.norm(way)
    if model.geom_type[0] == 0:
        way = np.array([0.0, 0.0, 1.0])
    centre = data.xpos[first] + away
    low, high = 0.0, 2.0 if model.geom_type[0] else 0.8
    for _ in range(30):  # where they touch
        middle = 0.5 * (low + high)
        data.qpos[move : move + 3] = centre + way * middle
        mujoco.mj_kinematics(model, data)
        touching = mujoco.mj_geomDistance(model, data, 0, 1, 10.0, None) <= 0
        low, high = (middle, high) if touching else (low, middle)
    depth = rng.uniform(-0.03, 0.01) if rng.random() < 0.8 else rng.uniform(-0.3, 0.0)
    data.qpos[move : move + 3] = centre + way * max(low + depth, 0.0)
    mujoco.mj_forward(model, data)
    return data
