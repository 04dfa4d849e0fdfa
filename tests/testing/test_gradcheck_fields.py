"""`dt.gradcheck` probes every field that it is asked for, and none of the library's own."""

from __future__ import annotations

import functools
import gc
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.fields.rows import rows_of
from difftile.fields.structs import StructField
from difftile.render import AlphaSplats, Cameras, Splatter, dssim, l2, make_gaussians
from difftile.testing.gradcheck_report import Verdict

COUNT = 3  # fields of a program
ALL = range(COUNT)


# A kernel whose rule is wrong when it is told so: one compiled kernel stands for every program.


@dt.func
def cube(x, off):
    return x * x * x


@cube.backward
def _(x, off, d_out):
    return 3.0 * x * x * (1.0 + off) * d_out, 0.0


@dt.kernel
def add_cubes(x, off: float, loss):
    for i in x:
        loss[None] += cube(x[i], off)


# The ways in which a function may come by its fields. Each takes the fields, a function that
# launches the kernel for one field and its number, and one that finishes a run; it returns the
# checked function, the requested fields, and their names.

Use = Callable[[Any, int], None]
Way = tuple[Callable[[], Any], Any, list[str]]
WAYS: dict[str, Callable[[list[dt.Field], Use], Way]] = {}


def way(make: Callable[[list[dt.Field], Use], Way]) -> Callable[[list[dt.Field], Use], Way]:
    WAYS[make.__name__] = make
    return make


@way
def plain_names(fields: list[dt.Field], use: Use) -> Way:
    a, b, c = fields

    def f() -> None:
        use(a, 0)
        use(b, 1)
        use(c, 2)

    return f, [a, b, c], ["a", "b", "c"]


@way
def helper(fields: list[dt.Field], use: Use) -> Way:
    a, b, c = fields

    def inner() -> None:
        use(a, 0)
        use(b, 1)

    def helping() -> None:
        inner()
        use(c, 2)

    def f() -> None:
        helping()

    return f, [a, b, c], ["a", "b", "c"]


@way
def attributes(fields: list[dt.Field], use: Use) -> Way:
    o = SimpleNamespace(a=fields[0], b=fields[1], deep=SimpleNamespace(c=fields[2]))

    def f() -> None:
        use(o.a, 0)
        use(o.b, 1)
        use(o.deep.c, 2)

    return f, [o.a, o.b, o.deep.c], ["o.a", "o.b", "o.deep.c"]


@way
def an_object(fields: list[dt.Field], use: Use) -> Way:
    o = SimpleNamespace(a=fields[0], b=fields[1], c=fields[2], name="no field")

    def f() -> None:
        use(o.a, 0)
        use(o.b, 1)
        use(o.c, 2)

    return f, [o], ["o.a", "o.b", "o.c"]


@way
def slots(fields: list[dt.Field], use: Use) -> Way:
    @dataclass(slots=True)
    class Net:
        a: dt.Field
        b: dt.Field
        c: dt.Field

    net = Net(*fields)

    def f() -> None:
        use(net.a, 0)
        use(net.b, 1)
        use(net.c, 2)

    return f, [net.a, net.b, net.c], ["net.a", "net.b", "net.c"]


@way
def class_attributes(fields: list[dt.Field], use: Use) -> Way:
    class Net:
        a, b = fields[:2]

    net = Net()
    net.c = fields[2]

    def f() -> None:
        use(net.a, 0)
        use(Net.b, 1)
        use(net.c, 2)

    return f, [net.a, Net.b, net.c], ["Net.a", "Net.b", "net.c"]


@way
def a_list(fields: list[dt.Field], use: Use) -> Way:
    L = list(fields)

    def f() -> None:
        for k, x in enumerate(L):
            use(x, k)

    return f, L, ["L[0]", "L[1]", "L[2]"]


@way
def a_dict(fields: list[dt.Field], use: Use) -> Way:
    d = {"w": fields[0], 7: fields[1], "more": {"b": fields[2]}}

    def f() -> None:
        use(d["w"], 0)
        use(d[7], 1)
        use(d["more"]["b"], 2)

    return f, [d["w"], d[7], d["more"]["b"]], ["d['w']", "d[7]", "d['more']['b']"]


@way
def nested_lists(fields: list[dt.Field], use: Use) -> Way:
    L = [[fields[0]], (fields[1], [fields[2]])]

    def f() -> None:
        use(L[0][0], 0)
        use(L[1][0], 1)
        use(L[1][1][0], 2)

    return f, L, ["L[0][0]", "L[1][0]", "L[1][1][0]"]


@way
def members_of_rows(fields: list[dt.Field], use: Use) -> Way:
    rows = dt.Rows(means=fields[0], scales=fields[1], colours=fields[2])

    def f() -> None:
        use(rows.means, 0)
        use(rows["scales"], 1)
        use(rows.colours, 2)

    names = ["rows.means", "rows.scales", "rows.colours"]
    return f, [rows.means, rows.scales, rows.colours], names


@way
def rows_themselves(fields: list[dt.Field], use: Use) -> Way:
    f, _, names = members_of_rows(fields, use)
    return f, rows_of(fields[0]), names


@way
def members_of_structs(fields: list[dt.Field], use: Use) -> Way:
    p = StructField({"a": fields[0], "b": fields[1], "in_it": StructField({"c": fields[2]})})

    def f() -> None:
        use(p.a, 0)
        use(p.b, 1)
        use(p.in_it.c, 2)

    return f, [p.a, p.b, p.in_it.c], ["p.a", "p.b", "p.in_it.c"]


@way
def structs_themselves(fields: list[dt.Field], use: Use) -> Way:
    f, _, names = members_of_structs(fields, use)
    p = f.__closure__[0].cell_contents
    assert isinstance(p, StructField)
    return f, [p], names


@way
def the_self_of_a_method(fields: list[dt.Field], use: Use) -> Way:
    class Model:
        def __init__(self) -> None:
            self.a, self.b, self.hidden = fields[0], fields[1], [fields[2]]

        def run(self) -> None:
            use(self.a, 0)
            use(self.b, 1)
            self.more()

        def more(self) -> None:
            use(self.hidden[0], 2)

    model = Model()
    asked = [model.a, model.b, model.hidden[0]]
    return model.run, asked, ["self.a", "self.b", "self.hidden[0]"]


@way
def a_callable_object(fields: list[dt.Field], use: Use) -> Way:
    class Model:
        def __init__(self) -> None:
            self.a, self.b, self._c = fields

        def __call__(self) -> None:
            for k, x in enumerate((self.a, self.b, self._c)):
                use(x, k)

    return Model(), fields, ["self.a", "self.b", "self._c"]


@way
def a_partial(fields: list[dt.Field], use: Use) -> Way:
    def run(xs: Sequence[dt.Field], last: dt.Field) -> None:
        for k, x in enumerate((*xs, last)):
            use(x, k)

    return (
        functools.partial(run, fields[:2], fields[2]),
        fields,
        ["args[0][0]", "args[0][1]", "args[1]"],
    )


@way
def a_default(fields: list[dt.Field], use: Use) -> Way:
    def helper(xs: Sequence[dt.Field] = tuple(fields)) -> None:
        for k, x in enumerate(xs):
            use(x, k)

    def f() -> None:
        helper()

    return f, fields, ["xs[0]", "xs[1]", "xs[2]"]


@way
def a_module(fields: list[dt.Field], use: Use) -> Way:
    model = ModuleType("model")
    model.a, model.b, model.c = fields

    def f() -> None:
        use(model.a, 0)
        use(model.b, 1)
        use(model.c, 2)

    return f, [model.a, model.b, model.c], ["model.a", "model.b", "model.c"]


@way
def nowhere_to_be_found(fields: list[dt.Field], use: Use) -> Way:
    hidden = itertools.cycle(fields)

    def f() -> None:
        for k in ALL:
            use(next(hidden), k)

    return f, fields, [f"fields[{k}] of shape (2,)" for k in ALL]


@way
def shapes_and_parts(fields: list[dt.Field], use: Use) -> Way:
    a, L = fields[0], fields[1:]

    def f() -> None:
        use(a, 0)
        use(L[0], 1)
        use(L[1], 2)

    return f, [a.view(2, 1), L[0][:2], L[1]], ["a", "L[0] (part)", "L[1]"]


@way
def a_dict_of_names(fields: list[dt.Field], use: Use) -> Way:
    def f() -> None:
        for k, x in enumerate(fields):
            use(x, k)

    return f, dict(zip("pqr", fields, strict=True)), ["p", "q", "r"]


def program(name: str, wrong: int | None) -> tuple[Way, dict[str, Any]]:
    """Return a function of some fields, of which one has a wrong gradient."""
    fields = [dt.full(2, 0.4 + 0.2 * k, ti.f64, grad=True) for k in ALL]
    loss = dt.zeros((), ti.f64, grad=True)

    def use(x: Any, k: int) -> None:
        if k == 0:
            loss.fill(0.0)
        add_cubes(x, 0.5 * (k == wrong), loss)

    return WAYS[name](fields, use), {"outputs": loss, "entries": 2, "directions": 1}


def wrong_fields(report: dt.GradCheck) -> set[str]:
    return {p.field for p in report.probes if p.verdict is Verdict.WRONG and p.field}


@pytest.mark.parametrize("name", WAYS)
def test_each_field_that_is_asked_for_is_probed(name: str) -> None:
    for wrong in (None, *ALL):
        (f, asked, names), options = program(name, wrong)
        report = dt.gradcheck(f, asked, **options)
        assert [one.name for one in report.fields] == names
        assert all(one.probed == one.size for one in report.fields)
        assert report.passed == (wrong is None), report
        assert wrong_fields(report) == (set() if wrong is None else {names[wrong]})
        assert f"{names[-1]} (2 entries)" in str(report)


@pytest.mark.parametrize("name", WAYS)
def test_each_field_that_is_read_is_probed(name: str) -> None:
    for wrong in ALL:
        (f, _, names), options = program(name, wrong)
        report = dt.gradcheck(f, **options)
        if name in ("nowhere_to_be_found", "shapes_and_parts", "a_dict_of_names"):
            names = [one.name for one in report.fields]  # the requested fields had their own names
        assert [one.name for one in report.fields] == names
        assert wrong_fields(report) == {names[wrong]}


# Memory of the library


@dt.kernel
def add_squares(x, loss):
    for at in ti.grouped(x):
        loss[None] += x[at] * x[at]


@dt.kernel
def decay(t, y, dy, k):
    for i in y:
        dy[i] = -k[None] * y[i] * y[i]


@dt.kernel
def settle(y, out, k):
    for i in y:
        out[i] = 0.3 * ti.cos(y[i]) + k[None]


@dt.kernel
def residual(y, out, k):
    for i in y:
        out[i] = y[i] * y[i] * y[i] + y[i] - k[None]


@dt.kernel
def twice(y, out, k):
    for i in y:
        out[i] = (2.0 + k[None] * k[None]) * y[i]


@dt.kernel
def look_up(tex, x, loss):
    for i in x:
        loss[None] += tex.sample_lod(x[i], 0.4) ** 2


Checked = tuple[Callable[[], dt.Field], set[str]]
LIBRARY: dict[str, Callable[[], Checked]] = {}


def part(make: Callable[[], Checked]) -> Callable[[], Checked]:
    LIBRARY[make.__name__] = make
    return make


def ones(n: int, value: float = 0.5) -> dt.Field:
    return dt.full(n, value, ti.f64, grad=True)


def total() -> dt.Field:
    return dt.zeros((), grad=True)


@part
def splatter_with_dssim() -> Checked:
    rng = np.random.default_rng(0)
    gaussians = make_gaussians(
        means=rng.uniform(-0.5, 0.5, (2, 3)),
        scales=np.full((2, 3), -1.0),
        quaternions=rng.normal(size=(2, 4)),
        opacities=np.zeros(2),
        sh0=rng.uniform(0, 1, (2, 3)),
    )
    cameras = Cameras.look_at((0, 0, -3.0), (0, 0, 0), 12, 12)
    splatter, loss = Splatter(12, 12, depth=False), total()
    target = dt.full((1, 12, 12), 0.3, ti.math.vec3)

    def f() -> dt.Field:
        loss.fill(0.0)
        dssim(splatter(gaussians, cameras).image, target, loss)
        return loss

    return f, {f"gaussians.{name}" for name in gaussians}


@part
def splats_in_the_plane() -> Checked:
    means = dt.full(2, (4.0, 5.0), ti.math.vec2, grad=True)
    factors = dt.full(2, (2.0, 0.3, 1.5), ti.math.vec3, grad=True)
    opacities, colours = dt.full(2, 0.5, grad=True), dt.full(2, 0.7, ti.math.vec3, grad=True)
    splats, target, loss = AlphaSplats(12, 12), dt.full((12, 12), 0.3, ti.math.vec3), total()

    def f() -> dt.Field:
        loss.fill(0.0)
        l2(splats(means, factors, opacities, colours), target, loss)
        return loss

    return f, {"means", "factors", "opacities", "colours"}


@part
def similarity() -> Checked:
    image, loss = dt.full((12, 12), 0.6, ti.f64, grad=True), total()
    image[3, 4] = 0.9
    target, mask = dt.full((12, 12), 0.3, ti.f64), dt.ones((12, 12), ti.f64)

    def f() -> dt.Field:
        loss.fill(0.0)
        dssim(image, target, loss, padding="same", mask=mask)
        return loss

    return f, {"image"}


@part
def a_texture_with_levels() -> Checked:
    data = dt.from_numpy(np.random.default_rng(1).uniform(size=(4, 4)), dtype=ti.f32, grad=True)
    tex, x = dt.Texture(data, mip="linear"), dt.full(2, (0.4, 0.7), ti.math.vec2, grad=True)
    loss = total()

    def f() -> dt.Field:
        loss.fill(0.0)
        look_up(tex, x, loss)
        return loss

    return f, {"tex.data", "x"}


def equation(**options: Any) -> Checked:
    start, y = dt.full(2, 0.9, grad=True), dt.full(2, 0.9, grad=True)
    k, loss = dt.full((), 0.5, grad=True), total()

    def f() -> dt.Field:
        loss.fill(0.0)
        y.copy_from(start)
        dt.odeint(decay, y, 0.0, 0.3, args=(k,), **options)
        add_squares(y, loss)
        return loss

    return f, {"start", "y", "k"}


LIBRARY["odeint, rk4"] = lambda: equation(method="rk4", steps=2)
LIBRARY["odeint, dopri5"] = lambda: equation(rtol=1e-9, atol=1e-12)
LIBRARY["odeint, continuous"] = lambda: equation(rtol=1e-11, atol=1e-14, adjoint="continuous")


def solved(solve: Callable[[dt.Field, dt.Field], object]) -> Checked:
    y, k, loss = dt.full(2, 0.2, ti.f64, grad=True), dt.full((), 0.5, ti.f64, grad=True), total()

    def f() -> dt.Field:
        loss.fill(0.0)
        y.fill(0.2)
        solve(y, k)
        add_squares(y, loss)
        return loss

    return f, {"y", "k"}


LIBRARY["fixed_point"] = lambda: solved(
    lambda y, k: dt.fixed_point(settle, y, args=(k,), tol=1e-14)
)
LIBRARY["root"] = lambda: solved(lambda y, k: dt.root(residual, y, args=(k,), tol=1e-14))


@part
def a_linear_system() -> Checked:
    b, y, loss = dt.full(2, 0.7, ti.f64, grad=True), dt.zeros(2, ti.f64, grad=True), total()
    k = dt.full((), 0.5, ti.f64, grad=True)

    def f() -> dt.Field:
        loss.fill(0.0)
        y.fill(0.0)
        dt.linear_solve(twice, b, y, args=(k,), tol=1e-14)
        add_squares(y, loss)
        return loss

    return f, {"b", "y", "k"}


_SLOW = {"splatter_with_dssim", "splats_in_the_plane", "similarity"}  # they compile for long


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=pytest.mark.slow) if one in _SLOW else one for one in LIBRARY],
)
def test_memory_of_the_library_is_no_subject(name: str) -> None:
    f, expected = LIBRARY[name]()
    for _ in range(2):
        report = dt.gradcheck(f, entries=1, directions=1, rtol=1e-5)
        assert report, report
        assert {one.name for one in report.fields} == expected
        f()  # from now on there is memory of the operation in single precision, with contents


def test_scratch_marks_memory_and_no_other() -> None:
    with dt.scratch():
        mine = dt.zeros(2, grad=True)
    yours = dt.zeros(2, grad=True)
    assert mine.storage.is_scratch
    assert mine.view(2, 1).storage.is_scratch
    assert not yours.storage.is_scratch

    def f() -> None:
        add_squares(mine, loss)
        add_squares(yours, loss)

    loss = dt.zeros((), grad=True)
    assert [one.name for one in dt.gradcheck(f, outputs=loss).fields] == ["yours"]
    assert [one.name for one in dt.gradcheck(f, [mine], outputs=loss).fields] == ["mine"]


# Requests that cannot be checked


def refused(*args: Any, **kwargs: Any) -> str:
    with pytest.raises(dt.LaunchError) as caught:
        dt.gradcheck(*args, **kwargs)
    return str(caught.value)


def test_a_field_that_was_asked_for_is_never_dropped() -> None:
    a, b, loss = dt.ones(2, grad=True), dt.ones(2, grad=True), dt.zeros((), grad=True)
    constant, ids = dt.ones(2), dt.ones(2, ti.i32)
    tex = dt.Texture(np.ones((4, 4)), mip="linear", grad=True)

    def f() -> dt.Field:
        loss.fill(0.0)
        add_squares(a, loss)
        add_squares(constant, loss)
        return loss

    start = "gradcheck(): '{}' was requested but cannot be checked: "
    assert refused(f, [a, b]) == start.format("fields[1] of shape (2,)") + "'f' does not use it."
    assert refused(f, [constant]) == (
        start.format("constant")
        + "it has no gradient; create it with grad=True, or use x = x.with_grads()."
    )
    assert "it holds integers, which have no derivative." in refused(f, [a, ids])
    assert "it follows from other fields; request those instead." in refused(f, [a, tex.levels[1]])
    assert refused(f, [a, "b"]) == (
        "gradcheck(): 'b' was requested, but it is not a field and holds none."
    )
    assert "was requested but not probed" in refused(f, [a], directions=0, entries=0)
    a.fill(np.inf)
    assert "not finite" in refused(f, [a])


def test_what_python_reads_is_used() -> None:
    a, loss = dt.ones(2, ti.f64, grad=True), dt.zeros((), ti.f64, grad=True)

    def reads(number: Callable[[float], float]) -> dt.GradCheck:
        def f() -> dt.Field:
            loss[None] = number(a[0])
            return loss

        return dt.gradcheck(f, [a])

    report = reads(lambda v: 2 * v)
    assert report
    assert [p.place for p in report.probes if p.field] == ["a[0]", "a[1]"]
    for cut in (float, math.sqrt):  # a tape does not see beyond them
        assert wrong_fields(reads(cut)) == {"a"}


def test_arguments_that_are_not_used_are_listed() -> None:
    def f(x: dt.Field, y: dt.Field, loss: dt.Field) -> None:
        loss.fill(0.0)
        add_squares(x, loss)

    report = dt.gradcheck(f, (ones(2), ones(2), total()))
    assert report
    assert report.skipped == {"y": "not used"}
    assert [one.name for one in report.fields] == ["x"]


def test_fields_of_objects_among_the_arguments_are_probed() -> None:
    def f(model: Any, loss: dt.Field, off: float) -> None:
        loss.fill(0.0)
        add_cubes(model.layers[0].w, off, loss)
        add_cubes(model.rows.b, 0.0, loss)
        add_squares(model.fixed, loss)

    layer = SimpleNamespace(w=ones(2), unused=ones(2))
    model = SimpleNamespace(layers=[layer], rows=dt.Rows(b=ones(2)), fixed=dt.ones(2, ti.f64))
    report = dt.gradcheck(f, (model, total(), 0.0))
    assert report
    assert [one.name for one in report.fields] == ["model.rows.b", "model.layers[0].w"]
    assert report.skipped == {"off": "number", "model.fixed": "no gradient"}
    assert wrong_fields(dt.gradcheck(f, (model, total(), 0.1))) == {"model.layers[0].w"}


# Entries and outputs


def test_entries_that_are_not_finite_are_left_out_and_named() -> None:
    x, loss = ones(4), total()
    x[1] = np.nan
    x[3] = np.inf

    @dt.kernel
    def some(x, loss):
        for i in range(2):
            loss[None] += x[2 * i] ** 2

    def f() -> dt.Field:
        loss.fill(0.0)
        some(x, loss)
        return loss

    report = dt.gradcheck(f, [x])
    assert report
    assert [p.place for p in report.probes if p.field] == ["x[0]", "x[2]"]
    assert report.notes == ("2 entries are not finite in 'x', and not checked.",)
    assert "Probed: x (2 of 4 entries); 4 directions in all of them." in str(report)


def test_outputs_that_kernels_call_alike_are_all_differentiated() -> None:
    x, y, z = ones(2), ones(2, 0.0), ones(2, 0.0)

    @dt.kernel
    def scale(a, out, by: float):
        for i in a:
            out[i] = by * a[i]

    def f() -> None:
        scale(x, y, 2.0)
        scale(x, z, 1.0)
        y[0] = float(x[0])  # not seen by a tape

    report = dt.gradcheck(f, [x])
    assert report.outputs == ("y", "z")
    assert wrong_fields(report) == {"x"}


def test_an_output_that_is_returned_twice_counts_once() -> None:
    x, loss = ones(2), total()

    def f() -> tuple[dt.Field, dt.Field]:
        loss.fill(0.0)
        add_squares(x, loss)
        return loss, loss

    assert dt.gradcheck(f, [x])


def test_fields_that_the_collector_does_not_look_at_are_probed() -> None:
    o = SimpleNamespace(x=dt.full(2, 0.5, grad=True), loss=dt.zeros((), grad=True))
    o.flat = o.x.view(2, 1)

    def f() -> dt.Field:
        o.loss.fill(0.0)
        add_squares(o.x, o.loss)
        add_squares(o.flat, o.loss)
        return o.loss

    gc.freeze()
    frozen = gc.get_freeze_count()
    report = dt.gradcheck(f)
    assert report
    assert gc.get_freeze_count() > frozen // 2  # it does not thaw what a program has frozen
    assert [one.name for one in report.fields] == ["o.x"]
    assert o.flat.dtype is ti.f32


def test_memory_that_was_never_written_may_hold_any_bits() -> None:
    """A signalling NaN, as single precision, cannot become a double without a warning."""
    x, spare = dt.ones(2, grad=True), dt.zeros(2, grad=True)
    spare.storage.buffer.array().view(np.uint32)[:] = 0x7FA00000

    @dt.kernel
    def square(x, spare, loss):
        for i in x:
            spare[i] = x[i] * x[i]
        for i in x:
            loss[None] += spare[i]

    def f() -> dt.Field:
        loss = dt.zeros((), grad=True)
        square(x, spare, loss)
        return loss

    assert dt.gradcheck(f)
