"""A kernel means what the same text means in Python.

Without Taichi: the meaning of programs, with which `test_programs.py` compares Taichi.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
import taichi as ti

from tests import harness, plain_python, programs

programs.load()

# Differences of kernels from Python, with the reasons.
DIFFERENT = {"traps.division_computed_before": "0 * x is 0 in kernels, even for an infinite x"}


def plain(value: Any, module: str) -> Any:
    """Return an argument that is neither a field nor a number as plain Python."""
    if isinstance(value, (ti.Matrix, list, np.ndarray)):
        return plain_python.small(value.to_numpy() if isinstance(value, ti.Matrix) else value)
    if not callable(value):
        return value
    known = vars(sys.modules[module]).items()
    name = next((n for n, v in known if v is value), getattr(value, "__name__", ""))
    names = plain_python.names_of(module)
    return names[name] if name in names else getattr(plain_python.TAICHI, name)


def is_class_of(given: harness.Structs, module: str) -> bool:
    """Tell whether a struct is made by a class of a module of programs, of fields only."""
    made = getattr(given.make, "__module__", "") == module
    return made and all(hasattr(member, "element") for member in given.members.values())


@pytest.mark.parametrize("one", harness.PROGRAMS, ids=lambda one: one.name)
def test_kernels_mean_what_they_mean_in_python(one: harness.Program) -> None:
    if one.name in DIFFERENT:
        pytest.skip(DIFFERENT[one.name])
    rng = np.random.default_rng(7)
    values = harness.drawn(one, rng)
    found = harness.interpreted(one, values)
    whole = {name: array.copy() for name, array in values.items()}
    ours: dict[str, Any] = {}
    module = one.function.__module__
    try:
        function = plain_python.names_of(module)[one.function.__name__]
        for name, given in one.arguments.items():
            if isinstance(given, harness.Same):
                ours[name] = ours[given.name]
            elif isinstance(given, harness.Part):
                element = harness.whole(one, name).element
                array = whole[given.of if isinstance(given.of, str) else name]
                part = given.pick(plain_python.Picked(array, element))
                ours[name] = plain_python.PlainField(part.values, element)
            elif isinstance(given, harness.Structs) and is_class_of(given, module):
                make = plain_python.names_of(module)[given.make.__name__]
                ours[name] = make(
                    **{
                        key: plain_python.PlainField(whole[f"{name}.{key}"], member.element)
                        for key, member in given.members.items()
                    }
                )
            elif name in values:
                ours[name] = plain_python.PlainField(whole[name], given.element)
            else:
                ours[name] = plain(given, module)
        with np.errstate(all="ignore"):
            for _ in range(one.launches):
                function(**ours)
    except plain_python.Unavailable as missing:
        pytest.skip(f"plain Python has no '{missing}' here")
    for name in values:
        np.testing.assert_allclose(found[name], whole[name], rtol=1e-9, atol=1e-12, err_msg=name)
