"""The derived programs of a stage against complex steps, dot products and each other."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.compile.stage import PRIMAL, Adjoint, Batched, Request, Tangent, TangentOnly
from difftile.diagnostics import NotDifferentiable
from difftile.ir.derived import (
    After,
    Bar,
    Before,
    Derived,
    Dot,
    Lane,
    Logged,
    Role,
    Same,
    Scratch,
    Shape,
    Width,
)
from difftile.ir.nodes import Array, Var
from difftile.ir.types import numpy_dtype, scalar_of
from difftile.passes.batch import Unbatchable
from tests.meaning.chains import Link
from tests.meaning.meaning import (
    STEP,
    Contents,
    Memory,
    compare,
    copied,
    inner_of,
    is_smooth,
    run,
    stepped,
)

LANES = 2
DIGITS = 1e-9


@dataclass
class State:
    """The memory that a derived program of one stage may be given, by what it stands for.

    Args:
        link: The stage.
        memory: Arrays by their place: a kind, and the name of the memory of a field.
        lanes: The states of which arrays with one more axis are stacked.
    """

    link: Link
    memory: Memory
    lanes: list[State] = field(default_factory=list["State"])

    def copy(self) -> State:
        """Return a state with memory of its own."""
        return State(self.link, copied(self.memory), [lane.copy() for lane in self.lanes])

    def bind(self, derived: Derived) -> tuple[Contents, dict[Var, Any]]:
        """Return the arguments of a derived program.

        Its hidden fields are left out where they are memory of its own.
        """
        fields: Contents = {}
        numbers: dict[Var, Any] = {}
        program = derived.program
        for param in (*program.params, *program.temps):
            role = derived.role(param)
            if isinstance(param, Var):
                is_width = isinstance(role, Width)
                numbers[param] = len(self.lanes) if is_width else self.link.numbers[_number(role)]
                continue
            found = self.array(role, param)
            if found is not None:
                fields[param] = found
        return fields, numbers

    def array(self, role: Role, param: Array) -> npt.NDArray[Any] | None:
        """Return the memory for a role; None for memory of the program's own."""
        if isinstance(role, Lane):
            if _is_own(role):
                return self._own_lanes(role, param)
            found = [lane.array(role.of, param) for lane in self.lanes]
            if any(one is None for one in found):
                return None
            key = ("lane", *_place(role.of, self.link.keys))
            if key not in self.memory:
                self.memory[key] = np.stack([one for one in found if one is not None])
            return self.memory[key]
        if _is_own(role):
            return None
        place = _place(role, self.link.keys)
        if place not in self.memory:
            return None
        shape = self.link.shapes[_source(role)]
        return self.memory[place].reshape((*shape, *inner_of(_source(role))))

    def _own_lanes(self, role: Role, param: Array) -> npt.NDArray[Any] | None:
        """Return memory of a program's own, for each direction; None where it grows."""
        while isinstance(role, (Dot, Lane)):
            role = role.of
        if isinstance(role, Logged):
            return None
        assert isinstance(role, Scratch)
        outer = () if role.like is None else self.link.shapes[role.like]
        dtype = numpy_dtype(scalar_of(param.type.element))
        return np.zeros((len(self.lanes), *outer, *inner_of(param)), dtype)


def _is_own(role: Role) -> bool:
    while isinstance(role, (Dot, Lane)):
        role = role.of
    return isinstance(role, (Scratch, Logged))


def _number(role: Role) -> Var:
    assert isinstance(role, Same) and isinstance(role.param, Var)
    return role.param


def _source(role: Role) -> Array:
    match role:
        case Dot(of) | Lane(of):
            return _source(of)
        case Same(Array() as array) | Before(array) | After(array) | Bar(array) | Shape(array):
            return array
        case _:
            raise AssertionError(role)


def _place(role: Role, keys: Mapping[Array, Hashable]) -> tuple[Hashable, ...]:
    """Return the kind and the name of the memory that a role stands for."""
    match role:
        case Dot(of):
            return ("dot", *_place(of, keys))
        case Bar(array, incoming):
            return ("bar before" if incoming else "bar", keys[array])
        case Same(Array() as array):
            return ("now", keys[array])
        case After(array):
            return ("after", keys[array])
        case Before(array) | Shape(array):
            return ("before", keys[array])
        case _:
            raise AssertionError(role)


def memory_like(link: Link, memory: Memory) -> Iterator[Hashable]:
    """Yield the names of the memory of fields with derivatives."""
    yield from dict.fromkeys(link.keys[a] for a in link.keys if a in link.wanted)


def launch(derived: Derived, state: State, *, complex_step: bool = False) -> str:
    """Run a derived program on a state, in place."""
    fields, numbers = state.bind(derived)
    return run(derived.program, fields, numbers, complex_step=complex_step)


@dataclass
class Seeds:
    """The directions and weights of a check, by the name of memory."""

    directions: Memory
    weights: Memory


def drawn_seeds(link: Link, memory: Memory, seed: int) -> Seeds:
    """Draw a direction and a weight for each field with derivatives."""
    rng = np.random.default_rng(seed)
    names = dict.fromkeys(link.keys[a] for a in link.keys if a in link.wanted)
    both: tuple[Memory, Memory] = ({}, {})
    for name in names:
        both[0][name] = rng.uniform(-1, 1, memory[name].shape).astype(memory[name].dtype)
        both[1][name] = rng.uniform(0.5, 1.5, memory[name].shape).astype(memory[name].dtype)
    return Seeds(*both)


class Derivatives:
    """The derived programs of a stage at some contents.

    Args:
        link: The stage.
        memory: The contents of the fields before it, by name.
        seed: Of directions and weights.
        smooth: Whether complex steps give the derivatives here.
    """

    def __init__(self, link: Link, memory: Memory, seed: int, *, smooth: bool = True) -> None:
        self.link = link
        self.smooth = smooth
        self.before = {("before", name): values for name, values in memory.items()}
        self.seeds = drawn_seeds(link, memory, seed)
        self.others = drawn_seeds(link, memory, seed + 1)
        self.memory = memory
        self.wanted = link.wanted

    # Programs, and the state that each runs on

    def start(self) -> State:
        """The state before the stage."""
        return State(self.link, {("now", n): v.copy() for n, v in self.memory.items()})

    def pushed(self, seeds: Seeds) -> State:
        state = self.start()
        for name, values in self.memory.items():
            state.memory["dot", "now", name] = np.zeros(values.shape, _float(values))
        for name, direction in seeds.directions.items():
            state.memory["dot", "now", name] = direction.copy()
        return state

    def pulled(self, after: Memory, seeds: Seeds) -> State:
        memory: Memory = {("before", n): v.copy() for n, v in self.memory.items()}
        memory |= {("after", n): v.copy() for n, v in after.items()}
        for name, weight in seeds.weights.items():
            memory["bar", name] = weight.copy()
        return State(self.link, memory)

    def derived(self, request: Request) -> Derived | None:
        try:
            return self.link.stage.derived(request)
        except (NotDifferentiable, Unbatchable):
            return None


def _float(values: npt.NDArray[Any]) -> Any:
    return values.dtype if values.dtype.kind == "f" else np.float64


def check_stage(link: Link, memory: Memory, seed: int, *, smooth: bool, second: bool) -> Found:
    """Compare all derived programs of a stage at some contents.

    Args:
        link: The stage.
        memory: The contents before it, by name; afterwards those after it.
        seed: Of directions and weights.
        smooth: Whether complex steps give the derivatives here.
        second: Whether to compare second derivatives and batches, too.
    """
    one = Derivatives(link, memory, seed, smooth=smooth)
    start = one.start()
    plain = link.stage.derived(PRIMAL)
    assert plain is not None
    now = start.copy()
    launch(plain, now)
    after = {name: now.memory["now", name] for name in memory}
    found = Found(plain, start, after)
    if not link.wanted:
        return found
    tangent = one.derived(Tangent(link.wanted))
    state = one.pushed(one.seeds)
    if tangent is not None:
        found.programs.append(("tangents", tangent, state.copy()))
        launch(tangent, state)
        for name in memory:
            compare(state.memory["now", name], after[name], f"{name} after a program with tangents")
    dots = {name: state.memory["dot", "now", name] for name in one.seeds.directions}
    if smooth:
        for name, dot in _by_complex_step(plain, one, one.seeds).items():
            compare(dots[name], dot, f"tangent of {name}", DIGITS)
    only = one.derived(TangentOnly(link.wanted))
    if only is not None:
        late = one.pushed(one.seeds)
        late.memory |= {("now", n): v.copy() for n, v in after.items()}
        late.memory |= {("before", n): v.copy() for n, v in memory.items()}
        found.programs.append(("tangents afterwards", only, late.copy()))
        launch(only, late)
        for name, dot in dots.items():
            compare(late.memory["dot", "now", name], dot, f"tangent of {name}, afterwards", DIGITS)
    adjoint = one.derived(Adjoint(link.wanted))
    back = one.pulled(after, one.seeds)
    if adjoint is not None:
        found.programs.append(("adjoint", adjoint, back.copy()))
        launch(adjoint, back)
        if smooth:
            check_product(one.seeds, dots, {n: back.memory["bar", n] for n in dots})
    if second:
        _check_batches(one, after)
        if adjoint is not None and smooth:
            _check_second(one, adjoint, after, dots)
    return found


@dataclass
class Found:
    """The programs of a stage, each with a state to run it on."""

    primal: Derived
    start: State
    after: Memory
    programs: list[tuple[str, Derived, State]] = field(default_factory=list)


def check_product(seeds: Seeds, dots: Memory, bars: Memory) -> None:
    """Compare <w, J v> with <J^T w, v>."""
    pushed = [seeds.weights[n] * dots[n] for n in dots]
    pulled = [bars[n] * seeds.directions[n] for n in dots]
    left, right = (sum(float(np.sum(part)) for part in side) for side in (pushed, pulled))
    scale = sum(float(np.sum(np.abs(part))) for part in (*pushed, *pulled))
    assert abs(left - right) <= DIGITS * max(1.0, scale), f"<w, J v> {left} <J^T w, v> {right}"


def _by_complex_step(plain: Derived, one: Derivatives, seeds: Seeds) -> Memory:
    state = one.start()
    for (kind, name), values in [*state.memory.items()]:
        if values.dtype.kind == "f":
            state.memory[kind, name] = stepped(values, seeds.directions.get(name))
    launch(plain, state, complex_step=True)
    return {name: state.memory["now", name].imag / STEP for name in seeds.directions}


def _check_batches(one: Derivatives, after: Memory) -> None:
    """Compare programs for several directions with the programs for one."""
    wanted = one.wanted
    for request in (Tangent(wanted), TangentOnly(wanted), Adjoint(wanted)):
        single = one.derived(request)
        many = None if single is None else one.derived(Batched(request))
        if single is None or many is None:
            continue
        lanes: list[State] = []
        for seeds in (one.seeds, one.others):
            if isinstance(request, Adjoint):
                lanes.append(one.pulled(after, seeds))
                continue
            lane = one.pushed(seeds)
            if isinstance(request, TangentOnly):
                lane.memory |= {("now", n): v.copy() for n, v in after.items()}
                lane.memory |= {("before", n): v.copy() for n, v in one.memory.items()}
            lanes.append(lane)
        wide = State(one.link, copied(lanes[0].memory), [lane.copy() for lane in lanes])
        launch(many, wide)
        for number, lane in enumerate(lanes):
            launch(single, lane)
            for (kind, *place), values in wide.memory.items():
                if kind == "lane":
                    what = f"{place} of direction {number} in a batch"
                    compare(
                        values[number],
                        lane.memory[tuple(place)].reshape(values[number].shape),
                        what,
                        DIGITS,
                    )


def _check_second(one: Derivatives, adjoint: Derived, after: Memory, dots: Memory) -> None:
    """Compare the tangents of an adjoint with a complex step through it."""
    inputs = [
        p
        for p in adjoint.program.arrays
        if is_smooth(p) and (_is_own(role := adjoint.role(p)) or _source(role) in one.wanted)
    ]
    state = one.pulled(after, one.seeds)
    moving: Memory = {}
    for name, dot in dots.items():
        moving["before", name] = one.seeds.directions[name]
        moving["after", name] = dot
        moving["bar", name] = one.others.directions[name]
    expected = state.copy()
    for place, values in [*expected.memory.items()]:
        if values.dtype.kind == "f":
            expected.memory[place] = stepped(values, moving.get(place))
    launch(adjoint, expected, complex_step=True)
    request = Tangent(frozenset(inputs), Adjoint(one.wanted))
    tangent = one.derived(request)
    if tangent is not None:
        both = state.copy()
        both.memory |= {("dot", *place): values.copy() for place, values in moving.items()}
        launch(tangent, both)
        for name in dots:
            bar_dot = expected.memory["bar", name].imag / STEP
            compare(
                both.memory["dot", "bar", name],
                bar_dot,
                f"tangent of the adjoint of {name}",
                DIGITS,
            )
    only = one.derived(TangentOnly(frozenset(inputs), Adjoint(one.wanted)))
    if only is not None:
        late = state.copy()
        launch(adjoint, late)
        late.memory |= {("dot", *place): values.copy() for place, values in moving.items()}
        late.memory |= {("bar before", n): w.copy() for n, w in one.seeds.weights.items()}
        launch(only, late)
        for name in dots:
            bar_dot = expected.memory["bar", name].imag / STEP
            compare(
                late.memory["dot", "bar", name],
                bar_dot,
                f"tangent of the adjoint of {name}, afterwards",
                DIGITS,
            )
