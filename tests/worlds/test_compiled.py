"""Smooth terms as compiled kernels: in both float types, and their gradients."""

from __future__ import annotations

from dataclasses import make_dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds
from tests.worlds import plain
from tests.worlds.conformance import model, numbers
from tests.worlds.smooth import Smooth
from tests.worlds.test_terms import TIGHT, near, state_of

SINGLE = 2e-6
PARAMETERS = {
    "double_pendulum": (
        *("body_mass", "body_pos", "body_quat", "body_ipos", "body_inertia", "jnt_axis", "jnt_pos"),
        *("dof_damping", "dof_armature", "jnt_stiffness", "qpos_spring", "qpos0", "gravity"),
        *("actuator_gear", "actuator_gainprm", "actuator_biasprm", "actuator_dynprm", "timestep"),
    ),
    "box_soft": ("body_mass", "body_inertia", "body_ipos", "body_iquat", "gravity", "timestep"),
    "chain": ("body_mass", "body_pos", "jnt_stiffness", "jnt_pos"),
}
_SLOW = pytest.mark.slow  # the adjoint of balls compiles for long
STATE = ("qpos", "qvel", "act", "ctrl", "qfrc", "xfrc", "total", "b")


@dt.data_oriented
class _Compiled:
    def __init__(self, sizes: worlds.Sizes) -> None:
        self.smooth = Smooth(sizes)

    @dt.kernel
    def run(self, m, s, out):
        for _ in range(1):
            self.smooth.terms(m, s, out)


@cache
def compiled(name: str) -> _Compiled:
    return _Compiled(model(name).sizes)


def drawn(name: str) -> dict[str, np.ndarray]:
    """Return a state of a model, with forces and accelerations."""
    one, given, rng = model(name), numbers()[name]["states"][1], np.random.default_rng(3)
    state = state_of(one, {k: given[k] for k in ("qpos", "qvel", "act")})
    if one.sizes.nu:
        state["ctrl"][:] = given["ctrl"][0]
    for key in ("xfrc", "qfrc", "total", "b"):
        state[key][:] = rng.normal(size=state[key].shape)
    return state


def fields(arrays: dict[str, np.ndarray], dtype: Any) -> Any:
    """Return a struct of fields with gradients."""
    kind = np.float32 if dtype is ti.f32 else np.float64
    made = {name: dt.from_numpy(array.astype(kind), grad=True) for name, array in arrays.items()}
    return make_dataclass("Fields", made)(**made)


def run(name: str, m: Any, s: Any, dtype: Any) -> Any:
    shapes = plain.results(model(name).sizes)
    out = fields({key: np.zeros(shape) for key, shape in shapes.items()}, dtype)
    compiled(name).run(m, s, out)
    return out


@pytest.mark.parametrize("name", ["double_pendulum", "box_soft"])
@pytest.mark.parametrize("dtype", [ti.f64, ti.f32], ids=str)
def test_compiled_terms_are_those_of_plain_python(name: str, dtype: Any) -> None:
    state = drawn(name)
    found = run(name, model(name).parameters(dtype), fields(state, dtype), dtype)
    for key, wanted in plain.terms(model(name), state).items():
        near(getattr(found, key).to_numpy(), wanted, TIGHT if dtype is ti.f64 else SINGLE, key)


@pytest.mark.parametrize(
    "name", ["box_soft", *(pytest.param(one, marks=_SLOW) for one in ("double_pendulum", "chain"))]
)
def test_gradients_of_terms_are_those_of_differences(name: str) -> None:
    one, state, rng = model(name), drawn(name), np.random.default_rng(4)
    m, s = one.parameters(ti.f64, grad=PARAMETERS[name]), fields(state, ti.f64)
    with dt.Tape() as tape:
        out = run(name, m, s, ti.f64)
    shapes = plain.results(one.sizes)
    if not one.sizes.nsensor:
        shapes.pop("sensordata")
    seeds = {key: rng.normal(size=shape) for key, shape in shapes.items()}
    tape.backward({getattr(out, key): seed for key, seed in seeds.items()})

    def loss(arrays: dict[str, Any], state: dict[str, np.ndarray]) -> float:
        changed = worlds.Model({**numbers()[name]["arrays"], **arrays})
        found = plain.terms(changed, state)
        return float(sum((seeds[key] * found[key]).sum() for key in seeds))

    def slope(along: dict[str, np.ndarray], of_state: bool) -> float:
        """Return a difference of fourth order along a direction."""
        values = []
        for t in (1e-4, -1e-4, 2e-4, -2e-4):
            base = state if of_state else one.arrays
            moved = {key: base[key] + t * e for key, e in along.items()}
            values.append(loss({}, {**state, **moved}) if of_state else loss(moved, state))
        return (8 * (values[0] - values[1]) - (values[2] - values[3])) / 12e-4

    for key in STATE:
        for _ in range(2):
            along = rng.normal(size=state[key].shape)
            wanted = slope({key: along}, True)
            ours = float((getattr(s, key).grad.to_numpy() * along).sum())
            assert abs(ours - wanted) < 1e-8 * (1 + abs(wanted)), key
    for key in PARAMETERS[name]:
        array = one.arrays[key]
        gradient = getattr(m, key).grad.to_numpy()
        size = min(1.0, np.abs(array).max() or 1.0)  # of a step, less for small numbers
        along = size * rng.normal(size=array.shape)
        if gradient.shape != array.shape:  # kernels read the first components alone
            along[..., gradient.shape[-1] :] = 0.0
        wanted = slope({key: along}, False)
        ours = float(
            (gradient * along[..., : gradient.shape[-1]] if array.ndim else gradient * along).sum()
        )
        assert abs(ours - wanted) < 1e-8 * (1 + abs(wanted)), key
