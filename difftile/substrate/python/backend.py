"""Python as a backend: host memory, and programs that run as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from difftile.diagnostics import FieldError
from difftile.substrate.backend import Backend, Device, VectorMath
from difftile.substrate.python.kernel import LIVING, PythonKernel
from difftile.substrate.streams import NULL_STREAM


class _Devices:
    """Starts and ends: there is one device, the process, which is always there."""

    def __init__(self) -> None:
        self.ARCHS: dict[str, Any] = {"python": None}
        self.HAS_STREAMS: bool = False

    def settings_of(
        self, arch: str, seed: int, debug: bool, fast_math: bool, options: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return no settings.

        Raises:
            FieldError: There are options, which are the compiler's.
        """
        for option in options:
            raise FieldError(
                f"dt.init() has no option '{option}' with arch='python': it is for the compiler, "
                "which does not run there."
            )
        return {}

    def running(self) -> str:
        """Return the only architecture."""
        return "python"

    def start(self, arch: str, settings: Mapping[str, Any], stream: int = NULL_STREAM) -> Device:
        """Return the device: one thread, and sums in the order in which they are written."""
        return Device(
            name="cpu",
            on_host=True,
            threads=1,
            fast_math=False,
            warps=False,
            multiprocessors=0,
            resident=0,
        )

    def end(self, why: str) -> None:
        """Refuse every later launch, as compilers do."""
        for kernel in list(LIVING):
            kernel.end(why)
        LIVING.clear()

    def abandon(self) -> None:
        """Leave nothing behind: there are no threads."""

    def cache_folder(self) -> NoReturn:
        """Not available: programs run as Python, without compiled code."""
        raise AssertionError("no compiled kernels are kept")

    def let_wait(self, waiting: int, stream: int) -> None:
        """There are no streams."""


def _refuse(*_: object, **__: object) -> NoReturn:
    raise AssertionError("fields are in host memory, and programs run as they are")


BACKEND = Backend(
    spellings={},
    vector_math=VectorMath({}, {}),
    devices=_Devices(),
    memory=_refuse,
    lent_memory=_refuse,
    shareable_memory=_refuse,
    staging_memory=_refuse,
    compile=_refuse,
    native={},
    graphs=lambda: None,
    run=PythonKernel,
)
