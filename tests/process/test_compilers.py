"""The compiler of a process: chosen, missing, unknown, of another version."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from difftile.releases import RELEASES, VARIABLE

ROOT = Path(__file__).parents[2]
QUADRANTS = RELEASES["quadrants"]
NEITHER = "import sys; sys.modules |= dict.fromkeys(('taichi', 'quadrants')); "
START = "import difftile as dt; dt.init({}); print('started')"


def said(program: str, variable: str = "", path: Path | None = None) -> str:
    """Return the last line that a program prints, on stdout or else on stderr.

    Args:
        program: Its text.
        variable: The value of DIFFTILE_SUBSTRATE.
        path: Where packages and their versions are looked for first.
    """
    folders = [str(one) for one in (path, ROOT) if one is not None]
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {VARIABLE: variable, "PYTHONPATH": os.pathsep.join(folders)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert bool(done.stdout) != bool(done.returncode), done.stderr
    return (done.stdout or done.stderr).strip().rpartition("\n")[2]


def test_without_a_compiler_the_first_field_names_what_to_install() -> None:
    program = NEITHER + "import difftile as dt; dt.zeros(3)"
    ways = [one.advice for one in RELEASES.values() if one.has_wheels]
    text = f"difftile needs Taichi or Quadrants, and neither is installed: {', or '.join(ways)}."
    assert text in said(program)
    program = NEITHER + "import difftile as dt; dt.init(arch='python'); print(dt.zeros(3).shape)"
    assert said(program) == "(3,)"


@pytest.mark.parametrize("by_variable", [True, False])
def test_an_unknown_substrate(by_variable: bool) -> None:
    text = "Unknown substrate 'warp'. Choose one of: taichi, quadrants."
    program = START.format("" if by_variable else "substrate='warp'")
    assert said(program, "warp" if by_variable else "").endswith(text)


@pytest.mark.parametrize("by_variable", [True, False])
def test_a_substrate_that_is_missing(by_variable: bool) -> None:
    program = NEITHER + START.format("" if by_variable else "substrate='quadrants'")
    text = "Quadrants is not installed: pip install 'difftile[quadrants]'."
    assert said(program, "quadrants" if by_variable else "").endswith(text)


def test_another_version_of_quadrants(tmp_path: Path) -> None:
    """A later release of the same Quadrants, which might run and be wrong."""
    package = tmp_path / "quadrants-1.9.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: quadrants\nVersion: 1.9.0\n")
    (tmp_path / "quadrants.py").write_text("raise ImportError('imported before it was checked')\n")
    found = said(START.format("substrate='quadrants'"), path=tmp_path)
    assert f"Quadrants 1.9.0 is installed, but difftile needs {QUADRANTS.wanted} on" in found
    assert found.endswith("pip install 'difftile[quadrants]'.")


@pytest.mark.parametrize("name", RELEASES)
def test_the_substrate_that_is_named_runs(name: str) -> None:
    if RELEASES[name].complaint:
        pytest.skip(RELEASES[name].complaint)
    program = (
        START.format("") + "; import sys; print(*sorted({'taichi', 'quadrants'} & {*sys.modules}))"
    )
    assert said(program, name.upper()) == name


FUNCTIONS = """
import quadrants as ti
import difftile as dt

@ti.func
def cube(a):
    return a**3

measured = dt.finite_difference(cube, eps=1 / 64)

@ti.data_oriented
class Model:
    def __init__(self):
        self.x, self.y = dt.ones(2, grad=True), dt.zeros(2, grad=True)

    @ti.func
    def twice(self, a):
        return 2 * a

    @dt.kernel
    def run(self):
        for i in self.x:
            self.y[i] = self.twice(self.x[i]) + measured(self.x[i])

model = Model()
twice = model.twice

@dt.kernel
def again(x, y):
    for i in x:
        y[i] = twice(x[i])

model.run()
model.y.grad.fill(1.0)
model.run.bwds()
again(model.x, z := dt.zeros(2))
print(model.y.to_numpy().tolist(), model.x.grad.to_numpy().round(2).tolist(), z.to_numpy().tolist())
"""


def test_functions_and_methods_of_quadrants(tmp_path: Path) -> None:
    if QUADRANTS.complaint:
        pytest.skip(QUADRANTS.complaint)
    file = tmp_path / "program.py"
    file.write_text(FUNCTIONS, encoding="utf-8")
    found = said(f"import runpy; runpy.run_path({str(file)!r})", "quadrants")
    assert found == "[3.0, 3.0] [5.0, 5.0] [2.0, 2.0]"
