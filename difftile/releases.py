"""The releases of Taichi and Quadrants that difftile is written for, and the installed ones.

The module imports only the standard library, so that `difftile doctor` can report on compilers
that are missing or broken.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import chain

VARIABLE = "DIFFTILE_SUBSTRATE"
"""The environment variable that names the substrate of a process."""

ARCH_VARIABLE = "DIFFTILE_ARCH"
"""The environment variable by which programs that ask for the CPU run as Python."""


@dataclass(frozen=True, slots=True)
class Release:
    """A release of a compiler.

    Args:
        name: Of the substrate, the package and the distribution.
        title: Its name in prose.
        wanted: The version that difftile is written for on this Python.
        has_wheels: Wheels of that version exist for this Python and machine.
        devices: The values of `dt.init(arch=...)` that it knows, without "gpu".
        prefix: The environment variables of the compiler begin with this.
        command: Installs the version that is wanted.
    """

    name: str
    title: str
    wanted: str
    has_wheels: bool
    devices: tuple[str, ...]
    prefix: str
    command: str

    @property
    def is_installed(self) -> bool:
        """Whether a package of this name can be imported, in any version."""
        spec = find_spec(self.name)
        return spec is not None and spec.name == self.name  # another module may stand in for it

    @property
    def installed(self) -> str:
        """The installed version; '' if there is none, or it does not say."""
        try:
            return version(self.name)
        except PackageNotFoundError:
            return ""

    @property
    def fits(self) -> bool:
        """Whether the installed version is the one wanted, or does not say."""
        # A build of the same release may have a suffix of its own: 1.4.0+cu13.
        return self.installed.partition("+")[0] in ("", self.wanted)

    @property
    def advice(self) -> str:
        """How to install the version that is wanted."""
        if not self.has_wheels:
            return f"{self.title} {self.wanted} has no wheels for Python {_PYTHON} on {_MACHINE}"
        return self.command

    @property
    def complaint(self) -> str:
        """Why this compiler cannot be used here, with what to do; '' if it can."""
        if not self.is_installed:
            return f"{self.title} is not installed: {self.advice}."
        if not self.fits:
            return (
                f"{self.title} {self.installed} is installed, but difftile needs {self.wanted} on "
                f"Python {_PYTHON}: {self.advice}."
            )
        return ""


_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
_MACHINE = platform.machine()

# By the name of the substrate, the default first. tests/test_packaging.py compares the versions
# with pyproject.toml.
RELEASES: Mapping[str, Release] = {
    "taichi": Release(
        "taichi",
        "Taichi",
        wanted="1.7.4",
        has_wheels=sys.version_info < (3, 14) and _MACHINE != "aarch64",
        devices=("cpu", "cuda", "vulkan", "metal"),
        prefix="TI_",
        command="pip install taichi==1.7.4",
    ),
    "quadrants": Release(
        "quadrants",
        "Quadrants",
        wanted="1.3.3" if sys.version_info < (3, 12) else "1.4.0",
        has_wheels=True,
        devices=("cpu", "cuda", "vulkan", "metal", "amdgpu"),
        prefix="QD_",
        command="pip install 'difftile[quadrants]'",
    ),
}


def preferred() -> str:
    """Return the substrate that programs get unless they name one.

    The environment variable may name any. Without it this is the first that can be used, or else
    the first that is installed, or else ''.
    """
    named = os.environ.get(VARIABLE, "").strip().lower()
    installed = [name for name, one in RELEASES.items() if one.is_installed]
    usable = (name for name in installed if RELEASES[name].fits)
    return named or next(chain(usable, installed), "")


def refusal(name: str) -> str:
    """Return why a process cannot run on a substrate, with what to do; '' if it can.

    Args:
        name: Of the substrate, as a program or the environment gave it, or `preferred`.
    """
    if not name and not any(one.is_installed for one in RELEASES.values()):
        ways = [one.advice for one in RELEASES.values() if one.has_wheels]
        return (
            f"difftile needs Taichi or Quadrants, and neither is installed: {', or '.join(ways)}. "
            "Without one, dt.init(arch='python') runs kernels as Python, slowly."
        )
    if name not in RELEASES:
        return f"Unknown substrate '{name}'. Choose one of: {', '.join(RELEASES)}."
    return RELEASES[name].complaint
