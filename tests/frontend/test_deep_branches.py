"""Branches inside of branches: each `elif` is inside of the `else` before it."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt


def chosen(count: int) -> Any:
    """Return a kernel with so many branches, one inside of the other."""
    lines = [
        "def choose(x, y):",
        "    for i in x:",
        "        if i == 0:",
        "            y[i] = x[i]",
    ]
    for k in range(1, count):
        lines += [f"        elif i == {k}:", f"            y[i] = {k}.0 * ti.sin(x[i])"]
    text = "\n".join(lines) + "\n"
    file = f"<{count} branches>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"ti": ti}
    exec(compile(text, file, "exec", dont_inherit=True), names)
    return dt.kernel(names["choose"])


def test_as_many_as_are_taken() -> None:
    n = 89
    x, y = dt.from_numpy(np.linspace(0.1, 1.0, n), grad=True), dt.zeros(n, ti.f64, grad=True)
    with dt.Tape() as tape:
        chosen(n)(x, y)
    tape.backward({y: 1.0})
    expected = np.arange(n) * np.cos(np.linspace(0.1, 1.0, n))
    expected[0] = 1.0
    np.testing.assert_allclose(x.grad.to_numpy(), expected, rtol=1e-14)


def test_one_more_is_refused_at_its_line() -> None:
    with pytest.raises(dt.KernelError) as caught:
        chosen(90)(dt.ones(90), dt.zeros(90))
    assert (
        str(caught.value)
        == """\
Branches and loops are nested more than 90 deep.
  File "<90 branches>", line 181
  181 |         elif i == 89:
      |         ^^^^^^^^^^^^^ one more here
  Hint: each 'elif' is inside of the 'else' before it: read values from a field by an index, or \
call funcs in several 'if' statements."""
    )


@pytest.mark.parametrize("count", [200, 600])
def test_many_more_are_refused(count: int) -> None:
    with pytest.raises(dt.KernelError, match="nested"):
        chosen(count)(dt.ones(count), dt.zeros(count))
