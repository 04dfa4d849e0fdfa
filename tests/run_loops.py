"""Loops of random programs as functions of their own, whose fields are local variables.

So are the loops that users write, and `dt.steps` looks at them: where names change places, it has
to run as many steps as it takes until they are back.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import difftile as dt
from tests.run_kernels import STEPS


def loop_text(names: Sequence[str], body: Sequence[str], how: str) -> str:
    """Return the text of a function that loops.

    Args:
        names: The fields.
        body: The statements of a step.
        how: "steps" for a loop over `dt.steps`, "repeat" for a function that is repeated.
    """
    listed = ", ".join(names)
    lines = ["def loop(n, steps, repeat, K, at):"]
    lines += [f"    {name} = at[{name!r}]" for name in names]
    lines.append("    try:")
    body = ["outer = i", *body] if "i = outer" in body else body or ["pass"]
    if how == "steps":
        lines.append("        for i in steps(n):")
        lines += [f"            {line}" for line in body]
    else:
        lines += [
            "        def step(i):",
            f"            {f'nonlocal {listed}' if names else 'pass'}",
        ]
        lines += [f"            {line}" for line in body]
        lines.append("        repeat(step, n)")
    lines += ["    finally:", f"        at.update({', '.join(f'{n}={n}' for n in names)})"]
    return "\n".join(lines) + "\n"


@lru_cache(None)
def _compiled(text: str) -> Callable[..., None]:
    name = f"<loop {len(linecache.cache)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope: dict[str, Any] = {}
    exec(compile(text, name, "exec", dont_inherit=True), scope)
    return scope["loop"]


def run_loop(text: str, times: int, at: dict[str, Any], *, explicit: bool) -> None:
    """Run a loop.

    Args:
        text: The function.
        times: The number of steps.
        at: The fields by name, which are changed as the loop ends.
        explicit: Whether it uses `dt.steps` and `dt.repeat`.
    """
    steps = dt.steps if explicit else range
    repeat = dt.repeat if explicit else _repeat
    _compiled(text)(times, steps, repeat, STEPS, at)


def _repeat(step: Callable[[int], object], times: int) -> None:
    for i in range(times):
        step(i)
