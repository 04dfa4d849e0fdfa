"""Ends of ranks: one that fails ends all with its message, in seconds, whoever has started them."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.ranks import ROOT, absent, mpiexec, places

_LONG = 120.0  # a process that has not ended by then hangs [s]

# What ranks do together, by name. Rank 0 computes while the last one fails, and others wait for it.
PROGRAM = """
import atexit, os, signal, sys, threading, time, warnings
from pathlib import Path
import numpy as np
from difftile.ranks import Message, agree, current, start, warned

# What a shell starts in the background, tests as well, ignores Ctrl+C.
signal.signal(signal.SIGINT, signal.default_int_handler)

def tell_threads():  # those of libraries, too
    names = [one.read_text().strip() for one in Path("/proc/self/task").glob("*/comm")]
    print(f"threads at the end: {', '.join(names)}\\n", end="", flush=True)

if sys.argv[1] == "threads" and sys.platform == "linux":
    atexit.register(tell_threads)  # before ranks are connected, so after their end
if sys.argv[1] == "stop before the start" and os.environ["PMI_RANK"] == "2":
    os.kill(os.getpid(), signal.SIGSTOP)
warned._DELAY = 10.0  # on a loaded machine, one rank may be seconds behind the others
start(timeout=float(sys.argv[2]))
me, size = current().rank, current().size
last = me == size - 1
agree(1.0)
print(f"rank {me} is connected\\n", end="", flush=True)

def compute():
    for _ in range(600):
        time.sleep(0.1)

def tell(waiting):
    while not waiting.whereabouts().startswith("waits for"):
        time.sleep(0.02)
    print(f"rank {me} waits\\n", end="", flush=True)

match sys.argv[1]:
    case "raise":
        if last:
            raise ValueError("the mesh is empty\\nand more")
        if me == 0 and size > 2:
            compute()
        try:
            agree(1.0)
        finally:
            print(f"rank {me} cleans up\\n", end="", flush=True)
    case "kill":
        if last:
            os.kill(os.getpid(), 9)
        agree(1.0)
    case "leave":
        if last:
            sys.exit(3)
        agree(1.0)
    case "stop":
        if last:
            os.kill(os.getpid(), signal.SIGSTOP)
        agree(1.0)
    case "stop at the end":
        if last:
            os.kill(os.getpid(), signal.SIGSTOP)
    case "sleep":
        if last:
            compute()
        other = np.zeros(4)
        threading.Thread(target=tell, args=(current().waiting,), daemon=True).start()
        current().exchange([], [Message(size - 1, other)]).wait("the exchange of 'u'")
    case "length":
        sends = [Message(1, np.zeros(3))] if me == 0 else []
        receives = [Message(0, np.zeros(4))] if me == 1 else []
        current().exchange(sends, receives).wait("the exchange of 'u'")
        agree(1.0)
    case "warn":
        warnings.warn(f"seen by all, here by {me}")
        if last:
            warnings.warn("seen by one")
        agree(1.0)  # all have warned before the first one ends
        time.sleep(2.0 * (me == 0))
        warnings.warn("late on rank 0, and at the end of the others")
print(f"rank {me} is done\\n", end="", flush=True)
"""


class Started:
    """Ranks that run the program.

    Args:
        engine: "torch", whose ranks are started one by one; "torchrun" or "mpi".
        size: How many.
        case: What they do.
        timeout: The limit of their waits [s].
        folder: Where the program is.
        more: More variables, of ranks that are started one by one.
    """

    def __init__(
        self, engine: str, size: int, case: str, timeout: float, folder: Path, **more: str
    ) -> None:
        needed = "mpi" if engine == "mpi" else "torch"
        if absent(needed):
            pytest.skip(f"ranks need {absent(needed)}, not installed here")
        file = folder / "waves.py"
        file.write_text(PROGRAM)
        program = [sys.executable, str(file), case, str(timeout)]
        common = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        common |= {"DIFFTILE_TRACEBACK": "short", "PYTHONWARNINGS": "default"}
        commands = [(program, common)]
        if engine == "torch":
            commands = [(program, {**common, **own, **more}) for own in places(size)]
        elif engine == "torchrun":
            run = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={size}"]
            commands = [([sys.executable, *run, *program[1:]], common)]
        else:
            commands = [([str(mpiexec()), "-n", str(size), *program], common)]
        self.output = folder / "output.txt"
        self.processes: list[subprocess.Popen[bytes]] = []
        with self.output.open("wb") as output:
            for command, environment in commands:
                started = subprocess.Popen(
                    command, env=environment, stdout=output, stderr=subprocess.STDOUT, cwd=folder
                )
                self.processes.append(started)
        self.size = size

    def connected(self) -> None:
        """Wait until all ranks are connected, or have ended: mpiexec may drop lines at an abort."""
        self.printed("is connected", self.size, unless_ended=True)

    def printed(self, what: str, times: int = 1, *, unless_ended: bool = False) -> None:
        """Wait until a text has been printed, or optionally until all processes have ended."""
        until = time.monotonic() + _LONG
        while self.text().count(what) < times:
            ended = all(one.poll() is not None for one in self.processes)
            if ended and unless_ended:
                return
            assert not ended and time.monotonic() < until, self.text()
            time.sleep(0.02)

    def text(self) -> str:
        """Return what they have printed so far."""
        return self.output.read_text(errors="replace")

    def end(self) -> tuple[list[int], float]:
        """Return their exit codes, and the time that they took from now on [s]."""
        begun = time.monotonic()
        try:
            codes = [one.wait(_LONG) for one in self.processes]
        except subprocess.TimeoutExpired:
            raise AssertionError(f"a rank hangs:\n{self.text()}") from None
        finally:
            for one in self.processes:
                one.kill()
        return codes, time.monotonic() - begun


def test_an_error_ends_all_ranks_without_a_launcher(tmp_path: Path) -> None:
    started = Started("torch", 3, "raise", 60.0, tmp_path)
    started.connected()
    codes, seconds = started.end()
    text = started.text()
    assert codes == [1, 1, 1]
    assert seconds < 30.0  # 3 on an idle machine, and never the limit of the wait
    assert "[rank 2] ValueError: the mesh is empty\n[rank 2] and more\n" in text
    why = "rank 2 failed: ValueError: the mesh is empty"
    assert f"[rank 1] Rank 1: an agreement cannot go on: {why}\n" in text
    assert "rank 1 cleans up\n" in text
    assert f"[rank 0] ended, since {why}\n" in text
    assert "is done" not in text


@pytest.mark.parametrize("engine", [pytest.param("torchrun", marks=pytest.mark.slow), "mpi"])
def test_an_error_ends_all_ranks_of_a_launcher(engine: str, tmp_path: Path) -> None:
    started = Started(engine, 2, "raise", 60.0, tmp_path)
    started.connected()
    codes, seconds = started.end()
    text = started.text()
    assert codes[0] != 0
    assert seconds < 30.0
    assert "[rank 1] ValueError: the mesh is empty\n" in text
    assert "is done" not in text


@pytest.mark.slow  # a process that fails is noticed in the same way
def test_a_rank_that_is_killed_ends_the_others(tmp_path: Path) -> None:
    started = Started("torch", 2, "kill", 60.0, tmp_path)
    started.connected()
    codes, seconds = started.end()
    assert codes == [1, -signal.SIGKILL]
    assert seconds < 30.0
    reason = "rank 1 failed: it ended without a message: it was killed, or crashed"
    assert f"[rank 0] Rank 0: an agreement cannot go on: {reason}\n" in started.text()


@pytest.mark.parametrize("engine", [pytest.param("torch", marks=pytest.mark.slow), "mpi"])
def test_a_rank_that_leaves_early_is_named(engine: str, tmp_path: Path) -> None:
    started = Started(engine, 2, "leave", 60.0, tmp_path)
    codes, _ = started.end()
    assert codes[0] != 0
    text = "Rank 0 waits for rank 1 in an agreement, its communication 4, but it has ended already."
    assert text in started.text()


@pytest.mark.parametrize(
    "case",
    ["stop before the start", pytest.param("stop", marks=pytest.mark.slow), "stop at the end"],
)
def test_a_rank_that_is_stopped_does_not_keep_mpiexec(case: str, tmp_path: Path) -> None:
    started = Started("mpi", 3, case, 3.0, tmp_path)
    codes, _ = started.end()
    assert codes[0] != 0, started.text()
    assert "rank 2 is done" not in started.text()


def test_an_abort_that_never_returns_ends_the_process(tmp_path: Path) -> None:
    program = tmp_path / "abort.py"
    program.write_text(
        "import threading\nfrom difftile.ranks import failures\nfailures._EXITS = 0.05\n"
        "failures._end(threading.Event().wait, 1)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(program)]
    ended = subprocess.run(command, check=False, env=environment, timeout=_LONG)
    assert ended.returncode == -signal.SIGALRM


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"", id="silent"),
        pytest.param(b"HTTP/1.1 400 Bad\r\n\r\n", id="http", marks=pytest.mark.slow),
    ],
)
def test_ranks_end_at_their_time_out_where_another_program_holds_the_port(
    answer: bytes, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        started = Started("torch", 2, "leave", 2.0, tmp_path, MASTER_PORT=port)
        threading.Thread(target=answered, args=(other, answer), daemon=True).start()
        codes, _ = started.end()
    text = started.text()
    assert codes == [1, 1], text
    for rank in (0, 1):
        assert f"Rank {rank} of 2 found no connection with the others" in text
    assert text.count(f"MASTER_PORT={port}") == 2 and "Another program may listen" in text


def answered(server: socket.socket, answer: bytes) -> None:
    """Answer all connections of a server in one way."""
    held: list[socket.socket] = []
    with suppress(OSError):
        while True:
            held.append(server.accept()[0])
            held[-1].sendall(answer)
    for one in held:
        one.close()


@pytest.mark.parametrize("engine", ["torch", "mpi"])
def test_a_rank_that_waits_too_long_names_the_step_and_the_other(
    engine: str, tmp_path: Path
) -> None:
    started = Started(engine, 2, "sleep", 3.0, tmp_path)
    started.connected()
    started.end()
    text = started.text()
    first = "Rank 0 has waited 3 s for rank 1 in the exchange of 'u', its communication 4."
    assert first in text
    line = next(n for n, one in enumerate(PROGRAM.splitlines(), 1) if "time.sleep(0.1)" in one)
    place = rf'\[rank 0\]   Rank 1 is at File ".*waves.py", line {line}, after 3 communications\.\n'
    assert re.search(place, text), text


@pytest.mark.parametrize("engine", ["torch", "mpi"])
def test_a_message_of_another_length_is_never_taken(engine: str, tmp_path: Path) -> None:
    started = Started(engine, 2, "length", 3.0, tmp_path)
    codes, _ = started.end()
    assert any(codes)
    step = r"the exchange of 'u', its communication 4"
    reason = {  # by torch both wait in vain, and either may be the first to say so
        "torch": rf"Rank \d has waited 3 s for rank \d in {step}\.",
        "mpi": rf"Rank 1 expected 32 bytes of rank 0 in {step}, and received 24\.",
    }
    assert re.search(reason[engine], started.text()), started.text()
    assert "rank 1 is done" not in started.text()


def test_ctrl_c_is_heard_while_a_rank_waits(tmp_path: Path) -> None:
    started = Started("torch", 2, "sleep", 60.0, tmp_path)
    started.printed("rank 0 waits")
    started.processes[0].send_signal(signal.SIGINT)
    codes, seconds = started.end()
    text = started.text()
    assert codes[0] in (130, -signal.SIGINT) and codes[1] == 1, text
    assert seconds < 30.0, text
    assert re.search(r"\[rank 0\] KeyboardInterrupt at .*waves.py, line \d+\n", text), text
    assert "[rank 1] ended, since rank 0 failed: KeyboardInterrupt" in text, text


def test_warnings_of_all_ranks_are_shown_once(tmp_path: Path) -> None:
    started = Started("torch", 3, "warn", 60.0, tmp_path)
    codes, _ = started.end()
    text = started.text()
    assert not any(codes)
    assert text.count("UserWarning: seen by all") == 1, text
    assert "UserWarning: seen by all, here by 0\n" in text
    assert len(re.findall(r"\[rank 2\] .*UserWarning: seen by one\n", text)) == 1
    assert text.count("UserWarning: seen by one") == 1
    assert 1 <= text.count("UserWarning: late on rank 0") <= 3  # never lost


@pytest.mark.parametrize(
    "engine",
    ["torch", pytest.param("torchrun", marks=pytest.mark.slow), "mpi"],  # torchrun is slow to start
)
def test_ranks_end_silently_when_they_are_done(engine: str, tmp_path: Path) -> None:
    started = Started(engine, 2, "threads", 60.0, tmp_path)
    codes, _ = started.end()
    text = started.text()
    assert not any(codes), text
    lines = {f"rank {me} is {what}" for me in (0, 1) for what in ("connected", "done")}
    assert {line for line in text.splitlines() if "rank" in line} == lines
    # A thread of gloo that still holds numbers when the interpreter ends aborts the process.
    assert text.count("threads at the end: ") == (2 if sys.platform == "linux" else 0), text
    assert "gloo" not in text
