#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports of `cairn export`: recorded contacts and reactions as tables, shapes as triangles for VTK; against what must be in them.

usage: exports.py CAIRN
"""
import csv
import math
import os
import re
import struct
import tempfile
import xml.etree.ElementTree as tree

from pictures import cairn

SCENE = """{"settings": {"time_step": 0.01, "time": 0.5, "gravity": [0, 0, -10]},
 "bodies": [{"name": "floor", "kind": "fixed", "shapes": [{"kind": "plane"}]},
            {"name": "box", "mass": 3, "position": [0, 0, 0.1], "color": [1, 0.5, 0], "shapes": [{"kind": "box", "size": [0.4, 0.3, 0.2]}]},
            {"name": "ball", "mass": 1, "position": [5, 0, 9], "velocity": [1, 0, 0], "shapes": [{"kind": "sphere", "radius": 0.25}]},
            {"name": "bob", "mass": 2, "position": [9, 0, 4], "shapes": [{"kind": "sphere", "radius": 0.1}]}],
 "joints": [{"name": "hinge", "kind": "revolute", "bodies": ["ground", "bob"], "anchor": [9, 0, 5], "axis": [0, 1, 0]}]}"""


def table(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert all(len(row) == len(rows[0]) for row in rows), path
    return [dict(zip(rows[0], row)) for row in rows[1:]]


def check_csv(folder):
    cairn("export", "run.h5", "--to", "csv", cwd=folder)
    contacts = table(os.path.join(folder, "run-csv", "contacts.csv"))
    last = max(int(row["frame"]) for row in contacts)
    of_box = [row for row in contacts if int(row["frame"]) == last and row["body_b"] == "1"]
    weight = sum(float(row["fz [N]"]) for row in of_box)
    assert len(of_box) == 4 and abs(weight - 30) < 1e-6, weight  # at its corners
    reactions = table(os.path.join(folder, "run-csv", "reactions.csv"))
    assert {row["name"] for row in reactions} == {"hinge"} and {row["coordinate"] for row in reactions} == {"angle"}
    assert abs(float(reactions[-1]["fz [N]"]) - 20) < 1e-6 and abs(float(reactions[-1]["value"])) < 1e-9
    cairn("run", "s.json", "-q", "--out", "plain.h5", "--time", "0.1", cwd=folder)
    cairn("export", "plain.h5", "--to", "csv", cwd=folder)
    assert sorted(os.listdir(os.path.join(folder, "plain-csv"))) == ["bodies.csv", "events.csv", "frames.csv", "steps.csv"]


def polygons(path):
    with open(path, "rb") as file:
        data = file.read()
    mark = data.index(b'<AppendedData encoding="raw">\n_')
    start = data.index(b"_", mark) + 1
    head = data[:mark] + b"</VTKFile>"
    piece = tree.fromstring(head.decode()).find(".//Piece")
    points, cells = int(piece.get("NumberOfPoints")), int(piece.get("NumberOfPolys"))
    forms = {"Float32": "f", "Int32": "i", "UInt8": "B"}
    found, end = {}, start
    for array in piece.iter("DataArray"):
        at = start + int(array.get("offset"))
        size, = struct.unpack("<Q", data[at:at + 8])
        form = forms[array.get("type")]
        found[array.get("Name")] = struct.unpack(f"<{size // struct.calcsize(form)}{form}", data[at + 8:at + 8 + size])
        end = max(end, at + 8 + size)
    assert data[end:] == b"\n  </AppendedData>\n</VTKFile>\n"
    assert len(found["places"]) == 3 * points and len(found["connectivity"]) == 3 * cells == found["offsets"][-1]
    return found


def check_vtk(folder):
    cairn("export", "run.h5", "--to", "vtk", cwd=folder)
    inside = os.path.join(folder, "run-vtk")
    frames = tree.parse(os.path.join(inside, "run.pvd")).findall(".//DataSet")
    poses = table(os.path.join(folder, "run-csv", "frames.csv"))
    assert len(frames) == int(poses[-1]["frame"]) + 1 and len(os.listdir(inside)) == len(frames) + 1
    for number in (0, len(frames) - 1):
        mesh = polygons(os.path.join(inside, frames[number].get("file")))
        pose = {row["name"]: row for row in poses if int(row["frame"]) == number}
        assert float(frames[number].get("timestep")) == float(pose["ball"]["time [s]"])
        places = [mesh["places"][3 * i:3 * i + 3] for i in range(len(mesh["places"]) // 3)]
        assert max(mesh["connectivity"]) < len(places) and set(mesh["body"]) == {1, 2, 3}  # a half-space has no triangles
        centre = [float(pose["ball"][k]) for k in ("x [m]", "y [m]", "z [m]")]
        of_ball = {mesh["connectivity"][3 * t + k] for t, b in enumerate(mesh["body"]) if b == 2 for k in range(3)}
        assert len(of_ball) > 50 and all(abs(math.dist(places[i], centre) - 0.25) < 1e-6 for i in of_ball)
        of_box = {mesh["connectivity"][3 * t + k] for t, b in enumerate(mesh["body"]) if b == 1 for k in range(3)}
        for axis, half in enumerate((0.2, 0.15, 0.1)):
            middle = float(pose["box"][("x [m]", "y [m]", "z [m]")[axis]])
            assert abs(max(places[i][axis] for i in of_box) - middle - half) < 1e-6
        box = mesh["body"].index(1)
        assert mesh["color"][3 * box:3 * box + 3] == (255, 128, 0)
        speed = math.hypot(*(float(pose["ball"][k]) for k in ("vx [m/s]", "vy [m/s]", "vz [m/s]")))
        assert abs(mesh["speed"][mesh["body"].index(2)] - speed) < 1e-5


def main():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "s.json"), "w", encoding="utf-8") as file:
            file.write(SCENE)
        cairn("run", "s.json", "-q", "--out", "run.h5", "--record", "contacts,joints", cwd=folder)
        check_csv(folder)
        check_vtk(folder)
        cairn("export", "run.h5", "--to", "gltf", cwd=folder)
        with open(os.path.join(folder, "run.glb"), "rb") as file:
            text = file.read().decode("utf-8", "replace")
        colors = re.findall(r'"baseColorFactor":\\[([0-9.,e-]+)\\]'.replace("\\\\", "\\"), text)
        assert any(c.startswith("1,0.21404") for c in colors), colors  # 0.5 of a screen is 0.214 of light
    print("exports: csv with contacts and reactions, vtk, colors in gltf")


main()
