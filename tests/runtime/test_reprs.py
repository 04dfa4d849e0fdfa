"""How reports and objects look at a prompt and in a notebook."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

import difftile as dt
from difftile.markup import PromptText, html_table


class Cells(HTMLParser):
    """The rows of the tables in some HTML, whose elements must all be closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.text = ""
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


@dt.kernel
def energy(x, loss):
    for i in x:
        loss[None] += x[i] ** 3


@dt.kernel
def total(x, loss):
    for i in x:
        loss[None] += x[i]


@energy.backward
def energy_bwd(x, loss):
    for i in x:
        x.grad_out[i] += 2.0 * x[i] ** 2 * loss.grad_in[None]


def test_gradcheck() -> None:
    x, loss = dt.full(3, 0.5, grad=True), dt.zeros((), grad=True)
    check = dt.gradcheck(lambda: energy(x, loss), [x], outputs=[loss])
    assert not check
    first, _, rest = repr(check).partition(":")
    assert first.startswith("<gradcheck of ")
    assert "wrong" in rest
    assert len(repr(check)) < 140
    found = Cells(check._repr_html_())
    assert found.rows[0] == ["", "analytic", "numeric", "its error", "difference", ""]
    assert any(row[0].startswith("x[") and row[-1] == "wrong" for row in found.rows)
    assert "Probed: x (3 entries)" in found.text
    assert "<lambda>" in found.text  # escaped, as the test of open elements shows
    assert str(check).count("\n") >= 5


def test_check_rule() -> None:
    check = dt.check_rule(energy, dt.full(3, 0.5, grad=True), dt.zeros((), grad=True))
    assert repr(check) == "<check_rule of kernel 'energy': wrong>"
    assert "differences" in Cells(check._repr_html_()).text


def test_report_of_a_diagnosis() -> None:
    x, loss = dt.full(3, 0.0, grad=True), dt.zeros((), grad=True)
    with dt.Tape(diagnose=True) as tape:
        energy(x, loss)
    with pytest.warns(dt.GradientWarning):
        tape.backward(loss)
    report = tape.report()
    assert repr(report).startswith("<report of ")
    assert Cells(report._repr_html_()).text == str(report)


def test_kernels() -> None:
    @dt.kernel
    def scale(x, y, factor: float):
        for i in x:
            y[i] = factor * x[i]

    assert repr(scale) == "<kernel scale(x, y, factor)>"
    assert "compiled at its first launch" in Cells(scale._repr_html_()).text
    scale(dt.zeros(3), dt.zeros(3, grad=True), 2.0)
    found = Cells(scale._repr_html_())
    assert found.rows == [
        ["parameter", "role", "type"],
        ["x", "In", "f32 (3,)"],
        ["y", "Out", "f32 (3,), with gradient"],
        ["factor", "float", "a constant to derivatives"],
    ]
    assert found.text.startswith("kernel scale(x, y, factor)")
    assert found.text.endswith("1 specialisation")
    assert repr(scale.explain()) == str(scale.explain())
    assert "\n  x: In, f32 (3,)\n" in scale.explain()


def test_tapes() -> None:
    x, loss = dt.full(3, 0.5, grad=True), dt.zeros((), grad=True)
    with dt.Tape(loss) as tape:
        total(x, loss)
    assert repr(tape).startswith("<tape done: 1 launch")
    assert repr(tape.summary()) == str(tape.summary())
    found = Cells(tape._repr_html_())
    assert found.text.startswith("tape, done")
    assert all(line in found.text for line in tape.summary().splitlines())


def test_optimisers() -> None:
    x, y = dt.zeros(3, grad=True), dt.zeros((2, 2), dt.vec(3), grad=True)
    adam = dt.optim.Adam({"position": x, "<speed>": y}, lr=0.1)
    assert repr(adam) == "<dt.optim.Adam of 2 fields with 15 numbers: lr 0.1, no steps>"
    adam.step()
    adam.lr = {"position": 0.5, "<speed>": dt.optim.schedules.linear(1.0, 0.0, 10)}
    shown = (
        "<dt.optim.Adam of 2 fields with 15 numbers: lr by field, 1 step, norm of the gradient 0>"
    )
    assert repr(adam) == shown
    assert Cells(adam._repr_html_()).rows == [
        ["field", "type", "shape", "learning rate"],
        ["position", "f32", "(3,)", "0.5"],
        ["<speed>", "vec3<f32>", "(2, 2)", "a schedule"],
    ]
    search = dt.optim.LBFGS(x)
    assert repr(search) == "<dt.optim.LBFGS of 1 field with 3 numbers: no steps>"
    assert Cells(search._repr_html_()).rows[1] == ["0", "f32", "(3,)"]
    with pytest.raises(dt.LaunchError, match=r"^dt.optim.Adam: lr"):
        adam.lr = -1.0


def test_texts_are_shown_as_they_are() -> None:
    text = PromptText("a\n  <b>")
    assert repr(text) == "a\n  <b>"
    assert text == "a\n  <b>"
    assert Cells(text._repr_html_()).text == text


def test_a_table_aligns_numbers() -> None:
    html = html_table(("name", "size"), [("<x>", "1,024"), ("y", "nan")])
    assert "&lt;x&gt;" in html
    assert html.count("text-align:right") == 2
    assert Cells(html).rows == [["name", "size"], ["<x>", "1,024"], ["y", "nan"]]
    assert html_table(("name",), []) == ""
