"""Errors of the special functions in units in the last place, beside mpmath.

`python -m benchmarks.special_errors [--points 100000] [--arch cpu]`
"""

from __future__ import annotations

import argparse

import numpy as np

import difftile as dt
from tests.special_functions import NAMES, arguments, computed, ulps


def main() -> None:
    """Print the largest and the mean error of each function and precision."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=100_000, help="for each of four regions")
    parser.add_argument("--arch", default="cpu", choices=["cpu", "cuda"])
    options = parser.parse_args()
    dt.init(arch=options.arch)
    print("| function | precision | largest error | mean error | at |\n|---|---|---|---|---|")
    for dtype in (np.float32, np.float64):
        x = arguments(options.points, dtype)
        y = computed(x)
        for k, name in enumerate(NAMES):
            errors = ulps(name, x[:, k], y[:, k])
            worst = int(np.argmax(errors))
            shown = f"{errors[worst]:.2f} | {np.mean(errors):.2f} | {x[worst, k]!r}"
            print(f"| `dt.{name}` | {np.dtype(dtype)} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
