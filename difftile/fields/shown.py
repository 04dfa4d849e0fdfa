"""The text of fields: their values for people, and the one line that names them in messages.

Messages of the library name a field by type and shape, without its values: `repr` gives that line
where a function of the library asks for it.
"""

from __future__ import annotations

import html
import itertools
import sys
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import FieldError
from difftile.fields.elements import FieldElements
from difftile.fields.marked import COMPUTED
from difftile.ir.types import numpy_dtype, scalar_of, shape_of
from difftile.substrate import current_session

Values: TypeAlias = npt.NDArray[Any]
_LIBRARY = __name__.partition(".")[0]
_TABLE_ENDS = 5  # rows and columns that a table has of each end of a longer axis
_DARKEST = 0.55  # of the colour behind the largest value


def asked_by_library() -> bool:
    """Tell whether the function that has called the caller is of the library."""
    name: object = sys._getframe(2).f_globals.get("__name__")
    return isinstance(name, str) and name.partition(".")[0] == _LIBRARY


def text_of(part: FieldElements) -> str:
    """Return the values of a field, shortened as NumPy does, with type, shape and device."""
    limits: Any = np.get_printoptions()
    is_long = part.size * _components(part) > limits["threshold"]
    values = _shown_values(part, limits["edgeitems"] if is_long else part.size)
    if values is None:
        return part.named()
    text = np.array2string(
        values,
        separator=", ",
        prefix="field(",
        threshold=0 if is_long else sys.maxsize,
    )
    return f"field({text}, {', '.join(_facts(part))})"


def table_of(part: FieldElements) -> str:
    """Return a table of the values in HTML, where the ground of a number tells how large it is."""
    values = _shown_values(part, _TABLE_ENDS)
    is_table = part.ndim in (1, 2) and _components(part) == 1 and part.size > 0
    if values is None or not is_table:
        return f"<pre>{html.escape(text_of(part))}</pre>"
    facts = html.escape(f"field {', '.join(_facts(part))}")
    grid = values.reshape(-1, values.shape[-1])
    rows, columns = part.shape if part.ndim == 2 else (1, part.shape[0])
    lines = [
        "".join(
            '<td style="text-align:center">…</td>' if row is None or column is None
            else _cell(grid[row, column], grid)
            for column in _places(columns)
        )
        for row in _places(rows)
    ]  # fmt: skip
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<div><code>{facts}</code><table>{body}</table></div>"


def _facts(part: FieldElements) -> list[str]:
    facts = [str(part.element), f"shape={part.shape}", part.device]
    if part.has_grads:
        facts.append("grad")
    storage = part.base.storage
    computed = COMPUTED.get(storage)
    if computed is not None and not storage.buffer.zeros:
        facts.append(str(computed))
    if part.window is not None:
        facts.append(f"part of {part.base.named()}")
    return facts


def _components(part: FieldElements) -> int:
    return int(np.prod(shape_of(part.element), dtype=int))


def _shown_values(part: FieldElements, ends: int) -> Values | None:
    """Return the values at both ends of each axis, with one more for those left out in between.

    The tape is not told, since nothing is computed from a text.

    Returns:
        The values; None where the memory is gone.
    """
    base = part.base
    try:
        buffer = base.buffer
    except FieldError:
        return None
    kept = [
        range(size) if size <= 2 * ends else [*range(ends + 1), *range(size - ends, size)]
        for size in part.shape
    ]
    if current_session().on_host or part.size * _components(part) <= 1000:
        whole = buffer.array()
        values = whole if part.window is None else part.window.of(whole)
        return values[np.ix_(*kept)] if kept else values.copy()
    window = part.window
    inner = shape_of(part.element)
    found = np.empty((*map(len, kept), *inner), numpy_dtype(scalar_of(part.element)))
    for to, where in zip(np.ndindex(*map(len, kept)), itertools.product(*kept), strict=True):
        found[to] = buffer.read_at(where if window is None else window.place(where))
    return found


def _places(size: int) -> list[int | None]:
    """Return the places of shown values along an axis, with None for all that are left out."""
    if size <= 2 * _TABLE_ENDS:
        return [*range(size)]
    return [*range(_TABLE_ENDS), None, *range(_TABLE_ENDS + 1, 2 * _TABLE_ENDS + 1)]


def _cell(value: Any, among: Values) -> str:
    finite = np.abs(among[np.isfinite(among)].astype(np.float64))
    most = float(finite.max()) if finite.size else 0.0
    share = abs(float(value)) / most if most and np.isfinite(value) else 0.0
    colour = "214, 96, 77" if value < 0 else "67, 147, 195"
    text = f"{value:.6g}" if among.dtype.kind == "f" else str(value)
    return (
        f'<td style="text-align:right;background:rgba({colour}, {_DARKEST * share:.2f})">'
        f"{html.escape(text)}</td>"
    )
