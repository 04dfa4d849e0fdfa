"""Random numbers in kernels: their names in Python, and the streams that launches take."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, NoReturn

from difftile.diagnostics import LaunchError
from difftile.launch.generated import Drawn, drawn
from difftile.substrate import Session


def rand(dtype: Any = float) -> Drawn:
    """Draw a number that is uniform in [0, 1), in kernels and funcs.

    In Python `dt.rand(seed)` is an argument for a func: each call gets a number of its own, which
    depends on the seed and on the index of the call alone.

    Args:
        dtype: A float type, that of the kernel's fields by default; in Python the seed.

    Raises:
        LaunchError: It is called from Python without a seed.
    """
    if isinstance(dtype, int):
        return drawn("rand", dtype)
    _refuse("dt.rand()", "np.random.default_rng(seed).random(shape)")


def randn(dtype: Any = float) -> Drawn:
    """Draw a normal number with mean 0 and variance 1, in kernels and funcs.

    `x = mu + sigma * dt.randn()` has the gradient of a reparameterised sample: the adjoint draws
    the same numbers again. In Python `dt.randn(seed)` is an argument for a func, as `dt.rand(seed)`
    is.

    Args:
        dtype: A float type, that of the kernel's fields by default; in Python the seed.

    Raises:
        LaunchError: It is called from Python without a seed.
    """
    if isinstance(dtype, int):
        return drawn("randn", dtype)
    _refuse("dt.randn()", "np.random.default_rng(seed).normal(size=shape)")


def randint(low: int, high: int) -> NoReturn:
    """Draw one of the integers low, ..., high - 1; in kernels and funcs alone.

    `dt.randint(n)` draws from 0, ..., n - 1. Where there is none, low is given.

    Raises:
        LaunchError: It is called from Python.
    """
    _refuse("dt.randint()", "np.random.default_rng(seed).integers(low, high, shape)")


def _refuse(name: str, instead: str) -> NoReturn:
    raise LaunchError(
        f"{name} draws in kernels and funcs; in Python write 'dt.from_numpy({instead})'."
    )


class Streams:
    """Counts the streams that launches have taken since difftile was started."""

    def __init__(self) -> None:
        self._session: Session | None = None
        self._next = 0

    def take(self, session: Session, count: int) -> tuple[int, int]:
        """Return the seed, and the first of some streams that no launch has had."""
        if session is not self._session:
            self._session, self._next = session, 0
        first = self._next
        self._next += count
        return _word(session.seed), _word(first)

    @contextmanager
    def given_back(self) -> Generator[None]:
        """Give back at the end the streams that were taken inside: the next launches take them."""
        before = self._session, self._next
        try:
            yield
        finally:
            self._session, self._next = before


STREAMS = Streams()


def _word(number: int) -> int:
    """Return the low 32 bits, as a signed number."""
    return (number + 2**31) % 2**32 - 2**31
