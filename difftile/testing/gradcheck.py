"""`dt.gradcheck`: gradients of kernels, funcs and whole tapes, compared with differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from difftile.diagnostics import LaunchError, TapeError
from difftile.fields.recording import RECORDING
from difftile.launch.streams import STREAMS
from difftile.testing.evaluator import Evaluator
from difftile.testing.gradcheck_report import GradCheck
from difftile.testing.probing import GradientTolerance, Prober
from difftile.testing.shadow_fields import ShadowFields
from difftile.testing.slopes import FIRST_STEP
from difftile.testing.subject import subject_of
from difftile.tracebacks import boundary


@boundary
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

    Everything runs on copies: all fields keep their contents, gradients and types. The derivative
    by the tape is compared with central differences, whose own error is estimated, along random
    directions in all fields at once and along single entries. If a direction is wrong, the check
    searches for a wrong entry.

    Args:
        f: A kernel; a func, which is mapped over fields element by element; or a function that
            launches kernels and writes from Python, without a tape of its own.
        fields: The arguments: fields, parts of fields, structs, arrays, numbers; a tuple, or a dict
            by name. A function without parameters is called without arguments, and each of the
            fields here is probed. Without any, all fields are probed that `f` reads and that have
            gradients, except internal memory of library operations; for kernels and funcs this
            includes the fields that they capture.
        outputs: The differentiated fields, or names of parameters. By default the result of `f`,
            or else all fields with gradients that it writes. Random weights combine the elements
            if there is more than one.
        directions: The number of random directions.
        entries: The number of entries of each field, half of them with the largest gradients.
        rtol: The relative difference that passes.
        atol: The absolute difference that passes.
        eps: The largest step of the differences, relative to the contents of the fields.
        seed: Seed of directions, entries and weights. Kernels draw the same numbers in each run.
        memory: The limit of the tape; see `Tape`.
        strict: Raise if the gradient does not pass.

    Returns:
        The report: true if no derivative is wrong and some are right. The report lists the number
        of probed entries of each field. Integer arguments, and fields without a gradient, are
        skipped and listed; if no field has a gradient, each gets one for the check.

    Raises:
        GradientMismatch: The gradient does not pass, and `strict` is set.
        LaunchError: `f` does not take the arguments, gives different results each time, or cannot
            be differentiated with respect to a requested field.
        RankError: There are several ranks, and `f` communicates with others.
        TapeError: A tape is open.
    """
    if RECORDING.get().recorder is not None:
        raise TapeError("gradcheck() runs launches of its own; call it after the 'with' block.")
    subject = subject_of(f, fields)
    rng = np.random.default_rng(seed)
    with STREAMS.given_back(), ShadowFields() as shadows:
        evaluator = Evaluator(subject, shadows, outputs, memory, rng)
        prober = Prober(evaluator.along, evaluator.base, evaluator.coordinates, evaluator.gradient)
        probes = prober.run(directions, entries, GradientTolerance(rtol, atol, eps), rng)
    probed = tuple(prober.probed(probes))
    for one in probed if subject.each else ():
        if not (one.probed or one.directions):
            raise LaunchError(
                f"gradcheck(): '{one.name}' was requested but not probed for {subject.title}: "
                "its entries must be finite, and directions or entries above 0."
            )
    report = GradCheck(
        subject.title,
        tuple(evaluator.output_names),
        tuple(probes),
        probed,
        evaluator.weighted,
        evaluator.skipped,
        evaluator.notes,
    )
    return report.raise_if_failed() if strict else report
