"""`dt.steps`: the numbers of the steps of a loop whose launches wait for each other."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator
from itertools import islice

from difftile.diagnostics import LaunchError
from difftile.fields.exchange import as_integer
from difftile.fields.pending import run_pending
from difftile.runtime.queue import LONE, QUEUE
from difftile.runtime.whole_writes import LAUNCHES
from difftile.tracebacks import shorten


class Steps:
    """The numbers of the steps of a loop; see `steps`."""

    def __init__(self, numbers: range) -> None:
        self._numbers = numbers

    def __repr__(self) -> str:
        return f"dt.steps{repr(self._numbers).removeprefix('range')}"

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[int]:
        return _bodies(self._numbers)


def _bodies(numbers: range, ends: Callable[[], bool] = sys.is_finalizing) -> Generator[int]:
    """Yield the numbers, and tell the queue where bodies begin."""
    loop = QUEUE.begin(len(numbers), LAUNCHES)
    if loop is None:
        yield from numbers
        return
    try:
        waiting = QUEUE.waiting
        left = iter(numbers)
        for number in left:
            if loop.idle > 1:  # at the cost of a range
                yield number
                yield from islice(left, loop.idle - 2)
                loop.idle = 1
                continue
            if loop.idle or loop.misses >= LONE:
                QUEUE.next_body(loop)
            elif waiting and waiting[-1] is not None:
                waiting.append(None)  # between bodies
            yield number
        run_pending()
    except Exception as error:
        shorten(error)
        raise
    finally:  # of the loop, be it by 'break', 'return' or an error
        if not ends():  # names of modules are gone while the interpreter ends
            QUEUE.end(loop)


def steps(*bounds: int) -> Steps:
    """Return the numbers of the steps of a loop whose launches may run as one program.

    `for t in dt.steps(n):` is `for t in range(n):`, with `t` an integer and all that Python can do
    in the body. Launches wait until the loop ends or something needs them, such as a read of a
    field; then bodies that launch the same in each step, or a pattern of up to eight such bodies,
    run as one program. `x.fill(0.0)`, `x.clear()`, `x.copy_from(y)` and `x[None] = 0.0` are
    launches there.

    Args:
        bounds: The bounds of a `range`: the number of steps; or start and stop; or start, stop and
            step.

    Raises:
        LaunchError: A bound is not an integer.
    """
    found = [as_integer(bound) for bound in bounds]
    given = [one for one in found if one is not None]
    if not 1 <= len(given) == len(bounds) <= 3 or given[2:] == [0]:
        raise LaunchError(
            "dt.steps() takes the number of steps, or the bounds of a range, as integers; not "
            f"dt.steps({', '.join(map(repr, bounds))})."
        )
    return Steps(range(*given))
