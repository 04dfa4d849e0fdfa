"""A run on several ranks: mistakes are reported once, and all end at the same step."""

from __future__ import annotations

import sys

from difftile.arguments import Parser
from difftile.diagnostics import DifftileError
from difftile.ranks import agree, current
from difftile.ranks.collect import gather_bytes


class Mistake(DifftileError):
    """The arguments do not fit the folder of the run."""


def is_first() -> bool:
    """Return whether this rank prints, and writes files."""
    return current().rank == 0


def say(text: str) -> None:
    """Print a line of the output, on rank 0."""
    if is_first():
        print(text)


def end_where_one_fails(said: str, parser: Parser) -> None:
    """End the run on all ranks if it cannot begin on one; one of them prints the reason.

    Args:
        said: The reason on this rank, or nothing.
        parser: Reports it.

    Raises:
        SystemExit: With code 2.
    """
    reasons = [one.decode() for one in gather_bytes(said.encode(), "the start of the run")]
    failed = [rank for rank, reason in enumerate(reasons) if reason]
    if not failed:
        return
    if failed[0] != current().rank:
        raise SystemExit(2)
    alike = len(reasons) == reasons.count(said)
    parser.error(said if alike else f"rank {failed[0]}: {said}")


def check_alike(start: str, parser: Parser) -> None:
    """End the run if ranks begin with other gaussians or options.

    Args:
        start: A description of them.
        parser: Reports it.

    Raises:
        SystemExit: With code 2.
    """
    found = [one.decode() for one in gather_bytes(start.encode(), "the start of the run")]
    other = next((rank for rank, one in enumerate(found) if one != found[0]), None)
    reason = f"rank {other} begins with other gaussians or options than rank 0"
    end_where_one_fails("" if other is None else reason, parser)


def first_code(code: int) -> int:
    """Return the exit code of the signals that came to any rank, or 0."""
    return int(agree(code, "max"))


def first_decides(decision: bool) -> bool:
    """Return what rank 0 decides."""
    return bool(agree(decision and is_first(), "max"))


def report(parser: Parser, kind: str, said: str) -> None:
    """Print the end of a run that fails, and let the other ranks end.

    Args:
        parser: Has the name of the command.
        kind: "error" or "interrupted".
        said: The reason, after a colon.
    """
    engine = current()
    rank = f"rank {engine.rank}: " if engine.rank else ""
    print(f"{parser.prog}: {rank}{kind}{said}", file=sys.stderr)
    if engine.waiting.watch is not None:
        engine.waiting.watch.fail(f"{kind}{said}")
