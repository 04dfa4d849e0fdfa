"""Under debug: ranks that are about to run different steps together, found before they wait."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from zlib import crc32

from difftile.diagnostics import RankError
from difftile.ranks import current
from difftile.ranks.collect import gather_bytes
from difftile.recording.joint_steps import least
from difftile.recording.steps import TapeStep
from difftile.substrate import current_session

_LIBRARY = str(Path(__file__).parents[1])


def meet(title: str, signature: str) -> None:
    """Check, in a debug session, that all ranks are about to do the same.

    Args:
        title: The step in errors.
        signature: The step as it is on all ranks.

    Raises:
        RankError: Another rank is at another step; the error lists the steps of all ranks.
    """
    if current().size == 1 or not current_session().debug:
        return
    number = crc32(signature.encode())
    found = least([number, -number], title)
    if found[0] == -found[1]:
        return
    texts = [one.decode() for one in gather_bytes(f"{title} ({_place()})".encode(), title)]
    lines = "\n".join(f"  {_ranks(texts, one)}: {one}" for one in dict.fromkeys(texts))
    raise RankError(
        f"The ranks are at different steps, and would wait for each other:\n{lines}\n"
        "All ranks run the same exchanges, sums and backward passes in the same order."
    )


def meet_backward(steps: Iterable[TapeStep]) -> None:
    """Check, in a debug session, that all ranks have recorded the same joint steps."""
    if current().size == 1 or not current_session().debug:
        return
    joint = [step.signature for step in steps if step.communicates]
    if joint:
        many = f"{len(joint)} step{'s' * (len(joint) > 1)}"
        meet(f"backward() of a tape with {many} that ranks run together", "\n".join(joint))


def _ranks(texts: list[str], one: str) -> str:
    which = [str(rank) for rank, text in enumerate(texts) if text == one]
    return f"rank{'s' * (len(which) > 1)} {', '.join(which)}"


def _place() -> str:
    """Return the file and line of the running code outside the library."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_LIBRARY):
        frame = frame.f_back
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
