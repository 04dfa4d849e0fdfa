"""`dt.optim.scipy_minimize`: SciPy's minimisers on the numbers of fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import FieldError, LaunchError, counted
from difftile.fields.recording import check_no_tape
from difftile.optim.box import Box
from difftile.optim.constraint import Constrained, Constraint, interval
from difftile.optim.objective import Objective
from difftile.optim.parameters import FieldsLike, NamedParameter, of_each, parameters_of
from difftile.runtime.scipy import scipy_module
from difftile.solvers.vectors import Vector, joined, read, split
from difftile.tracebacks import boundary

_WHO = "dt.optim.scipy_minimize"
_WITHOUT_GRADIENT = {"nelder-mead", "powell", "cobyla", "cobyqa"}
_SECOND = {
    "newton-cg": "hessp",
    "trust-ncg": "hessp",
    "trust-krylov": "hessp",
    "trust-constr": "hessp",
    "dogleg": "hess",
    "trust-exact": "hess",
}
"""The methods that take second derivatives, as products with vectors or as a matrix."""
_NEEDS_SECOND = {"trust-ncg", "trust-krylov", "dogleg", "trust-exact"}

Interval: TypeAlias = "tuple[npt.ArrayLike | None, npt.ArrayLike | None]"


@boundary
def scipy_minimize(
    f: Callable[[], Any],
    fields: FieldsLike,
    *,
    method: str = "L-BFGS-B",
    bounds: Interval | Mapping[Any, Interval | None] | Any = None,
    constraints: Constraint | Any | Sequence[Constraint | Any] = (),
    **others: Any,
) -> Any:
    """Minimise a loss over fields with `scipy.optimize.minimize`; afterwards they hold the result.

    After an interruption, or an error in `f`, the fields hold the best point tried until then.

    `f` computes the loss from the fields and is differentiated here:

        def f():
            loss.fill(0.0)
            launch_kernels()
            return loss

        result = dt.optim.scipy_minimize(f, (x, y), method="trust-ncg", bounds={x: (0.0, 1.0)})

    Methods that take second derivatives ("Newton-CG", "trust-ncg", "trust-krylov", "trust-constr",
    and as matrices "dogleg" and "trust-exact") are given exact ones, forward over reverse. A
    function with a tape of its own, `with dt.Tape(loss):`, has only the gradients that the tape
    leaves in the fields. Methods that take no gradient, such as "Nelder-Mead", only run `f`.

    SciPy works in double precision: fields in single precision hold the nearest numbers, and the
    end of a line search may be lost in their rounding.

    Args:
        f: The function; it returns a field of one element, or a number.
        fields: A field of floats, a field of structs, `dt.Rows`, a sequence of those, or a mapping
            from names to them.
        method: A name that SciPy knows.
        bounds: The least and the largest value of the components, numbers or arrays that fit the
            shape of a field, None for no bound, also inside of arrays; or a mapping from fields to
            such pairs, None for no bounds; or SciPy's `Bounds` of all numbers.
        constraints: A `dt.optim.Constraint`, a constraint of SciPy on the vector of all numbers, or
            several of them.
        others: Passed on to SciPy: `tol`, `options`, `callback`, `hess`, `hessp` ... Their vectors
            hold all numbers, field after field, in each the last axis fastest.

    Returns:
        SciPy's `OptimizeResult`, with the vector of all numbers in `x`, and in `reason` a sentence:
        the cause of the end, the numbers of iterations and evaluations, and the largest component
        of the gradient that is left.

    Raises:
        ImportError: SciPy is not installed.
        FieldError: A field is given twice, is split among ranks or cannot be moved, or has no
            gradient for the tape in `f`.
        LaunchError: Bounds do not fit, `f` returns no loss, or the method needs second derivatives
            and `f` runs a tape.
        TapeError: A tape is open, or no derivative passes to what `f` returns.
    """
    scipy = scipy_module("scipy.optimize", _WHO)
    check_no_tape(_WHO)
    parameters = parameters_of(fields, _WHO, grads=False)
    smooth = method.lower() not in _WITHOUT_GRADIENT
    for one in parameters:
        if one.field.split is not None:
            raise FieldError(
                f"{_WHO}: {one} is split among ranks, and SciPy works on vectors of one process. "
                "dt.optim.LBFGS adds up over the ranks."
            )
    objective = Objective(f, parameters, _WHO, differentiate=smooth)
    start = read(objective.state)
    if bounds is not None and not hasattr(bounds, "lb"):
        bounds = scipy.Bounds(*_vectors(bounds, objective, parameters))
    several = cast("Sequence[Any]", constraints)
    if not isinstance(constraints, (tuple, list)):
        several = (constraints,)
    constrained: list[Constrained] = []

    def value_and_gradient(x: Vector) -> tuple[float, Vector]:
        point = objective.at(x)
        return point.value, point.gradient

    try:
        if smooth:
            objective.at(start)
            others |= _second(method, objective, others)
        passed: list[Any] = []
        for one in several:
            if isinstance(one, Constraint):
                constrained.append(Constrained(one, parameters, f"{_WHO}: constraints"))
                passed += constrained[-1].for_scipy(start, second=method.lower() in _SECOND)
            else:
                passed.append(one)
        result = scipy.minimize(
            value_and_gradient if smooth else objective.loss,
            start,
            method=method,
            jac=smooth or None,
            bounds=bounds,
            constraints=passed,
            **others,
        )
    except BaseException:
        objective.move(objective.best[1])
        raise
    finally:
        objective.release()
        for one in constrained:
            one.release()
    objective.move(result.x)
    result.reason = _reason(result, bounds, constrained=bool(passed))
    return result


def _reason(result: Any, bounds: Any, *, constrained: bool) -> str:
    """Return the end of a search in a sentence: SciPy's message, and how far it came."""
    word = "converged" if result.success else "stopped"
    nouns = {"nit": "iteration", "nfev": "evaluation"}
    counts = [counted(result[name], noun) for name, noun in nouns.items() if name in result]
    text = f"{word} after {' and '.join(counts)}: {result.message.rstrip('.')}"
    found = result.get("grad", result.get("jac"))  # "trust-constr" has those of constraints in jac
    if constrained or found is None:
        return text
    gradient, of = np.asarray(found, np.float64).ravel(), "gradient"
    largest = float(np.max(np.abs(gradient)))
    if bounds is not None:
        whole = np.zeros(len(gradient))
        box, of = Box(bounds.lb + whole, bounds.ub + whole), "gradient within the bounds"
        largest = box.rest(result.x, gradient)
    return f"{text}; the largest component of the {of} is {largest:.2g}"


def _second(method: str, objective: Objective, others: Mapping[str, Any]) -> dict[str, Any]:
    """Return the argument of SciPy for second derivatives, if the method takes any.

    Raises:
        LaunchError: The method needs them, and the function does not have them.
    """
    option = _SECOND.get(method.lower())
    if option is None or others.get("hess") is not None or others.get("hessp") is not None:
        return {}
    function = objective.curvature
    if function is None:
        if method.lower() not in _NEEDS_SECOND:
            return {}
        raise LaunchError(
            f"{_WHO}: {method!r} needs second derivatives, and the function runs a tape of its "
            "own, which has none. Leave out the tape and return the loss, or give 'hessp'."
        )
    one = np.ones(1)
    if option == "hess":
        return {"hess": lambda x: function.curve(x, np.eye(len(x)), one)}
    return {"hessp": lambda x, p: function.curve(x, p, one)}


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
    pairs = of_each(bounds, parameters, f"{_WHO}: bounds", some=True)
    for one, shape, given_pair in zip(parameters, shapes, pairs, strict=True):
        pair: Any = (None, None) if given_pair is None else given_pair
        if not isinstance(pair, (tuple, list)) or len(cast("Sequence[Any]", pair)) != 2:
            raise LaunchError(f"{_WHO}: bounds are a pair (least, largest), not {pair!r}.")
        low, high = cast("Sequence[Any]", pair)
        for side, array in zip(
            found, interval(low, high, shape, f"{_WHO}: bounds of {one}"), strict=True
        ):
            side.append(array)
    return joined(objective.state, found[0]), joined(objective.state, found[1])
