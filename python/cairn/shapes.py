# SPDX-License-Identifier: Apache-2.0
"""Shapes to be given to bodies; sizes in m."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _c
from ._c import Error, ffi, lib


class Shape(NamedTuple):
    """A shape to be given to a body: cairn.sphere(0.1), cairn.box(...), or Shape("cone", {...})."""
    kind: str
    fields: dict
    geometry: Any = None  # makes the shared geometry of a hull, a mesh or heights in a world: its id


def sphere(radius: float, **fields) -> Shape:
    """A ball. Fields: position, rotation, density, material, category, mask, trigger."""
    return Shape("sphere", {"radius": radius, **fields})


def box(x: float, y: float, z: float, **fields) -> Shape:
    """A box by its full edges (m)."""
    return Shape("box", {"half_size": (x / 2, y / 2, z / 2), **fields})


def plane(**fields) -> Shape:
    """The half-space below z = 0 of its frame; not for dynamic bodies."""
    return Shape("plane", fields)


def capsule(radius: float, length: float, **fields) -> Shape:
    """A segment of that length along z with a radius."""
    return Shape("capsule", {"radius": radius, "half_length": length / 2, **fields})


def cylinder(radius: float, length: float, **fields) -> Shape:
    """Along z."""
    return Shape("cylinder", {"radius": radius, "half_length": length / 2, **fields})


def cone(radius: float, length: float, top_radius: float = 0, **fields) -> Shape:
    """Along z, the radius at its lower end."""
    return Shape("cone", {"radius": radius, "half_length": length / 2, "top_radius": top_radius, **fields})


def ellipsoid(x: float, y: float, z: float, **fields) -> Shape:
    """By its half axes (m)."""
    return Shape("ellipsoid", {"half_size": (x, y, z), **fields})


def hull(points, **fields) -> Shape:
    """The convex hull of n x 3 points."""
    def make(world):
        array = _matrix(points, float, "hull: points")
        return world._geometry(lambda p, out: lib.cn_geometry_create_points(
            p, ffi.NULL, _c.array_pointer(array, "CnVec3"), len(array), out))
    return Shape("hull", fields, make)


def mesh(vertices, triangles, two_sided: bool = False, thickness: float = 0, **fields) -> Shape:
    """A triangle mesh: n x 3 vertices, m x 3 indices, counter-clockwise seen from outside."""
    def make(world):
        corners, faces = _matrix(vertices, float, "mesh: vertices"), _matrix(triangles, np.int32, "mesh: triangles")
        definition, keep = _c.definition(lib.cn_mesh_def_default(), {"two_sided": two_sided, "thickness": thickness}, "mesh")
        definition.vertices, definition.vertex_count = _c.array_pointer(corners, "CnVec3"), len(corners)
        definition.triangles, definition.triangle_count = _c.array_pointer(faces, "int32_t"), len(faces)
        return world._geometry(lambda p, out: lib.cn_geometry_create_mesh(p, definition, out))
    return Shape("mesh", fields, make)


def heights(values, x_spacing: float, y_spacing: float, **fields) -> Shape:
    """A grid of heights, rows along x, one a step in y; NaN is a hole."""
    def make(world):
        grid = _matrix(values, float, "heights", 0)
        definition, keep = _c.definition(lib.cn_heights_def_default(), {"x_spacing": x_spacing, "y_spacing": y_spacing}, "heights")
        definition.y_count, definition.x_count = grid.shape
        definition.heights = _c.array_pointer(grid, "double")
        return world._geometry(lambda p, out: lib.cn_geometry_create_heights(p, definition, out))
    return Shape("mesh", fields, make)


def _matrix(value, kind, name: str, columns: int = 3) -> np.ndarray:
    try:
        given = np.asarray(value)
        array = np.ascontiguousarray(given, kind)
        if kind is not float and not np.array_equal(array, given):  # cut or wrapped around
            raise Error(f"{name}: must be whole numbers below 2^31")
    except (TypeError, ValueError, OverflowError):
        raise Error(f"{name}: must be a matrix of numbers (got {value!r})") from None
    if array.ndim != 2 or (columns and array.shape[1] != columns):
        raise Error(f"{name}: must be n x {columns or 'm'} numbers (got {array.shape})")
    return array
