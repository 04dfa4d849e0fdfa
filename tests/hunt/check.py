"""The results of a program in difftile, compared with dual numbers.

The programs of the stages, of their tangents and of their adjoints run as Python, so that
no kernel is compiled. The contents and tangents of every field are compared, and <w, J v>, by
dual numbers, with <J^T w, v>.
"""

from __future__ import annotations

import linecache
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from unittest import mock

import numpy as np
import taichi as ti

import difftile as dt
from difftile import meaning
from difftile.ad.forward import forward
from difftile.ad.reverse import reverse
from difftile.compile import stage
from difftile.diagnostics import (
    DifftileError,
    IndexOutOfRange,
    KernelError,
    NotDifferentiable,
    Race,
)
from difftile.ir.derived import After, Bar, Dot, primal
from difftile.ir.nodes import Array, Var
from difftile.ir.nodes import Program as Code
from difftile.ir.types import F64, numpy_dtype, scalar_of, shape_of, shaped
from difftile.launch import prepared_launch as launches
from difftile.launch.streams import Streams
from difftile.ops.check import check as check_code
from difftile.passes.optimise import simplify
from difftile.substrate import CompiledProgram, current_session
from tests.hunt.duals import Discard
from tests.hunt.program import Launch, Program
from tests.hunt.reference import Arrays, Reference, refer
from tests.meaning.chains import Link
from tests.meaning.checks import check_forms
from tests.meaning.derivatives import State

RELATIVE, ABSOLUTE = 1e-7, 1e-9


class Wrong(AssertionError):
    """difftile says something else than dual numbers."""


@dataclass
class Verdict:
    """The outcome of a program.

    Args:
        word: "accepted", "refused", "no adjoint" or "discarded".
        why: The reason, for all but the first.
        met: Iterations collide, according to the reference.
        race: The program was refused as a race.
    """

    word: str
    why: str = ""
    met: str = ""
    race: bool = False


@dataclass
class Ready:
    """A launch in difftile: the specialisation and its values."""

    call: Any
    values: list[Any]


@dataclass
class Made:
    """A program in difftile: its fields, and its steps with launches made ready."""

    fields: dict[str, Any]
    steps: list[Any] = field(default_factory=list[Any])
    where: dict[int, str] = field(default_factory=dict[int, str])


def names_of(program: Program, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the names of a program's module, whose text Python's tools find as they do files."""
    file = f"<hunt {program.number}>"
    lines = [line + "\n" for line in program.text.splitlines()]
    linecache.cache[file] = (len(program.text), None, lines, file)
    names: dict[str, Any] = {"__name__": f"hunted_{program.number}"}
    names |= {name: fields[name] for name in program.captured}
    exec(compile(program.text, file, "exec", dont_inherit=True), names)
    return names


def made_fields(program: Program) -> dict[str, Any]:
    """Return a field for each of a program's, and for its struct one of all members."""
    fields: dict[str, Any] = {}
    for name, given in program.fields.items():
        if given.kind == "i":
            fields[name] = dt.from_numpy(given.values)
        else:
            element = shaped(given.element, F64)
            fields[name] = dt.from_numpy(given.values, dtype=element, grad=given.graded)
    members = {name[2:]: one for name, one in fields.items() if name[:2] == "P."}
    if members:
        fields["P"] = dt.StructField(members, ())
    return fields


def arguments_of(step: Launch, fields: Mapping[str, Any]) -> list[Any]:
    """Return the arguments of a launch."""
    return [eval(text, {"ti": ti}, dict(fields)) for text in step.arguments]


def make(program: Program) -> Made:
    """Lower the kernels of a program for its launches, in order.

    Raises:
        DifftileError: It is refused.
    """
    made = Made(made_fields(program))
    names = names_of(program, made.fields)
    kernels = {
        step.kernel: dt.kernel(names[step.kernel])
        for step in program.steps
        if isinstance(step, Launch)
    }
    made.where = {id(f.storage): name for name, f in made.fields.items() if name != "P"}
    with (
        mock.patch.object(launches, "STREAMS", Streams()),
        # No kernel is compiled here, and half of the passes matter only for compiled ones.
        mock.patch.object(stage, "compiled", CompiledProgram),
    ):
        for step in program.steps:
            if not isinstance(step, Launch):
                made.steps.append(step)
                continue
            given = arguments_of(step, made.fields)
            call, values = kernels[step.kernel]._ready(tuple(given), {})
            if call.suspect is not None and call.suspect(values):
                call.check(values)
            if call.code.streams:
                call.draw_anew(values)
            made.steps.append(Ready(call, list(values)))
    return made


@dataclass
class _Stage:
    """A stage that has run: its parameters bound to contents from before it and after it."""

    code: Code
    wanted: frozenset[Array]
    numbers: dict[Var, Any]
    of: dict[Array, Any]
    before: dict[Any, np.ndarray]
    after: dict[Any, np.ndarray] = field(default_factory=dict[Any, np.ndarray])
    link: Link | None = None  # where its programs are to be compared with their forms


class Runner:
    """Runs a program as Python, forwards with tangents and backwards."""

    def __init__(self, program: Program, made: Made, directions: Arrays, thorough: bool) -> None:
        self.program, self.made, self.thorough = program, made, thorough
        self.held: dict[Any, np.ndarray] = {n: g.values.copy() for n, g in program.fields.items()}
        self.dots: dict[Any, np.ndarray] = {n: d.copy() for n, d in directions.items()}
        self.graded = set(directions)
        self.stages: list[_Stage | Any] = []

    def push(self) -> None:
        """Run all steps with tangents, and keep the values that the reverse needs."""
        for step in self.made.steps:
            if not isinstance(step, Ready):
                self.held[step.field][step.index] = step.value
                if step.field in self.dots:
                    self.dots[step.field][step.index] = 0.0
                self.stages.append(step)
                continue
            self._launch(step)

    def _launch(self, ready: Ready) -> None:
        code = ready.call.code
        bound = list(zip(code.params, ready.values, strict=True))
        numbers = {p: value for p, value in bound if isinstance(p, Var)}
        of: dict[Array, Any] = {}
        for param, value in bound:
            if isinstance(param, Array):
                key = self.made.where.get(id(value.storage), id(value.storage))
                of[param] = key
                if not isinstance(key, str):  # a hidden field, which is written before it is read
                    scalar, shape = scalar_of(param.type.element), shape_of(param.type.element)
                    self.held[key] = np.zeros(shape, numpy_dtype(scalar))
                    if scalar == F64:
                        self.held[key] += np.nan
                        self.dots[key] = np.zeros(shape)
                        self.graded.add(key)
        grads = tuple(isinstance(p, Array) and of[p] in self.graded for p in code.params)
        every = code.wanted(grads)
        for one in code.stages:
            program = one.program
            wanted = every & {p for p in (*program.params, *program.temps) if isinstance(p, Array)}
            ownership = code.passed(one, wanted)
            if ownership is not None:
                ownership.check(ready.values)
            mine = {p: key for p, key in of.items() if p in {*program.params, *program.temps}}
            ran = _Stage(program, wanted, numbers, mine, self._copy(mine))
            tangents = forward(primal(program), wanted)
            fields = {p: self.held[key] for p, key in mine.items()}
            if self.thorough:
                check_code(program)
                check_code(tangents.program)
                ran.link = self._link(one, ran)
                now = {("now", key): self.held[key].copy() for key in mine.values()}
                check_forms(primal(program), State(ran.link, now), self.program.number)
            fields |= {dot: self.dots[mine[p]] for p, dot in tangents.of(Dot).items()}
            meaning.run(tangents.program, fields, numbers)
            for (
                p,
                key,
            ) in mine.items():  # a value without a tangent has none after it was stored either
                if p not in wanted and key in self.dots and not isinstance(key, str):
                    self.dots[key][...] = 0.0
            ran.after = self._copy(mine)
            self.stages.append(ran)

    def _link(self, stage: Any, ran: _Stage) -> Link:
        shapes = {p: self.held[key].shape[: p.type.ndim] for p, key in ran.of.items()}
        return Link(stage, ran.of, shapes, ran.numbers, ran.wanted)

    def _copy(self, of: Mapping[Array, Any]) -> dict[Any, np.ndarray]:
        found = {key: self.held[key].copy() for key in of.values()}
        for array in found.values():
            array.flags.writeable = False
        return found

    def pull(self, weights: Arrays) -> Arrays:
        """Run the adjoints of all steps backwards; return the gradients.

        Raises:
            NotDifferentiable: A stage has no adjoint.
        """
        bars: dict[Any, np.ndarray] = {name: w.copy() for name, w in weights.items()}
        for ran in reversed(self.stages):
            if not isinstance(ran, _Stage):
                if ran.field in bars:
                    bars[ran.field][ran.index] = 0.0
                continue
            adjoint = reverse(ran.code, ran.wanted, read_back=self.program.number % 3 != 0)
            code = simplify(adjoint.program)
            if self.thorough:
                check_code(code)
            for p, bar in adjoint.of(Bar).items():
                bars.setdefault(ran.of[p], np.zeros(self.held[ran.of[p]].shape))
            fields = {p: ran.before[key] for p, key in ran.of.items()}
            fields |= {new: ran.after[ran.of[p]] for p, new in adjoint.of(After).items()}
            fields |= {bar: bars[ran.of[p]] for p, bar in adjoint.of(Bar).items()}
            if ran.link is not None:
                state = State(
                    ran.link,
                    {("before", key): values for key, values in ran.before.items()}
                    | {("after", key): values for key, values in ran.after.items()}
                    | {("bar", ran.of[p]): bars[ran.of[p]] for p in adjoint.of(Bar)},
                )
                derived = adjoint.with_program(code)
                check_forms(derived, state.copy(), self.program.number + 1)
            meaning.run(code, fields, ran.numbers)
        return {name: bars[name] for name in weights}


def directions_of(program: Program) -> Arrays:
    """Return the tangents that a program begins with, by field."""
    return _drawn(program, -1.0, 1.0)


def weights_of(program: Program) -> Arrays:
    """Return the adjoints that the reverse of a program begins with, by field."""
    return _drawn(program, 0.5, 1.5)


def _drawn(program: Program, low: float, high: float) -> Arrays:
    rng = np.random.default_rng(program.number)
    return {
        name: rng.uniform(low, high, given.values.shape)
        for name, given in program.fields.items()
        if given.graded
    }


def check(program: Program, *, thorough: bool = False) -> Verdict:
    """Compare a program in difftile with dual numbers.

    Args:
        program: The program.
        thorough: Compare the programs and their adjoints with their forms, too.

    Raises:
        Wrong: They differ.
    """
    directions, weights = directions_of(program), weights_of(program)
    try:
        found = refer(program, directions, current_session().seed)
    except Discard as reason:
        return Verdict("discarded", str(reason))
    try:
        made = make(program)
    except IndexOutOfRange as error:
        raise Wrong(f"refused, and no index leaves a shape: {error}") from None
    except DifftileError as error:
        return Verdict("refused", title_of(error), found.met, isinstance(error, Race))
    # Of iterations that meet, another order gives other results.
    runner = Runner(program, made, directions, thorough and not found.met)
    try:
        runner.push()
    except Race as error:
        return Verdict("refused", title_of(error), found.met, race=True)
    for name, expected in found.values.items():
        compare(f"{name} at the end", runner.held[name], expected)
    if found.cut:
        found = replace(found, tangents={name: runner.dots[name] for name in found.tangents})
    for name, expected in found.tangents.items():
        compare(f"tangent of {name}", runner.dots[name], expected)
    try:
        gradients = runner.pull(weights)
    except NotDifferentiable as error:
        return Verdict("no adjoint", title_of(error), found.met)
    compare_products(found, directions, weights, gradients)
    return Verdict("accepted", met=found.met)


def compare(what: str, found: np.ndarray, expected: np.ndarray) -> None:
    """Compare two arrays.

    Raises:
        Wrong: They differ.
    """
    scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    near = np.abs(found - expected) <= RELATIVE * scale + ABSOLUTE
    if not np.all(near):
        raise Wrong(f"{what}: {found.tolist()}, and by dual numbers {expected.tolist()}")


def compare_products(
    found: Reference, directions: Arrays, weights: Arrays, gradients: Arrays
) -> None:
    """Compare <w, J v>, by dual numbers, with <J^T w, v>.

    Raises:
        Wrong: They differ.
    """
    pushed = [weights[n] * found.tangents[n] for n in weights]
    pulled = [gradients[n] * directions[n] for n in weights]
    left, right = (sum(float(np.sum(one)) for one in side) for side in (pushed, pulled))
    scale = sum(float(np.sum(np.abs(one))) for one in (*pushed, *pulled))
    if not abs(left - right) <= RELATIVE * max(1.0, scale):
        raise Wrong(f"<J^T w, v> is {right}, and <w, J v> by dual numbers {left}")


def title_of(error: DifftileError) -> str:
    """Return the first line of an error."""
    return error.title if isinstance(error, KernelError) else str(error).partition("\n")[0]
