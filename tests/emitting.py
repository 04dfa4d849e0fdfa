"""The source of programs as they are, without the steps of a schedule that was chosen."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from difftile.ir.nodes import Array, Program
from difftile.schedule.apply import Applied, Memory
from difftile.schedule.grids import on_grids
from difftile.schedule.schedule import Schedule
from difftile.schedule.target import Target
from difftile.substrate.emit import Emitted, emit


def emitted(
    program: Program,
    schedule: Schedule | None = None,
    *,
    fresh: Collection[Array] = (),
    tiled: Collection[int] = (),
    spellings: Any = None,
    **given: Any,
) -> Emitted:
    """Return the source of a program.

    Args:
        program: A finished program, whose loops have the form that they are to have.
        schedule: What is not about one loop.
        fresh: Arrays that hold zeros.
        tiled: The numbers of the loops that copy rows in tiles.
        spellings: How ops are written; as Taichi does by default.
        given: Arguments of `Target`.
    """
    schedule, target = schedule or Schedule(), Target(**given)
    made = Applied(program, Memory(), {}, frozenset(fresh))
    if target.grids is not None:
        on = on_grids(program, target.grids, fresh, tiled)
        made = Applied(on.program, Memory(), {}, frozenset(fresh), tuple(on.grids), on.tiles)
    options = {} if spellings is None else {"spellings": spellings}
    return emit(made, schedule, target, **options)
