"""`worlds.tasks`: tasks to begin with, each a short file to copy.

A module has a constant `TASK`, and is imported when it is asked for by its name.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from difftile.worlds.task import Task

NAMES = ("cartpole_swingup", "hopper", "walker", "ant", "humanoid", "reach")


def named(name: str) -> Task:
    """Return the task of a name in `NAMES`.

    Raises:
        KeyError: There is no such task.
    """
    if name not in NAMES:
        raise KeyError(f"worlds.tasks has no task '{name}'; it has {', '.join(NAMES)}.")
    return importlib.import_module(f"difftile.worlds.tasks.{name}").TASK
