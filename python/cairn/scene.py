# SPDX-License-Identifier: Apache-2.0
"""Scenes: worlds written as JSON (docs/scene.md), from a file, a built-in name, or a dict."""
from __future__ import annotations

import json
import os
import weakref
from typing import Any, Union

import numpy as np

from . import _c
from ._c import Error, call, ffi, lib, text
from .world import World, take_hooks


class Scene:
    """A scene with its parameters: Scene("chain", n=12), Scene("silo.json"), Scene({"bodies": [...]})."""

    def __init__(self, source: Union[str, os.PathLike, dict], **parameters: float):
        keep = [ffi.new("char[]", key.encode()) for key in parameters]
        settings = ffi.new("CnSetting[]", max(1, len(keep)))
        for i, (key, value) in enumerate(zip(keep, parameters.values())):
            try:
                settings[i].key, settings[i].value = key, float(value)
            except (TypeError, ValueError):
                raise Error(f"scene: parameter must be a number (got {value!r})") from None
        out = ffi.new("CnScene **")
        if isinstance(source, dict):
            try:
                data = json.dumps(source, default=_listed).encode()
            except (TypeError, ValueError) as error:
                raise Error(f"scene: {error}") from None
            call(lib.cn_scene_parse(data, len(data), b"scene", settings, len(keep), ffi.NULL, out))
        elif not isinstance(source, (str, os.PathLike)):
            raise Error(f"scene: must be a name, a path or a dict (got {source!r})")
        else:
            call(lib.cn_scene_open(os.fspath(source).encode(), settings, len(keep), ffi.NULL, out))
        self._pointer = ffi.gc(out[0], lib.cn_scene_destroy)
        self._world = None  # the last one made of it

    @property
    def info(self) -> dict:
        """All of CnSceneInfo but its text."""
        out = ffi.new("CnSceneInfo *")
        lib.cn_scene_info(self._pointer, out)
        return {k: v for k, v in _c.plain(out).items() if k != "text"}

    @property
    def time(self) -> float:
        """s, how long a run is meant to be."""
        return self.info["time"]

    @property
    def parameters(self) -> dict[str, float]:
        """Names with the values used."""
        out, found = ffi.new("CnSceneParameter *"), {}
        for i in range(self.info["parameter_count"]):
            call(lib.cn_scene_parameter(self._pointer, i, out))
            found[text(out.name)] = out.value
        return found

    @property
    def sensors(self) -> list[str]:
        """Names of what a run records."""
        out, found = ffi.new("CnSensorInfo *"), []
        for i in range(self.info["sensor_count"]):
            call(lib.cn_scene_sensor(self._pointer, i, out))
            found.append(text(out.name))
        return found

    def world(self, **settings) -> World:
        """A world with the scene in it; settings as in World(...) go over the scene's. Sources, sinks and
        sensors that look back work in the last world made of a scene, and not in its copies."""
        default = ffi.new("CnWorldDef *", lib.cn_world_def_default())
        lib.cn_scene_world_def(self._pointer, default)
        world = World.__new__(World)
        world._setup()
        hooks = take_hooks(settings)
        definition, keep = World._definition(default[0], settings)
        world._set_hooks(definition, hooks)
        out = ffi.new("CnWorld **")
        call(lib.cn_world_create(definition, out))
        world._take(out[0])
        call(lib.cn_scene_fill(self._pointer, world._pointer))
        world.scene = self
        size = ffi.new("size_t *")
        call(lib.cn_scene_save(self._pointer, ffi.NULL, 0, size))
        if self._world is not None and self._world() is not None:
            self._world()._fed = False
        world._fed = size[0] > 0
        self._world = weakref.ref(world)
        return world

    def measure(self, world: World) -> dict[str, float]:
        """The scene's sensors in a world of it."""
        if not isinstance(world, World):
            raise Error(f"measure: must be a world of this scene (got {world!r})")
        names = self.sensors
        values = np.empty(len(names))
        with world._use() as pointer:
            call(lib.cn_scene_measure(self._pointer, pointer, _c.array_pointer(values, "double")))
        return dict(zip(names, values.tolist()))

    def sources(self, world: World) -> list[dict]:
        """Of each source in its world: name, made (let go so far), due (what its rate asks for), waiting."""
        if not isinstance(world, World):
            raise Error(f"sources: must be a world of this scene (got {world!r})")
        out, found = ffi.new("CnSourceInfo *"), []
        with world._use() as pointer:
            while lib.cn_scene_source(self._pointer, pointer, len(found), out) == 0:
                found.append(_c.plain(out))
        return found

    def page(self, path: str, replace: bool = False) -> str:
        """One HTML file that shows its first frame. Of files that are there only pages are replaced, unless `replace`."""
        call(lib.cn_scene_check_output(self._pointer, os.fsdecode(path).encode()))
        _c.check_vacant(os.fsdecode(path), replace)
        call(lib.cn_page_from_scene(self._pointer, os.fsdecode(path).encode()))
        return os.fsdecode(path)


def _listed(value: Any):
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} cannot be written as JSON")


def load(source, **parameters) -> World:
    """The world of a scene: load("pyramid", rows=5), load("silo.json")."""
    return Scene(source, **parameters).world()


def scenes() -> dict[str, str]:
    """The built-in scenes with their summaries."""
    return {name: text(lib.cn_builtin_scene_summary(i)) for i, name in enumerate(_c.names(lib.cn_builtin_scene_name))}
