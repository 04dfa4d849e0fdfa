"""Models drawn at random: trees with all joints, and all geoms that have contacts."""

from __future__ import annotations

from typing import Any

import numpy as np


def _text(values: Any) -> str:
    return " ".join(f"{float(value):.6g}" for value in np.atleast_1d(values))


def _geom(rng: np.random.Generator, kinds: tuple[str, ...]) -> str:
    kind = str(rng.choice(kinds))
    size = {
        "sphere": rng.uniform(0.05, 0.2, 1),
        "capsule": rng.uniform([0.04, 0.05], [0.1, 0.25]),
        "box": rng.uniform(0.05, 0.2, 3),
    }[kind]
    # Boxes meet planes only.
    masks = 'contype="0" conaffinity="2"' if kind == "box" else 'contype="1" conaffinity="3"'
    stiff = rng.uniform([-3000, -60], [-500, -10])
    solref = stiff if rng.random() < 0.2 else rng.uniform([0.005, 0.5], [0.05, 1.5])
    solimp = [rng.choice([0, 0.5, 0.9]), *rng.uniform([0.9, 0.001, 0.2], [0.99, 0.05, 0.8])]
    return (
        f'<geom type="{kind}" size="{_text(size)}" pos="{_text(rng.uniform(-0.1, 0.1, 3))}" '
        f'quat="{_text(rng.standard_normal(4))}" {masks} condim="{rng.choice([1, 3])}" '
        f'friction="{_text(rng.uniform(0.1, 1.2))} 0.01 0.001" priority="{rng.choice([0, 0, 1])}" '
        f'margin="{rng.choice([0, 0.01, 0.05])}" gap="{rng.choice([0, 0.005])}" '
        f'solmix="{rng.choice([0, 1, 2.5])}" solref="{_text(solref)}" '
        f'solimp="{_text([*solimp, rng.choice([1, 2, 3.5])])}"/>'
    )


def _joints(rng: np.random.Generator, kinds: tuple[str, ...]) -> str:
    found = ""
    for kind in str(rng.choice(kinds)).split():
        if kind == "free":
            return "<freejoint/>"
        if kind == "none":
            return ""
        loss = f'frictionloss="{_text(rng.uniform(0.05, 1))}"' if rng.random() < 0.4 else ""
        low, high = rng.uniform([-0.6, 0.1], [0, 1.2])
        limit = f'range="{0 if kind == "ball" else low:.4g} {high:.4g}"'
        placed = f'axis="{_text(rng.standard_normal(3))}" pos="{_text(rng.uniform(-0.1, 0.1, 3))}"'
        found += (
            f'<joint type="{kind}" {placed if kind != "ball" else ""} armature="0.01" {loss} '
            f'damping="{_text(rng.uniform(0, 0.1))}" margin="{rng.choice([0, 0.1])}" '
            f'solreflimit="{_text(rng.uniform([0.005, 0.5], [0.05, 1.5]))}" '
            f'solimplimit="{rng.choice([0, 0.9])} 0.95 0.02 0.5 2" '
            f"{limit if rng.random() < 0.6 else ''}/>"
        )
    return found


def drawn(rng: np.random.Generator) -> str:
    """Return MJCF of a model with 2 to 7 bodies in some trees, over a plane and a fixed geom."""
    count = int(rng.integers(2, 8))
    children: dict[int, list[int]] = {k: [] for k in range(-1, count)}
    for k in range(count):
        children[int(rng.integers(-1, k)) if k else -1].append(k)

    def body(k: int, root: bool) -> str:
        at = rng.uniform(-0.3, 0.3, 3) + (np.array([0, 0, 0.25]) if root else 0)
        kinds = ("ball", "slide", "hinge", "hinge slide", "free" if root else "none")
        geoms = [_geom(rng, ("sphere", "capsule", "box")) for _ in range(int(rng.integers(1, 3)))]
        return (
            f'<body pos="{_text(at)}" quat="{_text(rng.standard_normal(4))}">'
            f"{_joints(rng, kinds)}{''.join(geoms)}"
            f"{''.join(body(one, False) for one in children[k])}</body>"
        )

    bodies = "".join(body(k, True) for k in children[-1])
    tilt = np.array([1, 0, 0, 0]) + 0.1 * rng.standard_normal(4)
    return f"""<mujoco><compiler angle="radian" autolimits="true"/>
      <option timestep="{rng.choice([0.002, 0.01])}" cone="{rng.choice(["pyramidal", "elliptic"])}"
        impratio="{rng.choice([1, 3])}" tolerance="1e-15" iterations="200" ls_iterations="100"
        jacobian="dense"/>
      <worldbody><geom type="plane" size="5 5 0.1" pos="0 0 {rng.uniform(-0.2, 0.1):.3f}"
        quat="{_text(tilt)}" contype="2" conaffinity="3" margin="{rng.choice([0, 0.01])}"/>
        {_geom(rng, ("sphere", "capsule"))}{bodies}</worldbody></mujoco>"""


def state(rng: np.random.Generator, mujoco: Any, model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return coordinates and velocities of a model."""
    qpos = model.qpos0.copy()
    mujoco.mj_integratePos(model, qpos, 0.5 * rng.standard_normal(model.nv), 1.0)
    return qpos, rng.standard_normal(model.nv)
