"""Each kind of argument beside each other: found again at the next launch, with its new values."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import is_
from typing import Any, NamedTuple

import numpy as np
import numpy.testing as npt
import pytest
import taichi as ti

import difftile as dt
from difftile.launch.forms import opened_again


@dataclasses.dataclass
class Loose:
    k: Any
    of: Any


@dataclasses.dataclass(frozen=True)
class Fixed:
    a: Any
    b: Any


@dt.func
def itself(one, i):
    return one


@dt.func
def element(one, i):
    return one[i]


@dt.func
def two_components(one, i):
    return one[0] + 2.0 * one[1]


@dt.func
def of_members(one, i):
    return one.k * one.of[i]


@dt.func
def of_fields(one, i):
    return one.a[i] - one.b[i]


@dt.func
def of_call(one, i):
    return one(3.0)


def field(seed: float) -> dt.Field:
    return dt.from_numpy(numbers(seed))


def numbers(seed: float) -> np.ndarray:
    return (seed * np.arange(1, 4)).astype(np.float32)


class Kind(NamedTuple):
    """A kind of argument: how one is made of a number, read in a kernel, and what that gives."""

    make: Callable[[float], Any]
    read: Any
    value: Callable[[float], Any]


KINDS = {
    "float": Kind(float, itself, float),
    "integer": Kind(int, itself, int),
    "NumPy's float": Kind(np.float32, itself, float),
    "field": Kind(field, element, numbers),
    "view": Kind(lambda x: dt.from_numpy(np.tile(numbers(x), 2))[3:], element, numbers),
    "array": Kind(numbers, element, numbers),
    "array with gaps": Kind(lambda x: np.repeat(numbers(x), 2)[::2], element, numbers),
    "field of one": Kind(lambda x: dt.full((), x), lambda one, i: one[None], float),
    "list": Kind(lambda x: [x, 1.0], two_components, lambda x: x + 2.0),
    "vector": Kind(lambda x: ti.Vector([x, 1.0]), two_components, lambda x: x + 2.0),
    "struct": Kind(lambda x: ti.Struct(k=x, of=field(2.0)), of_members, lambda x: x * numbers(2.0)),
    "dataclass": Kind(lambda x: Loose(x, numbers(2.0)), of_members, lambda x: x * numbers(2.0)),
    "frozen": Kind(
        lambda x: Fixed(field(x), field(1.0)), of_fields, lambda x: numbers(x) - numbers(1.0)
    ),
    "func": Kind(lambda x: lambda y: x * y, of_call, lambda x: x * 3.0),
    "tuple": Kind(lambda x: (x, 1.0), two_components, lambda x: x + 2.0),
}


@dt.kernel
def combine(x, a, read_a, b, read_b):
    for i in x:
        x[i] = read_a(a, i) + 10.0 * read_b(b, i)


@pytest.fixture(autouse=True)
def python() -> None:
    dt.init(arch="python")


@pytest.mark.parametrize("first", ["array", "dataclass", "view"])
def test_arguments_of_two_kinds_are_found_again(first: str) -> None:
    x, one = dt.zeros(3), KINDS[first]
    for other in KINDS.values():
        arguments = [(x, one.make(2.0), one.read, other.make(k), other.read) for k in (3.0, 4.0)]
        for k in (0, 0, 1, 0, 0, 1, 1):
            combine(*arguments[k])
            npt.assert_allclose(x, one.value(2.0) + 10.0 * other.value(3.0 + k), rtol=1e-6)
        launch = combine.latest_launch
        opened = opened_again(launch.several, arguments[1])
        shortcut = launch.shortcut()
        same = all(map(is_, launch.key, launch.invariant(opened)))  # but for views made anew
        assert shortcut is None or (shortcut(opened) is not None) == same, other
        assert same or other is KINDS["array with gaps"]


def test_defaults_may_be_left_out_behind_a_struct() -> None:
    @dt.kernel
    def scaled(x, p, k=2.0):
        for i in x:
            x[i] = k * p.k * p.of[i]

    x, p = dt.zeros(3), Loose(3.0, field(1.0))
    for _ in range(3):
        scaled(x, p, 4.0)
    npt.assert_allclose(x, 12.0 * numbers(1.0))
    scaled(x, p)
    npt.assert_allclose(x, 6.0 * numbers(1.0))


def test_a_struct_may_be_a_default() -> None:
    p = Loose(3.0, field(1.0))

    @dt.kernel
    def scaled(x, k, p=p):
        for i in x:
            x[i] = k * p.k * p.of[i]

    x = dt.zeros(3)
    for k in (4.0, 5.0, 6.0):
        scaled(x, k, p)
    scaled(x, 2.0)
    npt.assert_allclose(x, 6.0 * numbers(1.0))


@pytest.mark.parametrize("number", [2.0, np.float32(2.0)])
def test_a_number_is_no_vector_whoever_made_it(number: float) -> None:
    @dt.kernel
    def filled(x, v: ti.math.vec3):
        for i in x:
            x[i] = v[0]

    with pytest.raises(dt.LaunchError) as error:
        filled(dt.zeros(3), number)
    text = "<kernel filled(x, v)>: 'v' takes a vector of 3 numbers, not "
    assert str(error.value).startswith(text)


def test_a_struct_of_more_members_is_another_one() -> None:
    @dt.kernel
    def scaled(x, p):
        for i in x:
            x[i] = p.k * p.of[i]

    x, of = dt.zeros(3), field(1.0)
    for _ in range(3):
        scaled(x, ti.Struct(k=2.0, of=of))
    with pytest.raises(dt.LaunchError, match="more"):
        scaled(x, ti.Struct(k=3.0, of=of, more={1: 2}.keys()))
