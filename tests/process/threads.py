"""Programs of many concurrent threads; `main` runs one of them."""

from __future__ import annotations

import contextvars
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

import difftile as dt
import difftile.lang as ti

COUNT = 8


def together(work: Callable[[int], object]) -> list[Any]:
    """Call a function in several threads that begin at the same moment; return the results."""
    barrier = threading.Barrier(COUNT)
    found: list[Any] = [None] * COUNT
    errors: list[BaseException] = []

    def run(k: int) -> None:
        barrier.wait()
        try:
            found[k] = work(k)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(COUNT)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return found


def alone(work: Callable[[], object]) -> object:
    """Do something in another thread, and wait for it."""
    found: list[object] = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join()
    return found[0]


@dt.kernel
def add(x, a: float):
    for i in x:
        x[i] += a


@dt.kernel
def add_whole(x, n: int):
    for i in x:
        for k in range(n):
            x[i] += k % 2


@dt.kernel
def sum_of(x):
    total = 0.0
    for i in x:
        total += x[i]
    return total


@dt.kernel
def smooth_twice(x):
    for i in x:  # two stages with hidden fields in between
        x[i] = 2.0 * x[i]
    mean = 0.0
    for i in x:
        mean += x[i]
    for i in x:
        x[i] = x[i] - mean


@dt.kernel
def draw(x):
    for i in x:
        x[i] = dt.rand()


@dt.kernel
def squares(x, loss):
    for i in x:
        loss[None] += x[i] * x[i]


def another(k: int) -> dt.Kernel:
    """Return a kernel that no other thread has."""

    @dt.kernel
    def mine(x, y):
        for i in x:
            y[i] = ti.sin(x[i]) * (k + 1.0) if x[i] > 0 else ti.exp(x[i])

    return mine


def first_use() -> None:
    """Nothing has been done before: all threads make fields, compile and launch."""
    start = np.linspace(-1.0, 1.0, 1000)

    def work(k: int) -> float:
        x = dt.from_numpy(start)
        add(x, k)
        y = dt.zeros_like(x)
        another(k)(x, y)
        x.fill(k)
        smooth_twice(x)
        assert np.allclose(x.to_numpy(), 2.0 * k - 2000.0 * k), k
        wanted = start + k
        wanted = np.where(wanted > 0, np.sin(wanted) * (k + 1.0), np.exp(wanted))
        assert np.allclose(y.to_numpy(), wanted), k
        x.fill(1.0 + k)
        return sum_of(x)

    assert together(work) == [1000.0 * (1.0 + k) for k in range(COUNT)]


def many_launches() -> None:
    """Compiled code, its contexts and hidden memory are shared; every launch counts once."""
    sizes = [10 + k for k in range(COUNT)]
    shared = dt.zeros(1, ti.f64)

    def work(k: int) -> None:
        x, numbers = dt.zeros(sizes[k], ti.f64), dt.zeros(sizes[k], ti.i32)
        for n in range(300):
            add(x, k + n)
            add_whole(numbers, 2)
            assert sum_of(x) == sizes[k] * sum(k + m for m in range(n + 1)), (k, n)
            add(shared, 1.0)
        assert numbers.to_numpy().tolist() == [300] * sizes[k]

    sys.setswitchinterval(1e-5)
    together(work)
    assert shared[0] == 300 * COUNT


def random_numbers() -> None:
    """No two launches draw the same numbers."""
    sys.setswitchinterval(1e-5)

    def work(_: int) -> list[float]:
        x, found = dt.zeros(4, ti.f64), []
        for _ in range(100):
            draw(x)
            found += x.to_numpy().tolist()
        return found

    drawn = [number for found in together(work) for number in found]
    assert len(set(drawn)) == len(drawn) == 400 * COUNT


def starts() -> None:
    """After `dt.init` in any thread, all threads go on; no earlier kernel is launched."""

    def use() -> float:
        x = dt.ones(5000)
        add(x, 1.0)
        smooth_twice(x)
        return sum_of(x)

    expected = use()
    for where in (alone, lambda work: work(), alone):
        old = dt.ones(3)
        where(dt.init)
        for used in (lambda old=old: add(old, 1.0), old.to_numpy):
            try:
                used()
            except dt.FieldError:
                continue
            raise AssertionError("a field of before was used")
        assert alone(use) == use() == expected
    ended = threading.Event()
    refused: list[str] = []

    def launch() -> None:
        while not ended.is_set():
            try:
                x = dt.ones(100)
                for _ in range(1000):
                    add(x, 1.0)
            except dt.DifftileError as error:
                refused.append(str(error))

    sys.setswitchinterval(1e-5)
    thread = threading.Thread(target=launch)
    thread.start()
    for _ in range(10):
        dt.init()
    ended.set()
    thread.join()
    assert all("dt.init()" in text for text in refused), refused


def tapes() -> None:
    """Each thread has a tape of its own, and gets the gradients of its own fields."""
    sys.setswitchinterval(1e-5)

    def work(k: int) -> None:
        x = dt.full((50,), 1.0 + k, grad=True)
        loss = dt.zeros((), grad=True)
        for done in range(1, 21):
            loss.fill(0.0)
            with dt.Tape(loss, accumulate=True):
                squares(x, loss)
            expected = 2.0 * (1.0 + k) * done
            assert np.allclose(x.grad.to_numpy(), expected), (k, done, x.grad.to_numpy())

    together(work)


def tapes_and_constants() -> None:
    """`no_grad` on the tape of one thread leaves the tape of another one as it is."""
    inside, recorded = threading.Barrier(2), threading.Barrier(2)
    gradients: dict[bool, list[float]] = {}

    def work(constant: bool) -> None:
        x, loss = dt.ones(5, grad=True), dt.zeros((), grad=True)
        with dt.Tape() as tape:
            loss.fill(0.0)
            if constant:
                with dt.no_grad():
                    inside.wait()
                    squares(x, loss)
                    recorded.wait()
            else:
                inside.wait()
                squares(x, loss)
                recorded.wait()
        tape.backward({loss: 1.0})
        gradients[constant] = x.grad.to_numpy().tolist()

    threads = [threading.Thread(target=work, args=(constant,)) for constant in (True, False)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert gradients == {True: [0.0] * 5, False: [2.0] * 5}, gradients


def backward_passes() -> None:
    """Tapes that were recorded one after the other are replayed at the same time."""
    fields, tapes = [], []
    for k in range(COUNT):
        x, loss = dt.full((50,), 1.0 + k, grad=True), dt.zeros((), grad=True)
        with dt.Tape() as tape:
            for _ in range(20):
                squares(x, loss)
        fields.append((x, loss))
        tapes.append(tape)
    sys.setswitchinterval(1e-5)
    together(lambda k: tapes[k].backward(fields[k][1]))
    for k, (x, _) in enumerate(fields):
        assert np.allclose(x.grad.to_numpy(), 40.0 * (1.0 + k)), k


def constants() -> None:
    """`no_grad` in one thread does not affect the recording of another."""
    x, loss = dt.ones(5, grad=True), dt.zeros((), grad=True)
    inside, recorded = threading.Event(), threading.Event()

    def stay() -> None:
        with dt.no_grad():
            inside.set()
            recorded.wait()

    thread = threading.Thread(target=stay)
    thread.start()
    inside.wait()
    with dt.Tape(loss):
        squares(x, loss)
    recorded.set()
    thread.join()
    assert x.grad.to_numpy().tolist() == [2.0] * 5


def misuse() -> None:
    """A launch that a tape would miss is refused in any thread; the tape goes on."""
    free = dt.zeros(5, grad=True)
    x, loss = dt.ones(5, grad=True), dt.zeros((), grad=True)

    def refused(work: Callable[[], object]) -> str:
        try:
            work()
        except dt.DifftileError as error:
            return str(error)
        raise AssertionError("not refused")

    with dt.Tape(loss) as tape:
        squares(x, loss)
        assert "dt.init() inside a tape" in str(alone(lambda: refused(dt.init)))
        for elsewhere in (alone, contextvars.Context().run):  # another thread, another task
            assert "would miss it" in str(elsewhere(lambda: refused(lambda: add(x, 1.0))))
            assert "would miss the write" in str(elsewhere(lambda: refused(lambda: x.fill(2.0))))
            elsewhere(lambda: add(free, 1.0))  # a field that the tape does not know
    assert x.grad.to_numpy().tolist() == [2.0] * 5
    tape = dt.Tape(loss)
    contextvars.copy_context().run(tape.__enter__)
    assert "in which it was opened" in refused(lambda: tape.__exit__(None, None, None))
    with dt.Tape(loss):
        squares(x, loss)
    assert x.grad.to_numpy().tolist() == [2.0] * 5


def living_at_the_end() -> None:
    """The process ends while fields, tapes and threads live."""
    x, loss = dt.ones(5, grad=True), dt.zeros((), grad=True)
    squares(x, loss)
    keep.append(x)
    tape = dt.Tape(loss).__enter__()
    keep.append(tape)
    squares(x, loss)

    def forever() -> None:
        y = dt.ones(5)
        while True:
            y.fill(1.0)

    threading.Thread(target=forever, daemon=True).start()


keep: list[object] = []


def deletions() -> None:
    """Fields go away in whatever thread their last name goes away."""
    sys.setswitchinterval(1e-5)
    boxes = [{n: dt.ones(20, grad=True) for n in range(50)} for _ in range(COUNT)]

    def work(k: int) -> None:
        for n in range(50):
            x = boxes[k][n] = dt.full((20,), n, grad=True)
            add(x, 1.0)
            assert x.to_numpy().tolist() == [n + 1.0] * 20
            for box in boxes:
                box.pop(n, None)

    together(work)


def deep() -> None:
    """An exhausted stack in the middle of a launch leaves everything sound."""

    def down(n: int) -> None:
        try:
            down(n + 1)
        except RecursionError:
            x, loss = dt.ones(5, grad=True), dt.zeros((), grad=True)
            with dt.Tape(loss):
                squares(x, loss)
            raise

    sys.setrecursionlimit(150)
    for _ in range(3):
        try:
            down(0)
        except RecursionError:
            pass
    sys.setrecursionlimit(10_000)
    x, loss = dt.ones(5, grad=True), dt.zeros((), grad=True)
    with dt.Tape(loss):
        squares(x, loss)
    assert x.grad.to_numpy().tolist() == [2.0] * 5


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
        print(name, "done", flush=True)
