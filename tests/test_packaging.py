"""Agreement of pyproject.toml with the tree and with the installed packages."""

from __future__ import annotations

import re
import sys
from importlib.metadata import entry_points, version
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from difftile.commands.demo import find_demos, source_of
from difftile.releases import RELEASES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_installed_version_is_that_of_the_tree(pyproject: dict[str, Any]) -> None:
    assert version("difftile") == pyproject["project"]["version"]


def test_the_version_has_a_date_in_the_changelog(pyproject: dict[str, Any]) -> None:
    """Under a heading of its own; changes after it are collected under `[Unreleased]`."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    dated = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d{2}-\d{2}$", text, re.MULTILINE)
    assert dated[0] == pyproject["project"]["version"]


def test_the_command_is_installed(pyproject: dict[str, Any]) -> None:
    (command,) = entry_points(group="console_scripts", name="difftile")
    assert command.value == pyproject["project"]["scripts"]["difftile"]
    assert callable(command.load())


def test_every_demo_has_a_picture_its_code_and_a_description_in_the_gallery() -> None:
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    described = " ".join(re.findall(r"^### (.*)", page, re.MULTILINE)).split()
    pictures = dict(re.findall(r"\[!\[([\w-]+)\]\(pictures/\1\.png\)\]\(\.\./(\S+?)\)", page))
    demos = find_demos(ROOT)
    assert set(pictures) == set(demos)
    for name, file in demos.items():
        physics = source_of(file)
        assert pictures[name] == physics.relative_to(ROOT).as_posix()
        links = f"[physics](../{pictures[name]}), [demo](../demos/{file.name}), [more](#"
        assert f"**{name}**: " in page
        assert links in page
        assert name in described
    sizes = {path.stem: path.stat().st_size for path in (ROOT / "docs/pictures").glob("*.png")}
    assert set(sizes) == {*demos, "ant-curves", "falling-sphere", "hopper-curves", "silhouettes"}
    assert max(sizes.values()) < 50_000


# These are written in the kernel language, whose annotations and operators no type checker knows.
IN_KERNEL_LANGUAGE = {
    "difftile/geometry",
    "difftile/packed",
    "difftile/render",
    "difftile/rotations",
    "difftile/substrate/family/native",
    "difftile/textures",
    "difftile/training",
    "difftile/worlds",
}


def test_types_are_strict_in_every_package_but_those_of_kernels(pyproject: dict[str, Any]) -> None:
    """What the folders of kernels turn off is an error in all others, of which none is listed."""
    settings = pyproject["tool"]["pyrefly"]
    *lenient, strict = settings["sub-config"]
    assert {one["matches"] for one in lenient} == IN_KERNEL_LANGUAGE
    assert all(one["errors"] == {} for one in lenient)
    assert all((ROOT / name).is_dir() for name in IN_KERNEL_LANGUAGE)
    assert strict["matches"] == "difftile"
    off = {kind for kind, level in settings["errors"].items() if level == "ignore"}
    everywhere = {"unnecessary-type-conversion", "untyped-import"}
    assert {kind: strict["errors"].get(kind) for kind in off - everywhere} == dict.fromkeys(
        off - everywhere, "error"
    )


def test_every_dependency_has_its_reason_on_record(pyproject: dict[str, Any]) -> None:
    project = pyproject["project"]
    needed = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    names = {re.split(r"[^\w-]", line, maxsplit=1)[0] for line in needed}
    texts = [path.read_text("utf-8") for path in (ROOT / "docs/decisions").glob("0*.md")]
    tables = [text for text in texts if "| Package | Version | Reason |" in text]
    found = [re.findall(r"^\| `([\w-]+)` \|", text, flags=re.MULTILINE) for text in tables]
    assert set(chain(*found)) == names


def test_the_pythons_listed_are_those_supported(pyproject: dict[str, Any]) -> None:
    project = pyproject["project"]
    low, high = map(int, re.findall(r"3\.(\d+)", project["requires-python"]))
    listed = {line for line in project["classifiers"] if re.search(r":: 3\.\d+$", line)}
    assert listed == {f"Programming Language :: Python :: 3.{n}" for n in range(low, high)}


PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
# Each release by the Pythons that its wheels are for, and by `sys_platform` and `platform_machine`.
TAICHI = {("linux", "x86_64"), ("darwin", "arm64"), ("win32", "AMD64")}
QUADRANTS = TAICHI | {("linux", "aarch64")}
WHEELS = {
    "taichi==1.7.4": (PYTHONS[:4], TAICHI),
    "quadrants==1.3.3": (PYTHONS[:4], QUADRANTS),
    "quadrants==1.4.0": (PYTHONS[2:], QUADRANTS),
}
# Of each machine: what is installed before Python 3.12, on 3.12 and 3.13, and on 3.14.
TAICHI_FIRST = ("taichi==1.7.4", "taichi==1.7.4", "quadrants==1.4.0")
COMPILERS = {
    ("linux", "x86_64"): TAICHI_FIRST,
    ("darwin", "arm64"): TAICHI_FIRST,
    ("win32", "AMD64"): TAICHI_FIRST,
    ("linux", "aarch64"): ("quadrants==1.3.3", "quadrants==1.4.0", "quadrants==1.4.0"),
    # An x64 Python there runs the wheels for AMD64.
    ("win32", "ARM64"): TAICHI_FIRST,
}
ERAS = (0, 0, 1, 1, 2)  # the column for each of PYTHONS


def required(lines: list[str], python: str, platform: str, machine: str) -> set[str]:
    """Return the requirements whose markers hold in an environment, without their markers."""
    environment = {
        "python_version": python,
        "python_full_version": f"{python}.1",
        "sys_platform": platform,
        "platform_machine": machine,
    }
    found = [Requirement(line) for line in lines]
    return {
        f"{one.name}{one.specifier}"
        for one in found
        if one.marker is None or one.marker.evaluate(environment)
    }


@pytest.mark.parametrize(("platform", "machine"), COMPILERS)
def test_one_compiler_is_installed_and_it_has_wheels(
    pyproject: dict[str, Any], platform: str, machine: str
) -> None:
    lines = pyproject["project"]["dependencies"]
    for python, era in zip(PYTHONS, ERAS, strict=True):
        needed = required(lines, python, platform, machine)
        (compiler,) = [one for one in needed if one.startswith(("taichi", "quadrants"))]
        assert compiler == COMPILERS[platform, machine][era]
        pythons, machines = WHEELS[compiler]
        assert python in pythons
        assert (platform, machine.replace("ARM64", "AMD64")) in machines


@pytest.mark.parametrize("extra", ["quadrants", "dev"])
@pytest.mark.parametrize(("platform", "machine"), COMPILERS)
def test_the_extra_installs_the_quadrants_of_each_python(
    pyproject: dict[str, Any], extra: str, platform: str, machine: str
) -> None:
    lines = pyproject["project"]["optional-dependencies"][extra]
    for python in PYTHONS:
        needed = required(lines, python, platform, machine)
        (compiler,) = [one for one in needed if one.startswith("quadrants")]
        assert compiler == f"quadrants=={'1.3.3' if python < '3.12' else '1.4.0'}"
        pythons, machines = WHEELS[compiler]
        assert python in pythons
        assert (platform, machine.replace("ARM64", "AMD64")) in machines
        # The two never contradict each other.
        always = required(pyproject["project"]["dependencies"], python, platform, machine)
        assert {one for one in always if one.startswith("quadrants")} <= {compiler}


def test_each_compiler_installed_here_is_the_one_wanted() -> None:
    assert any(one.is_installed for one in RELEASES.values())
    for one in RELEASES.values():
        assert one.fits, one.complaint
