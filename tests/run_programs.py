"""Random programs whose launches repeat, run fused and unfused: both must show Python the same.

A program is a tree of actions on a few fields: launches in loops, exactly periodic or almost, and
all that Python does between them. Whatever Python sees is noted, so that two runs of a program can
be compared: every value read, every gradient, error and warning, and what fields hold in the end.

    python -m tests.run_programs 5000 --first 0

Every program depends only on a number; a failing one is shown in its shortest form.
"""

from __future__ import annotations

import random
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import difftile as dt
from difftile.arguments import Parser, positive_int
from difftile.fields.recording import RECORDING
from difftile.launch.streams import STREAMS
from difftile.runtime.tape import Tape
from difftile.substrate import current_session
from tests.fusing import FORMS, fused_as, fusing
from tests.run_actions import (
    GRADED,
    NAMES,
    OF_KIND,
    READS,
    Action,
    Copy,
    Elsewhere,
    Host,
    Inside,
    Launch,
    Loop,
    Number,
    Planned,
    Raise,
    Read,
    Refused,
    Renew,
    Resize,
    Result,
    Swap,
    Taped,
    TapeLength,
    World,
    Write,
    Zero,
)
from tests.run_kernels import STEPS
from tests.tape_ops import HOST_OPS

LONGEST = 400  # launches
HOWS = ("for", "repeat", "repeat")
SAME_PERIODS = 40  # programs in a row that repeat the same few periods, as compiling takes longest
PERIODS = 3


@dataclass(frozen=True)
class Program:
    """A program.

    Args:
        number: The seed of the program and of the values of fields.
        double: Whether its floats are doubles.
        sizes: The sizes of its fields.
        actions: What it does.
    """

    number: int
    double: bool
    sizes: tuple[int, int, int, int]
    actions: tuple[Action, ...]


# Drawing


def draw(number: int) -> Program:
    """Return the program of a number."""
    rng = random.Random(number)
    group = random.Random(f"periods {number // SAME_PERIODS}")
    double = group.random() < 0.6
    drawing = Drawing(rng, [draw_period(group) for _ in range(PERIODS)])
    sizes = _sizes(rng)
    actions = tuple(drawing.outer() for _ in range(rng.choice((1, 2, 2, 3, 4))))
    while _length(actions) > LONGEST:
        actions = actions[1:] or (drawing.outer(),)
    return Program(number, double, sizes, actions)


def _sizes(rng: random.Random) -> tuple[int, int, int, int]:
    n = rng.choice((1, 2, 3, 5, 8, 17, 40))
    return n, rng.randint(1, n), rng.choice((1, 2, 3, 5, 9)), rng.choice((1, 2, 4, 7))


def _length(actions: Sequence[Action]) -> int:
    found = 0
    for action in actions:
        inner = getattr(action, "actions", None)
        found += 1 if inner is None else getattr(action, "times", 1) * _length(inner)
    return found


def draw_period(rng: random.Random) -> tuple[Action, ...]:
    """Return launches that make a step, perhaps with fields that swap roles after them."""
    known = list(STEPS)
    launches: list[Action] = [
        draw_launch(rng, rng.choice(known)) for _ in range(rng.choice((1, 1, 2, 2, 3, 4, 5)))
    ]
    kind = rng.random()
    if kind < 0.35:
        launches.append(Swap(*rng.sample(rng.choice(("ab", "abc", "pqr", "pq", "kl", "uv")), 2)))
        if kind < 0.1:
            launches.append(Swap(*rng.sample(rng.choice(("abc", "pqr")), 2)))
    elif kind < 0.5:  # roles by the parity of the step
        launches = [_turning(rng, one) if isinstance(one, Launch) else one for one in launches]
    return tuple(launches)


def draw_launch(rng: random.Random, name: str) -> Launch:
    """Return a launch of a kernel."""
    spec = STEPS[name]
    while True:
        fields = tuple(rng.choice(OF_KIND[kind]) for kind in spec.kinds)
        apart = [fields[k] for k in spec.apart]
        if len(set(apart)) == len(apart):
            break
    numbers = tuple(_number(rng, kind) for kind in spec.numbers)
    part: Any = None
    if spec.kinds in ("n", "nk") and rng.random() < 0.25:
        part = rng.choice((slice(1, None), slice(None, None, 2), slice(None, None, -1), "flat"))
        part = rng.choice((part, part, "sliding"))
    elif spec.kinds in ("n", "nn", "u", "s") and rng.random() < 0.08:
        part = "grad"
    return Launch(name, fields, numbers, part)


def _number(rng: random.Random, kind: str) -> Number:
    how = rng.choice(("same", "same", "same", "ramp", "turn", "late", "once"))
    if kind == "int":  # 1 suits fields of any size; others are refused now and then
        if how in ("ramp", "wrap"):
            return Number("wrap", rng.randint(0, 3), rng.choice((1, 2, 3)))
        return Number(how, 1, rng.choice((1, 1, 2, 5)), rng.choice((1, 3, 4, 7)))
    if kind == "static":
        return Number(how if how in ("turn", "late") else "same", 2, 3, rng.choice((1, 3, 4)))
    if kind == "bool":
        return Number(how if how in ("turn", "late") else "same", True, False, rng.choice((1, 4)))
    if kind == "vector":
        a, b = ([round(rng.uniform(-1, 1), 3) for _ in range(2)] for _ in range(2))
        return Number(how if how in ("turn", "late") else "same", a, b, rng.choice((1, 3, 4)))
    if rng.random() < 0.06:
        return Number("turn", 0.0, -0.0)
    a, b = round(rng.uniform(-1, 1), 3), round(rng.uniform(-1, 1), 3)
    if rng.random() < 0.06:
        return Number("turn", a, np.float64(a))
    return Number(how, a, 0.01 * b if how == "ramp" else b, rng.choice((1, 3, 4, 7)))


def _turning(rng: random.Random, launch: Launch) -> Launch:
    """Return a launch of which the fields of one kind change roles with the step."""
    pair = rng.choice(("ab", "bc", "pq", "pr"))
    turned = {pair[0]: pair, pair[1]: pair[::-1]}
    return replace(launch, fields=tuple(turned.get(f, f) for f in launch.fields))


class Drawing:
    """Draws what is around periods.

    Args:
        rng: The source.
        periods: The periods.
    """

    def __init__(self, rng: random.Random, periods: Sequence[tuple[Action, ...]]) -> None:
        self.rng = rng
        self.periods = periods

    def outer(self) -> Action:
        """Return an action of the program itself."""
        kind = self.rng.random()
        if kind < 0.5:
            return self.taped()
        if kind < 0.58:
            inner = (*self.several(1, deep=False), self.taped(), *self.several(1, deep=False))
            return Inside(self.rng.choice(("caught", "raised")), inner)
        if kind < 0.64:
            return Resize(_sizes(self.rng))
        if kind < 0.7:  # tapes in a loop
            period = self.rng.choice(self.periods)
            return Loop((*period, replace(self.taped(), actions=period)), 4)
        return self.action(deep=True)

    def taped(self) -> Taped:
        """Return a stretch on a tape."""
        rng = self.rng
        limits: tuple[tuple[str, Any], ...] = ()
        kind = rng.random()
        if kind < 0.25:
            limits = (("memory", rng.choice((3, 3.5, 4, 6, 10, 20, 50))),)
        elif kind < 0.4:
            limits = (("snapshots", rng.choice((3, 4, 5, 8, 20))),)
        elif kind < 0.45:
            limits = ((rng.choice(("measure", "measure", "diagnose")), True),)
        return Taped(
            actions=self.several(rng.randint(1, 4), deep=True),
            limits=limits,
            accumulate=rng.random() < 0.2,
            after=self.several(rng.choice((0, 0, 0, 1)), deep=False),
            passes=tuple(
                tuple(rng.sample(GRADED, rng.randint(1, 3)))
                for _ in range(rng.choice((0, 1, 1, 1, 1, 2)))
            ),
            between=self.several(rng.choice((0, 0, 1)), deep=False),
            retain=tuple(rng.sample(GRADED, rng.choice((0, 0, 0, 1, 2)))),
            loss=rng.choice("kl") if rng.random() < 0.15 else "",
        )

    def several(self, count: int, *, deep: bool) -> tuple[Action, ...]:
        """Return several actions."""
        return tuple(self.action(deep=deep) for _ in range(count))

    def action(self, *, deep: bool) -> Action:
        """Return an action that may stand anywhere."""
        rng = self.rng
        if rng.random() < 0.65:
            return self.loop(deep=deep)
        if deep and rng.random() < 0.3:
            how = rng.choice(("no_grad", "checkpoint", "caught", "raised"))
            return Inside(how, self.several(rng.randint(1, 2), deep=False))
        return self.single()

    def loop(self, *, deep: bool) -> Loop:
        """Return a loop over a period, or over loops."""
        rng = self.rng
        period = rng.choice(self.periods)
        times = rng.choice((2, 3, 4, 5, 6, 7, 8, 11, 12, 25))
        kind = rng.random()
        if kind < 0.25 and all(isinstance(a, Swap) or _is_plain(a) for a in period):
            inner = rng.choice(self.periods)
            if rng.random() < 0.3 and all(isinstance(a, Swap) or _is_plain(a) for a in inner):
                loop = Loop(inner, rng.choice((2, 3, 5, 9)))
                return Loop((*period, loop), rng.choice((2, 4, 7)), (), rng.choice(HOWS))
            return Loop(period, times, (), rng.choice(HOWS))
        if deep and kind < 0.35:  # substeps
            inner = Loop(rng.choice(self.periods), rng.choice((2, 3, 4)))
            return Loop((*period, inner), rng.choice((2, 4, 5)))
        if kind < 0.42:  # another period in the middle, and back
            first, second = rng.choice(self.periods), rng.choice(self.periods)
            return Loop((Loop(first, times), Loop(second, rng.choice((1, 3, 5)))), 2)
        if kind < 0.5:  # a read or a write at every step
            return Loop((*period, self.single()), times)
        odd: tuple[tuple[int, Action], ...] = ()
        if rng.random() < 0.6:
            steps = sorted(rng.sample(range(times), min(times, rng.choice((1, 1, 2)))))
            odd = tuple((step, self.single()) for step in steps)
        return Loop(period, times, odd)

    def single(self) -> Action:
        """Return what Python does once."""
        rng = self.rng
        name = rng.choice(NAMES)
        kind = rng.random()
        if kind < 0.3:
            return Read(name, rng.choice((*READS, "grad")))
        if kind < 0.45:
            return Write(name, rng.choice(("fill", "clear", "from_numpy", "part", "element")))
        if kind < 0.55:
            return draw_launch(rng, rng.choice(list(STEPS)))
        if kind < 0.62:
            pair = rng.sample(rng.choice(("abc", "abcw", "pqr", "kl", "uv")), 2)
            return Copy(*pair, part=pair[0] in "abcuv" and rng.random() < 0.3)
        if kind < 0.72:
            ways = ("new", "new", "collected", "graded", "attached", "bare", "bare", "same")
            return Renew(rng.choice(GRADED), rng.choice(ways))
        if kind < 0.77:
            return Refused(rng.choice(("index", "missing", "kind")))
        if kind < 0.82:
            return Result(rng.choice("abc"))
        if kind < 0.87:
            op = rng.choice(list(HOST_OPS))
            return Host(op, tuple(rng.sample("abc", HOST_OPS[op].count)))
        if kind < 0.9:
            return Swap(*rng.sample(rng.choice(("abc", "pqr", "kl", "uv")), 2))
        if kind < 0.93:
            return Zero(rng.choice(("", rng.choice(GRADED))))
        if kind < 0.96:
            ways = (Read(name, "to_numpy"), Write(name, "fill"), draw_launch(rng, "update"))
            return Elsewhere(rng.choice(ways))
        if kind < 0.98:
            return TapeLength()
        return Raise()


def _is_plain(action: Action) -> bool:
    return isinstance(action, Launch) and action.is_plain


# Checking


class Wrong(AssertionError):
    """A program of which a fused run shows something else than an unfused one."""


def observe(
    program: Program, mode: object, *, explicit: bool = False, nudge: float = 0.0
) -> list[tuple[str, Any]]:
    """Run a program; return all that Python sees of it.

    Args:
        program: The program.
        mode: What `dt.init` takes as `fuse`.
        explicit: Whether loops that can be are written with `dt.steps` and `dt.repeat`.
        nudge: How far the numbers that go in are moved, relative to them.
    """
    world = World(
        program.sizes, program.double, np.random.default_rng(program.number), nudge, explicit
    )
    pool = current_session().pool
    kept = pool.kept
    with fusing(mode), STREAMS.given_back(), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for name in NAMES:
            world.at[name] = world.make(name)
        try:
            for action in program.actions:
                world.do(action)
        except Planned:
            world.see("raised", "")
        finally:
            _close()
        world.show(NAMES)
    for one in warned:
        world.see("warning", f"{one.category.__name__} {one.lineno} {one.message}")
    if pool.kept != kept:
        world.see("memory", f"{pool.kept - kept} bytes are not given back")
    return world.seen


def _close() -> None:
    """Leave a tape that an exception may have left open."""
    tape = RECORDING.get().recorder
    if isinstance(tape, Tape):
        tape.__exit__(None, None, None)
        raise Wrong("a tape is still open")


def check(program: Program, *, explicit: bool) -> None:
    """Compare a fused run of a program with an unfused one.

    Their number chooses the form in which programs are fused: small fields take only one of them.

    Raises:
        Wrong: They differ.
    """
    wanted = observe(program, False)
    with fused_as(FORMS[program.number // SAME_PERIODS % len(FORMS)]):
        found = observe(program, "always", explicit=explicit)
    moved: list[tuple[str, Any]] | None = None
    # The log of a loop may take more than is left, in a stretch that only one of the runs has.
    if any("to reverse its loop takes" in str(value) for _, value in (*wanted, *found)):
        return
    # A tape within limits may need to run launches again only where they are not fused.
    if any("runs its launches again, in the midst" in str(value) for _, value in wanted):
        return
    for k, (what, value) in enumerate(wanted):
        if k >= len(found):
            raise Wrong(f"seen {k} things, then not {what}: {value}")
        what_found, value_found = found[k]
        if what != what_found:
            raise Wrong(f"{k}: seen {what_found} {value_found}, not {what} {value}")
        if _is_same(value, value_found):
            continue
        if isinstance(value, (str, int)) or np.shape(value) != np.shape(value_found):
            raise Wrong(f"{k}: {what}: {value_found}, not {value}")
        if moved is None:
            moved = observe(program, False, nudge=_rounding(program))
        if not _is_near(value, value_found, moved, k, _rounding(program)):
            raise Wrong(f"{k}: {what} is {value_found}, not {value}")
    if len(found) > len(wanted):
        raise Wrong(f"{len(wanted)}: seen {found[len(wanted)]} besides")


def _rounding(program: Program) -> float:
    """Return the distance of neighbouring numbers around 1."""
    return 2.2e-16 if program.double else 1.2e-7


def _is_same(wanted: Any, found: Any) -> bool:
    if isinstance(wanted, np.ndarray):
        return np.array_equal(wanted, found, equal_nan=wanted.dtype.kind == "f")
    return wanted == found


def _is_near(
    wanted: Any, found: Any, moved: Sequence[tuple[str, Any]], k: int, rounding: float
) -> bool:
    """Tell whether two values differ by rounding.

    A fused program may evaluate the same formulas in another order (fast math does so wherever it
    compiles loops together), which changes the last bits of each result. How these grow is up to
    the program, of which some are chaotic: an unfused run with its input moved by one rounding
    tells. A hundred such moves are as many steps as most programs have.
    """
    if np.asarray(wanted).dtype.kind != "f":
        return False
    wanted, found = np.asarray(wanted, float), np.asarray(found, float)
    if not np.array_equal(np.isfinite(wanted), np.isfinite(found)):
        return False
    finite = np.isfinite(wanted)
    size = max(1.0, float(np.max(np.abs(wanted[finite]), initial=0.0)))
    grown = np.inf
    if (
        k < len(moved)
        and np.shape(moved[k][1]) == wanted.shape
        and not isinstance(moved[k][1], str)
    ):
        other = np.asarray(moved[k][1], float)
        if np.array_equal(np.isfinite(other), finite):
            grown = float(np.max(np.abs(other - wanted)[finite], initial=0.0))
    apart = float(np.max(np.abs(found - wanted)[finite], initial=0.0))
    return apart <= 100 * rounding * size + 100 * grown


# Failures


def fails(program: Program, *, explicit: bool) -> str:
    """Return the fault of a program, or an empty text."""
    try:
        check(program, explicit=explicit)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = "" if isinstance(error, Wrong) else f" ({last.filename}, line {last.lineno})"
        return f"{type(error).__name__}: {error}{where}"
    return ""


def shortest(program: Program, *, explicit: bool) -> Program:
    """Return a program that still fails, with as little left in it as possible."""
    shorter = True
    while shorter:
        shorter = False
        for option in _shorter(program):
            if fails(option, explicit=explicit):
                program, shorter = option, True
                break
    return program


def _shorter(program: Program) -> Iterator[Program]:
    for actions in _fewer(program.actions):
        yield replace(program, actions=actions)
    if program.sizes != (2, 1, 2, 2):
        yield replace(program, sizes=(2, 1, 2, 2))


def _fewer(actions: tuple[Action, ...]) -> Iterator[tuple[Action, ...]]:
    for k in range(len(actions)):
        yield actions[:k] + actions[k + 1 :]
    for k, action in enumerate(actions):
        head, tail = actions[:k], actions[k + 1 :]
        if isinstance(action, (Loop, Inside, Taped)):
            yield head + action.actions + tail
            for name in ("actions", "after", "between"):
                for fewer in _fewer(getattr(action, name, ())):
                    yield (*head, replace(action, **{name: fewer}), *tail)
        if isinstance(action, Loop):
            if action.times > 1:
                for times in {action.times // 2, action.times - 1}:
                    yield (*head, replace(action, times=times), *tail)
            for n in range(len(action.odd)):
                odd = action.odd[:n] + action.odd[n + 1 :]
                yield (*head, replace(action, odd=odd), *tail)
        if isinstance(action, Taped):
            for simple in ({"limits": ()}, {"retain": ()}, {"accumulate": False}, {"loss": ""}):
                option = replace(action, **simple)
                if option != action:
                    yield (*head, option, *tail)
            if len(action.passes) > 1:
                yield (*head, replace(action, passes=action.passes[:-1]), *tail)
        if isinstance(action, Launch) and action.part is not None:
            yield (*head, replace(action, part=None), *tail)


def run(
    numbers: Sequence[int], report: Callable[[str], object] = print, *, shrink: bool = True
) -> list[int]:
    """Check programs; report the wrong ones and return their numbers.

    Each runs with loops over `range`, and once more over `dt.steps` and with `dt.repeat`.
    """
    wrong: list[int] = []
    for number in numbers:
        program = draw(number)
        for explicit in (False, True):
            said = fails(program, explicit=explicit)
            if said:
                wrong.append(number)
                small = shortest(program, explicit=explicit) if shrink else program
                form = ", with dt.steps" if explicit else ""
                report(
                    f"program {number}{form}: {said}\n"
                    f"  shortest: {fails(small, explicit=explicit)}\n  {small}"
                )
                break
    return wrong


def main(argv: Sequence[str] | None = None) -> int:
    """Check many programs; return 1 if one is wrong."""
    parser = Parser("python -m tests.run_programs", __doc__)
    parser.add_argument("count", type=positive_int, help="how many programs")
    parser.add_argument("--first", type=int, default=0, help="the first of them; default: 0")
    parser.add_argument("--whole", action="store_true", help="show wrong programs as drawn")
    options = parser.parse_args(argv)
    dt.init(arch="cpu")
    started = time.perf_counter()
    numbers = range(options.first, options.first + options.count)
    wrong = run(numbers, lambda text: print(text, flush=True), shrink=not options.whole)
    seconds = time.perf_counter() - started
    print(f"{options.count} programs in {seconds:.0f} s, {len(wrong)} of them wrong: {wrong[:20]}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
