"""Arguments of worlds that mean nothing are refused, and those that mean little work."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds
from tests.worlds.conformance import model


def _of(*shapes: tuple[int, ...]) -> worlds.Start:
    return worlds.Start(*(dt.zeros(shape) for shape in (*shapes, (0,))))


REFUSED: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "no world": (lambda _: worlds.Worlds(model("box"), 0), dt.FieldError, "one world at least"),
    "a path": (
        lambda _: worlds.Worlds("a.xml", 2),  # type: ignore[arg-type]
        TypeError,
        "takes a model of worlds.load or load_arrays, not 'a.xml'",
    ),
    "integers": (
        lambda _: worlds.Worlds(model("box"), 2, dtype=ti.i32),
        dt.FieldError,
        "is ti.f32 or ti.f64, not i32",
    ),
    "half": (
        lambda _: worlds.Worlds(model("box"), 2, dtype=ti.f16),
        dt.FieldError,
        "is ti.f32 or ti.f64, not f16",
    ),
    "no iteration": (
        lambda _: worlds.Worlds(model("box"), 2, iterations=0),
        ValueError,
        "is at least 1, not 0",
    ),
    "no tolerance": (
        lambda _: worlds.Worlds(model("box"), 2, tolerance=float("nan")),
        ValueError,
        "is at least 0, not nan",
    ),
    "no parameter": (
        lambda _: worlds.Worlds(model("box"), 2, per_world="masses"),
        KeyError,
        "no array of numbers is called 'masses'",
    ),
    "a table": (
        lambda _: worlds.Worlds(model("box"), 2, grad=("body_mass", "jnt_type")),
        KeyError,
        "no array of numbers is called 'jnt_type'",
    ),
    "backwards": (lambda sim: sim.step(-1), ValueError, "step(substeps=-1)"),
    "half a step": (lambda sim: sim.step(1.5), TypeError, "integer"),
    "wide": (
        lambda sim: sim.reset(start=_of((2, 3), (2, 2))),
        dt.FieldError,
        "'qpos' has the shape (2, 3); expected (2,), or (2, 2) for a state of each world",
    ),
    "short": (
        lambda sim: sim.reset(start=_of((2,), (1,))),
        dt.FieldError,
        "'qvel' has the shape (1,); expected (2,), or (2, 2)",
    ),
    "other worlds": (
        lambda sim: sim.reset(start=_of((3, 2), (3, 2))),
        dt.FieldError,
        "'qpos' has the shape (3, 2); expected (2,), or (2, 2)",
    ),
    "done of others": (
        lambda sim: sim.reset(dt.zeros(3, ti.i32)),
        dt.LaunchError,
        "'done' has 3 worlds along its first axis",
    ),
    "no name": (lambda sim: sim.start("up"), KeyError, "the model has no key 'up'"),
    "no key": (lambda sim: sim.start(0), KeyError, "the model has no key 0; it has 0"),
    "a negative key": (lambda sim: sim.start(-1), KeyError, "the model has no key -1; it has 0"),
}


@pytest.fixture(scope="module")
def sim() -> worlds.Worlds:
    return worlds.Worlds(model("cartpole"), 2)


@pytest.mark.parametrize("case", REFUSED)
def test_arguments_that_mean_nothing_are_refused(case: str, sim: worlds.Worlds) -> None:
    call, kind, said = REFUSED[case]
    with pytest.raises(kind, match=re.escape(said)):
        call(sim)


def test_a_start_in_another_precision_and_no_steps(sim: worlds.Worlds) -> None:
    start = worlds.Start(*(np.full(n, 0.25) for n in (2, 2, 0)))
    sim.reset(start=start)
    sim.step(substeps=0)
    np.testing.assert_array_equal(sim.qpos.to_numpy(), np.full((2, 2), 0.25, np.float32))


def test_a_model_without_actuators_has_no_controls() -> None:
    sim = worlds.Worlds(model("box"), 2)
    assert sim.ctrl.shape == (2, 0) and sim.act.shape == (2, 0)
    assert sim.sensordata.shape[0] == 2
