"""Loops that are cut at the ends of fields, drawn and run before and after."""

from __future__ import annotations

import numpy as np
import pytest

from difftile import meaning
from difftile.ir.nodes import Array, For
from difftile.ir.parse import parse
from difftile.ir.walk import walk
from difftile.ops.check import check
from difftile.ops.table import OPS
from difftile.passes.split_index_sets import split_index_sets

LOOPS = (
    "  for i in lo..hi:",
    "  parallel for i in lo..hi:",
    "  for i in 0:i32..n:",
    "  parallel for i in 0:i32..n:",
    "  parallel for j in 0:i32..2:i32, i in lo..n:",
    "  parallel for j in 0:i32..2:i32, l in lo..hi, i in 0:i32..n:",
)


def drawn(rng: np.random.Generator) -> str:
    """Return a program that adds up elements at drawn indices, some of them under conditions."""
    lines = ["program f(x: field<f64, 1>, y: field<f64, 1>, lo: i32, hi: i32, m: i32)"]
    lines += ["  n = shape(x, 0)", "  last: i32 = sub(n, 1:i32)", "  n_y = shape(y, 0)"]
    lines.append(str(rng.choice(LOOPS)))
    known = ["i", "n", "last", "m", "lo"]
    for k in range(rng.integers(2, 7)):
        new, one = f"a{k}", str(rng.choice([*known[5:], "i", "i"]))
        fixed = str(rng.choice(["n", "last", "m", "hi", "-1:i32", "0:i32", "1:i32", "2:i32"]))
        op = str(rng.choice(["add", "sub", "sub", "mod", "mod", "mod", "min", "max"]))
        if op == "mod":
            fixed = str(rng.choice(["n", "n", "n_y"]))
        args = [one, fixed]
        if op != "mod" and rng.random() < 0.3:
            args.reverse()
        lines.append(f"    {new}: i32 = {op}({', '.join(args)})")
        known.append(new)
        if rng.random() < 0.4:
            compared = str(rng.choice(["lt", "le", "gt", "ge", "eq", "ne"]))
            sides = [str(rng.choice([*known[5:], "i"])), fixed]
            rng.shuffle(sides)
            lines += [
                f"    c{k}: bool = {compared}({', '.join(sides)})",
                f"    b{k} = if c{k}:",
                f"      yield {new}",
                "    else:",
                "      yield i",
            ]
            known.append(f"b{k}")
    for k, index in enumerate(known[5:]):
        lines += [
            f"    s{k}: i32 = mod({index}, n)",
            f"    v{k}: f64 = x[s{k}]",
            f"    t{k}: i32 = mod(i, n_y)",
            f"    w{k}: f64 = mul(v{k}, {k + 1}.5:f64)",
            f"    y[t{k}] += w{k}",
        ]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("seed", range(4))
def test_loops_compute_the_same_in_parts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parts = 0
    for _ in range(40):
        text = drawn(rng)
        program = check(parse(text, OPS))
        after = check(split_index_sets(program))
        loops = sum(isinstance(s, For) for s in walk(after.body))
        parts += loops > 1
        for n in (1, 2, 5):
            low, high, m = (int(k) for k in rng.integers(-3, 8, 3))
            results: list[object] = []
            for one in (program, after):
                x, y = (p for p in one.params if isinstance(p, Array))
                numbers = dict(zip(one.params[2:], (low, high, m), strict=True))
                fields = {x: np.arange(1.0, n + 1), y: np.zeros(4)}
                meaning.run(one, fields, numbers)
                results.append(fields[y])
            np.testing.assert_allclose(results[1], results[0], rtol=1e-12, err_msg=text)
    assert parts >= 10
