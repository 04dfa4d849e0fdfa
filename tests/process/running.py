"""Programs in processes of their own, which end even if they hang."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_SECONDS = 120.0


def run(
    program: str, *words: str, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run one of the modules in this folder.

    Args:
        program: Its name.
        words: Its arguments.
        environment: All of its variables; by default those of this process.
    """
    # Python 3.12 and later warn of every fork of a process with threads, and Taichi has some.
    quiet = ["-W", "ignore:This process:DeprecationWarning"]
    module = f"tests.process.{program}"
    command = [sys.executable, "-X", "faulthandler", *quiet, "-m", module, *words]
    return subprocess.run(
        command,
        cwd=_ROOT,
        env=dict(os.environ) if environment is None else environment,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )


def check(program: str, *words: str, environment: dict[str, str] | None = None) -> str:
    """Run a program that must succeed with empty stderr; return its output."""
    ended = run(program, *words, environment=environment)
    said = f"{ended.stdout}\n{ended.stderr}"
    assert ended.returncode == 0, f"{program} {words}: exit code {ended.returncode}\n{said}"
    assert not ended.stderr, said
    return ended.stdout
