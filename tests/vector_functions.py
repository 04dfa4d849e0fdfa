"""The vectorised functions in loops, arguments for them, and their values by mpmath."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from mpmath import mp, mpf

import difftile as dt
from difftile.ir.nodes import Array, Block, Program
from difftile.ir.types import F32, F64, FieldType
from difftile.substrate.emit import Emitted
from difftile.substrate.session import current_session
from difftile.substrate.vector_functions import FUNCTIONS, LIMITS

Numbers = npt.NDArray[Any]

EXACT: dict[str, Callable[..., Any]] = {
    **{name: getattr(mp, name) for name in ("sin", "cos", "tan", "exp", "expm1", "log1p", "tanh")},
    "exp2": lambda x: mpf(2) ** x,
    **{name: getattr(mp, name) for name in ("asin", "acos", "atan", "atan2", "erf")},
    "log": mp.log,
    "log2": lambda x: mp.log(x) / mp.log(2),
    "log10": mp.log10,
    "erfc": lambda x: mp.erfc(x) if x < 1e4 else mpf(0),
    "pow": lambda x, y: mp.power(x, y) if abs(y) < 1e6 or x > 0 else mp.nan,
    "logit": lambda x: mp.log(x / (1 - x)),
    "rsqrt": lambda x: 1 / mp.sqrt(x),
    "sigmoid": lambda x: mp.exp(x) / (1 + mp.exp(x)) if x < 0 else 1 / (1 + mp.exp(-x)),
    "log1pexp": lambda x: max(x, 0) + mp.log1p(mp.exp(-abs(x))),
}


def limit_of(name: str, dtype: Any) -> float:
    """Return what arguments of a function have to be below."""
    return LIMITS[name][int(dtype == np.float64)] if name in LIMITS else math.inf


# Loops


def compiled(names: Sequence[str], dtype: Any, spelled: Mapping[str, str] | None = None) -> Any:
    """Return a launcher of loops as they are emitted, one for each function.

    Each has an array for its results and one for each operand.

    Args:
        names: The functions.
        dtype: The precision.
        spelled: Other texts for the functions, with a place for each operand.
    """
    spelled = spelled or {}
    type_ = F64 if dtype == np.float64 else F32
    hint = f"{type_}_1d"
    params: list[Array] = []
    lines: list[str] = []
    calls: list[str] = []
    for name in names:
        own = [f"{name}_{k}" for k in range(FUNCTIONS[name] + 1)]
        params += [Array(one, FieldType(type_, 1)) for one in own]
        given = [f"{one}[i]" for one in own[1:]]
        text = f"vector_math.{name}({', '.join(given)}, ti.{type_})"
        if name in spelled:
            text = spelled[name].format(*given, dtype=f"ti.{type_}")
        lines += [
            "@ti.real_func",
            f"def loop_{name}({', '.join(f'{one}: {hint}' for one in own)}):",
            f"    for i in range({own[0]}.shape[0]):",
            f"        {own[0]}[i] = {text}",
            "",
            "",
        ]
        calls.append(f"    loop_{name}({', '.join(own)})")
    head = ", ".join(f"{p.name}: {hint}" for p in params)
    text = "\n".join([*lines, "@ti.kernel", f"def functions({head}):", *calls, ""])
    return current_session().backend.compile(
        Emitted("functions", text, {hint: FieldType(type_, 1)}, 1),
        Program("functions", tuple(params), Block(())),
        tuple(params),
        written=[k for k, p in enumerate(params) if p.name.endswith("_0")],
        on_host=True,
        as_written=False,
    )


def computed(arguments: dict[str, tuple[Numbers, ...]], launcher: Any = None) -> dict[str, Numbers]:
    """Return the results of functions, computed by one launch."""
    dtype = next(iter(arguments.values()))[0].dtype
    if launcher is None:
        launcher = compiled(tuple(arguments), dtype)
    fields: list[Any] = []
    results: dict[str, Any] = {}
    for name, given in arguments.items():
        results[name] = dt.from_numpy(np.zeros_like(given[0]))
        fields += [results[name], *(dt.from_numpy(x) for x in given)]
    launcher.launch([field.buffer for field in fields])
    return {name: field.to_numpy() for name, field in results.items()}


# Arguments


def any_bits(rng: np.random.Generator, count: int, dtype: Any) -> Numbers:
    """Return numbers of any bits: of every size, subnormal ones, infinities and NaN."""
    bits = np.uint64 if dtype == np.float64 else np.uint32
    return rng.integers(0, np.iinfo(bits).max, count, dtype=bits, endpoint=True).view(dtype)


def tiny(rng: np.random.Generator, count: int, dtype: Any) -> Numbers:
    """Return subnormal numbers and some that are not much larger, by their bits."""
    whole, digits = (np.int64, 52) if dtype == np.float64 else (np.int32, 23)
    size = rng.integers(1, 1 << rng.integers(1, digits + 4, count), dtype=np.int64).astype(whole)
    sign = rng.choice(np.array([0, np.iinfo(whole).min], whole), count)
    return (size | sign).view(dtype)


def arguments(name: str, dtype: Any, count: int, seed: int = 5) -> tuple[Numbers, ...]:
    """Return so many arguments of each kind: of every size, and many where formulas meet."""
    rng = np.random.default_rng(seed)
    double = dtype == np.float64

    def near(*points: float) -> Numbers:
        offsets = 10 ** rng.uniform(-17, -1, count) * rng.choice([-1.0, 1.0], count)
        return rng.choice(np.asarray(points), count) * (1 + offsets)

    def between(*bounds: float) -> list[Numbers]:
        return [rng.uniform(-bound, bound, count) for bound in bounds]

    halves = np.arange(-40, 40) * (math.log(2) / 2)
    powers = 2.0 ** np.arange(-30, 30)
    roots = 2.0**0.5, 0.5**0.5
    parts: list[Numbers]
    match name:
        case "sin" | "cos" | "tan":
            limit = limit_of(name, dtype)
            turns = rng.integers(-int(limit / 1.6), int(limit / 1.6), count)
            parts = [*between(1, 10, limit), turns * (np.pi / 2), hardest(dtype, limit)]
            parts.append(np.arange(-20, 20) * (np.pi / 4))
        case "exp" | "expm1" | "sigmoid" | "log1pexp" | "tanh" | "exp2":
            parts = [*between(0.1, 1, 10, 750 if double else 105, 1080), near(*halves)]
        case "asin" | "acos":
            parts = [*between(0.1, 1), near(0.5, -0.5), near(1, -1)]
        case "logit":
            parts = [rng.uniform(0, 1, count), near(0.5), near(0.4142, 0.5858), near(1)]
            parts.append(10 ** rng.uniform(-30, 0, count))
        case "atan":
            parts = [*between(0.1, 3, 100), near(0.5, 1, 2), near(-0.5, -1, -2)]
        case "erf" | "erfc":
            parts = [*between(1, 6, 28), near(0.8, 1)]
        case "atan2":
            return _points(rng, count, dtype)
        case "pow":
            return _bases_and_exponents(rng, count, dtype)
        case "log1p":
            parts = [*between(0.01, 1, 100), near(-1), near(*(powers - 1)), near(roots[1] - 1)]
        case _:
            parts = [rng.uniform(0, 3, count), near(1), near(*powers), near(*roots)]
    sizes = 10 ** (rng.uniform(-300, 300, count) if double else rng.uniform(-37, 38, count))
    parts += [sizes, -sizes]
    with np.errstate(over="ignore"):
        cast = [part.astype(dtype) for part in parts]
    x = np.concatenate([any_bits(rng, count, dtype), tiny(rng, count, dtype), *cast])
    return (x[np.abs(x) < limit_of(name, dtype)] if name in LIMITS else x,)


def _points(rng: np.random.Generator, count: int, dtype: Any) -> tuple[Numbers, ...]:
    """Return numbers y and x in all directions, of every size."""
    large = float(np.finfo(dtype).max) / 2
    sizes = 10.0 ** rng.uniform(-30, 30, count)

    def coordinate() -> Numbers:
        parts = [rng.uniform(-2, 2, count) * size for size in (1, large, sizes)]
        found = [any_bits(rng, count, dtype), tiny(rng, count, dtype)]
        return np.concatenate([*found, *(part.astype(dtype) for part in parts)])

    x, y, beside = coordinate(), coordinate(), coordinate()
    return np.concatenate([y, y]), np.concatenate([x, np.abs(beside)])


def _bases_and_exponents(rng: np.random.Generator, count: int, dtype: Any) -> tuple[Numbers, ...]:
    """Return bases of every size with exponents for which the power is finite, and others."""
    largest = math.log(np.finfo(dtype).max) * 1.05
    logs = [10 ** rng.uniform(-8, math.log10(largest), count) for _ in range(2)]
    logs = [log * rng.choice([-1.0, 1.0], count) for log in (*logs, rng.uniform(0, 2, count))]
    with np.errstate(divide="ignore", over="ignore"):
        base = np.exp(np.concatenate([*logs, np.clip(logs[0], -3, 3)])).astype(dtype)
        exponent = rng.uniform(-largest, largest, len(base)) / np.log(base.astype(np.float64))
    exponent = np.clip(exponent, -1e30, 1e30).astype(dtype)
    few = rng.integers(-9, 10, len(base)).astype(dtype) / 2
    bits = [any_bits(rng, count, dtype) for _ in range(2)]
    x = np.concatenate([bits[0], base, base, -base, tiny(rng, count, dtype)])
    return x, np.concatenate([bits[1], exponent, few, few, rng.uniform(-1, 1, count).astype(dtype)])


def hardest(dtype: Any, limit: float) -> Numbers:
    """Return the numbers below a limit that are nearest to multiples of pi/2.

    Numbers of one exponent are whole multiples m of a power of two, and m k of pi/2; the best
    fractions m / k are the convergents of a continued fraction.
    """
    found: list[float] = []
    digits = np.finfo(dtype).nmant + 1
    with mp.workprec(300):
        for exponent in range(-digits, round(math.log2(limit)) - digits + 1):
            x = mp.pi / 2 / mpf(2) ** exponent
            (m, k), (last_m, last_k) = (int(x), 1), (1, 0)
            rest = x - int(x)
            while m < 2**digits:
                found.append(math.ldexp(m, exponent))
                part = int(1 / rest)
                rest = 1 / rest - part
                (m, k), (last_m, last_k) = (part * m + last_m, part * k + last_k), (m, k)
    return np.array(found)


# Values


def exact(x: Numbers) -> list[Any]:
    """Return numbers for mpmath by their bits: this process may take subnormal ones for 0."""
    digits = np.finfo(x.dtype).nmant
    whole, bias = (np.int64, 1023) if digits == 52 else (np.int32, 127)
    found: list[Any] = []
    for bits in x.view(whole).tolist():
        field, rest = bits >> digits & (2 * bias + 1), bits & ((1 << digits) - 1)
        if field == 2 * bias + 1:
            found.append(mp.nan if rest else mp.inf if bits >= 0 else -mp.inf)
            continue
        size = mp.ldexp(rest + (min(field, 1) << digits), max(field, 1) - bias - digits)
        found.append(size if bits >= 0 else -size)
    return found


def ulps(name: str, given: tuple[Numbers, ...], found: Numbers, *, flushed: bool = True) -> Numbers:
    """Return the errors of results of finite arguments, in units of the last place.

    Infinity counts as the number that would follow the largest. Arguments that are not finite, or
    where the function is not, have no error here.

    Args:
        name: The function.
        given: Its arguments.
        found: Its results.
        flushed: Subnormal results may be 0.
    """
    limits = np.finfo(found.dtype)
    digits, lowest = limits.nmant + 1, int(limits.minexp)
    largest = mp.ldexp(1, int(limits.maxexp))
    errors = np.zeros(len(found))
    with mp.workprec(160):
        for k, (value, *at) in enumerate(zip(exact(found), *map(exact, given), strict=True)):
            if not all(map(mp.isfinite, at)):
                continue
            try:
                wanted = EXACT[name](*at)
            except (ValueError, ZeroDivisionError):
                continue
            if not (mp.isfinite(wanted) and wanted.imag == 0):
                continue
            wanted = max(-largest, min(largest, wanted.real))
            exponent = max(mp.frexp(wanted)[1] - 1, lowest)
            if flushed and abs(wanted) < mp.ldexp(1, lowest) and value == 0:
                continue
            near = mp.inf if mp.isnan(value) else max(-largest, min(largest, value))
            errors[k] = abs(near - wanted) / mp.ldexp(1, exponent - digits + 1)
    return errors
