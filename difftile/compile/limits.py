"""The check of a launch before it runs: of the indices and divisors that its integers decide.

Bounds decide nearly always (`passes/index_bounds`). Where they do not, the tests of the kernel are
run: as Python, or compiled where there are many iterations. What was found holds for a box of
integers, and is found once for each; shapes and integers that were checked are remembered.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from types import CodeType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from difftile.compile.arguments import Argument
from difftile.compile.compiled import compiled
from difftile.diagnostics import DivisionByZero, IndexOutOfRange, IntegerTooLarge, KernelError
from difftile.ir.failures import BadIndex, TooLarge, ZeroDivisor
from difftile.ir.nodes import Array, Fail, For, Program, Var, While
from difftile.ir.types import integer_limits, numpy_dtype, scalar_of
from difftile.ir.walk import walk, without_stmts
from difftile.meaning.run import globals_of
from difftile.meaning.text import Printed, print_python
from difftile.passes.bounds import confine
from difftile.passes.dce import dce
from difftile.passes.index_bounds import UNCOUNTED, Doubt, doubts
from difftile.passes.known_indices import UNKNOWN, KnownIndices, once
from difftile.records import dataclass
from difftile.schedule.work import Work, work_of
from difftile.substrate import LOCK, CompiledProgram, current_session

_MOST = 1024  # sets of integers that are remembered
_FEW = 50_000  # iterations that run as Python, in some 50 ms; compiling takes 100 to 300
_OFTEN = 64  # sets of integers, until compiled tests are run: four, where bounds do not decide
# Around an integer, in which bounds are sought for later launches: first in all of its type.
_RADII = (2**64, 2**20, 2**10)

Test: TypeAlias = Callable[[Sequence[Argument]], bool]


@dataclass(frozen=True)
class Conditions:
    """Launches with the same fields that need no check.

    Args:
        box: By the position of a number, the first integer that it may be, and that after the last.
        sums: Conditions on several numbers, as Python text; the values of a launch are `v`.
        is_none: No launch is known to need none.
    """

    box: Mapping[int, tuple[int, int]]
    sums: tuple[str, ...] = ()
    is_none: bool = False

    @cached_property
    def test(self) -> Test:
        """A test whether a launch has to be checked: Python text, as it often runs."""
        parts = [f"{low} <= v[{k}] < {high}" for k, (low, high) in self.box.items()]
        parts += self.sums
        scope: dict[str, Any] = {}
        exec(_TEST.format(" and ".join(parts) or not self.is_none), scope)
        return scope["suspect"]


_ALWAYS, _NEVER = Conditions({}), Conditions({}, is_none=True)
_TEST = """
def suspect(v):
    try:
        return not ({})
    except (ArithmeticError, ValueError):  # of a branch that is not taken
        return True
"""


class Found(NamedTuple):
    """An index that leaves its shape in a launch.

    Args:
        doubt: What was expected.
        values: The index and the shape, in an iteration that leaves it.
    """

    doubt: Doubt
    values: tuple[int, ...]

    def error(self) -> IndexOutOfRange | IntegerTooLarge | DivisionByZero:
        """Return the error; it shows the indices of the whole loop where these are known."""
        fail, half = self.doubt.fail, len(self.values) // 2
        if isinstance(fail.failure, ZeroDivisor):
            return DivisionByZero(fail.span, fail.failure.operation, refused=True)
        if isinstance(fail.failure, TooLarge):
            return IntegerTooLarge(fail.span, fail.failure.what, self.values[0], refused=True)
        shape = self.values[half:]
        index: list[tuple[int, int] | None] = []
        parts = zip(fail.values, self.values, self.doubt.ends, shape, strict=False)
        for value, at, ends, size in parts:
            low, high = ends
            shown = 0 <= low <= high < size if 0 <= at < size else at in ends
            index.append(None if value == UNKNOWN else ends if shown else (at, at))
        assert isinstance(fail.failure, BadIndex)
        return IndexOutOfRange(fail.span, fail.failure.what, shape, tuple(index))


class Limits:
    """The test of a kernel's indices.

    Args:
        tests: The tests.
        position: The position of each parameter among the values of a launch.
    """

    def __init__(self, tests: KnownIndices, position: Mapping[Array | Var, int]) -> None:
        self._program = tests.program
        self._params = [param for param in tests.program.params if isinstance(param, Var)]
        self._places: list[tuple[int, int | None]] = []
        for param in self._params:
            size = tests.sizes.get(param)
            self._places.append((position[param], None) if size is None else _place(size, position))
        self._checked: dict[tuple[int, ...], Found | IntegerTooLarge | None] = {}
        self._conditions: dict[tuple[int | None, ...], Conditions] = {}
        self._parts: dict[frozenset[int], _Tests] = {}
        self._decided = 0

    @cached_property
    def _all(self) -> _Tests:
        """All tests; few kernels need them."""
        return _Tests(once(self._program))

    @cached_property
    def _work(self) -> Work:
        """The bounds of loops."""
        return work_of(self._program)

    def check(self, values: Sequence[Argument]) -> None:
        """Check a launch.

        Raises:
            IndexOutOfRange: The launch would reach outside a shape.
            IntegerTooLarge: An index or a bound of a loop does not fit 32 bits.
            DivisionByZero: It would divide an integer by zero.
        """
        found = self._outside(values)
        if found is not None:
            raise found.error() if isinstance(found, Found) else found.with_traceback(None)

    def leaves(self, values: Sequence[Argument]) -> bool:
        """Tell whether a launch would reach outside a shape."""
        return self._outside(values) is not None

    def _outside(self, values: Sequence[Argument]) -> Found | IntegerTooLarge | None:
        given = self._given(values)
        if given not in self._checked:
            found = self._decide(given)
            if len(self._checked) >= _MOST:
                self._checked.clear()
            self._checked[given] = found
        return self._checked[given]

    def _given(self, values: Sequence[Any]) -> tuple[int, ...]:
        return tuple(
            [values[k] if axis is None else values[k].shape[axis] for k, axis in self._places]
        )

    def _decide(self, given: tuple[int, ...]) -> Found | IntegerTooLarge | None:
        """Return a failure of a launch, if there is one."""
        self._decided += 1
        often = self._decided > _OFTEN and current_session().compiles
        if often and self._all.launch(given) is None:
            return None
        in_doubt, turns = doubts(self._program, dict(zip(self._params, given, strict=True)))
        if not in_doubt:
            return None
        self._decided += _OFTEN // 4
        # An integer that is too large wraps around, and what follows from it means nothing.
        too_large = [one for one in in_doubt if isinstance(one.fail.failure, TooLarge)]
        found = self._tested(too_large, given, turns) if too_large else None
        return found or self._wrapped(given) or self._tested(in_doubt, given, turns)

    def _wrapped(self, given: tuple[int, ...]) -> IntegerTooLarge | None:
        """Return the error of a bound of a loop that wraps around, if one does."""
        try:
            self._work.check(self._work.key(given), flat=False, from_zero=True)
        except IntegerTooLarge as error:
            return error
        except KernelError:  # too many iterations, which is found when the kernel runs
            return None
        return None

    def _tested(
        self, in_doubt: Sequence[Doubt], given: tuple[int, ...], turns: float
    ) -> Found | None:
        """Return one of some failures that happens in a launch, if one does."""
        tests = self._only(frozenset(id(one.fail) for one in in_doubt))
        if turns > _FEW:  # in all; these tests need fewer loops, perhaps
            _, turns = doubts(tests.program, dict(zip(self._params, given, strict=True)))
        failure = tests.failure(given, turns)
        if failure is None:
            return None
        fail, values = failure  # compiling copies statements
        found = (one for one in in_doubt if one.fail.span == fail.span and one.may_be(values))
        return Found(next(found, in_doubt[0]), values)

    def _only(self, fails: frozenset[int]) -> _Tests:
        """Return some of the tests."""
        if fails not in self._parts:
            keep = without_stmts(
                self._program.body, lambda stmt: isinstance(stmt, Fail) and id(stmt) not in fails
            )
            self._parts[fails] = _Tests(once(dce(replace(self._program, body=keep))))
        return self._parts[fails]

    def conditions(self, values: Sequence[Argument], varying: Collection[int]) -> Conditions:
        """Return which launches with the same fields need no check, after one that was checked.

        Args:
            values: The values of that launch.
            varying: The positions of numbers that may be others next time.
        """
        given = self._given(values)
        numbers = [(k, place) for k, (place, axis) in enumerate(self._places) if axis is None]
        own = [k for k, place in numbers if place in varying]
        if not own:
            return _ALWAYS
        fixed = tuple([None if k in own else n for k, n in enumerate(given)])
        known = self._conditions.get(fixed)
        if known is not None and (known.is_none or not known.test(values)):
            return known
        if len(self._conditions) >= _MOST:
            self._conditions.clear()
        found = (self._around(given, own, radius) for radius in _RADII)
        self._conditions[fixed] = next((one for one in found if one is not None), _NEVER)
        return self._conditions[fixed]

    def _around(self, given: tuple[int, ...], own: Sequence[int], radius: int) -> Conditions | None:
        """Return conditions on integers around a launch's values; None if none are known."""
        box: dict[int, tuple[int, int]] = {}
        within: dict[Var, tuple[int, int]] = {}
        for k in own:
            ends = _ends(self._params[k])
            low, high = max(ends[0], given[k] - radius), min(ends[1], given[k] + radius)
            within[self._params[k]] = low, high - 1
            if (low, high) != ends:
                box[self._places[k][0]] = low, high
        names = {self._params[k]: f"v[{self._places[k][0]}]" for k in own}
        own_of = {name: k for k, name in zip(own, names.values(), strict=True)}
        sums: list[str] = []
        exact = dict(zip(self._params, given, strict=True))
        found, _ = doubts(self._program, exact, within, names)
        for one in found:
            if one.needs is None or any(need.now < 0 for need in one.needs):
                return None
            for need in one.needs:
                constant, terms = need.form.constant, [*need.form.factors.items()]
                own_one = own_of.get(terms[0][0]) if len(terms) == 1 else None
                if own_one is not None:
                    place = self._places[own_one][0]
                    low, high = box.get(place, _ends(self._params[own_one]))
                    factor = terms[0][1]
                    if factor > 0:
                        low = max(low, -(constant // factor))
                    else:
                        high = min(high, constant // -factor + 1)
                    box[place] = low, high
                elif terms:
                    sums.append(f"{need.text} >= 0")
        return Conditions(box, tuple(dict.fromkeys(sums)))


def _ends(param: Var) -> tuple[int, int]:
    """Return the first integer that a parameter may be, and that after the last."""
    low, high = integer_limits(scalar_of(param.type))
    return low, high + 1


def _place(size: tuple[Array, int], position: Mapping[Array | Var, int]) -> tuple[int, int]:
    array, axis = size
    return position[array], axis


# Tests that are run

_Failure: TypeAlias = tuple[Fail, tuple[int, ...]]


class _Exhausted(Exception):
    """There are too many iterations."""


class _Tests:
    """Tests that bounds do not decide.

    Args:
        program: The tests.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self._program = program = confine(program)  # a vector's index may be outside as well
        loops = [stmt for stmt in walk(program.body) if isinstance(stmt, (For, While))]
        self._carries = any(loop.carries for loop in loops)

    def failure(self, given: Sequence[int], turns: float) -> _Failure | None:
        """Return a test that fails, and its values.

        Args:
            given: The parameters.
            turns: At most how many iterations there are.
        """
        if self._python is None:
            return self.launch(given)
        if turns <= _FEW or not current_session().compiles:
            return self._run(*self._python, given)
        if not self._carries:  # an index that leaves its shape nearly always does so at an end
            found = self._run(*self._python, given, ends=True)
            if found is not None:
                return found
        if turns >= UNCOUNTED:
            with suppress(_Exhausted):
                return self._run(*self._python, given, _FEW)
        return self.launch(given)

    @cached_property
    def _python(self) -> tuple[Printed, CodeType] | None:
        """The tests as Python; None where loops are nested too deeply for Python."""
        printed = print_python(self._program, counted=True)
        try:
            return printed, compile(printed.text, "<indices>", "exec", dont_inherit=True)
        except SyntaxError:
            return None

    def _run(
        self,
        printed: Printed,
        code: CodeType,
        given: Sequence[int],
        most: float = math.inf,
        *,
        ends: bool = False,
    ) -> _Failure | None:
        """Return a test that fails, by Python.

        Args:
            printed: The tests.
            code: Their code.
            given: The parameters.
            most: How many iterations may run.
            ends: Run the first and the last iteration of each loop only.

        Raises:
            _Exhausted: No test failed in so many iterations.
        """
        found: dict[int, tuple[int, ...]] = {}  # of each test the values that are farthest outside
        left = most

        def turns(start: int, stop: int) -> NDArray[np.int32]:
            nonlocal left
            start, stop = int(start), int(stop)  # differences of NumPy's integers may wrap around
            count = stop - start
            if ends:
                return np.arange(start, stop, max(1, count - 1), dtype=np.int32)
            left -= max(0, count)
            if left < 0:
                raise _Exhausted
            return np.arange(start, stop, dtype=np.int32)

        def fail(number: int, *values: Any) -> None:
            nonlocal left
            left = min(left, _FEW)  # what is farthest outside is only shown
            given = tuple(map(int, values))
            if number not in found or _distance(given) > _distance(found[number]):
                found[number] = given

        names = globals_of(fail) | {"turns": turns, "turn": lambda: len(turns(0, 1)) > 0}
        exec(code, names)
        typed = (
            numpy_dtype(scalar_of(param.type)).type(n)
            for param, n in zip(self._program.params, given, strict=True)
            if isinstance(param, Var)
        )
        with np.errstate(all="ignore"):
            try:
                names[printed.function](*typed)
            except _Exhausted:
                if not found:
                    raise
        for number, values in found.items():
            return printed.fails[number], values
        return None

    @cached_property
    def _compiled(self) -> CompiledProgram:
        return compiled(self._program)

    def launch(self, given: Sequence[int]) -> _Failure | None:
        """Return a test that fails, compiled."""
        numbers = dict(zip(self._program.params, given, strict=True))
        with LOCK:
            code = self._compiled
            found = code.first_failure([numbers[param] for param in code.params])
        return None if found is None else (found[0], tuple(map(int, found[1])))


def _distance(values: Sequence[int]) -> int:
    """Return how far an index, which a shape of as many numbers follows, is outside."""
    half = len(values) // 2
    pairs = zip(values[:half], values[half:], strict=True)
    return max((max(-i, i - n + 1) for i, n in pairs), default=0)
