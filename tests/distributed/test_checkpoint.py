"""Checkpoints: written by some ranks, read by others, and every way in which they break."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.testing as npt
import pytest

import difftile as dt
from difftile import ti
from difftile.distributed import Grid, Particles, load, save
from difftile.distributed.blocks import read_checkpoint
from difftile.distributed.split_rows import SplitRows
from difftile.ranks import RankError, current
from tests.ranks import ranks

CELL = ti.types.struct(mass=ti.f64, speed=ti.math.vec2)


def same_everywhere(seed: int) -> dict[str, Any]:
    """Return objects of every kind that are the same on all ranks."""
    rng = np.random.default_rng(seed)
    w = dt.from_numpy(rng.normal(size=(4, 3)), dt.vec(3), grad=True)
    bias = dt.from_numpy(rng.normal(size=()), grad=True)
    cells = dt.field(CELL, (2, 3))
    cells.speed.from_numpy(rng.normal(size=(2, 3, 2)))
    rows = dt.Rows(mean=dt.from_numpy(rng.normal(size=(2 + seed, 2)), grad=True))
    w.grad.from_numpy(rng.normal(size=(4, 3)))
    adam = dt.optim.Adam({"w": w, "W": bias}, lr=0.1)
    adam.step()
    x = dt.from_numpy(rng.integers(0, 9, 6).astype(np.int32))
    return {
        "w": w, "W": bias, "cells": cells, "rows": rows, "adam": adam, "part": x[::2],
        "empty": dt.zeros((0, 2)), "a/b": dt.from_numpy(rng.normal(size=3).astype(np.float16)),
    }  # fmt: skip


def values(given: dict[str, Any]) -> dict[str, Any]:
    """Return what objects hold."""
    found: dict[str, Any] = {}
    for name, one in given.items():
        if isinstance(one, dt.Rows):
            found[name] = {key: field.to_numpy() for key, field in one.items()}
        elif isinstance(one, dt.optim.Adam):
            found[name] = one.state_dict()
        else:
            found[name] = one.to_numpy()
    return found


def save_same(path: str) -> dict[str, Any]:
    given = same_everywhere(0)
    save(path, given, step=7, rate=0.1, name="größe", done=True)
    return values(given)


def load_same(path: str) -> tuple[dict[str, Any], dict[str, Any]]:
    given = same_everywhere(1)
    return load(path, given), values(given)


def assert_equal(one: Any, other: Any) -> None:
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_equal(one[key], other[key])
    else:
        npt.assert_array_equal(one, other)
        assert np.asarray(one).dtype == np.asarray(other).dtype


@pytest.mark.parametrize("sizes", [(1, 2), (2, 1), (3, 2)])
def test_objects_that_are_the_same_on_all_ranks_come_back(
    sizes: tuple[int, int], tmp_path: Path
) -> None:
    path = str(tmp_path / "run" / "step")
    (tmp_path / "run").mkdir()
    saved = ranks(sizes[0]).run(save_same, path)[0]
    for numbers, found in ranks(sizes[1]).run(load_same, path):
        assert numbers == {"step": 7, "rate": 0.1, "name": "größe", "done": True}
        assert_equal(found, saved)
    assert [one.name for one in (tmp_path / "run").iterdir()] == ["step"]


def read_with_numpy(path: Path) -> dict[str, np.ndarray]:
    """Return the arrays of a checkpoint as docs/distributed.md does."""
    about = json.loads((path / "about.json").read_text())
    arrays = {}
    for name, one in about["arrays"].items():
        arrays[name] = np.empty(one["shape"], one["dtype"])
        for block in one["blocks"]:
            box = tuple(slice(a, a + n) for a, n in zip(block["at"], block["shape"], strict=True))
            arrays[name][box] = np.load(path / block["file"])
    return arrays


def test_plain_numpy_reads_a_checkpoint(tmp_path: Path) -> None:
    saved = ranks(2).run(save_same, str(tmp_path / "c"))[0]
    found = read_with_numpy(tmp_path / "c")
    npt.assert_array_equal(found["w"], saved["w"])
    npt.assert_array_equal(found["a/b"], saved["a/b"])
    npt.assert_array_equal(found["cells.speed"], saved["cells"]["speed"])
    assert found["adam.rule"] == "Adam"


def save_twice(path: str) -> list[str]:
    x = dt.ones(3, ti.f64)
    save(path, {"x": x}, step=1)
    x.fill(2.0)
    save(path, {"x": x}, step=2)
    return [str(one.relative_to(path)) for one in sorted(Path(path).rglob("*.npy"))]


def test_a_checkpoint_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "c.part" / "1").mkdir(parents=True)  # a run was killed while it wrote
    for files in ranks(2).run(save_twice, str(tmp_path / "c")):
        assert files == ["2/x.npy"]
    assert [one.name for one in tmp_path.iterdir()] == ["c"]
    x = dt.zeros(3, ti.f64)
    assert load(tmp_path / "c", {"x": x}) == {"step": 2} and x.tolist() == [2.0] * 3


def test_an_interrupted_save_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = dt.ones(3)
    save(tmp_path / "c", {"x": x})

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    for function in ("write_block", "finish"):
        monkeypatch.setattr(f"difftile.distributed.checkpoint.{function}", interrupt)
        x.fill(2.0)
        with pytest.raises(KeyboardInterrupt):
            save(tmp_path / "c", {"x": x})
        with pytest.raises(KeyboardInterrupt):
            save(tmp_path / "new", {"x": x})
        assert not (tmp_path / "new").exists()
        load(tmp_path / "c", {"x": x})
        assert x.tolist() == [1.0] * 3
        monkeypatch.undo()
    x.fill(3.0)
    save(tmp_path / "c", {"x": x})
    load(tmp_path / "c", {"x": x})
    assert x.tolist() == [3.0] * 3
    assert len(list((tmp_path / "c").iterdir())) == 2


def test_an_open_tape_does_not_hear_of_it(tmp_path: Path) -> None:
    x, loss = dt.ones(3, grad=True), dt.zeros((), grad=True)
    with dt.Tape(loss):
        square(x, loss)
        save(tmp_path / "c", {"x": x})
        with pytest.raises(dt.TapeError, match=r"load\(\) is not part"):
            load(tmp_path / "c", {"x": x})
    assert x.grad.tolist() == [2.0] * 3


@dt.kernel
def square(x: Any, loss: Any) -> None:
    for k in x:
        loss[None] += x[k] * x[k]


# Split fields


def counted(grid: Any, dtype: Any) -> Any:
    """Return a field of a grid whose elements are their own numbers."""
    x = grid.field(dtype, grad=True)
    x.from_global(
        np.arange(x.split.size * (2 if dtype is not ti.f64 else 1))
        .reshape(*grid.shape, *((2,) if dtype is not ti.f64 else ()))
        .astype(np.float64)
    )
    return x


SHAPE = (7, 5)


def save_split(path: str) -> None:
    grid = Grid(SHAPE, halo=2)
    u, v = counted(grid, ti.f64), counted(grid, dt.vec(2, ti.f64))
    cells = grid.field(CELL)
    cells.mass.from_global(np.ones(SHAPE))
    u.grad.fill(1.0)
    v.grad.from_global(v.to_global())
    adam = dt.optim.Adam({"u": u, "v": v}, lr=0.5)
    adam.step()
    w = dt.full(3, 4.0, ti.f64)
    save(path, {"u": u, "v": v, "cells": cells, "w": w, "adam": adam})
    u.grad.fill(2.0)
    adam.step()


def load_split(path: str, shape: tuple[int, ...] | None, halo: int) -> dict[str, Any]:
    grid = Grid(SHAPE, shape, halo=halo, periodic=True)
    u, v, cells = (grid.field(one, grad=True) for one in (ti.f64, dt.vec(2, ti.f64), CELL))
    adam = dt.optim.Adam({"u": u, "v": v}, lr=0.5)
    w = dt.zeros(3, ti.f64)
    load(path, {"u": u, "v": v, "cells": cells, "w": w, "adam": adam})
    halos = u.to_numpy()
    found = {
        "u": u.to_global(),
        "v": v.to_global(),
        "mass": cells.mass.to_global(),
        "w": w.tolist(),
    }
    whole, left = dt.zeros(SHAPE, ti.f64), grid.field(ti.f64)
    load(path, {"u": whole})
    left.from_global(whole.to_numpy())
    npt.assert_array_equal(halos, left.to_numpy())  # halos are up to date
    v.grad.from_global(v.to_global())
    u.grad.fill(2.0)
    adam.step()
    found |= {"next u": u.to_global(), "next v": v.to_global()}
    return found


def unsplit() -> dict[str, Any]:
    """Return what `load_split` finds, computed in one process."""
    u = dt.from_numpy(np.arange(35.0).reshape(SHAPE), grad=True)
    v = dt.from_numpy(np.arange(70.0).reshape(*SHAPE, 2), dt.vec(2, ti.f64), grad=True)
    adam = dt.optim.Adam({"u": u, "v": v}, lr=0.5)
    u.grad.fill(1.0)
    v.grad.from_numpy(v.to_numpy())
    adam.step()
    found = {"u": u.to_numpy(), "v": v.to_numpy(), "mass": np.ones(SHAPE), "w": [4.0] * 3}
    v.grad.from_numpy(v.to_numpy())
    u.grad.fill(2.0)
    adam.step()
    found |= {"next u": u.to_numpy(), "next v": v.to_numpy()}
    return found


@pytest.mark.parametrize(
    ("saving", "loading"), [(3, [(1, None, 0), (2, (1, 2), 1)]), (2, [(3, (3, 1), 3)])]
)
def test_split_fields_are_read_by_any_number_of_ranks(
    saving: int, loading: list[tuple[int, Any, int]], tmp_path: Path
) -> None:
    ranks(saving).run(save_split, str(tmp_path / "c"))
    expected = unsplit()
    arrays = read_with_numpy(tmp_path / "c")
    npt.assert_array_equal(arrays["u"], expected["u"])
    assert arrays["adam.u.mean"].shape == SHAPE
    for size, shape, halo in loading:
        for found in ranks(size).run(load_split, str(tmp_path / "c"), shape, halo):
            for name, one in expected.items():
                npt.assert_allclose(found[name], one, rtol=1e-14, err_msg=name)


def save_rows(path: str, split: bool) -> None:
    made, adam = rows_and_adam(7, split)
    made.x.grad.fill(1.0)
    adam.step()
    save(path, {"rows": made, "adam": adam})


def rows_and_adam(count: int, split: bool) -> tuple[Any, Any]:
    made: Any = dt.Rows(x=dt.from_numpy(np.arange(2.0 * count).reshape(count, 2), grad=True))
    made = SplitRows(made) if split else made
    return made, dt.optim.Adam(made, lr=0.5)


def load_rows(path: str, split: bool) -> Any:
    made, adam = rows_and_adam(4, split)
    load(path, {"rows": made, "adam": adam})
    made.x.grad.fill(3.0)
    adam.step()
    return made.gathered(made.x).to_numpy() if split else made.x.to_numpy()


@pytest.mark.parametrize(("saving", "loading"), [(True, True), (True, False), (False, True)])
def test_rows_of_ranks_come_back(saving: bool, loading: bool, tmp_path: Path) -> None:
    ranks(3).run(save_rows, str(tmp_path / "c"), saving)
    made, adam = rows_and_adam(7, split=False)
    for gradient in (1.0, 3.0):
        made.x.grad.fill(gradient)
        adam.step()
    for found in ranks(2).run(load_rows, str(tmp_path / "c"), loading):
        npt.assert_allclose(found, made.x.to_numpy(), rtol=1e-14)


def sharded(path: str, *, loading: bool) -> Any:
    """Save the state of an optimiser in parts after a step, or load it and step once more."""
    w = dt.from_numpy(np.arange(7.0), grad=True)
    adam = dt.optim.Adam({"w": w}, lr=0.5, sharded=True)
    if loading:
        load(path, {"w": w, "adam": adam})
    w.grad.fill(2.0 if loading else 1.0)
    adam.step()
    if not loading:
        save(path, {"w": w, "adam": adam})
    return w.to_numpy()


def save_sharded(path: str) -> Any:
    return sharded(path, loading=False)


def load_sharded(path: str) -> Any:
    return sharded(path, loading=True)


def test_states_in_parts_come_back(tmp_path: Path) -> None:
    ranks(2).run(save_sharded, str(tmp_path / "c"))
    w = dt.from_numpy(np.arange(7.0), grad=True)
    adam = dt.optim.Adam({"w": w}, lr=0.5)
    for gradient in (1.0, 2.0):
        w.grad.fill(gradient)
        adam.step()
    for found in ranks(3).run(load_sharded, str(tmp_path / "c")):
        npt.assert_allclose(found, w.to_numpy(), rtol=1e-14)


# Particles

BOX = (6, 4)


def particles_of(capacity: int) -> Any:
    return Particles(
        Grid(BOX, periodic=(True, False)), spacing=0.5, x=dt.zeros(capacity, dt.vec(2, ti.f64)),
        mass=dt.zeros(capacity, ti.f32),
    )  # fmt: skip


def drawn(count: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    return {"x": rng.uniform(0, (3, 2), (count, 2)), "mass": rng.normal(size=count).astype("f")}


def save_particles(path: str, count: int) -> None:
    particles = particles_of(40)
    particles.from_global(drawn(count))
    push(particles.x, particles.count)  # now some are on other ranks' cells
    save(path, {"p": particles})


@dt.kernel
def push(x: Any, count: Any) -> None:
    for k in range(count[None]):
        x[k][0] += 0.7


def load_particles(path: str, capacity: int) -> Any:
    particles = particles_of(capacity)
    particles.from_global(drawn(5))
    load(path, {"p": particles})
    count = int(particles.count[None])
    before = particles.x.to_numpy()[:count]
    found = particles.to_global()
    particles.migrate()
    assert int(particles.count[None]) == count  # each was where it belongs
    return count, before, found


@pytest.mark.parametrize(("saving", "loading", "count"), [(2, 3, 40), (3, 1, 37), (3, 2, 1)])
def test_particles_go_to_the_ranks_that_own_them(
    saving: int, loading: int, count: int, tmp_path: Path
) -> None:
    ranks(saving).run(save_particles, str(tmp_path / "c"), count)
    expected = drawn(count)
    expected["x"][:, 0] += 0.7
    results = ranks(loading).run(load_particles, str(tmp_path / "c"), 40)
    assert sum(one for one, _, _ in results) == count
    for _, _, found in results:
        for name, one in expected.items():
            npt.assert_array_equal(found[name], one)
    assert sorted(x for _, one, _ in results for x in one[:, 0]) == sorted(expected["x"][:, 0])


def refused_particles(path: str) -> list[str]:
    """Load particles where there is no room, and from positions outside of the grid."""
    messages: list[str] = []
    particles = particles_of(3)
    with pytest.raises(dt.FieldError) as error:
        load(path, {"p": particles})
    messages.append(str(error.value))
    particles = particles_of(40)
    particles.from_global(drawn(4))
    if current().rank == 0:
        particles.x[0] = (0.0, 99.0)
    save(f"{path}2", {"p": particles})
    with pytest.raises(dt.DatasetError) as outside:
        load(f"{path}2", {"p": particles})
    return [*messages, str(outside.value)]


def test_particles_without_room_or_place_are_refused(tmp_path: Path) -> None:
    ranks(2).run(save_particles, str(tmp_path / "c"), 40)
    first, second = ranks(2).run(refused_particles, str(tmp_path / "c"))
    assert first == second
    assert "3" in first[0] and "has 4 rows of 'p', of which 1 belong to no rank" in first[1]


# What is refused

WRONG: dict[str, tuple[Callable[[str], Any], str]] = {
    "array": (lambda p: save(p, {"x": np.ones(3)}), "'x' is of type ndarray"),
    "number": (lambda p: save(p, {"x": 3}), "Give numbers by keyword: step=3"),
    "no dict": (lambda p: save(p, dt.ones(2)), "takes fields by name"),
    "name": (lambda p: save(p, {"": dt.ones(2)}), "a name is a text, not ''"),
    "twice": (
        lambda p: save(p, {"c.mass": dt.ones(2), "c": dt.field(CELL, 2)}),
        "two arrays would be called 'c.mass'",
    ),
    "infinite": (lambda p: save(p, {}, loss=float("inf")), "'loss' is a finite number or a text"),
    "field as number": (lambda p: save(p, {}, x=dt.ones(2)), "{'x': ...}"),
    "no checkpoint": (lambda p: load(p + "/no"), "is not there; expected a checkpoint"),
    "folder": (lambda p: save(p, {}), "is a folder without a checkpoint"),
    "load folder": (load, "has no about.json"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments_are_refused(case: str, tmp_path: Path) -> None:
    act, text = WRONG[case]
    with pytest.raises((dt.FieldError, dt.DatasetError)) as error:
        act(str(tmp_path) if "folder" in case or "no" in case else str(tmp_path / "c"))
    assert text in str(error.value)


MISFITS: dict[str, tuple[Callable[[], dict[str, Any]], str]] = {
    "name": (lambda: {"v": dt.ones(3)}, "has no 'v'; expected one of those it has: 'u', 'cells"),
    "close": (lambda: {"cells.mas": dt.ones(2)}, "did you mean 'cells.mass'?"),
    "shape": (lambda: {"u": dt.ones(4)}, "has 'u' of the shape (3,); expected (4,)"),
    "element": (lambda: {"u": dt.field(dt.vec(3), ())}, "has 'u' of float64; expected float32"),
    "type": (lambda: {"u": dt.zeros(3, ti.i32)}, "has 'u' of float64; expected int32"),
    "members": (
        lambda: {"cells": dt.field(ti.types.struct(mass=ti.f64), 2)},
        "has 'cells.speed', which 'cells' has not",
    ),
    "state": (
        lambda: {"u": dt.optim.SGD([dt.ones(3, grad=True)], 0.1)},
        "has no 'u.rule'",
    ),
    "other rule": (
        lambda: {"opt": dt.optim.SGD([dt.ones(3, ti.f64, grad=True)], 0.1)},
        "has 'opt.rule' = 'Adam'; expected 'SGD'",
    ),
}


@pytest.mark.parametrize("case", MISFITS)
def test_a_checkpoint_that_does_not_fit_is_refused(case: str, tmp_path: Path) -> None:
    u = dt.ones(3, ti.f64, grad=True)
    given = {"u": u, "cells": dt.field(CELL, 2), "opt": dt.optim.Adam([u], lr=0.1)}
    save(tmp_path / "c", given)
    make, text = MISFITS[case]
    with pytest.raises((dt.DatasetError, dt.LaunchError)) as error:
        load(tmp_path / "c", make())
    assert text in str(error.value)


def edited(change: Callable[[Any], Any]) -> Callable[[Path], Any]:
    """Return a damage: about.json is edited."""

    def damage(path: Path) -> None:
        about = json.loads((path / "about.json").read_text())
        change(about)
        (path / "about.json").write_text(json.dumps(about))

    return damage


def flip(path: Path) -> None:
    data = bytearray((path / "1" / "x.npy").read_bytes())
    data[-3] ^= 4
    (path / "1" / "x.npy").write_bytes(data)


def block(about: Any) -> Any:
    return about["arrays"]["x"]["blocks"][0]


DAMAGES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "flipped": (flip, "1/x.npy: has other numbers than were written"),
    "gone": (lambda p: (p / "1" / "x.npy").unlink(), "1/x.npy: is not there"),
    "short": (
        lambda p: (p / "1" / "x.npy").write_bytes((p / "1" / "x.npy").read_bytes()[:-8]),
        "8 bytes",
    ),
    "other": (lambda p: np.save(p / "1" / "x.npy", np.ones(4)), "has the shape (4,) of float64"),
    "no json": (lambda p: (p / "about.json").write_text("{"), "about.json: is not JSON at line 1"),
    "version": (edited(lambda a: a.update(version=9)), "version is 9; expected a whole number"),
    "no arrays": (edited(lambda a: a.pop("arrays")), "has no 'arrays'"),
    "number": (edited(lambda a: a["numbers"].update(step=[1])), "numbers.step is [1]"),
    "dtype": (edited(lambda a: a["arrays"]["x"].update(dtype="|O8")), "arrays.x.dtype is '|O8'"),
    "a dtype of another size": (
        edited(lambda a: a["arrays"]["x"].update(dtype="<f3")),
        "arrays.x.dtype is '<f3'; expected a type of NumPy, such as '<f4'",
    ),
    "outside": (
        edited(lambda a: block(a).update(file="../x.npy")),
        "arrays.x.blocks[0].file is '../x.npy', which leads out",
    ),
    "box": (
        edited(lambda a: block(a).update(at=[1, 0])),
        "expected a box inside of the shape (2, 3)",
    ),
    "axes": (
        edited(lambda a: block(a).update(at=[0])),
        "expected a box inside of the shape (2, 3)",
    ),
    "gap": (
        edited(lambda a: block(a).update(shape=[2, 2])),
        "expected blocks that cover the shape (2, 3), each element once",
    ),
    "overlap": (
        edited(
            lambda a: a["arrays"]["x"].update(
                blocks=[{**block(a), "shape": [1, 3]}, {**block(a), "shape": [1, 3]}]
            )
        ),
        "each element once",
    ),
    "negative": (edited(lambda a: block(a).update(at=[-1, 0])), "a whole number from 0"),
    "checksum": (edited(lambda a: block(a).update(crc32="x")), "crc32 is 'x'"),
}


@pytest.mark.parametrize("case", DAMAGES)
def test_a_damaged_checkpoint_is_refused_and_changes_nothing(case: str, tmp_path: Path) -> None:
    x, y = dt.full((2, 3), 5.0, ti.f64), dt.ones(2, ti.f64)
    save(tmp_path / "c", {"y": y, "x": x}, step=1)
    damage, text = DAMAGES[case]
    damage(tmp_path / "c")
    x.fill(0.0)
    y.fill(0.0)
    with pytest.raises(dt.DatasetError) as error:
        load(tmp_path / "c", {"y": y, "x": x})
    assert text in str(error.value)
    assert not x.to_numpy().any() and not y.to_numpy().any()


def test_types_of_any_kind_and_size_are_read_or_refused(tmp_path: Path) -> None:
    save(tmp_path / "c", {"x": dt.ones(2)})
    refused, sizes = 0, [*range(6), 8, 12, 16, "04", "\u0664", 10**6, 10**30]
    for dtype in (f"<{kind}{n}" for kind in "biufUO" for n in sizes):
        edited(lambda a, dtype=dtype: a["arrays"]["x"].update(dtype=dtype))(tmp_path / "c")
        try:
            read_checkpoint(tmp_path / "c")
        except dt.DatasetError as error:
            refused += 1
            assert "expected a type of NumPy, such as '<f4'" in str(error)
    assert 30 < refused < 60


# Errors of one rank


def failures(path: str) -> dict[str, str]:
    """Provoke errors on one rank; return the message that each of them gives here."""
    rank = current().rank
    x = dt.full(3, 1.0, ti.f64)
    mine = dt.full(3, float(rank), ti.f64)
    acts: dict[str, Callable[[], Any]] = {
        "differs": lambda: save(path, {"x": mine}),
        "type": lambda: save(path, {"x": x if rank == 0 else np.ones(3)}),
        "names": lambda: save(path, {f"x{rank}": x}),
        "shapes": lambda: save(path, {"x": dt.ones(3 + rank, ti.f64)}),
        "numbers": lambda: save(path, {"x": x}, step=rank),
        "path": lambda: save(f"{path}{rank}", {"x": x}),
        "load": lambda: load(f"{path}-good" if rank == 0 else f"{path}-none", {"x": x}),
        "load names": lambda: load(f"{path}-good", {"x": x} if rank == 0 else {}),
        "fits": lambda: load(f"{path}-good", {"x": x if rank == 0 else dt.ones(2)}),
        "other": lambda: load(f"{path}-{'good' if rank == 0 else 'late'}", {"x": x}),
    }
    save(f"{path}-good", {"x": x})
    save(f"{path}-late", {"x": x}, step=3)
    found: dict[str, str] = {}
    for name, act in acts.items():
        with pytest.raises((dt.FieldError, dt.DatasetError, RankError)) as error:
            act()
        found[name] = str(error.value)
    assert not Path(path).exists()
    return found


FAILURES = {
    "differs": "'x' differs between rank 0 and rank 1. Only fields of a grid",
    "type": "On rank 1: dt.distributed.save() takes fields",
    "names": "save(): rank 0 has 'x0' (field), and rank 1 'x1' (field)",
    "shapes": "'x' has the shape [3] of <f8 on rank 0, and [4] of <f8 on rank 1",
    "numbers": "rank 0 saves the numbers {'step': 0}, and rank 1 {'step': 1}",
    "path": "rank 0 saves to",
    "load": "on rank 1: is not there",
    "load names": "load(): rank 0 has 'x' (field), and rank 1 nothing",
    "fits": "on rank 1: has 'x' of the shape (3,); expected (2,)",
    "other": "is another checkpoint on rank 1; expected one",
}


def test_an_error_of_one_rank_is_raised_on_all(tmp_path: Path) -> None:
    first, *others = ranks(3).run(failures, str(tmp_path / "c"))
    for name, text in FAILURES.items():
        assert text in first[name], name
    for other in others:
        assert other == first
