"""The shortcut of a launch: a function that recognises the calls that repeat it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias

from difftile.compile.arguments import Arguments, CallArgs

Repeated: TypeAlias = Callable[[CallArgs], Arguments | None]
"""Returns the values of a launch for a call that differs from it in numbers only, else None."""


_TESTS = {  # of an argument, by its kind
    "is": "a{0} is x{0}",
    "type": "type(a{0}) is x{0}",
    "float": "type(a{0}) is float",
    "int": "type(a{0}) is int and x{0} <= a{0} < y{0}",
    "any": "",
}


@lru_cache(256)
def shortcut_of(
    forms: tuple[str, ...], places: tuple[tuple[int, int], ...], groups: int
) -> Callable[..., Repeated]:
    """Return a function that makes shortcuts, from a function that copies the values of a launch.

    A shortcut is Python text, as a loop over the arguments would take longer than the launch.

    Args:
        forms: The kind of test of each argument.
        places: The positions of numbers, among the arguments and among the values.
        groups: The number of groups of names from outside, which are compared by functions.
    """
    tests = [_TESTS[form].format(k) for k, form in enumerate(forms) if form != "any"]
    compare = [f"same{k}" for k in range(groups)]
    tests += [f"{one}(args)" for one in compare]
    given = [f"{x}{k}" for k, form in enumerate(forms) for x in "xy" if f"{x}{{0}}" in _TESTS[form]]
    names = "".join(f"a{k}, " for k in range(len(forms)))
    text = f"""def make({", ".join(["copy", *given, *compare])}):
    def repeated(args):
        try:
            {names or "()"} = args
        except ValueError:
            return None
        if not ({" and ".join(tests) or "True"}):
            return None
        values = copy()
        {"; ".join(f"values[{place}] = a{k}" for k, place in places)}
        return values
    return repeated
"""
    scope: dict[str, Any] = {}
    exec(text, scope)
    return scope["make"]
