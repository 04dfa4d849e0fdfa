"""Random programs with several tapes, and the gradients that a model in plain Python says are left.

Tapes end at once or run backward later, once or more often, alone or while another thread has one
open; in between optimisers step, and gradients are cleared and written. After every action the
model knows each gradient, the line of the tape that it comes from, and what each tape may say of
its own: the derivative of its loss by a complex step, or an error where another write came after.

    python -m tests.several_tapes 2000 --first 0

A program depends only on its number.
"""

from __future__ import annotations

import queue
import random
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, TypeAlias

import numpy as np
import taichi as ti

import difftile as dt
from difftile.arguments import Parser, positive_int
from difftile.runtime.tape import Tape

N = 3
NAMES = "xyz"
FILE = "program.py"
ZEROS = "zeros"  # the version of all gradients of zeros
Values: TypeAlias = dict[str, Any]
Runner: TypeAlias = Callable[[Callable[[], object]], object]


@dt.kernel
def squares(x, loss):
    for i in x:
        loss[None] += x[i] * x[i]


@dt.kernel
def waves(x, y, loss):
    for i in x:
        loss[None] += sine(x[i]) * y[i]


@dt.func
def sine(x):
    return x - x * x * x / 6.0


@dt.kernel
def scale(x, y, loss):
    for i in x:
        x[i] *= 0.5 + 0.25 * y[i]


def _here(task: Callable[[], object]) -> object:
    return task()


def _sine(x: Any) -> Any:
    return x - x * x * x / 6.0


@dataclass(frozen=True)
class Term:
    """A launch on some fields."""

    kernel: str
    names: tuple[str, ...]

    def run(self, at: Values, loss: dt.Field) -> None:
        KERNELS[self.kernel](*(at[name] for name in self.names), loss)

    def refer(self, at: Values) -> Any:
        """Change the arrays as the launch does, and return what it adds to the loss."""
        some = [at[name] for name in self.names]
        if self.kernel == "scale":
            at[self.names[0]] = some[0] * (0.5 + 0.25 * some[1])
            return 0.0
        if self.kernel == "squares":
            return np.sum(some[0] * some[0])
        return np.sum(_sine(some[0]) * some[1])


KERNELS: dict[str, Callable[..., None]] = {"squares": squares, "waves": waves, "scale": scale}


@dataclass(eq=False)
class ModelTape:
    """What a tape has met, and what its passes have left."""

    line: int
    accumulate: bool
    loss: dt.Field
    tape: Tape
    start: Values = field(default_factory=dict)
    terms: list[Term] = field(default_factory=list)
    sums: Values = field(default_factory=dict)
    versions: dict[str, object] = field(default_factory=dict)
    has_run: bool = False

    def slopes(self) -> Values:
        """Return the derivative of the loss, with respect to the contents before the tape."""
        found = {}
        for name in NAMES:
            slope = found[name] = np.zeros(N)
            for i in range(N):
                at: Values = {n: array.astype(complex) for n, array in self.start.items()}
                at[name][i] += 1e-30j
                slope[i] = sum(np.imag(term.refer(at)) for term in self.terms) / 1e-30
        return found


@dataclass(eq=False)
class ModelOptimiser:
    """A gradient descent, and the gradients that it has followed."""

    names: tuple[str, ...]
    rate: float
    optimiser: Any
    versions: dict[str, object]
    passes: int


@dataclass(eq=False)
class Worker:
    """A thread that runs one action after the other."""

    tasks: queue.Queue[Callable[[], object] | None] = field(default_factory=queue.Queue)
    done: queue.Queue[BaseException | None] = field(default_factory=queue.Queue)

    def __post_init__(self) -> None:
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()

    def _work(self) -> None:
        while (task := self.tasks.get()) is not None:
            try:
                task()
            except BaseException as error:
                self.done.put(error)
            else:
                self.done.put(None)

    def run(self, task: Callable[[], object]) -> None:
        """Run an action to its end."""
        self.tasks.put(task)
        error = self.done.get(timeout=60)
        if error is not None:
            raise error


class Program:
    """One program, which is checked after each action."""

    def __init__(self, number: int) -> None:
        self.draw = random.Random(number)
        start = np.random.default_rng(number).uniform(0.5, 1.5, (len(NAMES), N))
        self.fields = {n: dt.from_numpy(v, grad=True) for n, v in zip(NAMES, start, strict=True)}
        self.losses = [dt.zeros((), ti.f64, grad=True) for _ in range(3)]
        self.values: Values = {n: v.copy() for n, v in zip(NAMES, start, strict=True)}
        self.grads: Values = {n: np.zeros(N) for n in NAMES}
        self.versions: dict[str, object] = dict.fromkeys(NAMES, ZEROS)
        self.origins: dict[str, tuple[int, bool] | None] = dict.fromkeys(NAMES)
        self.tapes: list[ModelTape] = []
        self.waiting: list[ModelTape] = []
        self.optimisers: list[ModelOptimiser] = []
        self.passes = 0
        self.line = 0
        self.text: list[str] = []
        self.workers: list[Worker] = []

    def run(self, actions: int) -> None:
        """Run the program.

        Raises:
            AssertionError: A number, a line or an outcome differs from the model.
        """
        try:
            for _ in range(actions):
                self.draw.choice(ACTIONS)(self)
                self.check()
        except BaseException as error:
            error.add_note("\n".join(self.text)) if hasattr(error, "add_note") else None
            raise
        finally:
            for worker in self.workers:
                worker.tasks.put(None)

    # Actions

    def whole_tape(self) -> None:
        """Record and run backward at once."""
        one = self.entered(self.losses[0], with_loss=True)
        self.record(one, self.terms(written=True))
        self.left(one)
        self.passed(one, 1.0)

    def open_tape(self) -> None:
        """Record what runs backward later."""
        one = self.entered(self.losses[0], with_loss=False)
        self.record(one, self.terms(written=True))
        self.left(one)
        self.waiting.append(one)

    def backward(self) -> None:
        """Run an earlier recording backward."""
        if not self.waiting:
            return
        one, keep = self.draw.choice(self.waiting), self.draw.random() < 0.4
        seed = self.draw.choice((1.0, -0.5))
        self.text.append(f"backward of line {one.line}, seed {seed}, keep={keep}")
        one.tape.backward({one.loss: seed}, keep=keep)
        self.passed(one, seed)
        if not keep:
            self.waiting.remove(one)

    def clear(self) -> None:
        """Set the gradients of some or all fields to zero."""
        names = self.draw.choice(("x", "y", "xz", NAMES))
        self.text.append(f"zero_grads({names})")
        dt.zero_grads(None if names == NAMES else [self.fields[n] for n in names])
        for name in names:
            self.wrote(name, np.zeros(N))

    def write(self) -> None:
        """Write a gradient from Python, where no recording is about to add to it."""
        name = self.draw.choice(NAMES)
        if any(term.names[0] == name for one in self.waiting for term in one.terms):
            return  # what it holds would come in from after the tape
        self.text.append(f"{name}.grad.fill(0.5)")
        self.fields[name].grad.fill(0.5)
        self.wrote(name, np.full(N, 0.5))

    def optimiser(self) -> None:
        """Make an optimiser."""
        names = tuple(sorted(self.draw.sample(NAMES, self.draw.randint(1, 3))))
        rate = self.draw.choice((0.01, 0.05))
        self.text.append(f"optimiser {len(self.optimisers)} of {names}, rate {rate}")
        made = dt.optim.SGD([self.fields[n] for n in names], lr=rate)
        versions = {n: self.versions[n] for n in names}
        self.optimisers.append(ModelOptimiser(names, rate, made, versions, self.passes))

    def step(self) -> None:
        """Move fields along their gradients; those of a pass before the last step do not count."""
        if not self.optimisers:
            return
        one = self.draw.choice(self.optimisers)
        self.text.append(f"step of {self.optimisers.index(one)}")
        one.optimiser.step()
        for name in one.names:
            if one.passes != self.passes and self.versions[name] is one.versions[name]:
                self.wrote(name, np.zeros(N))
        for name in one.names:
            self.values[name] = self.values[name] - one.rate * self.grads[name]
            one.versions[name] = self.versions[name]
        one.passes = self.passes

    def threads(self) -> None:
        """Record two tapes in two threads, in turns."""
        while len(self.workers) < 2:
            self.workers.append(Worker())
        steps = [0, 0]
        ones: list[ModelTape | None] = [None, None]
        counts = [self.draw.randint(1, 2) for _ in steps]
        while any(step < count + 2 for step, count in zip(steps, counts, strict=True)):
            k = self.draw.choice([k for k in range(2) if steps[k] < counts[k] + 2])
            self.text.append(f"thread {k}:")
            one = ones[k]
            if one is None:
                ones[k] = self.entered(self.losses[1 + k], with_loss=True, run=self.workers[k].run)
            elif steps[k] <= counts[k]:
                self.record(one, self.terms(written=False), run=self.workers[k].run)
            else:
                self.left(one, run=self.workers[k].run)
                self.passed(one, 1.0)
            self.check()
            steps[k] += 1

    # Their parts

    def terms(self, *, written: bool) -> list[Term]:
        """Draw launches, at least one of which adds to the loss."""
        found: list[Term] = []
        for last in (False, True)[self.draw.randint(0, 1) :]:
            kind = self.draw.choice(("squares", "waves") if last or not written else [*KERNELS])
            names = self.draw.sample(NAMES, 1 if kind == "squares" else 2)
            found.append(Term(kind, tuple(names)))
        return found

    def entered(
        self,
        loss: dt.Field,
        *,
        with_loss: bool,
        run: Runner = _here,
    ) -> ModelTape:
        """Open a tape at a line of its own."""
        self.line += 1
        accumulate = self.draw.random() < 0.25
        limit: Any = {"snapshots": 4} if self.draw.random() < 0.2 else {}
        tape = dt.Tape(loss if with_loss else None, accumulate=accumulate, **limit)
        code = _opening(self.line)
        run(lambda: (loss.fill(0.0), exec(code, {"tape": tape})))
        one = ModelTape(self.line, accumulate, loss, tape)
        one.start = {n: v.copy() for n, v in self.values.items()}
        self.tapes.append(one)
        self.text.append(f"line {self.line}: with Tape({accumulate=}, {limit}):")
        return one

    def record(
        self,
        one: ModelTape,
        terms: Sequence[Term],
        run: Runner = _here,
    ) -> None:
        """Launch on an open tape, which clears the gradients of what it has not met."""
        for term in terms:
            self.text.append(f"    {term.kernel}({', '.join(term.names)})")
            run(lambda term=term: term.run(self.fields, one.loss))
            for name in term.names:
                if name not in one.sums:
                    one.sums[name] = np.zeros(N)
                    if not one.accumulate:
                        self.wrote(name, np.zeros(N))
            one.terms.append(term)
            term.refer(self.values)

    def left(
        self,
        one: ModelTape,
        run: Runner = _here,
    ) -> None:
        """Leave the block of a tape."""
        run(lambda: one.tape.__exit__(None, None, None))

    def passed(self, one: ModelTape, seed: float) -> None:
        """Note a backward pass."""
        self.passes += 1
        slopes = one.slopes()
        for name in one.sums:
            is_own = one.has_run and one.versions[name] is self.versions[name]
            if self.versions[name] is ZEROS:  # of earlier passes nothing is left
                is_own, one.sums[name] = True, np.zeros(N)
            one.sums[name] = one.sums[name] + seed * slopes[name]
            self.wrote(name, self.grads[name] + seed * slopes[name])
            self.versions[name] = object()
            self.origins[name] = one.line, not is_own
            one.versions[name] = self.versions[name] if is_own else None
        one.has_run = True

    def wrote(self, name: str, values: Any) -> None:
        """Note a write to a gradient."""
        self.grads[name] = values
        self.versions[name] = object() if values.any() else ZEROS
        self.origins[name] = None

    # Checks

    def check(self) -> None:
        """Compare gradients, their lines, and what each tape says."""
        for name, one in self.fields.items():
            if not any(tape.tape._open for tape in self.tapes):
                assert np.allclose(one.to_numpy(), self.values[name], rtol=1e-12), name
            assert np.allclose(one.grad.to_numpy(), self.grads[name], rtol=1e-10, atol=1e-13), name
            found = re.search(
                r'(a sum, .*)?of the tape at "program.py", line (\d+)', repr(one.grad)
            )
            shown = None if found is None else (int(found[2]), bool(found[1]))
            assert shown == self.origins[name], (name, shown, self.origins[name])
        for tape in self.tapes:
            for name in NAMES:
                self.check_tape(tape, name)

    def check_tape(self, one: ModelTape, name: str) -> None:
        """Compare what a tape says of the gradient of a field."""
        error = ""
        try:
            found = one.tape.gradient(self.fields[name]).to_numpy()
        except dt.TapeError as raised:
            error = str(raised)
            found = None
        which = one.line, name, error
        if not one.has_run:
            assert "backward pass" in error, which
        elif found is not None:
            wanted = one.sums.get(name, np.zeros(N))
            assert np.allclose(found, wanted, rtol=1e-10, atol=1e-13), which
        elif one.versions.get(name) is None:
            assert "is a sum" in error and name in one.sums, which
        else:
            assert "changed since" in error, which
            assert one.versions[name] is not self.versions[name], which


ACTIONS: Sequence[Callable[[Program], None]] = (
    *(Program.whole_tape,) * 3,
    *(Program.open_tape, Program.backward) * 2,
    *(Program.clear, Program.write, Program.optimiser, Program.step, Program.step),
    Program.threads,
)


def _opening(line: int) -> CodeType:
    """Return code that opens a tape at a certain line."""
    return compile("\n" * (line - 1) + "tape.__enter__()", FILE, "exec")


def main(argv: list[str] | None = None) -> int:
    """Run programs and return whether one of them fails."""
    parser = Parser("python -m tests.several_tapes", __doc__)
    parser.add_argument("count", type=positive_int, help="how many programs")
    parser.add_argument("--first", type=int, default=0, help="the number of the first one")
    options = parser.parse_args(argv)
    dt.init(arch="cpu")
    for number in range(options.first, options.first + options.count):
        try:
            Program(number).run(12)
        except Exception as error:
            print(f"program {number}: {type(error).__name__}: {error}")
            print("\n".join(getattr(error, "__notes__", ())))
            return 1
    print(f"{options.count} programs")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
