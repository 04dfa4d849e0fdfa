"""Kernels and funcs as methods of `@dt.data_oriented` classes."""

from __future__ import annotations

import copy
from dataclasses import FrozenInstanceError, dataclass

import numpy as np
import pytest
import taichi as ti

import difftile as dt


@dt.data_oriented
class Springs:
    def __init__(self, n: int, k: float = 2.0) -> None:
        self.x = dt.from_numpy(np.linspace(0.1, 1.0, n), dtype=ti.f64, grad=True)
        self.energy = dt.zeros((), dtype=ti.f64, grad=True)
        self.k = k
        self.power = 2
        self.scales = [1.0, 0.5]

    @property
    def stiffness(self) -> float:
        return 10 * self.k

    @staticmethod
    @dt.func
    def squared(x):
        return x * x

    @dt.func
    def force(self, i):
        return self.k * self.x[i]

    @dt.func
    def work(self, i):
        return self.force(i) * self.squared(self.x[i]) ** ti.static(self.power)

    @dt.kernel
    def add(self, factor: float):
        for i in self.x:
            self.energy[None] += factor * self.work(i) * self.scales[1]

    @dt.kernel
    def stiff(self, y):
        for i in y:
            y[i] = self.stiffness * self.x[i]


@dt.data_oriented
class Anchored(Springs):
    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.other = Springs(n, k=3.0)

    @dt.func
    def force(self, i):
        return self.k * (self.x[i] - 1.0) + self.other.force(i)


def launches(kernel: object) -> int:
    return sum(len(found) for found in kernel._specialisations.values())


def test_a_method_reads_its_object() -> None:
    springs = Springs(4)
    with dt.Tape(springs.energy):
        springs.add(3.0)
    x = springs.x.to_numpy()
    np.testing.assert_allclose(springs.energy[None], np.sum(3 * 2 * x * x**4 * 0.5))
    np.testing.assert_allclose(springs.x.grad.to_numpy(), 15 * x**4)


def test_numbers_are_read_anew_and_integers_compile_again() -> None:
    springs = Springs(3)
    x = springs.x.to_numpy()
    before = launches(Springs.add)
    springs.add(1.0)
    springs.k, springs.scales = 4.0, [0.0, 1.0]
    springs.energy.fill(0)
    springs.add(1.0)
    np.testing.assert_allclose(springs.energy[None], np.sum(4 * x**5))
    assert launches(Springs.add) <= before + 1
    springs.power = 1
    springs.energy.fill(0)
    springs.add(1.0)
    np.testing.assert_allclose(springs.energy[None], np.sum(4 * x**3))


def test_objects_share_code_and_keep_their_fields() -> None:
    first, second = Springs(3), Springs(5, k=1.0)
    for _ in range(2):
        first.add(1.0)
        second.add(1.0)
    count = launches(Springs.add)
    third = Springs(2)
    third.add(1.0)
    assert launches(Springs.add) == count
    np.testing.assert_allclose(second.energy[None], np.sum(second.x.to_numpy() ** 5))
    third.x = dt.from_numpy([1.0], dtype=ti.f64)
    third.energy.fill(0)
    third.add(1.0)
    np.testing.assert_allclose(third.energy[None], 1.0)
    twin = copy.copy(third)
    twin.x = dt.from_numpy([2.0], dtype=ti.f64)
    third.energy.fill(0)
    twin.add(1.0)
    np.testing.assert_allclose(third.energy[None], 32.0)


def test_inheritance_properties_and_other_objects() -> None:
    springs, y = Anchored(3), dt.zeros(3, dtype=ti.f64)
    springs.add(1.0)
    x = springs.x.to_numpy()
    np.testing.assert_allclose(springs.energy[None], np.sum((2 * (x - 1) + 3 * x) * x**4 / 2))
    springs.stiff(y)
    np.testing.assert_allclose(y.to_numpy(), 20 * x)
    springs.stiff(y=y)
    Springs.stiff(springs, y)
    np.testing.assert_allclose(y.to_numpy(), 20 * x)


def test_objects_with_an_equality_of_their_own() -> None:
    @dt.data_oriented
    @dataclass
    class Box:
        x: dt.Field
        h: float

        @dt.kernel
        def fill(self):
            for i in self.x:
                self.x[i] = self.h

    first, second = Box(dt.zeros(2), 1.0), Box(dt.zeros(2), 2.0)
    for box in (first, second, first):
        box.fill()
    assert first.x[0] == 1.0 and second.x[0] == 2.0


def test_taichi_decorator_bwds_and_fwds() -> None:
    @ti.data_oriented
    class Model:
        def __init__(self) -> None:
            self.x = dt.ones(2, grad=True)
            self.y = dt.zeros(2, grad=True)

        @ti.func
        def f(self, a):
            return a * a

        @dt.kernel
        def run(self):
            for i in self.x:
                self.y[i] = self.f(self.x[i])

    model = Model()
    model.run()
    model.y.grad.fill(1.0)
    model.run.bwds()
    np.testing.assert_allclose(model.x.grad.to_numpy(), [2, 2])
    model.x.grad.from_numpy(np.array([3.0, -1.0], np.float32))
    model.run.fwds()
    np.testing.assert_allclose(model.y.grad.to_numpy(), [6, -2])
    assert "def run" in model.run.source()
    assert repr(model.run).startswith("<kernel run(self)> of <")


def test_objects_and_containers_as_template_arguments() -> None:
    @dt.kernel
    def step(model: ti.template(), many: ti.template(), f: ti.template(), n: dt.template, y):
        for i in y:
            for k in ti.static(range(len(many))):
                y[i] += model.k * many[k][i] * f(y[i] + n)

    @dt.func
    def cubed(a):
        return a * a * a

    springs = Springs(2)
    y = dt.ones(2, dtype=ti.f64)
    many = [dt.ones(2, dtype=ti.f64), springs.x]
    step(springs, many, cubed, 0, y)
    first = y.to_numpy()
    assert not np.allclose(first, 1)
    many.append(dt.zeros(2, dtype=ti.f64))
    y.fill(1)
    step(springs, many, cubed, 0, y)
    np.testing.assert_allclose(y.to_numpy(), first)
    many[0].fill(0)
    many[1] = many[0]
    y.fill(1)
    step(springs, many, cubed, 0, y)
    np.testing.assert_allclose(y.to_numpy(), 1)


@dt.kernel
def add_force(y, springs, other):
    for i in y:
        y[i] = springs.force(i) + 10 * other.force(i)


def test_objects_are_arguments_in_any_place() -> None:
    first, second, y = Springs(3), Springs(3, k=1.0), dt.zeros(3, dtype=ti.f64, grad=True)
    with dt.Tape() as tape:
        add_force(y, first, second)
        add_force(y, other=first, springs=second)
    x = first.x.to_numpy()
    np.testing.assert_allclose(y.to_numpy(), x + 10 * 2 * x)
    tape.backward({y: np.ones(3)})
    np.testing.assert_allclose(first.x.grad.to_numpy(), 20)
    np.testing.assert_allclose(second.x.grad.to_numpy(), 1)


def test_only_a_class_is_data_oriented() -> None:
    with pytest.raises(dt.LaunchError, match="decorates a class"):
        dt.data_oriented(3)


@dt.data_oriented
class Falling:
    def __init__(self) -> None:
        self.y = dt.from_numpy([0.05, 1.0], dtype=ti.f64, grad=True)
        self.h = 0.1

    @dt.kernel
    def step(self):
        for i in self.y:
            until = self.h
            if self.y[i] < self.h:
                until = self.y[i]
            self.y[i] -= until


def test_numbers_of_an_object_are_as_wide_as_its_fields_in_every_branch() -> None:
    falling = Falling()
    falling.step()
    np.testing.assert_array_equal(falling.y.to_numpy(), [0.0, 0.9])


@dt.data_oriented
class Swapping:
    def __init__(self, start: float) -> None:
        self.x = dt.from_numpy([start, 2 * start], dtype=ti.f64)
        self.gain = 1.0
        self.times = 1
        self.inner = Springs(2)

    @dt.kernel
    def grow(self):
        for i in self.x:
            for _ in range(self.times):
                self.x[i] += self.gain * self.inner.k + self.inner.scales[0]


def test_everything_an_object_holds_may_change_between_launches() -> None:
    one, other = Swapping(1.0), Swapping(10.0)
    one.grow()
    other.grow()  # another object of the class
    one.gain = 0.5  # a number
    one.grow()
    one.times = 2  # an integer, which is compiled in
    one.grow()
    one.inner.scales[0] = 0.0  # an element
    one.grow()
    old, one.x = one.x, dt.from_numpy([0.0, 0.0], dtype=ti.f64)  # a field
    one.grow()
    one.inner = Springs(2, k=100)  # an integer where a float was
    one.grow()
    one.gain = np.float64(2.0)
    one.grow()
    np.testing.assert_array_equal(other.x.to_numpy(), [13.0, 23.0])
    np.testing.assert_array_equal(old.to_numpy(), [1 + 3 + 2 + 4 + 2, 2 + 3 + 2 + 4 + 2])
    assert one.x[0] == 2 + 2 * (50 + 1.0) + 2 * (200 + 1.0)
    del one.gain
    with pytest.raises(dt.KernelError, match="gain"):
        one.grow()


@dt.kernel
def largest(x, y):
    for i in x:
        y[i] = max(x[i], 2.0)


def test_a_frozen_object_is_looked_into_once() -> None:
    """Its numbers are its own, whatever computes them or holds them is still asked."""

    @dt.data_oriented(frozen=True)
    class Scaled:
        def __init__(self, inner: object, k: float) -> None:
            self.inner, self.k, self.steps, self.several = inner, k, 2, [10.0]

        @property
        def computed(self) -> float:
            return self.several[0] / 100.0

        @dt.func
        def value(self, x):
            return self.k * x + self.inner.k + self.several[0] + self.computed + self.steps

    inner = Scaled(Parameters(0.25), 0.5)
    one, other = Scaled(inner, 3.0), Scaled(inner, 4.0)
    x = dt.zeros(2, ti.f64)

    @dt.kernel
    def fill(scaled, x):
        for i in x:
            x[i] = scaled.value(i + 1.0)

    for each in (one, other, one):
        fill(each, x)
        np.testing.assert_allclose(x.to_numpy(), each.k * np.array([1.0, 2.0]) + 12.6)
    assert launches(fill) == 1
    one.several[0] = 20.0
    fill(one, x)
    np.testing.assert_allclose(x.to_numpy(), [25.7, 28.7])
    with pytest.raises(FrozenInstanceError, match="cannot change 'k': Scaled is frozen"):
        one.k = 5.0
    with pytest.raises(FrozenInstanceError, match="cannot change 'k'"):
        del one.k
    launch = fill._launches.latest
    assert launch is not None and launch.captured is not None
    groups = launch.captured.groups
    paths = [capture.path.steps for group in groups for capture in group.captures]
    assert not any(("attribute", "k") in path for path in paths)


def test_a_frozen_class_lets_classes_that_inherit_it_change() -> None:
    @dt.data_oriented(frozen=True)
    class Fixed:
        def __init__(self) -> None:
            self.k = 1.0

    class Free(Fixed):
        def __init__(self) -> None:
            super().__init__()
            self.more = 2.0

        @dt.kernel
        def put(self, x):
            for i in x:
                x[i] = self.k + self.more

    free, x = Free(), dt.zeros(1, ti.f64)
    for k in (1.0, 5.0):
        free.k = k
        free.put(x)
        assert x[0] == k + 2.0


@pytest.mark.parametrize("slots", [False, True])
def test_frozen_structs_of_fields_are_opened_once(slots: bool) -> None:
    @dataclass(frozen=True, slots=slots)
    class Pair:
        a: object
        b: object

    one, other = (Pair(dt.full(2, k, ti.f64), dt.full(2, 2 * k, ti.f64)) for k in (1.0, 5.0))
    x = dt.zeros(2, ti.f64)

    @dt.kernel
    def add(pair, x):
        for i in x:
            x[i] = pair.a[i] + pair.b[i]

    for pair, wanted in ((one, 3.0), (other, 15.0), (one, 3.0)):
        add(pair, x)
        np.testing.assert_array_equal(x.to_numpy(), wanted)
    one.a.fill(7.0)
    add(one, x)
    np.testing.assert_array_equal(x.to_numpy(), 9.0)
    launch = add._launches.latest
    assert launch is not None and launch.several[0].parts == [one.a, one.b]


@dataclass(frozen=True)
class Parameters:
    k: float


def test_a_builtin_that_a_module_hides_between_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = dt.from_numpy([1.0, 3.0], dtype=ti.f64), dt.zeros(2, dtype=ti.f64)
    for _ in range(2):
        largest(x, y)
    assert y.to_numpy().tolist() == [2, 3]
    monkeypatch.setitem(globals(), "max", dt.func(lambda a, b: a + b))
    largest(x, y)
    assert y.to_numpy().tolist() == [3, 5]
    monkeypatch.undo()
    largest(x, y)
    assert y.to_numpy().tolist() == [2, 3]


def test_a_number_that_changes_and_comes_back() -> None:
    springs = Springs(1)
    x = springs.x.to_numpy()[0]
    for k in (2.0, 3.0, 2.0, 2.0, 3.0):
        springs.k = k
        springs.energy.fill(0)
        springs.add(1.0)
        np.testing.assert_allclose(springs.energy[None], k * x**5 * 0.5)
