"""`dt.init`."""

from __future__ import annotations

import os
import sys

from difftile.compile.func import forget_all
from difftile.diagnostics import FieldError, TapeError
from difftile.fields.pending import check_fusing, run_pending, set_fusing
from difftile.fields.recording import Recording
from difftile.releases import RELEASES, VARIABLE
from difftile.schedule.scatters import check_strategy
from difftile.schedule.target import DETERMINISTIC
from difftile.substrate import chosen, current_session, start_session
from difftile.tracebacks import boundary, set_traceback


@boundary
def init(
    arch: str = "cpu",
    *,
    default_fp: object = "f32",
    seed: int = 0,
    debug: bool = False,
    fast_math: bool | None = None,
    math: str = "polynomials",
    fuse: bool | str = True,
    scatter: str = "auto",
    deterministic: bool = False,
    graphs: bool = True,
    traceback: str | None = None,
    substrate: str | None = None,
    stream: object = None,
    **options: object,
) -> None:
    """Start or restart difftile; fields made before become invalid.

    Without this call the first field starts difftile, on the architecture given to `ti.init` before
    or else on the CPU. Either start ends Taichi's own fields made before. Any thread may call this.
    A process forked from one that has started difftile must call this first.

    Where a launcher such as torchrun has started several processes on this host, each gets one of
    its GPUs, by its number there, and an equal share of the cores. All draw the same random numbers
    unless each has another `seed`.

    Args:
        arch: "cpu", "cuda", "vulkan", "metal", on Quadrants "amdgpu", or "gpu" for the one that is
            there. "python" runs kernels as Python over NumPy numbers, hundreds of times slower and
            without a compiler: `breakpoint()` stops in them. With the environment variable
            DIFFTILE_ARCH=python, programs that ask for "cpu" run so.
        default_fp: Type of floats where no field decides: `ti.f32` or `ti.f64`.
        seed: Seed of random numbers: with the same one a program draws the same numbers.
        debug: Check indices in kernels, and each pass of the compiler.
        fast_math: Compute sums and products in the order that is fastest, as if all numbers were
            finite; comparisons and `dt.exact` are not affected. By default this is on unless
            `debug` is. Without it arithmetic is done as it is written, and sums take several times
            as long.
        math: How functions such as `ti.sin` and `ti.log` are computed where vector instructions
            pay, which is in large launches on the CPU: "polynomials", with errors up to 2 units in
            the last place, or "libm" for the C library's everywhere.
        fuse: Run launches that repeat as one program where that pays; "always" does so wherever
            possible, regardless of compile time, and False never.
        scatter: How parallel loops on the CPU add to elements that several iterations share, as
            adjoints of gathers do. "atomics" adds atomically, and the sums differ in the last place
            from run to run; "copies" gives each thread a copy of the elements, and the sums are
            the same in every run; "serial" runs such loops on one thread. "auto" takes what is
            estimated to be fastest, from costs measured on this machine.
        deterministic: Make results the same to the last bit in every run on the same machine. On
            the CPU loops add as with "copies", on one thread where that is not possible; on CUDA
            they add integers, which is exact and takes 96 bytes of memory for a number in single
            precision and 616 in double. Kernels that need the elements they add to are refused
            there.
        graphs: Start launches of fused runs and backward passes as CUDA graphs, where sequences of
            kernels come again; only on CUDA with Quadrants, and not with `debug`.
        traceback: "short" hides the frames of the library in tracebacks of errors; "full" shows
            them. By default the environment variable DIFFTILE_TRACEBACK decides, or else it is
            "short".
        substrate: The compiler: "taichi" or "quadrants", its fork, for the whole process. By
            default the environment variable DIFFTILE_SUBSTRATE decides, or else it is Taichi if
            that is installed.
        stream: The stream of CUDA for all launches and copies, only with Quadrants: a stream of
            torch, CuPy or Numba, or its handle. By default this is the legacy null stream, which is
            also torch's default stream. A caller that gives a stream keeps it open until the next
            `dt.init`.
        options: Passed on to `ti.init`, such as `cpu_max_num_threads` or `offline_cache`; "python"
            takes none.

    Raises:
        FieldError: The architecture, the type or the substrate is unknown, or not there; another
            substrate runs in this process already; or `math`, `fuse`,
            `scatter` or `traceback` is something else.
        RankError: This process is one of several, and which GPU is its own is not known: CUDA has
            been started before on several, or the host has more processes than GPUs.
        TapeError: A tape is open.
    """
    if Recording.open:
        raise TapeError("dt.init() inside a tape would end the fields that it records.")
    check_fusing(fuse)
    check_strategy(scatter)
    if deterministic:
        if scatter != "auto":
            raise FieldError(
                f"deterministic=True says how loops add; leave out scatter={scatter!r}."
            )
        if arch not in ("cpu", "cuda", "python"):
            raise FieldError(f"deterministic=True is for arch='cpu' and 'cuda', not {arch!r}.")
        scatter = DETERMINISTIC
    set_traceback(traceback)
    run_pending()
    start_session(
        arch,
        default_fp,
        seed,
        debug,
        fast_math,
        math,
        scatter,
        graphs=graphs,
        substrate=substrate,
        stream=stream,
        **options,
    )
    set_fusing(fuse)
    forget_all()  # kernels that were compiled for the session before
    if substrate is None and current_session().device == "cuda":
        _advise()


def _advise() -> None:
    """Name the faster compiler, once and on a terminal, unless one was chosen.

    A wave of 500 steps took 5.5 ms forward and 7.7 ms backward with Taichi 1.7.4 on an H200, and
    2.3 and 2.2 ms with Quadrants 1.4.0, which starts the kernels of a run as one graph.
    """
    if _said or chosen() != "taichi" or os.environ.get(VARIABLE) or not _on_terminal():
        return
    _said.append(True)
    other = RELEASES["quadrants"]
    if not (other.is_installed or other.has_wheels):
        return
    there = "installed" if other.is_installed else f"one command away: {other.command}"
    print(
        f"difftile: on CUDA runs of many launches take less than half the time with Quadrants, "
        f"which is {there}. {VARIABLE}=quadrants or dt.init(substrate='quadrants') chooses it; "
        f"{VARIABLE}=taichi keeps Taichi without this line.",
        file=sys.stderr,
    )


_said: list[bool] = []


def _on_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
