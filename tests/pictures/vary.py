#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Settle once, then vary: `cairn run --resume CHECKPOINT --set ...`. What may change acts from there on, by closed forms; what may not is
refused in one line.

usage: vary.py CAIRN
"""
import json
import os
import tempfile

from pictures import cairn, fails

SCENE = """{"parameters": {"mu": 0.3, "n": 1, "size": 0.1, "m": 1, "k": 0, "g": 10, "x": 0, "speed": 1},
 "settings": {"time_step": 0.001, "time": 0.5, "gravity": [0, 0, "=-g"]},
 "materials": {"wood": {"friction": "=mu"}},
 "functions": {"way": {"kind": "ramp", "rate": "=speed"}},
 "bodies": [{"name": "floor", "kind": "fixed", "position": ["=x", 0, 0], "shapes": [{"kind": "plane", "material": "wood"}]},
            {"name": "belt", "kind": "kinematic", "position": [0, 9, 1], "motion": {"x": "way"}, "shapes": [{"kind": "box", "size": 0.1}]},
            {"name": "bob", "position": [0, 5, 9], "mass": "=m", "shapes": [{"kind": "sphere", "radius": 0.1}]},
            {"repeat": "=n", "items": [{"name": "box{i}", "position": [0, "=2*i", 0.05], "velocity": [4, 0, 0],
              "shapes": [{"kind": "box", "size": ["=size", 0.1, 0.1], "material": "wood"}]}]}],
 "forces": [{"name": "wind", "kind": "constant", "body": "bob", "force": ["=k", 0, 0]}],
 "sensors": [{"name": "v", "kind": "velocity", "body": "box0", "axis": "x"},
             {"name": "bob", "kind": "velocity", "body": "bob", "axis": "x"},
             {"name": "belt", "kind": "velocity", "body": "belt", "axis": "x"}]}"""


def result(text):
    told = json.loads(text)
    return {s["name"]: s["value"] for s in told["sensors"]}, told["state_hash"]


def main():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "s.json"), "w", encoding="utf-8") as file:
            file.write(SCENE)
        at, _ = result(cairn("run", "s.json", "--time", "0.2", "--checkpoint", "c.ckpt", "--out", "a.h5", "--json", cwd=folder))
        assert abs(at["v"] - (4 - 0.3 * 10 * 0.2)) < 1e-3, at

        def go(*words):
            return result(cairn("run", "--resume", "c.ckpt", "--time", "0.5", "--json", *words, cwd=folder))

        # another friction, from there on, with a file of its own that begins there
        now, _ = go("--set", "mu=0.1", "--out", "mu.h5")
        assert abs(now["v"] - (at["v"] - 0.1 * 10 * 0.3)) < 1e-3, now
        info = json.loads(cairn("info", "mu.h5", "--json", cwd=folder))
        assert info["steps"] == 300, info
        # gravity and a force on another mass
        now, _ = go("--set", "g=5", "--set", "k=6", "--set", "m=2", "--out", "g.h5")
        assert abs(now["v"] - (at["v"] - 0.3 * 5 * 0.3)) < 1e-3 and abs(now["bob"] - 6 / 2 * 0.3) < 1e-9, now
        now, _ = go("--set", "speed=2", "--out", "f.h5")
        assert abs(now["belt"] - 2) < 1e-9, now
        # the same parameters: the same bits as a run that was never stopped
        _, whole = result(cairn("run", "s.json", "--json", cwd=folder))
        _, resumed = go("--set", "mu=0.3")
        assert whole == resumed
        # what may not change
        for setting, message in (("n=2", "there are 5 bodies instead of 4"), ("size=0.2", "has another shape"), ("x=1", "body 0 (floor) is elsewhere")):
            fails(1, message, "run", "--resume", "c.ckpt", "--set", setting, "--out", "x.h5", cwd=folder)
        fails(1, "--out FILE records another run from there", "run", "--resume", "c.ckpt", "--set", "mu=0.1", cwd=folder)
        fails(1, "no such parameter", "run", "--resume", "c.ckpt", "--set", "foo=1", "--out", "x.h5", cwd=folder)
        assert not os.path.exists(os.path.join(folder, "x.h5"))
    print("vary: friction, gravity, force, mass, function; refusals")


main()
