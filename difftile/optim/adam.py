"""Adam and AdamW."""

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
def _adapt(i: Any, x: Any, d: Any, state: Any, numbers: Any) -> Any:
    mean, square, largest = state
    length, eps, decay, kept, beta1, taken1, beta2, taken2 = numbers
    slope = d
    if ti.static(decay is not None):
        slope += decay * x
    start = x
    if ti.static(kept is not None):
        start = kept * x
    average = beta1 * mean[i] + taken1 * slope
    spread = beta2 * square[i] + taken2 * slope * slope
    mean[i] = average
    square[i] = spread
    if ti.static(largest is not None):
        spread = max(largest[i], spread)
        largest[i] = spread
    return start - length * average / (math.sqrt(spread) + eps)


class _Adaptive(Optimiser):
    """The step that Adam and AdamW share."""

    rule = UpdateRule(_adapt, ("mean", "square", "largest"), squares=("square", "largest"))
    _decoupled: bool

    @boundary
    def __init__(
        self,
        fields: FieldsLike,
        lr: Rates = 1e-3,
        *,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float | PerField[float] = 0.0,
        amsgrad: bool = False,
        **shared: Unpack[Shared],
    ) -> None:
        self._betas = tuple(number(beta, f"{self._who}: a beta", below=1.0) for beta in betas)
        self._eps = number(eps, f"{self._who}: eps")
        self._amsgrad = amsgrad
        super().__init__(fields, lr, weight_decay, **shared)

    def _used(self) -> tuple[str, ...]:
        return self.rule.slots if self._amsgrad else self.rule.slots[:2]

    def _numbers(self, steps: int, lr: float, decay: float) -> tuple[float | None, ...]:
        # The corrections of the averages' start from zero move out of the root, where a field of
        # millions of elements would pay for them.
        beta1, beta2 = self._betas
        root = math.sqrt(1.0 - beta2 ** (steps + 1))
        length = lr * root / (1.0 - beta1 ** (steps + 1))
        coupled = decay if decay and not self._decoupled else None
        kept = 1.0 - lr * decay if decay and self._decoupled else None
        averages = beta1, 1.0 - beta1, beta2, 1.0 - beta2
        return length, self._eps * root, coupled, kept, *averages


@final
class Adam(_Adaptive):
    """Steps along the average gradient, in units of its root mean square.

    With the gradient g, and g + weight_decay x in its place where there is a decay, after t steps:

        m = beta1 m + (1 - beta1) g
        v = beta2 v + (1 - beta2) g^2
        x = x - lr m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + eps)

    Source: Kingma and Ba, Adam: A Method for Stochastic Optimization, 2015. With `amsgrad` the
    largest v so far takes the place of v: Reddi, Kale and Kumar, On the Convergence of Adam and
    Beyond, 2018.

    Args:
        fields: What to move; see `Optimiser`.
        lr: The learning rate: about how far each component moves in a step.
        betas: The decay factors of the averages.
        eps: A number added to the root, so that a gradient of zero moves nothing.
        weight_decay: The multiple of the field that is added to its gradient; see `AdamW`.
        amsgrad: Never let the unit shrink.
        shared: See `Optimiser`.
    """

    _decoupled = False


@final
class AdamW(_Adaptive):
    """Adam whose decay shrinks the field itself, x = (1 - lr weight_decay) x, before the step.

    Source: Loshchilov and Hutter, Decoupled Weight Decay Regularization, 2019.

    Args:
        fields: What to move; see `Optimiser`.
        lr: The learning rate.
        betas: The decay factors of the averages.
        eps: A number added to the root.
        weight_decay: The part by which a field shrinks, in units of the learning rate.
        amsgrad: Never let the unit shrink.
        shared: See `Optimiser`.
    """

    _decoupled = True

    @boundary
    def __init__(
        self,
        fields: FieldsLike,
        lr: Rates = 1e-3,
        *,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float | PerField[float] = 1e-2,
        amsgrad: bool = False,
        **shared: Unpack[Shared],
    ) -> None:
        super().__init__(
            fields, lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad, **shared
        )
