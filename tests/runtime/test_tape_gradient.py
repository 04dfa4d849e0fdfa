"""The gradient of a certain tape's loss, and where the gradient of a field comes from."""

from __future__ import annotations

import threading
from inspect import currentframe
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.runtime.tape import Tape


@dt.kernel
def squares(x, loss):
    for i in x:
        loss[None] += x[i] ** 2


@dt.kernel
def scale(x, y):
    for i in x:
        y[i] = 3.0 * x[i]


def made(*values: float) -> dt.Field:
    return dt.from_numpy(np.array(values), grad=True)


def ended(x: dt.Field, loss: dt.Field, **options: Any) -> Tape:
    with dt.Tape(loss, **options) as tape:
        squares(x, loss)
    return tape


def line() -> int:
    frame = currentframe()
    assert frame is not None and frame.f_back is not None
    return frame.f_back.f_lineno


def test_a_field_that_a_tape_did_not_use_has_no_part_in_its_loss() -> None:
    x, y, loss = made(1.0, 2.0), made(3.0, 4.0), dt.zeros((), ti.f64, grad=True)
    first, second = ended(x, loss), ended(y, loss)
    assert x.grad.tolist() == [2.0, 4.0]  # as the first tape has left it
    assert first.gradient(x).tolist() == [2.0, 4.0] and first.gradient(y).tolist() == [0.0, 0.0]
    assert second.gradient(x).tolist() == [0.0, 0.0] and second.gradient(y).tolist() == [6.0, 8.0]
    assert (first.gradient(x).shape, first.gradient(x).element) == (x.shape, x.element)


def test_a_gradient_is_a_copy() -> None:
    x, loss = made(1.0), dt.zeros((), ti.f64, grad=True)
    kept = ended(x, loss).gradient(x)
    dt.zero_grads()
    assert kept.tolist() == [2.0] and not kept.has_grads


def test_parts_and_other_shapes_have_their_part_of_the_gradient() -> None:
    x, loss = made(1.0, 2.0, 3.0, 4.0), dt.zeros((), ti.f64, grad=True)
    tape = ended(x, loss)
    assert tape.gradient(x[1:3]).tolist() == [4.0, 6.0]
    assert tape.gradient(x.view(2, 2)).tolist() == [[2.0, 4.0], [6.0, 8.0]]
    other = made(1.0, 2.0)
    assert tape.gradient(other[:1]).tolist() == [0.0]


def test_there_is_no_gradient_before_the_backward_pass() -> None:
    x, loss = made(1.0), dt.zeros((), ti.f64, grad=True)
    tape = Tape()
    for _ in range(2):
        with pytest.raises(dt.TapeError, match=r"backward pass"):
            tape.gradient(x)
        if len(tape) == 0:
            with tape:
                squares(x, loss)
                with pytest.raises(dt.TapeError, match=r"backward pass"):
                    tape.gradient(x)
    tape.backward({loss: 0.5})
    assert tape.gradient(x).tolist() == [1.0]
    failed = Tape(loss)
    with pytest.raises(ValueError), failed:
        squares(x, loss)
        raise ValueError
    with pytest.raises(dt.TapeError, match=r"backward pass"):
        failed.gradient(x)


@pytest.mark.parametrize(
    "change",
    [
        ended,
        lambda x, loss: dt.zero_grads(x),
        lambda x, loss: x.grad.fill(1.0),
        lambda x, loss: x.grad.__setitem__(0, 5.0),
    ],
)
def test_a_gradient_that_was_overwritten_is_refused(change: Any) -> None:
    x, loss = made(1.0), dt.zeros((), ti.f64, grad=True)
    tape = ended(x, loss)
    change(x, loss)
    with pytest.raises(dt.TapeError, match=r"changed since"):
        tape.gradient(x)


def test_a_gradient_of_zeros_that_was_cleared_is_still_right() -> None:
    x, y, loss = made(0.0), made(1.0), dt.zeros((), ti.f64, grad=True)
    with dt.Tape(loss) as tape:
        squares(x, loss)
        y.fill(2.0)
    dt.zero_grads()
    assert tape.gradient(y).tolist() == [0.0]


def test_a_sum_with_earlier_gradients_is_refused() -> None:
    x, y, loss = made(1.0), made(2.0), dt.zeros((), ti.f64, grad=True)
    first = ended(x, loss, accumulate=True)
    assert first.gradient(x).tolist() == [2.0]
    with dt.Tape(loss, accumulate=True) as second:
        squares(x, loss)
        squares(y, loss)
    assert x.grad.tolist() == [4.0] and second.gradient(y).tolist() == [4.0]
    with pytest.raises(dt.TapeError, match=r"sum"):
        second.gradient(x)


def test_passes_of_one_tape_add_up() -> None:
    x, loss = made(1.0), dt.zeros((), ti.f64, grad=True)
    with dt.Tape() as tape:
        squares(x, loss)
    tape.backward({loss: 1.0}, keep=True)
    tape.backward({loss: 2.0})
    assert tape.gradient(x).tolist() == [6.0]


def test_a_retained_gradient_is_that_of_the_last_values() -> None:
    x, y, loss = made(1.0), made(0.0), dt.zeros((), ti.f64, grad=True)
    with dt.Tape() as tape:
        scale(x, y)
        squares(y, loss)
    tape.backward(loss, retain=[y])
    assert tape.gradient(y).tolist() == [6.0] and tape.gradient(x).tolist() == [18.0]


def test_gradients_on_another_tape_are_constants() -> None:
    x, y, loss = made(1.0), made(2.0), dt.zeros((), ti.f64, grad=True)
    first = ended(x, loss)
    with dt.Tape(loss) as second:
        kept = first.gradient(x)  # before the tape meets x, and clears its gradient
        squares(x, loss)
        squares(y, loss)
    assert kept.tolist() == [2.0] and second.gradient(x).tolist() == [2.0]


def test_what_has_no_gradient_is_refused() -> None:
    x, loss = made(1.0), dt.zeros((), ti.f64, grad=True)
    tape = ended(x, loss)
    with pytest.raises(dt.FieldError, match=r"has no gradient"):
        tape.gradient(dt.zeros(3))
    with pytest.raises(dt.FieldError, match=r"takes a field"):
        tape.gradient(3.0)
    with pytest.raises(dt.TapeError, match=r"another gradient"):
        tape.gradient(x.with_grads())


def test_memory_of_a_gradient_that_others_may_write_is_refused() -> None:
    x, loss = made(1.0), dt.zeros((), ti.f64, grad=True)
    array = np.asarray(x.grad, copy=False)
    tape = ended(x, loss)
    with pytest.raises(dt.TapeError, match=r"others may write"):
        tape.gradient(x)
    assert array.tolist() == [2.0]


def test_a_gradient_names_the_tape_that_computed_it() -> None:
    x, y, loss = made(1.0), made(2.0), dt.zeros((), ti.f64, grad=True)
    with dt.Tape(loss) as tape:
        squares(x, loss)
    first = f'of the tape at "tests/runtime/test_tape_gradient.py", line {line() - 2}'
    assert first in repr(x.grad) and first in x.grad._repr_html_().replace("&quot;", '"')
    assert first in repr(x.grad[:1]) and first not in repr(x)
    with dt.Tape(loss):
        squares(y, loss)
    second = first.rsplit(" ", 1)[0] + f" {line() - 2}"
    assert first in repr(x.grad) and second in repr(y.grad)
    with dt.Tape(loss, accumulate=True):
        squares(x, loss)
    third = f"a sum, the last part {first.rsplit(' ', 1)[0]} {line() - 2}"
    assert third in repr(x.grad)
    x.grad[0] = 1.0
    dt.zero_grads(y)
    assert "tape" not in repr(x.grad) + repr(y.grad)
    assert tape.gradient(y).tolist() == [0.0]


def test_gradients_within_a_limit_and_of_a_diagnosed_tape_name_it() -> None:
    x, loss = made(1.0), dt.zeros((), ti.f64, grad=True)
    for options in ({"snapshots": 3}, {"diagnose": True}):
        loss.fill(0.0)
        tape = ended(x, loss, **options)
        assert "of the tape at" in repr(x.grad) and tape.gradient(x).tolist() == [2.0]


def test_an_operation_with_a_tape_of_its_own_leaves_the_gradients_of_others() -> None:
    x, y, loss = made(1.0), made(2.0), dt.zeros((), ti.f64, grad=True)
    first = ended(x, loss)

    @dt.custom_op
    def inner(y: dt.In, loss: dt.InOut) -> None:
        own, z = dt.zeros((), ti.f64, grad=True), made(2.0)
        with dt.Tape(own):
            squares(x.detach(), own)  # clears the gradient of x, in whose memory it is
            squares(z, own)
        loss[None] += float(y[0])

    @inner.backward
    def _(y: Any, loss: Any) -> None:
        y.grad_out.add_numpy(loss.grad_in.to_numpy().reshape(1))

    with dt.Tape(loss) as second:
        inner(y, loss)
    assert first.gradient(x).tolist() == [2.0]
    assert second.gradient(x).tolist() == [0.0] and second.gradient(y).tolist() == [1.0]


def test_a_pass_of_another_thread_is_not_cut_by_a_tape_that_meets_its_fields() -> None:
    """The tape of this thread meets x while the pass of the other one adds to its gradient."""
    x, loss, other = made(1.0), dt.zeros((), ti.f64, grad=True), dt.zeros((), ti.f64, grad=True)
    half, met = threading.Event(), threading.Event()

    @dt.custom_op
    def wait(loss: dt.InOut) -> None:
        loss[None] = float(loss[None])

    @wait.backward
    def _(loss: Any) -> None:
        loss.grad_out.copy_from(loss.grad_in)
        half.set()
        assert met.wait(20)

    def work() -> None:
        with dt.Tape(loss):
            squares(x, loss)
            wait(loss)
            squares(x, loss)

    thread = threading.Thread(target=work)
    thread.start()
    assert half.wait(20)
    with dt.Tape() as tape:
        squares(x, other)
        met.set()
        thread.join()
    assert x.grad.tolist() == [4.0]
    tape.backward(other)
    assert x.grad.tolist() == [6.0]
    with pytest.raises(dt.TapeError, match=r"sum"):
        tape.gradient(x)
