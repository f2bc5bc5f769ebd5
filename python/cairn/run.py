# SPDX-License-Identifier: Apache-2.0
"""Runs: record them, read them back as numpy arrays, look at them in a page."""
from __future__ import annotations

import functools
import html
import os
import tempfile
import threading
import webbrowser

import numpy as np

from . import _c
from ._c import Error, call, ffi, lib, text
from .world import POSE, TWIST, World


class Recorder:
    """What World.record gives: every step of the world goes into the file until it is closed."""

    def __init__(self, world: World, path: str, fps: float, contacts: bool, joints: bool, replace: bool,
                 plain: bool = False):
        if world._recorder is not None:
            raise Error("this world is being recorded already: world.recorder.close() ends that", "CN_BUSY")
        fields = {"path": os.fsdecode(path), "frames_per_second": fps, "contacts": contacts, "joints": joints,
                  "replace": replace, "plain": plain}
        definition, keep = _c.definition(lib.cn_recorder_def_default(), fields, "record")
        if world.scene is not None:
            definition.scene = world.scene._pointer
        out = ffi.new("CnRecorder **")
        with world._use() as pointer:
            call(lib.cn_recorder_create(definition, pointer, out))
        self.path, self._world, self._pointer = os.fsdecode(path), world, out[0]
        world._recorder = self

    def _step(self, world, report) -> None:
        call(lib.cn_recorder_step(self._pointer, world, report))

    def close(self) -> "Run":
        """End the run, with the verdict in it; the run opened for reading."""
        self._end(lambda pointer, world: lib.cn_recorder_close(pointer, world))
        return Run(self.path)

    def _end(self, end) -> None:
        pointer, self._pointer = self._pointer, None
        if pointer is None:
            return
        self._world._recorder = None
        with self._world._use() as world:
            call(end(pointer, world))

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, kind, *_) -> None:
        if kind is None:
            self._end(lambda pointer, world: lib.cn_recorder_close(pointer, world))
        else:
            self._end(lambda pointer, world: lib.cn_recorder_abandon(pointer) * 0)  # what was raised counts

    def __del__(self):
        if getattr(self, "_pointer", None) is not None:
            lib.cn_recorder_abandon(self._pointer)


def _in_turn(method):
    """A file is read by one thread at a time: others wait."""
    @functools.wraps(method)
    def guarded(self, *given, **named):
        with self._lock:
            return method(self, *given, **named)
    return guarded


class Run:
    """A run file: `run["kinetic_energy"]` is a series, `run.positions` all frames, `run.show()` a page."""

    def __init__(self, path):
        if not isinstance(path, (str, os.PathLike)):
            raise Error(f"run: a path is a text (got {path!r})")
        out = ffi.new("CnRun **")
        call(lib.cn_run_open(os.fsdecode(path).encode(), ffi.NULL, out))
        self.path = os.fsdecode(path)
        self._lock = threading.RLock()
        self._pointer = ffi.gc(out[0], lib.cn_run_close)
        self._info = ffi.new("CnRunInfo *")
        lib.cn_run_info(self._pointer, self._info)

    @property
    def info(self) -> dict:
        """All of CnRunInfo."""
        return {k: v for k, v in _c.plain(self._info).items() if k != "scene_text"}

    @property
    def verdict(self) -> str:
        """The line of the verdict; "" without one."""
        return text(self._info.verdict)

    def __len__(self) -> int:
        """Frames."""
        return self._info.frame_count

    @property
    @_in_turn
    def bodies(self) -> list[str]:
        """Their names."""
        out, found = ffi.new("CnRunBody *"), []
        for i in range(self._info.body_count):
            call(lib.cn_run_body(self._pointer, i, out))
            found.append(text(out.name))
        return found

    @property
    @_in_turn
    def series(self) -> list[str]:
        """Names of quantities with one value a step."""
        out, found = ffi.new("CnRunSeries *"), ["time"]
        for count, ask in ((self._info.scalar_count, lib.cn_run_scalar), (self._info.sensor_count, lib.cn_run_sensor)):
            for i in range(count):
                call(ask(self._pointer, i, out))
                if text(out.name) not in found:
                    found.append(text(out.name))
        return found

    @_in_turn
    def __getitem__(self, name: str) -> np.ndarray:
        if not isinstance(name, str):
            raise Error(f"run: a series has a name (got {name!r})")
        values = np.empty(self._info.step_count)
        call(lib.cn_run_values(self._pointer, name.encode(), 0, len(values), _c.array_pointer(values, "double")))
        return values

    def _frame_index(self, index) -> int:
        """From the end where it is negative."""
        if not isinstance(index, (int, np.integer)) or not -2**62 < index < 2**62:
            raise Error(f"run: a frame is a whole number (got {index!r})")
        return int(index) + len(self) if index < 0 else int(index)

    @_in_turn
    def frame(self, index: int) -> tuple[float, np.ndarray, np.ndarray]:
        """Time, poses and twists of all bodies in a frame."""
        n = self._info.body_count
        index = self._frame_index(index)
        time, poses, twists = ffi.new("double *"), np.empty(n, POSE), np.empty(n, TWIST)
        call(lib.cn_run_frame(self._pointer, index, time, _c.array_pointer(poses, "CnPose"),
                              _c.array_pointer(twists, "CnTwist")))
        return time[0], poses, twists

    @property
    def times(self) -> np.ndarray:
        """Of the frames."""
        return np.array([self.frame(i)[0] for i in range(len(self))])

    @property
    def positions(self) -> np.ndarray:
        """frames x bodies x 3."""
        return np.stack([self.frame(i)[1]["position"] for i in range(len(self))])

    @property
    def velocities(self) -> np.ndarray:
        """frames x bodies x 3."""
        return np.stack([self.frame(i)[2]["velocity"] for i in range(len(self))])

    @_in_turn
    def contacts(self, index: int) -> np.ndarray:
        """Of a frame, where they were recorded: a structured array."""
        index = self._frame_index(index)
        count = ffi.new("int32_t *")
        call(lib.cn_run_contacts(self._pointer, index, ffi.NULL, 0, count))
        out = np.empty(count[0], _c.dtype("CnRunContact"))
        call(lib.cn_run_contacts(self._pointer, index, _c.array_pointer(out, "CnRunContact"), count[0], count))
        return out

    @_in_turn
    def joint_states(self, index: int) -> np.ndarray:
        """Reactions of a frame, where they were recorded."""
        index = self._frame_index(index)
        out = np.empty(self._info.joint_count, _c.dtype("CnJointState"))
        call(lib.cn_run_joint_states(self._pointer, index, _c.array_pointer(out, "CnJointState")))
        return out

    def to_pandas(self) -> "pandas.DataFrame":  # noqa: F821
        """All series as a table, by step."""
        import pandas
        return pandas.DataFrame({name: self[name] for name in self.series})

    @_in_turn
    def page(self, path=None, max_bytes: int = 0, replace: bool = False) -> str:
        """One HTML file with playback and plots; where it went. Of files that are there only pages are replaced,
        unless `replace`."""
        path = os.fsdecode(path) if path is not None else os.path.splitext(self.path)[0] + ".html"
        _c.check_vacant(path, replace, self._pointer)
        call(lib.cn_page_from_run(self._pointer, path.encode(), max_bytes))
        return path

    def show(self) -> str:
        """Open the page in a browser."""
        path = self.page()
        webbrowser.open("file://" + os.path.abspath(path))
        return path

    def export(self, format: str, path=None, replace: bool = False) -> None:
        """In another format: "csv", "gltf", "xdmf", "vtk". Of files that are there only exports are replaced, unless
        `replace`."""
        given = ffi.NULL if path is None else os.fsdecode(path).encode()
        out = ffi.new("char[4096]")
        call(lib.cn_run_export_path(self.path.encode(), format.encode(), given, out, 4096))
        _c.check_vacant(text(out), replace, self._pointer)
        call(lib.cn_run_export(self.path.encode(), format.encode(), out))

    def _repr_html_(self) -> str:
        """In a notebook: the page itself."""
        with tempfile.TemporaryDirectory() as folder:
            path = self.page(os.path.join(folder, "run.html"), 20_000_000)
            with open(path, encoding="utf-8") as file:
                page = html.escape(file.read(), quote=True)
        return f'<iframe srcdoc="{page}" width="100%" height="600" style="border:0"></iframe>'
