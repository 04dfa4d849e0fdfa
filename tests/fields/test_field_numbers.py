"""Fields in Python as NumPy's users expect them: indices, numbers, sums, texts.

Cases are drawn, and NumPy has the results. Errors are in `tests/wrong/fields.txt`.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import numpy.testing as npt
import pytest
import taichi as ti

import difftile as dt
from difftile.substrate import current_session
from tests.device_arrays import device_arrays

TYPES = (
    *(np.float16, np.float32, np.float64, np.bool_),
    *(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
)
FLOATS = (np.float32, np.float64)


def drawn_shape(rng: random.Random, most: int = 3) -> tuple[int, ...]:
    return tuple(rng.randint(1, 5) for _ in range(rng.randint(0, most)))


def drawn(rng: random.Random, shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
    """Return an array of any numbers, which every type of numbers can hold."""
    values = np.random.default_rng(rng.randrange(2**32)).integers(-50, 50, shape)
    if dtype is np.bool_:
        return np.asarray(values > 0)
    return np.asarray(abs(values) if np.dtype(dtype).kind == "u" else values).astype(dtype)


def drawn_index(rng: random.Random, shape: tuple[int, ...]) -> Any:
    """Return an index of NumPy's basic indexing that picks something."""
    parts: list[Any] = []
    first = rng.randint(0, len(shape))  # axes in front, and behind an ellipsis
    last = rng.choice([0, 0, rng.randint(0, len(shape) - first)])
    for size in (*shape[:first], *shape[len(shape) - last :]):
        if rng.random() < 0.4:
            parts.append(rng.randrange(-size, size))
            continue
        step = rng.choice([None, 1, 2, -1, -2])
        start = rng.choice([None, rng.randrange(-size, size)])
        part = slice(start, None, step)
        parts.append(part if range(size)[part] else slice(None))
    if last or rng.random() < 0.3:
        parts.insert(first, ...)
    return parts[0] if len(parts) == 1 and rng.random() < 0.7 else tuple(parts)


def field_and_array(rng: random.Random, dtype: Any) -> tuple[Any, np.ndarray[Any, Any]]:
    """Return a field, or a part of one, of numbers or vectors, and the array of its contents."""
    shape = drawn_shape(rng)
    inner = rng.choice([(), (), (3,), (2, 2)])
    kind = {(): None, (3,): ti.math.vec3, (2, 2): ti.math.mat2}
    if np.dtype(dtype).kind != "f":
        inner = ()
    array = drawn(rng, (*shape, *inner), dtype)
    field = dt.from_numpy(array, kind[inner])
    if shape and rng.random() < 0.4:
        index = tuple(slice(None, None, rng.choice([1, -1, 2])) for _ in shape)
        return field[index], array[index]
    return field, array


SEEDS = [*range(12), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(12, 40))]


@pytest.mark.parametrize("seed", SEEDS)
def test_indices_pick_and_set_as_in_numpy(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(20):
        field, array = field_and_array(rng, rng.choice(TYPES))
        array = array.copy()
        index = drawn_index(rng, field.shape)
        if field.shape == () and index == ():
            index = None
        at = () if index is None else index if isinstance(index, tuple) else (index,)
        if ... in at:
            at = (*at, *(slice(None) for _ in array.shape[field.ndim :]))
        found, wanted = field[index], array[at]
        if isinstance(found, (np.ndarray, float, int)):
            npt.assert_array_equal(found, wanted)
        else:
            assert found.shape == wanted.shape[: len(found.shape)]
            npt.assert_array_equal(found.to_numpy(), wanted)
        # One number, one element, all, or what broadcasts to all.
        ways = [wanted.shape, wanted.shape[wanted.ndim - len(array.shape[field.ndim :]) :]]
        if hasattr(found, "shape") and wanted.ndim and not isinstance(found, np.ndarray):
            ways += [(), tuple(rng.choice([1, size]) for size in wanted.shape), (1, *wanted.shape)]
        values = drawn(rng, rng.choice(ways), array.dtype.type)
        field[index], array[at] = values, values
        npt.assert_array_equal(field.to_numpy(), array)


@pytest.mark.parametrize("seed", range(10))
def test_every_index_that_numpy_refuses_is_refused(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(20):
        field, array = field_and_array(rng, np.float32)
        shape = field.shape
        wrong: list[Any] = [(*(0 for _ in array.shape), 0), "a", 1.0, 2j]
        wrong += [(..., ...), (*(slice(None) for _ in shape), slice(None))]
        if shape:
            wrong += [None, np.array([0]), [0], (np.zeros(2, int),), np.ones(2, bool), True]
            wrong += [shape[0], -shape[0] - 1, slice(None, None, 0), slice("a", None)]
        for index in wrong:
            with pytest.raises((dt.FieldError, IndexError)):
                field[index]
            with pytest.raises((dt.FieldError, IndexError)):
                field[index] = 0.0
        npt.assert_array_equal(field.to_numpy(), array)


def test_rows_are_iterated_and_written() -> None:
    array = np.arange(6.0).reshape(3, 2)
    x = dt.from_numpy(array, grad=True)
    assert [row.tolist() for row in x] == array.tolist()
    assert list(x[0]) == [0.0, 1.0] and list(x[:, 1]) == [1.0, 3.0, 5.0]
    for row in x:
        row[0] = -1.0
    assert x[:, 0].tolist() == [-1.0] * 3
    assert 5.0 in x and 7.0 not in x
    x[1].grad.fill(2.0)
    assert x.grad.tolist() == [[0, 0], [2, 2], [0, 0]]
    with pytest.raises(TypeError, match="not iterated"):
        iter(dt.zeros(()))


def test_fields_assigned_to_parts_pass_gradients() -> None:
    x, row = dt.zeros((3, 2), ti.f64, grad=True), dt.ones(2, ti.f64, grad=True)
    number = dt.full((), 4.0, ti.f64, grad=True)
    with dt.Tape() as tape:
        x[...] = number
        x[1] = row
        x[2, 0] = number
        x[0, :1] = row[1:]
    tape.backward({x: np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])})
    assert x.tolist() == [[1, 4], [1, 1], [4, 4]]
    assert row.grad.tolist() == [3, 5] and number.grad[None] == 13


# Numbers


def reduce(name: str, array: np.ndarray[Any, Any], inner: int) -> Any:
    """Return a reduction by NumPy, in double precision."""
    axes = tuple(range(array.ndim - inner))
    wide = array.astype(np.float64 if array.dtype.kind == "f" else object)
    if name == "norm":
        return np.sqrt((array.astype(np.float64) ** 2).sum())
    return getattr(wide, name)(axis=axes) if axes else wide


@pytest.mark.parametrize("seed", SEEDS[:20])
def test_reductions_are_those_of_numpy(seed: int) -> None:
    rng = random.Random(seed)
    for name in ("sum", "mean", "min", "max", "norm"):
        field, array = field_and_array(rng, rng.choice(TYPES))
        found = getattr(field, name)()
        wanted = np.asarray(reduce(name, array, array.ndim - field.ndim), np.float64)
        assert not isinstance(found, np.generic)
        npt.assert_allclose(np.asarray(found, np.float64), wanted, rtol=1e-14, atol=1e-13)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.compiled
def test_reductions_on_a_device_and_on_a_tape(seed: int) -> None:
    rng = random.Random(seed)
    with device_arrays():
        field, array = field_and_array(rng, np.float32)
        for name in ("sum", "mean", "min", "max", "norm"):
            wanted = np.asarray(reduce(name, array, array.ndim - field.ndim), np.float64)
            npt.assert_allclose(getattr(field, name)(), wanted, rtol=1e-14, atol=1e-13)
            with dt.Tape():
                npt.assert_allclose(getattr(field, name)(), wanted, rtol=1e-14, atol=1e-13)
        spoiled = dt.from_numpy(np.array([1.0, np.nan, np.inf], np.float32))
        for name in ("sum", "mean", "min", "max", "norm"):
            assert np.isnan(getattr(spoiled, name)())


@pytest.mark.parametrize("name", ["sum", "mean", "min", "max", "norm"])
def test_reductions_on_a_tape_carry_gradients(name: str) -> None:
    values = np.array([[3.0, -1.0], [0.5, 2.0]])
    x = dt.from_numpy(values, grad=True)
    with dt.Tape() as tape:
        found = getattr(x, name)()
        loss = dt.value(2.0 * found)
    tape.backward({loss: 1.0})
    step = np.zeros((2, 2, 2, 2))
    step.reshape(4, 4)[...] = 1e-6 * np.eye(4)
    numpy: Any = np.linalg.norm if name == "norm" else getattr(np, name)
    slopes = [[(numpy(values + one) - numpy(values - one)) / 1e-6 for one in row] for row in step]
    npt.assert_allclose(x.grad.to_numpy(), slopes, atol=1e-8)
    with dt.Tape():
        found = getattr(x, name)()
        assert type(found) is dt.Number
        x.from_numpy(np.ones((2, 2)) * found)  # an array of such numbers
        loss = dt.value(x.sum())


@pytest.mark.parametrize("name", ["sum", "mean", "min", "max"])
def test_reductions_of_vectors_on_a_tape_carry_gradients(name: str) -> None:
    values = np.array([[3.0, -1.0], [0.5, 2.0], [0.0, 0.0]])
    x = dt.from_numpy(values, dt.vec(2, dt.ti.f64), grad=True)
    seed = np.array([1.0, 10.0])
    for part, rows in ((x, slice(0, 3)), (x[:2], slice(0, 2))):
        with dt.Tape() as tape:
            found = dt.value(getattr(part, name)())
        tape.backward({found: seed})
        expected = np.zeros((3, 2))
        if name in ("sum", "mean"):
            expected[rows] = seed / (1.0 if name == "sum" else rows.stop)
        else:
            at = getattr(values[rows], f"arg{name}")(axis=0)
            expected[at, [0, 1]] = seed
        npt.assert_allclose(x.grad.to_numpy(), expected, rtol=1e-15)


def test_functions_of_reductions_are_differentiated() -> None:
    x = np.array([3.0, 4.0])
    npt.assert_allclose(dt.grad(lambda x: x.norm())(x), [0.6, 0.8])
    npt.assert_allclose(dt.grad(lambda x: x.sum() * x.max())(x), [4.0, 11.0])


def test_sums_of_ten_million_numbers_are_exact_to_a_few_ulps() -> None:
    values = np.random.default_rng(1).random(10**7, np.float32)
    x = dt.from_numpy(values)
    wanted = values.sum(dtype=np.float64)
    assert abs(x.sum() - wanted) <= 4 * np.spacing(wanted)
    assert abs(x.norm() - np.sqrt((values.astype(np.float64) ** 2).sum())) <= 1e-12 * x.norm()
    with dt.Tape():  # by a kernel
        assert abs(float(x.sum()) - wanted) <= 1e-12 * wanted


def test_sums_of_integers_are_exact() -> None:
    large = np.full(1000, 2**62, np.int64)
    assert dt.from_numpy(large).sum() == 1000 * 2**62
    assert dt.from_numpy(-large).sum() == -1000 * 2**62
    assert dt.from_numpy(np.full(3, 2**64 - 1, np.uint64)).mean() == float(2**64 - 1)
    assert dt.from_numpy(np.array([True, True, False])).sum() == 2
    assert dt.from_numpy(np.array([True, False])).max() is True


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: dtype.__name__)
def test_fields_of_one_number_are_numbers(dtype: Any) -> None:
    for shape in ((), (1,), (1, 1)):
        x = dt.from_numpy(np.full(shape, 1, dtype))
        assert (float(x), int(x), bool(x), x.item()) == (1.0, 1, True, 1)
        assert type(x.item()) is type(dtype(1).item())
        assert not bool(dt.zeros_like(x))
    assert f"{dt.full((), 0.5):.3f}" == "0.500" and f"{dt.full((), 3, ti.i32):>4d}" == "   3"
    assert dt.from_numpy(np.arange(4)).tolist() == [0, 1, 2, 3] and dt.ones(()).tolist() == 1.0


def test_numbers_of_fields_on_a_tape_are_not_cut() -> None:
    x, y = dt.full((), 3.0, ti.f64, grad=True), dt.zeros((), ti.f64, grad=True)
    with dt.Tape(y):
        y[None] = 2.0 * x.item()
    assert x.grad.item() == 2.0
    with pytest.warns(dt.GradientCut) as found, dt.Tape(y):
        y.copy_from(2.0 * x)
        y[None] = float(y) / 4.0  # plain numbers end the gradient
    assert "a number converted to a plain one" in str(found[0].message)


def test_copies_are_fields_of_their_own() -> None:
    x = dt.from_numpy(np.arange(4.0), grad=True)
    for part in (x, x[1:3], x.view(2, 2)):
        twin = part.copy()
        assert twin.tolist() == part.tolist() and twin.has_grads
        twin.fill(9.0)
    assert x.tolist() == [0, 1, 2, 3]


# Texts


def test_the_text_of_a_field_has_its_values() -> None:
    assert repr(dt.from_numpy(np.arange(3.0), grad=True)) == (
        "field([0., 1., 2.], f64, shape=(3,), cpu, grad)"
    )
    assert str(dt.full((), 0.5)) == f"{dt.full((), 0.5)}" == "field(0.5, f32, shape=(), cpu)"
    x = dt.from_numpy(np.arange(6, dtype=np.int32).reshape(2, 3))
    assert repr(x) == "field([[0, 1, 2],\n       [3, 4, 5]], i32, shape=(2, 3), cpu)"
    assert repr(x[1, ::2]) == ("field([3, 5], i32, shape=(2,), cpu, part of <field i32 (2, 3)>)")
    with pytest.raises(dt.FieldError, match="<field i32"):
        _ = x.grad


def test_the_text_of_a_field_of_structs() -> None:
    p = dt.field(ti.types.struct(at=ti.math.vec2, inner=ti.types.struct(kind=ti.i32)), 2)
    assert repr(p) == (
        "field of structs(\n"
        "    at=field([[0., 0.],\n"
        "              [0., 0.]], vec2<f32>, shape=(2,), cpu),\n"
        "    inner.kind=field([0, 0], i32, shape=(2,), cpu)\n"
        ")"
    )
    assert "inner.kind" in p._repr_html_()
    assert [one.inner.kind for one in p] == [0, 0]
    with pytest.raises(dt.FieldError, match="<field struct"):
        p.fill({"at": 1.0})


@pytest.mark.parametrize("seed", range(20))
def test_long_texts_are_shortened_as_in_numpy(seed: int) -> None:
    rng = random.Random(seed)
    shape = tuple(rng.choice([1, 3, 7, 8, 40]) for _ in range(rng.randint(1, 4)))
    array = drawn(rng, shape, rng.choice(TYPES))
    text = np.array2string(array, separator=", ", prefix="field(")
    with device_arrays():
        on_device = dt.from_numpy(array)
        assert repr(on_device).startswith(f"field({text}, ")
        assert repr(on_device[..., ::1]).startswith(f"field({text}, ")
    assert repr(dt.from_numpy(array)).startswith(f"field({text}, ")


def test_texts_do_not_disturb_a_tape() -> None:
    x, loss = dt.ones(4, grad=True), dt.zeros((), grad=True)
    with dt.Tape(loss):
        assert "1." in repr(x) and ">1<" in x._repr_html_()
        loss.copy_from(dt.value(x.sum(), ti.f32))
        assert "4." in str(loss)
    assert x.grad.tolist() == [1.0] * 4


def test_texts_in_loops_of_steps_have_the_values_of_their_step() -> None:
    x, seen = dt.zeros(3), []
    for t in dt.steps(4):
        x.fill(t)
        seen.append(repr(x))
    assert [text[7:9] for text in seen] == ["0.", "1.", "2.", "3."]


def test_texts_of_fields_that_are_gone() -> None:
    x = dt.ones(4)
    dt.init()
    assert repr(x) == "<field f32 (4,)>" and "&lt;field" in x._repr_html_()
    assert dt.ones(4).device == "cpu" == current_session().device


def test_tables_are_short_and_escaped() -> None:
    x = dt.from_numpy(np.arange(10_000.0).reshape(100, 100) - 5000, grad=True)
    table = x._repr_html_()
    assert len(table) < 20_000 and table.count("<tr>") == 11 and "…" in table
    assert "9.9" not in table and "4999" in table and "-5000" in table
    assert dt.full((), np.nan)._repr_html_().startswith("<pre>field(nan")
    assert "&lt;" in dt.ones(2, dtype=ti.math.vec3)._repr_html_()
    assert "nan" in dt.from_numpy(np.array([np.nan, np.inf, 0.0]))._repr_html_()
