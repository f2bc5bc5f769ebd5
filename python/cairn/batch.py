# SPDX-License-Identifier: Apache-2.0
"""Many small worlds of one model, stepped over all cores by one call; and as an environment for learning."""
from __future__ import annotations

import os
from typing import Callable, Optional, Sequence

import numpy as np

from . import _c
from ._c import Error, call, ffi, lib
from .things import Joint
from .views import POSE, TWIST
from .world import World


class Batch:
    """`count` copies of a world. World i gives the bits it would give alone, whatever the threads.

    controls: joints of the prototype, or (joint, coordinate, "speed" | "position" | "effort")."""

    def __init__(self, world: World, count: int, threads: Optional[int] = None, controls: Sequence = ()):
        if not isinstance(count, (int, np.integer)) or not 1 <= count < 2**31:
            raise Error(f"batch: must be a number of worlds (got {count!r})")
        out = ffi.new("CnBatch **")
        with world._use() as pointer:
            call(lib.cn_batch_create(pointer, count, threads or os.cpu_count() or 1, out))
        self._pointer = ffi.gc(out[0], lib.cn_batch_destroy)
        self._bodies = len(world)
        listed = ffi.new("CnControl[]", max(1, len(controls)))
        kinds = {"speed": lib.CN_CONTROL_SPEED, "position": lib.CN_CONTROL_POSITION, "effort": lib.CN_CONTROL_EFFORT}
        for i, control in enumerate(controls):
            joint, coordinate, kind = (control, 0, "speed") if isinstance(control, Joint) else control
            if kind not in kinds or not isinstance(joint, Joint):
                raise Error(f"batch: control {i} must be (joint, coordinate, speed, position or effort)")
            world._own(joint)
            listed[i] = {"joint": joint._id, "coordinate": coordinate, "kind": kinds[kind]}
        call(lib.cn_batch_set_controls(self._pointer, listed, len(controls)))
        self._controls = len(controls)

    def __len__(self) -> int:
        return lib.cn_batch_count(self._pointer)

    def _given(self, values, columns: int, name: str) -> np.ndarray:
        array = np.ascontiguousarray(values, float)
        if array.shape != (len(self), columns):
            raise Error(f"batch: {name} must be {len(self)} x {columns} numbers (got {array.shape})")
        return array

    def step(self, controls=None, steps: int = 1) -> np.ndarray:
        """Steps of all worlds; 1 where a world failed, which then stays where it was."""
        given = None if controls is None else self._given(controls, self._controls, "controls")
        if not isinstance(steps, (int, np.integer)) or not 0 <= steps < 2**31:
            raise Error(f"batch: steps must be a whole number (got {steps!r})")
        status = np.zeros(len(self), np.uint32)
        answer = lib.cn_batch_step(self._pointer, steps, ffi.NULL if given is None else _c.array_pointer(given, "double"),
                                   _c.array_pointer(status, "CnStatus"))
        if answer and not status.any():
            call(answer)
        return status != 0

    def state(self) -> tuple[np.ndarray, np.ndarray]:
        """Poses and twists, worlds x bodies."""
        poses = np.empty((len(self), self._bodies), POSE)
        twists = np.empty((len(self), self._bodies), TWIST)
        call(lib.cn_batch_get_state(self._pointer, _c.array_pointer(poses, "CnPose"),
                                    _c.array_pointer(twists, "CnTwist"), poses.size))
        return poses, twists

    @property
    def positions(self) -> np.ndarray:
        """worlds x bodies x 3."""
        return self.state()[0]["position"]

    def joints(self) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and rates of the controls, worlds x controls."""
        coordinates, rates = np.empty((len(self), self._controls)), np.empty((len(self), self._controls))
        call(lib.cn_batch_get_joints(self._pointer, _c.array_pointer(coordinates, "double"),
                                     _c.array_pointer(rates, "double")))
        return coordinates, rates

    def reset(self, mask=None, snapshot: Optional[bytes] = None) -> None:
        """Put worlds (all, or those of the mask) back to their start, or to a snapshot of the model."""
        if mask is not None:
            mask = np.ascontiguousarray(mask, np.uint8)
            if mask.shape != (len(self),):
                raise Error(f"batch: the mask must have {len(self)} entries (got {mask.shape})")
        try:
            data = ffi.NULL if snapshot is None else ffi.from_buffer(snapshot)
        except TypeError:
            raise Error(f"batch: a snapshot is bytes (got {type(snapshot).__name__})") from None
        call(lib.cn_batch_reset(self._pointer, ffi.NULL if mask is None else _c.array_pointer(mask, "uint8_t"), data,
                                0 if snapshot is None else len(snapshot)))


class VectorEnv:
    """Environments for learning, with the calls of gymnasium's vector environments (which need not be
    installed): actions are controls, observations are coordinates and rates unless `observe` says otherwise;
    `reward(batch)` and `done(batch)` give one value a world. Worlds that are done begin again."""

    def __init__(self, batch: Batch, reward: Callable[[Batch], np.ndarray],
                 done: Optional[Callable[[Batch], np.ndarray]] = None,
                 observe: Optional[Callable[[Batch], np.ndarray]] = None, steps: int = 1, limit: int = 1000):
        self.batch, self.num_envs = batch, len(batch)
        self._reward, self._done, self._observe = reward, done, observe or (lambda b: np.hstack(b.joints()))
        self._steps, self._limit, self._age = steps, limit, np.zeros(len(batch), int)

    def reset(self, seed=None, options=None) -> tuple[np.ndarray, dict]:
        """All worlds to their start: observations and a dict."""
        self.batch.reset()
        self._age[:] = 0
        return self._observe(self.batch), {}

    def step(self, actions) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict]:
        """Observations, rewards, terminated, truncated, a dict."""
        failed = self.batch.step(actions, self._steps)
        self._age += 1
        reward = np.asarray(self._reward(self.batch), float)
        terminated = failed | (np.asarray(self._done(self.batch), bool) if self._done else False)
        truncated = self._age >= self._limit
        over = terminated | truncated
        if over.any():
            self.batch.reset(over)
            self._age[over] = 0
        return self._observe(self.batch), reward, terminated, truncated, {}
