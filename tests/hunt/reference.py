"""A program by dual numbers: contents, tangents, and whether iterations collide."""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.hunt import funcs
from tests.hunt.duals import Discard, Dual
from tests.hunt.memory import Memory, PlainField, PlainStruct, Run
from tests.hunt.plain import Interpreter
from tests.hunt.program import Launch, Program

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Reference:
    """The results in plain Python.

    Args:
        values: Contents of the fields at the end.
        tangents: The tangents of the fields with gradients.
        met: The field in which two iterations collided, and how; else empty.
        cut: A varying value was stored in a field without a gradient. Whether its readers in the
            same iteration vary, too, is left open.
    """

    values: Arrays
    tangents: Arrays
    met: str
    cut: bool


@dataclass(frozen=True)
class _Part:
    """A field in the arguments of a launch, which may be cut."""

    memory: Memory
    places: np.ndarray

    def __getitem__(self, index: Any) -> _Part:
        return _Part(self.memory, self.places[index])


@functools.cache
def _interpreter() -> Interpreter:
    interpreter = Interpreter()
    assert funcs.__file__ is not None
    known = interpreter.execute(ast.parse(Path(funcs.__file__).read_text()), kernels=False)
    interpreter.modules[funcs.__name__] = SimpleNamespace(**known)
    return interpreter


def refer(
    program: Program,
    directions: Mapping[str, np.ndarray],
    seed: int,
) -> Reference:
    """Run a program in plain Python.

    Args:
        program: The program.
        directions: The tangents of the fields that have gradients.
        seed: The seed of random numbers.

    Raises:
        Discard: Nothing can be compared with it.
    """
    interpreter = _interpreter()
    parts: dict[str, _Part] = {}
    for name, given in program.fields.items():
        cells: list[Any]
        if given.kind == "i":
            cells = given.values.ravel().tolist()
        else:
            dots = directions[name] if given.graded else np.zeros(given.values.shape)
            pairs = zip(given.values.ravel().tolist(), dots.ravel().tolist(), strict=True)
            cells = [Dual(value, dot) for value, dot in pairs]
        memory = Memory(name, cells, given.element, given.graded)
        parts[name] = _Part(memory, np.arange(np.prod(given.shape, dtype=int)).reshape(given.shape))
    outside = {name: _field(interpreter, parts[name]) for name in program.captured}
    names = interpreter.execute(ast.parse(program.text), kernels=True, **outside)
    met = _run(program, interpreter, names, parts, seed)
    values: Arrays = {}
    tangents: Arrays = {}
    for name, given in program.fields.items():
        cells = parts[name].memory.cells
        shape = given.values.shape
        if given.kind == "i":
            values[name] = np.array(cells).reshape(shape)
            continue
        values[name] = np.array([cell.real for cell in cells]).reshape(shape)
        if given.graded:
            tangents[name] = np.array([cell.dot for cell in cells]).reshape(shape)
    cut = any(part.memory.cuts for part in parts.values())
    return Reference(values, tangents, met, cut)


def _run(
    program: Program,
    interpreter: Interpreter,
    names: Mapping[str, Any],
    parts: Mapping[str, _Part],
    seed: int,
) -> str:
    met, stream = "", 0
    for step in program.steps:
        if not isinstance(step, Launch):
            part = parts[step.field]
            part.memory.put(int(part.places[step.index]), step.value)
            continue
        interpreter.run = Run(seed, stream)
        arguments = [_argument(interpreter, parts, text) for text in step.arguments]
        try:
            names[step.kernel](*arguments)
        except (OverflowError, ZeroDivisionError):
            raise Discard("arithmetic") from None
        met = met or interpreter.run.met
        loops = max(interpreter.run.loop, interpreter.run.loops)
        stream += loops + 1 if interpreter.run.drawn else 0
    return met


def _argument(interpreter: Interpreter, parts: Mapping[str, _Part], text: str) -> Any:
    plain = {name: part for name, part in parts.items() if "." not in name}
    if text == "P":
        return PlainStruct(
            {
                name[2:]: _field(interpreter, part)
                for name, part in parts.items()
                if name[:2] == "P."
            }
        )
    found = eval(text, {"ti": interpreter.modules["taichi"]}, plain)
    return _field(interpreter, found) if isinstance(found, _Part) else found


def _field(interpreter: Interpreter, part: _Part) -> PlainField:
    return interpreter.field(part.memory, part.places)
