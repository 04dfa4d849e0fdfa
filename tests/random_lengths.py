"""Random recurrences whose loops are about as long as a window of checkpoints.

Loops of up to `WIDTH` iterations have code of their own (`exceeds`). Lengths come from numbers and
extents on both sides of it. Some values pass through funcs whose rules alone read an array of one
element: the func itself needs only its number of dimensions.
"""

from __future__ import annotations

import random

from difftile.ad.checkpoints import WIDTH

HEAD = """\
import taichi as ti

import difftile as dt


@dt.func
def eased(a, one):
    return 0.5 * ti.sin(a)


@eased.backward
def _(a, one, d_out):
    return 0.5 * ti.cos(a) * d_out * one[0]


@dt.func
def eased_there(a, one):
    return 0.5 * ti.sin(a)


@eased_there.backward
def _(a, one, d_out):
    return 0.5 * ti.cos(a) * d_out * one[None]


"""
NUMBERS = range(WIDTH - 1, WIDTH + 2)  # that `n` has, and the extents of `x`
_LENGTHS = (
    *("n", "n", "n - 1", "n + 1", f"2 * n - {WIDTH}", "ti.max(n, x.shape[0])", "x.shape[0]"),
    *("x.shape[0] - i", "n - i % 2", "1, n", f"n // {WIDTH // 2}", "3", "0"),
)
_STEPS = (
    "{s} = ti.sin(0.9 * {s} + 0.1 * {a})",
    "{s} = 0.5 * {s} + ti.cos({a} * {s})",
    "{s} = {s} * (1.0 - 0.01 * {a})",
    "{s} = ti.tanh({s}) + 0.2 * {a}",
)
_CALLS = ("{s} = eased({s}, one) + 0.3 * {s}", "{s} = eased_there({s}, there) + 0.3 * {s}")


def recurrence(seed: int) -> str:
    """Return the module of a kernel `drawn(x, one, there, y, n)`."""
    rng = random.Random(seed)
    lines = ["def drawn(x, one, there, y, n: int):", "    for i in y:", "        s, t = x[i], 0.7"]

    def step(depth: int, index: str) -> None:
        a = rng.choice((f"x[({index} + i) % x.shape[0]]", "x[i]", "t" if depth > 3 else "0.4"))
        line = rng.choice(_CALLS if rng.random() < 0.25 else _STEPS)
        lines.append("    " * depth + line.format(s=rng.choice("sst"), a=a))

    def loop(depth: int, nested: bool) -> None:
        index = f"j{depth}"
        lines.append(f"{'    ' * depth}for {index} in range({rng.choice(_LENGTHS)}):")
        step(depth + 1, index)
        if nested and rng.random() < 0.3:
            lines.append(f"{'    ' * (depth + 1)}for k in range({rng.choice(('2', 'n - n + 1'))}):")
            step(depth + 2, "k")
        if rng.random() < 0.2:
            lines.append(f"{'    ' * (depth + 1)}if s > 0.8:")
            lines.append(f"{'    ' * (depth + 2)}{rng.choice(('break', 'continue'))}")
            step(depth + 1, index)

    for _ in range(rng.randrange(1, 3)):
        loop(2, nested=True)
    if rng.random() < 0.4:
        lines.append("        " + rng.choice(_CALLS).format(s="s"))
    lines.append("        y[i] = s * t")
    return HEAD + "\n".join(lines) + "\n"
