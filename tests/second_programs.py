"""Second and third derivatives of random programs, against differences of those below.

`python -m tests.second_programs FIRST LAST` tries many.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import difftile as dt
from difftile.linearization.derivatives import pull_parts, push, push_parts, push_pull
from difftile.linearization.pullback import Pullback
from difftile.passes.batch import Unbatchable
from tests.broken_passes import break_off
from tests.tape_programs import GRADED, SHAPES, Program, draw, fields_of, values_of

# A branch has kinks, and these have a backward in NumPy that reads what the fields held.
LEFT_OUT = ("branch", "bell", "normalise")


def suits(program: Program) -> bool:
    """Tell whether all second derivatives of a program are to be had."""
    return not any(name in repr(program.actions) for name in LEFT_OUT)


def check(program: Program) -> bool:
    """Compare second derivatives with differences, and batches with single directions.

    Returns:
        Whether the program is smooth enough to be compared.
    """
    start, rng = values_of(program.number)
    seeds = {n: rng.normal(size=SHAPES[n]) for n in GRADED}
    towards = {n: rng.normal(size=SHAPES[n]) for n in GRADED}

    def stretch(step: float) -> tuple[Pullback, dict[str, Any]]:
        moved = {n: v + step * towards[n] if n in towards else v for n, v in start.items()}
        fields = fields_of(program, moved)
        at = dict(fields)

        def run() -> None:
            for action in program.actions:
                action.run(at)

        return Pullback(run), fields

    def gradient(step: float) -> Any:
        linear, fields = stretch(step)
        bars = linear.pull({fields[n]: s for n, s in seeds.items()}, [fields[n] for n in GRADED])
        found = np.concatenate([bars[fields[n]].to_numpy().ravel() for n in GRADED])
        linear.release()
        return found

    linear, fields = stretch(0.0)
    wrt = [fields[n] for n in GRADED]
    outputs: dict[Any, Any] = {fields[n]: s for n, s in seeds.items()}
    break_off(linear, outputs, wrt, np.random.default_rng((3, program.number)).uniform())
    moves = {fields[n]: t for n, t in towards.items()}
    bars, bent = push_pull(linear, moves, outputs, {}, wrt)
    first = np.concatenate([bars[one].to_numpy().ravel() for one in wrt])
    second = np.concatenate([bent[one].to_numpy().ravel() for one in wrt])
    np.testing.assert_allclose(first, gradient(0.0), rtol=1e-11, atol=1e-11)
    _batches(linear, wrt, outputs, np.random.default_rng(program.number))
    linear.release()
    return _agrees(second, gradient) and _third(stretch, seeds, towards, rng)


def _agrees(found: Any, below: Callable[[float], Any]) -> bool:
    """Compare a derivative with differences; return whether the program is smooth enough."""
    slopes: list[Any] = []
    for h in (2e-4, 4e-4):
        near, far = below(h) - below(-h), below(2 * h) - below(-2 * h)
        slopes.append((8 * near - far) / (12 * h))
    noise = np.max(np.abs(slopes[0] - slopes[1]))
    size = 1.0 + np.max(np.abs(slopes[0]))
    if not noise < 1e-6 * size:
        return False
    np.testing.assert_allclose(found, slopes[0], rtol=0, atol=1e-8 * size + 4 * noise)
    return True


def _third(
    stretch: Callable[[float], tuple[Pullback, dict[str, Any]]],
    seeds: dict[str, Any],
    towards: dict[str, Any],
    rng: np.random.Generator,
) -> bool:
    """Compare tangents along two directions, and those of cotangents, with differences."""
    other = {n: rng.normal(size=SHAPES[n]) for n in GRADED}

    def derivatives(step: float, *, mixed: bool) -> Any:
        linear, fields = stretch(step)
        wrt = [fields[n] for n in GRADED]
        outputs: dict[Any, Any] = {fields[n]: s for n, s in seeds.items()}
        moves: list[dict[Any, Any]] = [{}, {fields[n]: t for n, t in other.items()}]
        if mixed:
            moves.append({fields[n]: t for n, t in towards.items()})
        part = 3 if mixed else 1
        dots = push_parts(linear, moves, wrt)[part]
        bars = _arrays(pull_parts(linear, moves, [outputs], wrt)[part])
        linear.release()
        return np.concatenate([one.ravel() for each in (dots, bars) for one in each.values()])

    return _agrees(derivatives(0.0, mixed=True), lambda step: derivatives(step, mixed=False))


def _batches(linear: Pullback, wrt: list[Any], outputs: dict[Any, Any], rng: Any) -> None:
    """Compare products for three directions at once with products for one."""
    some = [one for one in wrt if rng.integers(2)] or wrt[:1]
    several = {one: rng.normal(size=(3, *one.to_numpy().shape)) for one in some}
    ways = (
        (
            lambda: push(linear, several, wrt, 3),
            lambda t: push(linear, t, wrt),
        ),
        (
            lambda: linear.pull_many(several, wrt, 3),
            lambda t: _arrays(linear.pull(t, wrt)),
        ),
        (
            lambda: _arrays(push_pull(linear, several, outputs, {}, wrt, 3)[1]),
            lambda t: _arrays(push_pull(linear, t, outputs, {}, wrt)[1]),
        ),
    )
    for together, alone in ways:
        try:
            found = together()
        except Unbatchable:
            continue
        for k in range(3):
            wanted = alone({one: values[k] for one, values in several.items()})
            for field in wrt:
                size = 1.0 + np.max(np.abs(wanted[field]))
                np.testing.assert_allclose(
                    found[field][k], wanted[field], rtol=0, atol=1e-11 * size
                )


def _arrays(found: dict[Any, Any]) -> dict[Any, Any]:
    return {one: values.to_numpy() for one, values in found.items()}


def main(first: int, last: int) -> int:
    """Check programs, and print the failures; return how many there are."""
    failed, compared = 0, 0
    for number in range(first, last):
        program = draw(number)
        if not suits(program):
            continue
        try:
            compared += check(program)
        except Exception as error:
            failed += 1
            print(f"{number}: {type(error).__name__}: {str(error)[:600]}\n{program.actions}")
    print(f"{compared} compared, {failed} failed")
    return failed


if __name__ == "__main__":
    dt.init(arch="cpu")
    arguments: Sequence[str] = sys.argv[1:]
    sys.exit(main(int(arguments[0]), int(arguments[1])) > 0)
