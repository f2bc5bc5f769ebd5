# SPDX-License-Identifier: Apache-2.0
"""Fields of definitions as attributes, with the sentence of the headers as their docstring: material.friction = 0.3.

They are made from the structs that cffi read: a new field of a definition is an attribute the same day. Setting one
goes through the library's own check.
"""
from __future__ import annotations

from typing import Any, Callable

from . import _c
from ._c import ffi, lib
from .things import Body, Force, Function, Joint, Material, Thing, id_of
from .world import World

_THINGS = {"CnBodyId": Body, "CnMaterialId": Material, "CnFunctionId": Function}


def _simple(kind) -> bool:
    """What has a value in Python: numbers, words, vectors, poses, things."""
    name = _c.cname(kind)
    if kind.kind == "struct":
        return name in _c.VECTORS or name in _THINGS or name in ("CnPose", "CnSym3")
    return kind.kind in ("primitive", "enum") or kind.kind == "pointer" and _c.cname(kind.item) == "char"


def _world_of(owner) -> World:
    return owner if isinstance(owner, World) else owner.world


def _value(owner, struct, name: str, kind) -> Any:
    value = getattr(struct, name)
    if kind.kind == "enum" and _c.cname(kind) in _c.ENUMS:
        return _c.word(_c.cname(kind), value)
    if _c.cname(kind) in _THINGS:
        found = id_of(_c.cname(kind), value.slot, value.generation)
        return _THINGS[_c.cname(kind)](_world_of(owner), found) if value.slot else None
    return _c._plain(value, kind)


def _give(cls, struct: str, read: Callable, write: Callable) -> None:
    """Attributes for the fields of a struct, where the class has none of that name."""
    told = _c.sentences()

    def attribute(name, kind):
        def get(self) -> Any:
            held = read(self)  # a name: parts of a struct do not keep it alive
            return _value(self, held, name, kind)

        def put(self, value) -> None:
            write(self, {name: value})

        get.__doc__ = told.get(f"{struct}.{name}") or f"Of {struct}."
        return property(get, put)

    for name, field in ffi.typeof(struct).fields:
        if name not in ("size", "tag") and not hasattr(cls, name) and _simple(field.type):
            setattr(cls, name, attribute(name, field.type))


class JointAxis(_c.Guarded):
    """What acts on one coordinate of a joint: joint.axes[0].motor_speed = 2. Attributes are the fields of CnJointAxis."""

    _kept = ("joint", "index")

    def __init__(self, joint: Joint, index: int):
        self.joint, self.index = joint, index

    @property
    def world(self) -> World:
        """Whose joint it is."""
        return self.joint.world

    def __repr__(self) -> str:
        return f"<coordinate {self.index} of {self.joint!r}>"


def _axes(joint: Joint) -> list[JointAxis]:
    """One a coordinate: limits, motor, spring, friction, as attributes."""
    count = joint._ask(lib.cn_joint_state, "CnJointState").coordinate_count
    return [JointAxis(joint, i) for i in range(count)]


class _Axis:
    """A coordinate's part of a definition, which holds the whole."""

    def __init__(self, whole, index: int):
        self._whole, self._index = whole, index

    def __getattr__(self, name: str):
        return getattr(self._whole.axes[self._index], name)


def _settings(world: World):
    out = ffi.new("CnWorldDef *")
    with world._use() as pointer:
        _c.call(lib.cn_world_settings(pointer, out))
    return out


def _ask(function, struct: str) -> Callable[[Thing], Any]:
    return lambda thing: thing._ask(function, struct)


Joint.axes = property(_axes)
_give(Material, "CnMaterialDef", _ask(lib.cn_material_def, "CnMaterialDef"), lambda m, field: m.set(**field))
_give(Force, "CnForceDef", _ask(lib.cn_force_def, "CnForceDef"), lambda f, field: f.set(**field))
_give(Joint, "CnJointDef", _ask(lib.cn_joint_def, "CnJointDef"), lambda j, field: j.set(None, **field))
_give(JointAxis, "CnJointAxis", lambda a: _Axis(a.joint._ask(lib.cn_joint_def, "CnJointDef"), a.index),
      lambda a, field: a.joint.set(a.index, **field))
_give(World, "CnWorldDef", _settings, lambda world, field: world.set(**field))
