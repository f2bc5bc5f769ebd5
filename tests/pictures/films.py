#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pictures and films of `cairn render`: the right number of frames, of the right size and times, and not blank. Skipped (77) where
Chromium is not installed.

usage: films.py CAIRN [--all]
"""
import json
import os
import shutil
import stat
import sys
import tempfile

from pictures import cairn, fails, png_pixels

SCENE = """{"settings": {"time_step": 0.01, "time": 0.5, "gravity": [0, 0, 0]},
 "bodies": [{"name": "ball", "position": [0, 0, 0], "velocity": [0, 2, 0], "color": [1, 0, 0],
             "shapes": [{"kind": "sphere", "radius": 0.3}]}]}"""

CONTAINERS = {0x1a45dfa3, 0x18538067, 0x1549a966, 0x1654ae6b, 0x1c53bb6b, 0x1f43b675, 0xae, 0xe0, 0xbb, 0xb7}


def number(data, at, keep):
    length = 9 - data[at].bit_length()
    value = int.from_bytes(data[at:at + length], "big")
    return value if keep else value & ((1 << 7 * length) - 1), at + length


def elements(data, at, end):
    """Id, start of the element, start and end of its content; what contains others comes before them."""
    while at < end:
        start = at
        name, at = number(data, at, True)
        size, at = number(data, at, False)
        assert at + size <= end, hex(name)
        yield name, start, at, at + size
        if name in CONTAINERS:
            yield from elements(data, at, at + size)
        at += size
    assert at == end


def check_film(path, count, width, height, milliseconds):
    with open(path, "rb") as file:
        data = file.read()
    segment, cluster, times, clusters, places, frames = 0, 0, [], [], [], []
    for name, start, at, end in elements(data, 0, len(data)):
        content = data[at:end]
        if name == 0x18538067:
            segment = at
        if name == 0x1f43b675:
            clusters.append(start)
        if name == 0xe7:
            cluster = int.from_bytes(content, "big")
        if name == 0xf1:
            places.append(int.from_bytes(content, "big"))
        if name == 0x86:
            assert content == b"V_VP8", content
        if name == 0xa3:
            times.append(cluster + int.from_bytes(content[1:3], "big"))
            frames.append(content[4:])
    assert [c - segment for c in clusters] == places, "places of clusters"
    assert len(frames) == count and times == milliseconds, (len(frames), times)
    for frame in frames:
        assert frame[0] & 1 == 0 and frame[3:6] == b"\x9d\x01\x2a", "a key frame of VP8"
        assert int.from_bytes(frame[6:8], "little") == width and int.from_bytes(frame[8:10], "little") == height
        assert len(frame) > 300, len(frame)  # one color alone takes less
    assert len({bytes(f) for f in frames}) == count  # the ball moves


def red(path, width, height):
    """Columns of the ball, in a picture of the right size that has a ground as well."""
    w, h, rows = png_pixels(path)
    assert (w, h) == (width, height), (w, h)
    assert len({p for row in rows for p in row}) > 50, "blank"
    return [x for row in rows for x, (r, g, b) in enumerate(row) if r > 100 and r > 2 * g and r > 2 * b]


def check_mp4(folder, eye, first):
    """A program that is called ffmpeg keeps what it gets: as many pictures, in order."""
    inside = lambda name: os.path.join(folder, name)  # noqa: E731
    with open(inside("ffmpeg"), "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\nfor last; do true; done\nexec cat >"$last"\n')
    os.chmod(inside("ffmpeg"), stat.S_IRWXU)
    os.environ["PATH"] = folder + ":" + os.environ["PATH"]
    cairn("render", "run.h5", "-o", "film.mp4", "--size", "160x120", "--fps", "4", "-q", *eye, cwd=folder)
    with open(inside("film.mp4"), "rb") as file:
        pictures = file.read().split(b"\x89PNG\r\n\x1a\n")[1:]
    assert len(pictures) == 3, len(pictures)
    with open(inside("last.png"), "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + pictures[-1])
    last = red(inside("last.png"), 160, 120)
    assert sum(last) / len(last) > sum(first) / len(first) + 15, "the ball has moved to the right"


def main():
    if not any(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome", "chrome")):
        print("SKIPPED: no Chromium (scripts/setup installs it)")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        inside = lambda name: os.path.join(folder, name)  # noqa: E731
        with open(inside("s.json"), "w", encoding="utf-8") as file:
            file.write(SCENE)
        cairn("run", "s.json", "-q", "--out", "run.h5", cwd=folder)
        # seen along -x, y goes to the right
        eye = ("--from", "6,0,0", "--to", "0,0.5,0")
        told = json.loads(cairn("render", "run.h5", "-o", "film.webm", "--size", "160x120", "--fps", "4", "--speed", "0.5", "--json", *eye, cwd=folder))
        assert told["frames"] == 5, told  # half a second, half as fast: 1 s, and the last moment
        check_film(inside("film.webm"), 5, 160, 120, [0, 250, 500, 750, 1000])
        cairn("render", "run.h5", "-o", "first.png", "--size", "160x120", "--time", "0", *eye, cwd=folder)
        first = red(inside("first.png"), 160, 120)
        assert len(first) > 30, len(first)
        if "--all" in sys.argv:
            check_mp4(folder, eye, first)
        # contacts: points and arrows, where they are recorded
        cairn("run", "stack", "--steps", "20", "--set", "boxes=2", "-q", "--out", "stack.h5", "--record", "contacts", cwd=folder)
        cairn("render", "stack.h5", "-o", "contacts.png", "--size", "160x120", "--show", "contacts", "-q", cwd=folder)
        fails(1, "no contacts are recorded", "render", "run.h5", "-o", "x.png", "--show", "contacts", cwd=folder)
        # what cannot be
        empty = inside("empty")
        os.mkdir(empty)
        bare = dict(os.environ, PATH=empty)
        fails(1, "Chromium is not installed", "render", "run.h5", "-o", "x.png", cwd=folder, env=bare)
        fails(2, "a picture is a .png, a film a .webm or a .mp4", "render", "run.h5", "-o", "x.gif", cwd=folder)
        fails(2, "--time is of a picture", "render", "run.h5", "-o", "x.webm", "--time", "1", cwd=folder)
        fails(2, "an mp4 has an even width", "render", "run.h5", "-o", "x.mp4", "--size", "101x100", cwd=folder)
        fails(2, "the run ends at 0.5 s", "render", "run.h5", "-o", "x.png", "--time", "99", cwd=folder)
        fails(2, "the run ends at 0.5 s", "render", "run.h5", "-o", "x.webm", "--end", "99", cwd=folder)
        cairn("render", "run.h5", "-o", "first.png", "--size", "160x120", "--time", "0", "-q", *eye, cwd=folder)  # its own, replaced
        with open(inside("mine.png"), "wb") as file:
            file.write(b"\x89PNG of mine")
        fails(1, "--force replaces it", "render", "run.h5", "-o", "mine.png", cwd=folder)
        fails(2, "after its end", "render", "run.h5", "-o", "x.webm", "--start", "9", cwd=folder)
        assert not [name for name in os.listdir(folder) if name.startswith("x.")]
    print("films: webm, png, refusals")


main()
