"""An environment in which someone has just installed difftile, far from the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Installed:
    """Programs of a fresh virtual environment, run in an empty folder.

    Attributes:
        bin: The folder of the environment's programs.
        folder: The folder that programs run in.
    """

    bin: Path
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a new shell, without a display and the settings of these tests."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith(HIDDEN)}
        return {**kept, "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}"}

    def run(self, *command: str, given: str = "", **variables: str) -> str:
        """Run a command to its end, with some text as its input; return its output.

        Raises:
            AssertionError: It failed; the text is its output.
        """
        done = subprocess.run(
            [self.bin / command[0], *command[1:]],
            cwd=self.folder,
            env={**self.environment, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            input=given,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout


HIDDEN = ("PYTHON", "PYTEST", "DISPLAY", "WAYLAND", "VIRTUAL_ENV", "DIFFTILE")


def install(folder: Path) -> Installed:
    """Make an environment in a folder and install difftile with its viewer into it."""
    subprocess.run([sys.executable, "-m", "venv", folder / "environment"], check=True)
    names = Installed(folder / "environment" / "bin", folder / "work")
    names.folder.mkdir()
    # Few modules are ever imported: their bytecode is made then.
    quiet = ("--quiet", "--disable-pip-version-check", "--no-compile")
    names.run("python", "-m", "pip", "install", *quiet, f"{ROOT}[viewer]", *NOTEBOOKS)
    return names


NOTEBOOKS = ("nbclient", "ipykernel")
