"""Stochastic gradient descent, with momentum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import difftile as dt
from difftile import ti
from difftile.diagnostics import LaunchError
from difftile.optim.optimiser import Optimiser, Rates, Shared, UpdateRule
from difftile.optim.parameters import FieldsLike, PerField, number
from difftile.tracebacks import boundary

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dt.func
def _descend(i: Any, x: Any, d: Any, state: Any, numbers: Any) -> Any:
    velocity = state[0]
    lr, decay, momentum, taken, ahead = numbers
    slope = d
    if ti.static(decay is not None):
        slope += decay * x
    direction = slope
    if ti.static(velocity is not None):
        direction = momentum * velocity[i] + taken * slope
        velocity[i] = direction
    if ti.static(ahead is not None):
        direction = slope + ahead * direction
    return x - lr * direction


@final
class SGD(Optimiser):
    """Gradient descent, with momentum if asked for.

    With the gradient g, and g + weight_decay x in its place where there is a decay:

        v = momentum v + (1 - dampening) g        (v = g in the first step)
        x = x - lr v                              (lr (g + momentum v) with nesterov)

    Momentum as in Sutskever, Martens, Dahl and Hinton, On the importance of initialization and
    momentum in deep learning, 2013, in the form of PyTorch: the rate is a factor of the step and
    not of the gradient that enters the velocity.

    Args:
        fields: What to move; see `Optimiser`.
        lr: The learning rate.
        momentum: The share of its velocity that a field keeps.
        dampening: The share of the gradient that does not enter the velocity.
        nesterov: Look ahead along the velocity; only without dampening.
        weight_decay: The multiple of the field that is added to its gradient.
        shared: See `Optimiser`.
    """

    rule = UpdateRule(_descend, ("velocity",))

    @boundary
    def __init__(
        self,
        fields: FieldsLike,
        lr: Rates,
        *,
        momentum: float = 0.0,
        dampening: float = 0.0,
        nesterov: bool = False,
        weight_decay: float | PerField[float] = 0.0,
        **shared: Unpack[Shared],
    ) -> None:
        self._momentum = number(momentum, f"{self._who}: momentum")
        self._dampening = number(dampening, f"{self._who}: dampening")
        self._nesterov = nesterov
        if nesterov and (not self._momentum or self._dampening):
            raise LaunchError(f"{self._who}: nesterov goes with a momentum, and without dampening.")
        super().__init__(fields, lr, weight_decay, **shared)

    def _used(self) -> tuple[str, ...]:
        return self.rule.slots if self._momentum else ()

    def _numbers(self, steps: int, lr: float, decay: float) -> tuple[float | None, ...]:
        taken = 1.0 - self._dampening if steps else 1.0
        ahead = self._momentum if self._nesterov else None
        return lr, decay or None, self._momentum, taken, ahead
