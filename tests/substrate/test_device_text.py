"""The text for GPUs of kernels that were measured there keeps what made them fast.

The kernels are those of `benchmarks.gpu`; the tests say what matters in their texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from benchmarks.gpu_rows.clocks import times_of
from benchmarks.gpu_rows.rows import ROWS
from benchmarks.gpu_rows.side import DIFFTILE
from tests.device_text import body, device_texts, without_comments

KERNELS = {
    "map": ("map_",),
    "stencil": ("stencil",),
    "gather": ("gather",),
    "scatter-add": ("scatter",),
    "sum": ("sum_",),
    "matvec": ("matvec",),
    "compositing": ("compositing",),
    "n-body": ("n_body",),
    "texture": ("look",),
    "mpm": ("spread", "move", "collect"),
}


def launch(row: str) -> None:
    side = ROWS[row].make(ROWS[row].quick)[DIFFTILE]()
    times_of(side, lambda _, call: float(call() is None))


@pytest.fixture(scope="module")
def whole() -> Iterator[dict[str, str]]:
    """The text of each kernel and adjoint, by name."""
    with device_texts() as found:
        for row in KERNELS:
            launch(row)
        yield {name: without_comments(text) for name, text in found.items()}


@pytest.fixture
def texts(whole: dict[str, str]) -> dict[str, list[str]]:
    """The lines of each kernel and adjoint after its signature, by name."""
    return {name: body(text) for name, text in whole.items()}


# Once for each row, window, or sum of a thread.
DIVIDING = {"compositing", "compositing_adjoint", "matvec_adjoint", "n_body_adjoint"}
LITERAL_LOOP = r"for \w+ in range\(\d+\):|ti\.loop_config\(.*\)"
NAMES = [name + end for names in KERNELS.values() for name in names for end in ("", "_adjoint")]


def loops(lines: list[str]) -> list[str]:
    """Return the lines that open a task."""
    return [line.strip() for line in lines if indent(line) == 1 and line.strip().startswith("for ")]


def indent(line: str) -> int:
    return (len(line) - len(line.lstrip())) // 4


def inside(lines: list[str]) -> list[str]:
    """Return the lines of loops within tasks."""
    found: list[str] = []
    depth = 0
    for line in lines:
        if indent(line) <= depth:
            depth = 0
        if depth:
            found.append(line.strip())
        elif indent(line) > 1 and line.strip().startswith(("for ", "while ")):
            depth = indent(line)
    return found


def test_kernels_have_a_text_each(texts: dict[str, list[str]]) -> None:
    assert set(texts) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_no_task_runs_on_one_thread(texts: dict[str, list[str]], name: str) -> None:
    """A statement at the top is a task of one thread, and so is a bound that is not a literal."""
    top = [line.strip() for line in texts[name] if indent(line) == 1]
    assert [line for line in top if not re.fullmatch(LITERAL_LOOP, line)] == []


@pytest.mark.parametrize("name", [name for name in NAMES if name not in DIVIDING])
def test_no_index_is_divided_for(texts: dict[str, list[str]], name: str) -> None:
    """Divisions by a power of two are shifts."""
    divisions = [line for line in inside(texts[name]) if re.search(r"(//|%) (?!\d)", line)]
    assert divisions == []


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("map__adjoint", ("x_bar",)),
        ("stencil_adjoint", ("x_bar",)),
        ("scatter_adjoint", ("x_bar",)),
        ("sum__adjoint", ("x_bar",)),
        ("matvec_adjoint", ("a_bar",)),
        ("compositing_adjoint", ("alpha_bar", "colour_bar")),
        ("look_adjoint", ("at_bar",)),
        ("collect_adjoint", ("x_bar",)),
        ("move_adjoint", ("momentum_bar", "mass_bar")),
        ("spread_adjoint", ("v_bar", "c_bar", "stress_bar")),
    ],
)
def test_first_accumulations_are_stores(
    texts: dict[str, list[str]], name: str, stored: tuple[str, ...]
) -> None:
    for array in stored:
        rows = rf"warps\.store_rows\(\w+, {array}, "
        writes = [line for line in texts[name] if line.strip().startswith(f"{array}[")]
        assert writes or any(re.match(rows, line.strip()) for line in texts[name])
        others = [line for line in texts[name] if f", {array}, " in line]
        assert [line for line in others if not re.match(rows, line.strip())] == []
        assert [line for line in writes if "] = " not in line] == []
        assert [line for line in texts[name] if f"= {array}[" in line] == []


@pytest.mark.parametrize(
    "name", ["map__adjoint", "stencil_adjoint", "gather_adjoint", "compositing_adjoint"]
)
def test_one_pass_does_all(texts: dict[str, list[str]], name: str) -> None:
    assert len(loops(texts[name])) == 1


@pytest.mark.parametrize(
    ("name", "array"),
    [("look_adjoint", "data_bar"), ("spread", "momentum"), ("collect_adjoint", "velocity_bar")],
)
def test_warps_share_the_vectors_that_they_add(
    texts: dict[str, list[str]], name: str, array: str
) -> None:
    lines = [line.strip() for line in texts[name]]
    assert any(line.startswith(f"warps.add({array}, ") for line in lines)
    assert not any(line.startswith(f"{array}[") for line in lines)


@pytest.mark.parametrize("name", ["sum_"])
def test_warps_add_up_before_they_store(texts: dict[str, list[str]], name: str) -> None:
    assert any("warps." in line for line in texts[name])


def test_no_array_is_cleared_by_a_loop(texts: dict[str, list[str]]) -> None:
    zeros = r"\w+\[.*\] = (0\.0|ti\.Vector\(\[0\.0.*\]\))"
    for name, lines in texts.items():
        assert [line for line in lines if re.fullmatch(zeros, line.strip())] == [], name


@pytest.mark.parametrize(("name", "rows"), [("matvec", 1), ("n_body", 1), ("n_body_adjoint", 1)])
def test_warps_run_long_rows(texts: dict[str, list[str]], name: str, rows: int) -> None:
    """Lanes take turns, and add up at the end; one of them writes."""
    lines = [line.strip() for line in texts[name]]
    assert sum(line.startswith("for turn") for line in lines) == rows
    assert sum("warps.all_add(" in line for line in lines) == rows
    assert any(line.endswith("= lane + turn * 32") for line in lines)
    assert "if lane == 0:" in lines


@pytest.mark.parametrize("name", ["matvec_adjoint", "n_body_adjoint"])
def test_sums_are_added_up_before_they_are_shared(texts: dict[str, list[str]], name: str) -> None:
    lines = [line.strip() for line in texts[name]]
    atomics = ("x_bar[j] += sum", "warps.add(x_bar, ti.Vector([j]), sum, thread)")
    (atomic,) = (k for k, line in enumerate(lines) if line in atomics)
    assert lines[atomic - 1] == "if steps_1 > 0:"
    assert lines.index("for step_1 in range(steps_1):") < atomic


def test_outer_products_run_over_all_elements(texts: dict[str, list[str]]) -> None:
    lines = texts["matvec_adjoint"]
    stores = [line for line in lines if line.strip().startswith("a_bar[")]
    assert stores
    assert all(", j_1] = " in line for line in stores)
    assert not any(line.strip().startswith("for j") for line in lines)
