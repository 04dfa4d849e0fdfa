"""Random local energies as kernels, for the Hessians of their terms.

A term gathers up to four vectors at indices that may be repeated or missing, and computes numbers
and vectors from them: differences, products, functions, branches, loops and locals.
"""

from __future__ import annotations

import random

_VECTORS = (
    "{u} - {v}",
    "{u} + 0.5 * {v}",
    "-{u}",
    "{u}.cross({v})",
    "{s} * {u}",
    "0.25 * ({u} + {v}) - {w}",
    "ti.Vector([{u}.x, {v}.y, {s}])",
    "{u} / (2.0 + {v}.norm_sqr())",
    "ti.Matrix.cols([{u}, {v}, {w}]) @ {u}",
    "ti.min({u}, {v})",
    "{u} if {s} > 0.1 else {v}",
)
_NUMBERS = (
    "{u}.dot({v})",
    "{u}.norm_sqr() * {k}",
    "ti.sqrt(1.0 + {u}.norm_sqr())",
    "({u} - {v}).norm()",
    "ti.sin({s} * {r})",
    "{u}[1] * {v}[2]",
    "{s} + {r}",
    "{s} / (1.5 + {r} * {r})",
    "ti.exp(-{s} * {s})",
    "ti.atan2({s}, 2.0 + {r} * {r})",
    "{u}.cross({v}).norm_sqr()",
    "ti.abs({s}) * {r}",
    "ti.max({s}, 0.3 * {r})",
    "9.8 * {u}.z",
    "{k}",
)


def draw(number: int) -> str:
    """Return the text of a kernel `k(x, ends, weights, energy)`."""
    rng = random.Random(number)
    lines: list[str] = []
    vectors, numbers = ["a"], ["weights[e]", "0.7"]

    def filled(form: str) -> str:
        words = {key: rng.choice(vectors) for key in "uvw"}
        words |= {key: rng.choice(numbers) for key in "srk"}
        return form.format(**words)

    def statements(count: int, indent: str) -> None:
        for _ in range(count):
            name = f"t{len(lines)}"
            kind = rng.random()
            if kind < 0.45:
                lines.append(f"{indent}{name} = {filled(rng.choice(_VECTORS))}")
                vectors.append(name)
            else:
                lines.append(f"{indent}{name} = {filled(rng.choice(_NUMBERS))}")
                numbers.append(name)

    def add(indent: str) -> None:
        sign = rng.choice(("+", "+", "-"))
        term = " + ".join(filled(rng.choice(_NUMBERS)) for _ in range(rng.randint(1, 2)))
        lines.append(f"{indent}energy[None] {sign}= {term}")

    for k, name in enumerate("bcd"[: rng.randint(0, 3)], 1):
        lines.append(f"        {name} = x[ends[e, {k}]]")
        vectors.append(name)
    statements(rng.randint(1, 5), "        ")
    known = list(vectors), list(numbers)
    if rng.random() < 0.5:
        lines.append(f"        if ends[e, 3] > 1 and {rng.choice(numbers)} < 0.9:")
        lines.append(f"            f{len(lines)} = x[ends[e, 3] - 1]")
        vectors.append(f"f{len(lines) - 1}")
        statements(rng.randint(0, 3), "            ")
        add("            ")
        vectors[:], numbers[:] = known
    if rng.random() < 0.4:
        carried = f"s{len(lines)}"
        lines.append(f"        {carried} = {rng.choice(numbers)}")
        lines.append(f"        for k in range({rng.randint(2, 4)}):")
        gathers = rng.random() < 0.6
        if gathers:
            lines.append("            g = x[ends[e, k % 3]]")
        inner = filled("{u}.dot({v})").replace("{", "")
        last = "g.dot(a)" if gathers else inner
        lines.append(f"            {carried} = 0.5 * {carried} + ti.cos({carried}) * {last}")
        numbers.append(carried)
    statements(rng.randint(0, 3), "        ")
    if rng.random() < 0.9:  # seldom an energy that is linear or constant
        lines.append(f"        last = {filled('{s} * {u}.dot({v})')}")
        numbers[:] = ["last"]
    add("        ")
    body = "\n".join(["        a = x[ends[e, 0]]", *lines])
    head = "import taichi as ti\n\ndef k(x, ends, weights, energy):\n    for e in weights:\n"
    return f"{head}{body}\n"
