"""The tape: recording, replaying, and its state afterwards.

Gradients are compared with closed forms, or with differences in double
precision. The errors of tapes are in `tests/wrong/gradients.txt`.
"""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import numpy.testing as npt
import pytest
import taichi as ti

import difftile as dt
from difftile.substrate import Buffer, current_session

RNG = np.random.default_rng(11)


def field(values: Any, *, grad: bool = True) -> dt.Field:
    return dt.from_numpy(np.array(values, np.float64), grad=grad)


def scalar(value: float = 0.0) -> dt.Field:
    return field(value)


@dt.kernel
def square(x, y):
    for i in x:
        y[i] = x[i] * x[i]


@dt.kernel
def square_in_place(x):
    for i in x:
        x[i] = x[i] * x[i]


@dt.kernel
def double_in_place(x):
    for i in x:
        x[i] = 2 * x[i]


@dt.kernel
def square_inside(x):
    for i in range(1, x.shape[0]):
        x[i] = x[i] * x[i]


@dt.kernel
def energy(x, loss):
    for i in x:
        loss[None] += 0.5 * x[i] * x[i]


@dt.kernel
def multiply(value, amount):
    for i in value:
        value[i] *= amount[i]


@dt.kernel
def spring(x, v, k, h: float):
    for i in x:
        v[i] -= h * k[None] * ti.sin(x[i])
        x[i] += h * v[i]


# Seeds


def test_a_loss_is_differentiated_at_the_end_of_the_block() -> None:
    x, loss = field([1, 2, 3]), scalar()
    with dt.Tape(loss):
        energy(x, loss)
    assert loss[None] == 7
    npt.assert_array_equal(x.grad.to_numpy(), [1, 2, 3])


def test_a_loss_of_shape_one() -> None:
    @dt.kernel
    def total(x, loss):
        for i in x:
            loss[0] += x[i] * x[i]

    x, loss = field([1, 2]), field([0])
    with dt.Tape(loss):
        total(x, loss)
    npt.assert_array_equal(x.grad.to_numpy(), [2, 4])


def test_backward_by_hand() -> None:
    x, y, loss = field([1, 2, 3]), field([0, 0, 0]), scalar()

    def record() -> dt.Tape:
        with dt.Tape() as tape:
            square(x, y)
            loss[None] = 0.0
            energy(y, loss)
        return tape

    expected = 2 * np.array([1, 2, 3]) ** 3
    record().backward(loss)
    npt.assert_array_equal(x.grad.to_numpy(), expected)
    record().backward({loss: 2.0})
    npt.assert_array_equal(x.grad.to_numpy(), 2 * expected)
    record().backward({loss: np.array(0.5)})
    npt.assert_array_equal(x.grad.to_numpy(), 0.5 * expected)
    record().backward({loss: scalar(3.0)})
    npt.assert_array_equal(x.grad.to_numpy(), 3 * expected)


def test_seeds_of_fields() -> None:
    x, y = field([1, 2, 3]), field([0, 0, 0])
    for seed, numbers in (
        (2.0, np.array([2, 2, 2])),
        (np.array([1, 0, -1]), np.array([1, 0, -1])),
        (field([0.5, 1, 2]), np.array([0.5, 1, 2])),
        ([1, 2, 3], np.array([1, 2, 3])),
    ):
        with dt.Tape() as tape:
            square(x, y)
        tape.backward({y: seed})
        npt.assert_array_equal(x.grad.to_numpy(), 2 * x.to_numpy() * numbers)


def test_several_outputs() -> None:
    x, y, z = field([1, 2]), field([0, 0]), field([0, 0])
    with dt.Tape() as tape:
        square(x, y)
        square(y, z)
    tape.backward({y: 1.0, z: np.array([1, 10])})
    npt.assert_array_equal(x.grad.to_numpy(), [2 + 4, 4 + 4 * 8 * 10])


def test_an_output_that_was_changed_after_the_block() -> None:
    x, y = field([1, 2]), field([0, 0])
    with dt.Tape() as tape:
        square(x, y)
    y.fill(7)
    x.fill(7)
    tape.backward({y: 1.0})
    npt.assert_array_equal(x.grad.to_numpy(), [2, 4])


def test_the_output_may_be_updated_in_place() -> None:
    x = field([1, 2, 3])
    with dt.Tape() as tape:
        square_in_place(x)
        square_in_place(x)
    tape.backward({x: 1.0})
    npt.assert_array_equal(x.grad.to_numpy(), 4 * np.array([1, 2, 3]) ** 3)


# Gradients: zeroed on entry, or accumulated


def test_a_block_clears_the_gradients_of_the_fields_that_it_meets() -> None:
    x, loss, other = field([1, 2]), scalar(), field([1.0])
    x.grad.fill(100.0)
    other.grad.fill(100.0)
    for _ in range(3):
        with dt.Tape(loss):
            loss[None] = 0.0
            energy(x, loss)
        npt.assert_array_equal(x.grad.to_numpy(), [1, 2])
    npt.assert_array_equal(other.grad.to_numpy(), [100])  # of another model


def test_two_models_in_one_process_leave_each_other_alone() -> None:
    models = [(field([1.0 + k, 2.0]), scalar()) for k in range(2)]
    for x, loss in models:
        with dt.Tape(loss):
            energy(x, loss)
    for k, (x, _) in enumerate(models):
        npt.assert_array_equal(x.grad.to_numpy(), [1.0 + k, 2.0])


def test_a_gradient_that_a_block_reads_is_cleared_before() -> None:
    x, y, loss = field([1, 2]), field([0, 0]), scalar()
    x.grad.fill(100.0)
    with dt.Tape() as tape:
        assert x.grad[0] == 0.0  # read from Python before any launch
    x.grad.fill(100.0)
    with dt.Tape(loss):
        square(x.grad, y)
        energy(x, loss)
    npt.assert_array_equal(y.to_numpy(), [0, 0])
    npt.assert_array_equal(x.grad.to_numpy(), [1, 2])
    tape.release()


def test_gradients_accumulate_over_tapes_if_asked_to() -> None:
    x, loss = field([1, 2]), scalar()
    for round_ in (1, 2, 3):
        with dt.Tape(loss, accumulate=True):
            loss[None] = 0.0
            energy(x, loss)
        npt.assert_array_equal(x.grad.to_numpy(), round_ * np.array([1, 2]))
    x.grad.clear()
    with dt.Tape(loss, accumulate=True):
        energy(x, loss)
    npt.assert_array_equal(x.grad.to_numpy(), [1, 2])


def test_gradients_of_fields_updated_in_place_accumulate_right() -> None:
    x, y, loss = field([1, 2]), field([0, 0]), scalar()
    expected = np.zeros(2)
    for values in ([1, 2], [3, 4], [0.5, -1]):
        x.from_numpy(np.array(values, float))
        with dt.Tape(loss, accumulate=True):
            loss[None] = 0.0
            square_in_place(x)
            square(x, y)
            energy(y, loss)
        expected += 8 * np.array(values) ** 7 / 2
        npt.assert_allclose(x.grad.to_numpy(), expected, rtol=1e-12)
    npt.assert_array_equal(y.grad.to_numpy(), [0, 0])


def test_a_tape_that_writes_nothing_wanted_leaves_zeros() -> None:
    x, y, loss = field([1, 2]), field([3, 4]), scalar()
    with dt.Tape(loss):
        energy(y, loss)
    npt.assert_array_equal(x.grad.to_numpy(), [0, 0])
    npt.assert_array_equal(y.grad.to_numpy(), [3, 4])


def test_two_tapes_recorded_before_either_is_replayed() -> None:
    x, y = field([1.0, 2.0]), field([0, 0])
    with dt.Tape() as first:
        square_in_place(x)
    with dt.Tape() as second:
        square(x, y)
    second.backward({y: 1.0})
    npt.assert_array_equal(x.grad.to_numpy(), [2, 8])
    x.grad.clear()
    first.backward({x: 1.0})
    npt.assert_array_equal(x.grad.to_numpy(), [2, 4])


def test_tapes_that_update_one_field_in_place_take_no_gradient_of_each_other_for_a_seed() -> None:
    x = field([3, 1])
    with dt.Tape() as one:
        square_in_place(x)
    with dt.Tape() as other:
        square_in_place(x)
    one.backward({x: 1.0})
    other.backward({x: 1.0})
    npt.assert_array_equal(x.grad.to_numpy(), [2 * 3 + 2 * 9, 2 + 2])


def test_a_second_tape_passes_its_gradient_to_the_first() -> None:
    """The gradient by the contents between two tapes is the seed of the earlier one."""
    x, y = field([1.0, 2.0]), field([0, 0])
    with dt.Tape() as first:
        square_in_place(x)
    with dt.Tape() as second:
        square(x, y)
    second.backward({y: 1.0})
    seed = x.grad.to_numpy()
    x.grad.clear()
    first.backward({x: seed})
    npt.assert_array_equal(x.grad.to_numpy(), 4 * np.array([1, 2]) ** 3)


# State afterwards


def test_backward_leaves_contents_alone() -> None:
    x, v, k = field([0.1, 0.2, 0.3]), field([0, 0, 0]), scalar(2.0)
    with dt.Tape() as tape:
        for _ in range(5):
            spring(x, v, k, 0.1)
    after = x.to_numpy(), v.to_numpy(), k.to_numpy()
    tape.backward({x: 1.0})
    npt.assert_array_equal(x.to_numpy(), after[0])
    npt.assert_array_equal(v.to_numpy(), after[1])
    npt.assert_array_equal(k.to_numpy(), after[2])


def test_contents_are_those_of_the_same_launches_without_a_tape() -> None:
    recorded = field([0.1, 0.2]), field([0, 0.5]), scalar(2.0)
    plain = field([0.1, 0.2]), field([0, 0.5]), scalar(2.0)
    with dt.Tape():
        for _ in range(7):
            spring(*recorded, 0.1)
            square_inside(recorded[0])
    for _ in range(7):
        spring(*plain, 0.1)
        square_inside(plain[0])
    for a, b in zip(recorded, plain, strict=True):
        npt.assert_array_equal(a.to_numpy(), b.to_numpy())


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.fill(9.0),
        lambda x: x.from_numpy(np.array([9.0, 9.0, 9.0])),
        lambda x: x.__setitem__(0, 9.0),
        lambda x: x.copy_from(field([9.0, 9.0, 9.0])),
        double_in_place,
        square_inside,
    ],
    ids=["fill", "from_numpy", "element", "copy_from", "launch", "launch inside"],
)
def test_old_values_survive_what_comes_after_the_block(change: Any) -> None:
    x, y = field([1, 2, 3]), field([0, 0, 0])
    with dt.Tape() as tape:
        square(x, y)
    before = x.to_numpy()
    change(x)
    changed = x.to_numpy()
    assert not np.array_equal(changed, before)
    tape.backward({y: 1.0})
    npt.assert_array_equal(x.grad.to_numpy(), [2, 4, 6])
    npt.assert_array_equal(x.to_numpy(), changed)


# Whole programs against differences


def test_a_simulation_updated_in_place() -> None:
    x, v, k, loss = field(RNG.uniform(-1, 1, 4)), field(RNG.uniform(-1, 1, 4)), field(1.5), scalar()

    def run(x: dt.Field, v: dt.Field, k: dt.Field) -> dt.Field:
        for _ in range(40):
            spring(x, v, k, 0.05)
        energy(x, loss)
        return loss

    dt.gradcheck(run, (x, v, k), strict=True)


def test_two_fields_in_turn() -> None:
    @dt.kernel
    def diffuse(a, b):
        n = a.shape[0]
        for i in range(1, n - 1):
            b[i] = a[i] + 0.2 * (a[i - 1] - 2 * a[i] + a[i + 1]) * a[i]

    start, loss = field(RNG.uniform(0.5, 1, 6)), scalar()
    fields = start, field(np.zeros(6))

    def run(start: dt.Field) -> dt.Field:
        a, b = fields
        b.copy_from(a)
        for _ in range(5):
            diffuse(a, b)
            a, b = b, a
        energy(a, loss)
        return loss

    dt.gradcheck(run, start, strict=True)


def test_writes_from_python_between_launches() -> None:
    x, y, loss = field(RNG.uniform(0.5, 1.5, 4)), field(np.zeros(4)), scalar()

    def run(x: dt.Field, y: dt.Field) -> dt.Field:
        y.fill(0.25)
        square(x, y)  # every element of y
        square_in_place(y)
        y[1] = 0.5
        square_inside(y)
        x[-1] = 2.0
        energy(x, loss)
        x.from_numpy(np.array([1.0, 2.0, 3.0, 4.0]))
        multiply(x, y)
        x.copy_from(y)
        square_in_place(x)
        energy(x, loss)
        y.clear()
        energy(y, loss)
        energy(x, loss)
        return loss

    dt.gradcheck(run, (x, y), strict=True)
    with dt.Tape(loss):
        run(x, y)
    npt.assert_array_equal(y.grad.to_numpy(), np.zeros(4))


# Writes from Python, one by one


def test_an_element_set_by_python_takes_no_gradient() -> None:
    x, loss = field([1, 2, 3, 4]), scalar()
    with dt.Tape(loss):
        x[3] = 10.0
        energy(x, loss)
    npt.assert_array_equal(x.grad.to_numpy(), [1, 2, 3, 0])


def test_a_vector_set_by_python_takes_no_gradient() -> None:
    @dt.kernel
    def total(v, loss):
        for i in v:
            loss[None] += v[i].dot(v[i])

    v = dt.from_numpy(np.ones((3, 2)), dtype=ti.types.vector(2, ti.f64), grad=True)
    loss = scalar()
    with dt.Tape(loss):
        v[1] = [5, 6]
        total(v, loss)
    npt.assert_array_equal(v.grad.to_numpy(), [[2, 2], [0, 0], [2, 2]])


@pytest.mark.parametrize(
    "write",
    [lambda x: x.fill(2.0), lambda x: x.clear(), lambda x: x.from_numpy(np.array([1.0, 2.0]))],
    ids=["fill", "clear", "from_numpy"],
)
def test_a_field_set_by_python_takes_no_gradient(write: Any) -> None:
    x, loss = field([1, 2]), scalar()
    with dt.Tape(loss):
        energy(x, loss)
        write(x)
        energy(x, loss)
    npt.assert_array_equal(x.grad.to_numpy(), [1, 2])


def test_gradients_flow_through_copies() -> None:
    x, y, loss = field([1, 2]), field([3, 4]), scalar()
    with dt.Tape(loss):
        energy(y, loss)
        y.copy_from(x)
        square_in_place(y)
        energy(y, loss)
    npt.assert_array_equal(x.grad.to_numpy(), 2 * np.array([1, 2]) ** 3)
    npt.assert_array_equal(y.grad.to_numpy(), [3, 4])


def test_a_copy_from_a_field_without_gradient_is_a_constant() -> None:
    x, y, loss = field([1, 2], grad=False), field([3, 4]), scalar()
    with dt.Tape(loss):
        y.copy_from(x)
        energy(y, loss)
    npt.assert_array_equal(y.grad.to_numpy(), [0, 0])


# Retained gradients


def test_an_intermediate_keeps_its_gradient_if_asked_to() -> None:
    x, y, loss = field([1, 2]), field([0, 0]), scalar()

    def record() -> dt.Tape:
        with dt.Tape() as tape:
            square(x, y)
            energy(y, loss)
        return tape

    record().backward(loss)
    npt.assert_array_equal(y.grad.to_numpy(), [0, 0])
    record().backward(loss, retain=[y])
    npt.assert_array_equal(y.grad.to_numpy(), [1, 4])
    npt.assert_array_equal(x.grad.to_numpy(), [2, 16])


def test_what_is_retained_belongs_to_the_last_write() -> None:
    x, loss = field([1, 2]), scalar()
    with dt.Tape() as tape:
        square_in_place(x)
        square_in_place(x)
        energy(x, loss)
    tape.backward(loss, retain=[x])
    npt.assert_array_equal(x.grad.to_numpy(), [1, 16])


@dt.kernel
def leap(x, v):
    for i in x:
        v[i] += x[i] * x[i]
    for i in x:
        x[i] *= v[i]
    for i in v:
        v[i] *= x[i]


def test_what_is_retained_is_what_a_whole_launch_left() -> None:
    x, v = field([1.0, 2.0]), field([3.0, 4.0])
    with dt.Tape() as tape:
        leap(x, v)  # its last loop reads the results of the one before
    tape.backward({x: 1.0, v: 10.0}, retain=[x, v])
    npt.assert_array_equal(x.grad.to_numpy(), [1, 1])
    npt.assert_array_equal(v.grad.to_numpy(), [10, 10])


def test_retained_gradients_accumulate() -> None:
    x = field([1.0, 2.0])
    with dt.Tape() as tape:
        square_in_place(x)
    tape.backward({x: 1.0}, retain=x, keep=True)
    tape.backward({x: 2.0}, retain=x)
    npt.assert_array_equal(x.grad.to_numpy(), [3, 3])


@dt.kernel
def add_scaled(g, h, y):
    for i in y:
        y[i] += g[i] * h[None]


def test_a_gradient_read_by_a_launch_is_an_old_value_like_any_other() -> None:
    x, y, h = field([1, 1]), field([0, 0]), scalar(1.0)
    x.grad.fill(5.0)
    with dt.Tape(accumulate=True) as tape:
        square(x, y)
        add_scaled(x.grad, h, y)
        add_scaled(x, h, y)
        add_scaled(x.grad, h, y)
    tape.backward({y: 1.0})
    assert h.grad[None] == 22
    npt.assert_array_equal(x.grad.to_numpy(), [8, 8])


# Separate gradients before and after


def test_separate_buffers_leave_grad_in_untouched() -> None:  # IF3
    after, before = field(np.zeros(4)), field(np.zeros(4))
    d = field([1, 2, 3, 4]).with_grads(grad_in=after, grad_out=before)
    with dt.Tape() as tape:
        double_in_place(d)
    after.fill(1.0)
    tape.backward({})
    npt.assert_array_equal(after.to_numpy(), np.ones(4))
    npt.assert_array_equal(before.to_numpy(), np.full(4, 2.0))
    npt.assert_array_equal(d.to_numpy(), [2, 4, 6, 8])


def test_separate_buffers_of_a_product() -> None:  # IF6
    after, before = field([0, 0]), field([0, 0])
    value, amount = field([3, 4]).with_grads(grad_in=after, grad_out=before), field([5, 6])
    with dt.Tape() as tape:
        multiply(value, amount)
    after.fill(1.0)
    tape.backward({})
    npt.assert_array_equal(amount.grad.to_numpy(), [3, 4])
    npt.assert_array_equal(before.to_numpy(), [5, 6])


def test_elements_that_no_launch_wrote_pass_their_gradient_on() -> None:
    after, before = field([0, 0, 0]), field([0, 0, 0])
    d = field([1, 2, 3]).with_grads(grad_in=after, grad_out=before)
    with dt.Tape() as tape:
        square_inside(d)
    after.from_numpy(np.array([10.0, 1.0, 1.0]))
    tape.backward({})
    npt.assert_array_equal(before.to_numpy(), [10, 4, 6])


@dt.kernel
def add_one(x):
    for i in x:
        x[i] += 1.0


def test_a_gradient_passes_launches_that_have_no_adjoint() -> None:
    after, before = field([0, 0]), field([0, 0])
    d = field([1, 2]).with_grads(grad_in=after, grad_out=before)
    with dt.Tape() as tape:
        add_one(d)
    after.from_numpy(np.array([10.0, 1.0]))
    tape.backward({})
    npt.assert_array_equal(before.to_numpy(), [10, 1])


def test_grad_in_alone_is_a_seed_and_grad_out_alone_a_result() -> None:
    seed, result = field([0, 0]), field([0, 0])
    x, y = field([1, 2]).with_grads(grad_out=result), field([0, 0]).with_grads(grad_in=seed)
    with dt.Tape() as tape:
        square(x, y)
    seed.fill(1.0)
    tape.backward({})
    npt.assert_array_equal(result.to_numpy(), [2, 4])
    npt.assert_array_equal(seed.to_numpy(), [1, 1])


def test_assigned_gradients() -> None:  # DT11
    x, y = field([1, 2]), field([0, 0])
    with dt.Tape() as tape:
        square(x, y)
    y.grad_in = field([1, 10])
    x.grad_out = result = field([100, 100])
    tape.backward({}, keep=True)
    npt.assert_array_equal(result.to_numpy(), [102, 140])
    tape.backward({y: 1.0})  # a seed adds to the gradient that comes in
    npt.assert_array_equal(result.to_numpy(), [106, 184])


def test_a_field_that_is_given_a_gradient_between_launches_is_met_again() -> None:
    x, y = field([1, 2], grad=False), field([0, 0])
    with dt.Tape() as tape:
        square(x, y)
        x.grad_in = x.grad_out = field([100, 100])
        square(x, y)
    tape.backward({y: 1.0})
    npt.assert_array_equal(x.grad.to_numpy(), [2, 4])


# Memory


def pinned(*fields: dt.Field) -> int:
    return sum(f.buffer.pins for f in fields)


def test_nothing_is_kept_of_linear_launches() -> None:
    x = field(np.ones(1000))
    with dt.Tape() as tape:
        for _ in range(10):
            double_in_place(x)
        assert tape.nbytes == 0
    tape.backward({x: 1.0})
    npt.assert_array_equal(x.grad.to_numpy(), np.full(1000, 1024.0))


def test_old_values_are_kept_once_a_launch_and_given_back() -> None:
    gc.collect()
    x = field(np.ones(1000))
    with dt.Tape() as tape:
        for count in range(1, 6):
            square_in_place(x)
            assert tape.nbytes == count * x.nbytes
        assert len(tape) == 5
    held = current_session().pool.held
    tape.backward({x: 1.0})
    assert tape.nbytes == 0
    assert len(tape) == 0
    assert current_session().pool.held == held + 5 * x.nbytes
    assert pinned(x) == 0


def test_a_loop_of_tapes_takes_no_more_memory() -> None:
    x, y, loss = field(np.ones(5000)), field(np.zeros(5000)), scalar()

    def step() -> None:
        with dt.Tape(loss):
            loss[None] = 0.0
            for _ in range(4):
                square(x, y)
                square_in_place(y)
            energy(y, loss)

    step()
    gc.collect()
    held = current_session().pool.held
    for _ in range(5):
        step()
    gc.collect()
    assert current_session().pool.held == held


@pytest.fixture
def copies(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """The shapes of all buffers that are copied from now on."""
    found: list[tuple[int, ...]] = []
    copy_from = Buffer.copy_from

    def counted(self: Buffer, other: Buffer) -> None:
        found.append(self.shape)
        copy_from(self, other)

    monkeypatch.setattr(Buffer, "copy_from", counted)
    return found


def test_a_field_that_is_overwritten_whole_is_not_copied(copies: list[tuple[int, ...]]) -> None:
    x = field(np.linspace(0, 1, 64))
    with dt.Tape() as tape:
        for _ in range(3):
            square_in_place(x)
    assert copies == []
    tape.backward({x: 1.0})
    npt.assert_allclose(x.grad.to_numpy(), 8 * np.linspace(0, 1, 64) ** 7, rtol=1e-12)


def test_a_field_that_is_overwritten_in_part_is_copied(copies: list[tuple[int, ...]]) -> None:
    x = field(np.linspace(0, 1, 64))
    with dt.Tape() as tape:
        for _ in range(3):
            square_inside(x)
    assert copies == [(64,)] * 3
    tape.backward({x: 1.0})
    expected = 8 * np.linspace(0, 1, 64) ** 7
    expected[0] = 1
    npt.assert_allclose(x.grad.to_numpy(), expected, rtol=1e-12)


def test_a_field_filled_by_python_is_not_copied(copies: list[tuple[int, ...]]) -> None:
    x, y = field(np.ones(64)), field(np.zeros(64))
    with dt.Tape() as tape:
        square(x, y)
        x.fill(2.0)
        square(x, y)
        x.from_numpy(np.ones(64))
    assert copies == []
    tape.backward({y: 1.0})
    npt.assert_array_equal(x.grad.to_numpy(), np.zeros(64))


def test_numbers_of_a_launch_are_those_of_its_time() -> None:
    x, v, k = field([1.0]), field([0.0]), scalar(1.0)

    @dt.kernel
    def scaled(x, h: float):
        for i in x:
            x[i] = h * x[i] * x[i]

    with dt.Tape() as tape:
        for h in (1.0, 2.0, 3.0):
            scaled(x, h)
    tape.backward({x: 1.0})
    # x1 = x^2, x2 = 2 x1^2, x3 = 3 x2^2 = 12 x^8
    npt.assert_allclose(x.grad.to_numpy(), [96.0], rtol=1e-12)
    assert (v[0], k[None]) == (0, 1)


rate = 2.0


def test_captured_numbers_of_a_launch_are_those_of_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @dt.kernel
    def scaled(x):
        for i in x:
            x[i] = rate * x[i]

    x = field([1.0])
    with dt.Tape() as tape:
        scaled(x)
        monkeypatch.setitem(globals(), "rate", 5.0)
        scaled(x)
    monkeypatch.setitem(globals(), "rate", 7.0)
    tape.backward({x: 1.0})
    assert x[0] == 10
    npt.assert_array_equal(x.grad.to_numpy(), [10])


# When something goes wrong


def test_an_exception_in_the_block_lets_go_of_everything() -> None:
    x, y, loss = field([1, 2]), field([0, 0]), scalar()
    with pytest.raises(ZeroDivisionError), dt.Tape(loss) as tape:
        square(x, y)
        square_in_place(x)
        _ = 1 / 0  # pyrefly: ignore[division-by-zero]
    assert (len(tape), tape.nbytes, pinned(x, y, loss)) == (0, 0, 0)
    npt.assert_array_equal(y.to_numpy(), [1, 4])
    npt.assert_array_equal(x.to_numpy(), [1, 4])
    npt.assert_array_equal(x.grad.to_numpy(), [0, 0])
    with pytest.raises(dt.TapeError):
        tape.backward(loss)
    with dt.Tape(loss):
        energy(x, loss)
    npt.assert_array_equal(x.grad.to_numpy(), [1, 4])


def test_a_refused_kernel_in_the_block_changes_nothing() -> None:
    @dt.kernel
    def number(x, n):
        for i in x:
            x[i] = x[i] * x[i] * (2.0 + 0.0 * ti.atomic_add(n[None], 1.0))

    x, n = field([1, 2, 3]), field(0)
    with pytest.raises(dt.KernelError, match="No gradient"), dt.Tape():
        number(x, n)
    npt.assert_array_equal(x.to_numpy(), [1, 2, 3])
    assert pinned(x) == 0
    number(x, n)  # without a tape it runs
    npt.assert_array_equal(x.to_numpy(), [2, 8, 18])
    with dt.Tape():
        number(field([1, 2, 3], grad=False), field(0, grad=False))


def test_an_error_in_backward_lets_go_of_everything() -> None:
    x, y = field([1, 2]), field([0, 0])
    with dt.Tape() as tape:
        square(x, y)
        square_in_place(x)
    with pytest.raises(dt.FieldError, match="The seed"):
        tape.backward({y: np.ones(3)})
    assert (len(tape), tape.nbytes, pinned(x, y)) == (0, 0, 0)


def test_a_block_that_raises_ends_its_recording() -> None:
    loss = scalar()
    with pytest.raises(dt.TapeError, match="No launch"), dt.Tape(loss):
        pass
    with pytest.raises(dt.TapeError, match="not nested"), dt.Tape(), dt.Tape():
        pass
    x = field([1, 2])
    with dt.Tape(loss):
        energy(x, loss)
    npt.assert_array_equal(x.grad.to_numpy(), [1, 2])


def test_a_forgotten_tape_does_no_harm() -> None:
    x, y = field([1, 2]), field([0, 0])
    for _ in range(3):
        with dt.Tape() as tape:
            square(x, y)
            square_in_place(x)
    del tape
    gc.collect()
    npt.assert_array_equal(x.to_numpy(), [1, 256])
    with dt.Tape() as tape:
        square(x, y)
    tape.backward({y: 1.0})
    npt.assert_array_equal(x.grad.to_numpy(), [2, 512])


# The numbers of the conformance table


def test_gathered_elements_take_the_sum() -> None:  # BA1
    @dt.kernel
    def gather(buffer, s, out):
        for i in s:
            out[i] = buffer[i % 2] * s[i]

    buffer, s, out = field([3, 5]), field(np.arange(1.0, 7)), field(np.zeros(6))
    with dt.Tape() as tape:
        gather(buffer, s, out)
    tape.backward({out: 1.0})
    npt.assert_array_equal(buffer.grad.to_numpy(), [9, 12])
    npt.assert_array_equal(s.grad.to_numpy(), [3, 5] * 3)


def test_a_number_read_by_every_thread_takes_the_exact_sum() -> None:  # BA8
    @dt.kernel
    def total(a, x, loss):
        for i in x:
            loss[None] += a[None] * x[i] * x[i]

    values = RNG.uniform(0, 1, 1 << 16).astype(np.float32)
    x, a, loss = dt.from_numpy(values, grad=True), dt.ones((), grad=True), dt.zeros((), grad=True)
    with dt.Tape(loss):
        total(a, x, loss)
    expected = np.sum(values.astype(np.float64) ** 2)
    npt.assert_allclose(a.grad[None], expected, rtol=1e-6)
    npt.assert_allclose(x.grad.to_numpy(), 2 * values, rtol=1e-6)


def test_one_field_twice_takes_both_gradients() -> None:  # BA9
    @dt.kernel
    def product(a, b, out):
        for i in out:
            out[i] = a[i] * b[i]

    x, out = field([1, 2, 3]), field([0, 0, 0])
    with dt.Tape() as tape:
        product(x, x, out)
    tape.backward({out: 1.0})
    npt.assert_array_equal(x.grad.to_numpy(), [2, 4, 6])


def test_the_polynomial() -> None:  # NN1, DT17
    @dt.kernel
    def polynomial(a, b, c, x, y):
        for i in x:
            y[i] = a[None] * x[i] * x[i] + b[None] * x[i] + c[None]

    a, b, c, x, y = scalar(2), scalar(8), scalar(-1), field([1, 2, 3, 4]), field(np.zeros(4))
    with dt.Tape() as tape:
        polynomial(a, b, c, x, y)
    tape.backward({y: 1.0})
    npt.assert_array_equal(y.to_numpy(), [9, 23, 41, 63])
    npt.assert_array_equal(x.grad.to_numpy(), [12, 16, 20, 24])
    assert (a.grad[None], b.grad[None], c.grad[None]) == (30, 10, 4)


def test_fields_without_gradient_cost_nothing() -> None:  # DT19
    x, v, k = field([0.1, 0.2]), field([0, 0]), field(2.0, grad=False)
    with dt.Tape() as tape:
        spring(x, v, k, 0.1)
    tape.backward({x: 1.0})
    npt.assert_allclose(x.grad.to_numpy(), 1 - 0.1 * 0.1 * 2 * np.cos([0.1, 0.2]), rtol=1e-12)


def test_single_precision_is_near_double() -> None:
    def run(dtype: Any) -> np.ndarray:
        x, v = dt.full(3, 0.5, dtype=dtype, grad=True), dt.zeros(3, dtype=dtype, grad=True)
        k, loss = dt.full((), 1.5, dtype=dtype, grad=True), dt.zeros((), dtype=dtype, grad=True)
        with dt.Tape(loss):
            for _ in range(20):
                spring(x, v, k, 0.05)
            energy(x, loss)
        return x.grad.to_numpy()

    npt.assert_allclose(run(ti.f32), run(ti.f64), rtol=1e-5)


def test_seeds_are_arrays_of_any_numbers() -> None:
    """Also of numbers as objects, which NumPy makes of those on a tape."""
    x = dt.ones(2, ti.f64, grad=True)
    y = dt.zeros(2, ti.f64, grad=True)
    with dt.Tape() as tape:
        y.copy_from(x)
    tape.backward({y: np.array([1, 2.5], dtype=object)})
    np.testing.assert_array_equal(x.grad.to_numpy(), [1.0, 2.5])
    for wrong in (None, "1.0"):
        with dt.Tape() as tape:
            y.copy_from(x)
        with pytest.raises(dt.TapeError, match="no number and no array"):
            tape.backward({y: np.array([wrong, 1.0], dtype=object)})
