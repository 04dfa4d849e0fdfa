"""Loops of about `WIDTH` iterations: each form of their adjoints against the complex step."""

from __future__ import annotations

import importlib.util
import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import meaning
from difftile.ad.checkpoints import WIDTH
from difftile.compile.stage import Adjoint
from difftile.ir.derived import After, Bar, Before, Derived
from difftile.ir.nodes import Array, Program, Var
from difftile.passes.inline_primals import inline_primals
from difftile.passes.speculate import general, speculate
from tests.random_lengths import NUMBERS, recurrence

ELEMENTS = 2
SEEDS = 12


@pytest.fixture(autouse=True)
def in_python() -> Iterator[None]:
    dt.init(arch="python", default_fp="f64")
    yield
    dt.init()


def module_of(seed: int, folder: Path) -> ModuleType:
    path = folder / f"drawn_{seed}.py"
    path.write_text(recurrence(seed))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def forms(program: Program, given: dict[Array | Var, Any]) -> dict[str, Program]:
    """Return the forms of a program that a launch may run."""
    found = {"as it is": program, "general": general(program)}
    usual = speculate(program)
    if usual is not None and usual.holds(given):
        found["usual"] = usual.program
    return found


def check(seed: int, folder: Path) -> Counter[str]:
    """Compare the adjoints of a kernel in all their forms; return which there were."""
    kernel = dt.kernel(module_of(seed, folder).drawn)
    rng, counts = np.random.default_rng(seed), Counter[str]()
    given = {"x": dt.ones(3, grad=True), "one": dt.ones(1), "there": dt.ones(())}
    kernel(**given, y=dt.zeros(ELEMENTS, grad=True), n=3)
    (stage,) = kernel._latest.stages
    primal = inline_primals(stage.program)
    by_name: dict[str, Any] = {p.name: p for p in (*primal.params, *stage.program.params)}
    x, y = by_name["x"], by_name["y"]
    derived = stage.derived(Adjoint(frozenset((x, y))))
    assert derived is not None
    x_bar, y_bar = (derived.of(Bar)[one] for one in (x, y))
    for size, number in itertools.product((NUMBERS[0], WIDTH, NUMBERS[-1]), NUMBERS):
        arrays = {x: rng.uniform(0.2, 0.9, size), y: np.zeros(ELEMENTS)}
        arrays |= {by_name[k]: np.ones(given[k].shape) for k in ("one", "there") if k in by_name}
        numbers = {by_name["n"]: number} if "n" in by_name else {}
        along = rng.uniform(-1.0, 1.0, size)
        turned = {a: v + (1e-30j * along if a is x else 0j) for a, v in arrays.items()}
        meaning.run(primal, turned, numbers, complex_step=True)
        after = {role.array: turned[role.array].real for role in _roles(derived, After)}
        contents = {
            p: (after if isinstance(role, After) else arrays)[role.array].copy()
            for p, role in derived.roles.items()
            if isinstance(role, (Before, After))
        }
        contents |= {p: arrays[p] for p in derived.program.params if p in arrays}
        contents |= {x_bar: np.zeros(size), y_bar: np.ones(ELEMENTS)}
        shapes = {p: v.shape for p, v in contents.items()}
        for name, program in forms(derived.program, {**shapes, **numbers}).items():
            fields = {p: v.copy() for p, v in contents.items()}
            meaning.run(inline_primals(program), fields, numbers)
            slope, wanted = fields[x_bar] @ along, turned[y].imag.sum() / 1e-30
            np.testing.assert_allclose(
                slope, wanted, rtol=1e-9, atol=1e-12, err_msg=f"{name}, {size}, {number}"
            )
            counts[name] += 1
    return counts


def _roles(derived: Derived, kind: type[After]) -> list[After]:
    return [role for role in derived.roles.values() if isinstance(role, kind)]


@pytest.mark.parametrize("seed", range(SEEDS))
def test_adjoints_on_both_sides_of_a_window(seed: int, tmp_path: Path) -> None:
    counts = check(seed, tmp_path)
    assert counts["general"] == counts["as it is"] == 3 * len(NUMBERS)


def test_usual_forms_are_among_them(tmp_path: Path) -> None:
    """A generator whose loops are all short, or all long, would find no faults."""
    counts = Counter[str]()
    for seed in range(3):
        counts += check(seed, tmp_path)
    assert 0 < counts["usual"] < counts["general"]
