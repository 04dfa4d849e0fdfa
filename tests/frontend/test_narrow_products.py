"""Products and shifts that are stored in a wider type than the one in which they are computed."""

from __future__ import annotations

import linecache
import warnings
from itertools import count
from typing import Any

import pytest
import taichi as ti

import difftile as dt
from difftile.substrate import current_session

_NUMBERS = count()
_TEXT = """@dt.kernel
def store(n: ti.i32, m: int, q: ti.u8, p: ti.i64, x, y):
    for i in range(1):
        {}
"""


@pytest.fixture(autouse=True)
def as_python() -> None:
    if current_session().compiles:
        dt.init(arch="python")


def _kernel(stmt: str) -> Any:
    text, file = _TEXT.format(stmt), f"<products {next(_NUMBERS)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"dt": dt, "ti": ti}
    exec(compile(text, file, "exec", dont_inherit=True), names)
    return names["store"]


def _launch(kernel: Any, numbers: tuple[int, int, int, int], kind: Any) -> tuple[int, list[str]]:
    x, y = dt.full((2, 3), numbers[0], ti.i32), dt.zeros(1, kind)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        kernel(*numbers, x, y)
    assert all(one.category is dt.NarrowProduct for one in caught)
    return int(y[0]), [str(one.message) for one in caught]


# A statement, the product in it, and what the warning says to write for that.
_DANGEROUS = [
    ("y[i] = {}", "n * m", "ti.cast(n, ti.i64) * m"),
    ("y[i] = {} + 1", "n * m", "ti.cast(n, ti.i64) * m"),
    ("y[i] = 3 - {}", "n * n", "ti.cast(n, ti.i64) * n"),
    ("y[i] = -({})", "n * (m + 1)", "ti.cast(n, ti.i64) * (m + 1)"),
    ("y[i] += {}", "x[0, 0] * m", "ti.cast(x[0, 0], ti.i64) * m"),
    ("y[i] -= {}", "n * m", "ti.cast(n, ti.i64) * m"),
    ("ti.atomic_add(y[i], {})", "n * m", "ti.cast(n, ti.i64) * m"),
    ("y[i] = {}", "n * 100000", "ti.cast(n, ti.i64) * 100000"),
    ("y[i] = {}", "n << m", "ti.cast(n, ti.i64) << m"),
    ("y[i] = {}", "1 << m", "ti.cast(1, ti.i64) << m"),
    ("y[i] = {}", "n << 20", "ti.cast(n, ti.i64) << 20"),
    ("y[i] = {} if m > 0 else n", "n * m", "ti.cast(n, ti.i64) * m"),
    ("y[i] = {}", "n ** 2", "ti.cast(n, ti.i64) ** 2"),
    ("y[i] = {}", "m ** q", "ti.cast(m, ti.i64) ** q"),
]
_ORDINARY = [
    *(
        "y[i] = i",
        "y[i] = i + 1",
        "y[i] = n",
        "y[i] = n - m",
        "y[i] = 2 * n + 1",
        "y[i] = 60000 * n",
    ),
    *("y[i] = i * x.shape[1] + m", "y[i] = x.shape[0] * x.shape[1]", "y[i] = (n > m) * n"),
    *("y[i] = n << 3", "y[i] = q * n", "y[i] = n // m", "y[i] = p * n", "y[i] = (n * m) & 255"),
    *("y[i] = ti.cast(n, ti.i64) * m", "y[i] = ti.cast(n * m, ti.i64)"),
]


@pytest.mark.parametrize(("stmt", "product", "wide"), _DANGEROUS)
def test_a_product_in_fewer_bits_than_its_field_has_is_warned_of_once(
    stmt: str, product: str, wide: str
) -> None:
    numbers = 2**28 + 3, 33, 12, 0
    kernel = _kernel(stmt.format(product))
    wrapped, (text,) = _launch(kernel, numbers, ti.i64)
    assert f"write '{wide}'." in text
    assert product in text.splitlines()[2]
    assert _launch(kernel, (4, 4, 5, 6), ti.i64)[1] == []
    # What it says to write computes as Python does.
    exact, found = _launch(_kernel(stmt.format(wide)), numbers, ti.i64)
    assert found == []
    assert exact == _in_python(stmt.format(product), numbers)
    assert exact != wrapped


def _in_python(stmt: str, numbers: tuple[int, ...]) -> int:
    names: dict[str, Any] = dict(zip("nmqp", numbers, strict=True), i=0, y=[0])
    names["x"] = {(0, 0): numbers[0]}
    exec(stmt.replace("ti.atomic_add(y[i], ", "y[i] = (0 + "), names)
    return names["y"][0]


@pytest.mark.parametrize("stmt", _ORDINARY)
def test_ordinary_integers_are_not_warned_of(stmt: str) -> None:
    _, found = _launch(_kernel(stmt), (3, 4, 5, 6), ti.i64)
    assert found == []


def test_a_product_in_a_field_of_its_type_is_not_warned_of() -> None:
    for kind in (ti.i32, ti.u32, ti.f64):
        assert _launch(_kernel("y[i] = n * m"), (3, 4, 5, 6), kind)[1] == []


def test_a_sum_of_many_shared_terms_is_searched_once() -> None:
    @dt.kernel
    def store(n: int, y):
        for i in y:
            total = n
            for _ in ti.static(range(60)):
                total += total
            y[i] = total

    store(0, dt.zeros(1, ti.i64))


def test_components_of_vectors_are_looked_at() -> None:
    @dt.kernel
    def store(n: int, y):
        for i in y:
            y[i] = ti.Vector([n, n * n])

    with pytest.warns(dt.NarrowProduct, match=r"write 'ti.cast\(n, ti.i64\) \* n'"):
        store(3, dt.zeros(1, ti.types.vector(2, ti.i64)))
