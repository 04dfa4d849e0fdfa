"""The text for GPUs of a training step's losses and optimiser."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import taichi as ti

import difftile as dt
from tests.device_text import body, device_texts, without_comments
from tests.substrate.test_device_text import indent, inside, loops

# The tasks of each kernel: one, or one for each plane, or for each field.
TASKS = {
    "_separate": 1,
    "_separate_adjoint": 1,
    "_average_columns": 4,
    "_average_columns_adjoint": 3,  # the target has no gradient
    "_average_rows": 4,
    "_average_rows_adjoint": 3,
    "_add_dissimilarity": 1,
    "_add_dissimilarity_adjoint": 1,
    "move": 3,
}


@pytest.fixture(scope="module")
def texts() -> Iterator[dict[str, list[str]]]:
    """The lines of each kernel and adjoint after its signature, by name."""
    with device_texts() as found:
        image = dt.zeros((1, 32, 24), dt.vec(3, ti.f32), grad=True)
        target, loss = dt.zeros(image.shape, image.element), dt.zeros((), ti.f32, grad=True)
        with dt.Tape(loss):
            dt.render.dssim(image, target, loss, 0.2)
        fields = [dt.zeros((9, *s), dt.vec(3, ti.f32), grad=True) for s in ((), (15,))]
        fields.append(dt.zeros(9, ti.f32, grad=True))
        dt.optim.Adam(fields, nonfinite="zero").step()
        yield {name: body(without_comments(text)) for name, text in found.items()}


@pytest.mark.parametrize("name", TASKS)
def test_tasks_are_few_and_none_is_of_one_thread(texts: dict[str, list[str]], name: str) -> None:
    top = [line.strip() for line in texts[name] if indent(line) == 1]
    top = [line for line in top if not line.startswith("ti.loop_config(")]
    assert loops(texts[name]) == top
    assert len(top) == TASKS[name]
    assert all(re.fullmatch(r"for \w+ in range\(\d+\):", line) for line in top)
    assert [line for line in inside(texts[name]) if re.search(r"(//|%) (?!\d)", line)] == []


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("_separate_adjoint", "x_bar"),
        ("_average_columns_adjoint", "planes_0_bar"),
        ("_average_rows_adjoint", "planes_0_bar"),
        ("_add_dissimilarity_adjoint", "averages_0_bar"),
    ],
)
def test_gradients_of_losses_are_stored_once(
    texts: dict[str, list[str]], name: str, array: str
) -> None:
    writes = [line for line in texts[name] if line.strip().startswith(f"{array}[")]
    assert len(writes) == 1
    assert "] = " in writes[0]
    assert [line for line in texts[name] if f"= {array}[" in line] == []
