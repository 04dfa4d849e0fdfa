"""Random models in MJCF: trees of 3 to 12 bodies, with every feature that worlds support.

`mjcf(seed)` is the text of a model; `state(model, rng)` draws a state of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from difftile import worlds

JOINTS = ("hinge", "slide", "ball")
# Boxes collide with planes, in some models with spheres and capsules, in some with each other;
# cylinders, ellipsoids and meshes, where forces are compared, with planes.
AFFINITY = {"plane": (0, 3), "sphere": (1, 5), "capsule": (1, 5), "box": (2, 0)}
ROUND = {"cylinder": (2, 0), "ellipsoid": (2, 0), "mesh": (2, 0)}
SOLID, STACKED = 4, 8  # of boxes in such models
FRAMES = ("framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis")
MOVING = ("framelinvel", "frameangvel")
SHAPES = ("sphere", "capsule", "ellipsoid", "cylinder", "box")  # of zones of touch sensors
ROWS = ("constraint", "equality", "frictionloss", "limit", "contact", "refsafe")
FELT = ("touch", "accelerometer", "force", "torque")


class _Text:
    """MJCF that is drawn from a generator of random numbers.

    Args:
        seed: Of the generator.
        bodies: The number of bodies; drawn if None.
    """

    def __init__(self, seed: int, bodies: int | None = None) -> None:
        self.rng, self.seed = np.random.default_rng(seed), seed
        self.count = bodies or int(self.rng.integers(3, 13))
        self.joints: list[tuple[str, str]] = []
        self.geoms: list[tuple[str, str]] = []
        self.bodies: list[str] = []
        self.sites: list[str] = []
        self.actuators: list[str] = []
        self.later = np.random.default_rng([seed, 1])  # of what was added later: seeds keep models
        self.solid = bool(np.random.default_rng([seed, 2]).random() < 0.5)
        self.shapes = np.random.default_rng([seed, 6])
        self.stacked = bool(self.shapes.random() < 0.4)
        self.meshes: list[str] = []
        self.rough = np.random.default_rng([seed, 3])  # of torsional and rolling friction
        self.zones: list[str] = []
        self.lift = np.random.default_rng([seed, 11])
        self.servos = np.random.default_rng([seed, 12])
        self.bent = np.random.default_rng([seed, 13])  # of polynomials, rotors and muscles
        self.wet = np.random.default_rng([seed, 10])
        self.tendons: list[str] = []
        self.limited: list[str] = []
        self.ropes: list[str] = []  # tendons with limits
        self.cameras: list[str] = []
        self.filming = np.random.default_rng([seed, 7])
        self.simple = bool(self.rng.random() < 0.3)  # as models of robots are: at joints' origins

    # Numbers

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def number(self, low: float, high: float) -> str:
        return f"{self.rng.uniform(low, high):.4g}"

    def vector(self, n: int, size: float) -> str:
        return " ".join(f"{x:.4g}" for x in self.rng.normal(0, size, n))

    def pick(self, *given: str) -> str:
        return given[int(self.rng.integers(len(given)))]

    def curve(self) -> str:
        """Return coefficients of a polynomial of stiffness or damping, of some."""
        if self.bent.random() < 0.8:
            return ""
        return f" {self.bent.uniform(0, 1):.3g} {self.bent.uniform(0, 1):.3g}"

    def rotor(self) -> str:
        """Return the armature and the damping of an actuator, of some."""
        said = f' armature="{self.bent.uniform(0, 0.1):.3g}"' if self.bent.random() < 0.15 else ""
        if self.bent.random() < 0.15:
            said += f' damping="{self.bent.uniform(0, 0.2):.3g}{self.curve()}"'
        return said

    def muscle(self) -> str:
        """Return the attributes of a muscle besides its transmission."""
        width = self.bent.choice(["", 'tausmooth="0.3"'])
        force = self.bent.choice(["", 'force="5"', 'scale="10"'])
        return (
            f'timeconst="0.02 0.06" {width} {force} lengthrange="-1 1.5" '
            f'range="0.7 {self.bent.uniform(1.0, 1.4):.3g}" lmin="0.4" vmax="2"'
        )

    def impedance(self) -> str:
        rest = f"{self.number(0.9, 0.99)} {self.number(0.001, 0.05)} {self.number(0.2, 0.8)}"
        return f"{self.pick('0', '0.5', '0.9')} {rest} {self.pick('1', '2', '3.5')}"

    def condim(self, *given: str) -> tuple[str, str]:
        """Return one of some dimensions, or a larger one, and frictions about the axes."""
        dim, (torsion, rolling) = self.pick(*given), self.rough.uniform(0.0, 0.4, 2)
        if dim == "3" and self.rough.random() < 0.4:
            dim = str(self.rough.choice(["4", "6"]))
        return f'condim="{dim}"', f"{torsion:.4g} {rolling:.4g}"

    # Elements

    def text(self) -> str:
        """Return the model."""
        world = self.planes() + self.statics() + self.trees()
        gravity = self.vector(3, 4) if self.chance(0.5) else "0 0 -9.81"
        integrator, cone = self.pick("Euler", "implicitfast"), self.pick("pyramidal", "elliptic")
        implicit, off = np.random.default_rng([self.seed, 14]).random(2) < (0.4, 0.15)
        scheme = f'integrator="{"implicit" if integrator != "Euler" and implicit else integrator}"'
        scheme += ' actuatorgroupdisable="1"' if off else ""
        flags = " ".join(
            f'{name}="disable"'
            for name in ("spring", "damper", "gravity", "clampctrl", "filterparent", "eulerdamp")
            if self.chance(0.06)
        )
        rows = np.random.default_rng([self.seed, 5])
        flags += "".join(f' {name}="disable"' for name in ROWS if rows.random() < 0.04)
        world += self.zone("world")
        body = f"<worldbody>{world}</worldbody>"
        contact, actuator, sensor = self.contact(), self.actuator(), self.sensor() + self.felt()
        tendon, pulled = self.tendon(np.random.default_rng([self.seed, 4]))
        equality = self.equality(np.random.default_rng([self.seed, 3]))
        sensor += self.read(np.random.default_rng([self.seed, 6]))
        actuator = actuator.replace("</actuator>", f"{pulled}</actuator>")
        return (
            f'<mujoco><compiler angle="radian" autolimits="true"/>'
            f'<option timestep="{self.number(0.001, 0.01)}" gravity="{gravity}" cone="{cone}" '
            f'{scheme} impratio="{self.number(0.5, 3)}" jacobian="dense" '
            f'magnetic="0.3 -0.5 0.2" {self.fluid()} solver="Newton" iterations="200" '
            f'ls_iterations="100" tolerance="1e-15">'
            f'<flag energy="enable" {flags}/></option>'
            f"<asset>{''.join(self.meshes)}</asset>"
            f"{body}{contact}{equality}{tendon}{actuator}{sensor}</mujoco>"
        )

    def fluid(self) -> str:
        """Return the options of a fluid, of some models."""
        rng = self.wet
        if rng.random() < 0.6:
            return ""
        said = f'wind="{rng.normal():.3g} {rng.normal():.3g} 0.1"' if rng.random() < 0.5 else ""
        said += f' density="{rng.uniform(1, 300):.4g}"' if rng.random() < 0.8 else ""
        return f'{said} viscosity="{rng.choice([0.0, 0.1, 1.0])}"'

    def geom(self, kind: str, body: str) -> str:
        name = f"geom{len(self.geoms)}"
        self.geoms.append((name, kind))
        size = " ".join(
            self.number(0.05, 0.2) for _ in range({"sphere": 1, "capsule": 2}.get(kind, 3))
        )
        contype, conaffinity = AFFINITY[kind]
        if kind == "box" and self.shapes.random() < 0.4:
            kind = str(self.shapes.choice(list(ROUND)))
            contype, conaffinity = ROUND[kind]
        if self.solid and kind == "box":
            contype += SOLID
        if self.stacked and kind == "box":
            contype, conaffinity = contype + STACKED, conaffinity + STACKED
        if kind == "mesh":
            points = self.shapes.normal(0, 0.12, 3 * int(self.shapes.integers(5, 20)))
            numbers = " ".join(f"{x:.4g}" for x in points)
            size += f'" mesh="{name}'
            self.meshes.append(f'<mesh name="{name}" vertex="{numbers}"/>')
        if self.chance(0.2):
            contype = conaffinity = 0
        place = f'pos="{self.vector(3, 0.1)}" quat="{self.vector(4, 1)}"'
        if kind == "plane" and not self.chance(0.3):
            place = 'pos="0 0 -0.3"'
        solver = ""
        if self.chance(0.4):
            solver = self.pick(
                'solref="0.03 0.9"', 'solref="-800 -30"', 'priority="1"', 'solmix="2"'
            )
        if self.chance(0.4):
            solver += f' solimp="{self.impedance()}"'
        density, (condim, turning) = self.number(200, 2000), self.condim("1", "3", "3")
        if self.wet.random() < 0.2 and kind != "plane":
            solver += ' fluidshape="ellipsoid"'
        return (
            f'<geom name="{name}" type="{kind}" size="{size}" {place} contype="{contype}" '
            f'conaffinity="{conaffinity}" density="{density}" '
            f'{condim} friction="{self.number(0, 1.5)} {turning}" '
            f'margin="{self.pick("0", "0.01")}" gap="{self.pick("0", "0.004")}" {solver}/>'
        )

    def planes(self) -> str:
        return "".join(self.geom("plane", "world") for _ in range(int(self.rng.integers(0, 3))))

    def statics(self) -> str:
        return "".join(self.geom("sphere", "world") for _ in range(int(self.chance(0.3))))

    def joint(self, kind: str, name: str) -> str:
        said = [
            f'name="{name}" type="{kind}" pos="{"0 0 0" if self.simple else self.vector(3, 0.1)}"'
        ]
        if kind != "ball":
            said.append(f'axis="{self.vector(3, 1)}"')
        if self.chance(0.5):
            said.append(f'stiffness="{self.number(0, 5)}{self.curve()}"')
        if self.chance(0.5):
            said.append(f'damping="{self.number(0, 1)}{self.curve()}"')
        if self.chance(0.5):
            said.append(f'armature="{self.number(0, 0.1)}"')
        if self.chance(0.3):
            said.append(f'frictionloss="{self.number(0, 0.3)}"')
        if self.chance(0.4):
            low = 0.0 if kind == "ball" else self.rng.uniform(-1, 0.2)
            self.limited.append(name)
            said.append(f'range="{low:.4g} {self.rng.uniform(0.3, 1.2):.4g}"')
            said.append(f'margin="{self.pick("0", "0.1")}" solimplimit="{self.impedance()}"')
        if kind != "ball" and self.chance(0.4):
            said.append(f'ref="{self.number(-1, 1)}" springref="{self.number(-1, 1)}"')
        if kind != "ball" and self.chance(0.2):
            said.append('actuatorfrcrange="-1.5 1"')
        if kind != "ball" and self.lift.random() < 0.3:
            said.append('actuatorgravcomp="true"')
        self.joints.append((name, kind))
        return f"<joint {' '.join(said)}/>"

    def free(self, name: str) -> str:
        self.joints.append((name, "free"))
        more = ""
        if self.chance(0.3):
            more = f'damping="{self.number(0, 0.5)}" armature="{self.number(0, 0.1)}"'
        if self.chance(0.3):
            more += f' stiffness="{self.number(0, 2)}"'
        return f'<joint name="{name}" type="free" {more}/>'

    def body(self, index: int, children: dict[int, list[int]], at_root: bool) -> str:
        name = f"body{index}"
        self.bodies.append(name)
        said, first = "", len(self.joints)
        if at_root and self.chance(0.5):
            said += self.free(f"joint{first}")
        else:
            number = int(self.rng.choice([0, 1, 2, 3], p=[0.15, 0.6, 0.15, 0.1]))
            kinds = [self.pick(*JOINTS) for _ in range(number)]
            if "ball" in kinds:  # MuJoCo: with no other rotation
                kinds = ["ball"] if self.chance(0.5) else ["slide", "ball"]
            for k, kind in enumerate(kinds):
                said += self.joint(kind, f"joint{first + k}")
        if self.chance(0.2):
            said += (
                f'<inertial pos="{self.vector(3, 0.1)}" quat="{self.vector(4, 1)}" '
                f'mass="{self.number(0.2, 3)}" diaginertia="0.02 0.03 0.04"/>'
            )
        for _ in range(int(self.rng.integers(1, 3))):
            said += self.geom(self.pick("sphere", "capsule", "box"), name)
        if self.chance(0.5):
            self.sites.append(f"site{index}")
            place = f'pos="{self.vector(3, 0.1)}" quat="{self.vector(4, 1)}"'
            said += f'<site name="site{index}" {place}/>'
        said += self.zone(name) + self.camera(self.filming)
        said += "".join(self.body(child, children, False) for child in children[index])
        gravcomp = f'gravcomp="{self.number(0, 1)}"' if self.chance(0.1) else ""
        turn = "" if self.simple else f'quat="{self.vector(4, 1)}"'
        return f'<body name="{name}" pos="{self.vector(3, 0.3)}" {turn} {gravcomp}>{said}</body>'

    def zone(self, body: str) -> str:
        """Return a site for sensors of contacts and forces, on some bodies."""
        rng = self.later
        if rng.random() < 0.5:
            return ""
        self.zones.append(f"zone{len(self.zones)}")
        numbers = (" ".join(f"{x:.4g}" for x in rng.normal(0, s, n)) for s, n in ((0.1, 3), (1, 4)))
        size = " ".join(f"{x:.4g}" for x in rng.uniform(0.05, 0.4, 3))
        place = 'pos="{}" quat="{}"'.format(*numbers)
        return f'<site name="{self.zones[-1]}" type="{rng.choice(SHAPES)}" size="{size}" {place}/>'

    def tendon(self, rng: np.random.Generator) -> tuple[str, str]:
        """Return tendons, of some models, and actuators that pull them."""
        said, pulled = "", ""
        free = [name for name, kind in self.joints if kind in ("hinge", "slide")]
        limits = np.random.default_rng([self.seed, 8])
        for k in range(int(rng.integers(1, 3)) if free and rng.random() < 0.4 else 0):
            joints = rng.choice(free, min(len(free), int(rng.integers(1, 4))), replace=False)
            coefs = [f'<joint joint="{one}" coef="{rng.normal():.3g}"/>' for one in joints]
            low = rng.normal(0, 0.3)
            rest = rng.choice(["", f'springlength="{low:.3g} {low + rng.random():.3g}"'])
            stiffness = f"{rng.uniform(0, 3):.3g}{self.curve()}"
            spring = (
                f'stiffness="{stiffness}" damping="{rng.uniform(0, 1):.3g}{self.curve()}" {rest}'
            )
            self.tendons.append(f"tendon{k}")
            spring += self.ends(f"tendon{k}", limits)
            path, kind = "".join(coefs), "fixed"
            if len(self.sites + self.zones) > 1 and limits.random() < 0.5:
                path, kind = self.path(limits), "spatial"
            light = "<geom" in path  # MuJoCo: no armature around geoms
            if not light and self.bent.random() < 0.3:
                spring += f' armature="{self.bent.uniform(0, 0.2):.3g}"'
            said += f'<{kind} name="tendon{k}" {spring}>{path}</{kind}>'
            if rng.random() < 0.7:
                more = (
                    'gaintype="affine" gainprm="1 0.5 -0.3" biastype="affine" biasprm="0.1 -2 -1"'
                )
                more += rng.choice(["", ' forcerange="-1 1"', ' dyntype="filter" dynprm="0.05"'])
                gear = f'gear="{rng.normal():.3g}"'
                more += "" if light else self.rotor()
                pulled += f'<general name="pull{k}" tendon="tendon{k}" {gear} {more}/>'
            if self.bent.random() < 0.3:
                pulled += f'<muscle tendon="tendon{k}" {self.muscle()}/>'
        return f"<tendon>{said}</tendon>", pulled + self.thrusters(limits)

    def thrusters(self, rng: np.random.Generator) -> str:
        """Return actuators on sites, of some models."""
        said, names = "", self.sites + self.zones
        for _ in range(int(rng.integers(1, 3)) if len(names) > 1 and rng.random() < 0.4 else 0):
            one, other = rng.permutation(names)[:2]
            gear = " ".join(f"{x:.3g}" for x in rng.normal(0, 1, 6) * rng.integers(0, 2, 6))
            where = f'site="{one}" gear="{gear}"'
            where += f' refsite="{other}"' if rng.random() < 0.5 else ""
            more = rng.choice(['gainprm="2"', 'gaintype="affine" gainprm="1 0.5 -0.3"'])
            said += f'<general {where} {more} biastype="affine" biasprm="0.1 -2 -0.5"/>'
        if len(names) > 1 and self.bent.random() < 0.2:
            one, other = self.bent.permutation(names)[:2]
            rod = f'cranklength="{self.bent.uniform(0.05, 1):.3g}"'
            where = f'cranksite="{one}" slidersite="{other}" {rod}'
            more = 'gainprm="2" biastype="affine" biasprm="0.1 -2 -0.5"'
            said += f'<general {where} gear="{self.bent.normal():.3g}" {more}/>'
        return said

    def ends(self, name: str, rng: np.random.Generator) -> str:
        """Return limit, frictionloss and clamp of a tendon, of some."""
        said = ""
        if rng.random() < 0.5:
            self.ropes.append(name)
            low = rng.normal(0.0, 0.3)
            said += f' range="{low:.4g} {low + rng.uniform(0.01, 1):.4g}"'
            said += rng.choice(["", ' margin="0.1"', ' solreflimit="-300 -20" margin="0.3"'])
            said += rng.choice(["", ' solimplimit="0.5 0.9 0.1 0.4 2"'])
        if rng.random() < 0.4:
            said += f' frictionloss="{rng.uniform(0, 0.5):.3g}"'
            said += rng.choice(["", ' solreffriction="0.03 0.8" solimpfriction="0.8 0.9 0.1"'])
        return said + rng.choice(["", ' actuatorfrcrange="-0.4 0.6"'])

    def path(self, rng: np.random.Generator) -> str:
        """Return the path of a spatial tendon."""
        names, said = self.sites + self.zones, ""
        round_ = [name for name, kind in self.geoms if kind == "sphere"]
        for branch in range(1 + (rng.random() < 0.2)):
            if branch:
                said += f'<pulley divisor="{rng.uniform(1, 3):.3g}"/>'
            sites = rng.permutation(names)[: int(rng.integers(2, 4))]
            for k, site in enumerate(sites):
                if k and round_ and rng.random() < 0.4:
                    side = f'sidesite="{rng.choice(names)}"' if rng.random() < 0.5 else ""
                    said += f'<geom geom="{rng.choice(round_)}" {side}/>'
                said += f'<site site="{site}"/>'
        return said

    def equality(self, rng: np.random.Generator) -> str:
        """Return equality constraints, of some models."""
        said = ""
        free = [name for name, kind in self.joints if kind in ("hinge", "slide")]
        for _ in range(int(rng.integers(1, 4)) if rng.random() < 0.4 else 0):
            numbers = " ".join(f"{x:.4g}" for x in rng.normal(0, 0.3, 5))
            at = " ".join(numbers.split()[:3])
            solver = rng.choice(["", 'solref="0.03 0.9"', 'solref="-500 -20"'])
            solver += rng.choice(["", ' solimp="0.5 0.9 0.3 0.4 2"', ' active="false"'])
            one, other = rng.choice(["world", *self.bodies], 2, replace=False)
            kind = rng.choice(["connect", "weld", "joint"])
            if kind == "connect":
                said += f'<connect body1="{one}" body2="{other}" anchor="{at}" {solver}/>'
            elif kind == "weld":
                scale = f'torquescale="{rng.uniform(0.5, 2):.3g}"'
                said += f'<weld body1="{one}" body2="{other}" {scale} {solver}/>'
            elif free:
                said += f'<joint joint1="{rng.choice(free)}" polycoef="{numbers}" {solver}/>'
                if len(free) > 1:
                    one, other = rng.choice(free, 2, replace=False)
                    said += f'<joint joint1="{one}" joint2="{other}" polycoef="{numbers}"/>'
        return f"<equality>{said}{self.tied(np.random.default_rng([self.seed, 9]))}</equality>"

    def tied(self, rng: np.random.Generator) -> str:
        """Return equality constraints of sites and of tendons, of some models."""
        said, sites = "", self.sites + self.zones
        for _ in range(int(rng.integers(1, 3)) if rng.random() < 0.3 else 0):
            solver = rng.choice(["", 'solref="0.03 0.9"', 'solref="-500 -20"'])
            if rng.random() < 0.5 and self.tendons:
                one, other = rng.permutation([self.tendons[0], *self.tendons])[:2]
                follows = f'tendon2="{other}"' if other != one else ""
                numbers = " ".join(f"{x:.4g}" for x in rng.normal(0, 0.3, 5))
                said += f'<tendon tendon1="{one}" {follows} polycoef="{numbers}" {solver}/>'
            elif len(sites) > 1:
                one, other = rng.permutation(sites)[:2]
                kind = rng.choice(["connect", 'weld torquescale="0.7"'])
                said += f'<{kind} site1="{one}" site2="{other}" {solver}/>'
        return said

    def felt(self) -> str:
        """Return sensors on such sites."""
        said = ""
        for name in self.zones:
            for kind in FELT:
                if self.later.random() < 0.5:
                    cut = 'cutoff="20"' if self.later.random() < 0.1 else ""
                    said += f'<{kind} site="{name}" {cut}/>'
        return said.join(("<sensor>", "</sensor>"))

    def read(self, rng: np.random.Generator) -> str:
        """Return sensors of all other kinds, of some models."""
        said = ""
        hinges = [name for name, kind in self.joints if kind in ("hinge", "slide")]
        balls = [name for name, kind in self.joints if kind == "ball"]
        named = {"geom": [name for name, _ in self.geoms], "site": self.sites + self.zones}
        named |= {"body": self.bodies, "xbody": self.bodies, "camera": self.cameras}
        named = {kind: names for kind, names in named.items() if names}
        of_what = {
            "joint": (hinges, ("jointactuatorfrc",)),
            "limit": (self.limited, ("jointlimitpos", "jointlimitvel", "jointlimitfrc")),
            "ball": (balls, ("ballquat", "ballangvel")),
            "rope": (self.ropes, ("tendonlimitpos", "tendonlimitvel", "tendonlimitfrc")),
            "tendon": (self.tendons, ("tendonpos", "tendonvel", "tendonactuatorfrc")),
            "actuator": (self.actuators, ("actuatorpos", "actuatorvel")),
            "body": (self.bodies, ("subtreelinvel", "subtreeangmom")),
            "site": (named.get("site", []), ("magnetometer", "rangefinder")),
        }
        for _ in range(int(rng.integers(1, 7)) if rng.random() < 0.5 else 0):
            kind = str(rng.choice([*of_what, "frame", "frame", "frame", "energy"]))
            cut = f'cutoff="{rng.uniform(0.1, 1):.3g}"' if rng.random() < 0.2 else ""
            if kind == "energy":
                said += f"<{rng.choice(['e_potential', 'e_kinetic'])}/>"
            elif kind == "frame":
                types = rng.choice(list(named), 2)
                one, other = (rng.choice(named[str(type_)]) for type_ in types)
                which = str(rng.choice([*FRAMES, *MOVING, *MOVING, "framelinacc", "frameangacc"]))
                cut = "" if which.endswith(("axis", "quat")) else cut
                by = f'reftype="{types[1]}" refname="{other}"'
                by = "" if which.endswith("acc") or rng.random() < 0.3 else by
                said += f'<{which} objtype="{types[0]}" objname="{one}" {by} {cut}/>'
            elif of_what[kind][0]:
                word = {"limit": "joint", "ball": "joint", "rope": "tendon"}.get(kind, kind)
                which = rng.choice(of_what[kind][1])
                cut = "" if which == "ballquat" else cut
                said += f'<{which} {word}="{rng.choice(of_what[kind][0])}" {cut}/>'
        return f"<sensor>{said}{self.gaps(np.random.default_rng([self.seed, 15]))}</sensor>"

    def gaps(self, rng: np.random.Generator) -> str:
        """Return sensors of distances of geoms, of some models."""
        said, planes = "", [name for name, kind in self.geoms if kind == "plane"]
        round_ = [name for name, kind in self.geoms if kind in ("sphere", "capsule")]
        for _ in range(int(rng.integers(1, 4)) if len(round_) > 1 and rng.random() < 0.3 else 0):
            one, other = rng.permutation(round_)[:2]
            one = rng.choice(planes) if planes and rng.random() < 0.2 else one
            kind = rng.choice(["distance", "normal", "fromto"])
            cut = f'cutoff="{rng.choice([0.0, 0.3, 2.0])}"'
            said += f'<{kind} geom1="{one}" geom2="{other}" {cut}/>'
        return said

    def camera(self, rng: np.random.Generator) -> str:
        """Return a camera, on some bodies."""
        if rng.random() < 0.8:
            return ""
        self.cameras.append(f"camera{len(self.cameras)}")
        numbers = (" ".join(f"{x:.4g}" for x in rng.normal(0, s, n)) for s, n in ((0.1, 3), (1, 4)))
        return '<camera name="{}" pos="{}" quat="{}"/>'.format(self.cameras[-1], *numbers)

    def trees(self) -> str:
        children: dict[int, list[int]] = {k: [] for k in range(self.count)}
        roots = [0]
        for k in range(1, self.count):
            if self.chance(0.15):
                roots.append(k)
            else:
                children[int(self.rng.integers(max(0, k - 3), k))].append(k)
        texts = "".join(self.body(root, children, True) for root in roots)
        if not self.joints:  # a model moves
            extra = self.joint("hinge", "joint0") + self.geom("sphere", "last")
            texts += f'<body name="last">{extra}</body>'
            self.bodies.append("last")
        return texts

    def contact(self) -> str:
        said = ""
        round_ = [name for name, kind in self.geoms if kind in ("sphere", "capsule")]
        if len(round_) > 1 and self.chance(0.3):
            one, other = self.rng.choice(round_, 2, replace=False)
            condim, turning = self.condim("1", "3")
            if self.rough.random() < 0.3:
                condim += ' solreffriction="-20 -30"'
            said += (
                f'<pair name="pair" geom1="{one}" geom2="{other}" {condim} margin="0.005" '
                f'friction="{self.number(0, 1)} {self.number(0, 1)} {turning} 0.1"/>'
            )
        if len(self.bodies) > 1 and self.chance(0.3):
            one, other = self.rng.choice(self.bodies, 2, replace=False)
            said += f'<exclude body1="{one}" body2="{other}"/>'
        return f"<contact>{said}</contact>"

    def actuator(self) -> str:
        said = ""
        for k in range(int(self.rng.integers(0, 5))):
            joint, kind = self.joints[int(self.rng.integers(len(self.joints)))]
            where = "jointinparent" if kind in ("hinge", "slide") and self.chance(0.1) else "joint"
            gear = self.vector({"ball": 3, "free": 6}.get(kind, 1), 2)
            more = [f'name="actuator{k}" {where}="{joint}" gear="{gear}"']
            dynamics = self.pick("none", "none", "integrator", "filter", "filterexact")
            if dynamics != "none":
                more.append(f'dyntype="{dynamics}" dynprm="{self.number(0.01, 0.1)}"')
                if self.chance(0.4):
                    more.append('actrange="-0.5 0.7"')
            if self.chance(0.5):
                prm = f"{self.number(0, 3)} {self.number(-1, 1)} {self.number(-1, 0)}"
                more.append(f'gaintype="affine" gainprm="{prm}"')
            else:
                more.append(f'gainprm="{self.number(0, 3)}"')
            if self.chance(0.5):
                prm = f"{self.number(-1, 1)} {self.number(-5, 0)} {self.number(-1, 0)}"
                more.append(f'biastype="affine" biasprm="{prm}"')
            if dynamics != "integrator" and self.servos.random() < 0.2:
                stiffness = f"{self.servos.uniform(0.1, 3):.4g}"
                kept = [part for part in more if "prm=" not in part or "dyntype" in part]
                more = [*kept, f'gainprm="{stiffness}" biastype="affine" biasprm="0 -{stiffness}"']
            if self.chance(0.4):
                more.append('ctrlrange="-0.8 0.6"')
            if self.chance(0.4):
                more.append('forcerange="-1 2"')
            if dynamics != "none" and self.lift.random() < 0.3:
                more.append('actearly="true"')
            self.actuators.append(f"actuator{k}")
            group = f'group="{self.bent.integers(3)}"'
            if kind in ("hinge", "slide") and self.bent.random() < 0.2:
                more = [f'name="actuator{k}" {where}="{joint}" gear="{gear}" {self.muscle()}']
                said += f"<muscle {' '.join(more)} {group}/>"
            else:
                said += f"<general {' '.join(more)} {group} {self.rotor()}/>"
        return f"<actuator>{said}</actuator>"

    def sensor(self) -> str:
        said = ""
        for _ in range(int(self.rng.integers(0, 8))):
            kind = self.pick("joint", "frame", "frame", "site", "subtreecom", "actuatorfrc")
            cut = f'cutoff="{self.number(0.1, 1)}"' if self.chance(0.2) else ""
            one = [name for name, type_ in self.joints if type_ in ("hinge", "slide")]
            if kind == "joint" and one:
                said += f'<{self.pick("jointpos", "jointvel")} joint="{self.pick(*one)}" {cut}/>'
            elif kind == "frame":
                type_ = self.pick("body", "xbody", "geom", *(["site"] if self.sites else []))
                names = {"geom": [g for g, _ in self.geoms], "site": self.sites}
                name = self.pick(*names.get(type_, self.bodies))
                which = self.pick(*FRAMES, *MOVING)
                cut = "" if which.endswith(("axis", "quat")) else cut
                said += f'<{which} objtype="{type_}" objname="{name}" {cut}/>'
            elif kind == "site" and self.sites:
                said += (
                    f'<{self.pick("gyro", "velocimeter")} site="{self.pick(*self.sites)}" {cut}/>'
                )
            elif kind == "subtreecom":
                said += f'<subtreecom body="{self.pick(*self.bodies)}" {cut}/>'
            elif kind == "actuatorfrc" and self.actuators:
                said += f'<actuatorfrc actuator="{self.pick(*self.actuators)}" {cut}/>'
        return f"<sensor>{said}</sensor>"


def mjcf(seed: int, bodies: int | None = None) -> str:
    """Return a model as MJCF.

    Args:
        seed: Of the random numbers.
        bodies: The number of bodies without the world, 3 to 12; drawn if None.
    """
    return _Text(seed, bodies).text()


def state(model: worlds.Model, rng: np.random.Generator, size: float = 1.0) -> dict[str, Any]:
    """Return a state: qpos, qvel, act, ctrl, qfrc (applied) and xfrc, which is zero at times.

    Args:
        model: The model.
        rng: The source of random numbers.
        size: Of the distance from `qpos0`; quaternions have any length but zero.
    """
    sizes = model.sizes
    qpos = model.qpos0 + rng.normal(0, size, sizes.nq)
    for kind, at in zip(model.jnt_type, model.jnt_qposadr, strict=True):
        if kind < 2:
            start = at + 3 * (kind == 0)
            qpos[start : start + 4] = model.qpos0[start : start + 4] + rng.normal(0, 0.5 * size, 4)
    return {
        "qpos": qpos,
        "qvel": rng.normal(0, 1.5, sizes.nv),
        "act": rng.normal(0, 0.5, sizes.na),
        "ctrl": rng.normal(0, 1, sizes.nu),
        "qfrc": rng.normal(0, 1, sizes.nv),
        "xfrc": rng.normal(0, 1, (sizes.nbody, 6)) * (rng.random() < 0.7),
    }
