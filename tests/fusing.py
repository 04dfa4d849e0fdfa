"""Turning the fusion of launches on and off, and choosing the form of fused programs.

All in one session, so that kernels stay compiled.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

from difftile.compile.specialisation import Specialisation
from difftile.fields.pending import set_fusing
from difftile.fusion import fused_run, program
from difftile.fusion.fused_run import FusedKernels
from difftile.fusion.program import FusedProgram
from difftile.launch.run import Run
from difftile.runtime.queue import QUEUE
from difftile.schedule.work import Work


@contextmanager
def fusing(mode: bool | str) -> Generator[None]:
    """Launch inside the block as if `dt.init(fuse=mode)` had been called.

    Args:
        mode: False, True or "always".
    """
    set_fusing(mode)
    try:
        yield
    finally:
        set_fusing(True)


def _of_device(program: FusedProgram, *args: Any, **kwargs: Any) -> None:
    _MAKE(program, *args, **kwargs)
    program._on_host = False


_MAKE = FusedProgram.__init__
_FORMS: dict[str, dict[tuple[object, str], object]] = {
    "serial": {},
    "unrolled": {(Work, "is_for_one"): lambda *_: False},
    "strips": {
        (Work, "is_for_one"): lambda *_: False,
        (FusedProgram, "_pays_to_interchange"): lambda *_: True,
    },
    "device": {
        (Work, "is_for_one"): lambda *_: False,
        (FusedProgram, "__init__"): _of_device,
        (program, "_MOST_TASKS"): 12,  # more take long to compile
    },
}
FORMS = tuple(_FORMS)
"""The forms of fused programs: of small fields, of large ones, and those of a GPU."""
_KERNELS = fused_run._kernels
_KNOWN: dict[str, dict[Specialisation, dict[object, Any]]] = {form: {} for form in FORMS}


@contextmanager
def fused_as(form: str) -> Generator[None]:
    """Give fused programs one of the `FORMS` inside the block, whatever their fields."""

    def kernels(run: Run, *args: Any) -> FusedKernels:
        code = run.launches[0].code
        usual, code.fusions = code.fusions, _KNOWN[form].setdefault(code, {})
        try:
            return _KERNELS(run, *args)
        finally:
            code.fusions = usual

    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(fused_run, "_kernels", kernels))
        for (owner, name), value in _FORMS[form].items():
            stack.enter_context(mock.patch.object(owner, name, value))
        yield


@contextmanager
def flushing_nothing() -> Generator[None]:
    """Break the queue inside the block: launches that wait never run."""
    with mock.patch.object(QUEUE, "run", lambda: None):
        try:
            yield
        finally:
            QUEUE.withdraw()
