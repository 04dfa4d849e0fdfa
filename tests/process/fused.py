"""Programs whose launches wait for somebody who looks, as the process forks, restarts or ends."""

from __future__ import annotations

import atexit
import sys
import threading
from collections.abc import Callable
from typing import Any

_AT_EXIT: list[Callable[[], None]] = []


@atexit.register
def _last() -> None:
    """Run after all handlers that libraries have registered: Python runs the first one last."""
    for work in _AT_EXIT:
        work()


import difftile as dt  # noqa: E402
from difftile import ti  # noqa: E402
from tests.process.forks import child  # noqa: E402


@dt.kernel
def add(x, a: float):
    for i in x:
        x[i] += a


@dt.kernel
def total(x, loss):
    for i in x:
        loss[None] += x[i] * x[i]


def noted(times: int = 8) -> Any:
    """Return a field with launches on it that may not have run."""
    x = dt.zeros(5, ti.f64)
    for _ in range(times):
        add(x, 0.5)
    return x


def said_of(work: Callable[[], object]) -> str:
    """Return the error of some work."""
    try:
        return f"no error: {work()}"
    except dt.DifftileError as error:
        return f"{type(error).__name__}: {error}"


def ended() -> None:
    """An exception ends the program while launches wait, some of which nobody sees.

    One handler runs before those of libraries, and one after them.
    """
    x, y = noted(), noted()
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(noted())) for _ in range(4)]
    threads.append(threading.Thread(target=lambda: found.append(noted()), daemon=True))
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    atexit.register(lambda: print(x.to_numpy().tolist(), [one[0] for one in found], flush=True))
    _AT_EXIT.append(lambda: print(y.to_numpy().tolist(), flush=True))
    with dt.Tape():
        noted()
    noted()
    for k in range(20):
        add(y, 0.5)
        if k == 10:
            raise ValueError


def forked() -> None:
    """A child is told what it is always told; the parent's launches run once, in the parent."""
    x = noted()
    print(child(lambda: said_of(x.to_numpy))[:64])
    print(x.to_numpy().tolist())

    def anew() -> object:
        dt.init(arch="cpu", fuse="always")
        return noted().to_numpy().tolist()

    y = noted()
    print(child(anew))
    print(y.to_numpy().tolist())
    z = noted()
    with dt.Tape() as tape:
        loss = dt.zeros((), ti.f64, grad=True)
        for _ in range(6):
            total(z, loss)
        print(child(lambda: said_of(lambda: len(tape)))[:64])
        for _ in range(6):
            total(z, loss)
    print(loss[None])


def restarted() -> None:
    """Launches of a session that ends are gone with its fields."""
    for mode in ("always", True, False, "always"):
        x = noted()
        dt.init(arch="cpu", fuse=mode)
        print(said_of(x.to_numpy)[:40])
        print(noted().to_numpy().tolist())


def main() -> None:
    """Run the program of an argument, fused as another one says."""
    name, mode = sys.argv[1:]
    dt.init(arch="cpu", fuse={"always": "always", "False": False, "True": True}[mode])
    globals()[name]()


if __name__ == "__main__":
    main()
