"""Small kernels in which a loop touches one field two or three times, by all kinds of index maps.

Shared elements, owned elements, and elements owned only for these sizes are combined in every
way. Many of these programs have to be refused.
"""

from __future__ import annotations

import random

import numpy as np

from tests.hunt.program import Given, Launch, Program

# Statements on an element; {0} is its index, {1} a factor that varies with the iteration.
ACCESSES = (
    *("x[{0}] = {1}", "x[{0}] = ti.sin(x[{0}]) + {1}", "x[{0}] += {1}", "x[{0}] -= {1} * b[i]"),
    *("x[{0}] *= {1}", "x[{0}] /= 1.5 + {1} * {1}", "ti.atomic_max(x[{0}], {1})"),
    *("ti.atomic_min(x[{0}], 0.5 * {1})", "b[i] = x[{0}] * {1}", "b[i] += x[{0}] * x[{0}]"),
    *("x[{0}] **= 2", "b[i] = ti.atomic_add(x[{0}], {1})", "s[None] += x[{0}] * {1}"),
)
INDICES = (
    *("i", "i", "i + 1", "3 - i", "2 * i", "2 * i + 1", "i + 4", "i // 2", "i % 2", "i % 4"),
    *("(i + 1) % 4", "(3 * i) % 8", "0", "5", "i * i", "q[i]", "ti.min(i, 2)", "abs(i - 1)"),
    *("n - 1 - i", "i % n", "i * j", "2 * i + j", "j", "i + 4 * j", "i if i < 2 else 7 - i"),
)
FACTORS = ("a[i]", "a[3 - i]", "0.3 * a[i]", "a[i] * a[i]", "a[0]", "ti.sin(b[i])", "0.7")
LOOPS = (
    *("for i in range(n)", "for i in range(n)", "for i in a", "for i in range(1)"),
    *("for i in range(1, 4)", "for i, j in ti.ndrange(4, 2)", "for i, j in ti.ndrange(2, 1)"),
    *("for i, j in ti.ndrange((1, 3), 2)", "for i in range(0, 4, n)", "for i in range(3, -1, -n)"),
)


def draw_accesses(number: int, head: str) -> Program:
    """Return the program of a number.

    Args:
        number: The number.
        head: What its text begins with.
    """
    rng = random.Random(number)
    loop = rng.choice(LOOPS)
    indices = [one for one in INDICES if "j" not in one or "j" in loop]
    repeated = rng.choice(indices)
    lines: list[str] = []
    for _ in range(rng.choice((1, 2, 2, 3))):
        index = rng.choice((repeated, rng.choice(indices)))
        line = rng.choice(ACCESSES).format(index, rng.choice(FACTORS))
        if rng.random() < 0.15:
            lines.append(f"        if {rng.choice(('i % 2 == 0', 'i == 0', 'a[i] > 0.0'))}:")
            line = "    " + line
        lines.append("        " + line)
    text = f"{head}\n\ndef k(x, a, b, s, q, n: int):\n    {loop}:\n" + "\n".join(lines) + "\n"
    numbers = np.random.default_rng(number)
    fields = {name: Given(numbers.uniform(-1.5, 1.5, n)) for name, n in (("x", 10), ("a", 4))}
    fields["b"] = Given(numbers.uniform(-1.5, 1.5, 4))
    fields["s"] = Given(np.array(0.4))
    fields["q"] = Given(numbers.permutation(4).astype(np.int32), (), False)
    launch = Launch("k", ("x", "a", "b", "s", "q", str(rng.choice((1, 2, 4, 4)))))
    return Program(number, text, fields, (launch,) * rng.choice((1, 1, 2)), "q[" not in text)
