"""`difftile doctor`: the report on this machine, and its exit code."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from difftile import releases
from difftile.cli import main
from difftile.commands import doctor
from difftile.commands.doctor import OPTIONAL, Outcome, read_outcome, self_test
from difftile.releases import RELEASES, VARIABLE
from difftile.substrate import chosen
from difftile.substrate.compiler import backend

ROOT = Path(__file__).parents[2]


ABSENT = Outcome(False, "not available")
WORKS = Outcome(True, "works", "", 0.123, 6.04e-6)


@pytest.fixture(autouse=True)
def both_compilers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that Taichi and Quadrants are installed, in the versions that are wanted."""
    have(monkeypatch, **{name: one.wanted for name, one in RELEASES.items()})


def have(monkeypatch: pytest.MonkeyPatch, **versions: str) -> None:
    """Pretend that compilers are installed in these versions, and no others."""
    real = version
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(releases, "version", lambda name: versions.get(name) or real(name))
    specs = {name: SimpleNamespace(name=name) for name in versions}
    monkeypatch.setattr(releases, "find_spec", specs.get)


def report(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    outcomes: dict[tuple[str, str], Outcome],
) -> tuple[int, str]:
    """Run the command with outcomes in place of processes; return the exit code and the text."""
    monkeypatch.setattr(doctor, "self_test", lambda *pair: outcomes.get(pair, ABSENT))
    monkeypatch.setattr(doctor, "window", lambda: "by tkinter")
    code = main(["doctor"])
    out, err = capsys.readouterr()
    assert err == ""
    return code, out


def test_a_machine_with_a_cpu_is_well(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "ticache").mkdir()
    (tmp_path / "ticache" / "kernel.tic").write_bytes(bytes(3 * 2**20))
    monkeypatch.setenv("TI_SOMETHING", "1")
    monkeypatch.setenv("QD_ANOTHER", "2")
    works = replace(WORKS, cache=str(tmp_path))
    slow = Outcome(True, "works", str(tmp_path), 12.5, 2.5e-3)
    crashed = Outcome(False, "crashed with SIGSEGV: nothing on stderr")
    found = {("taichi", "cpu"): works, ("quadrants", "cpu"): slow, ("quadrants", "cuda"): crashed}
    code, text = report(monkeypatch, capsys, found)
    assert code == 0
    assert f"Python   {sys.version.split()[0]}, {sys.executable}\n" in text
    assert "\nEnvironment  QD_ANOTHER=2\n" in text
    assert "\nEnvironment  TI_SOMETHING=1\n" in text
    quadrants = RELEASES["quadrants"].wanted
    assert (
        f"""
Substrates
  taichi     1.7.4, used unless a program names another
  quadrants  {quadrants}
  python     needs no compiler: dt.init(arch='python')

Devices, each with a gradient that is known
  substrate  device  first launch      launch  result
  taichi     cpu           0.12 s      6.0 us  works
  taichi     cuda                              not available
  taichi     vulkan                            not available
  taichi     metal                             not available
  quadrants  cpu          12.50 s      2.5 ms  works
  quadrants  cuda                              crashed with SIGSEGV: nothing on stderr
  quadrants  vulkan                            not available
  quadrants  metal                             not available
  quadrants  amdgpu                            not available

Cache of compiled kernels
  {tmp_path}, 3.0 MiB in 1 files

"""
        in text
    )
    assert text.count("Cache") == 1
    assert all(f"\n  {name} " in text for name in OPTIONAL)


def test_a_machine_whose_cpu_fails_is_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = Outcome(False, "crashed with SIGSEGV: nothing on stderr")
    works = {("taichi", "cuda"): WORKS, ("quadrants", "cpu"): WORKS}
    code, text = report(monkeypatch, capsys, {("taichi", "cpu"): broken, **works})
    assert code == 1
    assert text.endswith("\nThe CPU does not work with Taichi: nothing of difftile does.\n")
    assert "Cache" not in text


def test_the_environment_says_whose_cpu_has_to_work(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, "quadrants")
    code, text = report(monkeypatch, capsys, {("quadrants", "cpu"): WORKS})
    assert code == 0
    assert f"Environment  {VARIABLE}=quadrants\n" in text
    wanted = RELEASES["quadrants"].wanted
    assert f"  quadrants  {wanted}, used unless a program names another\n" in text
    monkeypatch.setenv(VARIABLE, "warp")
    code, text = report(monkeypatch, capsys, {("taichi", "cpu"): WORKS})
    assert code == 1
    assert "  taichi     cpu           0.12 s      6.0 us  works\n" in text
    message = "Unknown substrate 'warp'. Choose one of: taichi, quadrants."
    assert text.endswith(f"\n{message}\n")


def test_a_substrate_that_is_missing_comes_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    have(monkeypatch, taichi="1.7.4")
    code, text = report(monkeypatch, capsys, {("taichi", "cpu"): WORKS})
    assert code == 0
    assert "\n  quadrants  not installed: pip install 'difftile[quadrants]'\n" in text
    assert "\n  quadrants  cpu" not in text


def test_a_machine_without_a_compiler(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    have(monkeypatch)
    code, text = report(monkeypatch, capsys, {})
    assert code == 1
    assert "\nDevices" not in text
    assert "\ndifftile needs Taichi or Quadrants, and neither is installed: pip install" in text


@pytest.mark.parametrize("installed", [True, False])
def test_a_package_that_is_missing_comes_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], installed: bool
) -> None:
    real = doctor._version
    got = "1.11" if installed else "not installed"
    monkeypatch.setattr(doctor, "_version", lambda name: got if name == "scipy" else real(name))
    _, text = report(monkeypatch, capsys, {})
    line = next(line for line in text.splitlines() if line.startswith("  scipy "))
    way = "" if installed else " (pip install difftile[scipy])"
    assert line.split(maxsplit=1)[1] == f"{got}{way}: dt.optim.scipy_minimize"


def test_another_version_is_named_and_not_tested(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    have(monkeypatch, quadrants="1.2.0")
    code, text = report(monkeypatch, capsys, {("quadrants", "cpu"): WORKS})
    needed = f"1.2.0, but difftile needs {RELEASES['quadrants'].wanted}"
    assert f"\n  quadrants  {needed}: pip install 'difftile[quadrants]'\n" in text
    assert code == 1
    assert "\nDevices" not in text
    assert text.endswith("pip install 'difftile[quadrants]'.\n")


@pytest.mark.parametrize(
    ("code", "out", "err", "text"),
    [
        (0, 'noise\n{"first": 1.25, "launch": 3e-6, "cache": "/c"}\n', "", "works"),
        (0, '{"error": "arch \'cuda\' is not available on this machine."}', "", "not available"),
        (0, '{"error": "the gradient is wrong: [1.0], not [2.0]"}', "",
         "the gradient is wrong: [1.0], not [2.0]"),
        (1, "", "Traceback ...\nImportError: no taichi\n",
         "ended with exit code 1: ImportError: no taichi"),
        (-11, "", "", "crashed with SIGSEGV: nothing on stderr"),
        (-6, '{"first": 1.25, "launch": 3e-6, "cache": "/c"}\n', "",
         "crashed with SIGABRT: nothing on stderr"),
        (-99, "", "bang", "crashed with signal 99: bang"),
        (0, "", "", "ended with exit code 0: nothing on stderr"),
    ],
)  # fmt: skip
def test_what_a_process_says_is_understood(code: int, out: str, err: str, text: str) -> None:
    outcome = read_outcome(code, out, err)
    assert outcome.text == text
    assert outcome.works == text.startswith("works")


@pytest.mark.parametrize("substrate", RELEASES)
def test_the_cpu_passes_the_self_test(substrate: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    if RELEASES[substrate].complaint:
        pytest.skip(RELEASES[substrate].complaint)
    outcome = self_test(substrate, "cpu")
    if outcome.text == "the process did not load quadrants":
        pytest.skip(outcome.text)
    assert outcome.works, outcome.text
    assert outcome.text == "works"
    assert Path(outcome.cache).name == "difftile"
    assert outcome.first is not None
    assert outcome.launch is not None
    assert 0.0 < outcome.launch < outcome.first < 100.0


def test_a_device_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(command: list[str], **options: Any) -> None:
        raise subprocess.TimeoutExpired(command, options["timeout"])

    monkeypatch.setattr(subprocess, "run", hang)
    assert self_test("taichi", "vulkan") == Outcome(False, "no answer within 120 s")


def test_every_extra_for_users_is_listed() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    extras = tomllib.loads(text)["project"]["optional-dependencies"]
    for_users = set(extras) - {"dev", "dist", "docs", "quadrants"}  # the last is a substrate
    assert {row.extra for row in OPTIONAL.values() if row.extra} == for_users
    for name, row in OPTIONAL.items():
        assert not row.extra or any(line.startswith(name) for line in extras[row.extra])


def test_devices_are_those_of_init() -> None:
    assert {*RELEASES[chosen()].devices} == set(backend().devices.ARCHS) - {"gpu"}


def test_measured_costs_are_listed(tmp_path: Path) -> None:
    (tmp_path / "costs-0123-2.json").write_text('{"waking": 61000.0, "plain": 1.5}')
    (tmp_path / "costs-0123-4.json").write_text("[1")
    assert doctor.measured_costs(tmp_path) == [
        "Costs of sums into shared elements, 2 threads [ns]: waking 61000, plain 1.5",
        "Costs of sums into shared elements, 4 threads [ns]: "
        "unreadable, and measured again when needed",
    ]


def test_the_window_is_that_of_the_display(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, text = report(monkeypatch, capsys, {})
    assert "\nWindow   by tkinter\n" in text


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="there is always a display")
def test_a_missing_display_is_the_reason_for_no_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    assert doctor.window() == "none, since DISPLAY is not set"


def test_a_display_that_fails_does_not_end_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert doctor.window() == "unknown, since asking the display ended with exit code 1"

    def late(*_: object, **options: float) -> None:
        raise subprocess.TimeoutExpired("python", options["timeout"])

    monkeypatch.setattr(subprocess, "run", late)
    assert doctor.window() == "unknown, since the display did not answer within 120 s"


def test_engines_of_ranks_come_with_their_launchers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    versions = {"torch": "2.13.0", "mpi4py": "not installed"}
    monkeypatch.setattr(doctor, "_version", lambda name: versions[name])
    monkeypatch.setattr(doctor.sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(doctor.shutil, "which", lambda _: None)
    torch, mpi = doctor.engines_of_ranks()
    assert torch == "torch  torch 2.13.0, but no torchrun, which starts ranks"
    assert mpi == "mpi    no mpi4py (pip install difftile[mpi])"
    (tmp_path / "torchrun").touch()
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "4")
    torch, _, place = doctor.engines_of_ranks()
    assert torch.endswith(f"{tmp_path / 'torchrun'}: torchrun --nproc-per-node=4 program.py")
    assert place == "this process is rank 1 of 4, started by torchrun"
