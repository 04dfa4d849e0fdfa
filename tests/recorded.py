"""The record of emitted texts whose machine code has passed, so that few are compiled again.

While tests run, programs go to a `Recorded` compile. A text that is in the record runs by the
meaning of its program; any other is compiled. So a change of the library compiles what it changes.
Compiled all the same is what one test in twelve launches, drawn by the hash of HEAD, and what those
launch that are marked `compiled`; in tier 1 the first text with each op and statement; launches
that would take long in Python; and programs that print or report.

`pytest --record` adds the texts that tests compile and pass; with `--no-record` as well it
compiles all and writes the record anew. There is one file for each compiler and version.
Processes that tests start find their part in `VARIABLE`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from difftile.ir.nodes import Array, Fail, Print, Program, Var
from difftile.ir.walk import walk
from difftile.meaning import run
from difftile.schedule.speed import Speed
from difftile.schedule.work import Work, work_of
from difftile.substrate import LOCK, CompiledProgram, chosen, compiler, current_session
from difftile.substrate.backend import Launcher
from difftile.substrate.emit import Emitted
from difftile.substrate.memory import Buffer

FOLDER = Path(__file__).parent / "record"
VARIABLE = "DIFFTILE_TEST_RECORD"
ONE_IN = 12  # of the tests compiles all that it launches

# The elementary steps that take Python about as long as a compiler takes for a usual kernel.
_LONG = 100_000

# What a text has of the language: ops, types, statements, and how loops run.
_PARTS = re.compile(
    r"\b(?:ti|accurate|dense|linalg|predicates|vector_math|warps)\.[\w.]+"
    r"|\b(?:while|for|if|else|break|continue|return|and|or|not)\b"
    r"|@\S+|[-+*/%&|^<>=~]+"
)

_WIDTH = 10  # hexadecimal digits of a text in the record: 40 bits for some ten thousand texts


def key_of(emitted: Emitted, *, as_written: bool) -> str:
    """Return the entry of a text, with all else that its machine code depends on."""
    session = current_session()
    types = sorted((name, str(type_)) for name, type_ in emitted.annotations.items())
    whole = (emitted.text, types, emitted.least_ndim, as_written, session.fast_math, session.debug)
    return hashlib.blake2b(repr(whole).encode(), digest_size=_WIDTH // 2).hexdigest()


def compiler_name() -> str:
    """Return the name and version of the compiler, which name the record."""
    return f"{chosen()}-{metadata.version(chosen())}"


def read(name: str) -> frozenset[str]:
    """Return the record of a compiler, which is empty if nobody has made it."""
    file = FOLDER / f"{name}.txt"
    return frozenset(file.read_text().split()) if file.exists() else frozenset()


def write(name: str, keys: Iterable[str]) -> None:
    """Write the record of a compiler."""
    FOLDER.mkdir(exist_ok=True)
    lines = sorted(set(keys))
    (FOLDER / f"{name}.txt").write_text("\n".join(lines) + "\n")


@dataclass
class Counts:
    """How the programs of a run were run: by machine code, or by their meaning."""

    compiled: int = 0
    recorded: int = 0


@dataclass
class Recorded:
    """A compile that leaves out the texts of the record, where the present test may.

    Args:
        compile: The compile of a backend.
        known: The record.
        sink: Where a process that a test has started writes the texts that it compiles.
        compiles: Whether the present test compiles all that it launches.
        each: Whether the first text with each part of the language is compiled.
        test: The number of the present test.
    """

    compile: Callable[..., Launcher]
    known: frozenset[str]
    sink: Path | None = None
    compiles: bool = False
    each: bool = False
    test: int = 0
    seen: set[str] = field(default_factory=set)
    counts: Counts = field(default_factory=Counts)
    noted: set[str] = field(default_factory=set)

    def __call__(
        self, emitted: Emitted, of: Program, params: tuple[Array | Var, ...], **given: Any
    ) -> Launcher:
        """Return a launcher, compiled or not; the arguments are those of `backend.Compile`."""
        key = key_of(emitted, as_written=given["as_written"])

        def compiled() -> Launcher:
            self.counts.compiled += 1
            self.noted.add(key)
            self.seen.update(_PARTS.findall(emitted.text))
            if self.sink is not None:
                (self.sink / key).touch()
            return self.compile(emitted, of, params, **given)

        is_new = self.each and not self.seen.issuperset(_PARTS.findall(emitted.text))
        on_device = not current_session().on_host  # whose memory Python does not write
        if key not in self.known or is_new or on_device or _speaks(of):
            return compiled()
        return ByMeaning(self, of, params, tuple(given["written"]), compiled)


def install(known: frozenset[str], sink: Path | None = None) -> Recorded:
    """Let the programs of this process go through a record, and return that."""
    backend: Any = compiler.backend()
    made = Recorded(backend.compile, known, sink)
    compiler._loaded["backend"].BACKEND = replace(backend, compile=made)
    CompiledProgram.reduced = _reduced
    return made


def _reduced(self: CompiledProgram, *given: Any) -> Any:
    """Return reduced code only where it is compiled: the meaning of a program writes all."""
    found = _REDUCED(self, *given)
    if found is None:
        return None
    launcher = getattr(found.launcher, "_launcher", found.launcher)  # with memory of its own
    return None if isinstance(launcher, ByMeaning) else found


_REDUCED = CompiledProgram.reduced


def hand_on(record: Recorded) -> None:
    """Let processes that are started later call `install_as_handed_on`."""
    sink = None if record.sink is None else str(record.sink)
    given = {"known": bool(record.known), "compiles": record.compiles, "sink": sink}
    os.environ[VARIABLE] = json.dumps(given)


def install_as_handed_on() -> Recorded:
    """Let the programs of this process go through the record of the one that has started it."""
    given = json.loads(os.environ.get(VARIABLE, "{}"))
    known = read(compiler_name()) if given.get("known") else frozenset[str]()
    sink = given.get("sink")
    return install(known, None if sink is None else Path(sink))


def compiles_now() -> bool:
    """Tell, in the process of a test or in one it starts, whether the test compiles all."""
    return json.loads(os.environ.get(VARIABLE, "{}")).get("compiles", True)


def _speaks(program: Program) -> bool:
    """Tell whether a program prints, or reports failures to the session."""
    return current_session().debug or any(
        isinstance(stmt, (Print, Fail)) for stmt in walk(program.body)
    )


class ByMeaning:
    """A launcher that runs the meaning of a program, and its code where the test compiles all.

    A test that launches much goes on with the code. What a test runs never depends on the tests
    before it, since machine code and Python may round in different ways.
    """

    def __init__(
        self,
        record: Recorded,
        program: Program,
        params: tuple[Array | Var, ...],
        written: tuple[int, ...],
        compiled: Callable[[], Launcher],
    ) -> None:
        self._record = record
        self._program = program
        self._params = params
        self._written = written
        self._compiled = compiled
        self._code: Launcher | None = None
        self._work: Work = work_of(program, Speed(False, False, ()), [])
        self._amounts: dict[tuple[Any, ...], float] = {}
        self._test = -1
        self._done = 0.0  # steps in the present test
        if record.compiles:
            self._code = compiled()

    def launch(self, args: Sequence[Any]) -> None:
        """Run on buffers and numbers, one for each parameter."""
        if self._record.compiles or self._has_done_much(args):
            with LOCK:  # several threads may get here at once, and the compiler takes one
                code = self._code = self._code or self._compiled()
            code.launch(args)
            return
        for position in self._written:
            args[position].contents.known = None
        arrays: dict[Array, Any] = {}
        numbers: dict[Var, Any] = {}
        own = {*self._program.params, *self._program.temps}
        for param, arg in zip(self._params, args, strict=True):
            if isinstance(param, Var):
                numbers[param] = arg
            elif param in own:  # and not memory that only a form of its loops uses
                assert isinstance(arg, Buffer)
                arrays[param] = arg.array()
        run(self._program, arrays, numbers)

    def _has_done_much(self, args: Sequence[Any]) -> bool:
        if self._test < 0:
            self._record.counts.recorded += 1
        if self._test != self._record.test:
            self._test, self._done = self._record.test, 0.0
        self._done += self._amount(args)
        return self._done > _LONG

    def _amount(self, args: Sequence[Any]) -> float:
        key = self._work.key(args)
        if key not in self._amounts:
            self._amounts[key] = self._work.amount(key)
        return self._amounts[key]
