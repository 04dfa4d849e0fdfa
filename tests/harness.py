"""Programs that are put through every check, and the checks.

A program is a kernel and example arguments. `check` compares its meaning in Python with Taichi,
the gradient of the tape with the complex step of the meaning (the dot-product test), both with
numbers known by hand where there are some, and single with double precision.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from unittest import mock
from zlib import crc32

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile import meaning
from difftile.ad import checkpoints
from difftile.ad.forward import forward
from difftile.ir.derived import Dot, primal
from difftile.ir.nodes import Array, Var
from difftile.ir.types import F32, F64, FLOATS, Scalar, numpy_dtype, scalar_of, shape_of, shaped
from difftile.launch import prepared_launch as launches
from difftile.launch.streams import Streams
from difftile.ops.check import check as check_program
from difftile.passes import unroll_and_jam
from difftile.schedule import choose as choosing
from difftile.schedule import scatters, strips
from difftile.schedule.steps import Serial
from difftile.schedule.work import Work
from difftile.substrate import zeros
from difftile.substrate.variants import Variants

SCATTERS = ("copies", "atomics", "serial")
STEP = 1e-30  # of the complex step, which has no rounding error to balance

Values: TypeAlias = dict[str, npt.NDArray[Any]]


# Descriptions of arguments


@dataclass(frozen=True)
class Floats:
    """An example field of floats, drawn between two bounds."""

    shape: tuple[int, ...]
    element: tuple[int, ...]
    low: float
    high: float

    def draw(self, rng: np.random.Generator) -> npt.NDArray[Any]:
        return rng.uniform(self.low, self.high, (*self.shape, *self.element))


@dataclass(frozen=True)
class Given:
    """An example field with given contents."""

    values: npt.NDArray[Any]
    element: tuple[int, ...] = ()

    def draw(self, rng: np.random.Generator) -> npt.NDArray[Any]:
        return self.values.copy()


@dataclass(frozen=True)
class Structs:
    """An example struct, a field of structs if nothing else: a description of each member.

    Args:
        members: The descriptions.
        methods: The methods of the field.
        make: Makes another struct of the members.
    """

    members: dict[str, Any]
    methods: tuple[tuple[str, Any], ...]
    make: Callable[..., Any] | None = None


@dataclass(frozen=True)
class Same:
    """The field that another parameter is given."""

    name: str


@dataclass(frozen=True)
class Part:
    """A part of a field: of one of its own, or of the field that another parameter is given."""

    of: Floats | Given | str
    pick: Callable[[Any], Any]


def floats(
    *shape: int, element: tuple[int, ...] = (), low: float = -1.5, high: float = 1.5
) -> Floats:
    """Describe a field of random floats, of vectors or matrices if `element` says so."""
    return Floats(shape, element, low, high)


def ints(values: Any, element: tuple[int, ...] = ()) -> Given:
    """Describe a field of given integers."""
    return Given(np.array(values, np.int32), element)


def array(values: Any, element: tuple[int, ...] = ()) -> Given:
    """Describe a field of given floats."""
    return Given(np.array(values, np.float64), element)


def structs(type_: Any = None, **members: Any) -> Structs:
    """Describe a field of structs by its members, with the methods of a struct type."""
    return Structs(members, () if type_ is None else tuple(type_.methods.items()))


def held(make: Callable[..., Any], **members: Any) -> Structs:
    """Describe a struct of fields, numbers and other things, by its members."""
    return Structs(members, (), make)


def same(name: str) -> Same:
    """Describe a parameter that is given the same field as another."""
    return Same(name)


def part(of: Floats | Given | str, pick: Callable[[Any], Any]) -> Part:
    """Describe a part of a field; contents and gradients belong to the whole field."""
    return Part(of, pick)


@dataclass(frozen=True)
class Program:
    """A kernel and example arguments.

    Args:
        function: The kernel's function.
        arguments: For each parameter a description of a field, or a number, func or template.
        expected: Contents after the launch, by parameter, where known by hand.
        gradients: Gradients for the adjoints in `seeds`, where known by hand.
        seeds: Adjoints of written fields; by default 1 in every element of each of them.
        frozen: The parameters whose fields have no gradients.
        launches: The number of launches of the kernel on one tape.
        smooth: Whether the complex step gives the derivative at these arguments; not so at a kink,
            where only the numbers known by hand count.
        single: Whether single precision can come near double precision.
    """

    function: Callable[..., None]
    arguments: dict[str, Any]
    expected: dict[str, Any] = field(default_factory=dict[str, Any])
    gradients: dict[str, Any] = field(default_factory=dict[str, Any])
    seeds: dict[str, Any] = field(default_factory=dict[str, Any])
    frozen: tuple[str, ...] = ()
    launches: int = 1
    smooth: bool = True
    single: bool = True

    @property
    def leaves(self) -> dict[str, Any]:
        """The descriptions of the arguments, for structs by member: 'p.pos'."""
        return _leaves(self.arguments)

    @property
    def name(self) -> str:
        module = self.function.__module__.split(".")[-1]
        return f"{module}.{self.function.__name__}"


def _leaves(described: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, given in described.items():
        if isinstance(given, Structs):
            found |= _leaves(given.members, f"{prefix}{name}.")
        else:
            found[prefix + name] = given
    return found


PROGRAMS: list[Program] = []


def program(
    *,
    expected: dict[str, Any] | None = None,
    gradients: dict[str, Any] | None = None,
    seeds: dict[str, Any] | None = None,
    frozen: tuple[str, ...] = (),
    launches: int = 1,
    smooth: bool = True,
    single: bool = True,
    **arguments: Any,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register the decorated function as a program; see `Program`."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        known = (expected or {}, gradients or {}, seeds or {})
        PROGRAMS.append(Program(function, arguments, *known, frozen, launches, smooth, single))
        return function

    return register


# Running


@dataclass(frozen=True)
class Run:
    """The results of one run of a program, by parameter.

    Args:
        after: Contents after the launches.
        gradients: Gradients of the fields that have them.
        weights: The adjoints that the reverse started from; 0 for elements that were not written.
    """

    after: Values
    gradients: Values
    weights: Values


def check(one: Program, single: bool = True) -> None:
    """Put a program through every check, those in single precision if they are wanted."""
    rng = np.random.default_rng(7)
    values = drawn(one, rng)
    weights = {name: rng.uniform(0.5, 1.5, values[name].shape) for name in _floats(values)}
    kernel = dt.kernel(one.function)
    # As little work as here is run by one thread, in code of its own, and adds to gradients; that
    # is what the single precision below runs, and double precision the code for many threads,
    # which stores into gradients that are zero, with vector instructions, as if there were more.
    # Which way it adds to elements that iterations share is drawn by the program's name.
    # Its loops are reversed in windows of two iterations, from checkpoints of several levels.
    with (
        many_threads(),
        scattering(SCATTERS[crc32(one.name.encode()) % len(SCATTERS)]),
        vectors(),
        mock.patch.multiple(strips, _FEWEST=3, _MOST=3),
        neighbours(),
        narrow_windows(),
        mock.patch.object(zeros, "_FRESH_BYTES", 0),
    ):
        double = _run(one, kernel, values, F64, weights)
        if one.expected or one.gradients:
            ones = {name: np.ones_like(values[name]) for name in weights}
            given = {
                name: np.broadcast_to(np.asarray(seed, np.float64), values[name].shape)
                for name, seed in one.seeds.items()
            }
            _check_given(one, _run(one, kernel, values, F64, given or ones))
    _check_forward(one, kernel, values, double)
    if one.smooth:
        _check_gradient(one, kernel, values, double, rng)
    if one.single and single:
        rounded = _run(one, dt.kernel(one.function), values, F32, weights)
        _check_single(double.after, rounded.after, "values")
        _check_single(double.gradients, rounded.gradients, "gradients")


def many_threads(wanted: bool = True) -> Any:
    """Let launches run on many threads, or on one, however little they have to do."""
    return mock.patch.object(Work, "is_for_one", lambda *_: not wanted)


def scattering(strategy: str) -> Any:
    """Let new programs add to shared elements in one way, if they run on many threads."""

    def choose(*given: Any, **options: Any) -> Any:
        return scatters.choose(*given, **{**options, "strategy": strategy})

    return mock.patch.object(choosing, "choose_plan", choose)


@contextmanager
def ways_of_scattering() -> Generator[set[str]]:
    """Note how launches add to shared elements, where they run code that no launch ran before."""
    noted: set[str] = set()
    variant = Variants._made

    def made(program: Any, schedule: Any) -> Any:
        for one in program.of.scatters:
            alone = schedule.serial or one.loop in schedule.numbers_of(Serial)
            names = {getattr(step, "target", "") for step in schedule.loops[one.loop]}
            copied = not schedule.serial and program.of.names[one.target] in names
            noted.add("serial" if alone else "copies" if copied else "atomics")
        return variant(program, schedule)

    with mock.patch.object(Variants, "_made", made):
        yield noted


@contextmanager
def choices_of_threads() -> Generator[list[bool]]:
    """Note of each new kind of launch whether it goes to many threads."""
    noted: list[bool] = []
    is_for_one = Work.is_for_one

    def decided(*given: Any) -> bool:
        noted.append(not is_for_one(*given))
        return not noted[-1]

    with mock.patch.object(Work, "is_for_one", decided):
        yield noted


def vectors() -> Any:
    """Let launches run code with vector instructions, however little they have to do."""
    return mock.patch.object(choosing, "_VECTORS", 0)


def neighbours() -> Any:
    """Let serial loops run for two neighbours at a time, however few iterations there are."""
    return mock.patch.multiple(unroll_and_jam, _FEWEST=2, _SHORT=2)


def narrow_windows() -> Any:
    """Let adjoints reverse loops two iterations at a time, from several levels of checkpoints."""
    return mock.patch.multiple(checkpoints, WIDTH=2, FANOUT=1)


def drawn(one: Program, rng: np.random.Generator) -> Values:
    """Return contents of each field, by the parameter that is given it or a part of it."""
    found: Values = {}
    for name, argument in one.leaves.items():
        given = argument.of if isinstance(argument, Part) else argument
        if isinstance(given, (Floats, Given)):
            found[name] = given.draw(rng)
    return found


def whole(one: Program, name: str) -> Any:
    """Return the description of the field that a parameter is given, or a part of."""
    argument = one.leaves[name]
    if not isinstance(argument, Part):
        return argument
    return whole(one, argument.of) if isinstance(argument.of, str) else argument.of


def arguments(one: Program, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of the kernel, given the whole fields."""
    return {name: _argument(name, given, fields) for name, given in one.arguments.items()}


def _argument(name: str, given: Any, fields: dict[str, Any]) -> Any:
    if isinstance(given, Structs):
        members = {
            key: _argument(f"{name}.{key}", member, fields) for key, member in given.members.items()
        }
        if given.make is not None:
            return given.make(**members)
        return dt.StructField(members, given.methods)
    return given.pick(fields[name]) if isinstance(given, Part) else fields[name]


def _floats(values: Mapping[str, npt.NDArray[Any]]) -> list[str]:
    return [name for name, value in values.items() if value.dtype.kind == "f"]


def _fields(one: Program, values: Values, scalar: Scalar) -> dict[str, Any]:
    """Return the whole field of each parameter, and the other arguments."""
    made: dict[str, Any] = {}
    for name, argument in one.leaves.items():
        given = whole(one, name)
        if isinstance(given, Same):
            made[name] = made[given.name]
        elif isinstance(argument, Part) and isinstance(argument.of, str):
            made[name] = made[argument.of]
        elif not isinstance(given, (Floats, Given)):
            made[name] = given
        elif values[name].dtype.kind == "f":
            data = values[name].astype(numpy_dtype(scalar))
            element = shaped(given.element, scalar)
            made[name] = dt.from_numpy(data, dtype=element, grad=name not in one.frozen)
        else:
            element = shaped(given.element, Scalar("i32"))
            made[name] = dt.from_numpy(values[name], dtype=element)
    return made


def _run(one: Program, kernel: Any, values: Values, scalar: Scalar, weights: Values) -> Run:
    """Launch on a tape and go back from the written fields."""
    fields = _fields(one, values, scalar)
    given = arguments(one, fields)
    with mock.patch.object(launches, "STREAMS", Streams()), dt.Tape() as tape:
        for _ in range(one.launches):
            kernel(**given)
    after = {name: fields[name].to_numpy() for name in values}
    used = dict.fromkeys(_floats(values), np.zeros(()))
    used = {name: np.zeros(values[name].shape) for name in used}
    written = {f.storage for f in tape.written}
    wanted = [name for name in _floats(values) if name not in one.frozen]
    seeds: dict[Any, Any] = {}
    for name, weight in weights.items():
        if name in wanted and fields[name].storage in written:
            seeds[fields[name]] = used[name] = weight
    if seeds:
        tape.backward(seeds)
    for name, before in after.items():
        now = fields[name].to_numpy()
        np.testing.assert_array_equal(now, before, f"{name} was changed by the reverse")
    gradients = {name: fields[name].grad.to_numpy() for name in wanted}
    return Run(after, gradients, used)


def _interpret(
    one: Program,
    kernel: Any,
    values: Values,
    direction: Values | None,
    run: Callable[[Any, Any, Any], None] | None = None,
) -> Values:
    """Run the kernel's stages as Python, with a complex step along a direction if given.

    Args:
        one: The program.
        kernel: Its kernel, compiled.
        values: Contents of the fields before.
        direction: For each field with a gradient the direction of the step.
        run: Runs one stage, given its program, fields and numbers; `meaning.run` by default.
    """
    code, passed = kernel._latest, kernel._launches.latest.values
    arrays = {p.name: p for p in code.params if isinstance(p, Array)}
    result: Values = {}
    for name, given in values.items():
        data = given.copy()
        if direction is not None and given.dtype.kind == "f":
            data = np.asarray(given + 1j * STEP * direction.get(name, np.zeros(given.shape)))
        result[name] = data
    fields: dict[Array, npt.NDArray[Any]] = {}
    for name, argument in one.leaves.items():
        if name in arrays:
            shared = isinstance(argument, Part) and isinstance(argument.of, str)
            data = result[argument.of if shared else name]
            shape = passed[code.position[arrays[name]]].shape
            inner = shape_of(arrays[name].type.element)
            fields[arrays[name]] = data.reshape((*shape, *inner))  # the same memory
    numbers = {p: v for p, v in zip(code.params, passed, strict=True) if isinstance(p, Var)}
    for temp in {t for stage in code.stages for t in stage.program.temps}:
        scalar = scalar_of(temp.type.element)
        complex_ = direction is not None and scalar in FLOATS
        dtype = np.dtype(np.complex128) if complex_ else numpy_dtype(scalar)
        fields[temp] = np.zeros(shape_of(temp.type.element), dtype)
    for number in range(one.launches):
        if code.streams:
            hidden = code.params[code.drawn_at : code.drawn_at + 2]
            numbers |= dict(zip(hidden, (0, number * code.streams), strict=True))
        for stage in code.stages:
            if run is not None:
                run(stage.program, fields, numbers)
                continue
            meaning.run(stage.program, fields, numbers, complex_step=direction is not None)
    return result


def interpreted(one: Program, values: Values) -> Values:
    """Return the contents of the fields after the launches, without compiling the kernel."""
    kernel = dt.kernel(one.function)
    kernel._ready((), arguments(one, _fields(one, values, F64)))
    return _interpret(one, kernel, values, None)


# Checks


def _check_forward(one: Program, kernel: Any, values: Values, run: Run) -> None:
    expected = _interpret(one, kernel, values, None)
    for name in values:
        np.testing.assert_allclose(
            run.after[name],
            expected[name],
            rtol=1e-11,
            atol=1e-12,
            err_msg=f"{name} after the launch",
        )


def _check_gradient(
    one: Program, kernel: Any, values: Values, run: Run, rng: np.random.Generator
) -> None:
    """Compare <w, J v>, J v by the complex step, with <J^T w, v> for random directions v."""
    gradients, weights = run.gradients, run.weights
    for _ in range(3):
        direction = {n: rng.uniform(-1, 1, values[n].shape) for n in gradients}
        pushed = _interpret(one, kernel, values, direction)
        left = sum(float(np.sum(weights[n] * pushed[n].imag)) / STEP for n in gradients)
        right = sum(float(np.sum(gradients[n] * direction[n])) for n in gradients)
        scale = sum(float(np.sum(np.abs(gradients[n] * direction[n]))) for n in gradients)
        assert abs(left - right) <= 1e-9 * max(scale, 1.0), f"<w, J v> {left} <J^T w, v> {right}"
    dots = _push(one, kernel, values, direction)
    for name, dot in dots.items():
        np.testing.assert_allclose(
            dot, pushed[name].imag / STEP, rtol=1e-9, atol=1e-10, err_msg=f"tangent of {name}"
        )


def _push(one: Program, kernel: Any, values: Values, direction: Values) -> Values:
    """Return the tangents after the launches, by forward mode, run as Python."""
    code = kernel._latest
    pushed = {name: dot.astype(np.float64) for name, dot in direction.items()}
    owners: dict[Array, str] = {}  # parts of one field share its tangent
    for param in code.params:
        argument: Any = one.arguments.get(param.name)
        shared = isinstance(argument, Part) and isinstance(argument.of, str)
        owner = argument.of if shared else param.name
        if isinstance(param, Array) and owner in pushed:
            owners[param] = owner
    temps = [t for stage in code.stages for t in stage.program.temps]
    smooth_temps = [t for t in temps if scalar_of(t.type.element) in FLOATS]
    dots = {temp: np.zeros(shape_of(temp.type.element)) for temp in smooth_temps}

    def stage(program: Any, fields: Any, numbers: Any) -> None:
        tangents = forward(primal(program), frozenset((*owners, *smooth_temps)))
        check_program(tangents.program)
        moving = {
            dot: pushed[owners[array]].reshape(fields[array].shape)  # the same memory
            if array in owners
            else dots[array]
            for array, dot in tangents.of(Dot).items()
        }
        meaning.run(tangents.program, {**fields, **moving}, numbers)

    _interpret(one, kernel, values, None, stage)
    return pushed


def _check_given(one: Program, run: Run) -> None:
    """Compare with the numbers that are known by hand."""
    for name, numbers in one.expected.items():
        np.testing.assert_allclose(
            run.after[name], numbers, rtol=2e-6, atol=1e-12, err_msg=f"{name} by hand"
        )
    for name, numbers in one.gradients.items():
        np.testing.assert_allclose(
            run.gradients[name], numbers, rtol=2e-6, atol=1e-12, err_msg=f"{name}.grad by hand"
        )


def _check_single(double: Values, single: Values, what: str) -> None:
    for name, expected in double.items():
        scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
        np.testing.assert_allclose(
            single[name], expected, rtol=2e-3, atol=2e-4 * scale, err_msg=f"{what} of {name} in f32"
        )
