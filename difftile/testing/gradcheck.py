"""`dt.gradcheck`: the gradient of kernels, funcs and whole tapes against differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from difftile.diagnostics import TapeError
from difftile.fields.recording import OPEN_TAPE
from difftile.launch.random import STREAMS
from difftile.testing.doubles import Doubles
from difftile.testing.report import GradCheck
from difftile.testing.search import Search, Tolerance
from difftile.testing.slopes import FIRST_STEP
from difftile.testing.subject import subject_of
from difftile.testing.trial import Trial


def gradcheck(
    f: Callable[..., Any],
    fields: Any = (),
    *,
    outputs: Any = None,
    directions: int = 4,
    entries: int = 8,
    rtol: float = 1e-6,
    atol: float = 0.0,
    eps: float = FIRST_STEP,
    seed: int = 0,
    memory: str | int | None = None,
    strict: bool = False,
) -> GradCheck:
    """Compare gradients with differences, in double precision, and report what differs.

    Everything runs on copies: fields keep contents, gradients and type, whoever holds them. Along
    random directions in all fields at once, and along single entries, the derivative that the tape
    gives is compared with central differences, whose own error is estimated. If a direction is
    wrong, the entry at fault is searched.

    Args:
        f: A kernel; a func, which is mapped over fields element by element; or a function that
            launches kernels and writes from Python, without a tape of its own.
        fields: The arguments: fields, parts of fields, structs, arrays, numbers; a tuple, or a dict
            by name. A function without parameters is given none, and the gradient is taken by the
            fields here. Without any it is taken by all fields that `f` reads and that have
            gradients; so it is, for kernels and funcs, by those that they take from outside.
        outputs: What is differentiated: fields, or the names of parameters. By default what `f`
            returns, or else all that it writes and that has a gradient. Random numbers weigh the
            elements, if there are more than one.
        directions: How many random directions.
        entries: How many entries of each field, half of them those with the largest gradient.
        rtol: The relative difference that passes.
        atol: The absolute difference that passes.
        eps: The largest step of the differences, relative to the contents of the fields.
        seed: Seed of what is drawn here. Kernels draw the same numbers in each run.
        memory: The limit of the tape; see `Tape`.
        strict: Raise if the gradient does not pass.

    Returns:
        The report: true if no derivative is wrong and some are right. Fields of integers, and
        fields without a gradient, are skipped and listed; if none has one, each is given one.

    Raises:
        GradientMismatch: The gradient does not pass, and `strict` is set.
        LaunchError: `f` cannot be called so, or gives different results each time.
        TapeError: A tape is open.
    """
    if OPEN_TAPE.get() is not None:
        raise TapeError("gradcheck() runs launches of its own; call it after the 'with' block.")
    subject = subject_of(f, fields)
    rng = np.random.default_rng(seed)
    with STREAMS.given_back(), Doubles() as doubles:
        trial = Trial(subject, doubles, outputs, memory, rng)
        search = Search(trial.along, trial.base, trial.coordinates, trial.gradient)
        probes = search.run(directions, entries, Tolerance(rtol, atol, eps), rng)
    report = GradCheck(
        subject.title,
        tuple(trial.output_names),
        tuple(probes),
        trial.weighted,
        trial.skipped,
        trial.notes,
    )
    return report.raise_if_failed() if strict else report
