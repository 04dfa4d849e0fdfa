"""A whole program of users: one kernel, its gradient, and the seconds after each part as JSON."""

import json
import sys
import time

STARTED = time.perf_counter()

import numpy as np  # noqa: E402 - imports are what is measured

import difftile as dt  # noqa: E402

IMPORTED = time.perf_counter()


@dt.kernel
def energy(x, y):
    for i in x:
        y[None] += x[i] ** 2


def main(arch: str) -> None:
    """Compute a gradient."""
    dt.init(arch=arch)
    values = np.arange(8, dtype=np.float32)
    x, y = dt.from_numpy(values, grad=True), dt.zeros((), grad=True)
    started = time.perf_counter()
    with dt.Tape() as tape:
        energy(x, y)
    y[None]
    launched = time.perf_counter()
    tape.backward(y)
    assert (x.grad.to_numpy() == 2 * values).all()
    reversed_ = time.perf_counter()
    seconds = {
        "import": IMPORTED - STARTED,
        "init": started - IMPORTED,
        "first launch": launched - started,
        "first gradient": reversed_ - launched,
    }
    print(json.dumps({"seconds": seconds, "megabytes": resident()}))


def resident() -> float | None:
    """Return the memory of this process [MB], where the system tells."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            lines = dict(line.split(":", 1) for line in status)
        return float(lines["VmRSS"].split()[0]) / 1000
    except (OSError, KeyError):
        return None


if __name__ == "__main__":
    main(sys.argv[1])
