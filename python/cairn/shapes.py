# SPDX-License-Identifier: Apache-2.0
"""Shapes to be given to bodies; sizes in m."""
from __future__ import annotations

from typing import Any, NamedTuple


class Shape(NamedTuple):
    """A shape to be given to a body: cairn.sphere(0.1), cairn.box(...), or Shape("cone", {...})."""
    kind: str
    fields: dict
    points: Any = None


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
    return Shape("hull", fields, points)
