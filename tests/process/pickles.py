"""Fields that go to another process, which starts a session for them, and come back."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

import difftile as dt


@dt.kernel
def double(x):
    for i in x:
        x[i] *= 2.0


def doubled(x: Any, launch: Any) -> Any:
    """Return a field with twice the contents, by a kernel that was sent as well."""
    launch(x)
    return x


def main() -> None:
    x = dt.from_numpy(np.arange(3.0), grad=True)
    x.grad.fill(1.0)
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        y = pool.submit(doubled, x, double).result()
    assert np.array_equal(x.to_numpy(), [0, 1, 2])
    print("spawned", y.to_numpy(), y.grad.to_numpy())


if __name__ == "__main__":
    main()
