"""The interface of every simulation in plain Taichi, and its derivative.

The kernels close over their fields: as methods of a `@ti.data_oriented` class they take about 8 us
longer per launch.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import taichi as ti

SMALL = 1 << 18  # elements that one thread clears before others are awake


def clear(*fields: Any) -> None:
    """Set fields to zero in one launch: a `fill` for each would be compiled for each."""
    _clear(fields, all(np.prod(field.shape) < SMALL for field in fields))


@ti.kernel
def _clear(fields: ti.template(), serial: ti.template()):
    for field in ti.static(fields):
        ti.loop_config(serialize=serial)
        for index in ti.grouped(ti.ndrange(*field.shape)):
            field[index] = ti.zero(field[index])


@dataclass(frozen=True)
class Peer:
    """A simulation in plain Taichi.

    Attributes:
        run: Simulates from the start and measures the loss.
        loss: The loss, 0-D.
        parameters: The fields to differentiate with respect to, by name.
        history: The fields with a time axis.
        others: Further fields with gradients.
        constants: Fields without gradients.
    """

    run: Callable[[], None]
    loss: Any
    parameters: dict[str, Any]
    history: tuple[Any, ...]
    others: tuple[Any, ...] = ()
    constants: tuple[Any, ...] = ()

    def differentiate(self, clock: Callable[[], float] = time.perf_counter) -> tuple[float, float]:
        """Run and compute the gradients; return the seconds forward and backward.

        Clearing the gradients counts as backward. `ti.ad.Tape` would do so too, with a kernel for
        each field to be compiled.
        """
        started = clock()
        self.clear_gradients()
        with ti.ad.Tape(self.loss, clear_gradients=False):
            entered = clock()
            self.run()
            forward = clock() - entered
        return forward, clock() - started - forward

    def clear_gradients(self) -> None:
        """Set all gradients to zero."""
        clear(*(field.grad for field in self._variables()))

    def gradients(self) -> dict[str, np.ndarray]:
        """Return the gradients of the parameters by name."""
        return {name: field.grad.to_numpy() for name, field in self.parameters.items()}

    @property
    def nbytes(self) -> int:
        """Bytes of all fields, gradients included."""
        return 2 * sum(map(_nbytes, self._variables())) + sum(map(_nbytes, self.constants))

    @property
    def saved_nbytes(self) -> int:
        """Bytes of the values, not the gradients, of the fields with a time axis."""
        return sum(map(_nbytes, self.history))

    def _variables(self) -> tuple[Any, ...]:
        return (*self.history, *self.others, *self.parameters.values(), self.loss)


def _nbytes(field: Any) -> int:
    size = {ti.f32: 4, ti.f64: 8, ti.i32: 4}[field.dtype]
    return size * int(np.prod(field.shape)) * getattr(field, "n", 1) * getattr(field, "m", 1)
