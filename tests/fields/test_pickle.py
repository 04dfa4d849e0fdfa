"""Pickles and copies of fields, and of the objects that hold fields."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.testing as npt
import pytest
import taichi as ti

import difftile as dt
from difftile import optim, render, training
from difftile.fields.gradients import fields_with_grads
from tests.process.running import check

RNG = np.random.default_rng(5)


@dt.kernel
def scale(x, factor: float):
    for i in x:
        x[i] *= factor


@dt.kernel
def total(x, loss):
    for i in x:
        loss[None] += x[i] ** 2


@dt.func
def square(x):
    return x * x


@dt.custom_op
def noted(x):
    pass


@dt.data_oriented
class Spring:
    def __init__(self) -> None:
        self.x = dt.from_numpy(np.arange(3.0), grad=True)
        self.k = 2.0

    @dt.kernel
    def push(self):
        for i in self.x:
            self.x[i] *= self.k


def pickled(value: Any, protocol: int = pickle.HIGHEST_PROTOCOL) -> Any:
    return pickle.loads(pickle.dumps(value, protocol))


WAYS = pytest.mark.parametrize("twin_of", [pickled, copy.deepcopy])
TYPES = {
    "f16": (ti.f16, ()),
    "f32": (ti.f32, ()),
    "f64": (ti.f64, ()),
    "i8": (ti.i8, ()),
    "u16": (ti.u16, ()),
    "i64": (ti.i64, ()),
    "vec3": (ti.types.vector(3, ti.f32), (3,)),
    "ivec2": (ti.types.vector(2, ti.i32), (2,)),
    "mat": (ti.types.matrix(2, 3, ti.f64), (2, 3)),
}


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_type_shape_and_values_of_every_element(protocol: int) -> None:
    for dtype, inner in TYPES.values():
        for shape in ((), (5,), (2, 1, 3)):
            x = dt.field(dtype, shape)
            x.from_numpy(RNG.integers(0, 50, (*shape, *inner)))
            y = pickled(x, protocol)
            assert (y.element, y.shape, y.has_grads) == (x.element, shape, False)
            npt.assert_array_equal(y.to_numpy(), x.to_numpy(), strict=True)


@WAYS
def test_gradients_and_which_of_them_are_one(twin_of: Callable[[Any], Any]) -> None:
    x = dt.from_numpy(np.arange(4.0), grad=True)
    x.grad.from_numpy([1, 2, 3, 4])
    y = twin_of(x)
    npt.assert_array_equal(y.grad.to_numpy(), [1, 2, 3, 4])
    assert y.grad_in is y.grad_out
    assert y in fields_with_grads()
    y.grad.fill(0)
    npt.assert_array_equal(x.grad.to_numpy(), [1, 2, 3, 4])
    apart = dt.zeros(4, ti.f64).with_grads(dt.ones(4, ti.f64), dt.full(4, 2.0, ti.f64))
    z = twin_of(apart)
    npt.assert_array_equal(z.grad_in.to_numpy(), np.ones(4))
    npt.assert_array_equal(z.grad_out.to_numpy(), np.full(4, 2.0))
    only = twin_of(dt.zeros(4, ti.f64).with_grads(grad_out=dt.ones(4, ti.f64)))
    assert only.grad_in is None
    # A gradient that serves two fields serves the two copies.
    g = dt.ones(4, ti.f64)
    a, b = twin_of((dt.zeros(4, ti.f64).with_grads(g, g), dt.ones(4, ti.f64).with_grads(g, g)))
    a.grad.fill(7)
    npt.assert_array_equal(b.grad.to_numpy(), np.full(4, 7.0))


@WAYS
def test_what_shares_memory_goes_on_sharing_it(twin_of: Callable[[Any], Any]) -> None:
    for order in range(5):
        x = dt.from_numpy(np.arange(6.0), grad=True)
        several = [x, x.detach(), x.view(2, 3), x[1:4], x.view(2, 3)[:, 1].broadcast_to(2, 2)]
        several = [*several[order:], *several[:order]]
        found = twin_of([*several, several[0]])
        assert found[0] is found[5]
        y, plain, table, part, spread = (found[(k - order) % 5] for k in range(5))
        y.from_numpy(np.arange(6.0) * 10)
        y.grad.fill(3.0)
        npt.assert_array_equal(plain.to_numpy(), np.arange(6.0) * 10)
        npt.assert_array_equal(table.to_numpy()[1], [30, 40, 50])
        npt.assert_array_equal(table.grad.to_numpy(), np.full((2, 3), 3.0))
        npt.assert_array_equal(part.to_numpy(), [10, 20, 30])
        npt.assert_array_equal(part.grad.to_numpy(), np.full(3, 3.0))
        npt.assert_array_equal(spread.to_numpy(), [[10, 40], [10, 40]])
        npt.assert_array_equal(x.to_numpy(), np.arange(6.0))
        npt.assert_array_equal(x.grad.to_numpy(), np.zeros(6))


def test_a_copy_is_of_the_part_alone_and_without_the_gradient() -> None:
    x = dt.from_numpy(np.arange(6.0), grad=True)
    x.grad.fill(3.0)
    part = copy.copy(x[1:3])
    assert isinstance(part, dt.Field)
    npt.assert_array_equal(part.grad.to_numpy(), [0, 0])
    bodies = dt.field(ti.types.struct(at=ti.f32, mass=ti.f32), 3, grad=True)
    bodies.fill(2.0)
    for twin in (copy.copy(bodies), copy.copy(dt.Rows(at=bodies.at, mass=bodies.mass))):
        twin.at.fill(5.0)
        npt.assert_array_equal(twin.mass.to_numpy(), [2, 2, 2])
        npt.assert_array_equal(bodies.at.to_numpy(), [2, 2, 2])


@WAYS
def test_structs_elements_and_rows(twin_of: Callable[[Any], Any]) -> None:
    inner = ti.types.struct(v=ti.math.vec3)
    bodies = dt.field(ti.types.struct(at=ti.f32, k=ti.i32, more=inner), 3, grad=True)
    bodies.fill(2)
    bodies.at.grad.fill(4.0)
    twin, element, member = twin_of((bodies, bodies[1], bodies.more.v))
    assert twin.struct == bodies.struct
    twin.more.v[1] = (7, 8, 9)
    npt.assert_array_equal(member.to_numpy()[1], [7, 8, 9])
    npt.assert_array_equal(element.more.v, [7, 8, 9])
    npt.assert_array_equal(twin.at.grad.to_numpy(), [4, 4, 4])
    assert not twin.k.has_grads
    rows = dt.Rows(a=dt.from_numpy(np.arange(4.0), grad=True), b=dt.ones((4, 2)))
    again, a = twin_of((rows, rows.a))
    assert again.a is a
    again.prune([True, False, False, True])
    npt.assert_array_equal(again.a.to_numpy(), [1, 2])
    assert len(rows) == 4


@WAYS
def test_an_optimiser_goes_on_as_the_one_it_was_made_of(twin_of: Callable[[Any], Any]) -> None:
    target = dt.from_numpy(np.linspace(0.5, 2.0, 5))

    def run(x: Any, optimiser: Any, steps: int) -> None:
        for _ in range(steps):
            x.grad.from_numpy(np.sin(3.0 * x.to_numpy()) - target.to_numpy()[: len(x)])
            optimiser.step()

    schedule = optim.schedules.warmup(2, optim.schedules.cosine(0.1, 20))
    for kind in (optim.Adam, optim.AdamW, optim.SGD, optim.RMSProp):
        rows = dt.Rows(x=dt.from_numpy(np.arange(5.0), grad=True))
        y = dt.from_numpy(np.arange(3.0), grad=True)
        optimiser = kind([rows.x, y], schedule, low={rows.x: -1.0, y: None})
        run(rows.x, optimiser, 3)
        fields, other = twin_of((rows, optimiser))
        assert other.parameters[0].field is fields.x
        for one, steps in ((rows, optimiser), (fields, other)):
            run(one.x, steps, 2)
            one.prune([False, True, False, False, False])
            run(one.x, steps, 2)
        npt.assert_array_equal(fields.x.to_numpy(), rows.x.to_numpy())
        assert other.steps == optimiser.steps == 7
        # It holds the rows that it follows, and asks for no object besides.
        alone = twin_of(optimiser)
        assert alone.parameters[0].field is not rows.x


@WAYS
def test_a_gradient_counts_if_no_step_has_used_it(twin_of: Callable[[Any], Any]) -> None:
    x, other = dt.ones(3, ti.f64, grad=True), dt.ones(3, ti.f64, grad=True)
    loss = dt.zeros((), ti.f64, grad=True)
    optimiser = optim.SGD(x, 0.5)
    with dt.Tape(loss):
        total(x, loss)
    for used in (False, True):
        y, twin = twin_of((x, optimiser))
        loss.fill(0)
        with dt.Tape(loss):
            total(other, loss)  # a loss that does not use the field
        optimiser.step()
        twin.step()
        npt.assert_array_equal(y.to_numpy(), x.to_numpy())
        npt.assert_array_equal(y.to_numpy(), np.zeros(3))
        assert np.any(x.grad.to_numpy()) != used


@WAYS
def test_textures_and_their_levels(twin_of: Callable[[Any], Any]) -> None:
    image = RNG.random((8, 8, 3)).astype(np.float32)
    uv = dt.from_numpy(RNG.random((5, 2)).astype(np.float32), ti.math.vec2)
    way = dt.from_numpy(RNG.normal(size=(5, 3)).astype(np.float32), ti.math.vec3)
    grid = dt.Texture(
        image, "cubic", wrap=("repeat", "border"), border=2.0, mip="linear", grad=True
    )
    cube = dt.Texture(RNG.random((6, 4, 4)).astype(np.float32), cube=True, mip="nearest")
    for texture, at in ((grid, uv), (cube, way)):
        twin, data = twin_of((texture, texture.data))
        assert twin.data is data
        expected = texture.sample_lod(at, 1.5).to_numpy()
        npt.assert_array_equal(twin.sample_lod(at, 1.5).to_numpy(), expected)
        data.fill(0.25)
        npt.assert_allclose(twin.levels[2].to_numpy(), 0.25)
        npt.assert_array_equal(texture.sample_lod(at, 1.5).to_numpy(), expected)


def test_out_of_band_buffers_are_not_the_memory_of_the_field() -> None:
    x = dt.from_numpy(np.arange(1000.0))
    buffers: list[pickle.PickleBuffer] = []
    stream = pickle.dumps(x, protocol=5, buffer_callback=buffers.append)
    assert len(stream) < 1000
    assert sum(one.raw().nbytes for one in buffers) == 8000
    x.fill(0)
    del x
    dt.zeros(1000, ti.f64)
    npt.assert_array_equal(pickle.loads(stream, buffers=buffers).to_numpy(), np.arange(1000.0))


def test_functions_are_found_by_name_and_copies_are_themselves() -> None:
    for one in (scale, square, noted, Spring.push):
        assert pickled(one) is one
        assert copy.copy(one) is one
        assert copy.deepcopy([one])[0] is one
    x = dt.from_numpy(np.arange(3.0))
    npt.assert_array_equal(pickled(square.return_type("numpy"))(x), [0, 1, 4])
    spring = Spring()
    push, same = pickled((spring.push, spring))
    push()
    npt.assert_array_equal(same.x.to_numpy(), [0, 2, 4])
    npt.assert_array_equal(spring.x.to_numpy(), [0, 1, 2])


def test_functions_without_a_name_are_refused() -> None:
    @dt.kernel
    def local(x):
        x[0] = 1.0

    for one in (local, dt.func(lambda x: x + 1)):
        with pytest.raises(dt.LaunchError, match="Define it with 'def' at the top of a module"):
            pickle.dumps({"f": one})
        assert copy.deepcopy({"f": one})["f"] is one


def test_tapes_are_refused() -> None:
    tape = dt.Tape()
    for twin_of in (pickled, copy.copy, copy.deepcopy):
        with pytest.raises(dt.TapeError, match="Pickle the fields"):
            twin_of(tape)


def test_copies_on_a_tape_have_gradients_and_share_memory() -> None:
    x = dt.from_numpy(np.arange(1.0, 5.0), grad=True)
    loss = dt.zeros((), ti.f64, grad=True)
    with dt.Tape(loss):
        plain, twin, again = copy.deepcopy([x.detach(), x, x])
        assert twin is again
        scale(twin, 3.0)
        total(twin, loss)
    npt.assert_array_equal(plain.to_numpy(), [3, 6, 9, 12])
    npt.assert_array_equal(x.to_numpy(), [1, 2, 3, 4])
    npt.assert_array_equal(x.grad.to_numpy(), 18 * np.arange(1.0, 5.0))
    with dt.Tape(loss):
        pickled(x)  # a read
        total(x, loss)
    npt.assert_array_equal(x.grad.to_numpy(), 2 * np.arange(1.0, 5.0))


def test_old_contents_of_an_open_tape_stay_as_they_are() -> None:
    x = dt.from_numpy(np.arange(1.0, 5.0), grad=True)
    loss = dt.zeros((), ti.f64, grad=True)
    with dt.Tape(loss):
        total(x, loss)
        twin = pickled(x)
        scale(x, 0.0)
        twin.fill(9.0)
    npt.assert_array_equal(x.grad.to_numpy(), 2 * np.arange(1.0, 5.0))


def test_other_processes() -> None:
    assert check("pickles").split() == ["spawned", "[0.", "2.", "4.]", "[1.", "1.", "1.]"]


# Every public class


def drawn() -> tuple[Any, Any, Any]:
    cameras = render.Cameras.look_at((0.0, 0.0, -3.0), (0.0, 0.0, 0.0), 16, 16, grad=True)
    count = 4
    gaussians = render.make_gaussians(
        means=RNG.normal(size=(count, 3)) * 0.3,
        scales=np.full((count, 3), -1.5),
        quaternions=np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)),
        opacities=np.zeros(count),
        features=RNG.random((count, 3)),
    )
    return cameras, gaussians, render.Splatter(16, 16)


def same_drawing(kind: Any) -> None:
    cameras, gaussians, splatter = drawn()
    drawer = kind(16, 16) if kind is render.Ellipsoids else splatter
    image = drawer(gaussians, cameras).image.to_numpy()
    assert np.ptp(image) > 0.01
    for twin_of in (pickled, copy.deepcopy):
        found = twin_of((drawer, gaussians, cameras))
        npt.assert_array_equal(found[0](*found[1:]).image.to_numpy(), image)
        rendering = twin_of(drawer(gaussians, cameras))
        npt.assert_array_equal(rendering.image.to_numpy(), image)


def same_alpha_splats() -> None:
    splats = render.AlphaSplats(8, 8)
    given = (
        dt.from_numpy(np.array([[3.0, 4.0], [5.0, 2.0]], np.float32), ti.math.vec2),
        dt.from_numpy(np.array([[2.0, 0.0, 2.0]] * 2, np.float32), ti.math.vec3),
        dt.full(2, 0.5),
        dt.from_numpy(RNG.random((2, 3)).astype(np.float32), ti.math.vec3),
    )
    image = splats(*given).to_numpy()
    assert np.ptp(image) > 0.01
    twin = pickled(splats)
    npt.assert_array_equal(twin.image.to_numpy(), image)
    npt.assert_array_equal(twin(*given).to_numpy(), image)


def same_sorter() -> None:
    sorter = render.Sorter(5)
    sorter.keys.from_numpy(np.array([3, 1, 2, 9, 0], np.uint32))
    sorter.values.from_numpy(np.arange(5, dtype=np.int32))
    twin = pickled(sorter)
    for one in (sorter, twin):
        one.sort(5)
        npt.assert_array_equal(one.keys.to_numpy()[:5], [0, 1, 2, 3, 9])


def same_lists() -> None:
    lists = render.TileLists(32, 32)
    centres = dt.from_numpy(np.array([[[4.0, 4.0], [20.0, 20.0]]], np.float32), ti.math.vec2)
    radii, depths = dt.full((1, 2), 3.0, ti.math.vec2), dt.ones((1, 2))
    lists.build(centres, radii, depths)
    twin = pickled(lists)
    npt.assert_array_equal(twin.starts.to_numpy(), lists.starts.to_numpy())
    twin.build(centres, radii, depths)
    assert twin.total == lists.total > 0


def same_strategy(kind: Any) -> None:
    strategy = kind(1.0, seed=3)
    assert vars(pickled(strategy)) == vars(strategy)


def same_minimum() -> None:
    x = dt.from_numpy(np.arange(3.0), grad=True)
    loss = dt.zeros((), ti.f64, grad=True)

    def f() -> Any:
        loss.fill(0)
        with dt.Tape(loss):
            total(x, loss)
        return loss

    optimiser = optim.LBFGS(x, iterations=1)
    optimiser.step(f)
    x, loss, optimiser = pickled((x, loss, optimiser))
    while not optimiser.finished:
        optimiser.step(f)
    npt.assert_allclose(x.to_numpy(), 0.0, atol=1e-6)


def same_report(report: Any) -> None:
    assert repr(pickled(report)) == repr(report)


def refused(make: Callable[[], Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        pickle.dumps(make())


ELSEWHERE = {
    "Field",
    "Number",
    "Step",  # users derive from it
    "Rows",
    "StructField",
    "Tape",
    "Texture",
    "Adam",
    "AdamW",
    "SGD",
    "RMSProp",
}
PUBLIC: dict[str, Callable[[], None]] = {
    "GradCheck": lambda: same_report(dt.gradcheck(square, (dt.ones(3, ti.f64),))),
    "RuleCheck": lambda: same_report(dt.RuleCheck("f", None, False, (), ())),
    "LBFGS": same_minimum,
    "Constraint": lambda: same_report(optim.Constraint(same_report, -1.0, [1.0, 2.0])),
    "AlphaSplats": same_alpha_splats,
    "Cameras": lambda: same_drawing(render.Splatter),
    "Ellipsoids": lambda: same_drawing(render.Ellipsoids),
    "Rendering": lambda: None,  # with the drawings
    "Splatter": lambda: None,
    "Projected": lambda: same_report(render.Projected(*(dt.zeros((1, 2)) for _ in range(6)))),
    "DerivedField": lambda: refused(
        lambda: dt.DerivedField(ti.f32, (3,), (dt.ones(3),), lambda y: y.fill(1.0)), dt.FieldError
    ),
    "Sorter": same_sorter,
    "TileLists": same_lists,
    "MCMC": lambda: same_strategy(training.MCMC),
    "Densification": lambda: same_strategy(training.Densification),
    "Options": lambda: same_report(training.Options()),
    "Score": lambda: same_report(training.Score("a", 1.0, 0.5, np.zeros(1), np.ones(1))),
    "Trainer": lambda: refused(lambda: object.__new__(training.Trainer), dt.LaunchError),
}


@pytest.mark.compiled
def test_every_public_class_is_pickled_or_refuses_in_words() -> None:
    classes = {
        name
        for module in (dt, optim, render, training)
        for name in module.__all__
        if inspect.isclass(one := getattr(module, name)) and not issubclass(one, Exception)
    }
    assert classes == ELSEWHERE | set(PUBLIC)
    for check_it in PUBLIC.values():
        check_it()
