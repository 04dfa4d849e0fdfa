"""`dt.gradcheck`: the gradient of kernels, funcs and whole tapes against differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from difftile.diagnostics import LaunchError, TapeError
from difftile.fields.recording import OPEN_TAPE
from difftile.launch.streams import STREAMS
from difftile.testing.evaluator import Evaluator
from difftile.testing.gradcheck_report import GradCheck, Probed
from difftile.testing.probing import GradientTolerance, Prober
from difftile.testing.shadow_fields import ShadowFields
from difftile.testing.slopes import FIRST_STEP
from difftile.testing.subject import Subject, subject_of


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
            fields here, each of which is probed. Without any it is taken by all fields that `f`
            reads and that have gradients, but for those that operations of the library keep for
            themselves; so it is, for kernels and funcs, by those that they take from outside.
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
        The report: true if no derivative is wrong and some are right. It says how many entries of
        each field were probed. Arguments of integers, and those without a gradient, are skipped and
        listed; if none has one, each is given one.

    Raises:
        GradientMismatch: The gradient does not pass, and `strict` is set.
        LaunchError: `f` cannot be called so, gives different results each time, or cannot be
            differentiated by a field that it was asked for.
        TapeError: A tape is open.
    """
    if OPEN_TAPE.get() is not None:
        raise TapeError("gradcheck() runs launches of its own; call it after the 'with' block.")
    subject = subject_of(f, fields)
    rng = np.random.default_rng(seed)
    with STREAMS.given_back(), ShadowFields() as shadows:
        evaluator = Evaluator(subject, shadows, outputs, memory, rng)
        prober = Prober(evaluator.along, evaluator.base, evaluator.coordinates, evaluator.gradient)
        probes = prober.run(directions, entries, GradientTolerance(rtol, atol, eps), rng)
    fields = tuple(prober.probed(probes))
    if subject.each:
        _check_probed(subject, fields)
    report = GradCheck(
        subject.title,
        tuple(evaluator.output_names),
        tuple(probes),
        fields,
        evaluator.weighted,
        evaluator.skipped,
        evaluator.notes,
    )
    return report.raise_if_failed() if strict else report


def _check_probed(subject: Subject, fields: Sequence[Probed]) -> None:
    """Check that the gradient was compared for every field that was asked for.

    Raises:
        LaunchError: One has no number that a step could be made from, or none was to be tried.
    """
    for one in fields:
        if not (one.probed or one.directions):
            raise LaunchError(
                f"gradcheck(): '{one.name}' was asked for and nothing of it was probed for "
                f"{subject.title}: its entries must be finite, and directions or entries above 0."
            )
