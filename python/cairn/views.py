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
_VIEW = ffi.typeof("CnStateView *")


def _lend(world: World, pointer, count: int, kind: np.dtype) -> np.ndarray:
    """Memory of a world as an array. While there is one the world lives, and does not move its memory: what
    would do so is refused, as a bytearray refuses to be resized."""
    owner, lent = world._pointer, world._lent

    def give_back(_, owner=owner):
        lent.pop()

    kept = ffi.gc(pointer, give_back)  # the buffer keeps it, and the array the buffer
    lent.append(1)
    array = np.frombuffer(ffi.buffer(kept, count * kind.itemsize), kind) if count else np.empty(0, kind)
    array.flags.writeable = False
    return array


class View:
    """Arrays of a world's state in place; see World.view."""

    def __init__(self, world: World):
        view = ffi.new(_VIEW)
        with world._use() as pointer:
            call(lib.cn_world_state_view(pointer, view))
        self._world, self._at, self._view = world, world._views, view

    def _array(self, pointer, kind: np.dtype, name: str) -> np.ndarray:
        if self._world._views != self._at or self._world._pointer is None:
            raise Error("this view is old: the world has changed since", "CN_INVALID_HANDLE")
        return _lend(self._world, pointer, self._view.count, kind)[name]

    @property
    def positions(self) -> np.ndarray:
        """Of the centres of mass, n x 3."""
        return self._array(self._view.poses, POSE, "position")

    @property
    def rotations(self) -> np.ndarray:
        """Of the principal axes, n x 4."""
        return self._array(self._view.poses, POSE, "rotation")

    @property
    def velocities(self) -> np.ndarray:
        """Of the centres of mass, n x 3."""
        return self._array(self._view.twists, TWIST, "velocity")

    @property
    def spins(self) -> np.ndarray:
        """n x 3."""
        return self._array(self._view.twists, TWIST, "spin")

    @property
    def bodies(self) -> list[Body]:
        """In the order of these arrays."""
        ids = np.empty((self._view.count, 2), np.uint32)
        count = ffi.new("int32_t *")
        with self._world._use() as pointer:
            call(lib.cn_world_view_bodies(pointer, _c.array_pointer(ids, "CnBodyId"), len(ids), count))
        return [Body(self._world, id_of("CnBodyId", *pair)) for pair in ids.tolist()]
