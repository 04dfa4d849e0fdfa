"""Programs that are put through every check, and the checks.

A program is a kernel and example arguments. `check` compares the interpreter with Taichi, the tape's gradient
with the complex step of the interpreter (the dot-product test), and single with double precision.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile import interp
from difftile.ir.nodes import Array
from difftile.ir.types import FLOATS, Matrix, Scalar, Vector, numpy_dtype, scalar_of
from difftile.ops.check import check as check_program
from difftile.passes.optimise import finish, simplify
from difftile.ad.reverse import reverse

Step = 1e-30


@dataclass(frozen=True)
class Floats:
    """An example field of floats, drawn between two bounds."""

    shape: tuple[int, ...]
    element: tuple[int, ...]
    low: float
    high: float

    def draw(self, rng: np.random.Generator) -> npt.NDArray[np.float64]:
        return rng.uniform(self.low, self.high, (*self.shape, *self.element))


@dataclass(frozen=True)
class Given:
    """An example field with given contents."""

    values: npt.NDArray[Any]
    element: tuple[int, ...] = ()

    def draw(self, rng: np.random.Generator) -> npt.NDArray[Any]:
        return self.values.copy()


def floats(
    *shape: int, element: tuple[int, ...] = (), low: float = -1.5, high: float = 1.5
) -> Floats:
    """Describe a field of random floats, of vectors or matrices if `element` says so."""
    return Floats(shape, element, low, high)


def ints(*values: Any) -> Given:
    """Describe a field of integers (one dimension)."""
    return Given(np.array(values, np.int32))


def array(values: Any, element: tuple[int, ...] = ()) -> Given:
    """Describe a field of given floats."""
    return Given(np.array(values, np.float64), element)


@dataclass(frozen=True)
class Program:
    """A kernel and example arguments.

    Args:
        function: The kernel's function.
        arguments: For each parameter a description of a field, or a number, func or template.
        expected: Contents after the launch, by parameter, where they are known by hand.
        gradients: Gradients for adjoints of 1 in every written field, where known by hand.
        launches: How often the kernel is launched on one tape.
    """

    function: Callable[..., None]
    arguments: dict[str, Any]
    expected: dict[str, Any] = field(default_factory=dict[str, Any])
    gradients: dict[str, Any] = field(default_factory=dict[str, Any])
    launches: int = 1

    @property
    def name(self) -> str:
        module = self.function.__module__.split(".")[-1]
        return f"{module}.{self.function.__name__}"


PROGRAMS: list[Program] = []


def program(
    *,
    expected: dict[str, Any] | None = None,
    gradients: dict[str, Any] | None = None,
    launches: int = 1,
    **arguments: Any,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register the decorated function as a program; see `Program`."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        PROGRAMS.append(
            Program(function, arguments, expected or {}, gradients or {}, launches)
        )
        return function

    return register


def element_of(description: Floats | Given, scalar: Scalar) -> Any:
    """Return the difftile dtype of a described field."""
    match description.element:
        case ():
            return scalar
        case (n,):
            return Vector(n, scalar)
        case (n, m):
            return Matrix(n, m, scalar)
        case _:
            raise ValueError(description.element)


def _is_float(values: npt.NDArray[Any]) -> bool:
    return values.dtype.kind == "f"


def _fields(one: Program, values: dict[str, npt.NDArray[Any]], scalar: Scalar) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, given in one.arguments.items():
        if not isinstance(given, (Floats, Given)):
            made[name] = given
        elif _is_float(values[name]):
            data = values[name].astype(numpy_dtype(scalar))
            made[name] = dt.from_numpy(data, dtype=element_of(given, scalar), grad=True)
        else:
            made[name] = dt.from_numpy(values[name])
    return made


def _interpret(
    one: Program,
    code: Any,
    values: dict[str, npt.NDArray[Any]],
    direction: dict[str, npt.NDArray[Any]] | None,
) -> dict[str, npt.NDArray[Any]]:
    """Run the kernel's stages in the interpreter, with a complex step along a direction if given."""
    complex_step = direction is not None
    by_name = {p.name: p for p in code.params}
    fields: dict[Array, npt.NDArray[Any]] = {}
    result: dict[str, npt.NDArray[Any]] = {}
    for name, given in values.items():
        data = given.copy()
        if complex_step and _is_float(given):
            data = given + 1j * Step * direction[name]
        result[name] = data
        if isinstance(by_name.get(name), Array):
            fields[by_name[name]] = data
    numbers = {
        by_name[name]: given
        for name, given in one.arguments.items()
        if name in by_name and not isinstance(by_name[name], Array)
    }
    temps = {t for launch in code.launches for t in launch.stage.program.temps}
    for temp in temps:
        dtype = numpy_dtype(scalar_of(temp.type.element))
        if complex_step and scalar_of(temp.type.element) in FLOATS:
            dtype = np.dtype(np.complex128)
        inner = np.zeros(getattr(temp.type.element, "n", ()) and _shape(temp), dtype)
        fields[temp] = inner
    for _ in range(one.launches):
        for launch in code.launches:
            interp.run(launch.stage.program, fields, numbers, complex_step=complex_step)
    return result


def _shape(temp: Array) -> tuple[int, ...]:
    from difftile.ir.types import shape_of

    return shape_of(temp.type.element)


def check(one: Program) -> None:
    """Put a program through every check."""
    rng = np.random.default_rng(7)
    values = {
        name: given.draw(rng)
        for name, given in one.arguments.items()
        if isinstance(given, (Floats, Given))
    }
    kernel = dt.kernel(one.function)
    after, gradients, weights = _run(one, kernel, values, dt_f64, rng)
    code = kernel._latest
    assert code is not None
    _check_stages(code)
    _check_forward(one, code, values, after)
    _check_gradient(one, code, values, gradients, weights, rng)
    _check_given(one, values)
    single, single_gradients, _ = _run(one, dt.kernel(one.function), values, dt_f32, rng, weights)
    _check_single(after, single, "values")
    _check_single(gradients, single_gradients, "gradients")


dt_f64, dt_f32 = Scalar("f64"), Scalar("f32")


def _run(
    one: Program,
    kernel: Any,
    values: dict[str, npt.NDArray[Any]],
    scalar: Scalar,
    rng: np.random.Generator,
    weights: dict[str, npt.NDArray[Any]] | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Launch on a tape; return contents after, gradients, and the seeds that were used."""
    fields = _fields(one, values, scalar)
    with dt.Tape() as tape:
        for _ in range(one.launches):
            kernel(**fields)
    after = {name: fields[name].to_numpy() for name in values}
    float_names = [name for name in values if _is_float(values[name])]
    if weights is None:
        weights = {name: rng.uniform(0.5, 1.5, values[name].shape) for name in float_names}
    written = {f.storage for record in tape._records for f in getattr(record, "written", ())}
    seeds = {fields[n]: weights[n] for n in float_names if fields[n].storage in written}
    for name in float_names:
        if fields[name].storage not in written:
            weights[name] = np.zeros_like(weights[name])
    if seeds:
        tape.backward(seeds)
    gradients = {name: fields[name].grad.to_numpy() for name in float_names}
    return after, gradients, weights


def _check_stages(code: Any) -> None:
    """Check the legality of the programs after each pass, adjoints included."""
    for launch in code.launches:
        stage = launch.stage
        check_program(stage.program)
        finish(stage.program, 8, checked=True)
        floats_ = frozenset(
            p
            for p in (*stage.program.params, *stage.program.temps)
            if isinstance(p, Array) and scalar_of(p.type.element) in FLOATS
        )
        adjoint = reverse(stage.program, floats_).program
        check_program(adjoint)
        finish(simplify(adjoint, checked=True), 8, checked=True)


def _check_forward(
    one: Program, code: Any, values: dict[str, Any], after: dict[str, Any]
) -> None:
    expected = _interpret(one, code, values, None)
    for name in values:
        np.testing.assert_allclose(
            after[name], expected[name], rtol=1e-11, atol=1e-12, err_msg=f"{name} after the launch"
        )


def _check_gradient(
    one: Program,
    code: Any,
    values: dict[str, Any],
    gradients: dict[str, Any],
    weights: dict[str, Any],
    rng: np.random.Generator,
) -> None:
    """Compare <w, J v>, J v by the complex step, with <J^T w, v> for random directions v."""
    for _ in range(3):
        direction = {n: rng.uniform(-1, 1, values[n].shape) for n in gradients}
        pushed = _interpret(one, code, values, direction)
        left = sum(float(np.sum(weights[n] * pushed[n].imag)) / Step for n in gradients)
        right = sum(float(np.sum(gradients[n] * direction[n])) for n in gradients)
        scale = sum(float(np.sum(np.abs(gradients[n] * direction[n]))) for n in gradients)
        assert abs(left - right) <= 1e-9 * max(scale, 1.0), f"<w, J v> {left} <J^T w, v> {right}"


def _check_given(one: Program, values: dict[str, Any]) -> None:
    """Compare with the numbers that are known by hand."""
    if not one.expected and not one.gradients:
        return
    fields = _fields(one, values, dt_f64)
    kernel = dt.kernel(one.function)
    with dt.Tape() as tape:
        for _ in range(one.launches):
            kernel(**fields)
    for name, numbers in one.expected.items():
        np.testing.assert_allclose(fields[name].to_numpy(), numbers, rtol=2e-6, atol=1e-12, err_msg=name)
    written = {f.storage for record in tape._records for f in getattr(record, "written", ())}
    seeds = {
        f: 1.0
        for f in fields.values()
        if isinstance(f, dt.Field) and f.has_grads and f.storage in written
    }
    if one.gradients:
        tape.backward(seeds)
    for name, numbers in one.gradients.items():
        np.testing.assert_allclose(
            fields[name].grad.to_numpy(), numbers, rtol=2e-6, atol=1e-12, err_msg=f"{name}.grad"
        )


def _check_single(double: dict[str, Any], single: dict[str, Any], what: str) -> None:
    for name, expected in double.items():
        scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
        np.testing.assert_allclose(
            single[name], expected, rtol=2e-3, atol=2e-4 * scale, err_msg=f"{what} of {name} in f32"
        )
