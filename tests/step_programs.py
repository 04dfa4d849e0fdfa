"""Random Python programs around launches: loops over `range` and `dt.steps`, and `dt.repeat`.

A program is a text. Its loop keeps state in Python wherever that may be, branches on the step and
on what it has read, and launches kernels on fields that swap roles. Values, gradients, and all that
Python has seen must be the same however the loop is written.
"""

from __future__ import annotations

import contextvars
import io
import itertools
import random
import sys
import types
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np
import taichi as ti

import difftile as dt
from difftile.arguments import Parser, positive_int
from difftile.launch.streams import STREAMS
from difftile.substrate import current_session

FIELDS = ("a", "b", "c")
HOWS = ("alone", "tape", "limited", "constant", "grad", "jvp")
Seen: TypeAlias = list[tuple[str, Any]]


@dt.kernel
def push(x, v, h: float):
    for i in x:
        v[i] += h * ti.sin(x[i])
        x[i] += 0.1 * v[i]


@dt.kernel
def mix(x, y, t: int, h: float):
    for i in x:
        y[i] = 0.7 * y[i] + 0.2 * ti.cos(x[i] + 0.01 * t) + h


@dt.kernel
def shrink(x):
    for i in x:
        x[i] *= 0.9


@dt.kernel
def shake(x):
    for i in x:
        x[i] += 0.1 * dt.rand()


@dt.kernel
def size(x) -> float:
    result = 0.0
    for i in x:
        result += x[i] * x[i]
    return result


@dt.kernel
def energy(a, b, c, loss):
    for i in a:
        loss[None] += a[i] ** 2 + 0.5 * b[i] ** 2 + 0.3 * c[i]


# State that Python keeps: how it begins, how a step changes it, and a number that follows from it.
STATES = {
    "namespace": ("s = types.SimpleNamespace(n=0)", "s.n += 1", "0.01 * s.n"),
    "late": ("s = types.SimpleNamespace(n=0)", "s.n += 1", "(0.1 if s.n < 7 else 0.3)"),
    "list": ("s = [0.0]", "s[0] += 0.01", "s[0]"),
    "long": ("s = list(range(1000))", "s.append(s.pop(0))", "0.001 * s[0]"),
    "array": ("s = np.zeros(1000)", "s[999] += 0.01", "float(s[999])"),
    "count": ("s = itertools.count()", "last = next(s)", "0.01 * last"),
    "cycle": ("s = itertools.cycle((0.1, -0.1, 0.2))", "last = next(s)", "last"),
    "generator": ("s = (0.02 * k for k in range(999))", "last = next(s)", "last"),
    "context": (
        "s = contextvars.ContextVar('s', default=0)",
        "s.set(s.get() + 1)",
        "0.01 * (s.get() % 5)",
    ),
    "function": (
        "def s(): s.n += 1; return s.n\ns.n = 0",
        "last = s()",
        "0.01 * s.n",
    ),
    "class": ("class S: n = 0\ns = S()", "S.n += 1", "0.01 * s.n"),
    "deep": ("s = [[[[[[[0]]]]]]]", "s[0][0][0][0][0][0][0] += 1", "0.01 * s[0][0][0][0][0][0][0]"),
    "deque": ("s = deque([0.1, 0.2, 0.3])", "s.rotate()", "s[0]"),
    "random": ("s = np.random.default_rng(3)", "last = float(s.random())", "0.1 * last"),
    "file": ("s = io.StringIO()", "s.write('x')", "0.01 * s.tell()"),
    "none": ("s = None", "pass", "0.1"),
}
STEPS = ("0.01 * t", "0.1 if t % 3 else 0.2", "(0.1, 0.2)[t % 2]", "0.5 / (t + 1)", "0.1", "-0.0")
SYMBOLIC = ("0.01 * t", "0.5 / (t + 1)", "np.sin(0.1 * t)", "0.1", "np.where(t < 4, 0.1, 0.2)")


def launch(rng: random.Random, number: str) -> str:
    """Return a launch as a statement."""
    one, other = rng.sample(FIELDS, 2)
    kinds = (
        f"push({one}, {other}, {number})",
        f"mix({one}, {other}, t, {number})",
        f"mix({one}, {other}, t % 4, {number})",
        f"shrink({one})",
        f"shake({one})",
    )
    return rng.choice(kinds[: 4 if rng.random() < 0.8 else 5])


def what_else(rng: random.Random) -> str:
    """Return something else that Python does in a step."""
    one, other = rng.sample(FIELDS, 2)
    return rng.choice(
        (
            f"seen.append(float({one}[0]))",
            f"seen.append(float(size({one})))",
            f"print(t, {one}[1], file=out)",
            f"{one}.fill(0.1 * t)",
            f"{one}.clear()",
            f"{one}.copy_from({other})",
            f"{one}[1] = 0.25",
            f"{one}.from_numpy(0.1 * np.arange(3.0))",
            f"with dt.no_grad(): shrink({one})",
            f"try: push({one})\n            except dt.DifftileError as e: seen.append(str(e)[:20])",
            f"if float({one}[0]) > 1.0: shrink({one})",
            f"seen.append(repr({one})[:30])",
            "seen.append(t)",
        )
    )


def loop_text(rng: random.Random) -> str:
    """Return a function that loops over the numbers of `loop`."""
    start, change, number = STATES[rng.choice(list(STATES))]
    numbers = (number, number, *STEPS)
    body = [change]
    body += [launch(rng, rng.choice(numbers)) for _ in range(rng.choice((1, 1, 2, 3)))]
    if rng.random() < 0.35:
        one, other, *more = rng.sample(FIELDS, rng.choice((2, 2, 3)))
        names, turned = (one, other, *more), (other, *more, one)
        body.append(f"{', '.join(names)} = {', '.join(turned)}")
    if rng.random() < 0.3:
        body.append(f"if t % {rng.choice((2, 3, 5))} == 1: {launch(rng, '0.05')}")
    if rng.random() < 0.3:
        often = rng.choice(("True", "t % 4 == 3", "t == 9", "t % 7 == 6"))
        body.append(f"if {often}:\n            {what_else(rng)}")
    if rng.random() < 0.15:
        body.append(f"for k in loop({rng.choice((2, 3, 40))}): {launch(rng, '0.01 * k')}")
    if rng.random() < 0.1:
        body.append(f"if t == {rng.choice((0, 5, 17))}: break")
    if rng.random() < 0.1:
        body.insert(rng.randrange(1, len(body)), "if t % 3 == 2: continue")
    n = rng.choice((1, 2, 5, 9, 13, 30, 30, 70))
    lines = [
        *("def program(loop, a, b, c, seen, out):", *(f"    {s}" for s in start.split("\n"))),
        "    last = 0",
        "    try:",
        f"      for t in loop({n}):",
        *(f"        {line}" for line in body),
        "    except dt.DifftileError as e: seen.append(str(e)[:30])",
        f"    seen.append(repr({number}))",
        "    return a, b, c",
    ]
    return "\n".join(lines) + "\n"


def repeat_text(rng: random.Random) -> str:
    """Return a function that repeats a body without state."""
    body = [launch(rng, rng.choice(SYMBOLIC)) for _ in range(rng.choice((1, 1, 2, 3)))]
    if rng.random() < 0.2:
        one, other = rng.sample(FIELDS, 2)
        whole = f"{one}.fill(0.1 * t)", f"{one}.clear()", f"{one}.copy_from({other})"
        body.insert(rng.randrange(len(body) + 1), rng.choice(whole))
    if rng.random() < 0.1:  # in Python, in each step
        body.insert(0, f"{rng.choice(FIELDS)}.from_numpy(0.1 * np.arange(3.0))")
    order = list(FIELDS) if rng.random() < 0.5 else rng.sample(FIELDS, 3)
    n = rng.choice((0, 1, 2, 3, 5, 9, 13, 30, 70))
    lines = [
        "def program(repeat, a, b, c, seen, out):",
        "    def body(t, a, b, c):",
        *(f"        {line}" for line in body),
        f"        return {', '.join(order)}",
        f"    return repeat(body, {n}, a, b, c)",
    ]
    return "\n".join(lines) + "\n"


def by_range(body: Callable[..., Any], n: int, *fields: Any) -> Any:
    """Do what `dt.repeat` does."""
    for t in range(n):
        fields = body(t, *fields)
    return fields


def observe(text: str, how: str, loop: Callable[..., Any]) -> Seen:
    """Run a program; return what there is to see."""
    scope: dict[str, Any] = {**globals(), "loop": loop}
    exec(compile(text, "<program>", "exec", dont_inherit=True), scope)
    out, seen = io.StringIO(), list[Any]()
    STREAMS.go_back(current_session(), 0)
    start = [0.3 * np.arange(1.0, 4.0) / (k + 1) for k in range(3)]
    given = [dt.from_numpy(one, grad=True) for one in start]
    loss = dt.zeros((), ti.f64, grad=True)
    found: Seen = []

    def simulate(a: Any, b: Any, c: Any) -> Any:
        fields = scope["program"](loop, a, b, c, seen, out)
        energy(*fields, loss)
        found.append(("order", [k for one in fields for k in range(3) if one is (a, b, c)[k]]))
        return loss

    if how == "grad":
        bars = dt.grad(simulate, argnums=(0, 1, 2))(*start)
        found += [("bar", np.asarray(one)) for one in bars]
    elif how == "jvp":
        found.append(("dot", np.asarray(dt.jvp(simulate, tuple(start), tuple(start))[1])))
    elif how == "constant":
        with dt.Tape(loss):
            shrink(given[0])
            with dt.no_grad():
                simulate(*given)
    elif how == "alone":
        simulate(*given)
    else:
        with dt.Tape(loss, **({"snapshots": 3} if how == "limited" else {})):
            simulate(*given)
    for one in given:
        found += [("value", one.to_numpy()), ("gradient", one.grad.to_numpy())]
    return [*found, ("loss", float(loss[None])), ("seen", seen), ("printed", out.getvalue())]


def check(number: int) -> str:
    """Return in what the forms of a program differ; empty if they do not."""
    rng = random.Random(number)
    how = rng.choice(HOWS)
    if rng.random() < 0.7:
        text, forms = loop_text(rng), (range, dt.steps)
    else:
        text, forms = repeat_text(rng), (by_range, dt.repeat)
    wanted, found = (_result(text, how, form) for form in forms)
    said = _difference(wanted, found)
    return f"program {number}, {how}: {said}\n{text}" if said else ""


def _result(text: str, how: str, form: Callable[..., Any]) -> Seen:
    try:
        return observe(text, how, form)
    except dt.DifftileError as error:
        return [("error", f"{type(error).__name__}: {str(error)[:60]}")]


def _difference(wanted: Any, found: Any) -> str:
    if isinstance(wanted, (list, tuple)) and isinstance(found, (list, tuple)):
        if len(wanted) != len(found):
            return f"{found} is not as long as {wanted}"
        pairs = zip(wanted, found, strict=True)
        return next((said for one, other in pairs if (said := _difference(one, other))), "")
    if isinstance(wanted, (float, np.ndarray)) and not isinstance(found, str):
        close = np.allclose(found, wanted, rtol=1e-7, atol=1e-10, equal_nan=True)
        return "" if close else f"{found} for {wanted}"
    if isinstance(wanted, str) and isinstance(found, str) and _numbers(wanted):
        return _difference(_numbers(wanted), _numbers(found))
    return "" if wanted == found else f"{found!r} for {wanted!r}"


def _numbers(text: str) -> list[float]:
    """Return the numbers of a text that has nothing else."""
    try:
        return [float(one) for one in text.split()]
    except ValueError:
        return []


def run(numbers: Iterable[int], report: Callable[[str], object] = print) -> list[int]:
    """Check programs; report those that differ, and return their numbers."""
    wrong: list[int] = []
    for number in numbers:
        said = check(number)
        if said:
            wrong.append(number)
            report(said)
    return wrong


def main() -> int:
    """Check many programs; return 1 if one is wrong."""
    parser = Parser("python -m tests.step_programs", __doc__)
    parser.add_argument("count", type=positive_int, help="how many programs")
    parser.add_argument("--first", type=int, default=0, help="the first of them; default: 0")
    parser.add_argument("--arch", default="python", help="default: python")
    options = parser.parse_args()
    dt.init(arch=options.arch, seed=1)
    wrong = run(range(options.first, options.first + options.count))
    print(f"{options.count} programs, {len(wrong)} of them wrong: {wrong[:20]}")
    return 1 if wrong else 0


_USED = contextvars, itertools, types, deque  # by the texts

if __name__ == "__main__":
    sys.exit(main())
