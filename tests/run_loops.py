"""Loops of random programs as functions that `dt.repeat` calls, with fields as arguments."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import difftile as dt
from tests.run_kernels import STEPS


def loop_text(names: Sequence[str], body: Sequence[str]) -> str:
    """Return the text of a function that repeats another one.

    Args:
        names: The fields.
        body: The statements of a step.
    """
    listed = ", ".join(names)
    lines = ["def loop(n, steps, repeat, K, at):"]
    lines += [f"    {name} = at[{name!r}]" for name in names]
    lines.append("    try:")
    body = ["outer = i", *body] if "i = outer" in body else body or ["pass"]
    lines.append(f"        def step({', '.join(('i', *names))}):")
    lines += [f"            {line}" for line in body]
    lines.append(f"            return {listed or None}")
    given = f", {listed}" if names else ""
    lines.append(f"        {f'{listed} = ' if names else ''}repeat(step, n{given})")
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
    fields = [one for one in at.values() if isinstance(one, dt.Field)]
    steps = dt.steps if explicit else range
    repeat = dt.repeat if explicit and len(fields) == len(set(map(id, fields))) else _repeat
    _compiled(text)(times, steps, repeat, STEPS, at)


def _repeat(step: Callable[..., Any], times: int, *fields: Any) -> Any:
    for i in range(times):
        found = step(i, *fields)
        fields = found if isinstance(found, tuple) else (found,) if fields else ()
    return fields[0] if len(fields) == 1 else fields or None
