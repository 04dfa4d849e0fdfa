"""Models: from MJCF, from arrays, and the features that are refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds
from difftile.worlds import kinds, mujoco_models
from difftile.worlds.refusals import REFUSALS, InspectedModel, Refusal, refuse
from tests.worlds.conformance import DATA, NAMES, model, numbers

BASE = """<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="hand">
      <joint name="wrist" type="hinge"/>
      <geom name="palm" type="sphere" size="0.1"/>
      <site name="tip"/><camera name="eye"/>
      <body name="finger" pos="1 0 0">
        <joint name="ball" type="ball"/><geom name="pad" size="0.1"/>
      </body>
    </body>
  </worldbody>
  <actuator><general name="motor" joint="wrist"/></actuator>
  <sensor><framepos name="where" objtype="site" objname="tip"/></sensor>
  <contact><pair name="touching" geom1="floor" geom2="pad"/></contact>
  <tendon><fixed name="string"><joint joint="wrist" coef="2"/></fixed></tendon>
  <equality><connect name="loop" body1="hand" body2="finger" anchor="0 0 0"/></equality>
</mujoco>"""


@pytest.fixture
def mujoco() -> Any:
    return pytest.importorskip("mujoco", reason="needs MuJoCo")


# Models from MJCF and from arrays


@pytest.mark.parametrize("name", NAMES)
def test_arrays_of_mjcf_are_those_of_the_reference(name: str, mujoco: Any) -> None:
    found, wanted = worlds.load(DATA / f"{name}.xml"), model(name)
    for key in set(numbers()[name]["arrays"]) & set(wanted.arrays):
        np.testing.assert_allclose(found.arrays[key], wanted.arrays[key], 1e-14, 1e-14)
    assert found.sizes == wanted.sizes
    for key, table in wanted.tables.items():
        np.testing.assert_array_equal(found.tables[key], table)


def test_sources_of_models(mujoco: Any, tmp_path: Path) -> None:
    compiled = mujoco.MjModel.from_xml_string(BASE)
    mujoco.mj_saveModel(compiled, str(tmp_path / "a.mjb"))
    (tmp_path / "a.xml").write_text(BASE)
    sources = [BASE, compiled, mujoco.MjSpec.from_string(BASE)]
    sources += [tmp_path / "a.mjb", str(tmp_path / "a.xml")]
    models = [worlds.load(source) for source in sources]
    for one in models:
        assert one.sizes == models[0].sizes
        assert one.id("joint", "ball") == 1 and one.id("geom", "pad") == 2
        for key, array in one.arrays.items():
            np.testing.assert_array_equal(array, models[0].arrays[key])
    assert repr(models[0]) == (
        "<worlds.Model: 3 bodies, 2 joints, 3 geoms, 4 degrees of freedom, 1 controls>"
    )
    with pytest.raises(FileNotFoundError, match="there is no file"):
        worlds.load("none.xml")
    with pytest.raises(TypeError, match="takes a path"):
        worlds.load(3)
    with pytest.raises(KeyError, match="has no joint 'elbow'; it has 'wrist', 'ball'"):
        models[0].id("joint", "elbow")


@pytest.mark.parametrize("name", NAMES)
def test_archives_give_the_same_bits(name: str, tmp_path: Path) -> None:
    first = model(name)
    first.save(tmp_path / "a.npz")
    second = worlds.load_arrays(tmp_path / "a.npz")
    assert second.sizes == first.sizes and second.arrays.keys() == first.arrays.keys()
    for key, array in first.arrays.items():
        assert second.arrays[key].dtype == array.dtype
        np.testing.assert_array_equal(second.arrays[key], array)


def test_keyframes_pairs_and_names_are_kept(mujoco: Any, tmp_path: Path) -> None:
    text = BASE.replace("</mujoco>", _KEY)
    worlds.load(text).save(tmp_path / "a.npz")
    one = worlds.load_arrays(tmp_path / "a.npz")
    assert one.key_qpos[one.id("key", "up")].tolist() == [0.5, 1, 0, 0, 0]
    assert one.pair_geom1.tolist() == [0] and one.exclude_signature.tolist() == [(1 << 16) + 2]
    # The explicit pair, and the palm on the floor; the hand and its finger are excluded.
    assert one.tables["collision_pair"].tolist() == [0, -1]
    assert one.tables["collision_geom2"].tolist() == [2, 1]


_KEY = """<keyframe><key name="up" qpos="0.5 1 0 0 0"/></keyframe>
<contact><exclude body1="hand" body2="finger"/></contact></mujoco>"""


def test_without_mujoco_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(mujoco_models.importlib, "import_module", missing)
    with pytest.raises(ImportError, match=re.escape("pip install difftile[worlds]")):
        worlds.load(BASE)


WRONG: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "missing": (lambda a: a.pop("body_mass"), "has no 'body_mass'"),
    "shape": (lambda a: a.update(body_mass=np.ones(4)), "of the shape (4,); expected (3,)"),
    "nan": (lambda a: a.update(body_mass=np.full(3, np.nan)), "expected finite numbers"),
    "parents": (lambda a: a["body_parentid"].__setitem__(1, 2), "each body after its parent"),
    "joints": (lambda a: a["jnt_dofadr"].__setitem__(1, 0), "'jnt_dofadr'"),
    "kind": (lambda a: a["geom_type"].__setitem__(1, 9), "a 'geom_type' that is none"),
    "geom": (lambda a: a["geom_bodyid"].__setitem__(1, 9), "'geom_bodyid' out of range"),
}


@pytest.mark.parametrize("case", WRONG)
def test_arrays_that_are_no_model_are_refused(case: str, tmp_path: Path) -> None:
    change, said = WRONG[case]
    one = model("double_pendulum")
    arrays = {**{k: v.copy() for k, v in one.arrays.items()}, "format": np.array(_FORMAT)}
    arrays |= {
        k: np.array(v) for k, v in numbers()["double_pendulum"]["arrays"].items() if k[0] == "n"
    }
    change(arrays)
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(dt.DatasetError, match=re.escape(said)):
        worlds.load_arrays(tmp_path / "a.npz")


_FORMAT = "difftile worlds 1"


def test_other_archives_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.ones(3))
    with pytest.raises(dt.DatasetError, match="is not a model; expected an archive that"):
        worlds.load_arrays(tmp_path / "a.npz")


# Fields of models


def test_parameters_are_fields_of_the_arrays() -> None:
    one = model("double_pendulum")
    m = one.parameters(ti.f32, grad=("body_mass",))
    assert m.body_mass.grad_out is not None and m.dof_damping.grad_out is None
    np.testing.assert_allclose(m.jnt_axis.to_numpy(), one.jnt_axis, rtol=1e-7)
    assert m.actuator_gainprm.shape == (2,) and m.gravity[None][2] == np.float32(-9.81)
    with pytest.raises(KeyError, match="'body_parentid'"):
        one.parameters(grad=("body_parentid",))


def test_parameters_of_each_world() -> None:
    one = model("double_pendulum")
    names = ("gravity", "body_mass", "jnt_axis")
    m = one.parameters(ti.f64, grad=("body_mass",), worlds=3, per_world=names)
    assert m.gravity.shape == (3,) and m.body_mass.shape == (3, 3) and m.jnt_axis.shape == (3, 2)
    m.body_mass[1, 2] = 5.0
    assert m.body_mass.to_numpy()[:, 2].tolist() == [one.body_mass[2], 5.0, one.body_mass[2]]
    np.testing.assert_array_equal(m.jnt_axis.to_numpy()[1], one.jnt_axis)
    assert m.body_mass.grad.shape == (3, 3) and m.body_pos.shape == (3,)
    with pytest.raises(KeyError, match="'geom_type'"):
        one.parameters(per_world=("geom_type",))


def test_stiff_impedances_are_reported_in_single_precision() -> None:
    one = worlds.Model(numbers()["box"]["arrays"])
    one.geom_solimp[1, 1] = 0.9995
    one.parameters(ti.f64)
    with pytest.warns(UserWarning, match=r"geom 1 of body 1 has an impedance above 0.999"):
        one.parameters(ti.f32)


# Refusals


# For each row an array of the model above, a value that uses the feature, and the element named.
USES: dict[tuple[str, str], tuple[str, Any, float, str]] = {
    ("plasticity", "jnt"): ("jnt_plasticadr", 0, 0, "joint 'wrist'"),
    ("a yielding spring", "jnt"): ("jnt_springyield", 1, 1, "joint 'ball'"),
    ("the equality type {}", "eq"): ("eq_type", 0, 7, "equality 'loop'"),
    ("armature of a tendon around geoms", "tendon"): ("tendon_armature", 0, 1, "tendon 'string'"),
    ("a yielding spring of a tendon", "tendon"): ("tendon_springyield", 0, 1, "tendon 'string'"),
    ("plasticity of a tendon", "tendon"): ("tendon_plasticadr", 0, 0, "tendon 'string'"),
    ("adhesion of geoms", "geom"): ("geom_adhesion", 1, 1, "geom 'palm'"),
    ("adhesion of pairs", "pair"): ("pair_adhesion", 0, 1, "pair 'touching'"),
    ("surface velocity", "geom"): ("geom_surfacevel", 0, 1, "geom 'floor'"),
    **{
        (f"a sign of its own for each number of '{name}'", kind): (name, (0, 0), sign, where)
        for kind, name, where, sign in (
            ("jnt", "jnt_solref", "joint 'wrist'", -1),
            ("dof", "dof_solref", "joint 'wrist'", -1),
            ("geom", "geom_solref", "geom 'floor'", -1),
            ("pair", "pair_solref", "pair 'touching'", -1),
            ("pair", "pair_solreffriction", "pair 'touching'", 1),
            ("eq", "eq_solref", "equality 'loop'", -1),
        )
    },
    ("flexible bodies", "flex"): ("nflex", 0, 1, "flex 0"),
    ("plugins", "plugin"): ("nplugin", 0, 1, "plugin 0"),
    ("the transmission {}", "actuator"): (
        *("actuator_trntype", 0, 5),
        "actuator 'motor'",
    ),
    ("'jointinparent' on a free or ball joint", "actuator"): (
        *("jnt_type", 0, 1),
        "actuator 'motor'",
    ),
    ("the gain type {}", "actuator"): (
        *("actuator_gaintype", 0, 3),
        "actuator 'motor'",
    ),
    ("the bias type {}", "actuator"): (
        *("actuator_biastype", 0, 3),
        "actuator 'motor'",
    ),
    ("the dynamics type {}", "actuator"): (
        *("actuator_dyntype", 0, 5),
        "actuator 'motor'",
    ),
    ("an integrated position of a ball joint, or of the turn of a site", "actuator"): (
        *("actuator_dyntype", 0, 1),
        "actuator 'motor'",
    ),
    ("several activations", "actuator"): ("actuator_actnum", 0, 2, "actuator 'motor'"),
    ("a delay", "actuator"): ("actuator_delay", 0, 1, "actuator 'motor'"),
    ("the sensor type {}", "sensor"): ("sensor_type", 0, 8, "sensor 'where'"),
    ("a rangefinder that reads more than a distance", "sensor"): (
        *("sensor_dim", 0, 3),
        "sensor 'where'",
    ),
    (
        "a rangefinder among height fields or signed distance fields",
        "sensor",
    ): (
        *("geom_type", 0, 8),
        "sensor 'where'",
    ),
    ("a sensor of a camera that turns by itself", "sensor"): (
        *("cam_mode", 0, 1),
        "sensor 'where'",
    ),
    ("a distance of height fields or signed distance fields", "sensor"): (
        *("geom_type", 0, 1),
        "sensor 'where'",
    ),
    ("a delay", "sensor"): ("sensor_delay", 0, 1, "sensor 'where'"),
    ("an interval", "sensor"): ("sensor_interval", 0, 1, "sensor 'where'"),
    ("the integrator {}", "option"): ("integrator", 0, 4, "<option>"),
    ("noslip under the integrator implicit", "option"): ("integrator", 0, 2, "<option>"),
    ("disabled sensors", "option"): ("disableflags", 0, 8192, "<option>"),
    ("overrides of contact parameters", "option"): ("enableflags", 0, 1, "<option>"),
    ("sleeping", "option"): ("enableflags", 0, 16, "<option>"),
    ("'diagexact'", "option"): ("enableflags", 0, 32, "<option>"),
    ("'ipc'", "option"): ("enableflags", 0, 64, "<option>"),
    ("'speculative'", "option"): ("enableflags", 0, 128, "<option>"),
}
# What other arrays say where a feature needs several.
BESIDES = {
    "a rangefinder that reads more than a distance": {"sensor_type": 7},
    "a rangefinder among height fields or signed distance fields": {
        **{"sensor_type": 7, "sensor_dim": 1, "geom_contype": 0, "geom_conaffinity": 0},
        **{"pair_geom1": 0, "pair_geom2": 0},
    },
    "an integrated position of a ball joint, or of the turn of a site": {
        **{"jnt_type": 1, "actuator_gaintype": 0, "actuator_biastype": 1},
        **{"actuator_gainprm": 0.0, "actuator_biasprm": 0.0},
    },
    "a distance of height fields or signed distance fields": {
        **{"sensor_type": 39, "sensor_objtype": 5, "sensor_reftype": 1, "sensor_refid": 1},
        **{"geom_contype": 0, "geom_conaffinity": 0, "pair_geom1": 0, "pair_geom2": 0},
    },
    "noslip under the integrator implicit": {"noslip_iterations": 3},
    "armature of a tendon around geoms": {"wrap_type": 4},
    "'jointinparent' on a free or ball joint": {"actuator_trntype": 1},
    "a sensor of a camera that turns by itself": {"sensor_objtype": 7, "sensor_objid": 0},
}


# The names of types in the rows above that are about types.
_TYPES = {
    ("the equality type {}", "eq"): "distance",
    ("the transmission {}", "actuator"): "body",
    ("the gain type {}", "actuator"): "dcmotor",
    ("the bias type {}", "actuator"): "dcmotor",
    ("the dynamics type {}", "actuator"): "dcmotor",
    ("the sensor type {}", "sensor"): "camprojection",
    ("the integrator {}", "option"): "discrete",
}


def test_every_refusal_has_a_model() -> None:
    assert set(USES) == {(row.feature, row.kind) for row in REFUSALS}


@pytest.mark.parametrize("row", REFUSALS, ids=lambda row: f"{row.feature} of {row.kind}")
def test_features_are_refused_with_their_element(row: Refusal, mujoco: Any) -> None:
    name, index, value, place = USES[row.feature, row.kind]
    source = mujoco_models.source_of(mujoco.MjModel.from_xml_string(BASE))
    refuse(source)
    array, others = np.array(source.get(name)), BESIDES.get(row.feature, {})
    if others:
        given = {name: np.full_like(array, value)}
        given |= {key: np.full_like(source.get(key), other) for key, other in others.items()}
    else:
        numbers = array.reshape(len(array) if array.ndim else 1, -1)
        if np.ndim(index) == 0 and index >= numbers.size:
            pytest.skip(f"MuJoCo {mujoco.__version__} lacks {row.feature}")
        numbers[index] = value
        given = {name: array}
    changed = InspectedModel(lambda key: given.get(key, source.get(key)), source.label)
    with pytest.raises(worlds.Unsupported) as caught:
        refuse(changed)
    feature, hint = row.feature.format(_TYPES.get((row.feature, row.kind))), row.hint
    option = {"sensor": "sensors"}.get(row.kind, row.option)
    if option:
        hint = f'{hint[:-1]}; or leave these out: worlds.load(..., {option}="skip").'
    assert str(caught.value) == f"Unsupported in worlds: {feature}, of {place}.\n  Hint: {hint}"


def test_types_have_the_names_of_mujoco(mujoco: Any) -> None:
    enums = {
        "geom_type": ("mjtGeom", {}),
        "eq_type": ("mjtEq", {}),
        "actuator_trntype": ("mjtTrn", {}),
        "actuator_gaintype": ("mjtGain", {}),
        "actuator_biastype": ("mjtBias", {}),
        "actuator_dyntype": ("mjtDyn", {}),
        "integrator": ("mjtIntegrator", {}),
        "sensor_type": (
            "mjtSensor",
            {
                "jointactuatorfrc": "jointactfrc",
                "tendonactuatorfrc": "tendonactfrc",
                "distance": "geomdist",
                "normal": "geomnormal",
                "fromto": "geomfromto",
            },
        ),
    }
    assert enums.keys() == kinds.TYPES.keys()
    for array, (enum, other) in enums.items():
        members = {int(v): k for k, v in getattr(mujoco, enum).__members__.items()}
        for number, name in enumerate(kinds.TYPES[array].split()):
            assert members[number].split("_", 1)[1].lower() == other.get(name, name).lower()
            assert kinds.type_name(array, number) == name
    assert kinds.type_name("geom_type", 99) == "99"


MANY = """<mujoco>
  <asset><hfield name="hills" nrow="2" ncol="2" size="1 1 1 1"/></asset>
  <worldbody>
    <geom type="hfield" hfield="hills"/>
    <geom type="plane" size="1 1 1" conaffinity="2"/>
    <body name="a">
      <freejoint/>
      <geom type="ellipsoid" size=".1 .1 .1" conaffinity="0"/>
      <geom type="ellipsoid" size=".1 .1 .2" pos="0 0 .3" conaffinity="0"/>
    </body>
    <body pos="0 1 0">
      <freejoint/><geom name="lid" type="cylinder" size=".1 .1" conaffinity="0"/>
    </body>
    <body pos="0 2 0"><freejoint/><geom type="sphere" size=".1" contype="2" conaffinity="0"/></body>
  </worldbody>
  <sensor>
    <framepos name="before" objtype="body" objname="a"/>
    <user name="own" dim="2"/>
    <user name="other" dim="1"/>
    <frameangvel name="after" objtype="body" objname="a"/>
  </sensor>
</mujoco>"""
_WORDS = {"collisions": "skip", "sensors": "skip"}


def test_all_reasons_are_named_at_once(mujoco: Any) -> None:
    with pytest.raises(worlds.Unsupported) as caught:
        worlds.load(MANY)
    pairs = "use a plane, boxes or meshes; or "
    assert str(caught.value) == (
        "Unsupported in worlds, 3 features of this model:\n"
        "  the sensor type user, of sensor 'own' and 1 more.\n"
        '    Hint: remove it; or leave these out: worlds.load(..., sensors="skip").\n'
        "  contact of hfield with ellipsoid, of geom 0 of the world and geom 2 of body 'a' and 1 "
        "more.\n"
        "  contact of hfield with cylinder, of geom 0 of the world and geom 'lid'.\n"
        f"    Hint: {pairs}let the geoms not collide, by contype, conaffinity or <exclude>; or "
        'leave these out: worlds.load(..., collisions="skip").'
    )
    assert caught.value.reasons[0].places == ("sensor 'own'", "sensor 'other'")
    for words in ({"collisions": "skip"}, {"sensors": "skip"}):
        with pytest.raises(worlds.Unsupported) as caught:
            worlds.load(MANY, **words)
        assert {one.option for one in caught.value.reasons} == _WORDS.keys() - words.keys()
    with pytest.raises(ValueError, match=r'load\(sensors=...\) is "refuse" or "skip", not True'):
        worlds.load(MANY, sensors=True)


def test_what_is_left_out_is_named_and_absent(mujoco: Any, tmp_path: Path) -> None:
    said = (
        "worlds.load left out: the sensor type user, of sensor 'own' and 1 more; contact of hfield "
    )
    with pytest.warns(UserWarning, match=re.escape(said)):
        one = worlds.load(MANY, **_WORDS)
    assert [row.feature for row in one.skipped] == [
        "the sensor type user",
        "contact of hfield with ellipsoid",
        "contact of hfield with cylinder",
    ]
    assert one.sensor_name.tolist() == ["before", "after"] and one.sensor_adr.tolist() == [0, 6]
    assert one.sizes.nsensor == 2 and one.sizes.nsensordata == 9 and one.sizes.nslot == 1
    one.save(tmp_path / "a.npz")
    other = worlds.load_arrays(tmp_path / "a.npz")
    assert other.skipped == one.skipped and other.sizes == one.sizes
    sim = worlds.Worlds(one, 2, dtype=ti.f64)
    sim.qvel.fill(0.5)
    sim.sense()
    reference = mujoco.MjModel.from_xml_string(MANY)
    data = mujoco.MjData(reference)
    data.qvel[:] = 0.5
    mujoco.mj_forward(reference, data)
    np.testing.assert_allclose(sim.sensordata.to_numpy(), [data.sensordata] * 2, atol=1e-12)
    with np.load(tmp_path / "a.npz") as archive:
        arrays = {**archive, "skipped_place": np.array(["x"])}
    np.savez(tmp_path / "b.npz", **arrays)
    with pytest.raises(dt.DatasetError, match="other lengths of 'skipped_feature'"):
        worlds.load_arrays(tmp_path / "b.npz")


@pytest.mark.compiled  # it compares bits
def test_noslip_is_left_out_by_an_option(mujoco: Any, tmp_path: Path) -> None:
    text = """<mujoco><option timestep="0.004" {}/><worldbody>
      <geom type="plane" size="1 1 1" euler="9 0 0"/>
      <body pos="0 0 0.1"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>"""
    slipping = text.format('noslip_iterations="3"')
    assert worlds.load(slipping).sizes.noslip
    with pytest.raises(ValueError, match='"sweep" or "skip"'):
        worlds.load(slipping, noslip="refuse")
    said = "worlds.load left out: noslip iterations, of <option>."
    with pytest.warns(UserWarning, match=re.escape(said)):
        one = worlds.load(slipping, noslip="skip")
    assert [(row.feature, row.option) for row in one.skipped] == [("noslip iterations", "noslip")]
    one.save(tmp_path / "a.npz")
    assert worlds.load_arrays(tmp_path / "a.npz").skipped == one.skipped
    sims = [worlds.Worlds(each, 1, dtype=ti.f64) for each in (one, worlds.load(text.format("")))]
    for sim in sims:
        sim.step(3)
    velocities = [sim.qvel.to_numpy() for sim in sims]
    assert np.abs(velocities[0]).max() > 0.0 and np.array_equal(*velocities)


def test_sleeping_is_left_out_by_an_option(mujoco: Any) -> None:
    """Steps are those of the model without the flag."""
    flag = '<option><flag sleep="enable"/></option>'
    said = "worlds.load left out: sleeping, of <option>."
    with pytest.warns(UserWarning, match=re.escape(said)):
        one = worlds.load(BASE.replace("<worldbody>", f"{flag}<worldbody>"), sleep="skip")
    assert [(row.feature, row.option) for row in one.skipped] == [("sleeping", "sleep")]
    assert one.sizes == worlds.load(BASE).sizes


def test_pairs_of_geoms_that_cannot_collide_yet_are_refused(mujoco: Any) -> None:
    text = BASE.replace(
        "<worldbody>",
        """<asset><hfield name="hills" nrow="3" ncol="3"
      size="1 1 1 1" elevation="0 1 0 1 0 1 0 1 0"/></asset>
      <worldbody><geom name="ground" type="hfield" hfield="hills"/>""",
    )
    with pytest.raises(worlds.Unsupported) as caught:
        worlds.load(text)
    assert str(caught.value) == (
        "Unsupported in worlds: contact of hfield with sphere, of geom 'ground' and geom 'palm' "
        "and 1 more.\n"
        "  Hint: use a plane, boxes or meshes; or let the geoms not collide, by contype, "
        'conaffinity or <exclude>; or leave these out: worlds.load(..., collisions="skip").'
    )
    visual = text.replace('name="ground"', 'name="ground" contype="0" conaffinity="0"')
    one = worlds.load(visual)
    assert one.sizes.ngeom == 4 and 0 not in one.tables["collider_geomid"]
