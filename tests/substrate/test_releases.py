"""The compilers that are wanted, and what is said where one is missing or of another version."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace

import pytest
from packaging.requirements import Requirement

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

import difftile as dt
from difftile import releases
from difftile.releases import RELEASES, VARIABLE, preferred, refusal

ROOT = Path(__file__).parents[2]
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
Installs = Callable[..., None]


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Installs:
    """Pretend that compilers are installed, each in a version, or without one if that is ''."""
    monkeypatch.delenv(VARIABLE, raising=False)

    def set_versions(**versions: str) -> None:
        def version(name: str) -> str:
            if not versions.get(name):
                raise PackageNotFoundError(name)
            return versions[name]

        monkeypatch.setattr(releases, "version", version)
        specs = {name: SimpleNamespace(name=name) for name in versions}
        monkeypatch.setattr(releases, "find_spec", specs.get)

    return set_versions


def test_versions_are_those_of_the_dependencies() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    def pinned(lines: list[str]) -> dict[str, str]:
        found = [Requirement(line) for line in lines]
        holding = [one for one in found if one.marker is None or one.marker.evaluate()]
        return {one.name: str(one.specifier) for one in holding}

    always = pinned(project["dependencies"])
    assert RELEASES["taichi"].has_wheels == ("taichi" in always)
    assert always.get("taichi", "==1.7.4") == f"=={RELEASES['taichi'].wanted}"
    extra = pinned(project["optional-dependencies"]["quadrants"])
    assert extra == {"quadrants": f"=={RELEASES['quadrants'].wanted}"}
    assert always.get("quadrants", extra["quadrants"]) == extra["quadrants"]
    assert RELEASES["taichi"].command == f"pip install taichi=={RELEASES['taichi'].wanted}"


def test_the_first_that_is_installed_is_preferred(installed: Installs) -> None:
    installed(taichi="1.7.4", quadrants=RELEASES["quadrants"].wanted)
    assert preferred() == "taichi"
    installed(quadrants=RELEASES["quadrants"].wanted)
    assert preferred() == "quadrants"
    assert refusal("quadrants") == ""
    installed(taichi="1.6.0", quadrants=RELEASES["quadrants"].wanted)
    assert preferred() == "quadrants"
    installed(taichi="1.6.0", quadrants="1.2.0")
    assert preferred() == "taichi"
    installed()
    assert preferred() == ""


def test_the_environment_names_another(
    installed: Installs, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(taichi="1.7.4")
    monkeypatch.setenv(VARIABLE, " Quadrants ")
    assert preferred() == "quadrants"
    monkeypatch.setenv(VARIABLE, "")
    assert preferred() == "taichi"


@pytest.mark.parametrize(
    ("has_wheels", "text"),
    [
        (True, "pip install taichi==1.7.4, or pip install 'difftile[quadrants]'."),
        (False, "pip install 'difftile[quadrants]'."),
    ],
)
def test_without_a_compiler(
    installed: Installs, monkeypatch: pytest.MonkeyPatch, has_wheels: bool, text: str
) -> None:
    installed()
    with_wheels(monkeypatch, has_wheels)
    assert refusal("") == (
        f"difftile needs Taichi or Quadrants, and neither is installed: {text} "
        "Without one, dt.init(arch='python') runs kernels as Python, slowly."
    )


def with_wheels(monkeypatch: pytest.MonkeyPatch, has_wheels: bool) -> None:
    """Pretend that Taichi has wheels for this Python, or none."""
    rows = dict(RELEASES)
    rows["taichi"] = replace(rows["taichi"], has_wheels=has_wheels)
    monkeypatch.setattr(releases, "RELEASES", rows)


def test_an_unknown_substrate(installed: Installs) -> None:
    installed(taichi="1.7.4")
    for name in ("warp", "Taichi", ""):
        text = f"Unknown substrate '{name}'. Choose one of: taichi, quadrants."
        assert refusal(name) == text


def test_a_substrate_that_is_missing(installed: Installs, monkeypatch: pytest.MonkeyPatch) -> None:
    installed()
    assert refusal("quadrants") == (
        "Quadrants is not installed: pip install 'difftile[quadrants]'."
    )
    with_wheels(monkeypatch, False)
    machine = platform.machine()
    assert refusal("taichi") == (
        f"Taichi is not installed: Taichi 1.7.4 has no wheels for Python {PYTHON} on {machine}."
    )


@pytest.mark.parametrize("version", ["1.2.0", "1.5.0", "1.4.0b1", "1.3.30"])
def test_another_version_is_refused(installed: Installs, version: str) -> None:
    installed(quadrants=version)
    wanted = RELEASES["quadrants"].wanted
    assert refusal("quadrants") == (
        f"Quadrants {version} is installed, but difftile needs {wanted} on Python {PYTHON}: "
        "pip install 'difftile[quadrants]'."
    )


@pytest.mark.parametrize("suffix", ["", "+local"])
def test_the_version_that_is_wanted_is_not(installed: Installs, suffix: str) -> None:
    installed(quadrants=RELEASES["quadrants"].wanted + suffix)
    assert refusal("quadrants") == ""


def test_a_build_that_does_not_say_its_version_is_tried(installed: Installs) -> None:
    installed(quadrants="")
    assert refusal("quadrants") == ""


def test_a_stand_in_is_not_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program may let 'import taichi' find `difftile.ti` where Taichi is missing."""
    monkeypatch.setitem(sys.modules, "taichi", dt.ti)
    assert not RELEASES["taichi"].is_installed
