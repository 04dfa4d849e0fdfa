"""One step of four worlds of a hopper."""

from typing import Any

from benchmarks.first_rows import of_worlds


def run(quick: bool) -> list[Any]:
    """Return the squares of the speeds, and their gradients by the controls."""
    return of_worlds.run("hopper")
