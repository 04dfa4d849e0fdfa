"""Programs of forked children; `main` runs one of them."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable

import numpy as np

import difftile as dt

_PATIENCE = 60.0


@dt.kernel
def add(x, a: float):
    for i in x:
        x[i] += a


@dt.kernel
def squares(x, loss):
    for i in x:
        loss[None] += x[i] * x[i]


def use() -> float:
    """Run in parallel, on a tape."""
    x, loss = dt.ones(200_000, grad=True), dt.zeros((), grad=True)
    add(x, 1.0)
    with dt.Tape(loss):
        squares(x, loss)
    return float(x.grad.to_numpy().sum())


def child(work: Callable[[], object], *, leave: Callable[[int], object] = os._exit) -> str:
    """Call a function in a child; return its message, or "hangs" if it does not end."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            said = str(work())
        except dt.DifftileError as error:
            said = f"{type(error).__name__}: {error}"
        os.write(theirs, said.encode())
        leave(0)
    os.close(theirs)
    started = time.monotonic()
    while os.waitpid(pid, os.WNOHANG)[0] == 0:
        if time.monotonic() - started > _PATIENCE:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
            return "hangs"
        time.sleep(0.01)
    with os.fdopen(ours) as pipe:
        return pipe.read()


def before_the_start() -> None:
    """A child of a process that has only imported difftile is like any other."""
    assert child(use, leave=sys.exit) == "800000.0"


def refused() -> None:
    """Any use in a child of an object of its parent is an error that names the remedy."""
    x, loss = dt.ones(200_000, grad=True), dt.zeros((), grad=True)
    add(x, 1.0)
    with dt.Tape() as tape:
        squares(x, loss)
    ways: list[Callable[[], object]] = [
        lambda: add(x, 1.0),
        lambda: dt.zeros(3),
        x.to_numpy,
        lambda: x[0],
        lambda: x.fill(1.0),
        lambda: tape.backward(loss),
        lambda: dt.Tape(loss).__enter__(),
    ]
    for way in ways:
        said = child(way)
        assert "before this process was forked" in said and "spawn" in said, said
    assert child(lambda: 7, leave=sys.exit) == "7"
    tape.backward(loss)
    assert float(x.grad.to_numpy().sum()) == 800_000.0


def started_anew() -> None:
    """A child that calls `dt.init` works, and so do its children; the parent is unaffected."""
    x = dt.ones(3)
    assert use() == 800_000.0

    def anew() -> str:
        dt.init()
        try:
            x.to_numpy()
        except dt.FieldError as error:
            assert "before the last dt.init()" in str(error)
        else:
            raise AssertionError("a field of the parent was used")
        dt.init()
        return f"{use()} {child(lambda: (dt.init(), use())[1], leave=sys.exit)}"

    assert child(anew, leave=sys.exit) == "800000.0 800000.0"
    assert use() == 800_000.0 and x.to_numpy().tolist() == [1.0] * 3


def in_a_pool() -> None:
    """`multiprocessing` hands the error back, and starts processes that work."""
    use()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        try:
            pool.apply(use)
        except dt.FieldError as error:
            assert "before this process was forked" in str(error)
        else:
            raise AssertionError("not refused")
    with multiprocessing.get_context("fork").Pool(2, initializer=dt.init) as pool:
        assert pool.map(_of, range(4)) == [800_000.0] * 4


def _of(_: int) -> float:
    return use()


def with_a_thread() -> None:
    """A thread that compiles while the process is forked leaves the child no lock that is taken."""
    use()  # late imports are done, since Python's own locks stay taken in a child
    dt.init()
    done = threading.Event()

    def compile_all() -> None:
        while not done.is_set():
            dt.init()
            add(dt.ones(np.random.randint(1, 5)), 1.0)

    thread = threading.Thread(target=compile_all)
    thread.start()
    for _ in range(5):
        said = child(lambda: (dt.init(), use())[1], leave=sys.exit)
        assert said == "800000.0", said
    done.set()
    thread.join()


def with_a_tape_elsewhere() -> None:
    """A tape that another thread has open at the fork is not open in the child."""
    use()
    opened, done = threading.Event(), threading.Event()

    def record() -> None:
        with dt.Tape():
            opened.set()
            done.wait()

    thread = threading.Thread(target=record)
    thread.start()
    opened.wait()
    said = child(lambda: (dt.init(), use())[1], leave=sys.exit)
    done.set()
    thread.join()
    assert said == "800000.0", said


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
        print(name, "done", flush=True)
