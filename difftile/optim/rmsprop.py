"""RMSProp."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, final

import difftile as dt
from difftile import ti
from difftile.optim.optimiser import Optimiser, Rates, Shared, UpdateRule
from difftile.optim.parameters import FieldsLike, PerField, number
from difftile.tracebacks import boundary

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dt.func
def _scale(i: Any, x: Any, d: Any, state: Any, numbers: Any) -> Any:
    square, mean, velocity = state
    lr, eps, decay, alpha, taken, momentum = numbers
    slope = d
    if ti.static(decay is not None):
        slope += decay * x
    spread = alpha * square[i] + taken * slope * slope
    square[i] = spread
    if ti.static(mean is not None):
        average = alpha * mean[i] + taken * slope
        mean[i] = average
        spread = max(spread - average * average, 0.0)  # rounding may leave a negative number
    direction = slope / (math.sqrt(spread) + eps)
    if ti.static(velocity is not None):
        direction += momentum * velocity[i]
        velocity[i] = direction
    return x - lr * direction


@final
class RMSProp(Optimiser):
    """Steps along the gradient, in units of its root mean square.

    With the gradient g, and g + weight_decay x in its place where there is a decay:

        s = alpha s + (1 - alpha) g^2
        a = alpha a + (1 - alpha) g               (with centered; else a = 0)
        v = momentum v + g / (sqrt(s - a^2) + eps)
        x = x - lr v

    Source: Tieleman and Hinton, Lecture 6.5: rmsprop, 2012; centered: Graves, Generating Sequences
    With Recurrent Neural Networks, 2013. As in PyTorch, eps is added to the root.

    Args:
        fields: What to move; see `Optimiser`.
        lr: The learning rate.
        alpha: The decay factor of the averages.
        eps: A number added to the root.
        momentum: The share of its velocity that a field keeps.
        centered: Take the gradient's standard deviation for the unit.
        weight_decay: The multiple of the field that is added to its gradient.
        shared: See `Optimiser`.
    """

    rule = UpdateRule(_scale, ("square", "mean", "velocity"), squares=("square",))

    @boundary
    def __init__(
        self,
        fields: FieldsLike,
        lr: Rates = 1e-2,
        *,
        alpha: float = 0.99,
        eps: float = 1e-8,
        momentum: float = 0.0,
        centered: bool = False,
        weight_decay: float | PerField[float] = 0.0,
        **shared: Unpack[Shared],
    ) -> None:
        self._alpha = number(alpha, f"{self._who}: alpha", below=1.0)
        self._eps = number(eps, f"{self._who}: eps")
        self._momentum = number(momentum, f"{self._who}: momentum")
        self._centered = centered
        super().__init__(fields, lr, weight_decay, **shared)

    def _used(self) -> tuple[str, ...]:
        wanted = True, self._centered, self._momentum
        return tuple(slot for slot, used in zip(self.rule.slots, wanted, strict=True) if used)

    def _numbers(self, steps: int, lr: float, decay: float) -> tuple[float | None, ...]:
        alpha = self._alpha
        return lr, self._eps, decay or None, alpha, 1.0 - alpha, self._momentum
