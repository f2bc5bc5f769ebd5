# SPDX-License-Identifier: Apache-2.0
"""Bodies, joints, forces, materials and functions of a world as objects."""
from __future__ import annotations

from typing import TYPE_CHECKING, Optional

import numpy as np

from . import _c
from ._c import Error, call, ffi, lib, text
from .shapes import Shape

if TYPE_CHECKING:
    from .world import World


def id_of(kind: str, slot: int, generation: int):
    return ffi.new(kind + " *", {"slot": slot, "generation": generation})[0]


class Thing(_c.Guarded):
    """Something in a world by its id. After it is destroyed, every use is an Error."""
    _sort = "thing"
    _kept = ("world",)

    def __init__(self, world: "World", id_):
        self.world, self._id = world, id_

    def __eq__(self, other) -> bool:
        return (type(self) is type(other) and self.world is other.world
                and (self._id.slot, self._id.generation) == (other._id.slot, other._id.generation))

    def __hash__(self) -> int:
        return hash((type(self), id(self.world), self._id.slot, self._id.generation))

    def __repr__(self) -> str:
        return f"<{self._sort} {self._id.slot}>"

    def _part(self, function, kind: str, field: str):
        """One field of what a function tells, as a Python value."""
        out = self._ask(function, kind)  # a name: parts of a struct do not keep it alive
        value = getattr(out, field)
        return text(value) if isinstance(value, ffi.CData) and ffi.typeof(value).kind == "pointer" else _c.plain(value)

    @property
    def user_data(self) -> int:
        """A number of yours about it, kept in snapshots; 0 until it is set."""
        out = ffi.new("uint64_t *")
        with self.world._use() as pointer:
            call(lib.cn_user_data(pointer, self._thing(), out))
        return out[0]

    @user_data.setter
    def user_data(self, value) -> None:
        if not isinstance(value, (int, np.integer)) or not 0 <= value < 2**64:
            raise Error(f"user_data: must be a whole number from 0 to 2^64 - 1 (got {value!r})")
        with self.world._use() as pointer:
            call(lib.cn_user_data_set(pointer, self._thing(), int(value)))

    def _thing(self):
        return ffi.new("CnThing *", {"sort": getattr(lib, "CN_THING_" + self._sort.upper()), "slot": self._id.slot,
                                     "generation": self._id.generation})[0]

    def _ask(self, function, kind: str):
        out = ffi.new(kind + " *")
        with self.world._use() as pointer:
            call(function(pointer, self._id, out))
        return out


class Material(Thing):
    """The law of a surface."""
    _sort = "material"

    @property
    def fields(self) -> dict:
        """Its definition as it is now."""
        return _c.plain(self._ask(lib.cn_material_def, "CnMaterialDef"))

    def set(self, **fields) -> None:
        """Change numbers of the material."""
        out = self._ask(lib.cn_material_def, "CnMaterialDef")
        keep: list = []
        _c.fill(out[0], ffi.typeof(out[0]), fields, "material", keep)
        with self.world._use() as pointer:
            call(lib.cn_material_set(pointer, self._id, out))


class BodyShape(Thing):
    """A shape of a body: `body.shapes`, `world.shapes`."""
    _sort = "shape"

    @property
    def body(self) -> "Body":
        """Whose it is."""
        out = self._ask(lib.cn_shape_body, "CnBodyId")
        return Body(self.world, id_of("CnBodyId", out.slot, out.generation))

    @property
    def fields(self) -> dict:
        """Its definition as it is now."""
        return _c.plain(self._ask(lib.cn_shape_def, "CnShapeDef"))

    @property
    def kind(self) -> str:
        """One of "sphere", "box" ..."""
        return _c.word("CnShapeKind", self._ask(lib.cn_shape_def, "CnShapeDef").kind)

    @property
    def name(self) -> str:
        """Empty without one; may be set."""
        with self.world._use() as pointer:
            return text(lib.cn_shape_name(pointer, self._id))

    @name.setter
    def name(self, value: str) -> None:
        if not isinstance(value, str):
            raise Error(f"shape.name: must be a text (got {value!r})")
        with self.world._use() as pointer:
            call(lib.cn_shape_set_name(pointer, self._id, _c.text_bytes(value, "shape.name")))

    @property
    def material(self) -> Optional[Material]:
        """None: the usual one; may be set."""
        out = self._ask(lib.cn_shape_def, "CnShapeDef")  # a name: parts of a struct do not keep it alive
        slot, generation = out.material.slot, out.material.generation
        return Material(self.world, id_of("CnMaterialId", slot, generation)) if slot else None

    @material.setter
    def material(self, value: Optional[Material]) -> None:
        if value is not None and not isinstance(value, Material):
            raise Error(f"shape.material: must be a material of this world (got {value!r})")
        given = self.world._own(value)._id if value is not None else id_of("CnMaterialId", 0, 0)
        with self.world._use() as pointer:
            call(lib.cn_shape_set_material(pointer, self._id, given))

    def filter(self, category: int, mask: int = 0xffffffff) -> None:
        """Bits: two shapes meet if each one's category is in the other's mask."""
        for value in (category, mask):
            if not isinstance(value, (int, np.integer)) or not 0 <= value < 2**32:
                raise Error(f"shape.filter: must be whole numbers of 32 bits (got {value!r})")
        with self.world._use() as pointer:
            call(lib.cn_shape_set_filter(pointer, self._id, int(category), int(mask)))

    @property
    def size(self) -> dict:
        """All of CnShapeSize: the box about it, radii inside and outside."""
        return _c.plain(self._ask(lib.cn_shape_size, "CnShapeSize"))

    def destroy(self) -> None:
        """Take it off its body."""
        self.world._move()
        with self.world._use() as pointer:
            call(lib.cn_shape_destroy(pointer, self._id))


class Body(Thing):
    """A rigid body. Positions and velocities are those of its frame's origin, in world axes."""
    _sort = "body"

    @property
    def info(self) -> dict:
        """All of CnBodyInfo."""
        return _c.plain(self._ask(lib.cn_body_info, "CnBodyInfo"))

    @property
    def name(self) -> str:
        """As given; "" without one."""
        return self._part(lib.cn_body_info, "CnBodyInfo", "name")

    @property
    def mass(self) -> float:
        """kg."""
        return self._ask(lib.cn_body_info, "CnBodyInfo").mass

    @property
    def kind(self) -> str:
        """One of "dynamic", "fixed", "kinematic"; may be set."""
        return _c.word("CnBodyKind", self._ask(lib.cn_body_info, "CnBodyInfo").kind)

    @kind.setter
    def kind(self, value: str) -> None:
        number = _c.enum("CnBodyKind", value, "body.kind")
        self.world._move()
        with self.world._use() as pointer:
            call(lib.cn_body_set_kind(pointer, self._id, number))

    @property
    def position(self) -> np.ndarray:
        """m, of its frame's origin; may be set."""
        return self._part(lib.cn_body_pose, "CnPose", "position")

    @position.setter
    def position(self, value) -> None:
        self.pose = (value, self.rotation)

    @property
    def rotation(self) -> np.ndarray:
        """Unit quaternion w, x, y, z: turns body axes into world axes."""
        return self._part(lib.cn_body_pose, "CnPose", "rotation")

    @rotation.setter
    def rotation(self, value) -> None:
        self.pose = (self.position, value)

    @property
    def pose(self) -> tuple:
        """Position and rotation; may be set."""
        pose = self._ask(lib.cn_body_pose, "CnPose")
        return _c.plain(pose.position), _c.plain(pose.rotation)

    @pose.setter
    def pose(self, value) -> None:
        pose = ffi.new("CnPose *", _c.pose_of(value, "pose"))
        with self.world._use() as pointer:
            call(lib.cn_body_set_pose(pointer, self._id, pose))

    @property
    def velocity(self) -> np.ndarray:
        """m/s, of its frame's origin; may be set."""
        return self._part(lib.cn_body_twist, "CnTwist", "velocity")

    @velocity.setter
    def velocity(self, value) -> None:
        self.twist = (value, self.spin)

    @property
    def spin(self) -> np.ndarray:
        """rad/s; may be set."""
        return self._part(lib.cn_body_twist, "CnTwist", "spin")

    @spin.setter
    def spin(self, value) -> None:
        self.twist = (self.velocity, value)

    @property
    def twist(self) -> tuple:
        """Velocity and spin; may be set."""
        twist = self._ask(lib.cn_body_twist, "CnTwist")
        return _c.plain(twist.velocity), _c.plain(twist.spin)

    @twist.setter
    def twist(self, value) -> None:
        velocity, spin = _c.two(value, "twist")
        twist = ffi.new("CnTwist *", {"velocity": _c.numbers(velocity, 3, "velocity"),
                                      "spin": _c.numbers(spin, 3, "spin")})
        with self.world._use() as pointer:
            call(lib.cn_body_set_twist(pointer, self._id, twist))

    def push(self, force, point=None) -> None:
        """A force (N, world axes) for the next step, at a point of the world or at the centre of mass."""
        force = _c.vec3(force, "force")
        if point is None:
            point = self._centre()
        with self.world._use() as pointer:
            call(lib.cn_body_apply_force(pointer, self._id, force, _c.vec3(point, "point")))

    def _centre(self) -> np.ndarray:
        position, rotation = self.pose
        return position + rotate(rotation, self.info["com"]["position"])

    def turn(self, torque) -> None:
        """A torque (N m, world axes) for the next step."""
        with self.world._use() as pointer:
            call(lib.cn_body_apply_torque(pointer, self._id, _c.vec3(torque, "torque")))

    def hit(self, impulse, point=None) -> None:
        """An impulse (N s, world axes) at a point of the world or at the centre of mass: the velocity changes at once."""
        impulse, point = _c.vec3(impulse, "impulse"), self._centre() if point is None else point
        with self.world._use() as pointer:
            call(lib.cn_body_apply_impulse(pointer, self._id, impulse, _c.vec3(point, "point")))

    def push_local(self, force, point=(0, 0, 0)) -> None:
        """A force for the next step; force and point in the axes of the body frame."""
        with self.world._use() as pointer:
            call(lib.cn_body_apply_local_force(pointer, self._id, _c.vec3(force, "force"), _c.vec3(point, "point")))

    def set_mass(self, mass: float, inertia=None, com=None) -> None:
        """Another mass (kg; 0: from the shapes), inertia and centre of mass. A mass alone is spread as the one
        before was."""
        if inertia is None and com is not None:
            raise Error("body: a com needs a mass and an inertia")
        given = {} if inertia is None else {"inertia": inertia}
        definition, keep = _c.definition(lib.cn_body_def_default(), {
            "mass": mass, **given, **({} if com is None else {"com": com})}, "body")
        if definition.mass > 0 and inertia is None:
            definition = self._scaled(definition.mass)
        self.world._move()
        with self.world._use() as pointer:
            call(lib.cn_body_set_mass(pointer, self._id, definition.mass, ffi.addressof(definition, "com"),
                                      ffi.addressof(definition, "inertia")))

    def _scaled(self, mass: float):
        """A definition with another mass, spread as the present one."""
        info = self._ask(lib.cn_body_info, "CnBodyInfo")
        if not info.mass > 0:
            raise Error(f"body: a mass of {mass:g} kg without an inertia, and no shape says it")
        share, axes = mass / info.mass, info.inertia
        out = ffi.new("CnBodyDef *", lib.cn_body_def_default())
        out.mass, out.com = mass, info.com
        out.inertia = {"xx": share * axes.x, "yy": share * axes.y, "zz": share * axes.z}
        return out

    @property
    def shapes(self) -> list[BodyShape]:
        """Its shapes."""
        found = []
        self.info  # is it there?
        while True:
            with self.world._use() as pointer:
                shape = lib.cn_body_shape(pointer, self._id, len(found))
            if shape.slot == 0:
                return found
            found.append(BodyShape(self.world, id_of("CnShapeId", shape.slot, shape.generation)))

    def add(self, shape: Shape) -> BodyShape:
        """Another shape."""
        return self.world._add_shape(self, shape)

    def move(self, **functions) -> None:
        """How a kinematic body moves by functions of time: x=, y=, z= (m), turn= (rad) about axis=."""
        out, keep = _c.definition(lib.cn_motion_def_default(), functions, "motion")
        with self.world._use() as pointer:
            call(lib.cn_body_set_motion(pointer, self._id, out))

    def contacts(self, other: Optional["Body"] = None) -> np.ndarray:
        """Its contacts of the last step (with another body): a structured array as World.contacts."""
        none = ffi.new("CnBodyId *")[0]
        count = ffi.new("int32_t *")
        with self.world._use() as pointer:
            args = (pointer, self._id, self.world._a(Body, other)._id if other is not None else none)
            call(lib.cn_world_contacts_of(*args, ffi.NULL, 0, count))
            numbers = np.empty(count[0], np.int32)
            call(lib.cn_world_contacts_of(*args, _c.array_pointer(numbers, "int32_t"), count[0], count))
        return self.world.contacts()[numbers]

    def destroy(self) -> None:
        """With its shapes, joints and forces."""
        self.world._move()
        with self.world._use() as pointer:
            call(lib.cn_body_destroy(pointer, self._id))


class Joint(Thing):
    """A joint: coordinates, rates, reactions of the last step; numbers that can be changed."""
    _sort = "joint"

    @property
    def fields(self) -> dict:
        """Its definition as it is now."""
        return _c.plain(self._ask(lib.cn_joint_def, "CnJointDef"))

    @property
    def name(self) -> str:
        """As given; "" without one."""
        return self._part(lib.cn_joint_def, "CnJointDef", "name")

    @property
    def kind(self) -> str:
        """One of "revolute", "ball" ..."""
        return _c.word("CnJointKind", self._ask(lib.cn_joint_def, "CnJointDef").kind)

    @property
    def state(self) -> dict:
        """All of CnJointState: force, torque, coordinates, efforts."""
        return _c.plain(self._ask(lib.cn_joint_state, "CnJointState"))

    def _row(self, field: str) -> np.ndarray:
        state = self._ask(lib.cn_joint_state, "CnJointState")
        return np.array(list(getattr(state, field))[:state.coordinate_count])

    @property
    def coordinates(self) -> np.ndarray:
        """m or rad, one a free direction of its kind."""
        return self._row("coordinate")

    @property
    def rates(self) -> np.ndarray:
        """m/s or rad/s, of the coordinates."""
        return self._row("rate")

    @property
    def motor(self) -> np.ndarray:
        """Efforts of its motors, N or N m."""
        return self._row("motor")

    @property
    def force(self) -> np.ndarray:
        """N, world axes, on body b."""
        return self._part(lib.cn_joint_state, "CnJointState", "force")

    @property
    def torque(self) -> np.ndarray:
        """N m, world axes, on body b at its frame's origin."""
        return self._part(lib.cn_joint_state, "CnJointState", "torque")

    @property
    def error(self) -> float:
        """m, how far it is open."""
        return self._ask(lib.cn_joint_state, "CnJointState").error

    def set(self, axis: int = 0, **fields) -> None:
        """Change what it does: fields of CnJointAxis for one coordinate (motor_speed, motor_effort,
        lower, stiffness ...), or of the joint itself (distance, stiffness of ball and distance joints:
        pass axis=None)."""
        out = self._ask(lib.cn_joint_def, "CnJointDef")
        keep: list = []
        if axis is None:
            _c.fill(out[0], ffi.typeof(out[0]), fields, "joint", keep)
        else:
            if not isinstance(axis, (int, np.integer)) or not 0 <= axis < len(out.axes):
                raise Error(f"joint: no coordinate {axis!r}")
            _c.fill(out.axes[axis], ffi.typeof("CnJointAxis"), fields, f"joint.axes[{axis}]", keep)
        with self.world._use() as pointer:
            call(lib.cn_joint_set(pointer, self._id, out))

    def destroy(self) -> None:
        """Take it out of the world."""
        with self.world._use() as pointer:
            call(lib.cn_joint_destroy(pointer, self._id))


class Force(Thing):
    """A force element."""
    _sort = "force"

    @property
    def fields(self) -> dict:
        """Its definition as it is now."""
        return _c.plain(self._ask(lib.cn_force_def, "CnForceDef"))

    @property
    def state(self) -> dict:
        """All of CnForceState of the last step."""
        return _c.plain(self._ask(lib.cn_force_state, "CnForceState"))

    def set(self, **fields) -> None:
        """Change fields of CnForceDef."""
        out = self._ask(lib.cn_force_def, "CnForceDef")
        keep: list = []
        _c.fill(out[0], ffi.typeof(out[0]), fields, "force", keep)
        with self.world._use() as pointer:
            call(lib.cn_force_set(pointer, self._id, out))

    def destroy(self) -> None:
        """Take it out of the world."""
        with self.world._use() as pointer:
            call(lib.cn_force_destroy(pointer, self._id))


class Function(Thing):
    """A function of time: call it with a time for its value."""
    _sort = "function"

    def __call__(self, time: float) -> float:
        out = ffi.new("double[3]")
        with self.world._use() as pointer:
            call(lib.cn_function_value(pointer, self._id, float(time), out))
        return out[0]


def rotate(rotation, vector) -> np.ndarray:
    """A vector of body axes in world axes."""
    w, u = float(rotation[0]), np.asarray(rotation[1:4], float)
    vector = np.asarray(vector, float)
    return vector + 2 * np.cross(u, np.cross(u, vector) + w * vector)
