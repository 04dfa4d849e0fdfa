"""What random programs of repeated launches do: actions of Python on a few fields.

Each action changes a `World` and notes in it what Python sees.
"""

from __future__ import annotations

import copy
import gc
import random
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import taichi as ti

import difftile as dt
from tests.run_kernels import NO_STEPS, STEPS, total
from tests.run_loops import loop_text, run_loop
from tests.tape_ops import HOST_OPS

GRADED = "abcmuvtklpqr"
NAMES = (*GRADED, "w", "g", "h")
OF_KIND = {
    "n": "abc",
    "m": "m",
    "k": "kl",
    "u": "uv",
    "t": "t",
    "g": "g",
    "w": "w",
    "h": "h",
    "s": "pqr",
}


class Planned(Exception):
    """An exception of the user's program."""


@dataclass
class World:
    """One run of a program.

    Args:
        sizes: The elements of a long field, of a short one, and of a grid.
        double: Whether floats are doubles.
        values: Draws what fields hold.
        nudge: How far numbers that go in are moved, relative to them.
        explicit: Whether loops are written with `dt.steps` and `dt.repeat`.

    Attributes:
        at: The fields by their present names.
        seen: What Python has seen so far.
        step: The number of the step in the innermost loop.
        tape: The open tape.
        nudges: Draws how far numbers of launches are moved.
    """

    sizes: tuple[int, int, int, int]
    double: bool
    values: np.random.Generator
    nudge: float
    explicit: bool
    at: dict[str, Any] = field(default_factory=dict[str, Any])
    seen: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])
    step: Any = 0
    tape: dt.Tape | None = None
    nudges: random.Random = field(default_factory=lambda: random.Random(0))

    @property
    def element(self) -> Any:
        """The type of floats."""
        return ti.f64 if self.double else ti.f32

    def see(self, what: str, value: Any) -> None:
        """Note what Python sees."""
        self.seen.append((what, value))

    def make(self, name: str) -> Any:
        """Return a new field for a name."""
        n, short, rows, columns = self.sizes
        if name == "g":
            return dt.from_numpy(self.values.integers(0, n, n).astype(np.int32))
        if name == "h":
            return dt.from_numpy(self.values.integers(0, 17, n).astype(np.int32))
        shape: tuple[int, ...] = (n,)
        kind: Any = self.element
        if name in "kl":
            shape = ()
        elif name == "m":
            shape = (short,)
        elif name in "pqr":
            shape = (rows, columns)
        elif name in "uv":
            kind = dt.vec(2, self.element)
        elif name == "t":
            kind = dt.mat(2, 2, self.element)
        made = dt.field(kind, shape, grad=name in GRADED)
        made.from_numpy(self.drawn(made.to_numpy().shape))
        return made

    def drawn(self, shape: tuple[int, ...]) -> Any:
        """Return random numbers for a field or a part of one."""
        drawn = self.values.uniform(-1, 1, shape)
        shift = self.values.normal(size=shape)  # drawn always, so that all runs draw the same
        drawn = drawn * (1.0 + self.nudge * shift)
        return drawn if self.double else drawn.astype(np.float32)

    def moved(self, number: Any) -> Any:
        """Return a number of a launch; floats are moved as initial values are."""
        if not self.nudge or not isinstance(number, float):
            return number
        return number * (1.0 + self.nudge * self.nudges.gauss(0.0, 1.0))

    def do(self, action: Action) -> None:
        """Run an action, and note the error that it raises."""
        try:
            action.run(self)
        except dt.DifftileError as error:
            self.see(f"error of {type(action).__name__}", f"{type(error).__name__}: {error}")

    def show(self, names: Sequence[str]) -> None:
        """See the contents of fields, and their gradients."""
        for name in names:
            one = self.at[name]
            self.see(name, one.to_numpy())
            if one.has_grads:
                self.see(f"{name}.grad", one.grad.to_numpy())


@dataclass(frozen=True)
class Number:
    """A number of a launch, as it depends on the step.

    Args:
        how: "same"; "ramp" and "wrap", arithmetic on the step; "turn", "late" and "once", which
            Python selects.
        a: Its value, or the first one.
        b: What changes it, or the other one.
        when: From which step on it is another one.
    """

    how: str
    a: Any
    b: Any = 0
    when: int = 0

    def at(self, step: Any) -> Any:
        """Return the number at a step."""
        if self.how == "ramp":
            return self.a + self.b * step
        if self.how == "wrap":
            return 1 + (self.a + step) % self.b
        if self.how == "turn":
            return (self.a, self.b)[step % 2]
        if self.how == "late":
            return self.b if step >= self.when else self.a
        if self.how == "once":
            return self.b if step == self.when else self.a
        return self.a

    @property
    def text(self) -> str:
        """The number as an expression of the step."""
        formulas = {
            "ramp": f"{self.a!r} + {self.b!r} * i",
            "wrap": f"1 + ({self.a} + i) % {self.b}",
        }
        return formulas.get(self.how, repr(self.a))

    @property
    def is_arithmetic(self) -> bool:
        """Whether Python does not look at the step."""
        return self.how in ("same", "ramp", "wrap")


@dataclass(frozen=True)
class Launch:
    """A launch of a kernel.

    Args:
        name: The kernel.
        fields: Their names; of two letters one is meant, by the parity of the step.
        numbers: The numbers that follow.
        part: A part of the first field; or "sliding" for one that moves from step to step, "flat"
            for another shape, "grad" for the gradient.
    """

    name: str
    fields: tuple[str, ...]
    numbers: tuple[Number, ...] = ()
    part: Any = None

    def run(self, world: World) -> None:
        fields = [world.at[f if len(f) == 1 else f[world.step % 2]] for f in self.fields]
        if isinstance(self.part, slice):
            fields[0] = fields[0][self.part]
        elif self.part == "flat":
            fields[0] = fields[0].view(-1)
        elif self.part == "sliding":
            fields[0] = fields[0][world.step % 3 :]
        elif self.part == "grad" and fields[0].has_grads:
            fields[0] = fields[0].grad
        STEPS[self.name].launch(*fields, *(world.moved(n.at(world.step)) for n in self.numbers))

    @property
    def text(self) -> str:
        """The launch as a statement."""
        first, *others = self.fields
        if isinstance(self.part, slice):
            first = (
                f"{first}[{self.part.start or ''}:{self.part.stop or ''}:{self.part.step or ''}]"
            )
        elif self.part == "flat":
            first = f"{first}.view(-1)"
        given = ", ".join((first, *others, *(number.text for number in self.numbers)))
        return f"K[{self.name!r}].launch({given})"

    @property
    def is_plain(self) -> bool:
        """Whether `dt.repeat` can follow it."""
        return (
            self.name not in NO_STEPS
            and self.part not in ("grad", "sliding")
            and all(len(f) == 1 for f in self.fields)
            and all(n.is_arithmetic for n in self.numbers)
        )


@dataclass(frozen=True)
class Refused:
    """A launch that is refused: an index leaves a field, a field is missing, or of another kind."""

    how: str

    def run(self, world: World) -> None:
        if self.how == "index":
            STEPS["overwrite_part"].launch(world.at["a"], world.at["b"], world.sizes[0] + 3)
        elif self.how == "missing":
            STEPS["update"].launch(world.at["a"])
        else:
            STEPS["update"].launch(world.at["a"], world.at["g"])


@dataclass(frozen=True)
class Result:
    """A result of a launch."""

    name: str

    def run(self, world: World) -> None:
        world.see("result", float(total(world.at[self.name])))


@dataclass(frozen=True)
class Host:
    """A call of a custom op."""

    name: str
    fields: tuple[str, ...]

    def run(self, world: World) -> None:
        HOST_OPS[self.name].op(*(world.at[f] for f in self.fields))


@dataclass(frozen=True)
class Swap:
    """Two names change places."""

    one: str
    other: str

    def run(self, world: World) -> None:
        at = world.at
        at[self.one], at[self.other] = at[self.other], at[self.one]

    @property
    def text(self) -> str:
        """The swap as a statement."""
        return f"{self.one}, {self.other} = {self.other}, {self.one}"


@dataclass(frozen=True)
class Read:
    """Python reads a field."""

    name: str
    how: str

    def run(self, world: World) -> None:
        one = world.at[self.name]
        if self.how == "grad":
            found = one.grad.to_numpy() if one.has_grads else None
        else:
            found = READS[self.how](one)
        world.see(f"{self.how} of {self.name}", found)


READS: dict[str, Callable[[Any], Any]] = {
    "to_numpy": lambda x: x.to_numpy(),
    "asarray": np.asarray,
    "element": lambda x: np.array(x[(0,) * len(x.shape)]),
    "part": lambda x: x[1:].to_numpy() if len(x.shape) == 1 and x.shape[0] > 1 else x.to_numpy(),
    "view": lambda x: x.view(-1).to_numpy(),
    "copy": lambda x: copy.copy(x).to_numpy(),
    "detached": lambda x: x.detach().to_numpy(),
    "float": lambda x: float(x.to_numpy().reshape(-1)[0]),
    "repr": repr,
}


@dataclass(frozen=True)
class Write:
    """Python writes a field, or a part of it."""

    name: str
    how: str

    def run(self, world: World) -> None:
        one = world.at[self.name]
        shape, inner = one.shape, inner_shape(self.name)
        if self.name in "gh":
            one.fill(0 if self.how != "from_numpy" else 1 % max(1, world.sizes[0]))
        elif self.how == "fill":
            one.fill(0.25)
        elif self.how == "clear":
            one.clear()
        elif self.how == "from_numpy":
            one.from_numpy(world.drawn((*shape, *inner)))
        elif self.how == "part" and len(shape) == 1 and shape[0] > 1:
            one[1:] = 0.5
        else:
            one[(0,) * len(shape)] = world.drawn(inner)


def inner_shape(name: str) -> tuple[int, ...]:
    """Return the shape of an element of a field."""
    return (2,) if name in "uv" else (2, 2) if name == "t" else ()


@dataclass(frozen=True)
class Copy:
    """One field, or a part of it, is copied into another."""

    target: str
    source: str
    part: bool = False

    def run(self, world: World) -> None:
        target, source = world.at[self.target], world.at[self.source]
        if self.part and target.shape[0] > 1:
            target[1:].copy_from(source[:-1])
        else:
            target.copy_from(source)


@dataclass(frozen=True)
class Renew:
    """A name is given another field: a new one, one with a new gradient, or an alias of another."""

    name: str
    how: str

    def run(self, world: World) -> None:
        at = world.at
        if self.how == "new":
            del at[self.name]
            at[self.name] = world.make(self.name)
        elif self.how == "collected":
            del at[self.name]
            gc.collect()
            at[self.name] = world.make(self.name)
        elif self.how == "graded":
            at[self.name] = at[self.name].with_grads()
        elif self.how == "attached" and at[self.name].has_grads:
            at[self.name].grad_out = at[self.name].grad_in = dt.zeros_like(at[self.name].grad)
        elif self.how == "bare":
            at[self.name] = at[self.name].detach()
        elif self.how == "same":
            others = [n for kind in OF_KIND.values() if self.name in kind for n in kind]
            at[self.name] = at[others[(others.index(self.name) + 1) % len(others)]]


@dataclass(frozen=True)
class Resize:
    """All fields are made anew, with other shapes."""

    sizes: tuple[int, int, int, int]

    def run(self, world: World) -> None:
        world.sizes = self.sizes
        for name in NAMES:
            world.at[name] = world.make(name)


@dataclass(frozen=True)
class Zero:
    """Gradients are set to zero: of a field, or with an empty name of all."""

    name: str

    def run(self, world: World) -> None:
        if self.name:
            dt.zero_grads(world.at[self.name])
        else:
            dt.zero_grads([world.at[n] for n in GRADED])


@dataclass(frozen=True)
class Elsewhere:
    """Another thread does it."""

    action: Read | Write | Launch

    def run(self, world: World) -> None:
        thread = threading.Thread(target=world.do, args=(self.action,))
        thread.start()
        thread.join()


@dataclass(frozen=True)
class TapeLength:
    """Python looks at the open tape."""

    def run(self, world: World) -> None:
        if world.tape is not None:
            world.see("launches", world.tape.summary().split(",")[0])


def _names(action: Action) -> tuple[str, ...]:
    if isinstance(action, Launch):
        return action.fields
    if isinstance(action, Loop):
        return tuple(name for one in action.actions for name in _names(one))
    return (action.one, action.other) if isinstance(action, Swap) else ()


@dataclass(frozen=True)
class Loop:
    """Actions that are repeated.

    Args:
        actions: The actions.
        times: How often.
        odd: Actions at some steps only.
        how: "for", or where all actions are plain "repeat".
    """

    actions: tuple[Action, ...]
    times: int
    odd: tuple[tuple[int, Action], ...] = ()
    how: str = "for"

    def run(self, world: World) -> None:
        outer = world.step
        try:
            if self.how == "for":
                for step in (dt.steps if world.explicit else range)(self.times):
                    world.step = step
                    for action in self.actions:
                        world.do(action)
                    for when, action in self.odd:
                        if when == step:
                            world.do(action)
            else:
                run_loop(self.text, self.times, world.at, explicit=world.explicit)
        finally:
            world.step = outer

    @property
    def text(self) -> str:
        """The loop as a function of its own."""
        return loop_text(sorted(set(_names(self))), self.lines())

    def lines(self) -> list[str]:
        """Return the lines of the body; of an inner loop, which has an `i` of its own, the loop."""
        found: list[str] = []
        for action in self.actions:
            if isinstance(action, Loop):
                found.append(f"for i in steps({action.times}):")
                found += [f"    {line}" for line in action.lines() or ["pass"]]
                found.append("i = outer")
            elif isinstance(action, (Launch, Swap)):
                found.append(action.text)
        return found


@dataclass(frozen=True)
class Inside:
    """Actions inside a block.

    Args:
        how: "no_grad", "checkpoint", "caught" or "raised": the block ends with an exception.
        actions: The actions.
    """

    how: str
    actions: tuple[Action, ...]

    def run(self, world: World) -> None:
        if self.how == "no_grad":
            with dt.no_grad():
                self._run(world)
        elif self.how == "checkpoint":
            dt.checkpoint(self._run)(world)
        else:
            try:
                self._run(world)
                if self.how == "raised":
                    raise Planned
            except Planned:
                world.see("caught", self.how)

    def _run(self, world: World) -> None:
        for action in self.actions:
            world.do(action)


@dataclass(frozen=True)
class Raise:
    """The user's program raises."""

    def run(self, world: World) -> None:
        raise Planned


@dataclass(frozen=True)
class Taped:
    """Actions on a tape, and backward passes.

    Args:
        actions: Actions on the tape.
        limits: Arguments of the tape; its memory in units of all fields together.
        accumulate: Whether gradients are added to their previous values.
        after: Actions between the block and the backward pass.
        passes: For each pass the outputs that have seeds.
        between: Actions between two passes.
        retain: Fields that keep the gradient with respect to their last contents.
        loss: The field whose gradient is computed as the block ends; empty for none.
    """

    actions: tuple[Action, ...]
    limits: tuple[tuple[str, Any], ...]
    accumulate: bool
    after: tuple[Action, ...]
    passes: tuple[tuple[str, ...], ...]
    between: tuple[Action, ...]
    retain: tuple[str, ...]
    loss: str = ""

    def run(self, world: World) -> None:
        state = sum(world.at[name].nbytes for name in NAMES)
        limits = {k: int(v * state) if k == "memory" else v for k, v in self.limits}
        loss = world.at[self.loss] if self.loss else None
        tape = dt.Tape(loss, accumulate=self.accumulate, **limits)
        outer, world.tape = world.tape, tape
        try:
            with tape:
                for action in self.actions:
                    world.do(action)
        finally:
            world.tape = outer
        world.see("length", len(tape))
        if self.loss:
            world.show(GRADED)
            return
        for action in self.after:
            world.do(action)
        for number, outputs in enumerate(self.passes):
            if number:
                for action in self.between:
                    world.do(action)
            written = {one.storage for one in tape.written}
            known = [n for n in GRADED if world.at[n].storage in written]
            names = [n for n in outputs if n in known] or known[:1]
            if not names:
                break
            tape.backward(
                {world.at[n]: world.drawn((*world.at[n].shape, *inner_shape(n))) for n in names},
                keep=number + 1 < len(self.passes),
                retain=[world.at[n] for n in self.retain],
            )
            world.show(GRADED)
        if "memory" in limits and not self.after and tape.peak_nbytes > limits["memory"]:
            world.see("too much", f"{tape.peak_nbytes} bytes of {limits['memory']}")


Action: TypeAlias = (
    Launch
    | Refused
    | Result
    | Host
    | Swap
    | Read
    | Write
    | Copy
    | Renew
    | Resize
    | Zero
    | Elsewhere
    | TapeLength
    | Loop
    | Inside
    | Raise
    | Taped
)
