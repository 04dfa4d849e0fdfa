"""Programs finished for the session, in the forms that launches choose from."""

from __future__ import annotations

from dataclasses import replace

from difftile.compiling import deriving
from difftile.ir.nodes import Program
from difftile.passes.bounds import confine
from difftile.passes.inline_primals import inline_primals
from difftile.passes.optimise import plain, pruned, simplify
from difftile.passes.promises import verify
from difftile.passes.rebase import rebase
from difftile.passes.speculate import Usual, general, speculate
from difftile.records import dataclass
from difftile.schedule.finish import finish
from difftile.substrate import (
    CompiledProgram,
    KeptResults,
    Native,
    Session,
    Speculation,
    current_session,
)
from difftile.uncollected import uncollected


@uncollected()
def compiled(
    program: Program,
    native: Native | None = None,
    kept: KeptResults | None = None,
    key: tuple[object, ...] = (),
) -> CompiledProgram:
    """Return a program finished and ready to be launched.

    Args:
        program: The program.
        native: Native kernels that may run instead; not under debug, which checks the program.
        kept: What is kept of it on disk.
        key: Its name there.
    """
    session = current_session()
    forms = _Forms(program, session, kept or KeptResults(), key)
    return forms.usual(native) if session.schedules else forms.only()


@dataclass(frozen=True, slots=True)
class _Forms:
    """The forms of a program, each made on request.

    Args:
        program: The program.
        session: What it is compiled in.
        kept: What is kept of it on disk.
        key: Its name there.
    """

    program: Program
    session: Session
    kept: KeptResults
    key: tuple[object, ...]

    def usual(self, native: Native | None) -> CompiledProgram:
        """Return the form for most launches, which may take something for granted."""
        form, found = self.kept.get((*self.key, "form"), self._speculated)
        return CompiledProgram(
            form,
            native=None if native is None else native(form),
            rebased=self.rebased,
            speculation=None if found is None else Speculation(found, self.general),
            kept=self.kept,
            key=self.key,
        )

    def general(self) -> CompiledProgram:
        """Return the form for launches in which that does not hold."""
        key = (*self.key, "general")
        form = self.kept.get(key, lambda: self._finished(simplify(general(self.program))))
        return CompiledProgram(form, rebased=self.rebased, kept=self.kept, key=key)

    def rebased(self) -> CompiledProgram:
        """Return the form with loops from zero, for loops that end beyond what can be counted."""
        return self.only(from_zero=True)

    def only(self, *, from_zero: bool = False) -> CompiledProgram:
        """Return a form for all launches, under debug with its checks.

        Args:
            from_zero: Parallel loops start at zero.
        """
        program = general(self.program) if self.session.compiles else self.program
        form = self._finished(rebase(program) if from_zero else program)
        rebased = None if from_zero else self.rebased
        if not self.session.debug:
            return CompiledProgram(form, rebased=rebased, from_zero=from_zero)
        verified, marks = verify(form)
        return CompiledProgram(confine(verified), marks, rebased=rebased, from_zero=from_zero)

    def _speculated(self) -> tuple[Program, Usual | None]:
        found = speculate(self.program)
        if found is None:
            return self._finished(general(self.program)), None
        form = self._finished(simplify(found.program))
        # The general form may need parameters that this one does not mention.
        whole = pruned(self.program)
        return replace(form, params=whole.params, temps=whole.temps), found

    def _finished(self, program: Program) -> Program:
        if not self.session.compiles:
            return plain(program)
        with deriving(f"simplifying {program.name}"):
            return finish(inline_primals(program), self.session.target)
