"""The handler by which compiled XLA programs call Python."""

from __future__ import annotations

import ctypes
import functools
import gc
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

jax: Any = pytest.importorskip("jax")

from difftile.jax import ffi  # noqa: E402 - after it is known that JAX is there
from difftile.jax.ffi import ArraySignature, CallTarget, target_number  # noqa: E402

jnp = jax.numpy
ROW = ArraySignature(np.dtype(np.float32), (4,))


def array_at(address: int, one: ArraySignature = ROW) -> np.ndarray:
    size = one.dtype.itemsize * int(np.prod(one.shape))
    return np.frombuffer((ctypes.c_char * size).from_address(address), one.dtype).reshape(one.shape)


def program(run: Callable[..., None], arguments: int = 1, given: ArraySignature = ROW) -> Any:
    """Return a compiled program that calls a function on rows."""
    number = target_number(CallTarget(run, (ROW,) * arguments, (ROW,)))

    @jax.jit
    def call(*rows: Any) -> Any:
        result = jax.ShapeDtypeStruct(given.shape, given.dtype)
        return jax.ffi.ffi_call(ffi.NAME, result)(*rows, **{ffi.ATTRIBUTE: np.int64(number)})

    return call


def double(arguments: list[int], results: list[int], stream: int) -> None:
    assert stream == 0  # the CPU has none
    array_at(results[0])[...] = 2 * array_at(arguments[0])


def test_a_program_calls_a_function_by_its_number():
    assert program(double)(jnp.arange(4.0)).tolist() == [0.0, 2.0, 4.0, 6.0]


def test_calls_survive_a_collection():
    call = program(double)
    call(jnp.arange(4.0))
    gc.collect()
    assert call(jnp.ones(4)).tolist() == [2.0] * 4


@pytest.mark.parametrize(
    ("raised", "text"),
    [
        (ValueError("first line\nsecond \N{GREEK SMALL LETTER ALPHA}"), "ValueError: first line"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (SystemExit(3), "SystemExit: 3"),
    ],
)
def test_what_a_function_raises_is_an_error_of_the_program(raised: BaseException, text: str):
    def fail(arguments: list[int], results: list[int], stream: int) -> None:
        raise raised

    call = program(fail)
    for _ in range(2):
        with pytest.raises(Exception, match=text):
            jax.block_until_ready(call(jnp.ones(4)))


def test_the_wrong_arrays_are_refused():
    wide = ArraySignature(np.dtype(np.float32), (5,))
    with pytest.raises(Exception, match="expected 2 arguments, got 1"):
        jax.block_until_ready(program(double, arguments=2)(jnp.ones(4)))
    with pytest.raises(
        Exception, match=r"argument 0 should be float32\[4\], and has the shape \(3,"
    ):
        jax.block_until_ready(program(double)(jnp.ones(3)))
    with pytest.raises(Exception, match=r"argument 0 should be float32\[4\].* element type 4"):
        jax.block_until_ready(program(double)(jnp.ones(4, jnp.int32)))
    with pytest.raises(Exception, match=r"result 0 should be float32\[4\], and has the shape \(5,"):
        jax.block_until_ready(program(double, given=wide)(jnp.ones(4)))


def test_a_number_of_another_process_is_refused():
    call = jax.jit(lambda x: jax.ffi.ffi_call(ffi.NAME, x)(x, **{ffi.ATTRIBUTE: np.int64(7)}))
    target_number(CallTarget(double, (ROW,), (ROW,)))
    with pytest.raises(Exception, match="was compiled in another process"):
        jax.block_until_ready(call(jnp.ones(4)))


def test_programs_run_at_the_same_time_on_several_threads():
    call = program(double)
    call(jnp.ones(4))
    wrong: list[Any] = []

    def work(start: float) -> None:
        for k in range(200):
            row = np.arange(4, dtype=np.float32) + start + k
            if not np.array_equal(call(row), 2 * row):
                wrong.append((start, k))

    threads = [threading.Thread(target=work, args=(1000.0 * k,)) for k in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not wrong and not ffi._outcomes


def made_frame(stage: int, created: list[bytes]) -> tuple[Any, ...]:
    """Return a call frame, and what it refers to; errors are noted in a list."""

    @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(ffi._ErrorCreate))
    def create(asked: Any) -> int:
        created.append(asked.contents.message)
        return len(created)

    api = ffi._Api(error_create=ctypes.cast(create, ctypes.c_void_p))
    frame = ffi._Frame(api=ctypes.pointer(api), stage=stage)
    return frame, api, create


def test_stages_before_the_execution_do_nothing():
    created: list[bytes] = []
    frame, *kept = made_frame(0, created)
    _, outer = ffi._handler()
    assert outer(ctypes.addressof(frame)) in (0, None) and not created and kept


def test_an_interrupt_before_the_first_line_is_an_error(monkeypatch: pytest.MonkeyPatch):
    """XLA would take a call that Python never began for a successful one."""
    created: list[bytes] = []
    frame, *kept = made_frame(3, created)
    _, outer = ffi._handler()
    handler = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(
        ctypes.cast(outer, ctypes.c_void_p).value
    )
    # No bytecode runs between the two: Python hears of the signal where the handler begins.
    interrupt = functools.partial(ctypes.pythonapi.PyErr_SetInterrupt)
    call = functools.partial(handler, ctypes.addressof(frame))
    ignored: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda one: ignored.append(one.exc_type))
    # Processes in the background of a shell ignore the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        _, error = list(map(functools.partial.__call__, (interrupt, call)))
    finally:
        signal.signal(signal.SIGINT, before)
    assert ignored == [KeyboardInterrupt] and kept
    assert (error, created) == (1, [b"KeyboardInterrupt"])


EXIT = """
    import threading
    import jax, jax.numpy as jnp, numpy as np
    import difftile as dt
    {setup}
    dt.init(arch="cpu")

    @dt.kernel
    def square(x, y):
        for i in x:
            y[i] = x[i] * x[i]

    op = jax.jit(dt.jax.op(square, inputs=("x",), outputs={{"y": "x"}}))
    print(op(jnp.full(2, 3.0)).tolist())
    {end}
"""


def run(tmp_path: Path, **parts: str) -> tuple[int, str, str]:
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(EXIT).format(**{"setup": "", "end": "", **parts}))
    done = subprocess.run(
        [sys.executable, file], capture_output=True, text=True, timeout=120, check=False
    )
    return done.returncode, done.stdout, done.stderr


def test_a_process_ends_while_programs_run(tmp_path: Path):
    end = "later = [op(jnp.full(100_000, float(k))) for k in range(20)]"
    code, out, err = run(tmp_path, end=end)
    assert (code, out) == (0, "[9.0, 9.0]\n"), err


def test_programs_that_JAX_keeps_in_files_call_the_ops_of_their_process(tmp_path: Path):
    """A file of one process has the number of an op there, which may be another one here."""
    options = {
        "jax_compilation_cache_dir": str(tmp_path / "cache"),
        "jax_persistent_cache_min_entry_size_bytes": -1,
        "jax_persistent_cache_min_compile_time_secs": 0,
    }
    setup = f"[jax.config.update(*one) for one in {options!r}.items()]"
    for _ in range(2):
        code, out, err = run(tmp_path, setup=setup)
        assert (code, out) == (0, "[9.0, 9.0]\n"), err
