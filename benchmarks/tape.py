"""The cost of launching, recording and reversing, apart from the work itself.

Launches of kernels with 1, 4 and 16 ndarrays, and with one of several in turn, compared with
Taichi's own launches of the same loops, turn by turn in one process; launches on a tape less
launches without one; the time to reverse 1,000, 10,000 and 100,000 launches; and the cost of
diagnosis (`Tape(diagnose=True)`).
Figures are of the fastest of the rounds, so that they exclude other work of the machine.

With `--arch cuda` only: the time to reverse a tape of one launch, less that of its kernels, which
is what one launch more adds to a tape of many.
"""

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import taichi as ti

import difftile as dt
from difftile.arguments import Parser, positive_int

RECORD_TARGET, LAUNCH_TARGET = 5.0, 0.5
REVERSE_TARGET = 60.0  # us, of one launch on a GPU
OPEN_TARGET = 1.1  # a tape beside 10,000 living fields, compared with one beside 10
LAUNCHES = 100  # a round: short enough to run undisturbed by other programs


@dt.kernel
def of_1(a):
    for i in a:
        a[i] = a[i] + 1.0


@dt.kernel
def of_4(a, b, c, d):
    for i in a:
        a[i] = b[i] + c[i] + d[i]


@dt.kernel
def of_16(a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q):
    for r in a:
        a[r] = b[r] + c[r] + d[r] + e[r] + f[r] + g[r] + h[r] + i[r]
        a[r] = a[r] + j[r] + k[r] + m[r] + n[r] + o[r] + p[r] + q[r]


@dt.kernel
def grow(a, b):
    for i in a:
        a[i] = a[i] * b[i]


def taichi_kernels() -> dict[int, Callable[[bool], Any]]:
    """Return for each number of ndarrays the maker of Taichi's kernel, serial or by default."""
    array = ti.types.ndarray(ti.f32, ndim=1)

    def one(serial: bool) -> Any:
        @ti.kernel
        def of_1(a: array):
            ti.loop_config(serialize=serial)
            for i in range(a.shape[0]):
                a[i] = a[i] + 1.0

        return of_1

    def four(serial: bool) -> Any:
        @ti.kernel
        def of_4(a: array, b: array, c: array, d: array):
            ti.loop_config(serialize=serial)
            for i in range(a.shape[0]):
                a[i] = b[i] + c[i] + d[i]

        return of_4

    def sixteen(serial: bool) -> Any:
        @ti.kernel
        def of_16(
            a: array, b: array, c: array, d: array, e: array, f: array, g: array, h: array,
            i: array, j: array, k: array, m: array, n: array, o: array, p: array, q: array,
        ):  # fmt: skip
            ti.loop_config(serialize=serial)
            for r in range(a.shape[0]):
                a[r] = b[r] + c[r] + d[r] + e[r] + f[r] + g[r] + h[r] + i[r]
                a[r] = a[r] + j[r] + k[r] + m[r] + n[r] + o[r] + p[r] + q[r]

        return of_16

    return {1: one, 4: four, 16: sixteen}


OURS: dict[int, Any] = {1: of_1, 4: of_4, 16: of_16}


def each(call: Callable[[], object], launches: int) -> float:
    """Return the time of one of many calls [us]."""
    started = time.perf_counter()
    for _ in range(launches):
        call()
    return 1e6 * (time.perf_counter() - started) / launches


def fastest(calls: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """Measure turn by turn; return the best time of each."""
    best = {name: call() for name, call in calls.items()}
    for _ in range(rounds):
        best = {name: min(best[name], call()) for name, call in calls.items()}
    return best


def compare_launches(rounds: int) -> None:
    """Print the cost of a launch, ours and Taichi's."""
    print(f"{'launch [us]':34}{'difftile':>10}{'Taichi':>10}{'ratio':>8}   target")
    makers = taichi_kernels()
    for size, serial, numbers in ((4, True, (1, 4, 16)), (1000, False, (4,))):
        for number in numbers:
            ours = [dt.zeros(size) for _ in range(number)]
            theirs = [ti.ndarray(ti.f32, size) for _ in range(number)]
            kernel, peer = OURS[number], makers[number](serial)
            best = fastest(
                {
                    "ours": lambda k=kernel, a=ours: each(lambda: k(*a), LAUNCHES),
                    "Taichi": lambda k=peer, a=theirs: each(lambda: k(*a), LAUNCHES),
                },
                rounds,
            )
            ratio = best["ours"] / best["Taichi"]
            loops = "serial loops" if serial else "Taichi's default"
            label = f"{number} ndarrays of {size}, {loops}"
            print(
                f"{label:34}{best['ours']:10.2f}{best['Taichi']:10.2f}{ratio:8.2f}"
                f"   <= {LAUNCH_TARGET}, {'met' if ratio <= LAUNCH_TARGET else 'not met'}"
            )


def compare_fields(rounds: int) -> None:
    """Print the cost of a launch on fields and arrays that come in turn, ours and Taichi's.

    A kernel knows its latest 32 launches; for others it binds its code to the fields again.
    """
    print(f"\n{'launch [us]':34}{'difftile':>10}{'Taichi':>10}{'ratio':>8}")
    peer = taichi_kernels()[1](True)
    makers: dict[str, Callable[[], Any]] = {
        "fields": lambda: dt.zeros(4),
        "arrays": lambda: np.zeros(4, np.float32),
    }
    for name, make in makers.items():
        for count in (8, 100):
            ours = [make() for _ in range(count)]
            theirs = [ti.ndarray(ti.f32, 4) for _ in range(count)]
            best = fastest(
                {
                    "ours": lambda a=ours: each_of(of_1, a),
                    "Taichi": lambda a=theirs: each_of(peer, a),
                },
                rounds,
            )
            ratio = best["ours"] / best["Taichi"]
            label = f"{count} {name} of 4 in turn"
            print(f"{label:34}{best['ours']:10.2f}{best['Taichi']:10.2f}{ratio:8.2f}")


def each_of(call: Callable[[Any], object], args: Sequence[Any]) -> float:
    """Return the time of one of many calls with arguments in turn [us]."""
    args = [*args] * max(1, LAUNCHES // len(args))
    started = time.perf_counter()
    for one in args:
        call(one)
    return 1e6 * (time.perf_counter() - started) / len(args)


def taped(call: Callable[[], object], launches: int, **limits: Any) -> float:
    """Return the time of one of many launches on a tape [us]."""
    with dt.Tape(**limits) as tape:
        spent = each(call, launches)
    tape.release()
    return spent


def compare_recording(rounds: int) -> None:
    """Print the additional cost of recording a launch."""
    print(f"\n{'launch [us]':34}{'alone':>10}{'on a tape':>10}{'more':>8}   target")
    four = [dt.zeros(4, grad=True) for _ in range(4)]
    two = [dt.ones(4, grad=True) for _ in range(2)]
    cases: dict[str, tuple[Callable[[], object], dict[str, Any]]] = {
        "4 fields, nothing kept": (lambda: of_4(*four), {}),
        "2 fields, one kept": (lambda: grow(*two), {}),
        "4 fields, nothing kept, 1 MB": (lambda: of_4(*four), {"memory": "1MB"}),
        "2 fields, one kept, 1 kB": (lambda: grow(*two), {"memory": "1kB"}),
    }
    for label, (call, limits) in cases.items():
        best = fastest(
            {
                "alone": lambda c=call: each(c, LAUNCHES),
                "taped": lambda c=call, limits=limits: taped(c, LAUNCHES, **limits),
            },
            rounds,
        )
        more = best["taped"] - best["alone"]
        target = f"<= {RECORD_TARGET}, {'met' if more <= RECORD_TARGET else 'not met'}"
        print(
            f"{label:34}{best['alone']:10.2f}{best['taped']:10.2f}{more:8.2f}"
            f"   {'' if limits else target}"
        )


def compare_lengths(lengths: Sequence[int]) -> None:
    """Print the cost of reversing a launch on tapes of different lengths."""
    print(f"\n{'launches on the tape':34}{'recording':>10}{'reversing':>10}   [us a launch]")
    a, b = dt.ones(4, grad=True), dt.ones(4, grad=True)
    for length in lengths:
        best = [float("inf")] * 2
        for _ in range(3):
            with dt.Tape() as tape:
                recording = each(lambda: grow(a, b), length)
            started = time.perf_counter()
            tape.backward({a: 1.0})
            reversing = 1e6 * (time.perf_counter() - started) / length
            best = [min(best[0], recording), min(best[1], reversing)]
            assert np.array_equal(b.grad.to_numpy(), np.full(4, length, np.float32))
        print(f"{length:<34,}{best[0]:10.2f}{best[1]:10.2f}")


def compare_opening(rounds: int) -> None:
    """Print the cost of a tape with one launch beside few and many living fields."""
    label = "living fields with gradients"
    print(f"\n{label:34}{'a tape':>10}   [us]   target")
    a, b = dt.ones(4, grad=True), dt.ones(4, grad=True)

    def opened() -> None:
        with dt.Tape() as tape:
            grow(a, b)
        tape.backward({a: 1.0})

    living: list[dt.Field] = []
    times: dict[int, float] = {}
    for number in (10, 10_000):
        living += [dt.zeros(4, grad=True) for _ in range(number - len(living))]
        times[number] = fastest({"": lambda: each(opened, 100)}, max(3, rounds // 20))[""]
        print(f"{number:<34,}{times[number]:10.2f}")
    ratio = times[10_000] / times[10]
    verdict = "met" if ratio <= OPEN_TARGET else "not met"
    print(f"{'ratio':34}{ratio:10.2f}          <= {OPEN_TARGET}, {verdict}")


@dt.kernel
def curve(x, y):
    for i in x:
        y[i] = ti.sin(x[i]) * x[i] + 0.5 * x[i] * x[i]


def compare_one_launch(rounds: int) -> None:
    """Print the cost of reversing a tape of one launch beside that of its kernels."""
    label = "reversing one launch, its seed"
    print(f"{label:34}{'alone':>10}{'of many':>10}{'more':>8}   [us]   target")
    many = 50
    for size in (1000, 2**24):
        x, y = dt.full(size, 0.5, ti.f32, grad=True), dt.zeros(size, ti.f32, grad=True)
        seeds: dict[str, Any] = {"a number": 1.0, "a field": dt.ones(size, ti.f32)}

        def reversed_(launches: int, seed: Any, x: dt.Field = x, y: dt.Field = y) -> float:
            with dt.Tape() as tape:
                for _ in range(launches):
                    curve(x, y)
            ti.sync()
            started = time.perf_counter()
            tape.backward({y: seed})
            ti.sync()
            return 1e6 * (time.perf_counter() - started)

        for name, seed in seeds.items():
            calls = {str(n): lambda n=n, s=seed: reversed_(n, s) for n in (1, many + 1)}
            best = fastest(calls, rounds)
            kernels = (best[str(many + 1)] - best["1"]) / many
            more = best["1"] - kernels
            print(
                f"{f'{size:,} elements, {name}':34}{best['1']:10.1f}{kernels:10.1f}{more:8.1f}"
                f"          <= {REVERSE_TARGET:g}, {'met' if more <= REVERSE_TARGET else 'not met'}"
            )


@dt.kernel
def bounce(x, v):
    for i in x:
        v[i] = 0.99 * v[i] - 0.01 * ti.sin(x[i])
        x[i] = ti.max(x[i] + 0.01 * v[i], 0.0)


def compare_diagnosis(rounds: int) -> None:
    """Print the cost of launches and their adjoints without and with diagnosis."""
    title = "diagnosis [us a launch]"
    print(f"\n{title:34}{'recording':>10}{'reversing':>10}")
    for size in (4, 100_000):
        x, v = dt.ones(size, grad=True), dt.ones(size, grad=True)
        for diagnose in (False, True):
            best = [float("inf")] * 2
            for _ in range(max(3, rounds // 20)):
                x.fill(1.0)
                v.fill(1.0)
                with dt.Tape(diagnose=diagnose) as tape:
                    recording = each(lambda x=x, v=v: bounce(x, v), LAUNCHES)
                started = time.perf_counter()
                tape.backward({x: 1.0})
                reversing = 1e6 * (time.perf_counter() - started) / LAUNCHES
                best = [min(best[0], recording), min(best[1], reversing)]
            label = f"{size} elements, diagnose={diagnose}"
            print(f"{label:34}{best[0]:10.2f}{best[1]:10.2f}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code, which does not depend on the figures."""
    parser = Parser("python -m benchmarks.tape", __doc__)
    parser.add_argument("--rounds", type=positive_int, default=200, help="default: %(default)s")
    parser.add_argument("--quick", action="store_true", help="few rounds, and no tape of 100,000")
    parser.add_argument("--arch", default="cpu", help="default: %(default)s")
    options = parser.parse_args(argv)
    rounds = 20 if options.quick else options.rounds
    dt.init(arch=options.arch, offline_cache=False)
    if options.arch != "cpu":
        compare_one_launch(rounds)
        return 0
    compare_launches(rounds)
    compare_recording(rounds)
    compare_lengths((1000, 10_000) if options.quick else (1000, 10_000, 100_000))
    compare_opening(rounds)
    compare_diagnosis(rounds)
    compare_fields(rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
