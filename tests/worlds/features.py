"""Models of one feature each, for rollouts, readings and gradients beside MuJoCo.

All stand in states without a contact or a limit that comes or goes within the steps: gradients are
those of differences there.
"""

from __future__ import annotations

OPTION = '<option jacobian="dense" tolerance="1e-15" iterations="200" {}/>'
NO_CONTACT = '<default><geom contype="0" conaffinity="0"/></default>'

# A leg that slides, whose string a motor pulls, with a ball for a foot.
READINGS = f"""<mujoco>{OPTION.format('timestep="0.004" magnetic="0.3 -0.5 0.2"')}{NO_CONTACT}
  <worldbody>
    <geom type="plane" size="0 0 1"/><geom type="box" size="1 1 0.1" pos="0 0 1.5" euler="9 0 5"/>
    <geom type="ellipsoid" size="0.3 0.2 0.1" pos="0.05 0 0.9"/>
    <body name="base" pos="0 0 0.5">
      <joint name="slide" type="slide" axis="0 0 1" range="-0.1 0.1" margin="0.2"/>
      <geom type="sphere" size="0.1" mass="3"/><site name="hip" pos="0.05 0 0.02"/>
      <camera name="eye" pos="0 0.1 0" quat="1 0 0.3 0"/>
      <body name="shin" pos="0 0 -0.1">
        <joint name="knee" axis="0 1 0.2" damping="0.1" range="-2 2"/>
        <geom type="capsule" fromto="0 0 0 0.05 0 -0.3" size="0.05"/>
        <site name="heel" pos="0.05 0 -0.3" quat="1 0.2 0.3 0.4"/>
        <site name="sole" pos="0.3 0 -0.3" euler="180 10 0"/>
        <body name="foot" pos="0 0 -0.1"><joint name="ball" type="ball"/>
          <geom size="0.05" pos="0.1 0 0"/></body>
      </body></body></worldbody>
  <tendon><fixed name="string">
    <joint joint="slide" coef="0.5"/><joint joint="knee" coef="-0.7"/></fixed></tendon>
  <actuator><position name="servo" joint="knee" kp="3" kv="0.1"/><motor tendon="string" gear="2"/>
  </actuator>
  <sensor><jointactuatorfrc joint="knee"/><jointlimitpos joint="slide"/>
    <jointlimitvel joint="slide"/><jointlimitfrc joint="slide"/><jointlimitpos joint="knee"/>
    <tendonpos tendon="string"/><tendonvel tendon="string"/><tendonactuatorfrc tendon="string"/>
    <actuatorpos actuator="servo"/><actuatorvel actuator="servo"/><ballquat joint="ball"/>
    <ballangvel joint="ball"/><subtreelinvel body="shin"/><subtreeangmom body="base"/>
    <subtreeangmom body="shin"/><framelinacc objtype="site" objname="heel"/>
    <frameangacc objtype="body" objname="foot"/><magnetometer site="heel"/>
    <framepos objtype="site" objname="heel" reftype="camera" refname="eye"/>
    <framequat objtype="body" objname="foot" reftype="site" refname="heel"/>
    <framelinvel objtype="body" objname="foot" reftype="site" refname="heel"/>
    <frameangvel objtype="camera" objname="eye" reftype="site" refname="heel"/>
    <framexaxis objtype="body" objname="foot" reftype="site" refname="hip"/>
    <rangefinder site="hip"/><rangefinder site="heel"/><rangefinder site="sole"/>
    <e_potential/><e_kinetic/>
  </sensor></mujoco>"""

# A finger: strings with a limit that is reached, with friction, and with a clamp that acts.
FINGER = """<mujoco>{option}{still}
  <worldbody>
    <body pos="0 0 1"><joint name="base" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02"/><site name="root" pos="0 0 0.05"/>
      <body pos="0.3 0 0"><joint name="tip" axis="0 1 0.1"/>
        <geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.02"/>
        <site name="nail" pos="0.15 0 0.03"/>
      </body></body>{more}</worldbody>
  {tendon}<actuator><position tendon="flexor" kp="2" kv="0.1" gear="1.3"/>
    <motor tendon="flexor" gear="0.7"/><motor joint="tip"/></actuator>
  <sensor><tendonpos tendon="flexor"/><tendonvel tendon="flexor"/>
    <tendonactuatorfrc tendon="flexor"/><tendonlimitpos tendon="band"/>
    <tendonlimitvel tendon="band"/><tendonlimitfrc tendon="band"/><force site="nail"/>
    <torque site="nail"/></sensor></mujoco>"""
STRINGS = """<tendon>
  <fixed name="flexor" stiffness="0.5" damping="0.05" springlength="-0.1 0.2" {clamp}>
    <joint joint="base" coef="0.8"/><joint joint="tip" coef="-0.6"/></fixed>
  <fixed name="band" range="0.5 2" margin="0.1" frictionloss="0.02" solimpfriction="0.5 0.6 0.1">
    <joint joint="base" coef="-0.5"/><joint joint="tip" coef="1"/></fixed></tendon>"""
IMPLICIT = OPTION.format('timestep="0.005" integrator="implicitfast"')
CORDS = """<tendon>
  <spatial name="flexor" stiffness="5" damping="0.1" springlength="0.1 0.2">
    <site site="hook"/><geom geom="knob"/><site site="root"/><pulley divisor="2"/>
    <site site="root"/><geom geom="wheel" sidesite="past"/><site site="nail"/></spatial>
  <spatial name="band" range="0 0.7" frictionloss="0.5" solimpfriction="0.5 0.6 0.1">
    <site site="hook"/><geom geom="ring"/><site site="nail"/></spatial>
  </tendon>"""
ROUND = """<site name="hook" pos="-0.3 0.02 1.1"/><geom name="knob" pos="-0.15 0 1.08" size="0.04"/>
  <geom name="wheel" type="cylinder" size="0.05 0.1" pos="0.25 0 1.1" euler="90 10 0"/>
  <site name="past" pos="0.25 0 1.3"/><geom name="ring" size="0.04" pos="0.05 0.02 1.09"/>"""
_given = {"option": IMPLICIT, "still": NO_CONTACT}
STRETCHED = FINGER.format(**_given, more="", tendon=STRINGS.format(clamp=""))
CLAMPED = FINGER.format(
    **_given, more="", tendon=STRINGS.format(clamp='actuatorfrcrange="-0.2 0.25"')
)
WRAPPED = FINGER.format(**_given, more=ROUND, tendon=CORDS)

# A fish, in a wind: a flexible chain with a free base; boxes, or ellipsoids.
FISH = """<mujoco>{option}{still}
  <worldbody>
    <body pos="0 0 1"><freejoint name="root"/><site name="chest"/>
      <geom type="ellipsoid" size="0.1 0.05 0.08" mass="0.5" {shape}/>
      <body pos="-0.1 0 0"><joint name="tail" axis="0 0 1" stiffness="0.5" damping="0.02"/>
        <geom type="capsule" fromto="0 0 0 -0.15 0 0.02" size="0.02" mass="0.1" {shape}/>
        <body pos="-0.15 0 0"><joint name="fin" axis="0 1 1" stiffness="0.2"/>
          <geom type="cylinder" size="0.03 0.05" mass="0.05" {shape}/></body>
      </body></body></worldbody>
  <actuator><motor joint="tail"/><motor joint="fin"/></actuator>
  <sensor><accelerometer site="chest"/></sensor></mujoco>"""
_wet = OPTION.format('timestep="0.004" density="120" viscosity="0.3" wind="0.4 -0.3 0.2"')
_shape = 'fluidshape="ellipsoid" fluidcoef="0.5 0.25 1.5 0.9 0.8"'

TIED = FINGER.format(
    **_given,
    more="""<body name="pin" pos="0.4 0.1 1"><freejoint/><geom size="0.03"/>
      <site name="head" quat="1 0.1 0.2 0"/></body><site name="hook" pos="-0.3 0.02 1.1"/>""",
    tendon="""<tendon><fixed name="flexor"><joint joint="base" coef="0.8"/>
      <joint joint="tip" coef="-0.6"/></fixed><spatial name="band" range="0 9" limited="true">
      <site site="hook"/><site site="nail"/></spatial></tendon><equality>
      <weld site1="nail" site2="head" torquescale="0.7" solimp="0.5 0.9 0.5"/>
      <tendon tendon1="band" tendon2="flexor" polycoef="0.1 0.3 0.2 0 0" solimp="0.3 0.6 0.5"
        solref="-30 -5"/></equality>""",
)

# An arm whose motors carry its weight, one of them as far as they can.
LIFTED = f"""<mujoco>{IMPLICIT}{NO_CONTACT}
  <worldbody>
    <body pos="0 0 1" gravcomp="0.7">
      <joint name="base" axis="0 1 0" actuatorgravcomp="true" damping="0.1"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02"/>
      <body pos="0.3 0 0" gravcomp="1">
        <joint name="tip" axis="0 1 0.1" actuatorgravcomp="true" actuatorfrcrange="-0.5 0.5"/>
        <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.03"/></body>
    </body></worldbody>
  <actuator><motor joint="base"/><motor joint="tip"/></actuator>
  <sensor><jointactuatorfrc joint="base"/><jointactuatorfrc joint="tip"/></sensor></mujoco>"""

# Rays from a rod that turns, to a mesh at rest and to one that moves.
RAYS = f"""<mujoco>{IMPLICIT}{NO_CONTACT}
  <asset><mesh name="gem" vertex="-0.3 -0.3 -0.2 0.4 -0.3 -0.1 0 0.4 -0.2 0.1 0 0.3 -0.2 0.2 0.2"/>
    <mesh name="tee" vertex="0 0 0 1 0 0 1 0.2 0 0.6 0.2 0 0.6 1 0 0.4 1 0 0.4 0.2 0 0 0.2 0
      0 0 0.2 1 0 0.2 1 0.2 0.2 0.6 0.2 0.2 0.6 1 0.2 0.4 1 0.2 0.4 0.2 0.2 0 0.2 0.2"
      face="0 1 2 0 2 7 6 3 4 6 4 5 8 10 9 8 15 10 14 12 11 14 13 12 0 8 9 0 9 1 1 9 10 1 10 2
      2 10 11 2 11 3 3 11 12 3 12 4 4 12 13 4 13 5 5 13 14 5 14 6 6 14 15 6 15 7 7 15 8 7 8 0"/>
  </asset>
  <worldbody>
    <geom type="mesh" mesh="tee" pos="-0.4 0.1 2" euler="100 20 30"/>
    <geom type="mesh" mesh="gem" pos="1.5 0 1" euler="9 20 30"/><geom size="0.2" pos="0 0 4"/>
    <body pos="0 0 1"><joint axis="0 1 0.3"/><joint axis="1 0 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 0.4" size="0.02"/>
      <site name="up" pos="0.05 0 0.4"/><site name="down" euler="180 20 0"/>
      <site name="out" euler="0 90 3"/></body>
    <body pos="0.2 0.1 0"><freejoint/><geom type="mesh" mesh="gem"/></body></worldbody>
  <sensor><rangefinder site="up"/><rangefinder site="down"/><rangefinder site="out"/></sensor>
  </mujoco>"""

# A drone with a servo between its arm and itself, and servos whose controls are turns away.
DRONE = f"""<mujoco>{IMPLICIT}{NO_CONTACT}
  <worldbody>
    <body pos="0 0 1"><freejoint/><geom type="box" size="0.1 0.1 0.02" mass="0.5"/>
      <site name="left" pos="0.1 0.1 0.01" euler="5 0 0"/>
      <site name="right" pos="-0.1 -0.1 0.01"/><site name="belly" euler="0 20 10"/>
      <body pos="0 0 -0.05"><joint axis="0 1 0.3"/><joint axis="1 0 0"/>
        <geom type="capsule" fromto="0 0 0 0.05 0 -0.2" size="0.02" mass="0.1"/>
        <site name="hand" pos="0.05 0 -0.2" euler="0 0 30"/></body>
      <body pos="0.1 0 0.05"><joint name="gimbal" type="ball" damping="0.001"/>
        <geom type="box" size="0.04 0.03 0.02" mass="0.1"/></body>
    </body></worldbody>
  <actuator><motor site="left" gear="0 0 3 0 0 0.1"/><motor site="right" gear="0 0 4 0 0 -0.1"/>
    <position site="hand" refsite="belly" kp="3" kv="0.05" gear="1 0.5 0 0 0 0"/>
    <position site="hand" refsite="belly" kp="0.2" kv="0.01" gear="0 0 0 1 0 0.3"/>
    <position site="hand" refsite="belly" kp="0.2" kv="0.01" gear="0 0 0 0.05 0 0.02"/>
    <position joint="gimbal" kp="0.3" kv="0.01" gear="0.03 0.05 0"/></actuator>
  <sensor><gyro site="hand"/></sensor></mujoco>"""

FEATURES = {
    "readings": READINGS,
    "strings": STRETCHED,
    "clamped strings": CLAMPED,
    "wrapped strings": WRAPPED,
    "boxes in a fluid": FISH.format(option=_wet, still=NO_CONTACT, shape=""),
    "ellipsoids in a fluid": FISH.format(option=_wet, still=NO_CONTACT, shape=_shape),
    "equalities of sites and strings": TIED,
    "gravity compensation by actuators": LIFTED,
    "actuators on sites": DRONE,
    "rays to meshes": RAYS,
}
