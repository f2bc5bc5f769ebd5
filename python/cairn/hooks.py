# SPDX-License-Identifier: Apache-2.0
"""Functions of the user that C calls inside a step, with the handle of their world."""
from __future__ import annotations

import threading
from typing import Callable

import numpy as np

from . import _c
from ._c import ffi, lib
from .things import BodyShape, id_of

TWIST = _c.dtype("CnTwist")


def _hook(name: str, onerror):
    def install(function: Callable) -> Callable:
        ffi.def_extern(name=name, error=onerror)(function)
        return function
    return install


def _guarded(handle, run: Callable):
    """Run a user's function; what it raises is kept, and ends the step."""
    world = ffi.from_handle(handle)()
    if world is None or world._raised is not None:
        return None
    world._inside = threading.get_ident()
    try:
        return run(world)
    except BaseException as error:  # noqa: BLE001: it goes on where the step was called
        world._raised = error
        return None
    finally:
        world._inside = 0


@_hook("cairn_before_step", None)
def _before_step(context, _world, time, time_step):
    _guarded(context, lambda w: w._hooks["before_step"](w, time, time_step))


@_hook("cairn_filter", 1)
def _filter(context, _world, a, b):
    def ask(w):
        shapes = (BodyShape(w, id_of("CnShapeId", shape.slot, shape.generation)) for shape in (a, b))
        return 1 if w._hooks["filter"](w, *shapes) else 0
    answer = _guarded(context, ask)
    return 1 if answer is None else answer


@_hook("cairn_modify", None)
def _modify(context, _world, contact):
    own = ffi.new("CnContactTuning *", contact[0])  # the user may keep it; C's is gone after the step
    _guarded(context, lambda w: w._hooks["modify"](w, own))
    contact[0] = own[0]


@_hook("cairn_force", int(lib.CN_STOPPED))
def _force(context, _world, time, bodies, count, loads):
    def ask(w):
        if "force" not in w._hooks:
            return 0
        seen = np.frombuffer(ffi.buffer(bodies, count * ffi.sizeof("CnStageBody")), _c.dtype("CnStageBody")).copy()
        out = np.zeros(count, TWIST)  # arrays of their own: the user may keep them
        w._hooks["force"](w, time, seen, out)
        ffi.memmove(loads, _c.array_pointer(out, "CnTwist"), out.nbytes)
        return 0
    answer = _guarded(context, ask)
    if answer is None:
        lib.cn_error_set(lib.CN_STOPPED, b"a Python function raised an exception")
        return int(lib.CN_STOPPED)
    return answer
