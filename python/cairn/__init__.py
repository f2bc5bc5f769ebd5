# SPDX-License-Identifier: Apache-2.0
"""Cairn: rigid bodies that touch, slide, stick, collide and are held by joints, with a certificate of
every step.

    import cairn
    world = cairn.World(time_step=1e-3)
    world.floor()
    ball = world.body(cairn.sphere(0.1), position=(0, 0, 1))
    world.step(1000)
    print(ball.position, world.verdict.line)
"""
from ._c import Error, describe, ffi, lib, tell_fields, text
from .attributes import JointAxis
from .batch import Batch, VectorEnv
from .problem import Problem, Solution, solve, solvers
from .run import Recorder, Run
from .scene import Scene, load, scenes
from .sweep import Table, sweep
from .shapes import Shape, box, capsule, cone, cylinder, ellipsoid, heights, hull, mesh, plane, sphere
from .things import Body, BodyShape, Force, Function, Joint, Material, rotate
from .views import POSE, TWIST, View
from .world import Report, Verdict, World

# what takes fields of a definition lists them, with the sentences of the headers
for _function, _structs in ((World.__init__, ("CnWorldDef", "CnSolverDef")), (World.body, ("CnBodyDef",)),
                            (World.material, ("CnMaterialDef",)), (World.joint, ("CnJointDef", "CnJointAxis")),
                            (World.force, ("CnForceDef",)), (World.function, ("CnFunctionDef",)), (Joint.set, ("CnJointAxis",)),
                            (Material.set, ("CnMaterialDef",)), (Force.set, ("CnForceDef",)), (Body.move, ("CnMotionDef",)),
                            (sphere, ("CnShapeDef",))):
    tell_fields(_function, *_structs)
del _function, _structs

__version__ = text(lib.cn_version())
__all__ = ["Batch", "Body", "BodyShape", "Error", "Force", "Function", "Joint", "JointAxis", "Material", "POSE", "Problem", "Recorder", "Report", "Run",
           "Scene", "Shape", "Solution", "TWIST", "Table", "VectorEnv", "Verdict", "View", "World", "box", "capsule", "cone", "cylinder",
           "describe", "ellipsoid", "ffi", "heights", "hull", "lib", "load", "mesh", "plane", "rotate", "scenes", "solve", "solvers",
           "sphere", "sweep"]
