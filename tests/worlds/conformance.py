"""The models of `data/`, and the numbers that MuJoCo gives for them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from difftile import worlds

DATA = Path(__file__).parent / "data"
NAMES = ("ant", "box", "box_soft", "cartpole", "chain", "double_pendulum", "hopper")


@cache
def numbers() -> dict[str, Any]:
    """Return `numbers.json`: for each model its arrays, states and gradients."""
    return json.loads((DATA / "numbers.json").read_text(encoding="utf-8"))["models"]


@cache
def model(name: str) -> worlds.Model:
    """Return a model from the arrays of `numbers.json`."""
    return worlds.Model(numbers()[name]["arrays"])
