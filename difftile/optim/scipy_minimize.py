"""`dt.optim.scipy_minimize`: SciPy's minimisers on the numbers of fields."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import LaunchError
from difftile.fields.exchange import as_array
from difftile.fields.recording import check_no_tape
from difftile.optim.objective import Objective
from difftile.optim.parameters import FieldsLike, NamedParameter, of_each, parameters_of
from difftile.solvers.vectors import Vector, joined, read, split

_WHO = "dt.optim.scipy_minimize"
_WITHOUT_GRADIENT = {"nelder-mead", "powell", "cobyla", "cobyqa"}

Interval: TypeAlias = "tuple[npt.ArrayLike | None, npt.ArrayLike | None]"


def scipy_minimize(
    f: Callable[[], Any],
    fields: FieldsLike,
    *,
    method: str = "L-BFGS-B",
    bounds: Interval | Mapping[Any, Interval | None] | None = None,
    **others: Any,
) -> Any:
    """Minimise a loss over fields with `scipy.optimize.minimize`; afterwards they hold the result.

    After an interruption, or an error in `f`, the fields hold the best point tried until then.

    `f` computes the loss from the fields, and their gradients, on a tape:

        def f():
            loss.fill(0.0)
            with dt.Tape(loss):
                launch_kernels()
            return loss

        result = dt.optim.scipy_minimize(f, (x, y), bounds={x: (0.0, 1.0)})

    Methods that take no gradient, such as "Nelder-Mead", need no tape in `f`, and no gradients of
    the fields. SciPy works in double precision: fields in single precision hold the nearest
    numbers, and the end of a line search may be lost in their rounding.

    Args:
        f: The function; it returns a field of one element, or a number.
        fields: A field of floats, a field of structs, `dt.Rows`, a sequence of those, or a mapping
            from names to them.
        method: A name that SciPy knows.
        bounds: The least and the largest value of the components, numbers or arrays of a field's
            shape, None for no bound; or a mapping from fields to such pairs, None for no bounds.
        others: Passed on to SciPy: `tol`, `options`, `callback`, `hessp` ... Their vectors hold all
            numbers, field after field.

    Returns:
        SciPy's `OptimizeResult`, with the vector of all numbers in `x`.

    Raises:
        ImportError: SciPy is not installed.
        FieldError: A field has no gradient, is given twice, or cannot be moved.
        LaunchError: Bounds do not fit, or `f` returns no loss.
        TapeError: A tape is open, or `f` ran none.
    """
    try:
        scipy: Any = importlib.import_module("scipy.optimize")
    except ImportError:
        raise ImportError(
            f"{_WHO} needs SciPy: install it with 'pip install difftile[scipy]'."
        ) from None
    check_no_tape(_WHO)
    smooth = method.lower() not in _WITHOUT_GRADIENT
    parameters = parameters_of(fields, _WHO, grads=smooth)
    objective = Objective(f, parameters, _WHO)
    if bounds is not None:
        others["bounds"] = scipy.Bounds(*_vectors(bounds, objective, parameters))

    def value_and_gradient(x: Vector) -> tuple[float, Vector]:
        point = objective.at(x)
        return point.value, point.gradient

    function = value_and_gradient if smooth else objective.loss
    start = read(objective.state)
    try:
        result = scipy.minimize(function, start, method=method, jac=smooth or None, **others)
    except BaseException:
        objective.move(objective.best[1])
        raise
    objective.move(result.x)
    return result


def _vectors(
    bounds: Interval | Mapping[Any, Interval | None],
    objective: Objective,
    parameters: Sequence[NamedParameter],
) -> tuple[Vector, Vector]:
    """Return the least and the largest values of all numbers.

    Raises:
        LaunchError: The bounds do not fit the fields.
    """
    found: tuple[list[npt.NDArray[Any]], list[npt.NDArray[Any]]] = [], []
    shapes = [part.shape for part in split(objective.state, read(objective.state))]
    pairs = of_each(bounds, parameters, f"{_WHO}: bounds")
    for one, shape, given_pair in zip(parameters, shapes, pairs, strict=True):
        pair = (None, None) if given_pair is None else given_pair
        if not isinstance(pair, (tuple, list)) or len(cast("Sequence[Any]", pair)) != 2:
            raise LaunchError(f"{_WHO}: bounds are a pair (least, largest), not {pair!r}.")
        for side, given in enumerate(cast("Sequence[Any]", pair)):
            none = (-np.inf, np.inf)[side]
            array = as_array(none if given is None else given)
            if array.shape not in ((), shape):
                raise LaunchError(
                    f"{_WHO}: bounds of {one} are numbers or arrays of shape {shape}, "
                    f"not of {array.shape}."
                )
            found[side].append(np.broadcast_to(array, shape))
    return joined(found[0]), joined(found[1])
