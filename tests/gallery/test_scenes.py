"""The files of `scenes`: each stands by itself, and learns something when it is run."""

import ast
import re
import runpy
import shutil
import sys
from pathlib import Path

import pytest

import demos
import scenes

FILES = sorted(file for file in Path(scenes.__path__[0]).glob("*.py") if file.stem != "__init__")
RUNNABLE = [file for file in FILES if "__main__" in file.read_text(encoding="utf-8")]
ALLOWED = {"difftile", "numpy", "taichi"} | set(sys.stdlib_module_names)
QUICK = {"cloth", "spring_arm", "wave"}  # the kernels of the others run in tests of their demos


def modules(file: Path) -> set[str]:
    """Return the modules that a file imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def test_scenes_need_difftile_and_numpy_only() -> None:
    wrong = {
        file.name: others
        for file in FILES
        if (others := {module.split(".")[0] for module in modules(file)} - ALLOWED)
    }
    assert not wrong


def test_the_physics_of_a_demo_is_one_scene() -> None:
    wrong: dict[str, list[str]] = {}
    for file in Path(demos.__path__[0]).glob("*.py"):
        found = [module for module in modules(file) if module.split(".")[0] == "scenes"]
        if file.stem != "__init__" and len(found) != 1:
            wrong[file.name] = found
    assert not wrong


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(file, id=file.stem, marks=() if file.stem in QUICK else pytest.mark.slow)
        for file in RUNNABLE
    ],
)
def test_a_copy_of_a_scene_learns(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = shutil.copy(file, tmp_path / "copied.py")
    shutil.copytree(file.parent / "models", tmp_path / "models")
    runpy.run_path(str(copy), run_name="__main__")
    losses = [float(text) for text in re.findall(r"^loss (\S+)$", capsys.readouterr().out, re.M)]
    assert len(losses) >= 6
    assert min(losses[1:]) < losses[0]
