# SPDX-License-Identifier: Apache-2.0
"""The state of a world where it lies in memory, as read-only arrays."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import _c
from ._c import Error, call, ffi, lib
from .things import Body, id_of

if TYPE_CHECKING:
    from .world import World

POSE = _c.dtype("CnPose")
TWIST = _c.dtype("CnTwist")


class _Lent:
    """Memory of a world that an array shows. While there is such an array the world lives, and does not
    move its memory: what would do so is refused, as a bytearray refuses to be resized."""

    def __init__(self, world: World, pointer, count: int, kind: np.dtype):
        self._owner = world._pointer
        self.__array_interface__ = {"version": 3, "shape": (count,), "typestr": f"|V{kind.itemsize}",
                                    "descr": kind.descr, "strides": None,
                                    "data": (int(ffi.cast("uintptr_t", pointer)), True)}


class View:
    """Arrays of a world's state in place; see World.view."""

    def __init__(self, world: World):
        view = ffi.new("CnStateView *")
        with world._use() as pointer:
            call(lib.cn_world_state_view(pointer, view))
        self._world, self._at, self._view = world, world._views, view

    def _array(self, pointer, kind: np.dtype, name: str) -> np.ndarray:
        if self._world._views != self._at or self._world._pointer is None:
            raise Error("this view is old: the world has changed since", "CN_INVALID_HANDLE")
        lent = _Lent(self._world, pointer, self._view.count, kind)
        self._world._lent.add(lent)
        return np.asarray(lent)[name]

    @property
    def positions(self) -> np.ndarray:
        return self._array(self._view.poses, POSE, "position")

    @property
    def rotations(self) -> np.ndarray:
        return self._array(self._view.poses, POSE, "rotation")

    @property
    def velocities(self) -> np.ndarray:
        return self._array(self._view.twists, TWIST, "velocity")

    @property
    def spins(self) -> np.ndarray:
        return self._array(self._view.twists, TWIST, "spin")

    @property
    def bodies(self) -> list[Body]:
        """In the order of these arrays."""
        ids = np.empty((self._view.count, 2), np.uint32)
        count = ffi.new("int32_t *")
        with self._world._use() as pointer:
            call(lib.cn_world_view_bodies(pointer, _c.array_pointer(ids, "CnBodyId"), len(ids), count))
        return [Body(self._world, id_of("CnBodyId", *pair)) for pair in ids.tolist()]
