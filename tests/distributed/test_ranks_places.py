"""The place of a rank: its launcher, its engine, its device and its share of the cores."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from difftile.diagnostics import RankError
from difftile.ranks import Message, choice, devices, launchers, mpi_engine
from difftile.ranks.launchers import RankPlace, place

TORCHRUN = {"RANK": "5", "WORLD_SIZE": "8", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "4"}
MPICH = {"PMI_RANK": "3", "PMI_SIZE": "4", "MPI_LOCALRANKID": "3", "MPI_LOCALNRANKS": "4"}
OPEN_MPI = {
    "OMPI_COMM_WORLD_RANK": "2",
    "OMPI_COMM_WORLD_SIZE": "6",
    "OMPI_COMM_WORLD_LOCAL_RANK": "0",
    "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
}
SRUN = {
    "SLURM_PROCID": "9",
    "SLURM_STEP_NUM_TASKS": "11",
    "SLURM_LOCALID": "1",
    "SLURM_NODEID": "2",
    "SLURM_STEP_TASKS_PER_NODE": "4(x2),3",
}
SBATCH = {"SLURM_PROCID": "0", "SLURM_NTASKS": "11", "SLURM_LOCALID": "0", "SLURM_NODEID": "0"}
ADDRESS = {"MASTER_ADDR": "node1", "MASTER_PORT": "29500"}


@pytest.fixture(autouse=True)
def no_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin without a launcher, and without an engine."""
    for given in (TORCHRUN, MPICH, OPEN_MPI, SRUN, SBATCH, ADDRESS):
        for name in given:
            monkeypatch.delenv(name, raising=False)
    for name in ("DIFFTILE_RANKS", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(choice._Chosen, "engine", None)
    monkeypatch.setattr(choice._Chosen, "by_name", False)
    monkeypatch.setattr(choice, "_existing", lambda: None)
    monkeypatch.setattr(devices, "_running_devices", lambda: None)
    monkeypatch.setattr(choice, "atexit", SimpleNamespace(register=lambda *_: None))


def given(monkeypatch: pytest.MonkeyPatch, *variables: dict[str, str], **others: str) -> None:
    """Set environment variables."""
    for some in (*variables, others):
        for name, value in some.items():
            monkeypatch.setenv(name, value)


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, None),
        ({"RANK": "3"}, None),
        (SBATCH, None),
        (TORCHRUN, RankPlace("torchrun", "torch", 5, 8, 1, 4)),
        (MPICH, RankPlace("mpiexec", "mpi", 3, 4, 3, 4)),
        (OPEN_MPI, RankPlace("mpiexec of Open MPI", "mpi", 2, 6, 0, 2)),
        (SRUN, RankPlace("srun", "mpi", 9, 11, 1, 3)),
        (SRUN | ADDRESS, RankPlace("srun", "torch", 9, 11, 1, 3)),
        (SRUN | TORCHRUN, RankPlace("torchrun", "torch", 5, 8, 1, 4)),
        (SRUN | MPICH, RankPlace("mpiexec", "mpi", 3, 4, 3, 4)),
        ({"PMI_RANK": "0", "PMI_SIZE": "2"}, RankPlace("mpiexec", "mpi", 0, 2, None, None)),
    ],
)
def test_a_launcher_says_the_place(variables: dict[str, str], expected: RankPlace | None) -> None:
    assert place(variables) == expected


@pytest.mark.parametrize(
    ("listed", "count"), [("2", None), ("2(x3)", 2), ("1,2,7", 7), ("?", None)]
)
def test_the_tasks_of_a_node(listed: str, count: int | None) -> None:
    found = place(SRUN | {"SLURM_STEP_TASKS_PER_NODE": listed})
    assert found is not None and found.local_size == count


@pytest.mark.parametrize(
    ("variables", "text"),
    [
        ({"RANK": "8", "WORLD_SIZE": "8"}, "RANK=8 is no rank: WORLD_SIZE=8 processes count from"),
        ({"RANK": "-1", "WORLD_SIZE": "8"}, "RANK=-1 is no rank"),
        (
            {"RANK": "a", "WORLD_SIZE": "8"},
            "The environment variable RANK is to hold a number, and",
        ),
    ],
)
def test_a_place_that_cannot_be(variables: dict[str, str], text: str) -> None:
    with pytest.raises(RankError, match=text):
        place(variables)


def test_a_program_without_a_launcher_works_alone() -> None:
    engine = choice.current()
    assert (engine.name, engine.rank, engine.size) == ("alone", 0, 1)
    numbers, came = np.arange(3.0), np.zeros(3)
    engine.all_reduce(numbers).wait("the test")
    engine.exchange([Message(0, numbers)], [Message(0, came)]).wait("the test")
    np.testing.assert_array_equal(came, [0.0, 1.0, 2.0])
    with pytest.raises(RankError, match="There is no rank 1: this process works alone"):
        engine.exchange([Message(1, numbers)], [])


def test_one_process_of_a_launcher_works_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, RANK="0", WORLD_SIZE="1")
    assert choice.current().name == "alone"


@pytest.mark.parametrize(
    ("variables", "backend", "name"),
    [
        (TORCHRUN, None, "torch"),
        (MPICH, None, "mpi"),
        (TORCHRUN, "mpi", "mpi"),
        (MPICH | {"DIFFTILE_RANKS": "torch"}, None, "torch"),
        (TORCHRUN | {"DIFFTILE_RANKS": "alone"}, None, "alone"),
        (TORCHRUN | {"DIFFTILE_RANKS": "mpi"}, "alone", "alone"),
    ],
)
def test_which_engine_connects(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], backend: str | None, name: str
) -> None:
    made: list[str] = []
    for one, known in list(choice.ENGINES.items()):
        fake: Any = choice.Known(
            lambda _, one=one: made.append(one) or choice.SingleRank(1.0), known.package, "", ""
        )
        monkeypatch.setitem(choice.ENGINES, one, fake)
    given(monkeypatch, variables)
    choice.start(backend)
    assert made == [name]


def test_an_engine_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RankError, match=r"one of 'alone', 'torch', 'mpi', not 'nccl'\."):
        choice.start("nccl")
    given(monkeypatch, DIFFTILE_RANKS="gloo")
    with pytest.raises(
        RankError, match=r"not 'gloo'\. The environment variable DIFFTILE_RANKS says"
    ):
        choice.start()


@pytest.mark.parametrize("timeout", [0.0, -1.0, float("nan")])
def test_a_time_out_is_a_time(timeout: float) -> None:
    with pytest.raises(RankError, match="timeout is a time in seconds"):
        choice.start(timeout=timeout)


def test_an_engine_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, MPICH)
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    monkeypatch.setitem(sys.modules, "mpi4py.MPI", None)
    with pytest.raises(RankError, match=r"started 4 processes. .* pip install 'difftile\[mpi\]'"):
        choice.start()


def test_the_engine_is_chosen_once() -> None:
    choice.current()
    with pytest.raises(RankError, match=r"This process has worked alone already: call dist\.start"):
        choice.start("torch")
    assert choice.start("alone", timeout=7.0).waiting.timeout == 7.0


def test_a_group_that_comes_too_late_is_not_overlooked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choice.current().size == 1
    monkeypatch.setattr(choice, "_existing", lambda: "torch")
    with pytest.raises(RankError, match="has worked alone, and then joined others by torch or MPI"):
        choice.current()


@pytest.mark.parametrize(
    ("variables", "visible", "expected"),
    [
        ({}, None, None),
        (TORCHRUN, None, "1"),
        (TORCHRUN, "4,5,6,7", "5"),
        (TORCHRUN, "GPU-a, GPU-b", "GPU-b"),
        (TORCHRUN, "3", "3"),  # the launcher has chosen
        (TORCHRUN, "", ""),
        (TORCHRUN | {"DIFFTILE_RANKS": "alone"}, "0,1", "0,1"),
        (TORCHRUN | {"LOCAL_WORLD_SIZE": "1"}, "0,1", "0,1"),
    ],
)
def test_each_rank_sees_its_device(
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    visible: str | None,
    expected: str | None,
) -> None:
    given(monkeypatch, variables)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    else:  # so that the variable is gone after the test
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    for _ in range(2):
        devices.choose_device()
        assert os.environ.get("CUDA_VISIBLE_DEVICES") == expected


@pytest.mark.parametrize(
    ("variables", "visible", "running", "text"),
    [
        (
            MPICH,
            "0,1",
            None,
            "Rank 3 is number 3 on its host, where CUDA_VISIBLE_DEVICES=0,1 has 2",
        ),
        (TORCHRUN, None, 4, "Rank 5: CUDA was started before .* sees 4 devices"),
        ({"PMI_RANK": "0", "PMI_SIZE": "2"}, None, None, "mpiexec does not say which rank of its"),
    ],
)
def test_a_device_that_is_not_known(
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    visible: str | None,
    running: int | None,
    text: str,
) -> None:
    given(monkeypatch, variables)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    monkeypatch.setattr(devices, "_running_devices", lambda: running)
    with pytest.raises(RankError, match=text):
        devices.choose_device()


def test_ranks_of_a_host_share_its_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    masks = {0: set(range(10)), os.getppid(): set(range(10))}
    monkeypatch.setattr(devices.os, "sched_getaffinity", lambda pid: masks[pid], raising=False)
    assert devices.threads() is None
    given(monkeypatch, TORCHRUN)
    assert devices.threads() == 2
    masks[0] = {3}  # shared, not bound: the parent may use the same
    masks[os.getppid()] = {3}
    assert devices.threads() == 1
    masks[os.getppid()] = set(range(10))  # bound by the launcher
    assert devices.threads() is None


def test_the_driver_that_does_not_run_sees_no_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    library = SimpleNamespace(cuDeviceGetCount=lambda _: 3)
    monkeypatch.setattr(devices.ctypes, "CDLL", lambda _: library)
    assert devices._running_devices() is None
    library.cuDeviceGetCount = lambda found: setattr(found._obj, "value", 4) or 0
    assert devices._running_devices() == 4


def test_torch_needs_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="is about torch, not installed here")
    given(monkeypatch, MPICH, DIFFTILE_RANKS="torch")
    with pytest.raises(RankError, match="mpiexec does not say where torch's processes meet"):
        choice.start()
    for name in MPICH:
        monkeypatch.delenv(name)
    with pytest.raises(RankError, match="torch connects processes that a launcher has started"):
        choice.start()


def test_an_mpi_that_is_not_the_launcher_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    world = SimpleNamespace(
        Dup=lambda: world, Set_errhandler=lambda _: None, Get_rank=lambda: 0, Get_size=lambda: 1
    )
    fake = SimpleNamespace(
        COMM_WORLD=world, ERRORS_RETURN=0, Get_library_version=lambda: "MPICH Version: 5.0\nmore"
    )
    monkeypatch.setattr("difftile.ranks.mpi_engine.import_module", lambda _: fake)
    given(monkeypatch, OPEN_MPI)
    with pytest.raises(RankError, match=r"Open MPI started 6 processes, .*'MPICH Version: 5\.0'"):
        choice.start()


def test_launchers_name_engines_that_exist() -> None:
    assert {one.engine for one in launchers._LAUNCHERS} < set(choice.ENGINES)


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("cannot load MPI library\nlibmpi.so: cannot open shared object file"),
        ImportError("libmpi.so.12: cannot open shared object file"),
    ],
)
def test_mpi4py_without_an_mpi_says_what_to_install(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: str) -> None:
        raise error

    monkeypatch.setattr(mpi_engine, "import_module", fail)
    with pytest.raises(RankError, match=r"libmpi\.so.*Debian's mpich.*pip install mpich\. Or"):
        mpi_engine.MpiEngine(60.0)
