"""Lengths of strings around and inside of spheres and cylinders."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.worlds.beside_mujoco import filled
from tests.worlds.plain import module

mujoco: Any = pytest.importorskip("mujoco", reason="needs MuJoCo")

STRING = """<mujoco><worldbody>
  <body><joint/><geom name="g" type="{}" size="{} 1" pos="{}" quat="{}"/></body>
  <site name="a" pos="{}"/><site name="b" pos="{}"/><site name="s" pos="{}"/></worldbody>
  <tendon><spatial><site site="a"/><geom geom="g" {}/><site site="b"/></spatial></tendon>
  </mujoco>"""
KINDS = [(shape, side) for shape in ("sphere", "cylinder") for side in ("none", "far", "within")]


def said(values: np.ndarray) -> str:
    return " ".join(repr(float(x)) for x in values)


def vector(values: np.ndarray) -> Any:
    return filled([values], len(values))[0]


@pytest.mark.parametrize(("shape", "side"), KINDS)
def test_lengths_of_strings_are_those_of_mujoco(shape: str, side: str) -> None:
    wrapped, rng = module("difftile.worlds.wrapping").wrapped, np.random.default_rng(0)
    found = {True: 0, False: 0}
    for _ in range(60):
        x1, x2, s = rng.normal(0, 0.5, (3, 3))
        radius, pos, quat = rng.uniform(0.1, 0.4), rng.normal(0, 0.1, 3), rng.normal(size=4)
        if side == "within":
            s = pos + 0.9 * radius * s / max(1.0, np.linalg.norm(s))
        sided = 'sidesite="s"' if side != "none" else ""
        given = shape, radius, said(pos), said(quat), said(x1), said(x2), said(s), sided
        model = mujoco.MjModel.from_xml_string(STRING.format(*given))
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        frame = (vector(x) for x in (model.geom_pos[0], model.geom_quat[0]))
        length, near, far = wrapped(
            *(vector(x1), vector(x2), *frame, radius, shape == "sphere"), vector(s), bool(sided)
        )
        if length < 0:
            length = np.linalg.norm(x2 - x1)
        else:
            length += np.linalg.norm(near - x1) + np.linalg.norm(x2 - far)
        assert abs(length - data.ten_length[0]) < 1e-12
        found[bool(length > np.linalg.norm(x2 - x1) + 1e-9)] += 1
    assert min(found.values()) > 3


def test_a_string_inside_of_a_circle_touches_it_where_it_is_shortest() -> None:
    made, rng = module("difftile.worlds.wrapping"), np.random.default_rng(1)
    touched = 0
    for _ in range(100):
        p, q = rng.normal(0, 1, (2, 2))
        arc, u = made.inside(vector(p), vector(q), 0.3)
        if arc == 0.0:
            one, other = (x - u for x in (p, q))
            lengths = np.linalg.norm(one), np.linalg.norm(other)
            along = np.array([-u[1], u[0]])  # the slope of the length along the circle is zero
            assert abs(along @ (one / lengths[0] + other / lengths[1])) < 1e-12
            np.testing.assert_allclose(np.linalg.norm(u), 0.3, 1e-14)
            touched += 1
    assert touched > 30
