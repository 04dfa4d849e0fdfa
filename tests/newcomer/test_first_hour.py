"""The first hour of a newcomer: install, copy the README, type the tutorial, run demos.

Nothing here sees the checkout: programs run in an environment with an installed wheel.
"""

from __future__ import annotations

import fcntl
import re
import signal
import subprocess
import time
from pathlib import Path
from urllib.request import urlopen

import pytest

from difftile.releases import RELEASES
from tests.newcomer.installed import ROOT, Installed, install

BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Installed:
    """The environment, made once for all processes that run tests."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "newcomer"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "work").exists():
            return install(folder)
    return Installed(folder / "environment" / "bin", folder / "work")


def program_of(page: str) -> str:
    """Return the examples on a page, typed one after the other into one file."""
    return here("\n".join(BLOCK.findall((ROOT / page).read_text("utf-8"))))


def here(program: str) -> str:
    """Return a program with the import that the README names where Taichi is not installed."""
    if RELEASES["taichi"].is_installed:
        return program
    return program.replace("import taichi as ti\n", "from difftile import ti\n")


def test_nothing_but_difftile_is_installed(user: Installed) -> None:
    (package,) = user.bin.parent.glob("lib/python*/site-packages")
    lines = (next(package.glob("difftile-*.dist-info")) / "RECORD").read_text("utf-8").splitlines()
    names = {line.partition("/")[0] for line in lines}
    assert {name for name in names if ".dist-info" not in name} == {"..", "difftile"}
    assert [line for line in lines if line.startswith("..")] == [
        line for line in lines if line.startswith("../../../bin/difftile")
    ]
    where = user.run("python", "-c", "import difftile; print(difftile.__file__)")
    assert Path(where.strip()).is_relative_to(package)


def test_the_program_of_the_readme(user: Installed) -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    (user.folder / "first.py").write_text(program_of("README.md"), "utf-8")
    (line,) = re.findall(r"The output is `(.*?)`", text)
    pattern = re.escape(line).replace(re.escape("..."), r"\d*")
    out = user.run("python", "first.py")
    assert re.search(rf"^{pattern}$", out, re.MULTILINE), out


def test_the_tutorial_as_typed(user: Installed) -> None:
    (user.folder / "tutorial.py").write_text(program_of("docs/tutorial.md"), "utf-8")
    out = user.run("python", "tutorial.py", DIFFTILE_VIEWER="null")
    assert "after learning" in out and "Race on field 'pos'" in out


EXECUTE = """
import sys
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

cells = sys.stdin.read().split("# next cell\\n")
notebook = new_notebook(cells=[new_code_cell(cell) for cell in cells])
NotebookClient(notebook, kernel_name="python3", allow_errors=True).execute()
for cell in notebook.cells:
    print([one.get("ename", one.output_type) for one in cell.outputs])
"""


@pytest.mark.slow  # what notebooks show has tests of its own
def test_a_notebook(user: Installed) -> None:
    page = (ROOT / "docs" / "notebooks.md").read_text("utf-8")
    cells = re.findall(r"^```python[^\n]*\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (user.folder / "execute.py").write_text(EXECUTE, "utf-8")
    out = user.run("python", "execute.py", given=here("# next cell\n".join(cells)))
    errors = re.findall(r"'([A-Z]\w+)'", out)
    assert len(errors) == 1, out  # the mistake that the page shows
    assert out.count("execute_result") >= 3 and "display_data" in out, out


def test_a_demo_without_a_display(user: Installed) -> None:
    names = user.run("difftile", "demo", "--list")
    assert len(names.splitlines()) >= 20
    user.run("difftile", "demo", "mass-spring", "--iterations", "2", "--steps", "200")
    assert list((user.folder / "out" / "mass_spring").glob("*.png"))


def test_a_demo_on_a_page(user: Installed) -> None:
    with subprocess.Popen(
        [user.bin / "difftile", "demo", "mass-spring", "--view", "web"],
        cwd=user.folder,
        env={**user.environment, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as demo:
        assert demo.stdout is not None
        read: list[str] = []
        for line in demo.stdout:
            read.append(line)
            if found := re.search(r"http://\S+?:\d+", line):
                break
        else:
            pytest.fail("".join(read))
        with urlopen(found[0], timeout=30) as page:
            assert page.status == 200 and b"<html" in page.read()
        demo.send_signal(signal.SIGINT)
        end = time.monotonic() + 60
        while demo.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        assert demo.poll() in (0, 130), "".join(read)


def test_the_doctor_finds_nothing_wrong(user: Installed) -> None:
    assert "difftile" in user.run("difftile", "doctor")
