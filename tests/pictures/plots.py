#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pictures of `cairn plot`: the curve in an SVG is the quantity, the PNG is a sound file with the same curve.

usage: plots.py CAIRN
"""
import os
import re
import sys
import tempfile
import xml.etree.ElementTree as tree

from pictures import cairn, fails, png_pixels

SCENE = """{"settings": {"time_step": 0.01, "time": 1, "gravity": [0, 0, -10]},
 "bodies": [{"name": "ball", "position": [0, 0, 5], "velocity": [2, 0, 0],
             "shapes": [{"kind": "sphere", "radius": 0.1}]},
            {"name": "arm", "position": [9, 0, 0], "shapes": [{"kind": "sphere", "radius": 0.1}]}],
 "joints": [{"name": "hinge", "kind": "revolute", "bodies": ["ground", "arm"], "anchor": [8, 0, 0], "axis": [0, 1, 0]}],
 "sensors": [{"name": "<height>", "kind": "position", "body": "ball", "axis": "z"}]}"""


def curves(path):
    """The curves of an SVG, as lists of points: lines that are no grid and no frame."""
    root = tree.parse(path).getroot()
    space = "{http://www.w3.org/2000/svg}"
    found = []
    for line in root.iter(space + "polyline"):
        if line.get("stroke-width") == "1.6":
            found.append([tuple(map(float, p.split(","))) for p in line.get("points").split()])
    texts = [t.text or "" for t in root.iter(space + "text")]
    return found, texts, (int(root.get("width")), int(root.get("height")))


def check_svg(folder):
    cairn("plot", "run.h5", "ball.x", "ball.z", "<height>", "-o", "a.svg", "--size", "640x480", "--title", "a & b", cwd=folder)
    lines, texts, size = curves(os.path.join(folder, "a.svg"))
    assert size == (640, 480) and len(lines) == 3, (size, len(lines))
    assert "ball.x (m)" in texts and "<height> (m)" in texts and "a & b" in texts and "time (s)" in texts, texts
    # constant speed: a straight line from the lower left, over the whole width
    x = lines[0]
    (x0, y0), (x1, y1) = x[0], x[-1]
    assert len(x) > 50 and x0 < 90 and x1 > 600 and y1 < y0
    worst = max(abs(py - (y0 + (y1 - y0) * (px - x0) / (x1 - x0))) for px, py in x)
    assert worst < 0.02, worst
    # a fall: the ratio of the drops in the first half and in all of the time is 1 : 4, but for the scheme's h
    z = lines[1]
    half = min(z, key=lambda p: abs(p[0] - (z[0][0] + z[-1][0]) / 2))
    ratio = (half[1] - z[0][1]) / (z[-1][1] - z[0][1])
    assert abs(ratio - 0.25) < 0.02, ratio
    cairn("plot", "run.h5", "ball.z", "--over", "ball.x", "-o", "b.svg", cwd=folder)
    lines, texts, _ = curves(os.path.join(folder, "b.svg"))
    assert len(lines) == 1 and "ball.x" in texts
    cairn("plot", "run.h5", "other.h5", "kinetic_energy", "-o", "c.svg", cwd=folder)
    lines, texts, _ = curves(os.path.join(folder, "c.svg"))
    assert len(lines) == 2 and "other.h5: kinetic_energy (J)" in texts, texts
    # units apart: panels apart
    cairn("plot", "run.h5", "ball.z", "total_energy", "hinge.angle", "hinge.angle_rate", "hinge.force", "residual", "-o", "d.svg", cwd=folder)
    lines, texts, _ = curves(os.path.join(folder, "d.svg"))
    assert "hinge.force (N)" in texts and "hinge.angle_rate (rad/s)" in texts and len(lines) >= 5, texts


def check_png(folder):
    cairn("plot", "run.h5", "ball.x", "-o", "a.png", "--size", "500x300", cwd=folder)
    width, height, rows = png_pixels(os.path.join(folder, "a.png"))
    assert (width, height) == (500, 300)
    blue = {(x, y) for y in range(height) for x in range(width) if rows[y][x][0] + 60 < rows[y][x][2]}
    columns = {x for x, y in blue if y > 40}
    assert len(columns) > 380, len(columns)  # the curve crosses the picture
    assert rows[2][2] == (255, 255, 255) and os.path.getsize(os.path.join(folder, "a.png")) < 40000


def check_list(folder):
    listed = cairn("plot", "run.h5", "--list", cwd=folder)
    for name in ("<height>", "kinetic_energy", "total_energy", "residual", "contacts", "ball.vz", "hinge.angle", "hinge.torque_x"):
        assert re.search(r"^\s*" + re.escape(name) + r"\b", listed, re.M) or name in listed, name


def main():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "s.json"), "w", encoding="utf-8") as file:
            file.write(SCENE)
        cairn("run", "s.json", "-q", "--out", "run.h5", "--record", "joints", cwd=folder)
        cairn("run", "s.json", "-q", "--out", "other.h5", "--time", "0.5", cwd=folder)
        check_svg(folder)
        check_png(folder)
        check_list(folder)
        fails(1, "did you mean ball.x?", "plot", "run.h5", "bal.x", "-o", "x.svg", cwd=folder)
        fails(2, "QUANTITY is missing", "plot", "run.h5", "-o", "x.svg", cwd=folder)
        fails(2, "is a .svg or a .png", "plot", "run.h5", "ball.x", "-o", "x.gif", cwd=folder)
        fails(2, "none of the operands is a recorded run", "plot", "ball.x", "-o", "x.svg", cwd=folder)
        fails(2, "--size takes", "plot", "run.h5", "ball.x", "-o", "x.svg", "--size", "9", cwd=folder)
        assert not os.path.exists(os.path.join(folder, "x.svg"))
    print("plots: svg, png, list, refusals")


main()
