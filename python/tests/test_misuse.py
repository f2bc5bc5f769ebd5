# SPDX-License-Identifier: Apache-2.0
"""Random calls with random arguments: answers or exceptions with a sentence, never a crash. CAIRN_MISUSE says how many."""
import inspect
import os

import numpy as np
import pytest

import cairn

CALLS = int(float(os.environ.get("CAIRN_MISUSE", 1500)))
ALLOWED = (cairn.Error, TypeError)  # TypeError: Python's own, for keywords and counts of arguments


def values(rng, things):
    """Arguments of all sorts, things of this world and of others among them."""
    pool = [None, 0, 1, -1, 3, 0.5, -0.5, float("nan"), float("inf"), 2**31, 2**64, 10**30, True, "", "ball", "x" * 100, "a\0b", b"bytes", [],
            [1, 2], (0, 0, 1), (1, 2, 3), [1, 2, 3, 4], {}, {"a": 1}, {"mass": 1}, np.zeros(3), np.zeros((2, 3)), np.eye(3),
            np.zeros((4, 4), np.int32), np.array(["a"]), np.zeros(2, cairn.POSE), np.zeros(3, cairn.TWIST), object(), print,
            "revolute", "sphere", "dynamic", "fixed", cairn.sphere(0.1), cairn.box(1, 1, 1), cairn.plane(), cairn.Shape("glue", {})]
    pool += things
    return lambda: pool[rng.integers(len(pool))]


def members(thing):
    return [name for name in dir(type(thing)) if not name.startswith("_") and name not in ("close", "show", "record", "page", "world")]


def use(rng, thing, value):
    """One random member of a thing: read, set or called."""
    name = members(thing)[rng.integers(len(members(thing)))]
    kind = inspect.getattr_static(type(thing), name)
    if isinstance(kind, property):
        if kind.fset and rng.integers(2):
            setattr(thing, name, value())
        return getattr(thing, name)
    if not callable(getattr(thing, name)):
        return None
    count = int(rng.integers(4))
    fields = {f: value() for f in rng.choice(["mass", "name", "position", "axis", "inertia", "kind", "friction", "stiffness", "axes",
                                              "motor_speed", "steps", "mask", "time_step", "solver", "threads"], rng.integers(3))}
    if name == "step":  # not for ever
        return thing.step() if rng.integers(2) else thing.step(*[v for v in (value() for _ in range(count)) if not _many(v)])
    return getattr(thing, name)(*[value() for _ in range(count)], **fields)


def _many(value):
    return isinstance(value, (int, float)) and value > 10


@pytest.mark.parametrize("seed", [1, 2])
def test_random_calls(seed):
    rng = np.random.default_rng(seed)
    refused = answered = 0
    for start in range(0, CALLS // 2, 100):
        world, other = cairn.World(threads=1 + seed % 2), cairn.World()
        things = [world, world.floor(), world.body(cairn.sphere(0.1), position=(0, 0, 1), name="ball"),
                  world.body(mass=1, inertia=(1, 1, 1)), world.material(friction=0.3), other.body(mass=1, inertia=(1, 1, 1))]
        things += [world.joint("revolute", things[2], things[3]), world.force("spring", things[2], things[3], stiffness=1),
                   things[2].shapes[0], world.view(), cairn.Batch(world, 2), other, cairn.Scene("chain")]
        value = values(rng, things)
        for _ in range(100):
            try:
                made = use(rng, things[rng.integers(len(things))], value)
                answered += 1
                if isinstance(made, (cairn.Body, cairn.BodyShape, cairn.Joint)) and len(things) < 40:
                    things.append(made)
            except ALLOWED as error:
                assert str(error), "an exception without a sentence"
                refused += 1
    assert refused > CALLS // 10 and answered > CALLS // 10
