"""Steps of Adam on fields compared with the same steps in NumPy, turn by turn in one process.

Both run in single precision on existing arrays. NumPy's step is written in the usual way, and once
more with arrays for intermediate values, so that it allocates no memory. Figures are of the fastest
of the rounds.
"""

import sys
import time
from collections.abc import Callable, Sequence

import numpy as np
import taichi as ti

import difftile as dt
from difftile.arguments import Parser, positive_int

LR, BETA1, BETA2, EPS = 1e-3, 0.9, 0.999, 1e-8


class Plain:
    """Adam in NumPy, with a temporary array for each operation."""

    def __init__(self, x: np.ndarray, g: np.ndarray) -> None:
        self.x, self.g, self.t = x, g, 0
        self.m, self.v = np.zeros_like(x), np.zeros_like(x)

    def step(self) -> None:
        self.t += 1
        self.m = BETA1 * self.m + (1 - BETA1) * self.g
        self.v = BETA2 * self.v + (1 - BETA2) * self.g * self.g
        mean, square = self.m / (1 - BETA1**self.t), self.v / (1 - BETA2**self.t)
        self.x -= LR * mean / (np.sqrt(square) + EPS)


class InPlace(Plain):
    """The same in arrays that are there already."""

    def __init__(self, x: np.ndarray, g: np.ndarray) -> None:
        super().__init__(x, g)
        self.a = np.empty_like(x)

    def step(self) -> None:
        self.t += 1
        root = np.sqrt(1 - BETA2**self.t)
        self.m *= BETA1
        np.multiply(self.g, 1 - BETA1, out=self.a)
        self.m += self.a
        self.v *= BETA2
        np.multiply(self.g, self.g, out=self.a)
        self.a *= 1 - BETA2
        self.v += self.a
        np.sqrt(self.v, out=self.a)
        self.a += EPS * root
        np.divide(self.m, self.a, out=self.a)
        self.a *= LR * root / (1 - BETA1**self.t)
        self.x -= self.a


def fastest(calls: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the time of the fastest call of each kind [us], taken turn by turn."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            started = time.perf_counter()
            call()
            best[name] = min(best[name], 1e6 * (time.perf_counter() - started))
    return best


def main(argv: Sequence[str] | None = None) -> int:
    """Run the comparison; return the exit code."""
    parser = Parser(prog="benchmarks.optim", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=positive_int, default=100, help="default: %(default)s")
    options = parser.parse_args(argv)
    dt.init(arch="cpu")
    title = "a step of Adam, f32 [us]"
    names = ("difftile", "without a look", "NumPy", "in place", "ratio")
    print(f"{title:26}" + "".join(f"{name:>16}" for name in names))
    for size in (100, 10_000, 1_000_000):
        random = np.random.default_rng(0)
        start, gradient = (random.standard_normal(size).astype(np.float32) for _ in range(2))
        ours: list[tuple[dt.Field, dt.optim.Adam]] = []
        for nonfinite in ("raise", "ignore"):
            x = dt.from_numpy(start, dtype=ti.f32, grad=True)
            x.grad.from_numpy(gradient)
            ours.append((x, dt.optim.Adam(x, lr=LR, nonfinite=nonfinite)))
        peers = [kind(start.copy(), gradient) for kind in (Plain, InPlace)]
        best = fastest(
            dict(zip(names, [one.step for one in (ours[0][1], ours[1][1], *peers)], strict=False)),
            options.rounds,
        )
        for x, _ in ours:
            np.testing.assert_allclose(x.to_numpy(), peers[0].x, rtol=1e-4, atol=1e-5)
        ratio = best["difftile"] / min(best["NumPy"], best["in place"])
        times = "".join(f"{best[name]:16.1f}" for name in names[:-1])
        print(f"{f'{size:,} elements':26}{times}{ratio:16.2f}")
    print("ratio: the step that looks for gradients which are not finite, to NumPy's faster one")
    return 0


if __name__ == "__main__":
    sys.exit(main())
