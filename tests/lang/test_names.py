"""Every name of the kernel language: ours, Taichi's and Quadrants', with one meaning."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from difftile import lang
from difftile.diagnostics import UnknownName
from difftile.habits import ATTRIBUTES
from difftile.lang import dialects, meanings, names, type_objects
from difftile.ops.vocabulary import FuncMeaning, HostOnly, Library, OpName

PACKAGES = ["difftile.lang", *dialects.PACKAGES]
_NO_NAMES = ("root", "deactivate_all_snodes")  # objects that refuse to be asked before ti.init()


OURS_ALONE = {"lanes", "local"}


def package_of(name: str) -> Any:
    return pytest.importorskip(name, reason=f"{name} is not installed")


@pytest.mark.parametrize("package", PACKAGES)
def test_names_mean_the_same_in_every_package(package: str) -> None:
    module = package_of(package)
    meant = {
        name: meanings.meaning_of(names.resolved(module, name))
        for name in names.OF_LANGUAGE
        if names.resolved(module, name) is not None
    }
    assert meant == {name: names.OF_LANGUAGE[name] for name in meant}
    missing = names.OF_LANGUAGE.keys() - meant.keys()
    assert missing == (OURS_ALONE if package in dialects.PACKAGES else set())


@pytest.mark.parametrize("package", dialects.PACKAGES)
@pytest.mark.parametrize("part", ["", "math", "types"])
def test_ours_has_every_name_that_kernels_may_use(package: str, part: str) -> None:
    theirs, ours = package_of(package), lang
    if part:
        theirs, ours = getattr(theirs, part), getattr(ours, part)
    missing: list[str] = []
    for name in dir(theirs):
        if name.startswith("_") or name in _NO_NAMES:
            continue
        value = getattr(theirs, name)
        meaning = meanings.meaning_of(value)
        if meaning is None or isinstance(meaning, (FuncMeaning, HostOnly, Library)):
            continue
        if meanings.meaning_of(getattr(ours, name, None)) != meaning:
            missing.append(name)
    assert not missing


@pytest.mark.parametrize("package", dialects.PACKAGES)
def test_types_are_equal_to_those_of_a_dialect(package: str) -> None:
    theirs = package_of(package)
    for name in names.SCALAR_NAMES:
        ours, other = getattr(lang, name), getattr(theirs, name)
        assert ours == other
        assert other == ours
        assert not ours != other
        assert ours == meanings.dtype_of(ours.type)
    assert lang.f32 != theirs.f64
    assert lang.f32 != 3
    assert lang.types.vector(3, theirs.f64) == theirs.types.vector(3, theirs.f64)
    for name in names.FOLLOW_DATA:
        assert not type_objects.has_own_scalar(names.resolved(theirs, name))
        assert not type_objects.has_own_scalar(names.resolved(lang, name))
    assert type_objects.has_own_scalar(theirs.math.ivec3)
    assert type_objects.has_own_scalar(lang.math.ivec3)


@pytest.mark.parametrize("package", dialects.PACKAGES)
def test_parameters_have_the_same_names(package: str) -> None:
    """Arguments of functions may be given by name."""
    theirs = package_of(package)
    for name, meaning in names.OF_LANGUAGE.items():
        if isinstance(meaning, OpName):
            ours, other = names.resolved(lang, name), names.resolved(theirs, name)
            assert list(inspect.signature(ours).parameters) == list(
                inspect.signature(other).parameters
            ), name


def test_values_of_dialects_are_values() -> None:
    for package in dialects.PACKAGES:
        ti = package_of(package)
        made = {
            "vector": (ti.Vector([1.0, 2.0]), lang.Vector([1.0, 2.0])),
            "matrix": (ti.Matrix([[1, 2], [3, 4]]), lang.Matrix([[1, 2], [3, 4]])),
            "struct": (ti.Struct(a=1, b=2.0), lang.Struct(a=1, b=2.0)),
        }
        for theirs, ours in made.values():
            assert meanings.meaning_of(theirs) == meanings.meaning_of(ours)
        theirs = ti.types.struct(a=ti.f32, v=ti.math.vec2, n=ti.types.struct(k=ti.i32))
        ours = lang.types.struct(a=lang.f32, v=lang.math.vec2, n=lang.types.struct(k=lang.i32))
        assert meanings.meaning_of(theirs) == meanings.meaning_of(ours)
        assert (lang.Vector([1, 2]) @ made["vector"][0]) == 5.0


def test_names_that_are_not_of_the_language_have_hints() -> None:
    for name, hint in ATTRIBUTES["lang"].items():
        with pytest.raises(UnknownName, match="has no attribute") as caught:
            getattr(lang, name)
        assert hint in str(caught.value)
        assert not hasattr(lang, name)
    with pytest.raises(UnknownName, match="smoothstep"):
        _ = lang.math.smothstep
    assert meanings.meaning_of(lang.math) == Library()


def test_no_compiler_is_loaded() -> None:
    text = (
        "import sys, pickle, copy\n"
        "import difftile.lang as ti\n"
        "import difftile.lang.meanings\n"
        "P = ti.types.struct(a=ti.f32, v=ti.math.vec2)\n"
        "p = copy.deepcopy(P(a=1, v=[1, 2]))\n"
        "assert pickle.loads(pickle.dumps(p)).v.to_list() == [1, 2]\n"
        "assert pickle.loads(pickle.dumps(ti.f32)) is ti.f32\n"
        "assert not {'taichi', 'quadrants'} & sys.modules.keys(), 'loaded'\n"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr


def test_the_library_loads_no_compiler_before_the_first_field() -> None:
    program = Path(__file__).with_name("without_compiler.py")
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr


def test_a_module_of_a_dialects_name_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialects._Loaded, "names", ())
    monkeypatch.setattr(dialects._Loaded, "dialects", ())
    monkeypatch.setitem(sys.modules, "quadrants", importlib.import_module("json"))
    assert meanings.meaning_of(lang.sin) == OpName("sin")
