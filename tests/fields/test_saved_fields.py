"""Files of fields, and fields of anything: `dt.save`, `dt.load`, `dt.asarray`."""

from __future__ import annotations

import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.testing as npt
import pytest
import taichi as ti

import difftile as dt
from tests.device_arrays import device_arrays
from tests.fields.test_field_numbers import TYPES, drawn, drawn_shape

STRUCT = ti.types.struct(pos=ti.math.vec3, kind=ti.i32, inner=ti.types.struct(a=ti.f64))


@pytest.mark.parametrize("seed", range(10))
def test_fields_come_back(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    names = ["x", "file", "a.b", "allow_pickle", "größe", "0", "x/y", "self", "path", "named"]
    given: dict[str, Any] = {}
    for name in names[: rng.randint(1, len(names))]:
        dtype = rng.choice(TYPES)
        inner, kind = rng.choice([((), None), ((3,), dt.vec(3)), ((2, 3), dt.mat(2, 3))])
        grad = np.dtype(dtype).kind == "f" and rng.random() < 0.5
        if np.dtype(dtype).kind != "f":
            inner, kind = (), None
        shape = (*drawn_shape(rng), *rng.choice([(), (0,)]))
        given[name] = dt.from_numpy(drawn(rng, (*shape, *inner), dtype), kind, grad=grad)
        if given[name].has_grads:
            given[name].grad.fill(1.0)
    dt.save(tmp_path / "fields.npz", given)
    found = dt.load(tmp_path / "fields.npz")
    assert list(found) == list(given)
    for name, field in given.items():
        assert (found[name].element, found[name].shape) == (field.element, field.shape)
        assert found[name].has_grads == field.has_grads
        assert not field.has_grads or not found[name].grad.to_numpy().any()
        npt.assert_array_equal(found[name].to_numpy(), field.to_numpy())
    with np.load(tmp_path / "fields.npz") as archive:  # which takes '/' for a folder and keeps it
        assert all(name in archive for name in given)


def test_structs_parts_and_rows_come_back(tmp_path: Path) -> None:
    p = dt.field(STRUCT, (2, 2), grad=True)
    p.pos.fill((1.0, 2.0, 3.0))
    x = dt.from_numpy(np.arange(6.0), grad=True)
    rows = dt.Rows(a=dt.ones(3, grad=True), b=dt.zeros((3, 2), ti.i32))
    dt.save(tmp_path / "a", {"part": x[::2]}, p=p, view=x.view(2, 3))
    found = dt.load(tmp_path / "a")
    assert found["part"].tolist() == [0, 2, 4] and found["view"].shape == (2, 3)
    again: Any = found["p"]
    assert again.inner.a.shape == (2, 2) and again.has_grads and not again.kind.has_grads
    npt.assert_array_equal(again.pos.to_numpy(), p.pos.to_numpy())
    p.copy_from(again)
    dt.save(tmp_path / "a", rows)
    assert list(dt.Rows(dt.load(tmp_path / "a"))) == ["a", "b"]
    assert [one.name for one in tmp_path.iterdir()] == ["a"]


def test_fields_of_devices_are_saved(tmp_path: Path) -> None:
    with device_arrays():
        dt.save(tmp_path / "a.npz", x=dt.full((2, 3), 4.0, grad=True))
        assert dt.load(tmp_path / "a.npz")["x"].tolist() == [[4.0] * 3] * 2
    assert dt.load(tmp_path / "a.npz")["x"].tolist() == [[4.0] * 3] * 2


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "nothing": (lambda: dt.save("a"), "takes fields by name"),
    "array": (lambda: dt.save("a", x=np.ones(3)), "'x' is of type ndarray: dt.asarray"),
    "number": (lambda: dt.save("a", x=3.0), "'x' is of type float"),
    "name": (lambda: dt.save("a", {3: dt.ones(2)}), "a name is a text, not 3"),
    "two names": (
        lambda: dt.save("a", {"p.kind": dt.ones(2), "p": dt.field(STRUCT, 2)}),
        "would be called 'p.kind'",
    ),
    "table": (lambda: dt.save("a", {"difftile.fields": dt.ones(2)}), "rename one"),
}


@pytest.mark.parametrize("case", WRONG)
def test_only_fields_are_saved(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    attempt, message = WRONG[case]
    with pytest.raises(dt.FieldError, match=message):
        attempt()
    assert not list(tmp_path.iterdir())


def test_a_former_file_stays_if_writing_fails(tmp_path: Path) -> None:
    dt.save(tmp_path / "a.npz", x=dt.ones(3))
    with pytest.raises(dt.FieldError):
        dt.save(tmp_path / "a.npz", x=dt.zeros(3), y=object())
    assert dt.load(tmp_path / "a.npz")["x"].tolist() == [1, 1, 1]
    with pytest.raises(dt.DatasetError, match="is not a file"):
        dt.save(tmp_path, x=dt.ones(3))


def test_every_broken_file_is_refused_in_a_line(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    dt.save(path, x=dt.ones(3), p=dt.field(STRUCT, 2))
    whole = path.read_bytes()
    rng = random.Random(0)
    for cut in [0, 1, *rng.sample(range(len(whole)), 40), len(whole) - 1]:
        path.write_bytes(whole[:cut])
        _refuses(path)
    for at in rng.sample(range(len(whole)), 100):  # any byte: refused, or a field all the same
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        try:
            dt.load(path)
        except dt.DatasetError as error:
            assert "\n  " not in str(error).partition("\n  Hint")[0]


def _refuses(path: Path) -> None:
    with pytest.raises(dt.DatasetError) as caught:
        dt.load(path)
    assert "\n" not in str(caught.value).partition("\n  Hint")[0]


def _arrays(**named: Any) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        np.savez(path, allow_pickle=True, **named)

    return write


def _table(*rows: tuple[str, str, str, str], **arrays: Any) -> Callable[[Path], None]:
    return _arrays(**{"difftile.fields": np.array(rows).reshape(-1, 4).astype("U20"), **arrays})


FOREIGN: dict[str, Callable[[Path], None]] = {
    "text": lambda path: path.write_text("x = 3") and None,
    "another archive": lambda path: zipfile.ZipFile(path, "w").writestr("a.txt", "x"),
    "arrays": _arrays(x=np.ones(3)),
    "objects": _arrays(x=np.array([{}], object)),
    "table of numbers": _arrays(**{"difftile.fields": np.ones((1, 4))}),
    "short rows": _arrays(**{"difftile.fields": np.array([["x", "", "0"]])}),
    "missing array": _table(("x", "", "0", "")),
    "more arrays": _table(("x", "", "0", ""), x=np.ones(2), y=np.ones(2)),
    "kind": _table(("x", "", "9", ""), x=np.ones(2)),
    "flag": _table(("x", "", "0", "yes"), x=np.ones(2)),
    "gradient of integers": _table(("x", "", "0", "grad"), x=np.ones(2, int)),
    "twice": _table(("x", "", "0", ""), ("x", "", "0", ""), x=np.ones(2)),
    "texts": _table(("x", "", "0", ""), x=np.array(["a"])),
    "vectors of numbers": _table(("x", "", "1", ""), x=np.ones(())),
    "vectors of nothing": _table(("x", "", "1", ""), x=np.ones((2, 0))),
    "inside itself": _table(("x", "0", "struct", "")),
    "inside a field": _table(("x", "", "0", ""), ("y", "0", "0", ""), x=np.ones(2)),
    "inside a number": _table(("x", "-1", "0", ""), x=np.ones(2)),
    "no members": _table(("x", "", "struct", "")),
    "ragged members": _table(
        ("p", "", "struct", ""),
        ("x", "0", "0", ""),
        ("y", "0", "0", ""),
        **{"p.x": np.ones(2), "p.y": np.ones(3)},
    ),
    "member of a taken name": _table(
        ("p", "", "struct", ""), ("fill", "0", "0", ""), **{"p.fill": np.ones(2)}
    ),
    "too many axes": _table(("x", "", "0", ""), x=np.ones((1,) * 13)),
    "too large a matrix": _table(("x", "", "2", ""), x=np.ones((100, 100))),
}


@pytest.mark.parametrize("case", FOREIGN)
def test_other_files_are_refused(case: str, tmp_path: Path) -> None:
    FOREIGN[case](tmp_path / "a.npz")
    if case == "too large a matrix":  # a field may hold what kernels hardly take
        assert dt.load(tmp_path / "a.npz")
        return
    _refuses(tmp_path / "a.npz")


def test_saving_is_part_of_no_tape(tmp_path: Path) -> None:
    x, total = dt.full((), 3.0, grad=True), dt.zeros((), grad=True)
    with dt.Tape(total):
        dt.save(tmp_path / "a", x=x)
        y: Any = dt.load(tmp_path / "a")["x"]
        total.copy_from(x * y)
    assert x.grad[None] == 3.0 and y.grad[None] == 3.0


# Fields of anything


def test_asarray() -> None:
    x = dt.ones(3, grad=True)
    assert dt.asarray(x) is x and dt.asarray(x[1:]) == x[1:]
    assert not dt.asarray(x, grad=False).has_grads
    for values, wanted in (
        (0.1, ti.f32),
        ([1.0, 2.0], ti.f32),
        ([[1, 2], [3, 4]], ti.i32),
        ([True, False], ti.u1),
        (np.ones(3), ti.f64),
        (np.float64(0.1), ti.f64),
        (np.arange(6)[::2], ti.i64),
        (x, ti.f32),
    ):
        found = dt.asarray(values)
        assert found.dtype == wanted and found.shape == np.shape(values)
        npt.assert_array_equal(found.to_numpy(), np.asarray(values, found.to_numpy().dtype))
    assert dt.asarray([0.1], ti.f64)[0] == 0.1 and dt.asarray(x, ti.f64).dtype == ti.f64
    assert str(dt.asarray([[1, 2, 3]], ti.math.vec3).element) == "vec3<f32>"
    array = np.zeros(3)
    dt.asarray(array).fill(1.0)
    assert not array.any()
    assert dt.asarray([1.0], grad=True).has_grads
    structs = dt.asarray({"a": [1.0]}, ti.types.struct(a=ti.f32))
    assert dt.asarray(structs) is structs
    for wrong in ("a", [[1], [2, 3]], None, 1e300, 2**40, [1j], object()):
        with pytest.raises(dt.FieldError):
            dt.asarray(wrong)
    torch = pytest.importorskip("torch")
    tensor = torch.arange(6.0).reshape(2, 3).T
    assert dt.asarray(tensor).tolist() == tensor.tolist()
