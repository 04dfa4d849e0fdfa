"""Launching kernels: arguments, captured values, and recompilation."""

from __future__ import annotations

import gc
import math
import textwrap
import weakref
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.testing as npt
import pytest
import taichi as ti

import difftile as dt
from difftile.launch.prepared_launch import RecentLaunches
from difftile.runtime.kernel import Kernel

gravity = 9.81
steps = 3


def compiled(kernel: Any) -> int:
    """Return how often a kernel has been specialised."""
    assert isinstance(kernel, Kernel)
    return sum(len(found) for found in kernel._specialisations.values())


def ones(*shape: int, dtype: Any = ti.f32, grad: bool = False) -> dt.Field:
    return dt.ones(shape, dtype=dtype, grad=grad)


def module_of(text: str, folder: Path, name: str = "made_here") -> ModuleType:
    """Return a module made of a text, which is in a file as kernels need it."""
    file = folder / f"{name}.py"
    file.write_text(textwrap.dedent(text), encoding="utf-8")
    module = ModuleType(name)
    exec(
        compile(file.read_text(encoding="utf-8"), str(file), "exec", dont_inherit=True),
        vars(module),
    )
    return module


# Arguments


@dt.kernel
def scale(x, factor: float = 2.0, offset: float = 0.0):
    for i in x:
        x[i] = factor * x[i] + offset


@pytest.mark.parametrize(
    ("args", "kwargs", "expected"),
    [
        ((), {}, 2),
        ((3.0,), {}, 3),
        ((), {"factor": 4}, 4),
        ((3, 1), {}, 4),
        ((), {"offset": 5.0, "factor": 0.0}, 5),
        ((2.0,), {"offset": np.float32(0.5)}, 2.5),
        ((np.float64(3.0), np.int64(1)), {}, 4),
        ((np.float16(0.5), np.array(1.5)[()]), {}, 2),
    ],
)
def test_arguments_by_position_by_name_and_by_default(
    args: Any, kwargs: Any, expected: float
) -> None:
    x = ones(3)
    scale(x, *args, **kwargs)
    npt.assert_array_equal(x.to_numpy(), [expected] * 3)
    y = ones(2)
    scale(*args, x=y, **kwargs) if not args else scale(y, *args, **kwargs)
    npt.assert_array_equal(y.to_numpy(), [expected] * 2)


def test_names_of_an_enclosing_function_hide_those_of_the_module() -> None:
    gravity = 2.0

    @dt.kernel
    def fall(x):
        for i in x:
            x[i] = gravity * x[i]

    x = dt.ones(2)
    fall(x)
    assert x.to_numpy().tolist() == [2, 2]


def test_a_name_that_a_comprehension_binds_is_another_one_after_it() -> None:
    @dt.kernel
    def sums(x, y):
        for i in x:
            k = 7
            squares = [x[k] ** 2 for k in range(2)]
            y[i] = squares[0] + squares[1] + k

    x, y = dt.from_numpy(np.array([2.0, 3.0])), dt.zeros(2, ti.f64)
    sums(x, y)
    assert y.to_numpy().tolist() == [20, 20]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16])
def test_narrow_integers_beside_literals_are_wide(dtype: Any) -> None:
    @dt.kernel
    def twice(x, y):
        for i in x:
            y[i] = 2 * x[i] + 1

    most = np.iinfo(dtype).max
    x, y = dt.from_numpy(np.array([most, 3], dtype)), dt.zeros(2, ti.i64)
    twice(x, y)
    assert y.to_numpy().tolist() == [2 * int(most) + 1, 7]


def test_a_float_parameter_takes_integers_without_compiling_again() -> None:
    @dt.kernel
    def fill(x, value: float):
        for i in x:
            x[i] = value / 2

    x = ones(1)
    for value in (1, 1.0, np.int32(1), np.float32(1), True):
        fill(x, value)
        assert x[0] == 0.5
    assert compiled(fill) <= 2  # True is a value of its own


def test_an_integer_parameter_stays_one() -> None:
    @dt.kernel
    def fill(x, value: int):
        for i in x:
            x[i] = value // 2 + value / 2

    x = ones(1)
    fill(x, 3)
    assert x[0] == 2.5
    fill(x, np.int64(5))
    assert x[0] == 4.5
    assert compiled(fill) == 1


def test_without_annotation_the_type_of_the_argument_counts() -> None:
    @dt.kernel
    def fill(x, value):
        for i in x:
            x[i] = value / 2 + value // 2

    x = ones(1)
    fill(x, 3)
    assert x[0] == 2.5
    fill(x, 3.0)
    assert x[0] == 2.5
    assert compiled(fill) == 2


@pytest.mark.parametrize("annotation", [ti.f32, ti.f64, float], ids=str)
def test_float_annotations(annotation: Any) -> None:
    def fill(x, value):
        for i in x:
            x[i] = value / 2

    fill.__annotations__["value"] = annotation
    kernel = dt.kernel(fill)
    x = ones(1)
    kernel(x, 3)
    assert x[0] == 1.5
    kernel(x, 3.5)
    assert x[0] == 1.75
    assert compiled(kernel) == 1


@pytest.mark.parametrize("annotation", [ti.i32, ti.i64, int], ids=str)
def test_integer_annotations(annotation: Any) -> None:
    def fill(x, value):
        for i in range(value):
            x[i] = value

    fill.__annotations__["value"] = annotation
    kernel = dt.kernel(fill)
    x = ones(3)
    kernel(x, 2)
    npt.assert_array_equal(x.to_numpy(), [2, 2, 1])
    with pytest.raises(dt.LaunchError, match=r"is an integer, not 2\.5"):
        kernel(x, 2.5)


def test_a_template_is_known_while_compiling() -> None:
    @dt.kernel
    def fill(x, n: ti.template()):
        for i in x:
            for k in ti.static(range(n)):
                x[i] += k

    x = dt.zeros(1)
    for n, expected in ((3, 3), (3, 6), (5, 16)):
        fill(x, n)
        assert x[0] == expected
    assert compiled(fill) == 2


def test_a_template_of_another_type_is_another_one() -> None:
    @dt.kernel
    def marked(x, n: ti.template()):
        x[n] = 5.0

    x = dt.zeros(3)
    marked(x, 1)
    with pytest.raises(dt.KernelError):
        marked(x, 1.0)
    assert x.to_numpy().tolist() == [0, 5, 0]


def test_a_template_parameter_takes_fields() -> None:
    @dt.kernel
    def double(x: ti.template()):
        for i in x:
            x[i] *= 2

    x = ones(2)
    double(x)
    npt.assert_array_equal(x.to_numpy(), [2, 2])


def test_bools_and_none_choose_while_compiling() -> None:
    @dt.kernel
    def move(x, v, damped):
        for i in x:
            if v is not None:
                x[i] += v[i]
            if damped:
                x[i] *= 0.5

    x, v = ones(2), ones(2)
    move(x, v, False)
    assert x[0] == 2
    move(x, v, True)
    assert x[0] == 1.5
    move(x, None, np.bool_(True))
    assert x[0] == 0.75
    assert compiled(move) == 3


@dt.func
def square(a):
    return a * a


@dt.func
def cube(a):
    return a * a * a


def test_functions_as_arguments() -> None:
    @dt.kernel
    def apply(x, f):
        for i in x:
            x[i] = f(x[i])

    x = dt.full(1, 2.0)
    for f, expected in ((square, 4), (cube, 64), (ti.sqrt, 8), (square, 64)):
        apply(x, f)
        npt.assert_allclose(x[0], expected, rtol=1e-6)
    assert compiled(apply) == 3


def test_tuples_and_texts_as_arguments() -> None:
    @dt.kernel
    def add(x, weights, mode):
        for i in x:
            for w in ti.static(weights):
                if mode == "add":
                    x[i] += w
                else:
                    x[i] -= w

    x = dt.zeros(1)
    for _ in range(3):
        add(x, tuple([1.0, 2.0]), "add")
    assert x[0] == 9
    add(x, (1.5,), "add")
    assert x[0] == 10.5
    add(x, (1.5,), "sub")
    assert x[0] == 9
    assert compiled(add) == 3


def test_types_as_arguments() -> None:
    @dt.kernel
    def fill(x, kind: ti.template()):
        for i in x:
            x[i] = ti.cast(2.75, kind)

    x = dt.zeros(1)
    fill(x, ti.i32)
    assert x[0] == 2
    fill(x, ti.f32)
    assert x[0] == 2.75


# Fields


def test_one_field_twice() -> None:
    @dt.kernel
    def add(x, y):
        for i in x:
            x[i] += 2 * y[i]

    x, y = ones(2), ones(2)
    add(x, y)
    add(x, x)
    add(x, x.detach())
    add(x, y)
    npt.assert_array_equal(x.to_numpy(), [29, 29])
    assert compiled(add) == 2


def test_one_compilation_serves_every_shape() -> None:
    @dt.kernel
    def count(x, y):
        for i, j in x:
            y[None] += x[i, j]

    for shape in ((1, 1), (3, 4), (100, 2), (2, 1000)):
        y = dt.zeros(())
        count(ones(*shape), y)
        assert y[None] == shape[0] * shape[1]
    assert compiled(count) == 1


def test_each_element_type_and_number_of_dimensions_is_compiled_once() -> None:
    @dt.kernel
    def clear(x):
        for i in ti.grouped(x):
            x[i] *= 0

    kinds = [
        ones(3),
        ones(3, dtype=ti.f64),
        ones(3, dtype=ti.math.vec2),
        ones(3, 3),
        ones(3, dtype=ti.i32),
    ]
    for _ in range(2):
        for x in kinds:
            x.fill(1)
            clear(x)
            assert not x.to_numpy().any()
    assert compiled(clear) == len(kinds)


def test_gradients_of_arguments_do_not_compile_again() -> None:
    @dt.kernel
    def double(x):
        for i in x:
            x[i] *= 2

    double(ones(2))
    double(ones(2, grad=True))
    with dt.Tape():
        double(ones(2, grad=True))
    assert compiled(double) == 1


# Precision


@dt.kernel
def tenth(x):
    for i in x:
        x[i] = 0.1 * x[i] + 1 / 3


def test_fields_of_doubles_make_a_kernel_of_doubles() -> None:
    x = dt.from_numpy(np.array([1.0, 3.0]))
    tenth(x)
    npt.assert_array_equal(x.to_numpy(), 0.1 * np.array([1.0, 3.0]) + 1 / 3)
    y = dt.from_numpy(np.array([1.0, 3.0], np.float32))
    tenth(y)
    npt.assert_allclose(y.to_numpy(), 0.1 * np.array([1.0, 3.0]) + 1 / 3, rtol=1e-6)


def test_numbers_and_captured_floats_are_exact_in_doubles() -> None:
    @dt.kernel
    def fall(x, h: float):
        for i in x:
            x[i] = gravity * h + math.pi

    x = dt.zeros(1, dtype=ti.f64)
    fall(x, 0.1)
    assert x[0] == gravity * 0.1 + math.pi


def test_mixed_precision_computes_in_doubles() -> None:
    @dt.kernel
    def mix(x, y, z):
        for i in x:
            z[i] = x[i] * y[i] + 0.1

    x, y, z = ones(1), dt.full(1, 1e-12, dtype=ti.f64), dt.zeros(1, dtype=ti.f64)
    mix(x, y, z)
    assert z[0] == 1e-12 + 0.1
    single = dt.zeros(1)
    mix(x, y, single)
    assert single[0] == np.float32(0.1)


def test_a_captured_field_of_doubles_makes_literals_exact() -> None:
    target = dt.zeros(1, dtype=ti.f64)

    @dt.kernel
    def fill(n: int):
        for i in target:
            target[i] = 0.1 * n

    fill(3)
    assert target[0] == 0.1 * 3


def test_integers_divide_as_in_python() -> None:
    @dt.kernel
    def divide(n, x):
        for i in n:
            x[i] = (n[i] - 3) // 2 + (n[i] - 3) % 2 * 0.25 + n[i] / 4 * 0.001

    n, x = dt.from_numpy(np.arange(4, dtype=np.int32)), dt.zeros(4)
    divide(n, x)
    k = np.arange(4)
    npt.assert_allclose(x.to_numpy(), (k - 3) // 2 + (k - 3) % 2 * 0.25 + k / 4 * 0.001, rtol=1e-6)


def test_declared_locals_take_the_declared_type() -> None:
    @dt.kernel
    def total(x, y):
        for i in y:
            s: float = 0
            for j in range(x.shape[0]):
                s += x[j]
            n: ti.i32 = s
            y[i] = s + n

    x, y = dt.full(3, 0.5), dt.zeros(1)
    total(x, y)
    assert y[0] == 2.5


# Names from outside


def test_a_captured_float_is_never_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    @dt.kernel
    def fall(x):
        for i in x:
            x[i] = gravity

    x = dt.zeros(1, dtype=ti.f64)
    for value in (9.81, 1.62, np.float32(0.5), np.float64(2.25)):
        monkeypatch.setitem(globals(), "gravity", value)
        fall(x)
        assert x[0] == value
    assert compiled(fall) == 1
    monkeypatch.setitem(globals(), "gravity", 3)
    fall(x)
    assert x[0] == 3


def test_a_captured_float_of_a_closure_is_never_stale() -> None:
    h = 0.5

    @dt.kernel
    def step(x):
        for i in x:
            x[i] += h

    x = dt.zeros(1)
    step(x)
    h = 0.25
    step(x)
    assert x[0] == 0.75
    assert compiled(step) == 1


def test_a_captured_integer_specialises(monkeypatch: pytest.MonkeyPatch) -> None:
    @dt.kernel
    def add(x):
        for i in x:
            for k in ti.static(range(steps)):
                x[i] += k

    x = dt.zeros(1)
    for value, expected in ((3, 3), (5, 13), (np.int64(2), 14), (3, 17)):
        monkeypatch.setitem(globals(), "steps", value)
        add(x)
        assert x[0] == expected
    assert compiled(add) <= 4


class Scene:
    stiffness = 2.0
    substeps = 2

    def __init__(self) -> None:
        self.offsets = [0.5, 0.25]
        self.names = {"mass": 4.0, "count": 2}


def test_attributes_and_containers_are_looked_up_at_each_launch() -> None:
    scene = Scene()

    @dt.kernel
    def fill(x):
        for i in x:
            x[i] = scene.stiffness * scene.substeps + scene.names["mass"]
            for offset in ti.static(scene.offsets):
                x[i] += offset
            x[i] += scene.offsets[-1]

    def expected() -> float:
        first = scene.stiffness * scene.substeps + scene.names["mass"]
        return first + sum(scene.offsets) + scene.offsets[-1]

    x = dt.zeros(1, dtype=ti.f64)
    changes: list[Any] = [
        lambda: None,
        lambda: setattr(scene, "stiffness", 3.0),
        lambda: scene.offsets.__setitem__(0, 8.0),
        lambda: scene.names.__setitem__("mass", 16.0),
        lambda: scene.offsets.append(32.0),
        lambda: setattr(scene, "substeps", 5),
        lambda: setattr(scene, "offsets", [1.0]),
    ]
    for change in changes:
        change()
        fill(x)
        assert x[0] == expected()
    assert compiled(fill) == 4  # the lengths of the list, and the integer


def test_a_captured_function_may_be_rebound() -> None:
    f = square

    @dt.kernel
    def apply(x):
        for i in x:
            x[i] = f(x[i])

    x = dt.full(1, 2.0)
    apply(x)
    f = cube
    apply(x)
    f = ti.sqrt
    apply(x)
    assert x[0] == 8


def test_a_captured_text_or_none_may_change() -> None:
    mode: Any = "double"

    @dt.kernel
    def change(x):
        for i in x:
            if mode is None:
                x[i] = 0
            elif mode == "double":
                x[i] *= 2
            else:
                x[i] += 1

    x = ones(1)
    for mode, expected in (("double", 2), ("add", 3), (None, 0), ("double", 0), ("add", 1)):
        change(x)
        assert x[0] == expected


def test_a_captured_vector_is_never_stale() -> None:
    direction = ti.Vector([1.0, 2.0])

    @dt.kernel
    def push(v):
        for i in v:
            v[i] += direction * direction.x + ti.Vector([direction[1], direction.norm() * 0])

    v = dt.zeros(1, dtype=ti.math.vec2)
    push(v)
    npt.assert_array_equal(v[0], [3, 2])
    direction = ti.Vector([2.0, 0.0])
    push(v)
    npt.assert_array_equal(v[0], [7, 2])
    assert compiled(push) == 1


def test_a_captured_field_may_be_rebound() -> None:
    source = ones(2)

    @dt.kernel
    def copy(x):
        for i in x:
            x[i] = source[i]

    x = dt.zeros(2)
    copy(x)
    source = dt.full(2, 5.0)
    copy(x)
    npt.assert_array_equal(x.to_numpy(), [5, 5])
    assert compiled(copy) == 1
    source = dt.full(2, 0.1, dtype=ti.f64)
    copy(x)
    npt.assert_array_equal(x.to_numpy(), np.float32([0.1, 0.1]))
    assert compiled(copy) == 2


def test_a_captured_field_may_be_the_argument() -> None:
    source = ones(2)

    @dt.kernel
    def add(x):
        for i in x:
            x[i] = x[i] + 2 * source[i]

    x = dt.zeros(2)
    add(source)  # both are one field
    npt.assert_array_equal(source.to_numpy(), [3, 3])
    add(x)  # and now they are not
    npt.assert_array_equal(x.to_numpy(), [6, 6])
    add(source)
    npt.assert_array_equal(source.to_numpy(), [9, 9])


def test_a_captured_field_may_become_the_argument_on_a_tape() -> None:
    factor = dt.from_numpy(np.array([2.0, 3.0]), grad=True)

    @dt.kernel
    def times(x):
        for i in x:
            x[i] = factor[i] * x[i]

    times(dt.from_numpy(np.array([5.0, 7.0]), grad=True))
    with dt.Tape() as tape:
        times(factor)
    assert factor.to_numpy().tolist() == [4.0, 9.0]
    tape.backward({factor: np.ones(2)})
    assert factor.grad.to_numpy().tolist() == [4.0, 6.0]


def test_one_captured_field_under_two_names() -> None:
    first = ones(2)
    second = first

    @dt.kernel
    def add(x):
        for i in x:
            x[i] = first[i] + 2 * second[i]

    x = dt.zeros(2)
    add(x)
    assert x[0] == 3
    second = dt.full(2, 5.0)
    add(x)
    assert x[0] == 11
    first = second
    add(x)
    assert x[0] == 15


def test_fields_in_containers() -> None:
    fields = [ones(2), dt.full(2, 2.0)]
    named = {"a": dt.full(2, 4.0)}

    @dt.kernel
    def total(x):
        for i in x:
            x[i] = named["a"][i]
            for f in ti.static(fields):
                x[i] += f[i]

    x = dt.zeros(2)
    total(x)
    assert x[0] == 7
    fields[0] = dt.full(2, 8.0)
    named["a"] = dt.zeros(2)
    total(x)
    assert x[0] == 10
    assert compiled(total) == 1


def test_defaults_of_funcs() -> None:
    weight, up = ones(2), ti.Vector([1.0, 3.0])

    @dt.func
    def weighted(a, w=weight, *, shift=0.5, direction=up):
        return a * w[0] + shift + direction.y

    @dt.kernel
    def apply(x):
        for i in x:
            x[i] = weighted(x[i])

    x = ones(1)
    apply(x)
    assert x[0] == 4.5
    weight[0] = 2.0  # a field is read at each launch
    apply(x)
    assert x[0] == 12.5


# Where kernels are defined


def test_a_module_with_future_annotations(tmp_path: Path) -> None:
    module = module_of(
        """
        from __future__ import annotations
        import taichi as ti
        import difftile as dt

        @dt.kernel
        def step(x: dt.InOut, h: float, n: ti.i32, k: ti.template()):
            for i in x:
                for _ in range(n):
                    x[i] += h * k
        """,
        tmp_path,
    )
    x = dt.zeros(1, dtype=ti.f64)
    module.step(x, 1, 3, 2)
    assert x[0] == 6
    module.step(x, 0.5, 2, 2)
    assert x[0] == 8
    assert compiled(module.step) == 1
    with pytest.raises(dt.LaunchError, match="is an integer"):
        module.step(x, 1, 2.5, 2)


def test_future_annotations_name_locals_and_later_classes(tmp_path: Path) -> None:
    module = module_of(
        """
        from __future__ import annotations
        from typing import Any
        import taichi as ti
        import difftile as dt

        def make():
            Number, V = ti.i32, ti.math.vec2

            @dt.func
            def first(v: V):
                return v[0]

            @dt.kernel
            def step(x: dt.InOut, n: Number, v: V, more: Any, text: "says nothing, in prose"):
                for i in x:
                    x[i] += n * first(v) + more

            return step

        @dt.kernel
        def shift(x, p: Later):
            for i in x:
                x[i] += p.h

        Later = ti.types.struct(h=ti.f32)

        def wrong():
            W = ti.math.vec3

            @dt.func
            def first(v: W):
                return v[0]

            @dt.kernel
            def step(x):
                x[0] = first(ti.Vector([1.0, 2.0]))

            return step
        """,
        tmp_path,
    )
    x = dt.zeros(1)
    step = module.make()
    step(x, 2, (3.0, 1.0), 1.0, None)
    assert x[0] == 7.0
    with pytest.raises(dt.LaunchError, match=r"'n' is an integer, not 2\.5"):
        step(x, 2.5, (3.0, 1.0), 1.0, None)
    module.shift(x, {"h": 2.0})
    assert x[0] == 9.0
    with pytest.raises(dt.KernelError, match="'v' of 'first' is annotated vec3<f32>"):
        module.wrong()(x)


def test_decorators_with_empty_parentheses() -> None:
    @dt.func()
    def twice(x):
        return 2.0 * x

    @dt.kernel()
    def double(x):
        for i in x:
            x[i] = twice(x[i])

    @dt.custom_op()
    def halve(x):
        x.from_numpy(x.to_numpy() / 2.0)

    @dt.checkpoint()
    def both(x):
        double(x)
        halve(x)
        double(x)

    x = dt.full(3, 1.0)
    both(x)
    assert x.tolist() == [2.0, 2.0, 2.0]
    for decorate in (dt.kernel, dt.func, dt.custom_op, dt.checkpoint):
        with pytest.raises(dt.LaunchError, match="decorates a function, not 3"):
            decorate()(3)


def test_kernels_made_by_a_function() -> None:
    def make(factor: float) -> Any:
        @dt.func
        def scaled(a):
            return factor * a

        @dt.kernel
        def apply(x):
            for i in x:
                x[i] = scaled(x[i]) + factor

        return apply

    x = ones(1)
    make(2.0)(x)
    assert x[0] == 4
    make(3.0)(x)
    assert x[0] == 15


class Solver:
    rate = 0.5

    @staticmethod
    @dt.func
    def damped(a):
        return Solver.rate * a

    @staticmethod
    @dt.kernel
    def step(x):
        for i in x:
            x[i] = Solver.damped(x[i]) + 1


def test_kernels_in_a_class() -> None:
    x = ones(1)
    Solver.step(x)
    assert x[0] == 1.5
    Solver().step(x)
    assert x[0] == 1.75


def test_indented_definitions_with_text_at_the_margin() -> None:
    @dt.kernel
    def step(x):
        """Move.

        Text at the margin.
        """
        # a comment at the margin
        for i in x:
            x[i] = 1 + 2

    x = ones(1)
    step(x)
    assert x[0] == 3


def test_names_that_generated_code_could_use(tmp_path: Path) -> None:
    module = module_of(
        """
        import difftile as dt

        @dt.kernel
        def ti(x, x_bar, x_old, n_x: int, lambda_: float, größe):
            for i in x:
                t = x[i] * lambda_
                range_ = t + n_x
                x_bar[i] = range_
                x_old[i] = größe[i] + range_
        """,
        tmp_path,
    )
    x, x_bar, x_old, size = (dt.full(2, 2.0, grad=True) for _ in range(4))
    with dt.Tape() as tape:
        module.ti(x, x_bar, x_old, 3, 0.5, size)
    assert x_old[0] == 6
    tape.backward({x_old: 1.0})
    assert (x.grad[0], size.grad[0]) == (0.5, 1.0)


def test_several_sums_of_hundreds_of_terms(tmp_path: Path) -> None:
    terms = " + ".join(f"x[i] * {k}.5" for k in range(600))
    body = f"    for i in x:\n        y[i] = {terms}\n"
    module = module_of(f"import difftile as dt\n@dt.kernel\ndef add(x, y):\n{body}", tmp_path)
    x, y = dt.ones(2, dtype=ti.f64), dt.zeros(2, dtype=ti.f64)
    module.add(x, y)
    assert y[0] == sum(k + 0.5 for k in range(600))


# Looking inside


def test_source_is_text_that_can_be_read() -> None:
    @dt.kernel
    def spring(x, v, h: float):
        for i in x:
            v[i] -= h * x[i] * x[i]
            x[i] += h * v[i]

    with pytest.raises(dt.LaunchError, match="launch it before"):
        spring.source()
    spring(ones(2), ones(2), 0.1)
    forward, adjoint = spring.source("forward"), spring.source("adjoint")
    assert forward == spring.source()
    for text in (forward, adjoint):
        assert text.startswith("@ti.kernel\ndef spring")
        compile(text, "<source>", "exec", dont_inherit=True)
    assert "x_bar" in adjoint and "x_bar" not in forward
    spring(ones(2, dtype=ti.f64), ones(2, dtype=ti.f64), 0.1)
    assert "f64" in spring.source()


def test_reprs() -> None:
    assert repr(scale) == "<kernel scale(x, factor, offset)>"
    assert repr(square) == "<func square>"
    assert scale.__name__ == "scale"


# Python's rules in kernels


def test_and_or_give_one_of_their_sides() -> None:
    @dt.kernel
    def choose(x, y):
        for i in x:
            y[i] = (x[i] or i or 7) + (x[i] and 0.5)

    x, y = dt.from_numpy(np.array([0.0, 3.0, 0.0])), dt.zeros(3, dtype=ti.f64)
    choose(x, y)
    npt.assert_array_equal(y.to_numpy(), [7, 3.5, 2])


def test_unpacking() -> None:
    pair = (0.5, 0.25)

    @dt.kernel
    def unpack(x, v):
        n, m = x.shape
        for i, j in ti.ndrange(*x.shape):
            a, b = v[None]
            c, d = pair
            (e, f), g = (a, b), c
            x[i, j] = n + 10 * m + a + b + d + e * f * g

    x, v = dt.zeros((2, 3)), dt.full((), [100, 200], dtype=ti.math.vec2)
    unpack(x, v)
    npt.assert_array_equal(x.to_numpy(), np.full((2, 3), 2 + 30 + 300 + 0.25 + 100 * 200 * 0.5))


def test_lists_are_tuples_of_values() -> None:
    @dt.kernel
    def weigh(x, y):
        for i in y:
            w = [0.5 * (1.5 - x[i]) ** 2, 0.75 - (x[i] - 1) ** 2]
            for k in ti.static(range(2)):
                y[i] += w[k] * (k + 1)
            y[i] += len(w) + len(x) + x.ndim

    x, y = dt.full(1, 0.5), dt.zeros(1)
    weigh(x, y)
    assert y[0] == 0.5 + 2 * 0.5 + 4


def test_early_returns_of_several_values() -> None:
    @dt.func
    def polar(a, b):
        if a > 0:
            return a, 1
        if b > 0:
            return b, 2.5
        return 0, 0

    @dt.kernel
    def apply(x, y):
        for i in x:
            value, branch = polar(x[i], y[i])
            x[i] = 10 * branch + value

    x, y = dt.from_numpy(np.array([1.0, -1.0, -1.0])), dt.from_numpy(np.array([0.0, 3.0, -3.0]))
    apply(x, y)
    npt.assert_array_equal(x.to_numpy(), [11, 28, 0])


def test_rows_of_matrices() -> None:
    @dt.kernel
    def rows(m, v):
        for i in m:
            v[i] = m[i][0] + m[i][1] * 10
            v[i].x += m[i][1, 1]

    m = dt.full(1, [[1, 2], [3, 4]], dtype=ti.math.mat2)
    v = dt.zeros(1, dtype=ti.math.vec2)
    rows(m, v)
    npt.assert_array_equal(v[0], [35, 42])


def test_vectors_with_a_number_type() -> None:
    @dt.kernel
    def make(x):
        for i in x:
            v = ti.Vector([1, 2], dt=ti.f32) / 4
            m = ti.Matrix([[1, 2], [3, 4]], dt=ti.f32)
            x[i] = v[1] + (m / 8)[0, 1]

    x = dt.zeros(1)
    make(x)
    assert x[0] == 0.75


def test_fields_that_change_roles_are_not_prepared_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    @dt.kernel
    def carry(a, b, gain: float):
        for i in a:
            b[i] = gain * a[i]

    prepared: list[object] = []
    add = RecentLaunches.add
    monkeypatch.setattr(RecentLaunches, "add", lambda self, c: (prepared.append(c), add(self, c)))
    a, b = dt.ones(4), dt.zeros(4)
    for gain in (1.0, 2.0, 3.0, 4.0):
        carry(a, b, gain)
        a, b = b, a
    assert len(prepared) == 2
    np.testing.assert_array_equal(a.to_numpy(), np.full(4, 24.0))


def test_kernel_keeps_no_large_fields_alive_but_those_of_its_last_launch() -> None:
    @dt.kernel
    def double(a):
        for i in a:
            a[i] *= 2

    large = [dt.ones(2**19) for _ in range(3)]  # 2 MB each
    known = [weakref.ref(one) for one in large]
    for one in large:
        double(one)
    del one
    large.clear()
    gc.collect()
    assert [ref() is not None for ref in known] == [False, False, True]
