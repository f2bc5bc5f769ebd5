# SPDX-License-Identifier: Apache-2.0
"""Many small worlds of one model, stepped over all cores by one call; and as an environment for learning."""
from __future__ import annotations

import functools
import os
import threading
from typing import Callable, NamedTuple, Optional, Sequence

import numpy as np

from . import _c
from ._c import Error, call, ffi, lib
from .things import Joint
from .views import POSE, TWIST
from .world import World


def _alone(method):
    """One call at a time: the worlds of a batch are one thing, and another thread would step in between."""
    @functools.wraps(method)
    def guarded(self, *given, **named):
        if not self._lock.acquire(blocking=False):
            raise Error("this batch is in use: inside step, or by another thread", "CN_BUSY")
        try:
            return method(self, *given, **named)
        finally:
            self._lock.release()
    return guarded


class Batch:
    """`count` copies of a world. World i gives the bits it would give alone, whatever the threads.

    controls: joints of the prototype, or (joint, coordinate, "speed" | "position" | "effort")."""

    def __init__(self, world: World, count: int, threads: Optional[int] = None, controls: Sequence = ()):
        if not isinstance(world, World):
            raise Error(f"batch: must be copies of a world (got {world!r})")
        if not isinstance(count, (int, np.integer)) or not 1 <= count < 2**31:
            raise Error(f"batch: must be a number of worlds (got {count!r})")
        self._lock = threading.Lock()
        out = ffi.new("CnBatch **")
        with world._use() as pointer:
            call(lib.cn_batch_create(pointer, count, threads or os.cpu_count() or 1, out))
        self._pointer = ffi.gc(out[0], lib.cn_batch_destroy)
        self._bodies = len(world)
        try:
            controls = list(controls)
        except TypeError:
            raise Error(f"batch: controls must be a list of joints (got {controls!r})") from None
        listed = ffi.new("CnControl[]", max(1, len(controls)))
        kinds = {"speed": lib.CN_CONTROL_SPEED, "position": lib.CN_CONTROL_POSITION, "effort": lib.CN_CONTROL_EFFORT}
        for i, control in enumerate(controls):
            parts = (control, 0, "speed") if isinstance(control, Joint) else control
            if not isinstance(parts, (tuple, list)) or len(parts) != 3 or not isinstance(parts[0], Joint) \
                    or not isinstance(parts[1], (int, np.integer)) or not -2**31 <= parts[1] < 2**31 \
                    or not isinstance(parts[2], str) or parts[2] not in kinds:
                raise Error(f"batch: control {i} must be a joint, or (joint, coordinate, speed, position or effort) "
                            f"(got {control!r})")
            joint, coordinate, kind = parts
            world._own(joint)
            listed[i] = {"joint": joint._id, "coordinate": coordinate, "kind": kinds[kind]}
        call(lib.cn_batch_set_controls(self._pointer, listed, len(controls)))
        self._controls = len(controls)

    def __len__(self) -> int:
        return lib.cn_batch_count(self._pointer)

    def _given(self, values, columns: int, name: str) -> np.ndarray:
        array = _c.reals(values, f"batch: {name}")
        if array.shape != (len(self), columns):
            raise Error(f"batch: {name} must be {len(self)} x {columns} numbers (got {array.shape})")
        return array

    @_alone
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

    @_alone
    def state(self) -> tuple[np.ndarray, np.ndarray]:
        """Poses and twists, worlds x bodies."""
        poses = np.empty((len(self), self._bodies), POSE)
        twists = np.empty((len(self), self._bodies), TWIST)
        call(lib.cn_batch_get_state(self._pointer, _c.array_pointer(poses, "CnPose"),
                                    _c.array_pointer(twists, "CnTwist"), poses.size))
        return poses, twists

    @_alone
    def set_state(self, poses: Optional[np.ndarray] = None, twists: Optional[np.ndarray] = None, mask=None) -> None:
        """Set them, of all worlds or those of the mask: arrays as state() gives them."""
        given = []
        for array, kind, name in ((poses, POSE, "poses"), (twists, TWIST, "twists")):
            if array is not None and (not isinstance(array, np.ndarray) or array.dtype != kind
                                      or array.shape != (len(self), self._bodies) or not array.flags.c_contiguous):
                raise Error(f"batch: {name} must be {len(self)} x {self._bodies} as state() gives them")
            given.append(ffi.NULL if array is None else _c.array_pointer(array, "CnPose" if kind is POSE else "CnTwist"))
        chosen = self._mask(mask)
        call(lib.cn_batch_set_state(self._pointer, *given,
                                    ffi.NULL if chosen is None else _c.array_pointer(chosen, "uint8_t")))

    def _mask(self, mask) -> Optional[np.ndarray]:
        if mask is None:
            return None
        try:
            mask = np.ascontiguousarray(np.asarray(mask, bool), np.uint8)
        except (TypeError, ValueError):
            raise Error(f"batch: a mask is true or false for each world (got {mask!r})") from None
        if mask.shape != (len(self),):
            raise Error(f"batch: the mask must have {len(self)} entries (got {mask.shape})")
        return mask

    @property
    def positions(self) -> np.ndarray:
        """worlds x bodies x 3."""
        return self.state()[0]["position"]

    @_alone
    def joints(self) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and rates of the controls, worlds x controls."""
        coordinates, rates = np.empty((len(self), self._controls)), np.empty((len(self), self._controls))
        call(lib.cn_batch_get_joints(self._pointer, _c.array_pointer(coordinates, "double"),
                                     _c.array_pointer(rates, "double")))
        return coordinates, rates

    @_alone
    def reset(self, mask=None, snapshot: Optional[bytes] = None) -> None:
        """Put worlds (all, or those of the mask) back to their start, or to a snapshot of the model."""
        mask = self._mask(mask)
        try:
            data = ffi.NULL if snapshot is None else ffi.from_buffer(snapshot)
        except TypeError:
            raise Error(f"batch: a snapshot is bytes (got {type(snapshot).__name__})") from None
        call(lib.cn_batch_reset(self._pointer, ffi.NULL if mask is None else _c.array_pointer(mask, "uint8_t"), data,
                                0 if snapshot is None else len(snapshot)))


class Box(NamedTuple):
    """Bounds of actions or observations, where gymnasium with its own is not installed."""
    low: float
    high: float
    shape: tuple
    dtype: type = np.float64


def _box(low: float, high: float, shape: tuple):
    try:
        from gymnasium.spaces import Box as Space
    except ImportError:
        Space = Box
    return Space(low=low, high=high, shape=shape, dtype=np.float64)


class VectorEnv:
    """Environments for learning, with the calls of gymnasium's vector environments (which need not be
    installed): actions are controls, observations are coordinates and rates unless `observe` says otherwise;
    `reward(batch)` and `done(batch)` give one value a world. Worlds that are done begin again. `bounds` are those of
    actions. `start(batch, random, mask)` may change the start of worlds that begin, by random numbers of the seed."""

    def __init__(self, batch: Batch, reward: Callable[[Batch], np.ndarray],
                 done: Optional[Callable[[Batch], np.ndarray]] = None,
                 observe: Optional[Callable[[Batch], np.ndarray]] = None, steps: int = 1, limit: int = 1000,
                 bounds: tuple[float, float] = (-np.inf, np.inf), start: Optional[Callable] = None):
        self.batch, self.num_envs = batch, len(batch)
        self._reward, self._done, self._observe = reward, done, observe or (lambda b: np.hstack(b.joints()))
        self._steps, self._limit, self._age = steps, limit, np.zeros(len(batch), int)
        self._start, self._random = start, np.random.default_rng(0)
        seen = np.asarray(self._observe(batch)).shape
        self.single_action_space = _box(*bounds, (batch._controls,))
        self.action_space = _box(*bounds, (len(batch), batch._controls))
        self.single_observation_space = _box(-np.inf, np.inf, seen[1:])
        self.observation_space = _box(-np.inf, np.inf, seen)

    def _each(self, name: str, values, kind: type) -> np.ndarray:
        """What a function of the user gave: one value a world."""
        try:
            values = np.asarray(values, kind)
        except (TypeError, ValueError):
            raise Error(f"VectorEnv: {name} must give numbers (got {values!r})") from None
        if values.shape != (len(self.batch),):
            raise Error(f"VectorEnv: {name} must give one value for each of {len(self.batch)} worlds "
                        f"(got shape {values.shape})")
        return values

    def _begin(self, mask: np.ndarray) -> None:
        self.batch.reset(mask)
        self._age[mask] = 0
        if self._start:
            self._start(self.batch, self._random, mask)

    def reset(self, seed=None, options=None) -> tuple[np.ndarray, dict]:
        """All worlds to their start: observations and a dict."""
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self._begin(np.ones(len(self.batch), bool))
        return self._observe(self.batch), {}

    def close(self) -> None:
        """Nothing to do: memory goes with the batch."""

    def step(self, actions) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict]:
        """Observations, rewards, terminated, truncated, a dict."""
        failed = self.batch.step(actions, self._steps)
        self._age += 1
        reward = self._each("reward", self._reward(self.batch), float)
        terminated = failed | (self._each("done", self._done(self.batch), bool) if self._done else False)
        truncated = self._age >= self._limit
        over = terminated | truncated
        if over.any():
            self._begin(over)
        return self._observe(self.batch), reward, terminated, truncated, {}
